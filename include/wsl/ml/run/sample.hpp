// SPDX-License-Identifier: MIT
// The next token from the logits of the last one: the argmax, or one drawn with the model's probabilities.
//   const std::vector<f32> logits = t.predict({.ids = text, .sequences = 1, .length = n});
//   text.push_back(ml::draw(std::span(logits).last(vocabulary), {.temperature = 0.8}, random));
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

struct drawing {
  f64 temperature = 1;  ///< logits are divided by it; 0: always the argmax
  int among = 0;        ///< only so many of the argmax (top-k); 0: all
};

/// The number of the largest logit, the first of equal ones.
inline i32 argmax(std::span<const f32> logits) {
  return static_cast<i32>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// A token with probability softmax(logits / temperature) among the argmax. The same engine state gives the
/// same token everywhere. Throws std::invalid_argument without logits, and for a negative temperature or
/// count.
inline i32 draw(std::span<const f32> logits, const drawing& how, std::mt19937_64& random) {
  if (logits.empty()) throw std::invalid_argument("wsl: a token is drawn from at least one logit");
  if (!(how.temperature >= 0) || how.among < 0)
    throw std::invalid_argument(
        "wsl: a token is drawn with a temperature and among a number of tokens that are not negative");
  if (how.temperature == 0) return argmax(logits);
  std::vector<i32> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](i32 k) { return static_cast<f64>(logits[static_cast<std::size_t>(k)]); };
  std::sort(order.begin(), order.end(),
            [&](i32 a, i32 b) { return logit(a) > logit(b) || (logit(a) == logit(b) && a < b); });
  if (how.among) order.resize(std::min(order.size(), static_cast<std::size_t>(how.among)));
  std::vector<f64> up_to;  // sums of weights
  for (f64 sum = 0; i32 k : order)
    up_to.push_back(sum += std::exp((logit(k) - logit(order[0])) / how.temperature));
  const f64 at = static_cast<f64>(random() >> 11) * 0x1p-53 * up_to.back();
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), at);
  return order[std::min(static_cast<std::size_t>(found - up_to.begin()), order.size() - 1)];
}

}  // namespace wsl::ml
