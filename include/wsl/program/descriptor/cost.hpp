// SPDX-License-Identifier: MIT
// The quantities that the time of an operation depends on: the kind of work on an element, the width of the
// elements, and the memory banks of its operands. Operations over memory have no PE at hand, so an engine
// that counts cycles registers a counter for the thread that runs its tasks. With the other engines there is
// none, and an operation costs one test of that pointer.
#pragma once
#include <cstdint>

#include "../../core/machine.hpp"
#include "memory.hpp"

namespace wsl::detail {

/// The kind of work on one element.
enum class work : u8 { move, add, multiply, compare, call };

/// The name of an operation, for reports, and its work.
struct verb {
  const char* name;
  work what;
};

/// An operation as its clock sees it; docs/timing.md has the rules.
struct operation_cost {
  work what = work::move;
  u8 bytes = 0;              ///< of its widest element
  u8 stride_width = 8;       ///< elements a cycle that its strides allow
  bool banks_clash = false;  ///< two sources lie in the same half of the banks
};

/// An operand in memory, as a descriptor register holds it.
struct memory_operand {
  enum class role : u8 { destination, first_source, second_source };
  std::uintptr_t first = 0;  ///< the address of its first element
  i64 step = 0;              ///< bytes from one element to the next
  int length = 0;
  role as = role::destination;
};

/// The kind of a scalar instruction; see machine::instructions.
enum class instruction : u8 { simple, simple32, multiply16, multiply32, divide, branch };

/// Counts the work of tasks other than sending and receiving.
class cycle_counter {
 public:
  /// An operation begins whose operand this is.
  virtual void describe(const memory_operand& operand) = 0;
  virtual void execute(instruction what) = 0;
  virtual void spend(u64 cycles) = 0;
  virtual void operate(const operation_cost& what, u64 elements) = 0;
  virtual void prioritize(main_priority of_tasks) = 0;

 protected:
  ~cycle_counter() = default;
};

/// The counter for the tasks that this thread runs; null without one.
inline constinit thread_local cycle_counter* listening_counter = nullptr;

/// Elements a cycle that a stride allows: the banks that n elements fall into.
constexpr u8 width_of_stride(i64 stride) {
  const i64 n = stride < 0 ? -stride : stride;
  if (n <= 1) return 8;
  if (n % 8 == 0) return 1;
  return n % 8 == 1 || n % 8 == 7 || n % 8 == 4 ? 2 : 8;
}

/// Collects the widths, strides and addresses of an operation's operands.
struct cost_of_operands {
  operation_cost sum;
  std::uintptr_t first_source = 0;
  bool has_source = false;

  template <class T>
  void width() {
    sum.bytes = sizeof(T) > sum.bytes ? u8{sizeof(T)} : sum.bytes;
  }
  template <class T>
  void stride(i64 elements) {
    width<T>();
    const u8 allowed = width_of_stride(elements);
    sum.stride_width = allowed < sum.stride_width ? allowed : sum.stride_width;
  }
  /// The memory has 8 banks of 16 bits. Two reads of 32 bits in a cycle need banks that differ modulo 4, so
  /// the operands must lie 4 bytes apart, modulo 8.
  template <class T>
  void source(const T* first, i64 elements) {
    stride<T>(elements);
    const auto at = reinterpret_cast<std::uintptr_t>(first);
    if (has_source && (at - first_source) % 8 != 4) sum.banks_clash = true;
    if (!has_source) first_source = at;
    has_source = true;
  }
};

}  // namespace wsl::detail
