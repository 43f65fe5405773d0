// SPDX-License-Identifier: MIT
// Sampling: the next token from the logits of the last one, the argmax or one drawn with the probabilities of
// the model. Settings are those of Hugging Face's transformers (generation/logits_process.py), and apply in
// its order: repetition penalty, temperature, top-k, top-p, min-p.
//   const std::vector<f32> logits = t.predict({.ids = text, .sequences = 1, .length = n});
//   text.push_back(ml::sample_token(std::span(logits).last(vocabulary), {.temperature = 0.8}, random));
// write/writer.hpp writes whole texts with these settings.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "../op/softmax.hpp"

namespace wsl::ml {

struct sampling {
  f64 temperature = 1;  ///< logits are divided by it; 0: always the argmax
  int top_k = 0;        ///< draws among this number of largest logits, and those equal to the last; 0: all
  f64 top_p = 1;        ///< draws among the most probable tokens that have this probability together
  f64 min_p = 0;        ///< draws among tokens with at least this part of the probability of the best
  /// Logits of tokens that the text has already are divided by it if they are positive, otherwise multiplied
  /// with it (CTRL, arXiv 1909.05858).
  f64 repetition_penalty = 1;
};

/// Thrown for logits that are NaN or infinite: a model with a damaged weight or configuration computes them,
/// and none of its tokens can be chosen by them. Minus infinity is the logit of a token that is never drawn.
class not_finite : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Throws not_finite for logits from which no token can be drawn.
inline void check_logits(std::span<const f32> logits) {
  constexpr f32 infinite = std::numeric_limits<f32>::infinity();
  bool has_one = false;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (!(logits[k] < infinite))
      throw not_finite(
          fmt::format("wsl: the logit of token {} is {}: a weight of the model is damaged, or its "
                      "configuration is another model's",
                      k, logits[k]));
    has_one |= logits[k] > -infinite;
  }
  if (!has_one) throw not_finite("wsl: the logits of all tokens are minus infinity, so none can be drawn");
}

/// The index of the largest logit, the first of equal ones.
inline i32 argmax(std::span<const f32> logits) {
  return static_cast<i32>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// Throws std::invalid_argument, with the name of a setting, for values that it cannot have.
inline void check_sampling(const sampling& how) {
  const auto refuse = [](const char* name, const char* range, auto value) {
    throw std::invalid_argument(fmt::format("wsl: sampling: {} is {}, not {}", name, range, value));
  };
  if (!(how.temperature >= 0) || !std::isfinite(how.temperature))
    refuse("the temperature", "0, which takes the best token, or more", how.temperature);
  if (how.top_k < 0) refuse("top_k", "0, which leaves all tokens, or more", how.top_k);
  if (!(how.top_p >= 0 && how.top_p <= 1)) refuse("top_p", "a probability from 0 to 1", how.top_p);
  if (!(how.min_p >= 0 && how.min_p <= 1)) refuse("min_p", "a part from 0 to 1", how.min_p);
  if (!(how.repetition_penalty > 0) || !std::isfinite(how.repetition_penalty))
    refuse("the repetition penalty", "above 0; 1 is none", how.repetition_penalty);
}

/// Lowers the logits of the tokens that `text` has, each once. Tokens beyond the logits are left out.
inline void penalize_repetitions(std::span<f32> logits, std::span<const i32> text, f64 penalty) {
  if (penalty == 1) return;
  std::vector<bool> seen(logits.size());
  for (const i32 id : text) {
    const std::size_t k = static_cast<std::size_t>(id);
    if (k >= logits.size() || seen[k]) continue;
    seen[k] = true;
    constexpr f64 most = std::numeric_limits<f32>::max();
    const f64 x = static_cast<f64>(logits[k]), y = x < 0 ? x * penalty : x / penalty;
    if (std::isfinite(x)) logits[k] = static_cast<f32>(std::clamp(y, -most, most));
  }
}

/// The tokens that may be drawn, in the order of their numbers, and their probabilities.
struct token_choice {
  std::vector<i32> tokens;
  std::vector<f32> probabilities;
};

namespace detail {

/// Keeps the tokens for which keeps(place in the choice) is true. Their probabilities sum up to 1 again.
template <class F>
void keep_tokens(token_choice& c, F keeps) {
  std::size_t n = 0;
  f64 left = 0;
  for (std::size_t k = 0; k < c.tokens.size(); ++k)
    if (keeps(k)) {
      c.tokens[n] = c.tokens[k], c.probabilities[n] = c.probabilities[k];
      left += static_cast<f64>(c.probabilities[n++]);
    }
  c.tokens.resize(n), c.probabilities.resize(n);
  for (f32& p : c.probabilities) p = static_cast<f32>(static_cast<f64>(p) / left);
}
/// The k-th largest number.
inline f32 largest(std::vector<f32> x, int k) {
  std::nth_element(x.begin(), x.begin() + (k - 1), x.end(), std::greater<>());
  return x[static_cast<std::size_t>(k - 1)];
}
/// Keeps the most probable tokens, of equal ones the first, until they have the probability p together.
inline void keep_top_p(token_choice& c, f64 p) {
  // Tokens that are so unlikely that all of them together are not needed are not sorted.
  const f32 smallest = static_cast<f32>((1 - p) / static_cast<f64>(c.tokens.size()) / 2);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < c.tokens.size(); ++k)
    if (c.probabilities[k] >= smallest) order.push_back(k);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const f32 x = c.probabilities[a], y = c.probabilities[b];
    return x != y ? x > y : a < b;
  });
  std::vector<bool> kept(c.tokens.size());
  f64 before = 0;
  for (std::size_t n = 0; n < order.size() && (n == 0 || before < p); ++n) {
    kept[order[n]] = true;
    before += static_cast<f64>(c.probabilities[order[n]]);
  }
  keep_tokens(c, [&](std::size_t k) { return kept[k]; });
}

}  // namespace detail

/// The choice that a temperature above 0, top_k, top_p and min_p leave. Each rule looks at the probabilities
/// among the tokens that the rules before it have left, and leaves at least the best.
inline token_choice choice_of(std::span<const f32> logits, const sampling& how) {
  token_choice c;
  c.probabilities.assign(logits.begin(), logits.end());
  c.tokens.resize(logits.size());
  std::iota(c.tokens.begin(), c.tokens.end(), 0);
  if (how.top_k && how.top_k < static_cast<int>(logits.size())) {
    const f32 last = detail::largest(c.probabilities, how.top_k);
    std::erase_if(c.tokens, [&](i32 k) { return logits[static_cast<std::size_t>(k)] < last; });
    std::erase_if(c.probabilities, [&](f32 x) { return x < last; });
  }
  // Their differences from the largest stay in range at any temperature: near 0 all others become minus
  // infinity.
  const f64 top = static_cast<f64>(*std::max_element(c.probabilities.begin(), c.probabilities.end()));
  for (f32& x : c.probabilities) {
    constexpr f64 least = std::numeric_limits<f32>::lowest();
    x = static_cast<f32>(std::max((static_cast<f64>(x) - top) / how.temperature, least));
  }
  const matrix<f32> row(c.probabilities.data(), 1, static_cast<int>(c.probabilities.size()));
  softmax(row, row);
  if (how.top_p < 1) detail::keep_top_p(c, how.top_p);
  if (how.min_p > 0) {
    const f64 least =
        how.min_p * static_cast<f64>(*std::max_element(c.probabilities.begin(), c.probabilities.end()));
    detail::keep_tokens(c, [&](std::size_t k) { return static_cast<f64>(c.probabilities[k]) >= least; });
  }
  return c;
}

/// A token drawn with the probabilities softmax(logits / temperature), among those that the settings leave.
/// `text` has the tokens before it, for the repetition penalty. The same state of `random` gives the same
/// token everywhere. Throws std::invalid_argument if there are no logits, and for settings out of range, and
/// not_finite for logits from which no token can be drawn.
inline i32 sample_token(std::span<const f32> logits, const sampling& how, std::mt19937_64& random,
                        std::span<const i32> text = {}) {
  if (logits.empty()) throw std::invalid_argument("wsl: a token is drawn from at least one logit");
  check_sampling(how), check_logits(logits);
  std::vector<f32> penalized;
  if (how.repetition_penalty != 1) {
    penalized.assign(logits.begin(), logits.end());
    penalize_repetitions(penalized, text, how.repetition_penalty);
    logits = penalized;
  }
  if (how.temperature == 0) return argmax(logits);
  const token_choice c = choice_of(logits, how);
  f64 at = static_cast<f64>(random() >> 11) * 0x1p-53;
  for (std::size_t k = 0; k < c.tokens.size(); ++k)
    if ((at -= static_cast<f64>(c.probabilities[k])) < 0) return c.tokens[k];
  return c.tokens[static_cast<std::size_t>(argmax(c.probabilities))];  // the rest is rounding
}

}  // namespace wsl::ml
