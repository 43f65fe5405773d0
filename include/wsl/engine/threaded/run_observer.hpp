// SPDX-License-Identifier: MIT
// An observer is told what the threads of an engine do in each run: `threaded{.observer = &it}`. The library
// has two: scaling_profile.hpp predicts the time on more threads, and thread_times.hpp divides the time of
// the threads among what their program does.
#pragma once
#include <cstddef>

#include "../../core/scalar.hpp"

namespace wsl {

class run_observer {
 public:
  /// Whether the engine must have one thread, which then also visits partitions without work in each
  /// superstep, as several threads do.
  virtual bool needs_one_thread() const { return false; }

  virtual void begin_run(int threads, std::size_t partitions) = 0;
  virtual void end_run() {}

  // Each thread says what it does itself.
  virtual void begin_thread(int /*thread*/) {}
  virtual void end_thread(int /*thread*/) {}
  virtual void begin_superstep(int /*thread*/) {}
  virtual void begin_partition(int /*thread*/, std::size_t /*partition*/) {}
  virtual void end_partition(int /*thread*/, std::size_t /*partition*/) {}
  /// All partitions of the thread have run; now it waits for the others. With needs_one_thread, `idle`
  /// partitions without work have been visited since the last one with work ended.
  virtual void end_superstep(int /*thread*/, std::size_t /*idle*/) {}

 protected:
  ~run_observer() = default;
};

}  // namespace wsl
