// SPDX-License-Identifier: MIT
// Lamb (You et al. 2020, arXiv 1904.00962, algorithm 2): the step of Adam for each parameter, scaled to the
// norm of that parameter. It needs two norms of the whole parameter, so its update has two rounds.
#pragma once
#include <algorithm>

#include "adam.hpp"

namespace wsl::ml::rules {

/// The function phi of the paper is the norm itself, bounded by `largest_norm`. Where the norm of the
/// parameter or of its step is 0, the step is that of Adam. The Model Zoo has no bias correction and bounds
/// the norm by 10, as a version 3 of the paper.
struct lamb {
  static constexpr const char* name = "lamb";
  static constexpr int rounds = 2;
  f32 beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f, decay = 0;
  bool correct_bias = true;
  f32 largest_norm = INFINITY;

  kept_arrays kept(bool) const { return adam{}.kept(false); }
  void check() const {
    detail::check_adam(name, beta1, beta2, epsilon);
    if (!(largest_norm > 0))
      throw std::invalid_argument(fmt::format("wsl: lamb has a positive largest norm, not {}", largest_norm));
  }

  /// Updates the moments; adds the squares of the weights and of Adam's step.
  void measure(int, const parameter_part& part, const parameter_step& s, const parameter_sums&,
               parameter_sums& to) const {
    const coefficients c = at(s);
    part.each_run([&](const number_run& x) {
      run_vectorized<moments_loop>(x, s.scale, beta1, beta2);
      run_vectorized<squares_loop>(x, c, &to.all);
    });
  }
  /// all[0] of the whole becomes the ratio of the norms.
  void combine(int, const whole_parameter&, const parameter_step&, const parameter_sums& sums,
               parameter_sums& whole) const {
    const f64 weights = std::min(std::sqrt(sums.all[0]), static_cast<f64>(largest_norm)),
              step = std::sqrt(sums.all[1]);
    whole.all[0] = weights > 0 && step > 0 ? weights / step : 1;
  }
  void update(const parameter_part& part, const parameter_step& s, const parameter_sums& whole) const {
    const f32 rate = static_cast<f32>(static_cast<f64>(s.rate) * whole.all[0]);
    part.each_run([&](const number_run& x) { run_vectorized<update_loop>(x, at(s), rate); });
  }

 private:
  struct coefficients {
    f32 correct, root, epsilon, decay;
    /// Adam's step with decay, of number i.
    [[gnu::always_inline]] f32 step(const number_run& x, int i) const {
      return correct * x.kept[0][i] / (square_root(x.kept[1][i]) * root + epsilon) + decay * x.weights[i];
    }
  };
  coefficients at(const parameter_step& s) const {
    if (!correct_bias) return {1, 1, epsilon, decay};
    return {static_cast<f32>(1 / detail::bias_correction(beta1, s.number)),
            static_cast<f32>(1 / std::sqrt(detail::bias_correction(beta2, s.number))), epsilon, decay};
  }
  struct moments_loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 beta1, f32 beta2) {
      f32 *const first = x.kept[0], *const second = x.kept[1];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = scale * x.gradients[i];
        first[i] = beta1 * first[i] + (1 - beta1) * d;
        second[i] = beta2 * second[i] + (1 - beta2) * d * d;
      }
    }
  };
  struct squares_loop {
    [[gnu::always_inline]] static void run(number_run x, coefficients c, std::array<f64, 2>* to) {
      (*to)[0] += detail::long_sum(x.n, [&](int i) { return x.weights[i] * x.weights[i]; });
      (*to)[1] += detail::long_sum(x.n, [&](int i) { return c.step(x, i) * c.step(x, i); });
    }
  };
  struct update_loop {
    [[gnu::always_inline]] static void run(number_run x, coefficients c, f32 rate) {
      for (int i = 0; i < x.n; ++i) x.weights[i] -= rate * c.step(x, i);
    }
  };
};

}  // namespace wsl::ml::rules
