// SPDX-License-Identifier: MIT
// Adafactor (Shazeer and Stern 2018, arXiv 1804.04235), with the formula of Hugging Face's transformers
// (optimization.py), which is that of the Cerebras Model Zoo as well. A matrix keeps a mean square of the
// gradients for each row and each column instead of one for each number; a vector keeps all. The update needs
// sums over the whole parameter, in three rounds:
//   0  squares of the gradients by row and column, and of the weights: gives the factors and the scale
//   1  squares of the changes: gives the factor that bounds their root mean square
//   2  the update
#pragma once
#include <algorithm>

#include "common.hpp"

namespace wsl::ml::rules {

/// A parameter of one row counts as a vector. With `relative_step` the learning rate is a factor of the
/// step's own rate, min(0.01, 1 / sqrt(t)), or with `warmup_init` min(t / 10^6, 1 / sqrt(t)); Hugging Face
/// has no learning rate then, which is a rate of 1. `beta1` 0 keeps no first moment.
struct adafactor {
  static constexpr const char* name = "adafactor";
  static constexpr int rounds = 3;
  f32 epsilon = 1e-30f;        ///< added to the squares of gradients
  f32 smallest_scale = 1e-3f;  ///< of a parameter, for `scale_parameter`
  f32 clip_threshold = 1;      ///< the largest root mean square of the changes before the rate
  f32 decay_rate = -0.8f;      ///< the mean of squares of step t has the coefficient 1 - t^decay_rate
  f32 beta1 = 0, decay = 0;
  bool scale_parameter = true;  ///< multiplies the rate by the root mean square of the parameter
  bool relative_step = false, warmup_init = false;

  kept_arrays kept(bool is_matrix) const {
    kept_arrays all;
    if (is_matrix)
      all.push_back({"row", kept_array::per::row}), all.push_back({"column", kept_array::per::column});
    else all.push_back({"second"});
    if (beta1 != 0) all.push_back({"first"});
    return all;
  }
  void check() const {
    detail::require_in(name, "beta1", beta1, 0, 1);
    detail::require_positive(name, "clip threshold", clip_threshold);
    detail::require_positive(name, "epsilon", epsilon);
    detail::require_not_negative(name, "smallest scale", smallest_scale);
    if (!(decay_rate < 0))
      throw std::invalid_argument(fmt::format(
          "wsl: adafactor has a negative decay_rate, an exponent of the step, not {}", decay_rate));
    if (warmup_init && !relative_step)
      throw std::invalid_argument("wsl: warmup_init of adafactor needs relative_step");
  }

  void measure(int round, const parameter_part& part, const parameter_step& s, const parameter_sums& whole,
               parameter_sums& to) const {
    if (round == 0) measure_squares(part, s, to);
    else
      each_change(part, s, whole, [&](const number_run& x, const change& by) {
        run_vectorized<changes_loop>(x, by, &to.all[1]);
      });
  }
  /// After round 0 `rows` and `columns` of the whole are the factors of a change, and all[0] is the rate,
  /// with the parameter's scale; after round 1 all[1] is the rate by which changes are multiplied.
  void combine(int round, const whole_parameter& p, const parameter_step& s, const parameter_sums& sums,
               parameter_sums& whole) const {
    if (round == 1) {
      const f64 size = std::sqrt(sums.all[1] / p.size());
      whole.all[1] = whole.all[0] / std::max(1., size / static_cast<f64>(clip_threshold));
      return;
    }
    const f64 size = std::sqrt(sums.all[0] / p.size());
    whole.all[0] = rate(s) * (scale_parameter ? std::max(static_cast<f64>(smallest_scale), size) : 1);
    if (sums.rows.empty()) return;
    f64 mean_of_rows = 0;
    whole.rows = mean(p.kept[0], sums.rows, p.columns, s),
    whole.columns = mean(p.kept[1], sums.columns, p.rows, s);
    for (const f64 x : whole.rows) mean_of_rows += x / static_cast<f64>(p.rows);
    for (f64& x : whole.rows) x = std::sqrt(mean_of_rows / x);
    for (f64& x : whole.columns) x = 1 / std::sqrt(x);
  }
  void update(const parameter_part& part, const parameter_step& s, const parameter_sums& whole) const {
    const f32 shrink = 1 - decay * static_cast<f32>(whole.all[0]), rate = static_cast<f32>(whole.all[1]);
    each_change(part, s, whole, [&](const number_run& x, const change& by) {
      if (beta1 != 0)
        run_vectorized<momentum_loop>(x, by, x.kept[is_factored(part) ? 2 : 1], beta1, rate, shrink);
      else run_vectorized<update_loop>(x, by, rate, shrink);
    });
  }

 private:
  /// The change of number i of a run before clipping: its gradient times a factor of its row and one of its
  /// column, or in a vector divided by the root of its own mean square.
  struct change {
    f32 of_row;
    const f64* of_columns;
    const f32* second;
    [[gnu::always_inline]] f32 factored(const number_run& x, int i) const {
      return x.gradients[i] * of_row * static_cast<f32>(of_columns[i]);
    }
    [[gnu::always_inline]] f32 full(const number_run& x, int i) const {
      return x.gradients[i] * of_row / square_root(second[i]);
    }
    /// Calls f(the function that gives the change of a number).
    template <class F>
    [[gnu::always_inline]] void with(const number_run& x, F f) const {
      if (of_columns) f([&](int i) __attribute__((always_inline)) { return factored(x, i); });
      else f([&](int i) __attribute__((always_inline)) { return full(x, i); });
    }
  };

  static bool is_factored(const parameter_part& part) { return part.arrays[0].each == kept_array::per::row; }
  /// Calls f(run, change) for the rows of a part.
  template <class F>
  static void each_change(const parameter_part& part, const parameter_step& s, const parameter_sums& whole,
                          F f) {
    const parameter_block& b = part.where;
    const bool factored = is_factored(part);
    part.each_row([&](const number_run& x, int i) {
      if (factored)
        f(x, change{s.scale * static_cast<f32>(whole.rows[static_cast<std::size_t>(b.row + i)]),
                    whole.columns.data() + b.column, nullptr});
      else f(x, change{s.scale, nullptr, x.kept[0]});
    });
  }
  f64 rate(const parameter_step& s) const {
    const f64 t = static_cast<f64>(s.number);
    return static_cast<f64>(s.rate) *
           (relative_step ? std::min(warmup_init ? 1e-6 * t : 1e-2, 1 / std::sqrt(t)) : 1);
  }
  /// The weight of a step's squares in their running mean: 1 in step 1.
  f64 part_of_step(const parameter_step& s) const {
    return std::pow(static_cast<f64>(s.number), static_cast<f64>(decay_rate));
  }
  /// Updates running means of squares, and returns them.
  std::vector<f64> mean(f32* kept, const std::vector<f64>& sums, int summands,
                        const parameter_step& s) const {
    const f64 fresh = part_of_step(s);
    std::vector<f64> all(sums.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = (1 - fresh) * static_cast<f64>(kept[i]) + fresh * sums[i] / static_cast<f64>(summands);
      kept[i] = static_cast<f32>(all[i]);
    }
    return all;
  }
  void measure_squares(const parameter_part& part, const parameter_step& s, parameter_sums& to) const {
    const parameter_block& b = part.where;
    const auto grow = [](std::vector<f64>& x, int n) {
      x.resize(std::max(x.size(), static_cast<std::size_t>(n)));
    };
    if (is_factored(part)) {
      grow(to.rows, b.row + b.rows), grow(to.columns, b.column + b.columns);
      part.each_row([&](const number_run& x, int i) {
        run_vectorized<squares_loop>(x, s.scale, epsilon, to.rows.data() + b.row + i,
                                     to.columns.data() + b.column);
      });
    } else {
      const f32 fresh = static_cast<f32>(part_of_step(s));
      part.each_run([&](const number_run& x) { run_vectorized<second_loop>(x, s.scale, epsilon, fresh); });
    }
    part.each_run([&](const number_run& x) { run_vectorized<weights_loop>(x, to.all.data()); });
  }

  struct squares_loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 epsilon, f64* row, f64* columns) {
      const auto square = [&](int i) __attribute__((always_inline)) {
        const f32 d = scale * x.gradients[i];
        return d * d + epsilon;
      };
      *row += detail::long_sum(x.n, square);
      for (int i = 0; i < x.n; ++i) columns[i] += static_cast<f64>(square(i));
    }
  };
  struct second_loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 epsilon, f32 fresh) {
      f32* const second = x.kept[0];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = scale * x.gradients[i];
        second[i] = (1 - fresh) * second[i] + fresh * (d * d + epsilon);
      }
    }
  };
  struct weights_loop {
    [[gnu::always_inline]] static void run(number_run x, f64* to) {
      *to += detail::long_sum(x.n, [&](int i) { return x.weights[i] * x.weights[i]; });
    }
  };
  struct changes_loop {
    [[gnu::always_inline]] static void run(number_run x, change by, f64* to) {
      by.with(x, [&](auto of) { *to += detail::long_sum(x.n, [&](int i) { return of(i) * of(i); }); });
    }
  };
  struct update_loop {
    [[gnu::always_inline]] static void run(number_run x, change by, f32 rate, f32 shrink) {
      by.with(x, [&](auto of) {
        for (int i = 0; i < x.n; ++i) x.weights[i] = x.weights[i] * shrink - rate * of(i);
      });
    }
  };
  struct momentum_loop {
    [[gnu::always_inline]] static void run(number_run x, change by, f32* first, f32 beta1, f32 rate,
                                           f32 shrink) {
      by.with(x, [&](auto of) {
        for (int i = 0; i < x.n; ++i) {
          first[i] = beta1 * first[i] + (1 - beta1) * rate * of(i);
          x.weights[i] = x.weights[i] * shrink - first[i];
        }
      });
    }
  };
};

}  // namespace wsl::ml::rules
