// SPDX-License-Identifier: MIT
// The update rules of the optimizers: SGD with momentum, Adam, AdamW. They are those of PyTorch 2
// (torch.optim), so that runs can be compared. The moments are stored beside the parameters, off the wafer.
#pragma once
#include <cmath>
#include <span>
#include <string_view>

#include "../layer/stage.hpp"
#include "../op/functions.hpp"
#include "../op/loop.hpp"

namespace wsl::ml {

/// The parameters with weight decay: all; matrices but not vectors; all but biases and the gains of norms (as
/// in the Cerebras Model Zoo).
enum class decays : u8 { all, matrices, not_bias_or_norm };

inline bool does_decay(decays rule, const parameter& p) {
  if (rule == decays::all) return true;
  if (rule == decays::matrices) return p.rows > 1;
  const std::string_view name = p.name;
  return !name.ends_with(".bias") && !name.ends_with(".gain");
}

struct optimizer {
  enum class kind : u8 { sgd, adam, adamw };
  kind how = kind::adamw;
  f32 momentum = 0;     ///< momentum of SGD; the first beta of Adam and AdamW
  f32 second = 0.999f;  ///< the second beta
  f32 epsilon = 1e-8f;
  /// Weight decay. SGD and Adam add it to the gradient, AdamW shrinks the number itself.
  f32 decay = 0;
  decays which = decays::all;

  static constexpr optimizer sgd(f32 momentum = 0, f32 decay = 0) {
    return {.how = kind::sgd, .momentum = momentum, .decay = decay};
  }
  static constexpr optimizer adam(f32 first = 0.9f, f32 second = 0.999f, f32 epsilon = 1e-8f, f32 decay = 0) {
    return {kind::adam, first, second, epsilon, decay};
  }
  static constexpr optimizer adamw(f32 first = 0.9f, f32 second = 0.999f, f32 epsilon = 1e-8f,
                                   f32 decay = 0.01f, decays which = decays::all) {
    return {kind::adamw, first, second, epsilon, decay, which};
  }
};

/// The moments of some numbers of a parameter: the running mean of the gradients (for SGD the velocity), and
/// that of their squares.
struct moments {
  f32 *first, *second;
};

namespace detail {

struct sgd_loop {
  [[gnu::always_inline]] static void run(f32* w, f32* velocity, const f32* g, f32 scale, f32 rate,
                                         f32 momentum, f32 decay, bool begins, int n) {
    for (int i = 0; i < n; ++i) {
      const f32 d = scale * g[i] + decay * w[i];
      velocity[i] = begins ? d : momentum * velocity[i] + d;
      w[i] -= rate * velocity[i];
    }
  }
};
struct adam_loop {
  [[gnu::always_inline]] static void run(f32* w, f32* first, f32* second, const f32* g, f32 scale,
                                         const f32* of, int n) {
    const f32 beta1 = of[0], beta2 = of[1], epsilon = of[2], rate = of[3], root = of[4], shrink = of[5],
              decay = of[6];
    for (int i = 0; i < n; ++i) {
      const f32 d = scale * g[i] + decay * w[i];
      first[i] = beta1 * first[i] + (1 - beta1) * d;
      second[i] = beta2 * second[i] + (1 - beta2) * d * d;
      w[i] = w[i] * shrink - rate * first[i] / (square_root(second[i]) * root + epsilon);
    }
  }
};

struct clamp_loop {
  [[gnu::always_inline]] static void run(f32* g, f32 most, int n) {
    for (int i = 0; i < n; ++i) g[i] = g[i] < -most ? -most : g[i] > most ? most : g[i];
  }
};

}  // namespace detail

/// Updates n numbers w by their gradients times `scale`, the factor of clipping. `step` counts from 1;
/// `decay` says whether the numbers decay.
inline void update(const optimizer& o, f32* w, const moments& kept, const f32* gradient, f32 scale, f32 rate,
                   bool decay, i64 step, int n) {
  const f32 by = decay ? o.decay : 0;
  if (o.how == optimizer::kind::sgd)
    return run_vectorized<detail::sgd_loop>(w, kept.first, gradient, scale, rate, o.momentum, by, step == 1,
                                            n);
  const f64 t = static_cast<f64>(step);
  const f64 correct1 = 1 - std::pow(static_cast<f64>(o.momentum), t),
            correct2 = 1 - std::pow(static_cast<f64>(o.second), t);
  const bool apart = o.how == optimizer::kind::adamw;
  const f32 of[] = {o.momentum,
                    o.second,
                    o.epsilon,
                    static_cast<f32>(static_cast<f64>(rate) / correct1),
                    static_cast<f32>(1 / std::sqrt(correct2)),
                    apart ? 1 - rate * by : 1,
                    apart ? 0 : by};
  run_vectorized<detail::adam_loop>(w, kept.first, kept.second, gradient, scale, static_cast<const f32*>(of),
                                    n);
}

/// Bounds the absolute value of each of n gradients.
inline void clip_by_value(f32* gradient, f32 largest, int n) {
  run_vectorized<detail::clamp_loop>(gradient, largest, n);
}

/// The factor that bounds the norm of gradients by `largest`: largest / (norm + 1e-6), or 1 if that is
/// smaller, as in PyTorch.
inline f32 clip_by_norm(f64 sum_of_squares, f64 largest) {
  const f64 by = largest / (std::sqrt(sum_of_squares) + 1e-6);
  return static_cast<f32>(by < 1 ? by : 1);
}

}  // namespace wsl::ml
