// SPDX-License-Identifier: MIT
// Sums over the tokens of a value and functions of its features, for norms over pixels. x is (tokens,
// features) with any distance from token to token. Sums are made in f32 over some tokens and in f64 beyond,
// always in the same order.
#pragma once
#include "loop.hpp"

namespace wsl::ml {

namespace detail {

/// Adds the sums of f(token, feature) over all tokens to `to`, a number for each feature.
template <class F>
[[gnu::always_inline]] inline void add_over_tokens(f64* to, int tokens, int features, F f) {
  constexpr int lanes = 16, chains = 4, block = 256;
  for (int j = 0; j < features; j += lanes) {
    const int n = features - j < lanes ? features - j : lanes;
    for (int from = 0; from < tokens; from += block) {
      const int end = tokens - from < block ? tokens : from + block;
      f32 part[chains][lanes] = {};
      int t = from;
      if (n == lanes)
        for (; t + chains <= end; t += chains)
          for (int c = 0; c < chains; ++c)
            for (int k = 0; k < lanes; ++k) part[c][k] += f(t + c, j + k);
      for (; t < end; ++t)
        for (int k = 0; k < n; ++k) part[(t - from) % chains][k] += f(t, j + k);
      for (int k = 0; k < n; ++k)
        to[j + k] += static_cast<f64>((part[0][k] + part[1][k]) + (part[2][k] + part[3][k]));
    }
  }
}

struct sums_of_features_loop {
  [[gnu::always_inline]] static void run(f64* to, const f32* x, i64 stride, int tokens, int features) {
    add_over_tokens(to, tokens, features, [=](i64 t, int j) { return x[t * stride + j]; });
  }
};
struct squares_of_features_loop {
  [[gnu::always_inline]] static void run(f64* to, const f32* x, i64 stride, const f32* mean, int tokens,
                                         int features) {
    add_over_tokens(to, tokens, features, [=](i64 t, int j) {
      const f32 d = x[t * stride + j] - mean[j];
      return d * d;
    });
  }
};
struct products_of_features_loop {
  [[gnu::always_inline]] static void run(f64* to, const f32* dy, i64 dy_stride, const f32* x, i64 stride,
                                         const f32* mean, int tokens, int features) {
    add_over_tokens(to, tokens, features,
                    [=](i64 t, int j) { return dy[t * dy_stride + j] * (x[t * stride + j] - mean[j]); });
  }
};
struct scale_features_loop {
  [[gnu::always_inline]] static void run(f32* y, i64 y_stride, const f32* x, i64 stride, const f32* mean,
                                         const f32* factor, const f32* bias, int tokens, int features) {
    for (int t = 0; t < tokens; ++t, y += y_stride, x += stride)
      for (int j = 0; j < features; ++j) y[j] = (x[j] - mean[j]) * factor[j] + bias[j];
  }
};
template <bool overwrite>
struct scale_features_backward_loop {
  [[gnu::always_inline]] static void run(f32* dx, i64 dx_stride, const f32* dy, i64 dy_stride, const f32* x,
                                         i64 stride, const f32* mean, const f32* of_dy, const f32* of_x,
                                         const f32* constant, int tokens, int features) {
    for (int t = 0; t < tokens; ++t, dx += dx_stride, dy += dy_stride, x += stride)
      for (int j = 0; j < features; ++j)
        dx[j] = (overwrite ? 0 : dx[j]) + dy[j] * of_dy[j] + ((x[j] - mean[j]) * of_x[j] + constant[j]);
  }
};

}  // namespace detail

/// Adds the sum of each feature over all tokens to `to`.
inline void add_sums_of_features(f64* to, const matrix<const f32>& x) {
  run_vectorized<detail::sums_of_features_loop>(to, static_cast<const f32*>(x.first()), x.row_stride(),
                                                x.rows(), x.columns());
}
/// The same of the squares of x - mean.
inline void add_squares_of_features(f64* to, const matrix<const f32>& x, const f32* mean) {
  run_vectorized<detail::squares_of_features_loop>(to, static_cast<const f32*>(x.first()), x.row_stride(),
                                                   mean, x.rows(), x.columns());
}
/// The same of dy (x - mean).
inline void add_products_of_features(f64* to, const matrix<const f32>& dy, const matrix<const f32>& x,
                                     const f32* mean) {
  run_vectorized<detail::products_of_features_loop>(to, static_cast<const f32*>(dy.first()), dy.row_stride(),
                                                    static_cast<const f32*>(x.first()), x.row_stride(), mean,
                                                    x.rows(), x.columns());
}
/// y = (x - mean) factor + bias, with a number of each for each feature.
inline void scale_features(const matrix<f32>& y, const matrix<const f32>& x, const f32* mean,
                           const f32* factor, const f32* bias) {
  run_vectorized<detail::scale_features_loop>(y.first(), y.row_stride(), static_cast<const f32*>(x.first()),
                                              x.row_stride(), mean, factor, bias, x.rows(), x.columns());
}
/// dx += of_dy dy + of_x (x - mean) + constant, or dx = that with `overwrite`.
inline void scale_features_backward(const matrix<f32>& dx, const matrix<const f32>& dy,
                                    const matrix<const f32>& x, const f32* mean, const f32* of_dy,
                                    const f32* of_x, const f32* constant, bool overwrite) {
  const auto run = [&]<bool sets>(std::bool_constant<sets>) {
    run_vectorized<detail::scale_features_backward_loop<sets>>(
        dx.first(), dx.row_stride(), static_cast<const f32*>(dy.first()), dy.row_stride(),
        static_cast<const f32*>(x.first()), x.row_stride(), mean, of_dy, of_x, constant, x.rows(),
        x.columns());
  };
  overwrite ? run(std::true_type{}) : run(std::false_type{});
}

}  // namespace wsl::ml
