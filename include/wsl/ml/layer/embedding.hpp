// SPDX-License-Identifier: MIT
// y[t] = row ids[t] of a table of tokens, plus the row of the position if there is a table of positions. As
// the weight tiles of a table come, a PE picks the rows of its tokens; rows that no token needs may stay
// away. The input is a value of one id for each token; where a batch may leave it out, all are 0.
#pragma once
#include <algorithm>
#include <optional>

#include "../op/rows.hpp"
#include "stage.hpp"
#include "token_position.hpp"

namespace wsl::ml {

class embedding_stage final : public stage {
 public:
  /// The parameters are the table of tokens, (vocabulary, width), and that of positions, (positions, width).
  /// The position of the first token of a sequence is row `first_position` of that table.
  /// An id that is `padding` has the row before that one, and is not counted. One that is `not_learnt` gives
  /// its row no gradient, nor that of such a position. A second input, of ids, may say the positions.
  explicit embedding_stage(int y, int first_position = 0, std::optional<i32> padding = {},
                           std::optional<i32> not_learnt = {})
      : y_(y), first_position_(first_position), padding_(padding), not_learnt_(not_learnt) {}

  stage_cut how_cut() const override { return stage_cut::by_rows_of_table; }

  void forward(activation_store& store) const override { clear(store.value(y_)); }
  void forward(activation_store& store, const weight_tile& s) const override {
    const matrix<f32> y = store.value(y_);
    each(store, s,
         [&](int t, int row) { add(y.part(t, 0, 1, y.columns()), s.rows.part(row, 0, 1, y.columns())); });
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    const matrix<f32> dy = store.gradient(y_);
    clear(gradient);
    const std::span<const i32> ids = store.ids(inputs[0]);
    each(store, s, [&](int t, int row) {
      const bool is_learnt = !not_learnt_ || ids.empty() || ids[static_cast<std::size_t>(t)] != *not_learnt_;
      if (is_learnt || (s.which == 1 && !padding_))
        add(gradient.part(row, 0, 1, dy.columns()), dy.part(t, 0, 1, dy.columns()));
    });
  }
  bool needs_weight_in_backward(int) const override { return false; }
  row_selection rows_read(int which) const override {
    return which == 0 ? row_selection::of_ids : padding_ ? row_selection::all : row_selection::of_positions;
  }
  int first_position() const override { return first_position_; }
  bool needs_whole_sequences() const override { return padding_.has_value(); }

 private:
  /// Calls f(token, row of the tile) for the tokens whose row is in the tile.
  template <class F>
  void each(const activation_store& store, const weight_tile& s, F f) const {
    const std::span<const i32> ids = store.ids(inputs[0]);
    int before = 0;  // tokens of the sequence that have a position
    for (int t = 0; t < store.tokens(); ++t) {
      const i32 id = ids.empty() ? 0 : ids[static_cast<std::size_t>(t)];
      if (store.position(t) == 0) before = 0;
      const int position = !padding_ ? position_of(store, *this, t) : id == padding_ ? -1 : before++;
      const int row = row_in(s, s.which == 0 ? id : first_position_ + position);
      if (row >= 0 && row < s.rows.rows()) f(t, row);
    }
  }
  /// The row of the tile that is this row of the table; negative or beyond the tile if it has none.
  static int row_in(const weight_tile& s, i32 row) {
    if (s.gathered_rows.empty()) return row - s.row;
    const auto found = std::lower_bound(s.gathered_rows.begin(), s.gathered_rows.end(), row);
    return found != s.gathered_rows.end() && *found == row ? static_cast<int>(found - s.gathered_rows.begin())
                                                           : -1;
  }

  int y_, first_position_;
  std::optional<i32> padding_, not_learnt_;
};

}  // namespace wsl::ml
