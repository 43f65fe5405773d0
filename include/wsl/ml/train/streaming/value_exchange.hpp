// SPDX-License-Identifier: MIT
// The exchange of a value among the workers of a row when it changes its form (model/column_cut.hpp). A
// column's part of a value in one form is a tile of the value's (tokens, features), and so is what a column
// needs of it in another; the numbers that two tiles have in common are copied, or added up.
#pragma once
#include <numeric>
#include <utility>

#include "../../model/column_cut.hpp"
#include "../../tensor/tile.hpp"
#include "row_exchange.hpp"
#include "row_tokens.hpp"
#include "schedule.hpp"

namespace wsl::ml {

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
    const int length = store_->length_of_axis(axis);
    std::vector<int> tokens(static_cast<std::size_t>(tokens_.on(axis, length).count()));
    std::iota(tokens.begin(), tokens.end(), 0);
    if (f == value_form::tokens)
      tokens = {tokens.begin() + tokens_.first(axis, length, column),
                tokens.begin() + tokens_.first(axis, length, column + 1)};
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
