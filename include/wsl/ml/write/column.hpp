// SPDX-License-Identifier: MIT
// A PE of a writer: a column with its part of the model's weights, and the keys and values of its heads. A
// block of tokens goes through the layers branch by branch: a task computes the column's part of one, and the
// next one starts when the columns of the row have added up their parts. The logits are gathered at the first
// column.
//
//        x --- norm - q k v - attention - projection --- all-reduce --- + --- ...
//    every      own heads, own keys and values    own part    the row    every column
#pragma once
#include "../../collective/all_reduce.hpp"
#include "../../collective/gather.hpp"
#include "../../wsl.hpp"
#include "decoder_part.hpp"

namespace wsl::ml {

inline constexpr all_reduce<f32> sum_of_columns{.first = 0, .among = each_row};
inline constexpr gather<f32> logits_of_columns{.first = 4, .among = each_row};

class writer_column {
 public:
  std::vector<f32> logits;  ///< on the first column: those of each column, (columns, rows, largest share)

  void load(pe& me, const decoder_plan* plan) { part_ = decoder_part(*plan, me.x()), plan_ = plan; }
  void resize(pe&, int texts, int capacity) { part_.resize(texts, capacity); }
  /// Gives all texts the first tokens of text 0.
  void copy_first_text(pe&, int tokens) { part_.copy_first_text(tokens); }
  /// Computes a block of tokens and the logits of its last rows.
  void pass(pe& me, const token_block* b) {
    block_ = b, branch_ = 0;
    part_.embed(room(x_, b->rows(), part_.width()), *b);
    adding_.start(me, mem(std::span(x_)), then<&writer_column::go_on>());
  }
  /// The bytes of weights that this column reads for a token.
  i64 bytes() const { return part_.bytes(); }

 private:
  /// The columns have added up the embedding, or what a branch adds to x.
  void go_on(pe& me) {
    const matrix<f32> x = room(x_, block_->rows(), part_.width()),
                      y = room(y_, block_->rows(), part_.width());
    if (branch_ == 0) part_.finish_embedding(x, *block_);
    else add(x, y);
    const int in_layer = part_.is_sequential() ? 2 : 1, layer = branch_ / in_layer;
    if (layer == plan_->config.layers) return finish(me, x);
    if (branch_ % in_layer == 0) part_.first_branch(y, x, *block_, layer);
    else part_.second_branch(y, x, *block_, layer);
    ++branch_;
    adding_.start(me, mem(std::span(y_)), then<&writer_column::go_on>());
  }
  void finish(pe& me, const matrix<f32>& x) {
    if (block_->rows_of_logits() == 0) return;
    part_.logits(room(own_, block_->rows_of_logits(), plan_->largest_share_of_vocabulary()), x, *block_);
    if (me.x() > 0) return collecting_.start(me, mem(std::span(own_)));
    logits.resize(own_.size() * static_cast<std::size_t>(me.width()));
    collecting_.start(me, mem(std::span(own_)), mem(std::span(logits)));
  }
  static matrix<f32> room(std::vector<f32>& of, int rows, int columns) {
    of.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    return {of.data(), rows, columns};
  }

  const decoder_plan* plan_ = nullptr;
  decoder_part part_;
  const token_block* block_ = nullptr;
  int branch_ = 0;  // the next one
  std::vector<f32> x_, y_, own_;
  endpoint<sum_of_columns> adding_;
  endpoint<logits_of_columns> collecting_;

 public:
  using tasks = task_list<launch<&writer_column::load>, launch<&writer_column::resize>,
                          launch<&writer_column::copy_first_text>, launch<&writer_column::pass>,
                          long_running<local<&writer_column::go_on>>, use<&writer_column::adding_>,
                          use<&writer_column::collecting_>>;
};

}  // namespace wsl::ml
