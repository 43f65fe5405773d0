// SPDX-License-Identifier: MIT
// The exchange of a value among the workers of a row when it changes its form (model/column_cut.hpp). A
// column's share of a value is in any form some features of consecutive tokens. What one column has and
// another one needs is a block, which lies row after row without gaps while it travels. A share that is a
// whole part of what a worker has, or needs, travels from there and to there without a copy.
#pragma once
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "../../model/column_cut.hpp"
#include "../../op/rows.hpp"
#include "row_exchange.hpp"
#include "row_tokens.hpp"
#include "schedule.hpp"

namespace wsl::ml {

class value_exchange {
 public:
  value_exchange(const column_cut& cut, const row_tokens& tokens, int column, activation_store& store)
      : cut_(&cut), tokens_(tokens), column_(column), store_(&store) {}

  /// Starts an exchange of the schedule; done(me) is called at its end.
  void start(pe& me, row_exchange& on, const weight_transfer& t, std::function<void(pe&)> done) {
    const int v = t.values.value;
    const value_form from = t.backward ? t.values.to : t.values.from,
                     to = t.backward ? t.values.from : t.values.to;
    for (int c = 0; c < columns(); ++c) from_.push_back(of(v, from, c)), to_.push_back(of(v, to, c));
    bool sets = true;
    if (!t.backward) {
      have_.emplace(store_->value(v, from)), need_.emplace(store_->value(v, to));
    } else {
      have_.emplace(store_->gradient(v, from));
      // Stages that have read the whole value have left parts of its gradient in this form, which have been
      // added up.
      if (to == value_form::whole) store_->clear_gradient(v, to);
      need_.emplace(store_->gradient(v, to, sets));
    }
    adds_ = !sets;
    row_parts parts{.size = [this](int c, int other) { return block_of(c, other).size(); },
                    .place = [this](int c) { return place(c, false); },
                    .put = [this](int c, std::span<f32> part, bool adds) { put(c, part, adds); },
                    .take = [this](int c, std::span<f32> part) { take(c, part); },
                    .done = std::move(done)};
    if (from == value_form::whole) {
      parts.place = [this](int c) { return place(c, true); };
      parts.take = [this](int, std::span<f32> part) { take_sum(part); };
      on.sum(me, column_, columns(), std::move(parts));
    } else if (to == value_form::whole) on.rotate(me, column_, columns(), std::move(parts));
    else on.deliver(me, column_, columns(), std::move(parts));
  }
  /// Adds up the gradients that the columns have made of a parameter that all use: the sum is the first
  /// column's.
  void sum_gradient(pe& me, row_exchange& on, std::span<f32> gradient, std::function<void(pe&)> done) const {
    on.sum(me, column_, columns(),
           {.size = [n = gradient.size()](int column, int) { return column == 0 ? n : 0; },
            .place = [=](int column) { return column == 0 ? gradient : std::span<f32>{}; },
            .put = [=](int, std::span<f32> sum, bool) { add(line(sum), line(gradient)); },
            .take =
                [=](int, std::span<f32> others) {
                  add(line(gradient).part(0, 0, 1, static_cast<int>(others.size())), line(others));
                },
            .done = std::move(done)});
  }

 private:
  /// What a column has of a value in one form.
  struct share {
    token_range tokens;
    std::vector<feature_run> features;
    /// The number of feature k among those that the column has, which include it.
    int column_of(int k) const {
      int before = 0;
      for (const feature_run& r : features) {
        if (k < r.end()) return before + k - r.first;
        before += r.count;
      }
      return before;
    }
  };
  /// The numbers that two shares have in common.
  struct block {
    token_range tokens;
    std::vector<feature_run> features;
    int width = 0;  ///< the number of features
    std::size_t size() const {
      return static_cast<std::size_t>(tokens.count()) * static_cast<std::size_t>(width);
    }
  };

  int columns() const { return cut_->columns(); }
  static matrix<f32> line(std::span<f32> x) { return {x.data(), 1, static_cast<int>(x.size())}; }

  share of(int value, value_form f, int column) const {
    const int axis = cut_->axis(value), length = store_->length_of_axis(axis);
    token_range tokens{0, tokens_.on(axis, length).count()};
    if (f == value_form::tokens)
      tokens = {tokens_.first(axis, length, column), tokens_.first(axis, length, column + 1)};
    return {tokens, f == value_form::features ? cut_->features(value, column) : cut_->all_features(value)};
  }
  /// What column c has and the other one needs.
  block block_of(int c, int other) const {
    const share &a = from_[static_cast<std::size_t>(c)], &b = to_[static_cast<std::size_t>(other)];
    block common;
    const int first = std::max(a.tokens.first, b.tokens.first);
    common.tokens = {first, std::max(first, std::min(a.tokens.end, b.tokens.end))};
    for (const feature_run& x : a.features)
      for (const feature_run& y : b.features) {
        const int begin = std::max(x.first, y.first), count = std::min(x.end(), y.end()) - begin;
        if (count > 0) common.features.push_back({begin, count}), common.width += count;
      }
    return common;
  }
  /// Calls f(rows of a block that travels, the same numbers in a share) for each run of features.
  template <class F>
  static void each_run(const block& b, f32* travels, const share& of, const matrix<f32>& numbers, F f) {
    const int tokens = b.tokens.count();
    int column = 0;
    for (const feature_run& r : b.features) {
      f(matrix<f32>(travels + column, tokens, r.count, b.width, 1),
        numbers.part(b.tokens.first - of.tokens.first, of.column_of(r.first), tokens, r.count));
      column += r.count;
    }
  }
  const share& mine(const std::vector<share>& of) const { return of[static_cast<std::size_t>(column_)]; }

  /// Where the numbers that this worker has for column c lie, or those that it needs of column c, and in a
  /// rotation its own; empty if they do not lie together.
  std::span<f32> place(int c, bool is_sum) const {
    if (!is_sum && c == column_) return whole(*have_, 0, have_->rows());
    const block b = is_sum ? block_of(column_, c) : block_of(c, column_);
    const matrix<f32>& in = is_sum ? *have_ : *need_;
    if (b.width != in.columns() || (adds_ && !is_sum)) return {};
    return whole(in, b.tokens.first - mine(is_sum ? from_ : to_).tokens.first, b.tokens.count());
  }
  static std::span<f32> whole(const matrix<f32>& x, int row, int rows) {
    return {x.row(row), static_cast<std::size_t>(rows) * static_cast<std::size_t>(x.columns())};
  }
  void put(int c, std::span<f32> part, bool adds) const {
    each_run(block_of(column_, c), part.data(), mine(from_), *have_,
             [&](const matrix<f32>& travels, const matrix<f32>& here) {
               adds ? add(travels, here) : copy(travels, here);
             });
  }
  void take(int c, std::span<f32> part) const {
    each_run(block_of(c, column_), part.data(), mine(to_), *need_,
             [&](const matrix<f32>& travels, const matrix<f32>& here) {
               adds_ ? add(here, travels) : copy(here, travels);
             });
  }
  /// Takes the sum of the others and of this worker.
  void take_sum(std::span<f32> others) const {
    const block own = block_of(column_, column_);
    if (adds_ || own.features.size() > 1) {
      put(column_, others, true);
      return take(column_, others);
    }
    each_run(own, others.data(), mine(to_), *need_, [&](const matrix<f32>& sum, const matrix<f32>& here) {
      each_run(own, others.data(), mine(from_), *have_,
               [&](const matrix<f32>&, const matrix<f32>& summand) { set_sum(here, sum, summand); });
    });
  }

  const column_cut* cut_;
  row_tokens tokens_;
  int column_;
  activation_store* store_;
  // Of an exchange: what each column has, and what it needs; the numbers of both here, and whether those that
  // come are added to what is there.
  std::vector<share> from_, to_;
  std::optional<matrix<f32>> have_, need_;
  bool adds_ = false;
};

}  // namespace wsl::ml
