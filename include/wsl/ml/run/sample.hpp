// SPDX-License-Identifier: MIT
// Sampling: the next token from the logits of the last one, the argmax or one drawn with the probabilities of
// the model.
//   const std::vector<f32> logits = t.predict({.ids = text, .sequences = 1, .length = n});
//   text.push_back(ml::sample_token(std::span(logits).last(vocabulary), {.temperature = 0.8}, random));
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

struct sampling {
  f64 temperature = 1;  ///< logits are divided by it; 0: always the argmax
  int top_k = 0;        ///< draws among this number of largest logits; 0: among all
  /// Draws among the fewest most probable tokens, of those of top_k, whose probabilities add up to this; 1:
  /// among all.
  f64 top_p = 1;
};

/// The index of the largest logit, the first of equal ones.
inline i32 argmax(std::span<const f32> logits) {
  return static_cast<i32>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// A token drawn with the probabilities softmax(logits / temperature), among the `top_k` largest logits
/// and those of `top_p`. The same state of `random` gives the same token everywhere. Throws
/// std::invalid_argument if there are no logits, if the temperature or top_k is negative, or for a top_p that
/// is not above 0 and at most 1.
inline i32 sample_token(std::span<const f32> logits, const sampling& how, std::mt19937_64& random) {
  if (logits.empty()) throw std::invalid_argument("wsl: a token is drawn from at least one logit");
  if (!(how.temperature >= 0) || how.top_k < 0)
    throw std::invalid_argument("wsl: a token is drawn with a temperature and a top_k that are not negative");
  if (!(how.top_p > 0 && how.top_p <= 1))
    throw std::invalid_argument("wsl: a token is drawn with a top_p above 0 and at most 1");
  if (how.temperature == 0) return argmax(logits);
  std::vector<i32> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](i32 k) { return static_cast<f64>(logits[static_cast<std::size_t>(k)]); };
  std::sort(order.begin(), order.end(),
            [&](i32 a, i32 b) { return logit(a) > logit(b) || (logit(a) == logit(b) && a < b); });
  if (how.top_k) order.resize(std::min(order.size(), static_cast<std::size_t>(how.top_k)));
  std::vector<f64> cumulative;  // sums of weights
  for (f64 sum = 0; i32 k : order)
    cumulative.push_back(sum += std::exp((logit(k) - logit(order[0])) / how.temperature));
  if (how.top_p < 1) {
    const auto last =
        std::lower_bound(cumulative.begin(), cumulative.end() - 1, how.top_p * cumulative.back());
    cumulative.erase(last + 1, cumulative.end());
  }
  const f64 at = static_cast<f64>(random() >> 11) * 0x1p-53 * cumulative.back();
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), at);
  return order[std::min(static_cast<std::size_t>(found - cumulative.begin()), cumulative.size() - 1)];
}

}  // namespace wsl::ml
