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
#include "layer_parts.hpp"

namespace wsl::ml {

inline constexpr all_reduce<f32> sum_of_columns{.first = 0, .among = each_row};
inline constexpr gather<f32> logits_of_columns{.first = 4, .among = each_row};

/// `Part` is decoder_part or encoder_decoder_part: what a column computes alone.
template <class Part>
class writer_column {
 public:
  using plan = typename Part::plan;

  std::vector<f32> logits;  ///< on the first column: those of each column, (columns, rows, largest share)

  void load(pe& me, const plan* p) { part_ = Part(*p, me.x()), plan_ = p; }
  void resize(pe&, int texts, int capacity) { part_.resize(texts, capacity); }
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
    else part_.join(x, y, *block_, branch_ - 1);
    if (branch_ == part_.branches(*block_)) return finish(me, x);
    part_.branch(y, x, *block_, branch_++);
    adding_.start(me, mem(std::span(y_)), then<&writer_column::go_on>());
  }
  void finish(pe& me, const matrix<f32>& x) {
    if constexpr (requires { part_.keep_source(x, *block_); })
      if (block_->of_encoder) return part_.keep_source(x, *block_);
    if (block_->rows_of_logits() == 0) return;
    part_.logits(room(own_, block_->rows_of_logits(), plan_->weights.largest_share(plan_->config.vocabulary)),
                 x, *block_);
    if (me.x() > 0) return collecting_.start(me, mem(std::span(own_)));
    logits.resize(own_.size() * static_cast<std::size_t>(me.width()));
    collecting_.start(me, mem(std::span(own_)), mem(std::span(logits)));
  }

  const plan* plan_ = nullptr;
  Part part_;
  const token_block* block_ = nullptr;
  int branch_ = 0;  // the next one
  std::vector<f32> x_, y_, own_;
  endpoint<sum_of_columns> adding_;
  endpoint<logits_of_columns> collecting_;

 public:
  using tasks = task_list<launch<&writer_column::load>, launch<&writer_column::resize>,
                          launch<&writer_column::pass>, long_running<local<&writer_column::go_on>>,
                          use<&writer_column::adding_>, use<&writer_column::collecting_>>;
};

}  // namespace wsl::ml
