// SPDX-License-Identifier: MIT
// The reference: a layer of GPT-2 in f64, token by token.
#pragma once
#include <algorithm>
#include <cmath>

#include "../../support/bad_argument.hpp"
#include "layer.hpp"

namespace wsl::transformer::serial {

using vector = std::vector<f64>;

/// Tokens of d numbers each: normalized, times a gain, plus an offset.
inline vector norm(const vector& x, const std::vector<f32>& gain, const std::vector<f32>& offset) {
  const std::size_t d = gain.size();
  vector y(x.size());
  for (std::size_t t = 0; t < x.size(); t += d) {
    f64 mean = 0, variance = 0;
    for (std::size_t i = 0; i < d; ++i) mean += x[t + i] / static_cast<f64>(d);
    for (std::size_t i = 0; i < d; ++i)
      variance += (x[t + i] - mean) * (x[t + i] - mean) / static_cast<f64>(d);
    for (std::size_t i = 0; i < d; ++i)
      y[t + i] = (x[t + i] - mean) / std::sqrt(variance + norm_epsilon) * f64{gain[i]} + f64{offset[i]};
  }
  return y;
}

/// Tokens times a matrix, plus a bias.
inline vector product(const vector& x, const std::vector<f32>& matrix, const std::vector<f32>& bias) {
  const std::size_t outputs = bias.size(), inputs = matrix.size() / outputs;
  vector y(x.size() / inputs * outputs);
  for (std::size_t t = 0; t < x.size() / inputs; ++t) {
    f64* const to = y.data() + t * outputs;
    std::copy(bias.begin(), bias.end(), to);
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t o = 0; o < outputs; ++o) to[o] += x[t * inputs + i] * f64{matrix[i * outputs + o]};
  }
  return y;
}

/// Causal attention of `heads` heads over one sequence; qkv has 3 d numbers for each token.
inline vector attention(const vector& qkv, std::size_t d, std::size_t heads) {
  const std::size_t tokens = qkv.size() / (3 * d), size = d / heads;
  vector y(tokens * d), score(tokens);
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t t = 0; t < tokens; ++t) {
      const f64* const q = &qkv[t * 3 * d + h * size];
      f64 largest = -INFINITY, sum = 0;
      for (std::size_t k = 0; k <= t; ++k) {
        score[k] = 0;
        for (std::size_t i = 0; i < size; ++i) score[k] += q[i] * qkv[k * 3 * d + d + h * size + i];
        score[k] /= std::sqrt(static_cast<f64>(size));
        largest = std::max(largest, score[k]);
      }
      for (std::size_t k = 0; k <= t; ++k) sum += score[k] = std::exp(score[k] - largest);
      for (std::size_t k = 0; k <= t; ++k)
        for (std::size_t i = 0; i < size; ++i)
          y[t * d + h * size + i] += score[k] / sum * qkv[k * 3 * d + 2 * d + h * size + i];
    }
  return y;
}

/// As GPT-2 has it, with a tanh.
inline f64 gelu(f64 u) {
  const f64 of_pi = std::sqrt(2 / 3.14159265358979323846);
  return u / 2 * (1 + std::tanh(of_pi * (u + 0.044715 * u * u * u)));
}

/// A layer on one sequence of tokens, (tokens, features). Throws std::invalid_argument if x is none of whole
/// tokens, an array of the weights has another size, or the heads do not divide the features.
inline vector layer(const layer_weights& w, const vector& x, std::size_t heads) {
  const std::size_t d = w.gain[0].size();
  if (d == 0 || heads == 0 || d % heads || x.size() % d)
    support::bad_argument({"a layer of ", d, " features with ", heads, " heads does not take an array of ",
                           x.size(), " numbers: heads divide the features, and x has whole tokens"});
  require_sizes(w, static_cast<int>(d));
  vector y =
      product(attention(product(norm(x, w.gain[0], w.offset[0]), w.matrix[qkv], w.bias[qkv]), d, heads),
              w.matrix[join], w.bias[join]);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  vector inside = product(norm(y, w.gain[1], w.offset[1]), w.matrix[up], w.bias[up]);
  for (f64& u : inside) u = gelu(u);
  const vector z = product(inside, w.matrix[down], w.bias[down]);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += z[i];
  return y;
}

}  // namespace wsl::transformer::serial
