// SPDX-License-Identifier: MIT
// Rules that divide a gradient by the root of a sum or mean of its squares, without a mean of the gradients
// as Adam has: RMSprop, Adagrad and Adadelta. The formulas are those of torch.optim. Weight decay is added to
// the gradient.
#pragma once
#include "common.hpp"

namespace wsl::ml::rules {

/// RMSprop (Tieleman and Hinton 2012). With `centered` the mean gradient is taken off its squares' mean, so a
/// variance divides (Graves 2013, arXiv 1308.0850).
struct rmsprop {
  static constexpr const char* name = "rmsprop";
  f32 alpha = 0.99f, epsilon = 1e-8f, decay = 0, momentum = 0;
  bool centered = false;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"second"});
    if (momentum != 0) all.push_back({"velocity"});
    if (centered) all.push_back({"first"});
    return all;
  }
  void check() const {
    detail::require_in(name, "alpha", alpha, 0, 1);
    detail::require_not_negative(name, "epsilon", epsilon);
    detail::require_part(name, "momentum", momentum);
  }
  void update(const number_run& x, const parameter_step& s) const {
    if (momentum != 0 && centered) run_vectorized<loop<true, true>>(x, s, *this);
    else if (momentum != 0) run_vectorized<loop<true, false>>(x, s, *this);
    else if (centered) run_vectorized<loop<false, true>>(x, s, *this);
    else run_vectorized<loop<false, false>>(x, s, *this);
  }

 private:
  template <bool has_momentum, bool has_mean>
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, rmsprop r) {
      f32 *const second = x.kept[0], *const velocity = x.kept[1], *const mean = x.kept[has_momentum ? 2 : 1];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = s.scale * x.gradients[i] + r.decay * x.weights[i];
        second[i] = r.alpha * second[i] + (1 - r.alpha) * d * d;
        f32 variance = second[i];
        if constexpr (has_mean) {
          mean[i] = r.alpha * mean[i] + (1 - r.alpha) * d;
          variance -= mean[i] * mean[i];
          variance = select(variance < 0, 0, variance);  // by rounding
        }
        f32 change = d / (square_root(variance) + r.epsilon);
        if constexpr (has_momentum) change = velocity[i] = r.momentum * velocity[i] + change;
        x.weights[i] -= s.rate * change;
      }
    }
  };
};

/// Adagrad (Duchi et al. 2011). The sum of squares begins with `initial`; the rate of step t is divided by
/// 1 + (t - 1) rate_decay.
struct adagrad {
  static constexpr const char* name = "adagrad";
  f32 epsilon = 1e-10f, decay = 0, rate_decay = 0, initial = 0;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"sum"});
    return all;
  }
  void check() const {
    detail::require_not_negative(name, "epsilon", epsilon);
    detail::require_not_negative(name, "decay of the rate", rate_decay);
    detail::require_not_negative(name, "initial sum", initial);
  }
  void update(const number_run& x, const parameter_step& s) const {
    const f64 rate =
        static_cast<f64>(s.rate) / (1 + static_cast<f64>(s.number - 1) * static_cast<f64>(rate_decay));
    run_vectorized<loop>(x, s, static_cast<f32>(rate), *this);
  }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, f32 rate, adagrad r) {
      f32* const sum = x.kept[0];
      const bool begins = s.is_first();
      for (int i = 0; i < x.n; ++i) {
        const f32 d = s.scale * x.gradients[i] + r.decay * x.weights[i];
        sum[i] = (begins ? r.initial : sum[i]) + d * d;
        x.weights[i] -= rate * d / (square_root(sum[i]) + r.epsilon);
      }
    }
  };
};

/// Adadelta (Zeiler 2012, arXiv 1212.5701): a mean of the squares of the changes takes the place of a rate;
/// the learning rate is a factor, by default 1 in PyTorch.
struct adadelta {
  static constexpr const char* name = "adadelta";
  f32 rho = 0.9f, epsilon = 1e-6f, decay = 0;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"second"}), all.push_back({"change"});
    return all;
  }
  void check() const {
    detail::require_in(name, "rho", rho, 0, 1), detail::require_positive(name, "epsilon", epsilon);
  }
  void update(const number_run& x, const parameter_step& s) const { run_vectorized<loop>(x, s, *this); }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, adadelta r) {
      f32 *const second = x.kept[0], *const change = x.kept[1];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = s.scale * x.gradients[i] + r.decay * x.weights[i];
        second[i] = r.rho * second[i] + (1 - r.rho) * d * d;
        const f32 by = square_root(change[i] + r.epsilon) / square_root(second[i] + r.epsilon) * d;
        change[i] = r.rho * change[i] + (1 - r.rho) * by * by;
        x.weights[i] -= s.rate * by;
      }
    }
  };
};

}  // namespace wsl::ml::rules
