// SPDX-License-Identifier: MIT
// The exchange of a value among the workers of a row when it changes its form (model/column_cut.hpp). A
// column's part of a value in one form is a tile of the value's (tokens, features), and so is what a column
// needs of it in another; the numbers that two tiles have in common are copied, or added up.
#pragma once
#include <numeric>
#include <utility>

#include "../../model/column_cut.hpp"
#include "../../tensor/tile.hpp"
#include "micro_batch.hpp"
#include "row_exchange.hpp"
#include "schedule.hpp"

namespace wsl::ml {

/// The tokens of a row of workers, cut over its columns.
struct row_tokens {
  int sequences = 0, columns = 1;
  std::vector<int> lengths = {1};  ///< of a sequence, on each axis
  bool keeps_sequences = false;

  /// The first token of a column on an axis; that of column `columns` is the end.
  int first(int axis, int column) const {
    const int length = length_on(axis);
    const i64 units = keeps_sequences ? sequences : i64{sequences} * length;
    return static_cast<int>(units * column / columns) * (keeps_sequences ? length : 1);
  }
  int all(int axis) const { return sequences * length_on(axis); }
  int length_on(int axis) const { return lengths[static_cast<std::size_t>(axis)]; }
  std::vector<axis_tokens> of_column(int column) const {
    std::vector<axis_tokens> axes;
    for (int axis = 0; axis < static_cast<int>(lengths.size()); ++axis)
      axes.push_back({length_on(axis), first(axis, column), first(axis, column + 1)});
    return axes;
  }
};

/// The rows of workers of all wafers, which share out the sequences of a batch, or of a micro-batch of it.
struct rows_of_wafers {
  int sequences = 0;  ///< of the whole batch
  wafer_grid grid;
  micro_batch of = {};

  /// The row, counted over all wafers, of a worker.
  int row_at(coord worker) const {
    return grid.wafer_of(worker.x) * grid.rows + wires::index_in_column(worker.y);
  }
  /// The sequences of a row, as they are numbered in the batch.
  sequence_range sequences_of(int row) const {
    const sequence_range all = of.on_wafer(row / grid.rows, grid.wafers, sequences);
    const i64 count = all.count(), here = row % grid.rows;
    return {all.begin + static_cast<int>(count * here / grid.rows),
            all.begin + static_cast<int>(count * (here + 1) / grid.rows)};
  }
  row_tokens tokens_of(int row, const std::vector<int>& lengths, bool keeps_sequences) const {
    return {sequences_of(row).count(), grid.columns, lengths, keeps_sequences};
  }
};

class value_exchange {
 public:
  value_exchange(const column_cut& cut, const row_tokens& tokens, int column, activation_store& store)
      : cut_(&cut), tokens_(tokens), column_(column), store_(&store) {}

  /// Starts an exchange of the schedule; done(me) is called at its end.
  void start(pe& me, row_exchange& on, const weight_transfer& t, std::function<void(pe&)> done) const {
    const int v = t.values.value;
    const value_form from = t.values.from, to = t.values.to;
    if (!t.backward) {
      if (from == value_form::whole) on.sum(me, column_, columns(), sums(v, from, to, false, done));
      else on.rotate(me, column_, columns(), parts(v, from, to, false, done));
    } else if (to == value_form::whole) on.sum(me, column_, columns(), sums(v, to, from, true, done));
    else {
      // Stages that have read the whole value have left parts of its gradient in this form, which have been
      // added up.
      if (from == value_form::whole) store_->clear_gradient(v, from);
      on.rotate(me, column_, columns(), parts(v, to, from, true, done));
    }
  }
  /// Adds up the gradients that the columns have made of a parameter that all use: the sum is the first
  /// column's.
  void sum_gradient(pe& me, row_exchange& on, std::span<f32> gradient, std::function<void(pe&)> done) const {
    on.sum(
        me, column_, columns(),
        {.size = [n = gradient.size()](int column) { return column == 0 ? n : 0; },
         .put =
             [=](int column, std::span<f32> to) {
               for (std::size_t i = 0; column == 0 && i < to.size(); ++i) to[i] += gradient[i];
             },
         .take = [=](int, std::span<const f32> sum) { std::copy(sum.begin(), sum.end(), gradient.begin()); },
         .done = std::move(done)});
  }

 private:
  int columns() const { return cut_->columns(); }

  /// The numbers of a value that a column has in one form.
  tile of(int value, value_form f, int column) const {
    const int axis = cut_->axis(value);
    std::vector<int> tokens(static_cast<std::size_t>(tokens_.all(axis)));
    std::iota(tokens.begin(), tokens.end(), 0);
    if (f == value_form::tokens)
      tokens = {tokens.begin() + tokens_.first(axis, column),
                tokens.begin() + tokens_.first(axis, column + 1)};
    std::vector<int> features;
    for (const feature_run& r :
         f == value_form::features ? cut_->features(value, column) : cut_->all_features(value))
      for (int k = 0; k < r.count; ++k) features.push_back(r.first + k);
    return {{std::move(tokens), std::move(features)}};
  }
  std::span<f32> numbers(int value, value_form f, bool of_gradient) const {
    const matrix<f32> x = of_gradient ? store_->gradient(value, f) : store_->value(value, f);
    return {x.first(), static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(x.columns())};
  }
  /// Gradients are added to those that are there, values set.
  static void put(bool adds, const tile& mine, std::span<f32> to, const tile& theirs,
                  std::span<const f32> from) {
    adds ? add_common(mine, to, theirs, from) : copy_common(mine, to, theirs, from);
  }

  row_parts parts(int v, value_form from, value_form to, bool of_gradient,
                  std::function<void(pe&)> done) const {
    return {
        .size = [this, v, from](int column) { return of(v, from, column).size(); },
        .put = [this, v, from, of_gradient](
                   int,
                   std::span<f32> part) { std::ranges::copy(numbers(v, from, of_gradient), part.begin()); },
        .take =
            [this, v, from, to, of_gradient](int column, std::span<const f32> part) {
              put(of_gradient, of(v, to, column_), numbers(v, to, of_gradient), of(v, from, column), part);
            },
        .done = std::move(done)};
  }
  /// Each worker has summands of the whole value; the sum goes to the columns in the form `to`.
  row_parts sums(int v, value_form whole, value_form to, bool of_gradient,
                 std::function<void(pe&)> done) const {
    return {.size = [this, v, to](int column) { return of(v, to, column).size(); },
            .put =
                [this, v, whole, to, of_gradient](int column, std::span<f32> part) {
                  add_common(of(v, to, column), part, of(v, whole, column_), numbers(v, whole, of_gradient));
                },
            .take =
                [this, v, to, of_gradient](int, std::span<const f32> sum) {
                  const tile here = of(v, to, column_);
                  put(of_gradient, here, numbers(v, to, of_gradient), here, sum);
                },
            .done = std::move(done)};
  }

  const column_cut* cut_;
  row_tokens tokens_;
  int column_;
  activation_store* store_;
};

}  // namespace wsl::ml
