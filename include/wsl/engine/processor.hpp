// SPDX-License-Identifier: MIT
// The state of a PE besides its memory and its channels: pending host calls, operations in flight on its
// microthreads, and words that its tasks have sent and that wait for room in the output queues. The reference
// engine has one processor for each PE, the threaded engine for each PE that needs one.
#pragma once
#include <coroutine>

#include "../core/wavelet.hpp"
#include "../support/flat_queue.hpp"
#include "../support/flat_vector.hpp"
#include "engine.hpp"
#include "rules.hpp"

namespace wsl::engines {

struct processor {
  processor() = default;
  processor(const processor&) = delete;
  processor& operator=(const processor&) = delete;
  ~processor() {
    for (const transfer& t : microthreads)
      if (t.resumes) std::coroutine_handle<>::from_address(t.resumes).destroy();
  }

  // First what a visit of the threaded engine looks at, so that it is in one or two cache lines.
  support::flat_vector<transfer> microthreads;  ///< descriptor operations in flight
  /// until this superstep another partition reads the PE's memory, and the PE is not visited
  u64 back_in = 0;
  support::flat_queue<host_call> calls;
  u64 torn_down = 0;  ///< colors that a command has closed, until their tasks run
  u32 turn = 0;       ///< the microthread that may move next
  /// the task that the main thread runs, or ran last with operations in flight
  const binding* task = nullptr;
  bool awake = false;
  bool postponed = false;               ///< its long-running tasks wait for a computing superstep ...
  bool may_compute = false;             ///< ... which has come
  support::flat_queue<wavelet> outbox;  ///< sent by tasks, not yet in an output queue

  /// Whether a task waits in the middle of its body, so that no other runs.
  bool suspended() const {
    for (const transfer& t : microthreads)
      if (t.resumes) return true;
    return false;
  }
  /// The operation in flight that reads a color, null if none does.
  transfer* reader_of(int color) {
    for (transfer& t : microthreads)
      if (t.input[0] == color || t.input[1] == color) return &t;
    return nullptr;
  }
  bool reads(int color) const { return const_cast<processor*>(this)->reader_of(color) != nullptr; }
  template <class Use>
  void each_operation(Use use) const {
    for (const transfer& t : microthreads) use(t);
  }
  bool writes(int color) const {
    for (const transfer& t : microthreads)
      if (t.output == color) return true;
    return false;
  }
  bool holds_back(int color) const {
    for (const wavelet& w : outbox)
      if (w.color == color) return true;
    return false;
  }
};

/// A quick test, after a local task has run, whether certainly nothing is ready on the PE: the task has
/// started an operation, which has moved as far as it can, and only its completion can activate another task.
inline bool is_at_rest(const pe_state& s, const processor* p) {
  if ((s.active & ~s.blocked) || s.image->reacts || !p || p->microthreads.size() != 1 || !p->calls.empty() ||
      p->torn_down)
    return false;
  const transfer& t = p->microthreads[0];
  return !t.complete() && !t.resumes && !rule::may_clash(t);
}

}  // namespace wsl::engines
