// SPDX-License-Identifier: MIT
// What a PE has of a tensor under a cut: of every dimension some indices, in order, and the numbers where
// they cross, row-major. What two patches have in common is what one PE can give another.
#pragma once
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "cut.hpp"

namespace wsl::ml {

struct patch {
  std::vector<std::vector<int>> indices;  ///< by dimension

  std::size_t size() const {
    std::size_t n = 1;
    for (const auto& of_dimension : indices) n *= of_dimension.size();
    return n;
  }
  bool has(const patch& other) const {
    bool all = true;
    for (std::size_t d = 0; d < indices.size(); ++d)
      all = all && std::includes(indices[d].begin(), indices[d].end(), other.indices[d].begin(),
                                 other.indices[d].end());
    return all || other.size() == 0;
  }
  static patch of(const placement& p, coord at) {
    patch all;
    for (int d = 0; d < p.shape().dimensions(); ++d) all.indices.push_back(indices_of(p, at, d));
    return all;
  }
  /// All of a tensor.
  static patch whole(const tensor_shape& shape) { return of(placement(shape, cut{}, {1, 1}), {0, 0}); }

  static std::vector<int> indices_of(const placement& p, coord at, int d) {
    std::vector<int> all(static_cast<std::size_t>(p.size(at, d)));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = p.global(at, d, static_cast<int>(i));
    return all;
  }
  /// Those that the PEs of the row (axis x) or column (axis y) of `at` have together.
  static std::vector<int> indices_of_line(const placement& p, coord at, axis line, int d) {
    if (!p.how().cuts(d, line)) return indices_of(p, at, d);
    std::vector<int> all;
    int& k = line == axis::x ? at.x : at.y;
    for (k = 0; k < (line == axis::x ? p.grid().x : p.grid().y); ++k) {
      const std::vector<int> some = indices_of(p, at, d);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

/// Copies to `to`, the numbers of a patch, those that `from`, the numbers of another patch of the same
/// tensor, has.
inline void copy_common(const patch& mine, std::span<f32> to, const patch& theirs,
                        std::span<const f32> from) {
  using place = std::pair<std::size_t, std::size_t>;  // here and there
  const auto common = [](const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<place> both;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size(); a[i] < b[j] ? ++i
                                                                 : b[j] < a[i]
                                                                     ? ++j
                                                                     : (both.emplace_back(i, j), ++i, ++j)) {}
    return both;
  };
  std::vector<place> rows{{0, 0}};  // of all dimensions but the last
  for (std::size_t d = 0;; ++d) {
    const std::vector<int>&a = mine.indices[d], &b = theirs.indices[d];
    const std::vector<place> both = common(a, b);
    if (d + 1 == mine.indices.size()) {
      for (auto [row, other] : rows)
        for (auto [i, j] : both) to[row * a.size() + i] = from[other * b.size() + j];
      return;
    }
    std::vector<place> longer;
    for (auto [row, other] : rows)
      for (auto [i, j] : both) longer.emplace_back(row * a.size() + i, other * b.size() + j);
    rows.swap(longer);
  }
}

}  // namespace wsl::ml
