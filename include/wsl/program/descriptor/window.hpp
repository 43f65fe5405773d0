// SPDX-License-Identifier: MIT
// A descriptor that moves over its array (CSL's @increment_dsd_offset, @set_dsd_length, @set_dsd_stride,
// @set_dsd_base_addr, and save_address). It is a member of the program, so it keeps its position from task to
// task. Its view is an ordinary descriptor and is checked against the array. See examples/44_windows.cpp.
//   window column{mem(a)};
//   for (f32 x : xs) fmac(mem(y), mem(y), column.next(rows), x);    // one column after the other
#pragma once
#include "memory.hpp"

namespace wsl {

template <class T>
class window {
 public:
  using element = T;

  /// A window over all of an array, which must not move.
  constexpr explicit window(const memory<T>& array) : array_(array), length_(array.length()) {}

  /// Another array, with the same offset, length and stride.
  constexpr window& set_base(const memory<T>& array) { return array_ = array, *this; }
  constexpr window& set_length(int n) { return length_ = n, *this; }
  /// Elements of the array from one element of the view to the next.
  constexpr window& set_stride(int n) { return stride_ = n, *this; }
  constexpr window& set_offset(int n) { return offset_ = n, *this; }
  /// By elements of the array, back if negative.
  constexpr window& advance(int n) { return offset_ += n, *this; }

  constexpr int offset() const { return offset_; }
  constexpr int length() const { return length_; }
  constexpr int stride() const { return stride_; }

  /// The elements that the window covers now; a fault if they leave the array.
  constexpr memory<T> view() const { return view_of(length_); }
  /// The next n elements, which span n * stride elements of the array; the window moves behind them.
  constexpr memory<T> next(int n) {
    const memory<T> taken = view_of(n);
    offset_ += n * stride_;
    return taken;
  }

 private:
  constexpr memory<T> view_of(int n) const {
    const i64 last = offset_ + i64{n - 1} * stride_;
    if (n < 0 ||
        (n > 0 && (offset_ < 0 || offset_ >= array_.length() || last < 0 || last >= array_.length())))
      detail::part_leaves_the_array(offset_, n, array_.length());
    return {n ? array_.first() + i64{offset_} * array_.stride() : array_.first(), n,
            array_.stride() * stride_};
  }

  memory<T> array_;
  int offset_ = 0, length_, stride_ = 1;
};

template <class T>
constexpr memory<T> mem(const window<T>& w) {
  return w.view();
}

}  // namespace wsl
