// SPDX-License-Identifier: MIT
// Normalization of the features of each token, which lie together on one PE. x is (tokens, width), gain and
// bias are (width). The variance is a sum of squares around the mean, in f32 and in sixteen parts.
#pragma once
#include <cmath>
#include <span>

#include "loop.hpp"

namespace wsl::ml {

/// The numbers that a norm keeps of a token for the backward pass.
struct norm_state {
  f32 mean, scale;  ///< mean is 0 for an rmsnorm
};

namespace detail {

template <bool centred>
struct norm_loop {
  [[gnu::always_inline]] static void run(f32* y, norm_state* kept, const f32* x, const f32* gain,
                                         const f32* bias, int n, f32 epsilon) {
    const f32 mean = centred ? sum_of(n, [x](int i) { return x[i]; }) / static_cast<f32>(n) : 0;
    const f32 variance =
        sum_of(n, [x, mean](int i) { return (x[i] - mean) * (x[i] - mean); }) / static_cast<f32>(n);
    const f32 scale = 1 / std::sqrt(variance + epsilon);
    *kept = {mean, scale};
    if (bias)
      for (int i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
    else
      for (int i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gain[i];
  }
};

template <bool centred, bool overwrite>
struct norm_backward_loop {
  [[gnu::always_inline]] static void run(f32* dx, f32* dgain, f32* dbias, const f32* dy,
                                         const norm_state* kept, const f32* x, const f32* gain, int n) {
    const f32 mean = kept->mean, scale = kept->scale;
    const f32 d = centred ? sum_of(n, [=](int i) { return dy[i] * gain[i]; }) / static_cast<f32>(n) : 0;
    const f32 d_x =
        sum_of(n, [=](int i) { return dy[i] * gain[i] * (x[i] - mean); }) * scale / static_cast<f32>(n);
    for (int i = 0; i < n; ++i) {
      const f32 unit = (x[i] - mean) * scale;
      dgain[i] += dy[i] * unit;
      dx[i] = (overwrite ? 0 : dx[i]) + (dy[i] * gain[i] - d - unit * d_x) * scale;
    }
    if (dbias)
      for (int i = 0; i < n; ++i) dbias[i] += dy[i];
  }
};

template <bool centred>
void normalize(const matrix<f32>& y, std::span<norm_state> kept, const matrix<const f32>& x, const f32* gain,
               const f32* bias, f32 epsilon) {
  for (int t = 0; t < x.rows(); ++t)
    run_vectorized<norm_loop<centred>>(y.row(t), &kept[static_cast<std::size_t>(t)], x.row(t), gain, bias,
                                       x.columns(), epsilon);
}
template <bool centred>
void normalize_backward(const matrix<f32>& dx, f32* dgain, f32* dbias, const matrix<const f32>& dy,
                        std::span<const norm_state> kept, const matrix<const f32>& x, const f32* gain,
                        bool overwrite) {
  const auto row = overwrite ? run_vectorized<norm_backward_loop<centred, true>, f32*, f32*, f32*, const f32*,
                                              const norm_state*, const f32*, const f32*, int>
                             : run_vectorized<norm_backward_loop<centred, false>, f32*, f32*, f32*,
                                              const f32*, const norm_state*, const f32*, const f32*, int>;
  for (int t = 0; t < x.rows(); ++t)
    row(dx.row(t), dgain, dbias, dy.row(t), &kept[static_cast<std::size_t>(t)], x.row(t), gain, x.columns());
}

}  // namespace detail

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, for each token; the bias may be null. `kept` has
/// one element for each token.
inline void layernorm(const matrix<f32>& y, std::span<norm_state> kept, const matrix<const f32>& x,
                      const f32* gain, const f32* bias, f32 epsilon) {
  detail::normalize<true>(y, kept, x, gain, bias, epsilon);
}
/// Adds to dx, or sets it with `overwrite`, and adds to dgain and to dbias, which may be null.
inline void layernorm_backward(const matrix<f32>& dx, f32* dgain, f32* dbias, const matrix<const f32>& dy,
                               std::span<const norm_state> kept, const matrix<const f32>& x, const f32* gain,
                               bool overwrite = false) {
  detail::normalize_backward<true>(dx, dgain, dbias, dy, kept, x, gain, overwrite);
}

/// y = x / sqrt(mean of squares + epsilon) * gain
inline void rmsnorm(const matrix<f32>& y, std::span<norm_state> kept, const matrix<const f32>& x,
                    const f32* gain, f32 epsilon) {
  detail::normalize<false>(y, kept, x, gain, nullptr, epsilon);
}
inline void rmsnorm_backward(const matrix<f32>& dx, f32* dgain, const matrix<const f32>& dy,
                             std::span<const norm_state> kept, const matrix<const f32>& x, const f32* gain,
                             bool overwrite = false) {
  detail::normalize_backward<false>(dx, dgain, nullptr, dy, kept, x, gain, overwrite);
}

}  // namespace wsl::ml
