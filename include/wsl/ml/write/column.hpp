// SPDX-License-Identifier: MIT
// A PE of a writer: a column with its part of the model's weights, and the keys and values of its heads. A
// block of tokens goes through the layers in one task, which waits twice a layer, or once where the branches
// are parallel, until the columns of the row have added up their parts. The logits are gathered at the first
// column.
//
//        x --- norm - q k v - attention - projection --- all-reduce --- + --- ...
//    every      own heads, own keys and values    own part    the row    every column
#pragma once
#include "../../collective/all_reduce.hpp"
#include "../../collective/awaited.hpp"
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
  task pass(pe& me, const token_block* b) {
    const matrix<f32> x = room(x_, b->rows(), part_.width()), y = room(y_, b->rows(), part_.width());
    part_.embed(x, *b);
    co_await adding_(me, mem(std::span(x_)));
    part_.finish_embedding(x, *b);
    for (int l = 0; l < plan_->config.layers; ++l) {
      part_.first_branch(y, x, *b, l);
      co_await adding_(me, mem(std::span(y_)));
      add(x, y);
      if (!part_.is_sequential()) continue;
      part_.second_branch(y, x, *b, l);
      co_await adding_(me, mem(std::span(y_)));
      add(x, y);
    }
    if (b->rows_of_logits() == 0) co_return;
    part_.logits(room(own_, b->rows_of_logits(), plan_->largest_share_of_vocabulary()), x, *b);
    if (me.x() == 0) {
      logits.resize(own_.size() * static_cast<std::size_t>(me.width()));
      co_await collecting_(me, mem(std::span(own_)), mem(std::span(logits)));
    } else co_await collecting_(me, mem(std::span(own_)));
  }
  /// The bytes of weights that this column reads for a token.
  i64 bytes() const { return part_.bytes(); }

 private:
  static matrix<f32> room(std::vector<f32>& of, int rows, int columns) {
    of.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    return {of.data(), rows, columns};
  }

  const decoder_plan* plan_ = nullptr;
  decoder_part part_;
  std::vector<f32> x_, y_, own_;
  awaited<sum_of_columns> adding_;
  awaited<logits_of_columns> collecting_;

 public:
  using tasks = task_list<launch<&writer_column::load>, launch<&writer_column::resize>,
                          launch<&writer_column::copy_first_text>, launch<&writer_column::pass>,
                          use<&writer_column::adding_>, use<&writer_column::collecting_>>;
};

}  // namespace wsl::ml
