// SPDX-License-Identifier: MIT
// Vectors of f32 or f64 numbers, as linalg/vector_code.hpp has them of f32: what one register of its versions
// for 4, 8 or 16 f32 holds.
#pragma once
#include <cstddef>

#include "../../linalg/vector_code.hpp"

namespace wsl::solver {

template <class T, int count>
struct numbers_of {
  typedef T type __attribute__((vector_size(count * sizeof(T)), aligned(sizeof(T)), may_alias));
};
/// Some numbers side by side. Loads and stores through a reference need no alignment.
template <class T, int count>
using numbers = typename numbers_of<T, count>::type;

template <class T, int count>
[[gnu::always_inline]] inline numbers<T, count>& numbers_at(T* p) {
  return *reinterpret_cast<numbers<T, count>*>(p);
}
template <class T, int count>
[[gnu::always_inline]] inline const numbers<T, count>& numbers_at(const T* p) {
  return *reinterpret_cast<const numbers<T, count>*>(p);
}

/// The sum of a register's numbers, in f64, halves first.
template <class T, int count>
[[gnu::always_inline]] inline f64 folded(const numbers<T, count>& x) {
  f64 parts[std::size_t{count}];
  for (int i = 0; i < count; ++i) parts[i] = static_cast<f64>(x[i]);
  for (int half = count / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
}

/// Numbers that are added up in T before they are added to an f64: the error of an f32 sum is that of one
/// line, however long the vector is.
inline constexpr int line_of_sums = 512;

}  // namespace wsl::solver
