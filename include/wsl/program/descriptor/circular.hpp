// SPDX-License-Identifier: MIT
// A circular buffer as an operand (CSL's circbuf_dsd): the elements of an array from a given one on; after
// the last element comes the first again.
//   mov(circular(mem(last), step % 8, 1), x);              // keeps the last eight values
//   add(&sum, 0, circular(mem(last), step % 8 + 1, 8));    // from the oldest to the newest
#pragma once
#include "operands.hpp"

namespace wsl {
namespace detail {

[[noreturn]] inline void a_circular_buffer_has_no_such_element(int first, int count, int length) {
  throw fault("wsl: a circular buffer of " + std::to_string(length) + " elements has no " +
              std::to_string(count) + " elements from element " + std::to_string(first) + " on");
}
[[noreturn]] inline void a_circular_buffer_has_no_stride(int stride) {
  throw fault("wsl: a circular buffer has all elements of its array, not every " + std::to_string(stride));
}

template <class T>
class circular_memory {
 public:
  using element = T;
  constexpr circular_memory(T* ring, u32 first, u32 capacity, int count)
      : ring_(ring), first_(first), capacity_(capacity), count_(count) {}

  constexpr int length() const { return count_; }
  static constexpr int stride() { return 1; }
  constexpr T* place(u64 at) const { return ring_ + (first_ + at) % capacity_; }
  constexpr u32 run(u64 at) const { return capacity_ - static_cast<u32>((first_ + at) % capacity_); }

 private:
  T* ring_;
  u32 first_, capacity_;
  int count_;
};

}  // namespace detail

/// `count` elements of an array of n from the element `first` on, 0 <= first <= n; they may go around several
/// times.
template <class T>
constexpr detail::circular_memory<T> circular(const memory<T>& array, int first, int count) {
  if (first < 0 || first > array.length() || count < 0 || (count > 0 && array.length() == 0))
    detail::a_circular_buffer_has_no_such_element(first, count, array.length());
  if (array.stride() != 1) detail::a_circular_buffer_has_no_stride(array.stride());
  return {array.first(), static_cast<u32>(first), static_cast<u32>(array.length()), count};
}

}  // namespace wsl
