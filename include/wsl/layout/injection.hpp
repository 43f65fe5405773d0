// SPDX-License-Identifier: MIT
// Injection priority (of the WSE-2): whether the words that a processor sends into the fabric go before those
// that pass its router, or only where none of these wants the port. Without it all take turns. It changes
// when words arrive, and so what a race does; the timed engine counts with it, to the others the order is as
// good as any. See docs/guide/layout.md.
//   .path(red, columns(1, edge - 1), (ramp | west) >> east, merge, injects_last)
#pragma once
#include "layout.hpp"

namespace wsl {

/// An option of a path that takes words from the ramp, given after its switches.
struct injection {
  i8 priority;
  constexpr void give_to(layout& l, path_record& p) const {
    p.injects = priority;
    l.add_injection(p);
  }
};

inline constexpr injection injects_first{1}, injects_last{-1};

}  // namespace wsl
