// SPDX-License-Identifier: MIT
// The choice of the threaded engine, the default of a fabric: it computes what the machine computes, as fast
// as the computer allows, on one thread or many, with the same bits. docs/engines/threaded.md draws it.
#pragma once
#include "../support/compiled.hpp"
#include "engine.hpp"
#include "schedule.hpp"

namespace wsl {

class run_log;
class run_observer;

/// The number of an engine's threads unless it is given one: the environment variable WSL_THREADS, or one for
/// each core that the process may use.
int default_threads();

/// Selects the threaded engine: `fabric f{plan, threaded{.threads = 4}}`.
struct threaded {
  int threads = 0;  ///< 0 means default_threads(): WSL_THREADS, or one for each core
  depth queues = depth::deep;
  schedule order = {};
  /// the granularity of partitions; a smaller number lets a test have several partitions on a small grid
  u32 pes_per_partition = 256;
  /// the smallest number of words that an operation sends to another partition from memory to memory, if the
  /// receiver's operation waits for so many; fewer go through buffers
  u32 rendezvous_from = 8192;
  /// partitions may also be parts of rows and columns, if there are fewer of these than partitions to make:
  /// for few PEs with much to compute, as in training
  bool cut_lines = false;
  /// the log of each PE's tasks and operations, for one engine at a time; see fabric/race.hpp
  run_log* log = nullptr;
  /// is told what the threads do, by one engine at a time; see threaded/run_observer.hpp
  run_observer* observer = nullptr;

  /// The caller owns the engine.
  engines::engine* make(const layout& plan) const;
};

namespace engines {
/// Throws fault if an engine cannot have these settings.
void require_possible(const threaded& how);
}  // namespace engines

}  // namespace wsl

#ifndef WSL_COMPILED
#include "threaded/make.hpp"
#endif
