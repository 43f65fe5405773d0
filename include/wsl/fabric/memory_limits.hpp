// SPDX-License-Identifier: MIT
// The limits of memory that a layout cannot check: the grid must fit into the memory of this computer, and
// the members of a PE's program fit, with what their containers own, into the memory of the PE.
#pragma once
#include <new>

#include "../engine/engine.hpp"
#include "../support/compiled.hpp"

namespace wsl::detail {

/// Throws fault if the programs of a layout need more memory than as many computers as this one have.
void fit_this_computer(const layout& plan, int computers);
[[noreturn]] void the_engine_needs_more_memory(const layout& plan);

/// Makes an engine of so many processes, each of which may have a computer of its own. Throws fault if the
/// memory of this computer is too small for its part of the grid.
template <class Make>
engines::engine* made_on_this_computer(const layout& plan, int processes, Make make) {
  fit_this_computer(plan, processes);
  try {
    return make();
  } catch (const std::bad_alloc&) { the_engine_needs_more_memory(plan); }
}

/// Throws fault if a PE that this process runs has more in its members, and in what they own, than the memory
/// of the layout's machine. A layout for the machine `host` has no such limit but the computer's memory.
void containers_fit_memory(engines::engine& of);

}  // namespace wsl::detail

#ifndef WSL_COMPILED
#include "memory_limits/check.hpp"
#endif
