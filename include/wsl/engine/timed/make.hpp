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
  if (host.channels < 0 || (host.channels > 0 && !(host.bits_a_second > 0)) || !(host.latency >= 0))
    throw fault(
        "wsl: timed{.host} has " + std::to_string(host.channels) + " channels of " +
        std::to_string(host.bits_a_second) + " bits a second and a latency of " +
        std::to_string(host.latency) +
        " s: a link has no channels and takes no time, or some that carry bits, and no latency below 0");
  return new engines::timed_engine(plan, threads ? threads : default_threads(),
                                   trace ? trace : engines::trace_of_environment(), span, visits_a_cycle,
                                   host);
}

}  // namespace wsl
