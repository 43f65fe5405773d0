// SPDX-License-Identifier: MIT
// The choice of the timed engine, which runs the same programs as the others and counts the cycles that the
// layout's machine would take: `fabric f{plan, timed{}}`, with <wsl/engine/timed.hpp>. docs/timing.md states
// the counting rules, and examples/19_cycles.cpp reads its numbers.
#pragma once
#include "../support/compiled.hpp"
#include "engine.hpp"

namespace wsl {

/// Selects the timed engine: `fabric f{plan, timed{}}`.
struct timed {
  /// The file for a trace, in the format of trace_json.hpp. If it is null, the environment variable WSL_TRACE
  /// may name one; the second fabric of a process then adds ".2" to the name, and so on.
  const char* trace = nullptr;

  /// The caller owns the engine.
  engines::engine* make(const layout& plan) const;
};

}  // namespace wsl

#ifndef WSL_COMPILED
#include "timed/make.hpp"
#endif
