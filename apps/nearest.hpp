// SPDX-License-Identifier: MIT
// Suggestions for an unknown word: the known words with the smallest edit distance.
#pragma once
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace app {

/// The word that takes the fewest changes of a letter to become `word`; empty if all are far from it.
inline std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 3 + 2;  // that many changes make a different word
  for (const std::string& k : known) {
    std::vector<std::size_t> row(k.size() + 1);
    std::iota(row.begin(), row.end(), 0u);
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t corner = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= k.size(); ++j)
        corner =
            std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, corner + (word[i - 1] != k[j - 1])}));
    }
    if (row.back() < least) least = row.back(), best = k;
  }
  return best;
}
/// "; the nearest is <word>", or nothing.
inline std::string nearest_words(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : "; the nearest is " + near;
}

}  // namespace app
