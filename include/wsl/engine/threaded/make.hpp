// SPDX-License-Identifier: MIT
// Makes the threaded engine: a part of the library that can be compiled once, see support/compiled.hpp.
#pragma once
#include "../threaded.hpp"
#include "engine.hpp"

namespace wsl {

WSL_COMPILED_PART void engines::require_possible(const threaded& how) {
  if (how.threads < 0 || how.threads > 1024)
    throw fault("wsl: an engine runs on 1 to 1024 threads, not on " + std::to_string(how.threads));
  if (how.observer && how.observer->needs_one_thread() && how.threads > 1)
    throw fault("wsl: a scaling_profile measures a run on one thread, not on " + std::to_string(how.threads) +
                ": threaded{.threads = 1, .observer = &profile}");
  pinning_by_request();
}

WSL_COMPILED_PART int default_threads() { return engines::threads_by_default(); }

WSL_COMPILED_PART engines::engine* threaded::make(const layout& plan) const {
  engines::require_possible(*this);
  const int how_many = observer && observer->needs_one_thread() ? 1 : threads ? threads : default_threads();
  return new engines::threaded_engine(plan, how_many, queues, order, {pes_per_partition, cut_lines, true},
                                      rendezvous_from, log, observer);
}

}  // namespace wsl
