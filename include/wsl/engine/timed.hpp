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
  /// The file for a trace: if its name ends in .wtrace, one of any length for wsl-view, which ends with the
  /// first deadlock or fault; otherwise one in the format of trace_json.hpp. If it is null, the environment
  /// variable WSL_TRACE may name one; the second fabric of a process then adds ".2" to the name, and so on.
  const char* trace = nullptr;
  /// 0 means default_threads(): WSL_THREADS, or one for each core. Cycles, results, reports and faults are
  /// the same on any number. Several threads run where the grid has at least 64 rows or columns and a cycle
  /// has much to do; a run that is traced runs on one.
  int threads = 0;
  /// Half of the rows (of a grid that is wider than high, columns) that the part of a thread has at least, at
  /// least 2. A smaller number lets a test have several parts on a small grid.
  int span = 16;
  /// The visits of PEs and routers that a cycle must have on average to be simulated on several threads.
  u32 visits_a_cycle = 256;
  /// The link over which the words of host streams come; by default it takes no time.
  host_link host = {};

  /// The caller owns the engine.
  engines::engine* make(const layout& plan) const;
};

}  // namespace wsl

#ifndef WSL_COMPILED
#include "timed/make.hpp"
#endif
