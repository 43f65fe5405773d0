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
  const bool has_link = host.channels > 0;
  if (host.channels < 0 || (has_link && !(host.bits_a_second >= 1 && host.bits_a_second <= 1e18)) ||
      !(host.latency >= 0 && host.latency <= 1e6) || (!has_link && host.latency > 0))
    throw fault("wsl: timed{.host} has " + std::to_string(host.channels) + " channels of " +
                std::to_string(host.bits_a_second) + " bits a second and a latency of " +
                std::to_string(host.latency) +
                " s: a link has no channels and takes no time, or some of at least a bit a second, and a "
                "latency from 0 "
                "to a million seconds");
  return new engines::timed_engine(plan, threads ? threads : default_threads(),
                                   trace ? trace : engines::trace_of_environment(), span, visits_a_cycle,
                                   host);
}

}  // namespace wsl
