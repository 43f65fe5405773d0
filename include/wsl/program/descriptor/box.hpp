// SPDX-License-Identifier: MIT
// An array in up to four dimensions as an operand (CSL's mem4d_dsd): the number of steps along each
// dimension, and the number of elements in a step. A stride of 0 stays in place: a source then repeats, a
// destination accumulates.
//   box(mem(a), {rows, columns})                            // all of it, the last index fastest
//   box(mem(a), {columns, rows}, {1, columns})              // transposed
//   const auto total = box(mem(sum), {5, n}, {0, 1});
//   add(total, total, mem(a));                              // sum[k] += a[0][k] + ... + a[4][k]
#pragma once
#include <initializer_list>

#include "operands.hpp"

namespace wsl {
namespace detail {

[[noreturn]] inline void a_box_has_one_to_four_dimensions(std::size_t n) {
  throw fault("wsl: a box has one to four dimensions, not " + std::to_string(n));
}
[[noreturn]] inline void a_box_has_a_stride_for_each_dimension(std::size_t strides, std::size_t dimensions) {
  throw fault("wsl: a box of " + std::to_string(dimensions) + " dimensions has as many strides, not " +
              std::to_string(strides));
}
[[noreturn]] inline void a_box_has_no_negative_length(int n) {
  throw fault("wsl: a box has 0 or more elements along each dimension, not " + std::to_string(n));
}
[[noreturn]] inline void the_box_leaves_its_array(i64 lowest, i64 highest, int length) {
  throw fault("wsl: a box from element " + std::to_string(lowest) + " to element " + std::to_string(highest) +
              " leaves its array of " + std::to_string(length) + " elements");
}

/// The extents and strides of a box; missing dimensions come first and have one element.
struct box_shape {
  i32 extent[4] = {1, 1, 1, 1};
  i32 stride[4] = {0, 0, 0, 0};

  constexpr u32 row() const { return static_cast<u32>(extent[3]); }
  constexpr i64 length() const { return i64{extent[0]} * extent[1] * extent[2] * extent[3]; }
  /// Where row n starts: the last dimension is a row.
  constexpr i64 start_of(u64 n) const {
    i64 at = 0;
    for (int d = 2; d >= 0; --d) {
      const auto e = static_cast<u64>(extent[d]);
      at += static_cast<i64>(n % e) * stride[d];
      n /= e;
    }
    return at;
  }
};

template <class T>
class box_memory {
 public:
  using element = T;
  constexpr box_memory(T* first, const box_shape& shape) : first_(first), shape_(shape) {}

  constexpr int length() const { return static_cast<int>(shape_.length()); }
  constexpr int stride() const { return shape_.stride[3]; }
  constexpr T* place(u64 at) const {
    return first_ + shape_.start_of(at / shape_.row()) +
           static_cast<i64>(at % shape_.row()) * shape_.stride[3];
  }
  constexpr u32 run(u64 at) const { return shape_.row() - static_cast<u32>(at % shape_.row()); }

 private:
  T* first_;
  box_shape shape_;
};

}  // namespace detail

/// A box with `extents` elements along each dimension, `strides` elements of the view apart; the last index
/// is the fastest. A box that leaves the view is a fault.
template <class T>
constexpr detail::box_memory<T> box(const memory<T>& view, std::initializer_list<int> extents,
                                    std::initializer_list<int> strides) {
  if (extents.size() < 1 || extents.size() > 4) detail::a_box_has_one_to_four_dimensions(extents.size());
  if (strides.size() != extents.size())
    detail::a_box_has_a_stride_for_each_dimension(strides.size(), extents.size());
  detail::box_shape shape;
  i64 lowest = 0, highest = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const int n = extents.begin()[i], stride = strides.begin()[i];
    if (n < 0) detail::a_box_has_no_negative_length(n);
    (stride < 0 ? lowest : highest) += i64{n - 1} * stride;
    shape.extent[4 - extents.size() + i] = n;
    shape.stride[4 - extents.size() + i] = stride * view.stride();
  }
  if (shape.length() > 0 && (lowest < 0 || highest >= view.length()))
    detail::the_box_leaves_its_array(lowest, highest, view.length());
  return {view.first(), shape};
}

/// A dense box: the rows of the view follow one another without gaps.
template <class T>
constexpr detail::box_memory<T> box(const memory<T>& view, std::initializer_list<int> extents) {
  int dense[4] = {1, 1, 1, 1};
  const std::size_t n = extents.size();
  if (n < 1 || n > 4) detail::a_box_has_one_to_four_dimensions(n);
  for (std::size_t i = n - 1; i-- > 0;) dense[i] = dense[i + 1] * extents.begin()[i + 1];
  if (n == 1) return box(view, extents, {dense[0]});
  if (n == 2) return box(view, extents, {dense[0], dense[1]});
  if (n == 3) return box(view, extents, {dense[0], dense[1], dense[2]});
  return box(view, extents, {dense[0], dense[1], dense[2], dense[3]});
}

}  // namespace wsl
