// SPDX-License-Identifier: MIT
// A part of a parameter as an optimizer sees it. A parameter lies with several owners: the servers of the
// memory, or the strips of a pipeline. Each updates its own block of the rows and columns, and update rules
// (rules/*.hpp) know nothing else of where it lies. Rules that treat each number by itself get runs of
// numbers that lie together. Rules that need sums over the whole parameter add up those of their blocks
// first.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/inplace_vector.hpp"

namespace wsl::ml {

/// One array that an optimizer keeps for a parameter: a number for each of its numbers, for each row, or for
/// each column.
struct kept_array {
  enum class per : u8 { number, row, column };
  std::string_view name;  ///< in checkpoints, after the parameter's name and a slash
  per each = per::number;

  /// How many numbers it has for a parameter of this shape.
  i64 size(int rows, int columns) const {
    return each == per::row ? rows : each == per::column ? columns : i64{rows} * columns;
  }
};
inline constexpr int max_kept_arrays = 3;
using kept_arrays = support::inplace_vector<kept_array, max_kept_arrays>;

/// A step as an update rule sees it. `number` counts from 1; gradients are multiplied by `scale` first.
struct parameter_step {
  f32 scale = 1, rate = 0;
  i64 number = 1;
  bool is_first() const { return number == 1; }
};

/// Numbers of a parameter that lie together, with their gradients and what is kept of each. Arrays with a
/// number for each row or column are not here.
struct number_run {
  f32* weights;
  const f32* gradients;
  std::array<f32*, max_kept_arrays> kept{};
  int n;
};

/// A block of the rows and columns of a parameter.
struct parameter_block {
  int row = 0, rows = 0, column = 0, columns = 0;
};

/// A block of a parameter with its numbers. Arrays with a number for each weight are row-major, with `stride`
/// numbers from one row to the next, but for gradients, which have a stride of their own.
struct parameter_part {
  parameter_block where;
  i64 stride = 0, gradient_stride = 0;
  f32* weights = nullptr;    ///< the first of the block
  f32* gradients = nullptr;  ///< the same
  /// The number of the block's first weight, first row or first column.
  std::array<f32*, max_kept_arrays> kept{};
  kept_arrays arrays{};    ///< what they are
  f32* average = nullptr;  ///< the first of the block in the average of the weights, if there is one

  /// Calls f(run, i) for the block's rows i = 0, 1, ..., each a run of numbers.
  template <class F>
  void each_row(F f) const {
    for (int i = 0; i < where.rows; ++i) f(run_at(i, where.columns), i);
  }
  /// Calls f(run) for runs that are as long as possible.
  template <class F>
  void each_run(F f) const {
    if (stride == where.columns && gradient_stride == stride) f(run_at(0, where.rows * where.columns));
    else each_row([&](const number_run& x, int) { f(x); });
  }

 private:
  number_run run_at(int row, int n) const {
    const i64 from = row * stride;
    number_run x{.weights = weights + from, .gradients = gradients + row * gradient_stride, .n = n};
    for (int k = 0; k < arrays.size(); ++k)
      if (const auto at = static_cast<std::size_t>(k); arrays[k].each == kept_array::per::number)
        x.kept[at] = kept[at] + from;
    return x;
  }
};

/// A whole parameter, between two rounds of an update: its shape, and the arrays kept for it.
struct whole_parameter {
  int rows = 1, columns = 1;
  std::array<f32*, max_kept_arrays> kept{};
  f64 size() const { return static_cast<f64>(rows) * static_cast<f64>(columns); }
};

/// Sums over a parameter, or over the blocks of it that one owner has: numbers of the whole, and numbers for
/// each row and column. The meaning of each is the rule's.
struct parameter_sums {
  std::array<f64, 2> all{};
  std::vector<f64> rows, columns;

  void add(const parameter_sums& x) {
    const auto add_each = [](std::vector<f64>& to, const std::vector<f64>& from) {
      if (to.size() < from.size()) to.resize(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += x.all[i];
    add_each(rows, x.rows), add_each(columns, x.columns);
  }
};

}  // namespace wsl::ml
