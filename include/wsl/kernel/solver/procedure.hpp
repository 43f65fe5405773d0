// SPDX-License-Identifier: MIT
// A part of a PE program that reads from top to bottom although it waits for other PEs, and that may call
// other such parts: `co_await v_cycle(k, z, r)`. A `task` (program/coroutine.hpp) keeps the main thread and
// calls nobody; a procedure leaves the main thread, and a local task of its PE goes on with it. The calls are
// a chain of coroutines, and `procedure_runner` resumes one after the other, so the depth of the C++ stack
// does not depend on how often they call each other.
//   procedure iterate(krylov_pe& k) { co_await k.product(...); co_await precondition(k); }
#pragma once
#include <coroutine>
#include <exception>
#include <utility>

#include "../../program/storage.hpp"

namespace wsl::solver {

class [[nodiscard("a procedure runs when it is awaited: co_await f(...)")]] procedure {
 public:
  struct promise_type {
    std::coroutine_handle<>* next = nullptr;  ///< where the runner looks for what to resume
    std::coroutine_handle<> caller;
    std::exception_ptr failure;

    procedure get_return_object() {
      return procedure(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct to_caller {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        *self.promise().next = self.promise().caller;
      }
      void await_resume() const noexcept {}
    };
    to_caller final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };

  procedure() = default;
  procedure(procedure&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  procedure& operator=(procedure&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~procedure() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<promise_type> caller) {
    promise_type& own = frame_.promise();
    own.caller = caller, own.next = caller.promise().next;
    *own.next = frame_;
  }
  void await_resume() const {
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
  }

 private:
  friend class procedure_runner;
  explicit procedure(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  std::coroutine_handle<promise_type> frame_;
};

/// The outermost procedure of a PE. The awaited thing keeps its handle, and gives it to `resume`.
class procedure_runner {
 public:
  procedure_runner() = default;
  procedure_runner(const procedure_runner&) = delete;
  procedure_runner& operator=(const procedure_runner&) = delete;

  bool is_done() const { return !outermost_.frame_ || outermost_.frame_.done(); }
  /// Runs a procedure to its first wait, or to its end.
  void begin(procedure p) {
    outermost_ = std::move(p);
    outermost_.frame_.promise().next = &next_;
    resume(outermost_.frame_);
  }
  /// Goes on to the next wait, or to the end. An exception of the procedure leaves this function.
  void resume(std::coroutine_handle<> waiting) {
    for (next_ = waiting; next_;) std::exchange(next_, {}).resume();
    if (outermost_.frame_.done()) outermost_.await_resume();
  }

 private:
  procedure outermost_;
  std::coroutine_handle<> next_;
};

}  // namespace wsl::solver

/// The address of a procedure is no part of a PE's results.
template <>
struct wsl::pe_storage<wsl::solver::procedure_runner> {
  template <class Use>
  static void each_block(const solver::procedure_runner&, Use) {}
};
