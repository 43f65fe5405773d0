// SPDX-License-Identifier: MIT
// The stack of the tasks that a thread runs. An operation that goes on beside its task must not use the
// task's local variables, which are gone when the task ends; `pe::async` refuses operands that lie there. The
// stack is a cheap criterion that is the same on every engine: it also refuses an operation that would have
// completed at once. Other memory is not judged, so constants, and arrays that the program keeps behind a
// pointer, may be operands.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "../core/fault.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WSL_FAKE_STACKS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WSL_FAKE_STACKS 1
#endif
#ifdef WSL_FAKE_STACKS
extern "C" void* __asan_get_current_fake_stack();
extern "C" void* __asan_addr_is_in_fake_stack(void* stack, void* address, void** begin, void** end);
#endif

namespace wsl::engines {

/// The address at which the frames of the tasks that this thread runs begin; they lie below it. It is 0 while
/// the thread runs no task.
inline constinit thread_local std::uintptr_t task_stack_begin = 0;

/// An address below all of these frames, at which the stack of the thread ends.
inline constinit thread_local std::uintptr_t task_stack_low = 0;

/// Whether this thread is inside a task, of any fabric.
inline bool runs_a_task() { return task_stack_begin != 0; }

/// While it lives, this thread runs tasks.
class task_stack {
 public:
  [[gnu::always_inline]] task_stack()
      : begin_(std::exchange(task_stack_begin, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))),
        low_(std::exchange(task_stack_low, task_stack_begin - reach)) {}
  task_stack(const task_stack&) = delete;
  task_stack& operator=(const task_stack&) = delete;
  ~task_stack() { task_stack_begin = begin_, task_stack_low = low_; }

  /// Whether an address is that of a local variable of the running task.
  [[gnu::noinline]] static bool holds(std::uintptr_t address) {
    if (address < task_stack_begin && address >= reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))
      return true;
#ifdef WSL_FAKE_STACKS
    // the address sanitizer moves local variables to stacks of its own
    void* const stack = __asan_get_current_fake_stack();
    void* const frame =
        stack ? __asan_addr_is_in_fake_stack(stack, reinterpret_cast<void*>(address), nullptr, nullptr)
              : nullptr;
    return frame && reinterpret_cast<std::uintptr_t>(frame) < task_stack_begin;
#else
    return false;
#endif
  }

  /// Whether `holds` must be asked. A burst of a few words feels each instruction of this. The stack of a
  /// process lies above all else, so for its first thread one comparison is enough; other threads' stacks lie
  /// among the memory that the process has mapped.
  [[gnu::always_inline]] static bool may_hold(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
#ifdef WSL_FAKE_STACKS
    return holds(at);
#else
    if (at < task_stack_low) [[likely]]
      return false;
    return at < task_stack_begin;
#endif
  }

  /// Whether an object, such as a lambda that has captured something, holds such an address.
  [[gnu::noinline]] static bool is_named_in(const void* object, std::size_t bytes) {
    std::uintptr_t word;
    for (std::size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
      std::memcpy(&word, static_cast<const char*>(object) + i, sizeof word);
      if (holds(word)) return true;
    }
    return false;
  }

 private:
  /// bytes: more than the stack of a thread has, unless its limit was raised
  static constexpr std::uintptr_t reach = std::uintptr_t{8} << 20;

  std::uintptr_t begin_, low_;  // of a run in whose task this one is, of another fabric
};

[[noreturn]] inline void an_operand_is_a_local_variable(const char* operation) {
  throw fault(std::string("wsl: an operand of ") + operation +
              " is a local variable of the task, which is gone before the operation is complete: make it a "
              "member of the program, or wait for the operation with co_await");
}
[[noreturn]] inline void a_function_has_captured_a_local_variable(const char* operation) {
  throw fault(std::string("wsl: the function that ") + operation +
              " applies has captured a reference to a local variable of the task, which is gone before the "
              "operation is complete: capture it by value");
}

/// Throws fault if an object is a local variable of the task, although the engine uses it when the task has
/// ended.
inline void must_outlive_the_task(const void* what, const char* operation) {
  if (task_stack::holds(reinterpret_cast<std::uintptr_t>(what))) an_operand_is_a_local_variable(operation);
}

}  // namespace wsl::engines

#undef WSL_FAKE_STACKS
