// SPDX-License-Identifier: MIT
// A task that waits in the middle of its body is a coroutine: it returns `task` and says `co_await` before
// each descriptor operation with a fabric operand. While it waits, its PE runs no other task (the machine's
// main thread is busy); operations started with `me.async` go on. A task that never waits is a plain function
// and costs nothing of this.
#pragma once
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include "descriptor/operation.hpp"
#include "pe_state.hpp"

namespace wsl {

class pe;
pe_state& state_of(pe& me);

/// What such a task returns. Only its engine begins one: another task that called it would go on while it waits, and its
/// PE has one main thread.
class [[nodiscard("a task that waits is begun by me.activate, a wavelet or the host, not by a call")]] task {
 public:
  /// Set by what calls the task for its engine; the coroutine takes it back.
  static inline thread_local bool begins = false;

  struct promise_type {
    /// The PE is the coroutine's own argument: `task collect(pe& me, f32 x)`.
    template <class Program, class... Input>
    promise_type(Program&, pe& me, const Input&...) : self(state_of(me)) {
      if (!std::exchange(begins, false))
        throw fault("wsl: a task that waits was called like a function; me.activate, a wavelet or the host begins it");
    }

    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {
      if (!failure) throw;  // out of the call that began the task
      *failure = std::current_exception();
    }

    struct wait {
      pe_state& self;
      transfer operation;
      bool await_ready() const { return operation.complete(); }
      bool await_suspend(std::coroutine_handle<promise_type> waiting) {
        self.interrupted = true;
        operation.resumes = waiting.address();
        return !self.image->engine->start(self, operation);  // if that throws, the task does not wait
      }
      void await_resume() const {}
    };

    template <class F, class Dst, class... Src>
    wait await_transform(const operation<F, Dst, Src...>& op) {
      return {self, op.start()};
    }
    template <class T>
      requires std::is_same_v<T, task>
    std::suspend_never await_transform(T&&) {
      static_assert(!std::is_same_v<T, task>,
                    "wsl: co_await waits for operations and events; me.activate<&part::f>() begins another task");
      return {};
    }
    /// For an event, or what else knows how it is waited for.
    template <class Event>
      requires requires(Event& e) { transfer{e.awaited()}; }
    wait await_transform(Event& e) {
      return {self, e.awaited()};
    }

    /// For what other tasks bring about; see suspended_task.hpp.
    template <class Wait>
      requires requires { typename Wait::leaves_main_thread; }
    Wait await_transform(Wait&& w) {
      return std::move(w);
    }

    pe_state& self;
    std::exception_ptr* failure = nullptr;  ///< where `resume` looks for what the task throws
  };
};

/// Continues a task that waits. What the task throws comes out of here, and the task is gone. It does not
/// pass through the coroutine's own resume(): Clang would destroy the task's locals a second time with its
/// frame.
inline void resume(void* task_that_waits) {
  std::exception_ptr failure;
  const auto waiting = std::coroutine_handle<task::promise_type>::from_address(task_that_waits);
  waiting.promise().failure = &failure;
  waiting.resume();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wsl
