// SPDX-License-Identifier: MIT
// A task that waits in the middle of its body is a coroutine: it returns `task` and says `co_await` before
// each descriptor operation with a fabric operand. While it waits, its PE runs no other task (the machine's
// main thread is busy); operations started with `me.async` go on. A task that never waits is a plain function
// and costs nothing of this. See examples/13_deadlock.cpp, and docs/guide/program.md.
#pragma once
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include "descriptor/operation.hpp"
#include "pe_state.hpp"

namespace wsl {

class pe;

namespace engines {

pe_state& state_of(pe& me);
}

/// The return type of a task that waits. Only the engine begins such a task: if another task called it, the
/// caller would go on while it waits, although a PE has only one main thread.
class [[nodiscard("a task that waits is begun by me.activate, a wavelet or the host, not by a call")]] task {
 public:
  /// Set by the engine's call of the task (detail::begin); the coroutine resets it.
  static inline thread_local bool begins = false;

  struct promise_type {
    /// The PE is the coroutine's own argument: `task collect(pe& me, f32 x)`.
    template <class Program, class... Input>
    promise_type(Program&, pe& me, const Input&...) : self(engines::state_of(me)) {
      if (!std::exchange(begins, false))
        throw fault(
            "wsl: a task that waits was called like a function; "
            "me.activate, a wavelet or the host begins it");
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
      engines::pe_state& self;
      engines::transfer operation;
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
      wait w{self, op.start()};
      self.resolve_colors(w.operation);
      return w;
    }
    template <class T>
      requires std::is_same_v<T, task>
    std::suspend_never await_transform(T&&) {
      static_assert(
          !std::is_same_v<T, task>,
          "wsl: co_await waits for operations and events; me.activate<&part::f>() begins another task");
      return {};
    }
    template <class T>
      requires std::is_same_v<T, detail::done_at_once>
    std::suspend_never await_transform(T) {
      static_assert(detail::has_run_already<T>,
                    "wsl: an operation over memory alone runs at once, and nobody can wait for it: call it "
                    "without co_await");
      return {};
    }
    /// For an event, or any other type with a member awaited().
    template <class Event>
      requires requires(Event& e) { engines::transfer{e.awaited()}; }
    wait await_transform(Event& e) {
      return {self, e.awaited()};
    }

    /// For events that other tasks bring about; see suspended_task.hpp.
    template <class Wait>
      requires requires { typename Wait::leaves_main_thread; }
    Wait await_transform(const Wait& w) {
      return w;  // a copy: a wait that has a name may be awaited again
    }

    engines::pe_state& self;
    std::exception_ptr* failure = nullptr;  ///< where `resume` looks for an exception of the task
  };
};

namespace detail {

/// Continues a task that waits. An exception of the task leaves this function, and the task is then
/// destroyed. The exception does not pass through the coroutine's own resume(): Clang would destroy the
/// task's locals a second time with its frame.
inline void resume(void* task_that_waits) {
  std::exception_ptr failure;
  const auto waiting = std::coroutine_handle<task::promise_type>::from_address(task_that_waits);
  waiting.promise().failure = &failure;
  waiting.resume();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace detail

}  // namespace wsl
