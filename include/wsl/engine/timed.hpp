// SPDX-License-Identifier: MIT
// The choice of the timed engine, which runs the same programs as the others and counts the cycles that the
// layout's machine would take: `fabric f{plan, timed{}}`, with <wsl/engine/timed.hpp>. docs/timing.md states
// the counting rules, and examples/19_cycles.cpp reads its numbers.
#pragma once
#include "../support/compiled.hpp"
#include "engine.hpp"
#include "host_link.hpp"

namespace wsl {

/// Selects the timed engine: `fabric f{plan, timed{}}`.
struct timed {
  /// The file for a trace: if its name ends in .wtrace, one of any length for wsl-view, which ends with the first
  /// deadlock or fault; otherwise one in the format of trace_json.hpp. If it is null, the environment variable
  /// WSL_TRACE may name one; the second fabric of a process then adds ".2" to the name, and so on.
  const char* trace = nullptr;
  /// With 0, the engine goes from event to event on one thread, which agrees with a simulation of every cycle.
  /// With n, it simulates windows of cycles on n threads where the grid has at least 64 rows or columns and a
  /// cycle has much to do; a run that is traced goes from event to event. Results are the same; cycles are in
  /// all tests but one program, a layer of a transformer, where windows count 35 more of 24400.
  int threads = 0;
  /// Half of the rows (of a grid that is wider than high, columns) that the part of a thread has at least, at
  /// least 2. A smaller number lets a test have several parts on a small grid.
  int span = 16;
  /// The visits of PEs and routers that a cycle must have on average to be simulated in windows. By default 256
  /// if `threads` is given, and otherwise no number is enough.
  static constexpr u32 by_threads = ~u32{0};
  u32 visits_a_cycle = by_threads;
  /// The link over which the words of host streams come; by default it takes no time.
  host_link host = {};

  /// The caller owns the engine.
  engines::engine* make(const layout& plan) const;
};

}  // namespace wsl

#ifndef WSL_COMPILED
#include "timed/make.hpp"
#endif
