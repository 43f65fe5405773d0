// SPDX-License-Identifier: MIT
// Which weights of a model are sparse, how sparse, and how the pattern of their nonzeros changes in training:
// the settings of cerebras.pytorch.sparse, under its names. `static` is a word of C++, so the algorithm that
// keeps its pattern is `fixed` here.
//   const ml::sparsity::settings rigl =
//       ml::sparsity::rigl({.sparsity = 0.9, .update = {.freq = 100, .stop = 1000}});
//   ml::trainer t{net, ml::optimizer::adamw(), {.sparsity = rigl}};
// masks.hpp makes the first pattern of a parameter, and algorithms.hpp each next one. See
// docs/guide/sparsity.md.
#pragma once
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"
#include "schedule.hpp"

namespace wsl::ml::sparsity {

/// What an update does with a pattern: `fixed` has none; `rigl` drops the smallest weights and grows where
/// the gradients of absent weights are the largest (Evci et al., arXiv 1911.11134); `set` grows at random
/// places (Mocanu et al., arXiv 1707.04780); `gmp` keeps the largest weights, of which there are fewer and
/// fewer (Zhu and Gupta, arXiv 1710.01878).
enum class algorithm : u8 { fixed, rigl, set, gmp };
inline const char* name_of(algorithm a) {
  constexpr const char* names[] = {"static", "rigl", "set", "gmp"};
  return names[static_cast<int>(a)];
}

/// The first pattern: random places; the largest weights; the largest of each group of inputs or outputs, or
/// where there are no groups of each input (column); a regular pattern; or the weights that are not zero,
/// whatever the sparsity.
enum class init_method : u8 { random, topk, balanced_topk, checkerboard, from_zeros };
inline const char* name_of(init_method m) {
  constexpr const char* names[] = {"random", "topk", "balanced-topk", "checkerboard", "from_zeros"};
  return names[static_cast<int>(m)];
}

/// When the pattern changes. A step is the number of updates that the optimizer has made, with that of the
/// step: 1 after the first; steps that loss scaling skips do not count.
struct updates {
  /// Every `freq` steps from `start` on, before `stop`.
  i64 freq = 1, start = 0;
  std::optional<i64> stop = {};
  std::vector<i64> steps = {};  ///< exactly these, if there are any

  bool are_at(i64 step) const {
    if (!steps.empty()) return std::find(steps.begin(), steps.end(), step) != steps.end();
    return step >= start && (step - start) % freq == 0 && (!stop || step < *stop);
  }
  /// The first of them.
  i64 first() const { return steps.empty() ? start : *std::min_element(steps.begin(), steps.end()); }
  /// The updates from step 0 to step `end` - 1. Step 0 counts: the first pattern is made there.
  i64 before(i64 end) const {
    if (!steps.empty()) {
      std::vector<i64> all = steps;
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      return std::lower_bound(all.begin(), all.end(), end) - all.begin();
    }
    const i64 last = stop ? std::min(*stop, end) : end;
    return last > start ? (last - start - 1) / freq + 1 : 0;
  }
  friend bool operator==(const updates&, const updates&) = default;
};

/// The settings of some parameters.
struct group {
  schedule sparsity = {};  ///< the share of weights that are zero
  sparsity::algorithm algorithm = algorithm::fixed;
  sparsity::init_method init_method = init_method::random;
  updates update = {};
  schedule drop_fraction = {};  ///< of rigl and set: the share of nonzeros that an update drops; usually 0.3
  /// Patterns of the parameters' names, as those of files. Empty: all that can be sparse and are neither
  /// embeddings, norms, routers of experts nor the head.
  std::vector<std::string> param_filter = {};
  /// So many groups of inputs (columns), or of outputs (rows), each with the same number of nonzeros; 0: the
  /// nonzeros of a parameter lie anywhere. At most one of the two.
  int balance_in_groups = 0, balance_out_groups = 0;
  std::optional<u64> seed = {};  ///< of random places; none: that of the trainer

  bool changes() const { return algorithm != algorithm::fixed; }
  /// Where the first update comes later than step 0, the parameter is dense until then.
  bool starts_sparse() const { return !changes() || update.are_at(0); }
  /// Whether the parameter of that name is one of the group. Parameters with less than two rows or columns
  /// are in no group without patterns.
  bool has(const std::string& name, i64 rows, i64 columns) const {
    if (!param_filter.empty())
      return std::any_of(param_filter.begin(), param_filter.end(),
                         [&](const std::string& x) { return ::fnmatch(x.c_str(), name.c_str(), 0) == 0; });
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto says = [&](const char* word) { return lower.find(word) != lower.npos; };
    return rows > 1 && columns > 1 && !says("embedding") && !says("norm") && !says("head") && !says("router");
  }

  /// Throws std::invalid_argument for settings that contradict each other or make no pattern.
  void check() const;
  friend bool operator==(const group&, const group&) = default;
};

struct settings {
  std::vector<group> groups = {};

  bool are_given() const { return !groups.empty(); }
  /// The group of a parameter: the first that has it; null if none has.
  const group* group_of(const std::string& name, i64 rows, i64 columns) const {
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [&](const group& g) { return g.has(name, rows, columns); });
    return at == groups.end() ? nullptr : &*at;
  }
  /// The same with that seed in the groups that have none of their own.
  settings with_seed(u64 seed) const {
    settings s = *this;
    for (group& g : s.groups) g.seed = g.seed.value_or(seed);
    return s;
  }
  /// Throws std::invalid_argument for a group that contradicts itself.
  void check() const {
    for (const group& g : groups) g.check();
  }
  friend bool operator==(const settings&, const settings&) = default;
};

/// Settings of one group, by its algorithm.
inline settings of_algorithm(algorithm a, group g) {
  g.algorithm = a;
  g.check();
  return {{std::move(g)}};
}
inline settings fixed(group g) { return of_algorithm(algorithm::fixed, std::move(g)); }
inline settings rigl(group g) { return of_algorithm(algorithm::rigl, std::move(g)); }
inline settings set(group g) { return of_algorithm(algorithm::set, std::move(g)); }
inline settings gmp(group g) { return of_algorithm(algorithm::gmp, std::move(g)); }
/// Settings of several: `groups(rigl({...}), fixed({...}))`. A parameter belongs to the first that has it.
template <class... S>
settings groups(S... s) {
  settings all;
  (all.groups.insert(all.groups.end(), s.groups.begin(), s.groups.end()), ...);
  return all;
}

inline void group::check() const {
  const char* const a = name_of(algorithm);
  const auto refuse = [](std::string why) { throw std::invalid_argument("wsl: " + why); };
  if (!sparsity.is_given())
    refuse(fmt::format("the sparsity of {} is missing: give the share of weights that are zero, such as 0.75",
                       a));
  sparsity.check("sparsity"), drop_fraction.check("drop_fraction");
  if (const f64* s = sparsity.as<f64>(); s && *s == 1)
    refuse("a sparsity of 1 leaves no weight: it is from 0 to less than 1, such as 0.75");
  if (algorithm == algorithm::gmp && sparsity.is_constant())
    refuse(fmt::format("a constant sparsity {} gives gmp nothing to prune: give a schedule, or take static",
                       sparsity.text()));
  if (!changes() && !sparsity.is_constant())
    refuse(
        fmt::format("the sparsity of static is one number, not {}: its pattern never changes; gmp, rigl and "
                    "set follow a schedule",
                    sparsity.text()));
  if (!changes() && update != updates{})
    refuse("static has no updates of its pattern: take rigl, set or gmp, or leave update out");
  if (drop_fraction.is_given() && algorithm != algorithm::rigl && algorithm != algorithm::set)
    refuse(
        fmt::format("{} drops no share of its weights: drop_fraction is of rigl and set, leave it out", a));
  if (const f64* d = drop_fraction.as<f64>(); d && *d == 1)
    refuse("a drop_fraction of 1 drops all weights: it is from 0 to less than 1, such as 0.3");
  if (update.freq < 1) refuse(fmt::format("update.freq is at least one step, not {}", update.freq));
  if (update.start < 0) refuse(fmt::format("update.start is a step from 0 on, not {}", update.start));
  if (update.stop && *update.stop <= update.start)
    refuse(
        fmt::format("update.stop {} is not after update.start {}: no update would happen; give a later step, "
                    "or take static",
                    *update.stop, update.start));
  if (!update.steps.empty() && update != updates{.steps = update.steps})
    refuse("update.steps says all steps of updates: leave update.freq, start and stop out");
  if (std::any_of(update.steps.begin(), update.steps.end(), [](i64 s) { return s < 0; }))
    refuse("update.steps are steps from 0 on");
  if (balance_in_groups < 0 || balance_out_groups < 0)
    refuse("balance_in_groups and balance_out_groups are at least 1");
  if (balance_in_groups && balance_out_groups)
    refuse("balance_in_groups and balance_out_groups exclude each other: give one of them");
  if ((balance_in_groups || balance_out_groups) &&
      (init_method == init_method::checkerboard || init_method == init_method::from_zeros))
    refuse(
        fmt::format("init_method {} makes a pattern that is not balanced: leave the groups out, or take "
                    "random or balanced-topk",
                    name_of(init_method)));
}

}  // namespace wsl::ml::sparsity

namespace wsl::ml {

using sparsity_settings = sparsity::settings;

}  // namespace wsl::ml
