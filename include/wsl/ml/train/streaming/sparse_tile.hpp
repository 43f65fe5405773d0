// SPDX-License-Identifier: MIT
// A tile of sparse weights on its way to the wafer, as words:
//   rows          the number of nonzeros of each row, u16, two in a word
//   nonzeros      the column of each nonzero, u16, two in a word, row by row
//   nonzeros      their values in the format of the weights, if the stage reads them
// A last number of 16 bits that is alone in its word is followed by zero. The gradients of the nonzeros come
// back as f32 in the same order, without anything else.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "../../../linalg/sparse_pattern.hpp"
#include "../../../linalg/sparse_rows.hpp"
#include "../../op/precision.hpp"

namespace wsl::ml {

/// The sizes of a tile.
struct sparse_tile_form {
  int rows = 0, columns = 0;
  std::size_t nonzeros = 0;
  bool has_values = true;

  static constexpr f64 words_of_nonzero = 1.5;  ///< a column and a number of f32

  std::size_t words_of_rows() const { return halves(static_cast<std::size_t>(rows)); }
  std::size_t words_of_columns() const { return halves(nonzeros); }
  std::size_t words(precision as) const {
    return words_of_rows() + words_of_columns() + (has_values ? words_of(as, nonzeros) : 0);
  }

 private:
  static std::size_t halves(std::size_t n) { return n / 2 + n % 2; }
};

/// The words of the rows of a pattern from `row` on, with their values, which are those of the tile alone.
inline std::span<f32> pack_sparse(precision as, const sparse_tile_form& f, const sparse_pattern& p, int row,
                                  std::span<f32> values, std::vector<f32>& words, std::vector<f32>& room) {
  words.resize(f.words(as));
  const auto put = [](f32*& to, std::size_t in_words, auto number, std::size_t n) {
    u16* const halves = reinterpret_cast<u16*>(to);
    for (std::size_t i = 0; i < n; ++i) halves[i] = static_cast<u16>(number(i));
    if (n % 2) halves[n] = 0;
    to += in_words;
  };
  f32* to = words.data();
  put(
      to, f.words_of_rows(), [&](std::size_t i) { return p.row(row + static_cast<int>(i)).size(); },
      static_cast<std::size_t>(f.rows));
  const i32* const column = p.column().data() + p.first(row);
  put(to, f.words_of_columns(), [&](std::size_t i) { return column[i]; }, f.nonzeros);
  if (f.has_values) std::ranges::copy(pack(as, values, room), to);
  return words;
}

/// A tile that has come.
class sparse_tile {
 public:
  /// A view of the words, valid until the next call; they must stay as they are.
  const sparse_rows& operator()(precision as, const sparse_tile_form& f, f32* words) {
    const u16* const count = reinterpret_cast<const u16*>(words);
    first_.resize(static_cast<std::size_t>(f.rows) + 1);
    for (std::size_t r = 0; r < static_cast<std::size_t>(f.rows); ++r) first_[r + 1] = first_[r] + count[r];
    words += f.words_of_rows();
    rows_ = {f.rows, f.columns, first_.data(), reinterpret_cast<const u16*>(words), nullptr};
    words += f.words_of_columns();
    if (f.has_values) rows_.value = unpack(as, words, f.nonzeros, wide_);
    return rows_;
  }

 private:
  sparse_rows rows_;
  std::vector<u32> first_;
  std::vector<f32> wide_;
};

}  // namespace wsl::ml
