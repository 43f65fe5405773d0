// SPDX-License-Identifier: MIT
// The inner loops of operations. They are compiled for several vector widths and sum over a row in sixteen
// parts whatever the width, so that an operation gives the same bits on every processor that has fused
// multiply-adds.
#pragma once
#include "../../linalg/matrix.hpp"
#include "../../linalg/vector_code.hpp"

namespace wsl::ml {

/// Whether each of some matrices lies row after row without gaps, so that what treats each number by itself
/// may take it for one row.
template <class... T>
bool lie_whole(const matrix<T>&... x) {
  return ((x.column_stride() == 1 && x.row_stride() == x.columns() &&
           i64{x.rows()} * x.columns() <= 0x7fffffff) &&
          ...);
}
template <class T>
matrix<T> as_one_row(const matrix<T>& x) {
  return {x.first(), 1, x.rows() * x.columns()};
}

/// Runs `Loop::run(arguments...)`, an always_inline function, in the version for the widest vectors that this
/// processor has.
template <class Loop>
struct vectorized {
  template <int lanes, class... Arguments>
  [[gnu::always_inline]] static void run(Arguments... x) {
    Loop::run(x...);
  }
};
template <class Loop, class... Arguments>
void run_vectorized(Arguments... x) {
  static const auto best = vector_code<vectorized<Loop>, Arguments...>::best();
  best(x...);
}

/// The sum of f(i) for i below n.
template <class F>
[[gnu::always_inline]] inline f32 sum_of(int n, F f) {
  constexpr int parts = 16;
  f32 part[parts]{};
  int i = 0;
  for (; i + parts <= n; i += parts)
    for (int k = 0; k < parts; ++k) part[k] += f(i + k);
  for (int k = 0; i + k < n; ++k) part[k] += f(i + k);
  for (int half = parts / 2; half; half /= 2)
    for (int k = 0; k < half; ++k) part[k] += part[k + half];
  return part[0];
}

/// The largest f(i) for i below n, n at least 1.
template <class F>
[[gnu::always_inline]] inline f32 largest_of(int n, F f) {
  constexpr int parts = 16;
  f32 part[parts];
  for (int k = 0; k < parts; ++k) part[k] = f(k < n ? k : 0);
  for (int i = parts; i + parts <= n; i += parts)
    for (int k = 0; k < parts; ++k) part[k] = part[k] < f(i + k) ? f(i + k) : part[k];
  for (int i = n / parts * parts; i < n; ++i) part[0] = part[0] < f(i) ? f(i) : part[0];
  for (int half = parts / 2; half; half /= 2)
    for (int k = 0; k < half; ++k) part[k] = part[k] < part[k + half] ? part[k + half] : part[k];
  return part[0];
}

namespace detail {

/// x - x is 0 for every finite number, and NaN otherwise.
struct difference_loop {
  [[gnu::always_inline]] static void run(f32* total, const f32* x, int n) {
    *total = sum_of(n, [x](int i) { return x[i] - x[i]; });
  }
};

}  // namespace detail

/// Whether none of n numbers is infinite or a NaN.
inline bool all_finite(const f32* x, int n) {
  f32 total = 0;
  run_vectorized<detail::difference_loop>(&total, x, n);
  return total == 0;
}

}  // namespace wsl::ml
