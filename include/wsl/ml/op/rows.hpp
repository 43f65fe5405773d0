// SPDX-License-Identifier: MIT
// Operations of layers on whole rows: adding a bias to each row, summing all rows, and looking up or updating
// rows of a table (an embedding).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "loop.hpp"

namespace wsl::ml {

namespace detail {

struct add_loop {
  [[gnu::always_inline]] static void run(f32* to, const f32* x, int n) {
    for (int i = 0; i < n; ++i) to[i] += x[i];
  }
};
struct add_scaled_loop {
  [[gnu::always_inline]] static void run(f32* to, const f32* x, f32 factor, int n) {
    for (int i = 0; i < n; ++i) to[i] += factor * x[i];
  }
};
struct sum_loop {
  [[gnu::always_inline]] static void run(f32* to, const f32* a, const f32* b, int n) {
    for (int i = 0; i < n; ++i) to[i] = a[i] + b[i];
  }
};

inline const f32* row_of(const matrix<const f32>& table, i32 which, const char* what) {
  if (which < 0 || which >= table.rows())
    throw std::invalid_argument(
        fmt::format("wsl: {} {} is not in a table of {}", what, which, table.shape()));
  return table.row(which);
}

}  // namespace detail

/// Fills a matrix with zeros.
inline void clear(const matrix<f32>& x) {
  if (x.rows() > 1 && lie_whole(x)) return clear(as_one_row(x));
  for (int i = 0; i < x.rows(); ++i) std::fill_n(x.row(i), x.columns(), 0.f);
}
/// to += x, of one shape.
inline void add(const matrix<f32>& to, const matrix<const f32>& x) {
  if (to.rows() > 1 && lie_whole(to, x)) return add(as_one_row(to), as_one_row(x));
  for (int t = 0; t < to.rows(); ++t) run_vectorized<detail::add_loop>(to.row(t), x.row(t), to.columns());
}
/// to += factor x, of one shape.
inline void add_scaled(const matrix<f32>& to, const matrix<const f32>& x, f32 factor) {
  for (int t = 0; t < to.rows(); ++t)
    run_vectorized<detail::add_scaled_loop>(to.row(t), x.row(t), factor, to.columns());
}
/// to = a + b, of one shape.
inline void set_sum(const matrix<f32>& to, const matrix<const f32>& a, const matrix<const f32>& b) {
  if (to.rows() > 1 && lie_whole(to, a, b)) return set_sum(as_one_row(to), as_one_row(a), as_one_row(b));
  for (int t = 0; t < to.rows(); ++t)
    run_vectorized<detail::sum_loop>(to.row(t), a.row(t), b.row(t), to.columns());
}
/// Sets each row of y to the bias, or adds the bias to each row; bias is (width).
inline void set_rows(const matrix<f32>& y, const f32* bias) {
  for (int t = 0; t < y.rows(); ++t) std::copy_n(bias, y.columns(), y.row(t));
}
inline void add_to_rows(const matrix<f32>& y, const f32* bias) {
  for (int t = 0; t < y.rows(); ++t) run_vectorized<detail::add_loop>(y.row(t), bias, y.columns());
}
/// to += the sum of the rows of x, in their order.
inline void add_sum_of_rows(f32* to, const matrix<const f32>& x) {
  for (int t = 0; t < x.rows(); ++t) run_vectorized<detail::add_loop>(to, x.row(t), x.columns());
}

/// Sets row t of y to row which[t] of the table. Throws std::invalid_argument for a row that the table does
/// not have.
inline void look_up(const matrix<f32>& y, std::span<const i32> which, const matrix<const f32>& table) {
  for (int t = 0; t < y.rows(); ++t)
    std::copy_n(detail::row_of(table, which[static_cast<std::size_t>(t)], "row"), y.columns(), y.row(t));
}
/// Adds row t of dy to row which[t] of the table, in the order of t.
inline void add_at(const matrix<f32>& table, std::span<const i32> which, const matrix<const f32>& dy) {
  for (int t = 0; t < dy.rows(); ++t) {
    const i32 row = which[static_cast<std::size_t>(t)];
    detail::row_of(table, row, "row");
    run_vectorized<detail::add_loop>(table.row(row), dy.row(t), dy.columns());
  }
}

}  // namespace wsl::ml
