// SPDX-License-Identifier: MIT
// A tile is the part of a distributed tensor on one PE: some global indices of every dimension, in ascending
// order, and the numbers at their combinations, row-major. The common numbers of two tiles are those that one
// PE can give to the other.
#pragma once
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "distribution.hpp"

namespace wsl::ml {

struct tile {
  std::vector<std::vector<int>> indices;  ///< global, for each dimension

  std::size_t size() const {
    std::size_t n = 1;
    for (const auto& of_dimension : indices) n *= of_dimension.size();
    return n;
  }
  /// Whether this tile has all numbers of the other.
  bool has(const tile& other) const {
    bool all = true;
    for (std::size_t d = 0; d < indices.size(); ++d)
      all = all && std::includes(indices[d].begin(), indices[d].end(), other.indices[d].begin(),
                                 other.indices[d].end());
    return all || other.size() == 0;
  }
  /// The tile of the PE `at`.
  static tile of(const index_map& m, coord at) {
    tile all;
    for (int d = 0; d < m.shape().dimensions(); ++d) all.indices.push_back(indices_of(m, at, d));
    return all;
  }
  /// A tile with all of a tensor.
  static tile whole(const tensor_shape& shape) {
    return of(index_map(shape, distribution{}, {1, 1}), {0, 0});
  }

  static std::vector<int> indices_of(const index_map& m, coord at, int d) {
    std::vector<int> all(static_cast<std::size_t>(m.size(at, d)));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = m.global(at, d, static_cast<int>(i));
    return all;
  }
  /// The indices that the PEs of the row (axis x) or column (axis y) of `at` have together.
  static std::vector<int> indices_of_line(const index_map& m, coord at, axis line, int d) {
    if (!m.how().cuts(d, line)) return indices_of(m, at, d);
    std::vector<int> all;
    int& k = line == axis::x ? at.x : at.y;
    for (k = 0; k < (line == axis::x ? m.grid().x : m.grid().y); ++k) {
      const std::vector<int> some = indices_of(m, at, d);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

namespace detail {

/// Consecutive indices that two tiles have in common, as local indices in both.
struct common_run {
  std::size_t mine, theirs, count;
};
inline std::vector<common_run> common_runs(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<common_run> all;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();)
    if (a[i] < b[j]) ++i;
    else if (b[j] < a[i]) ++j;
    else {
      if (!all.empty() && all.back().mine + all.back().count == i &&
          all.back().theirs + all.back().count == j)
        ++all.back().count;
      else all.push_back({i, j, 1});
      ++i, ++j;
    }
  return all;
}

}  // namespace detail

/// Calls f(mine, theirs, count) for the numbers that two tiles of a tensor have in common, run by run: the
/// first number of a run is number `mine` of the one tile and number `theirs` of the other.
template <class F>
void each_common_run(const tile& mine, const tile& theirs, F f) {
  using places = std::pair<std::size_t, std::size_t>;  // local indices in mine and theirs
  std::vector<places> rows{{0, 0}};                    // common indices of all dimensions but the last
  for (std::size_t d = 0;; ++d) {
    const std::size_t in_mine = mine.indices[d].size(), in_theirs = theirs.indices[d].size();
    const std::vector<detail::common_run> both = detail::common_runs(mine.indices[d], theirs.indices[d]);
    if (d + 1 == mine.indices.size()) {
      for (auto [row, other] : rows)
        for (const detail::common_run& r : both)
          f(row * in_mine + r.mine, other * in_theirs + r.theirs, r.count);
      return;
    }
    std::vector<places> longer;
    for (auto [row, other] : rows)
      for (const detail::common_run& r : both)
        for (std::size_t k = 0; k < r.count; ++k)
          longer.emplace_back(row * in_mine + r.mine + k, other * in_theirs + r.theirs + k);
    rows.swap(longer);
  }
}

/// Copies the numbers that two tiles of a tensor have in common from `from`, the numbers of `theirs`, to
/// `to`, the numbers of `mine`.
inline void copy_common(const tile& mine, std::span<f32> to, const tile& theirs, std::span<const f32> from) {
  each_common_run(mine, theirs, [&](std::size_t i, std::size_t j, std::size_t n) {
    std::copy_n(from.data() + j, n, to.data() + i);
  });
}
}  // namespace wsl::ml
