// SPDX-License-Identifier: MIT
// Stochastic gradient descent with momentum, dampening and Nesterov's form of momentum, and its form that
// averages the weights. The formulas are those of torch.optim.
#pragma once
#include <algorithm>

#include "common.hpp"

namespace wsl::ml::rules {

/// Weight decay is added to the gradient. Without momentum nothing is kept.
struct sgd {
  static constexpr const char* name = "sgd";
  f32 momentum = 0, decay = 0, dampening = 0;
  bool nesterov = false;

  kept_arrays kept(bool) const {
    kept_arrays all;
    if (momentum != 0) all.push_back({"first"});
    return all;
  }
  void check() const {
    detail::require_part(name, "momentum", momentum);
    if (!std::isfinite(dampening))
      throw std::invalid_argument(fmt::format("wsl: {} has a finite dampening, not {}", name, dampening));
    if (nesterov && (momentum == 0 || dampening != 0))
      throw std::invalid_argument(
          fmt::format("wsl: Nesterov's form of sgd needs a momentum and no dampening, not {} and {}",
                      momentum, dampening));
  }
  void update(const number_run& x, const parameter_step& s) const {
    if (momentum == 0) run_vectorized<plain>(x, s, decay);
    else run_vectorized<with_momentum>(x, s, *this);
  }

 private:
  struct plain {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, f32 decay) {
      for (int i = 0; i < x.n; ++i)
        x.weights[i] -= s.rate * (s.scale * x.gradients[i] + decay * x.weights[i]);
    }
  };
  struct with_momentum {
    [[gnu::always_inline]] static void run(number_run x, parameter_step s, sgd r) {
      f32* const velocity = x.kept[0];
      const bool begins = s.is_first();
      const f32 fresh = 1 - r.dampening;
      for (int i = 0; i < x.n; ++i) {
        const f32 d = s.scale * x.gradients[i] + r.decay * x.weights[i];
        velocity[i] = begins ? d : r.momentum * velocity[i] + fresh * d;
        x.weights[i] -= s.rate * (r.nesterov ? d + r.momentum * velocity[i] : velocity[i]);
      }
    }
  };
};

/// Averaged SGD (Polyak and Juditsky 1992): the weights move as by SGD with a falling rate, and the mean of
/// those after step t0 is kept under the name "average". The rate of a step t is rate / (1 + lambda rate
/// (t - 1))^alpha; PyTorch has the same for a rate that does not change.
struct asgd {
  static constexpr const char* name = "asgd";
  f32 lambda = 1e-4f, alpha = 0.75f, t0 = 1e6f, decay = 0;

  kept_arrays kept(bool) const {
    kept_arrays all;
    all.push_back({"average"});
    return all;
  }
  void check() const {
    detail::require_not_negative(name, "lambda", lambda), detail::require_not_negative(name, "t0", t0);
    detail::require_not_negative(name, "alpha", alpha);
  }
  void update(const number_run& x, const parameter_step& s) const {
    const f64 rate = static_cast<f64>(s.rate), before = static_cast<f64>(s.number - 1),
              shrinking = static_cast<f64>(lambda);
    const f64 eta = rate / std::pow(1 + shrinking * rate * before, static_cast<f64>(alpha)),
              part = 1 / std::max(1., before - static_cast<f64>(t0));
    run_vectorized<loop>(x, s.scale, static_cast<f32>(eta), static_cast<f32>(1 - shrinking * eta), decay,
                         static_cast<f32>(part));
  }

 private:
  struct loop {
    [[gnu::always_inline]] static void run(number_run x, f32 scale, f32 eta, f32 shrink, f32 decay,
                                           f32 part) {
      f32* const average = x.kept[0];
      for (int i = 0; i < x.n; ++i) {
        const f32 d = scale * x.gradients[i] + decay * x.weights[i];
        const f32 w = x.weights[i] * shrink - eta * d;
        x.weights[i] = w;
        average[i] = part == 1 ? w : average[i] + part * (w - average[i]);
      }
    }
  };
};

}  // namespace wsl::ml::rules
