// SPDX-License-Identifier: MIT
// Adam and its relatives, which keep running means of the gradients and of their squares. The formulas are
// those of torch.optim in PyTorch 2.
#pragma once
#include "common.hpp"

namespace wsl::ml::rules {

namespace detail {

inline void check_adam(const char* rule, f32 beta1, f32 beta2, f32 epsilon) {
  require_in(rule, "beta1", beta1, 0, 1), require_in(rule, "beta2", beta2, 0, 1);
  require_not_negative(rule, "epsilon", epsilon);
}

}  // namespace detail

/// Adam (Kingma and Ba 2015, arXiv 1412.6980). Weight decay is added to the gradient. With `amsgrad` (Reddi
/// et al. 2018) the largest second moment so far divides, not the last one.
struct adam {
  static constexpr const char* name = "adam";
  f32 beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0;
  bool amsgrad = false;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"first"}), all.push_back({"second"});
    if (amsgrad) all.push_back({"largest"});
    return all;
  }
  void check() const { detail::check_adam(name, beta1, beta2, epsilon); }
  void update(const number_run& x, const parameter_step& s) const { update(x, s, 1, decay); }
  /// Weights are multiplied by `shrink` first, and times `by` they are added to the gradient.
  void update(const number_run& x, const parameter_step& s, f32 shrink, f32 by) const {
    const f64 correct1 = detail::bias_correction(beta1, s.number),
              correct2 = detail::bias_correction(beta2, s.number);
    const coefficients c{beta1,
                         beta2,
                         epsilon,
                         static_cast<f32>(static_cast<f64>(s.rate) / correct1),
                         static_cast<f32>(1 / std::sqrt(correct2)),
                         shrink,
                         by,
                         s.scale};
    if (amsgrad) run_vectorized<loop<true>>(x, c);
    else run_vectorized<loop<false>>(x, c);
  }

 private:
  struct coefficients {
    f32 beta1, beta2, epsilon, rate, root, shrink, decay, scale;
  };
  template <bool keeps_largest>
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, coefficients c) {
      f32 *const first = x.kept[0], *const second = x.kept[1], *const largest = x.kept[2];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = c.scale * x.gradients[i] + c.decay * x.weights[i];
        first[i] = c.beta1 * first[i] + (1 - c.beta1) * d;
        second[i] = c.beta2 * second[i] + (1 - c.beta2) * d * d;
        f32 square = second[i];
        if constexpr (keeps_largest) square = largest[i] = largest[i] > square ? largest[i] : square;
        x.weights[i] =
            x.weights[i] * c.shrink - c.rate * first[i] / (square_root(square) * c.root + c.epsilon);
      }
    }
  };
};

/// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101): weight decay shrinks the weight itself.
struct adamw {
  static constexpr const char* name = "adamw";
  f32 beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0.01f;
  bool amsgrad = false;

  kept_arrays kept(bool is_matrix) const { return as_adam().kept(is_matrix); }
  void check() const { detail::check_adam(name, beta1, beta2, epsilon); }
  void update(const number_run& x, const parameter_step& s) const {
    as_adam().update(x, s, 1 - s.rate * decay, 0);
  }

 private:
  adam as_adam() const { return {beta1, beta2, epsilon, 0, amsgrad}; }
};

/// Adamax (Kingma and Ba 2015, section 7.1): the largest gradient so far, which fades by beta2, divides
/// instead of the root of a mean of squares.
struct adamax {
  static constexpr const char* name = "adamax";
  f32 beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"first"}), all.push_back({"infinity"});
    return all;
  }
  void check() const { detail::check_adam(name, beta1, beta2, epsilon); }
  void update(const number_run& x, const parameter_step& s) const {
    const f64 rate = static_cast<f64>(s.rate) / detail::bias_correction(beta1, s.number);
    run_vectorized<loop>(x, s.scale, static_cast<f32>(rate), *this);
  }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 rate, adamax r) {
      f32 *const first = x.kept[0], *const infinity = x.kept[1];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = scale * x.gradients[i] + r.decay * x.weights[i];
        const f32 fades = r.beta2 * infinity[i], now = detail::absolute(d) + r.epsilon;
        first[i] = r.beta1 * first[i] + (1 - r.beta1) * d;
        infinity[i] = fades > now ? fades : now;
        x.weights[i] -= rate * first[i] / infinity[i];
      }
    }
  };
};

/// NAdam (Dozat 2016): Adam with Nesterov's form of momentum. The momentum of step t is beta1 (1 - 0.96^(t
/// momentum_decay) / 2). PyTorch keeps the product of these momenta; here it is computed from the step.
/// PyTorch 1.13 and the Model Zoo multiply the next product by the current momentum twice; this is the
/// formula of the paper and of PyTorch 2.
struct nadam {
  static constexpr const char* name = "nadam";
  f32 beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0, momentum_decay = 4e-3f;

  kept_arrays kept(bool) const { return adam{}.kept(false); }
  void check() const {
    detail::check_adam(name, beta1, beta2, epsilon);
    detail::require_not_negative(name, "momentum decay", momentum_decay);
  }
  void update(const number_run& x, const parameter_step& s) const {
    const f64 root = 1 / std::sqrt(detail::bias_correction(beta2, s.number)), rate = static_cast<f64>(s.rate);
    const momenta m = momenta_of(s.number);
    run_vectorized<loop>(x, s.scale, static_cast<f32>(rate * (1 - m.now) / (1 - m.product)),
                         static_cast<f32>(rate * m.next / (1 - m.product * m.next)), static_cast<f32>(root),
                         *this);
  }

 private:
  struct momenta {
    f64 now, next, product;
  };
  momenta momenta_of(i64 step) const {
    const f64 b = static_cast<f64>(beta1), fading = std::pow(0.96, static_cast<f64>(momentum_decay));
    const auto at = [&](f64 faded) { return b * (1 - 0.5 * faded); };
    f64 product = 1, faded = 1;
    // A product this small changes no bit of 1 - product.
    for (i64 k = 1; k <= step && product > 1e-18; ++k) product *= at(faded *= fading);
    const f64 t = static_cast<f64>(step);
    return {at(std::pow(fading, t)), at(std::pow(fading, t + 1)), product};
  }
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 of_gradient, f32 of_first, f32 root,
                                           nadam r) {
      f32 *const first = x.kept[0], *const second = x.kept[1];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = scale * x.gradients[i] + r.decay * x.weights[i];
        first[i] = r.beta1 * first[i] + (1 - r.beta1) * d;
        second[i] = r.beta2 * second[i] + (1 - r.beta2) * d * d;
        x.weights[i] -= (of_gradient * d + of_first * first[i]) / (square_root(second[i]) * root + r.epsilon);
      }
    }
  };
};

/// RAdam (Liu et al. 2020, arXiv 1908.03265): Adam whose first steps, while the variance of the second moment
/// is large, are those of SGD with momentum, and whose later ones are rectified.
struct radam {
  static constexpr const char* name = "radam";
  f32 beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0;

  kept_arrays kept(bool) const { return adam{}.kept(false); }
  void check() const { detail::check_adam(name, beta1, beta2, epsilon); }
  void update(const number_run& x, const parameter_step& s) const {
    const f64 b2 = static_cast<f64>(beta2), t = static_cast<f64>(s.number),
              correct2 = detail::bias_correction(beta2, s.number),
              rate = static_cast<f64>(s.rate) / detail::bias_correction(beta1, s.number);
    const f64 limit = 2 / (1 - b2) - 1, length = limit - 2 * t * std::pow(b2, t) / correct2;
    const bool rectifies = length > 5;
    const f64 by =
        rectifies
            ? std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length) * correct2)
            : 1;
    run_vectorized<loop>(x, s.scale, static_cast<f32>(rate * by), rectifies, *this);
  }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 rate, bool rectifies, radam r) {
      f32 *const first = x.kept[0], *const second = x.kept[1];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = scale * x.gradients[i] + r.decay * x.weights[i];
        first[i] = r.beta1 * first[i] + (1 - r.beta1) * d;
        second[i] = r.beta2 * second[i] + (1 - r.beta2) * d * d;
        x.weights[i] -= rate * first[i] / (rectifies ? square_root(second[i]) + r.epsilon : 1);
      }
    }
  };
};

}  // namespace wsl::ml::rules
