// SPDX-License-Identifier: MIT
// The near duplicates among signatures: texts with an equal band are candidates; candidates whose estimated
// similarity reaches the threshold are joined, and so are those that are joined with the same. Which sets
// there are does not depend on the order of the texts, nor on the threads.
//   const disjoint_sets sets = near_duplicates(signatures, {.threshold = 0.8});
#pragma once
#include <algorithm>
#include <mutex>

#include "bands.hpp"
#include "disjoint_sets.hpp"
#include "minhash.hpp"
#include "signature_table.hpp"
#include "team.hpp"

namespace wsl::ml {

struct near_duplicate_settings {
  f64 threshold = 0.8;    ///< of the estimated Jaccard similarity
  band_shape shape = {};  ///< no bands: searching_bands, or without comparison separating_bands
  bool compared = true;   ///< false: candidates are duplicates without a comparison, as in SlimPajama
  int threads = 0;        ///< 0: one for each processor
  /// bytes for tables of bands, 16 for each text and each band that is in work; one band is, whatever it
  /// takes
  u64 memory = ~u64{0};
};

/// The bands that settings mean for so many permutations. Throws std::invalid_argument for bands or rows that
/// are missing, or that do not fit into the permutations, and what searching_bands throws.
inline band_shape bands_of(const near_duplicate_settings& how, int permutations) {
  detail::check_threshold(how.threshold);
  const auto [bands, rows] = how.shape;
  if (bands == 0 && rows == 0)
    return how.compared ? searching_bands(permutations, how.threshold)
                        : separating_bands(permutations, how.threshold);
  if (bands < 1 || rows < 1 || rows > permutations || bands > permutations / rows)
    throw std::invalid_argument(
        fmt::format("wsl: {} bands of {} rows do not fit into {} permutations: give both, each at least 1, "
                    "whose product is at most that",
                    bands, rows, permutations));
  return how.shape;
}

namespace detail {

/// Joins what is similar among the texts of a band that is equal. All pairs that are not yet known to be
/// joined are compared.
template <class Similar, class Join>
void join_similar(std::span<const u32> texts, Similar similar, Join join) {
  std::vector<std::vector<u32>> sets;
  for (const u32 x : texts) {
    std::vector<u32> mine{x};
    for (std::size_t s = 0; s < sets.size();) {
      const auto found = std::find_if(sets[s].begin(), sets[s].end(), [&](u32 y) { return similar(x, y); });
      if (found == sets[s].end()) {
        ++s;
        continue;
      }
      join(x, *found);
      if (mine.size() < sets[s].size()) mine.swap(sets[s]);
      mine.insert(mine.end(), sets[s].begin(), sets[s].end());
      std::swap(sets[s], sets.back()), sets.pop_back();
    }
    sets.push_back(std::move(mine));
  }
}

}  // namespace detail

/// The sets of near duplicates; those that are in none are in a set of their own. `done` is called, by one
/// thread at a time, for each band that is finished. Throws std::invalid_argument for what bands_of throws,
/// and for 2^32 signatures or more.
template <class Done>
disjoint_sets near_duplicates(const signature_table& in, int permutations, const near_duplicate_settings& how,
                              Done done) {
  if (in.count() > 0xffffffffu)
    throw std::invalid_argument("wsl: fewer than 2^32 documents are compared at a time: divide the corpus");
  const band_shape shape = bands_of(how, permutations);
  const auto count = static_cast<u32>(in.count());
  disjoint_sets sets(count);
  struct entry {
    u64 key;
    u32 text;
  };
  const u64 fit = how.memory / std::max<u64>(1, sizeof(entry) * u64{count});
  const team wanted(how.threads);
  const team all(static_cast<int>(std::clamp<u64>(fit, 1, static_cast<u64>(wanted.threads()))));
  std::mutex joining;
  all.each(static_cast<std::size_t>(shape.bands), [&](std::size_t band) {
    const std::size_t begin = band * static_cast<std::size_t>(shape.rows);
    const auto band_of = [&](u32 text) {
      return in[text].subspan(begin, static_cast<std::size_t>(shape.rows));
    };
    std::vector<entry> table(count);
    for (u32 i = 0; i < count; ++i) {
      u64 key = band;
      for (const u32 x : band_of(i)) key = scramble(key ^ x);
      table[i] = {key, i};
    }
    std::sort(table.begin(), table.end(), [](const entry& a, const entry& b) {
      return a.key != b.key ? a.key < b.key : a.text < b.text;
    });
    std::vector<u32> same;
    for (std::size_t from = 0, to; from < table.size(); from = to) {
      for (to = from + 1; to < table.size() && table[to].key == table[from].key;) ++to;
      if (to - from < 2) continue;
      same.clear();
      for (std::size_t i = from; i < to; ++i) same.push_back(table[i].text);
      const auto similar = [&](u32 a, u32 b) {
        if (how.compared) return similarity(in[a], in[b]) >= how.threshold;
        const auto x = band_of(a), y = band_of(b);
        return std::equal(x.begin(), x.end(), y.begin());
      };
      detail::join_similar(std::span<const u32>(same), similar, [&](u32 a, u32 b) {
        const std::scoped_lock lock(joining);
        sets.join(a, b);
      });
    }
    const std::scoped_lock lock(joining);
    done();
  });
  return sets;
}
inline disjoint_sets near_duplicates(const signature_table& in, int permutations,
                                     const near_duplicate_settings& how) {
  return near_duplicates(in, permutations, how, [] {});
}

}  // namespace wsl::ml
