// SPDX-License-Identifier: MIT
// The first pattern of a sparse parameter, and what the patterns of all algorithms are made of: how many
// weights a sparsity leaves, and which places come first by a score. Counts are those of cerebras.pytorch, to
// the f32 arithmetic. Everything is a function of its arguments, random places of the seed and the
// parameter's name, so patterns depend neither on the number of threads nor on other parameters.
//   const sparse_pattern p = sparsity::initial_pattern(g, "layer 0 qkv.weight", 384, 128, w);
// W is (outputs, inputs), row-major.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "../../linalg/sparse_pattern.hpp"
#include "../../support/fingerprint.hpp"
#include "../../support/split_mix.hpp"
#include "settings.hpp"

namespace wsl::ml::sparsity {

/// The number of n weights that a sparsity leaves: (1 - s) n in f32, rounded down; all where s is 0.
inline i64 kept_of(f32 s, i64 n) {
  if (s == 0) return n;
  const f32 density = 1 - s;
  return std::min(n, static_cast<i64>(density * static_cast<f32>(n)));
}

/// A block of a parameter whose places compete with each other: all, or one of the groups that are balanced.
struct block_of_places {
  int row = 0, rows = 0, column = 0, columns = 0;
  i64 size() const { return i64{rows} * columns; }
};

/// The blocks of a parameter, and their number. Throws std::invalid_argument if the groups do not divide it.
inline std::vector<block_of_places> blocks_of(const group& g, std::string_view name, int rows, int columns) {
  const auto divided = [&](const char* what, const char* of, int groups, int n) {
    if (n % groups != 0)
      throw std::invalid_argument(
          fmt::format("wsl: {} {} does not divide the {} {} of {}: give a divisor, or keep "
                      "the parameter out by param_filter",
                      what, groups, n, of, name));
    return n / groups;
  };
  std::vector<block_of_places> all;
  if (const int n = g.balance_in_groups) {
    const int each = divided("balance_in_groups", "inputs", n, columns);
    for (int k = 0; k < n; ++k) all.push_back({0, rows, k * each, each});
  } else if (const int m = g.balance_out_groups) {
    const int each = divided("balance_out_groups", "outputs", m, rows);
    for (int k = 0; k < m; ++k) all.push_back({k * each, each, 0, columns});
  } else all.push_back({0, rows, 0, columns});
  return all;
}

/// Places of a parameter, as indices of its row-major array.
using places = std::vector<i64>;

/// The places of a block for which has(place) is true, ascending.
template <class F>
places places_of(const block_of_places& b, int columns, F has) {
  places all;
  for (int r = b.row; r < b.row + b.rows; ++r)
    for (int c = b.column; c < b.column + b.columns; ++c)
      if (const i64 at = i64{r} * columns + c; has(at)) all.push_back(at);
  return all;
}

/// Leaves the k places with the highest scores, in any order; of places with the same score the first.
template <class Score>
void keep_highest(places& all, i64 k, Score score) {
  if (k >= static_cast<i64>(all.size())) return;
  const auto comes_first = [&](i64 a, i64 b) {
    const auto x = score(a), y = score(b);
    return x != y ? x > y : a < b;
  };
  const auto end = all.begin() + std::max<i64>(0, k);
  if (end != all.begin()) std::nth_element(all.begin(), end - 1, all.end(), comes_first);
  all.erase(end, all.end());
}

/// A score of a place for each seed, name and step, by which the highest are a random choice.
class random_score {
 public:
  random_score(u64 seed, std::string_view name, i64 step) {
    support::fingerprint all;
    all.add(seed), all.add(name.data(), name.size()), all.add(step);
    stream_ = all.value();
  }
  u64 operator()(i64 place) const {
    return support::split_mixed(stream_ + static_cast<u64>(place) * support::split_mix_step);
  }

 private:
  u64 stream_;
};

/// The seed of a group that says none, and whose trainer says none either.
constexpr u64 default_seed = 1;

/// The score of a place by the absolute value of its number.
struct magnitude {
  std::span<const f32> of;
  f32 operator()(i64 place) const { return std::abs(of[static_cast<std::size_t>(place)]); }
};

namespace detail {

inline void require_size(std::string_view name, int rows, int columns, std::span<const f32> x,
                         const char* what) {
  if (static_cast<i64>(x.size()) != i64{rows} * columns)
    throw std::invalid_argument(fmt::format("wsl: {} ({}, {}) has {} {}, not {}", name, rows, columns,
                                            i64{rows} * columns, what, x.size()));
}
inline sparse_pattern pattern_of(int rows, int columns, const places& all) {
  std::vector<u8> mask(static_cast<std::size_t>(i64{rows} * columns));
  for (i64 at : all) mask[static_cast<std::size_t>(at)] = 1;
  return sparse_pattern::of_mask(rows, columns, mask);
}
/// The highest places of each block, as many as the sparsity leaves of it.
template <class Score>
sparse_pattern highest(const group& g, std::string_view name, int rows, int columns, f32 s, Score score) {
  places all;
  for (const block_of_places& b : blocks_of(g, name, rows, columns)) {
    places here = places_of(b, columns, [](i64) { return true; });
    keep_highest(here, kept_of(s, b.size()), score);
    all.insert(all.end(), here.begin(), here.end());
  }
  return pattern_of(rows, columns, all);
}
/// The largest weights of each input, rounded up, and of all these as many as the sparsity leaves of the
/// parameter, as the Model Zoo has it (R_1.7.1, sparsifiers.py).
inline sparse_pattern highest_of_each_column(int rows, int columns, f32 s, std::span<const f32> w) {
  const i64 of_each = rows - static_cast<i64>(s * static_cast<f32>(rows));
  places all;
  for (int c = 0; c < columns; ++c) {
    places here = places_of({0, rows, c, 1}, columns, [](i64) { return true; });
    keep_highest(here, of_each, magnitude{w});
    all.insert(all.end(), here.begin(), here.end());
  }
  keep_highest(all, kept_of(s, i64{rows} * columns), magnitude{w});
  return pattern_of(rows, columns, all);
}
/// Nonzeros at even distances in each row, which begin in each row earlier than in the one before.
inline sparse_pattern checkerboard(int rows, int columns, f32 s) {
  const f64 density = static_cast<f64>(1 - s);
  if (density <= 0) return {rows, columns};
  const i64 length = columns + static_cast<i64>(std::ceil(columns / density + 1e-5)) - 1,
            shift = static_cast<i64>(std::floor(1 / density - 1e-5));
  const auto level = [&](i64 i) { return std::floor(static_cast<f64>(i) * density + 1e-5); };
  return sparse_pattern::where(rows, columns, [&](int r, int c) {
    const i64 i = (c + r * shift) % length;
    return level(i + 1) != level(i);
  });
}

}  // namespace detail

/// The pattern with which a parameter (outputs, inputs) begins. The weights w, of which init_method may
/// choose the largest, may be empty if it does not look at them. Throws std::invalid_argument for another
/// number of them, and for groups that do not divide the parameter.
inline sparse_pattern initial_pattern(const group& g, std::string_view name, int rows, int columns,
                                      std::span<const f32> w) {
  if (!g.starts_sparse()) return sparse_pattern::all(rows, columns);
  const f32 s = g.sparsity.at(0);
  if (g.init_method != init_method::random && g.init_method != init_method::checkerboard)
    detail::require_size(name, rows, columns, w, "weights");
  switch (g.init_method) {
    case init_method::random:
      return detail::highest(g, name, rows, columns, s, random_score(g.seed.value_or(default_seed), name, 0));
    case init_method::topk: return detail::highest(g, name, rows, columns, s, magnitude{w});
    case init_method::balanced_topk:
      if (g.balance_in_groups || g.balance_out_groups)
        return detail::highest(g, name, rows, columns, s, magnitude{w});
      return detail::highest_of_each_column(rows, columns, s, w);
    case init_method::checkerboard: return detail::checkerboard(rows, columns, s);
    case init_method::from_zeros: break;
  }
  return sparse_pattern::of_nonzeros(rows, columns, w);
}

}  // namespace wsl::ml::sparsity
