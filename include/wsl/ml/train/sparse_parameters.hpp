// SPDX-License-Identifier: MIT
// The sparse parameters of a model in training. Of each the memory keeps the numbers at the places of its
// pattern and nothing else: weights, gradients, and what the optimizer keeps. Readers and writers of whole
// arrays (checkpoints, export, generation) get them with their zeros; they are made when they are asked for,
// and the next pass of the trainer takes what they say at the places of the pattern and lets them go.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../model/network.hpp"
#include "../model/parameter_store.hpp"
#include "../optim/step.hpp"
#include "../sparsity/algorithms.hpp"

namespace wsl::ml {

/// The numbers of a sparse parameter.
class sparse_parameter {
 public:
  /// Its arrays: the weights, their gradients, those that the optimizer keeps, and the average of the
  /// weights.
  static constexpr std::size_t weights = 0, gradients = 1, first_kept = 2;

  /// All weights are zero and the pattern has not been made. If `keeps` is false, another process keeps the
  /// numbers.
  sparse_parameter(const parameter& p, sparsity::group g, int kept, bool has_average, std::string folder,
                   bool keeps)
      : name_(p.name),
        rows_(p.rows),
        columns_(p.columns),
        is_frozen_(p.frozen),
        keeps_(keeps),
        has_average_(has_average),
        group_(std::move(g)),
        folder_(std::move(folder)),
        whole_(first_kept + static_cast<std::size_t>(kept) + has_average) {}

  const std::string& name() const { return name_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  const sparsity::group& group() const { return group_; }
  bool keeps() const { return keeps_; }
  bool is_frozen() const { return is_frozen_; }
  bool has_pattern() const { return pattern_.has_value(); }
  /// The pattern; it must have been made.
  const sparse_pattern& pattern() const { return *pattern_; }
  std::size_t average() const { return whole_.size() - 1; }

  /// The numbers of an array at the places of the pattern, between `close` and the next call of `whole`.
  std::span<f32> nonzeros(std::size_t array) { return (*store_)[array]; }
  /// All numbers of an array, (rows, columns), to read and to write until the next `close`.
  std::span<f32> whole(std::size_t array) {
    std::vector<f32>& x = whole_[array];
    if (x.empty()) {
      x.resize(size());
      if (store_) set_dense(x, *pattern_, nonzeros(array));
    }
    return x;
  }
  /// Makes the first pattern if there is none, and lets the whole arrays go. Where another process keeps the
  /// numbers, it does nothing.
  void close() {
    if (!keeps_) return;
    if (!pattern_) set_pattern(sparsity::initial_pattern(group_, name_, rows_, columns_, whole(weights)));
    for (std::size_t array = 0; array < whole_.size(); ++array)
      if (std::vector<f32>& x = whole_[array]; !x.empty()) {
        take(array, x);
        std::vector<f32>().swap(x);
      }
  }
  /// Gives it another pattern. Numbers at places that only the new one has are zero, and those at places that
  /// only the old one has are lost. Throws std::invalid_argument for a pattern of another shape.
  void set_pattern(sparse_pattern p) {
    require(p);
    if (!keeps_) return void(pattern_ = std::move(p));
    std::vector<std::size_t> sizes;
    for (std::size_t array = 0; array < whole_.size(); ++array) {
      if (array != gradients && store_) whole(array);
      sizes.push_back(array != weights && is_frozen_ ? 0 : static_cast<std::size_t>(p.count()));
    }
    pattern_ = std::move(p);
    store_ = std::make_unique<array_store>(sizes, folder_);
    is_news_ = true;
  }
  /// Whether it has got a pattern of which other processes have not been told; and that they have been.
  bool is_news() const { return is_news_; }
  void told() { is_news_ = false; }

  /// Throws std::invalid_argument for a pattern of another shape.
  void require(const sparse_pattern& p) const {
    if (p.rows() != rows_ || p.columns() != columns_)
      throw std::invalid_argument(fmt::format("wsl: a pattern of {} is ({}, {}), not ({}, {})", name_, rows_,
                                              columns_, p.rows(), p.columns()));
  }

  /// The gradients of all numbers, where an update of the pattern needs them; empty if not.
  std::span<f32> dense_gradient() { return dense_gradient_; }
  void begin_dense_gradient() {
    if (keeps_ && dense_gradient_.empty()) dense_gradient_.resize(size());
  }
  void drop_dense_gradient() { std::vector<f32>().swap(dense_gradient_); }
  /// Changes the pattern as its algorithm says after update number `step` of the optimizer. Returns whether
  /// it may have changed, which is the same where another process keeps the numbers.
  bool change_pattern(i64 step) {
    if (is_frozen_ || !sparsity::updates_at(group_, step)) return false;
    if (keeps_) {
      set_pattern(sparsity::updated_pattern(group_, name_, step, whole(weights), dense_gradient_, *pattern_));
      close();
    }
    drop_dense_gradient();
    return true;
  }
  /// Whether that change needs the gradients of all numbers.
  bool needs_dense_gradient(i64 step) const {
    return !is_frozen_ && sparsity::needs_dense_gradient(group_, step);
  }
  void swap_average() {
    if (!has_average_ || is_frozen_) return;
    close();
    const std::span<f32> all = nonzeros(average());
    std::swap_ranges(all.begin(), all.end(), nonzeros(weights).begin());
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_); }
  void take(std::size_t array, const std::vector<f32>& x) {
    const std::span<f32> to = nonzeros(array);
    if (to.empty()) return;
    pattern_->each(
        [&](int, int, i64 at, i64 k) { to[static_cast<std::size_t>(k)] = x[static_cast<std::size_t>(at)]; });
  }

  std::string name_;
  int rows_, columns_;
  bool is_frozen_, keeps_, has_average_, is_news_ = false;
  sparsity::group group_;
  std::string folder_;
  std::optional<sparse_pattern> pattern_;
  std::unique_ptr<array_store> store_;   // of the nonzeros, when there is a pattern
  std::vector<std::vector<f32>> whole_;  // of each array, if it has been asked for
  std::vector<f32> dense_gradient_;
};

namespace detail {

/// Why a parameter cannot be sparse; empty if it can.
inline std::string why_not_sparse(const network& n, std::size_t k) {
  const parameter& p = n.parameters()[k];
  for (const auto& s : n.stages())
    for (std::size_t which = 0; which < s->parameters.size(); ++which)
      if (static_cast<std::size_t>(s->parameters[which]) == k && !s->takes_sparse(static_cast<int>(which)))
        return fmt::format("{} reads all of it, and only linear layers have sparse weights", s->name);
  if (p.columns > most_sparse_columns)
    return fmt::format("it has {} inputs, and sparse weights have at most {}", p.columns,
                       most_sparse_columns);
  return "";
}

/// Throws std::invalid_argument for a group that leaves nothing of a parameter, or is to change the pattern
/// of one that is frozen.
inline void require_weights(const sparsity::group& g, const parameter& p) {
  if (p.frozen && g.changes())
    throw std::invalid_argument(
        fmt::format("wsl: {} is frozen, and {} changes the patterns of what is trained: leave it out of "
                    "param_filter, or give it a static group before this one",
                    p.name, name_of(g.algorithm)));
  if (!g.starts_sparse() || g.init_method == sparsity::init_method::from_zeros) return;
  const f32 s = g.sparsity.at(0);
  const auto blocks = sparsity::blocks_of(g, p.name, p.rows, p.columns);
  if (sparsity::kept_of(s, blocks.front().size()) == 0)
    throw std::invalid_argument(fmt::format(
        "wsl: a sparsity of {:.6g} leaves none of the {} weights of {}{}: give a lower one, or leave it out "
        "of "
        "param_filter",
        s, p.size(), p.name, blocks.size() > 1 ? fmt::format(" in {} groups", blocks.size()) : ""));
}

}  // namespace detail

/// The settings of each parameter of a model that is to be sparse; null: it is dense. Throws
/// std::invalid_argument for settings that contradict themselves, a pattern of names that no parameter has, a
/// parameter that is named and cannot be sparse, one of which no weight is left, one that is frozen and whose
/// pattern is to change, groups without parameters, and an optimizer that keeps numbers of whole rows.
inline std::vector<const sparsity::group*> sparse_groups(const network& n,
                                                         const std::vector<parameter_update>& updates,
                                                         const sparsity_settings& how) {
  how.check();
  const std::vector<parameter>& all = n.parameters();
  for (const sparsity::group& g : how.groups)
    for (const std::string& pattern : g.param_filter)
      if (std::none_of(all.begin(), all.end(),
                       [&](const parameter& p) { return parameter_group::is_match(pattern, p); }))
        throw std::invalid_argument(fmt::format(
            "wsl: a group of sparse weights is for {}, and no parameter is called so; the first is {}",
            pattern, all.empty() ? "missing, too" : all.front().name));
  std::vector<const sparsity::group*> of(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const sparsity::group* g = how.group_of(all[k].name, all[k].rows, all[k].columns);
    if (!g) continue;
    if (const std::string why = detail::why_not_sparse(n, k); !why.empty()) {
      if (g->param_filter.empty()) continue;
      throw std::invalid_argument(
          fmt::format("wsl: {} cannot be sparse: {}: leave it out of param_filter", all[k].name, why));
    }
    for (const kept_array& a : updates[k].kept(all[k]))
      if (a.each != kept_array::per::number)
        throw std::invalid_argument(fmt::format(
            "wsl: {} is to be sparse, and the optimizer keeps numbers of whole rows and columns: take "
            "one that keeps them of each weight, such as adamw",
            all[k].name));
    detail::require_weights(*g, all[k]);
    of[k] = g;
  }
  for (const sparsity::group& g : how.groups)
    if (std::find(of.begin(), of.end(), &g) == of.end())
      throw std::invalid_argument(
          how.groups.size() == 1
              ? std::string(
                    "wsl: these settings of sparse weights are for none of the model's parameters: name "
                    "those of linear layers by param_filter")
              : fmt::format(
                    "wsl: group {} of the sparse weights ({}, sparsity {}) has no parameter, for each "
                    "belongs to the first group that has it: name others by param_filter, or leave the "
                    "group out",
                    &g - how.groups.data() + 1, name_of(g.algorithm), g.sparsity.text()));
  return of;
}

}  // namespace wsl::ml
