// SPDX-License-Identifier: MIT
// The cost of a collective before it runs. Four numbers of a communication pattern and one formula give its
// cycles on a machine with these links and ramps; no constant is fitted to a collective. The formula is that
// of "Near-Optimal Wafer-Scale Reduce" (Luczynski et al., arXiv 2404.15888), whose authors measured an error
// below 4 % on a WSE-2. Cycles count from the start of the first operation to the end of the last one.
// benchmarks/collectives compares the formulas with the timed engine.
#pragma once
#include <cstddef>

#include "../core/machine.hpp"

namespace wsl::collective {

/// The machine of the formulas: the timed engine's constants for a WSE-2, whatever the layout's machine is,
/// because the choice of a tactic, and with it the order of additions, must be the same on every machine.
inline constexpr const machine& formula_machine = wse2;
inline constexpr int ramp_latency = formula_machine.ramp_latency;
/// From the arrival of a word in the router of a PE to its departure there, if the PE handles it in
/// between: up the ramp and down again.
inline constexpr int handling = 2 * ramp_latency + 1;
/// To begin a task, and to issue an operation.
inline constexpr int begin = formula_machine.task_start, issue = formula_machine.operation_setup;
/// From the end of an operation to the first word of the one that its completion starts.
inline constexpr int restart = begin + issue;

/// A copy from memory to memory.
constexpr f64 copying(int words, std::size_t bytes) {
  const f64 moves = f64(words) / (bytes == 2 ? formula_machine.simd.add16 : formula_machine.simd.add32);
  return issue + (moves > formula_machine.operation_least ? moves : formula_machine.operation_least);
}

struct pattern {
  /// most words through one link, or through the operations of one PE: it handles one in a cycle
  f64 contention = 0;
  f64 energy = 0;    ///< word-hops in all
  f64 links = 1;     ///< links that carry them
  f64 distance = 0;  ///< most hops of a word's way
  f64 depth = 0;     ///< PEs that handle a word one after the other, after the first

  /// A word crosses one ramp or link in a cycle. Each PE on the way takes it from its ramp, handles it and
  /// sends it on.
  constexpr f64 cycles() const {
    const f64 flowing = energy / links + distance;
    return (contention > flowing ? contention : flowing) + handling * depth;
  }
};

}  // namespace wsl::collective
