// SPDX-License-Identifier: MIT
// The fabric of a writer, a row of PEs with a model that is cut over them, as the host sees it: it launches
// a block of tokens, and reads the logits of its last rows.
#pragma once
#include <fmt/format.h>

#include "column.hpp"
#include "cut_weights.hpp"

namespace wsl::ml {

template <class Part>
class row_of_columns {
 public:
  using plan = typename Part::plan;
  using column = writer_column<Part>;

  row_of_columns(plan p, int threads)
      : plan_(std::make_unique<plan>(std::move(p))),
        fabric_(layout{host, plan_->weights.columns, 1}.template place<column>(all).wire(sum_of_columns,
                                                                                         logits_of_columns),
                threaded{.threads = threads, .pes_per_partition = 1, .cut_lines = true}) {
    fabric_.template launch<&column::load>(all, static_cast<const plan*>(plan_.get()));
  }

  const plan& of() const { return *plan_; }
  int columns() const { return plan_->weights.columns; }
  fabric& wafer() { return fabric_; }
  /// The bytes of weights that a token reads.
  i64 bytes_of_weights() {
    i64 n = 0;
    for (int x = 0; x < columns(); ++x) n += fabric_.template program_at<column>({x, 0}).bytes();
    return n;
  }

  /// Makes room for some texts of at most `capacity` tokens.
  void resize(int texts, int capacity) { fabric_.template launch<&column::resize>(all, texts, capacity); }
  /// Computes a block, and returns the logits of its last rows, (rows, vocabulary), which are valid until the
  /// next block.
  std::span<const f32> pass(const token_block& b) {
    fabric_.template launch<&column::pass>(all, &b);
    const int rows = b.rows_of_logits(), words = plan_->config.vocabulary,
              largest = plan_->weights.largest_share(words);
    const f32* from = fabric_.template program_at<column>({0, 0}).logits.data();
    const matrix<f32> side_by_side = room(logits_, rows, words);
    for (int c = 0; c < columns() && rows; ++c) {
      const feature_run own = plan_->weights.share(words, c);
      for (int t = 0; t < rows; ++t, from += largest)
        std::copy_n(from, own.count, side_by_side.row(t) + own.first);
    }
    return logits_;
  }

 private:
  std::unique_ptr<plan> plan_;
  fabric fabric_;
  std::vector<f32> logits_;
};

/// Refuses a second use of a writer while it is writing.
class writer_in_use {
 public:
  /// `called` is the function that writing calls.
  writer_in_use(bool& is_used, std::string_view called) : is_used_(is_used) {
    if (is_used)
      throw std::invalid_argument(
          fmt::format("wsl: this writer is writing a text: {} must not call write or logits of the same "
                      "writer; take the logits that it is given, or another writer",
                      called));
    is_used = true;
  }
  writer_in_use(const writer_in_use&) = delete;
  writer_in_use& operator=(const writer_in_use&) = delete;
  ~writer_in_use() { is_used_ = false; }

 private:
  bool& is_used_;
};

/// The columns of a writer, where 0 means as many as there are threads. Throws std::invalid_argument for a
/// number of columns, or a format, that no writer has.
inline int columns_of_writer(int columns, int threads, precision format) {
  constexpr int most_columns = 64;
  if (format != precision::f32 && format != precision::bfloat16)
    throw std::invalid_argument(fmt::format(
        "wsl: a writer keeps weights as f32 or bfloat16, not as {}: f32 holds all of them exactly",
        name_of(format)));
  if (columns < 0 || columns > most_columns)
    throw std::invalid_argument(fmt::format(
        "wsl: a writer has 1 to {} columns, or 0 for as many as threads, not {}", most_columns, columns));
  return columns ? columns : std::clamp(threads > 0 ? threads : default_threads(), 1, most_columns);
}

/// Throws std::invalid_argument for a token that is not in the vocabulary.
inline void check_token(std::string_view who, i32 id, int vocabulary) {
  if (id < 0 || id >= vocabulary)
    throw std::invalid_argument(fmt::format("wsl: {} token {} of a vocabulary of {}", who, id, vocabulary));
}

}  // namespace wsl::ml
