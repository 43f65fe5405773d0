// SPDX-License-Identifier: MIT
// Products of small matrices and vectors in the memory of a PE, as CSL programs write them: a map over the
// factors, each with an fmac over the elements of a vector.
#pragma once
#include <span>
#include <type_traits>

#include "../core/scalar.hpp"
#include "../program/descriptor/memory.hpp"
#include "../program/descriptor/ops.hpp"

namespace wsl::kernel {

/// The n numbers from `first` on.
template <class T>
memory<T> numbers(T* first, int n) {
  return mem(std::span(first, static_cast<std::size_t>(n)));
}

/// to += the vectors from `vectors` on, each times its factor: a matrix times a vector. A vector is as long
/// as `to`, and begins `stride` numbers behind the one before it.
template <class T, class F>
void add_columns(memory<f32> to, const T* vectors, int stride, memory<F> factors) {
  f32 unused = 0;
  map_each(
      [&](f32, std::remove_const_t<F> factor) {
        fmac(to, to, numbers(vectors, to.length()), factor);
        vectors += stride;
        return 0.f;
      },
      &unused, 0.f, factors);
}

/// Adds a vector to each of the vectors from `to` on, times its factor: an outer product. They are as long as
/// it, and lie one behind the other.
template <class T, class F>
void add_outer_product(f32* to, memory<T> vector, memory<F> factors) {
  f32 unused = 0;
  map_each(
      [&](f32, std::remove_const_t<F> factor) {
        const memory<f32> sum = numbers(to, vector.length());
        fmac(sum, sum, vector, factor);
        to += vector.length();
        return 0.f;
      },
      &unused, 0.f, factors);
}

}  // namespace wsl::kernel
