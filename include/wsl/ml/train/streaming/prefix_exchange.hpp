// SPDX-License-Identifier: MIT
// The exchange among the rows of workers that share a sequence. Attention reads keys and values of all tokens
// before its own. Before the stage they come along the column from the rows that have them, into the prefix
// of the activation store; in the backward pass they come once more, so that a row keeps those of one layer
// only, and after the stage their gradients go back and are added up.
//
//   row 0   tokens 0, 1    keys and values of 0, 1 to row 1, and from there to row 2
//   row 1   tokens 2, 3    keys and values of 2, 3 to row 2
//   row 2   tokens 4, 5    gradients for 0, 1 and then for 2, 3 to row 1, which adds its own for 0, 1
#pragma once
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "../../op/rows.hpp"
#include "column_exchange.hpp"
#include "row_tokens.hpp"

namespace wsl::ml {

class prefix_exchange {
 public:
  /// The part of the worker in a row, counted over all wafers, and a column of its wafer.
  prefix_exchange(const rows_of_wafers& rows, int row, bool is_last_of_wafer, const column_cut& cut,
                  int column, activation_store& store)
      : rows_(&rows), row_(row), is_last_(is_last_of_wafer), cut_(&cut), column_(column), store_(&store) {}

  /// Brings what stage s reads of the earlier tokens; done(me) is called at the end. The store shows what the
  /// stage reads.
  void bring(pe& me, column_exchange& on, const stage& s, std::function<void(pe&)> done) {
    begin(s);
    if (features_ == 0) return done(me);
    if (!s.given[0]) store_->round_value(s.inputs[0]);
    const row_tokens here = rows_->tokens_of(row_);
    const matrix<f32> x = read_part(store_->value(s.inputs[0]));
    std::vector<std::span<f32>> arriving;
    if (here.count() > 0 && here.tokens.first > 0) {
      const token_range mine = here.in_first_sequence();
      store_->begin_prefix(mine.end, features_);
      arriving = blocks(store_->prefix());
      copy(store_->prefix().part(mine.first, 0, mine.count(), features_),
           x.part(0, 0, mine.count(), features_));
    }
    if (after_) {
      make_packet(here.in_last_sequence().count());
      copy(packet(), last_rows(x));
    }
    on.bring(me, packet_, std::move(arriving), after_, std::move(done));
  }
  /// Adds the gradients that the later rows have made of this row's tokens to those of stage s's input.
  void give_back(pe& me, column_exchange& on, const stage& s, std::function<void(pe&)> done) {
    begin(s);
    if (features_ == 0) return done(me);
    std::vector<std::span<f32>> leaving;
    if (before_) leaving = blocks(store_->prefix_gradient());
    std::reverse(leaving.begin(), leaving.end());
    make_packet(after_ ? rows_->tokens_of(row_).in_last_sequence().count() : 0);
    // The next row reads after_ rows, the last of which is this one. So it has sums for after_ - 1 of the
    // rows before this one; for the others, which are farther away, this row is the first to add something.
    const int alone = after_ ? before_ - (after_ - 1) : before_;
    on.add_up(me, std::move(leaving), alone, packet_,
              [this, v = s.inputs[0], done = std::move(done)](pe& at) {
                if (after_) add(last_rows(read_part(store_->gradient(v))), packet());
                done(at);
              });
  }

 private:
  void begin(const stage& s) {
    const int window = s.reads_of_prefix().window;
    features_ = cut_->features_of_prefix(s, column_);
    before_ = rows_->rows_before(row_, window);
    after_ = is_last_ ? 0 : rows_->rows_before(row_ + 1, window);
    packet_.clear();
  }
  /// The features that are read, which are the last of the value on this column.
  matrix<f32> read_part(const matrix<f32>& x) const {
    return x.part(0, x.columns() - features_, x.rows(), features_);
  }
  /// The row's tokens of the last of its sequences.
  matrix<f32> last_rows(const matrix<f32>& x) const {
    const int n = rows_->tokens_of(row_).in_last_sequence().count();
    return x.part(x.rows() - n, 0, n, x.columns());
  }
  /// The numbers of the prefix that belong to the rows before this one, those of the nearest first.
  std::vector<std::span<f32>> blocks(const matrix<f32>& prefix) const {
    std::vector<std::span<f32>> all;
    for (int k = 1; k <= before_; ++k) {
      const token_range of = rows_->tokens_of(row_ - k).in_last_sequence();
      all.emplace_back(prefix.row(of.first),
                       static_cast<std::size_t>(of.count()) * static_cast<std::size_t>(features_));
    }
    return all;
  }
  void make_packet(int tokens) {
    packet_.resize(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(features_));
  }
  matrix<f32> packet() { return {packet_.data(), static_cast<int>(packet_.size()) / features_, features_}; }

  const rows_of_wafers* rows_;
  int row_;
  bool is_last_;
  const column_cut* cut_;
  int column_;
  activation_store* store_;
  int features_ = 0;            // of a token that are read
  int before_ = 0, after_ = 0;  // rows whose tokens this row reads, and whose tokens the next one reads
  std::vector<f32> packet_;     // of the row's own tokens in the last of its sequences
};

}  // namespace wsl::ml
