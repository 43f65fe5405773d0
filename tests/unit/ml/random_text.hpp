// SPDX-License-Identifier: MIT
// Tokens at random, as a batch of sequences with targets.
#pragma once
#include <random>
#include <vector>
#include <wsl/ml/model/batch.hpp>

namespace test {

/// Ids below `vocabulary`, which depend on nothing but the numbers given here.
template <unsigned vocabulary>
struct random_text {
  int sequences, length;
  std::vector<wsl::i32> ids, targets;

  random_text(int of_sequences, int of_length, unsigned seed) : sequences(of_sequences), length(of_length) {
    std::mt19937 random(seed);
    for (int i = 0; i < sequences * length; ++i) {
      ids.push_back(static_cast<wsl::i32>(random() % vocabulary));
      targets.push_back(static_cast<wsl::i32>(random() % vocabulary));
    }
  }
  /// A few sequences of a few tokens.
  explicit random_text(unsigned seed) : random_text(4, 7, seed) {}

  wsl::ml::batch all() const {
    return {.ids = ids, .targets = targets, .sequences = sequences, .length = length};
  }
};

}  // namespace test
