// SPDX-License-Identifier: MIT
// y[t] = row id[t] of a table, plus the row of its position if there is a table of positions. While the slabs
// of a table come by, a PE takes the rows of its tokens; those that no token needs may stay away.
#pragma once
#include <algorithm>

#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class embedding_stage final : public stage {
 public:
  /// The parameters are the table of tokens, (vocabulary, width), and that of positions, (positions, width).
  explicit embedding_stage(int y) : y_(y) {}

  void forward(place& at) const override { clear(at.value(y_)); }
  void forward(place& at, const weight_tile& s) const override {
    const matrix<f32> y = at.value(y_);
    each(at, s,
         [&](int t, int row) { add(y.part(t, 0, 1, y.columns()), s.rows.part(row, 0, 1, y.columns())); });
  }
  void backward(place& at, const weight_tile& s, const matrix<f32>& gradient) const override {
    const matrix<f32> dy = at.gradient(y_);
    clear(gradient);
    each(at, s, [&](int t, int row) {
      add(gradient.part(row, 0, 1, dy.columns()), dy.part(t, 0, 1, dy.columns()));
    });
  }
  bool needs_weight_in_backward(int) const override { return false; }
  rows_needed needs(int which) const override {
    return which == 0 ? rows_needed::of_ids : rows_needed::of_positions;
  }

 private:
  /// Calls f(token, row) for the tokens whose row is in the slab.
  template <class F>
  void each(const place& at, const weight_tile& s, F f) const {
    for (int t = 0; t < at.tokens(); ++t) {
      const int row = row_in(s, s.which == 0 ? at.ids[static_cast<std::size_t>(t)] : t % at.length());
      if (row >= 0 && row < s.rows.rows()) f(t, row);
    }
  }
  /// Where a slab has a row of the table; -1 or beyond its end if it has not.
  static int row_in(const weight_tile& s, i32 row) {
    if (s.gathered_rows.empty()) return row - s.row;
    const auto found = std::lower_bound(s.gathered_rows.begin(), s.gathered_rows.end(), row);
    return found != s.gathered_rows.end() && *found == row ? static_cast<int>(found - s.gathered_rows.begin())
                                                           : -1;
  }

  int y_;
};

}  // namespace wsl::ml
