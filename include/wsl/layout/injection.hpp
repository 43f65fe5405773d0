// SPDX-License-Identifier: MIT
// Injection priority (of the WSE-2): the words that a processor sends into the fabric go before those that
// pass its router, or only when none of these wants the port. Without it all take turns. The option changes
// the times at which words arrive, and so the outcome of a race. Only the timed engine takes it into account:
// in the others any order is correct. See docs/guide/layout.md.
//   .path(red, columns(1, edge - 1), (ramp | west) >> east, merges, injects_last)
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
