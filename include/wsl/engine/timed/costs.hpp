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

/// The number of elements that an operation over memory does in a cycle, at least 1.
constexpr int width(const machine& m, const operation_cost& e) {
  const bool half = e.bytes <= 2;
  int w = half ? m.simd.add16 : m.simd.add32;
  if (e.what == work::multiply) w = half ? m.simd.multiply16 : m.simd.multiply32;
  if (e.what == work::compare) w = half ? m.simd.compare16 : m.simd.compare32;
  if (e.what == work::call) w = 1;
  w = std::min<int>(w, e.stride_width);
  return std::max(e.banks_clash ? w / 2 : w, 1);
}

/// The cycles that an operation over memory takes for n elements, without its setup.
constexpr u64 cycles(const machine& m, const operation_cost& e, u64 n) {
  if (e.what == work::call) return n * static_cast<u64>(m.call);
  const auto w = static_cast<u64>(width(m, e));
  return (n + w - 1) / w;
}

/// The number of elements that an operation with a fabric operand moves at most in a cycle.
constexpr int fabric_width(const machine& m, const operation_cost& e) {
  return std::min(width(m, e), m.fabric_width);
}

/// The cycles for which such a move occupies the PE's datapath.
constexpr u64 fabric_cycles(const machine& m, const operation_cost& e) {
  return e.what == work::call ? static_cast<u64>(m.call) : 1;
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
  at_least("call", m.call, 1);
  at_least("fabric_width", m.fabric_width, 1);
}

}  // namespace wsl::timing
