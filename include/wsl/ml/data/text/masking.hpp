// SPDX-License-Identifier: MIT
// Hides words of a text that an encoder is to guess, as BERT is trained (arXiv:1810.04805): of the tokens
// that are chosen, 80 % become the mask, 10 % another token, and 10 % stay as they are.
//   the man went to the store   ->   the man [MASK] to the store
//                                    labels:  went
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "draws.hpp"

namespace wsl::ml {

/// The label of a token that does not count (encoder::no_label).
inline constexpr i32 ignored_label = -100;

struct masking_settings {
  f64 masked_lm_prob = 0.15;  ///< the part of the tokens of a text, special ones included, that is guessed
  int max_predictions_per_seq = 20;
  bool mask_whole_word = false;  ///< with one token of a word all of it is chosen
};

class masking {
 public:
  /// For a vocabulary of `vocabulary` tokens; `special` ones are never chosen, nor do they replace others.
  /// Throws std::invalid_argument for settings out of range, or if nothing is left to choose.
  masking(const masking_settings& how, i32 mask, int vocabulary, const std::vector<i32>& special)
      : how_(how), mask_(mask), is_special_(static_cast<std::size_t>(std::max(vocabulary, 0))) {
    if (!(how.masked_lm_prob > 0) || how.masked_lm_prob > 1 || how.max_predictions_per_seq < 1)
      throw std::invalid_argument(
          fmt::format("wsl: masked_lm_prob is above 0 and at most 1, and max_predictions_per_seq at least 1, "
                      "not {} and {}",
                      how.masked_lm_prob, how.max_predictions_per_seq));
    for (i32 id : special)
      if (id >= 0 && id < vocabulary) is_special_[static_cast<std::size_t>(id)] = true;
    for (i32 id = 0; id < vocabulary; ++id)
      if (!is_special(id)) replacements_.push_back(id);
    if (replacements_.empty())
      throw std::invalid_argument(
          fmt::format("wsl: all of the {} tokens are special: there is none to guess", vocabulary));
  }

  bool is_special(i32 id) const {
    return id < 0 || id >= static_cast<i32>(is_special_.size()) || is_special_[static_cast<std::size_t>(id)];
  }
  /// The tokens of a text of n that are guessed, if as many can be.
  int predictions(int n) const {
    const f64 wanted = std::nearbyint(n * how_.masked_lm_prob);
    return std::min(how_.max_predictions_per_seq, std::max(1, static_cast<int>(wanted)));
  }

  /// Hides tokens of a text, and gives each that was chosen its label, the others `ignored_label`. A token
  /// that continues a word belongs to the one before it. Returns how many were chosen. All three have one
  /// entry a token.
  int hide(std::span<i32> ids, std::span<i32> labels, const std::vector<bool>& continues,
           draws& random) const {
    std::fill(labels.begin(), labels.end(), ignored_label);
    std::vector<int> order(ids.size());
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(std::span(order));
    const int wanted = predictions(static_cast<int>(ids.size()));
    int chosen = 0;
    for (const int k : order) {
      if (chosen >= wanted) break;
      const auto first = static_cast<std::size_t>(k);
      if (is_special(ids[first]) || labels[first] != ignored_label) continue;
      const auto [begin, end] = word_of(first, ids, continues);
      if (chosen + static_cast<int>(end - begin) > how_.max_predictions_per_seq) continue;
      for (std::size_t i = begin; i < end; ++i) labels[i] = ids[i], ++chosen;
    }
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (labels[i] != ignored_label) ids[i] = hidden(ids[i], random);
    return chosen;
  }

 private:
  std::pair<std::size_t, std::size_t> word_of(std::size_t at, std::span<const i32> ids,
                                              const std::vector<bool>& continues) const {
    std::size_t begin = at, end = at + 1;
    if (!how_.mask_whole_word) return {begin, end};
    while (begin > 0 && continues[begin] && !is_special(ids[begin - 1])) --begin;
    while (end < ids.size() && continues[end] && !is_special(ids[end])) ++end;
    return {begin, end};
  }
  i32 hidden(i32 id, draws& random) const {
    const f64 fate = random.uniform();
    if (fate < 0.8) return mask_;
    if (fate >= 0.9) return id;
    return replacements_[static_cast<std::size_t>(random.below(std::ssize(replacements_)))];
  }

  masking_settings how_;
  i32 mask_;
  std::vector<bool> is_special_;
  std::vector<i32> replacements_;
};

}  // namespace wsl::ml
