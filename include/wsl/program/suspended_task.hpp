// SPDX-License-Identifier: MIT
// A task that waits in the middle of its body while other tasks of its PE run. On the machine it is two
// tasks: a wait for an operation keeps the main thread (coroutine.hpp), but a wait for an event that other
// tasks bring about must leave the main thread to them, so the rest of the body is a local task that goes on
// where the first one stopped. Modules hold one; see collective/awaited.hpp.
#pragma once
#include "coroutine.hpp"
#include "storage.hpp"

namespace wsl {

/// A member of a module that owns the task while the task waits.
class suspended_task {
 public:
  suspended_task() = default;
  suspended_task(const suspended_task&) = delete;
  suspended_task& operator=(const suspended_task&) = delete;
  ~suspended_task() {
    if (frame_) std::coroutine_handle<>::from_address(frame_).destroy();
  }

  bool waits() const { return frame_ != nullptr; }
  void keep(std::coroutine_handle<> task) { frame_ = task.address(); }
  /// Goes on with the task, as a part of the local task that calls this. Requires that it waits.
  void go_on() { detail::resume(std::exchange(frame_, nullptr)); }

 private:
  void* frame_ = nullptr;
};

/// The address of a task is no part of a PE's results.
template <>
struct pe_storage<suspended_task> {
  template <class Use>
  static void each_block(const suspended_task&, Use) {}
};

}  // namespace wsl
