// SPDX-License-Identifier: MIT
// Elementwise activation functions between layers, and their derivatives. A PE applies them to its own
// numbers; nothing travels. y = f(x) is activate<f>(y, x), and dx += dy f'(x) is activate_backward<f>(dx, dy,
// x).
#pragma once
#include "functions.hpp"
#include "loop.hpp"

namespace wsl::ml {

/// max(x, 0). For a NaN the value is a NaN and the slope 1, as in PyTorch, so that a loss shows it.
struct relu {
  [[gnu::always_inline]] static f32 value(f32 x) { return x <= 0 ? 0 : x; }
  [[gnu::always_inline]] static f32 slope(f32 x) { return x <= 0 ? 0 : 1; }
};
/// x times the probability that a standard normal number is below x
struct gelu {
  [[gnu::always_inline]] static f32 value(f32 x) { return x * normal_cdf(x); }
  [[gnu::always_inline]] static f32 slope(f32 x) {
    const f32 falling = gaussian(x);
    return normal_cdf(x, falling) + x * 0.398942280f * falling;
  }
};
/// x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x sigmoid(2 u): the GELU of GPT-2
struct gelu_tanh {
  [[gnu::always_inline]] static f32 value(f32 x) { return x * sigmoid(x * (a + b * x * x)); }
  [[gnu::always_inline]] static f32 slope(f32 x) {
    const f32 s = sigmoid(x * (a + b * x * x));
    return s + x * s * (1 - s) * (a + 3 * b * x * x);
  }
  static constexpr f32 a = 1.59576912f, b = 0.0713548162f;  // 2 sqrt(2 / pi) and 0.044715 times that
};
/// x sigmoid(1.702 x), a rougher GELU
struct quick_gelu {
  [[gnu::always_inline]] static f32 value(f32 x) { return x * sigmoid(1.702f * x); }
  [[gnu::always_inline]] static f32 slope(f32 x) {
    const f32 s = sigmoid(1.702f * x);
    return s + 1.702f * x * s * (1 - s);
  }
};
/// x sigmoid(x)
struct silu {
  [[gnu::always_inline]] static f32 value(f32 x) { return x * sigmoid(x); }
  [[gnu::always_inline]] static f32 slope(f32 x) {
    const f32 s = sigmoid(x);
    return s + x * s * (1 - s);
  }
};
/// tanh x, of the pooler of BERT
struct hyperbolic_tangent {
  [[gnu::always_inline]] static f32 value(f32 x) { return 2 * sigmoid(2 * x) - 1; }
  [[gnu::always_inline]] static f32 slope(f32 x) {
    const f32 y = value(x);
    return 1 - y * y;
  }
};

namespace detail {

template <class F>
struct activation_loop {
  [[gnu::always_inline]] static void run(f32* y, const f32* x, int n) {
    for (int i = 0; i < n; ++i) y[i] = F::value(x[i]);
  }
};
template <class F, bool overwrite>
struct activation_backward_loop {
  [[gnu::always_inline]] static void run(f32* dx, const f32* dy, const f32* x, int n) {
    for (int i = 0; i < n; ++i) dx[i] = (overwrite ? 0 : dx[i]) + dy[i] * F::slope(x[i]);
  }
};
template <class F>
struct gated_loop {
  [[gnu::always_inline]] static void run(f32* y, const f32* x, const f32* gate, int n) {
    for (int i = 0; i < n; ++i) y[i] = x[i] * F::value(gate[i]);
  }
};
template <class F>
struct gated_backward_loop {
  [[gnu::always_inline]] static void run(f32* dx, f32* dgate, const f32* dy, const f32* x, const f32* gate,
                                         int n) {
    for (int i = 0; i < n; ++i) {
      dx[i] += dy[i] * F::value(gate[i]);
      dgate[i] += dy[i] * x[i] * F::slope(gate[i]);
    }
  }
};

}  // namespace detail

/// y = f(x). Both have the same shape and contiguous rows; y may be x.
template <class F>
void activate(const matrix<f32>& y, const matrix<const f32>& x) {
  if (y.rows() > 1 && lie_whole(y, x)) return activate<F>(as_one_row(y), as_one_row(x));
  for (int i = 0; i < y.rows(); ++i)
    run_vectorized<detail::activation_loop<F>>(y.row(i), x.row(i), y.columns());
}
/// dx += dy f'(x), or with `overwrite` dx = dy f'(x).
template <class F>
void activate_backward(const matrix<f32>& dx, const matrix<const f32>& dy, const matrix<const f32>& x,
                       bool overwrite = false) {
  if (dx.rows() > 1 && lie_whole(dx, dy, x))
    return activate_backward<F>(as_one_row(dx), as_one_row(dy), as_one_row(x), overwrite);
  for (int i = 0; i < dx.rows(); ++i)
    if (overwrite)
      run_vectorized<detail::activation_backward_loop<F, true>>(dx.row(i), dy.row(i), x.row(i), dx.columns());
    else
      run_vectorized<detail::activation_backward_loop<F, false>>(dx.row(i), dy.row(i), x.row(i),
                                                                 dx.columns());
}

/// y = x f(gate). With silu it is the gate of a SwiGLU.
template <class F>
void gate(const matrix<f32>& y, const matrix<const f32>& x, const matrix<const f32>& by) {
  for (int i = 0; i < y.rows(); ++i)
    run_vectorized<detail::gated_loop<F>>(y.row(i), x.row(i), by.row(i), y.columns());
}
/// dx += dy f(gate), dgate += dy x f'(gate)
template <class F>
void gate_backward(const matrix<f32>& dx, const matrix<f32>& dgate, const matrix<const f32>& dy,
                   const matrix<const f32>& x, const matrix<const f32>& by) {
  for (int i = 0; i < dx.rows(); ++i)
    run_vectorized<detail::gated_backward_loop<F>>(dx.row(i), dgate.row(i), dy.row(i), x.row(i), by.row(i),
                                                   dx.columns());
}

}  // namespace wsl::ml
