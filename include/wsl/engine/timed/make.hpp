// SPDX-License-Identifier: MIT
// Makes the timed engine: a part of the library that can be compiled once, see support/compiled.hpp.
#pragma once
#include "../threaded.hpp"
#include "../timed.hpp"
#include "engine.hpp"

namespace wsl {

WSL_COMPILED_PART engines::engine* timed::make(const layout& plan) const {
  timing::must_be_countable(plan.machine());
  engines::require_possible(threaded{.threads = threads});
  if (span < 2)
    throw fault("wsl: timed{.span} is " + std::to_string(span) +
                "; the part of a thread needs a span of 2 rows");
  return new engines::timed_engine(plan, threads ? threads : default_threads(),
                                   trace ? trace : engines::trace_of_environment(), span, visits_a_cycle);
}

}  // namespace wsl
