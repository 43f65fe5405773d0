// SPDX-License-Identifier: MIT
// The cycles that the timed engine charges for operations, from the machine's constants; docs/timing.md
// states these rules in words.
#pragma once
#include <algorithm>
#include <string>

#include "../../core/fault.hpp"
#include "../../core/machine.hpp"
#include "../../program/descriptor/transfer.hpp"

namespace wsl::timing {

/// The number of elements that an operation over memory does in two cycles: an odd one if each takes both.
constexpr int width_of_two(const machine& m, const operation_cost& e) {
  const bool half = e.bytes <= 2;
  int w = half ? m.simd.add16 : m.simd.add32;
  if (e.what == work::multiply) w = half ? m.simd.multiply16 : m.simd.multiply32;
  if (e.what == work::compare) w = half ? m.simd.compare16 : m.simd.compare32;
  if (e.what == work::call) w = 1;
  w = std::min<int>(w, e.stride_width);
  return e.banks_clash ? w : 2 * w;
}

/// The cycles that an operation over memory takes for n elements, without its setup.
constexpr u64 cycles(const machine& m, const operation_cost& e, u64 n) {
  if (e.what == work::call) return n * static_cast<u64>(m.call);
  const auto w = static_cast<u64>(width_of_two(m, e));
  return n == 0 ? 0 : std::max((2 * n + w - 1) / w, static_cast<u64>(m.operation_least));
}

/// The number of elements that an operation with a fabric operand moves at most at a time.
constexpr int fabric_width(const machine& m, const operation_cost& e) {
  return std::min(std::max(width_of_two(m, e) / 2, 1), m.fabric_width);
}

/// The cycles for which such a move occupies the PE's datapath.
constexpr u64 fabric_cycles(const machine& m, const operation_cost& e) {
  if (e.what == work::call) return static_cast<u64>(m.call);
  return width_of_two(m, e) == 1 ? 2 : 1;
}

/// The cycles of a scalar instruction.
constexpr u64 cycles(const machine& m, instruction what) {
  const instruction_cycles& of = m.instructions;
  const int each[] = {of.simple, of.simple32, of.multiply16, of.multiply32, of.divide, of.branch};
  return static_cast<u64>(each[static_cast<int>(what)]);
}

/// The priority of an operation in flight.
constexpr priority priority_of(const machine& m, const engines::transfer& t) {
  if (t.priority >= 0) return static_cast<priority>(t.priority);
  return t.input[0] >= 0 ? m.reading : m.other;
}

/// Throws fault naming a member of the machine with which the rules cannot count: they need a cycle between
/// an action and its effect.
inline void must_be_countable(const machine& m) {
  const auto at_least = [&](const char* member, int value, int least) {
    if (value < least)
      throw fault(std::string("wsl: machine ") + m.name + " has a " + member + " of " +
                  std::to_string(value) + "; the timed engine needs at least " + std::to_string(least));
  };
  at_least("ramp_latency", m.ramp_latency, 1);
  at_least("router_depth", m.router_depth, 2);
  at_least("task_start", m.task_start, 1);
  at_least("operation_setup", m.operation_setup, 0);
  at_least("operation_least", m.operation_least, 0);
  at_least("call", m.call, 1);
  at_least("descriptor_load", m.descriptor_load, 0);
  at_least("descriptor_registers", m.descriptor_registers, 1);
  at_least("fabric_width", m.fabric_width, 1);
  for (const auto& [member, value] : {std::pair{"simd.add16", m.simd.add16},
                                      {"simd.add32", m.simd.add32},
                                      {"simd.multiply16", m.simd.multiply16},
                                      {"simd.multiply32", m.simd.multiply32},
                                      {"simd.compare16", m.simd.compare16},
                                      {"simd.compare32", m.simd.compare32}})
    at_least(member, value, 1);
  for (const auto& [member, value] : {std::pair{"instructions.simple", m.instructions.simple},
                                      {"instructions.simple32", m.instructions.simple32},
                                      {"instructions.multiply16", m.instructions.multiply16},
                                      {"instructions.multiply32", m.instructions.multiply32},
                                      {"instructions.divide", m.instructions.divide},
                                      {"instructions.branch", m.instructions.branch}})
    at_least(member, value, 0);
  if (!(m.clock_hz >= 1 && m.clock_hz <= 1e15))
    throw fault(std::string("wsl: machine ") + m.name + " has a clock_hz of " + std::to_string(m.clock_hz) +
                "; the timed engine needs at least 1, and at most 1e15");
}

}  // namespace wsl::timing
