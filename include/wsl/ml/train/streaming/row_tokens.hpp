// SPDX-License-Identifier: MIT
// The division of a batch among the rows of workers of all wafers. A wafer has some of the sequences. Its
// rows have whole ones, as evenly as possible; if there are more rows than sequences, all tokens of the wafer
// are cut evenly between the rows, in order. Then a row has a part of one sequence, or the end of one and the
// beginning of the next. Rows beyond the tokens have nothing to do.
//
//   sequence   0         1         2             3 sequences of 8 tokens on 4 rows: 6 tokens each
//              |-------| |-------| |-------|
//   row         0     1      2       3
//
// Images are cut between lines, those of all sizes at the same places: the unit of the cut is a line of the
// smallest images, and as many lines of the others.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "../../model/column_cut.hpp"
#include "micro_batch.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// The tokens of a row of workers, cut over its columns.
struct row_tokens {
  sequence_range sequences;  ///< of the batch, those of which the row has tokens
  int length = 1;            ///< tokens of a sequence
  token_range tokens;        ///< the row's, counted from the first token of the first of its sequences
  int columns = 1;
  bool keeps_sequences = false;  ///< the columns have whole sequences
  /// The row's lines of images, in units of the smallest, `of_image` of each; and the lines of the images on
  /// each axis of the model. Empty if a row does not have parts of images.
  token_range units = {};
  int of_image = 1;
  std::span<const int> lines = {};

  int count() const { return tokens.count(); }
  /// The row's tokens on an axis of the model where sequences have `length_there`. A row has whole sequences
  /// of models with several axes, unless it may have parts of images.
  token_range on(int axis, int length_there) const {
    if (!lines.empty()) return {pixel(units.first, axis, length_there), pixel(units.end, axis, length_there)};
    return axis == 0 ? tokens : token_range{0, sequences.count() * length_there};
  }
  /// The first token of a column there, counted among those of the row; that of column `columns` is the end.
  int first(int axis, int length_there, int column) const {
    const i64 parts = keeps_sequences ? sequences.count() : on(axis, length_there).count();
    return static_cast<int>(parts * column / columns) * (keeps_sequences ? length_there : 1);
  }
  /// The tokens of a column on all axes of the model, whose sequences have these lengths.
  std::vector<axis_tokens> of_column(const std::vector<int>& lengths, int column) const {
    std::vector<axis_tokens> axes;
    for (int axis = 0; axis < static_cast<int>(lengths.size()); ++axis) {
      const int there = lengths[static_cast<std::size_t>(axis)], begin = on(axis, there).first;
      axes.push_back({there,
                      on(axis, there),
                      {begin + first(axis, there, column), begin + first(axis, there, column + 1)}});
    }
    return axes;
  }
  /// The number of the first token of a column in the batch.
  i64 first_of_batch(int axis, int length_there, int column) const {
    return i64{sequences.begin} * length_there + on(axis, length_there).first +
           first(axis, length_there, column);
  }
  /// The positions of the row's tokens in the first of its sequences, and in the last.
  token_range in_first_sequence() const { return {tokens.first, std::min(tokens.end, length)}; }
  token_range in_last_sequence() const {
    const int before = (sequences.count() - 1) * length;
    return {std::max(tokens.first - before, 0), tokens.end - before};
  }

 private:
  /// The first pixel of a unit.
  int pixel(int unit, int axis, int pixels) const {
    const int here = lines[static_cast<std::size_t>(axis)];
    const i64 line = i64{here} * (unit % of_image) / of_image;
    return unit / of_image * pixels + static_cast<int>(line) * (pixels / here);
  }
};

class rows_of_wafers {
 public:
  /// The rows for a batch, or a micro-batch of it, of so many sequences. The cut outlives them.
  rows_of_wafers(const column_cut& cut, const wafer_grid& grid, int sequences, int length,
                 const micro_batch& of = {})
      : grid_(grid),
        sequences_(sequences),
        length_(length),
        of_(of),
        rows_keep_(cut.rows_keep_sequences()),
        columns_keep_(cut.keeps_sequences()),
        cut_(&cut) {}

  /// The row, counted over all wafers, of a worker.
  int row_at(coord worker) const {
    return grid_.wafer_of(worker.x) * grid_.rows + wires::index_in_column(worker.y);
  }
  /// Whether rows of a wafer may share a sequence.
  bool cuts_sequences() const {
    bool cuts = false;
    for (int wafer = 0; wafer < grid_.wafers; ++wafer) cuts = cuts || cuts_sequences_of(wafer);
    return cuts;
  }
  row_tokens tokens_of(int row) const {
    const int wafer = row / grid_.rows, here = row % grid_.rows;
    const sequence_range all = sequences_on(wafer);
    row_tokens t{{}, length_, {}, grid_.columns, columns_keep_};
    if (!cuts_sequences_of(wafer)) {
      const i64 count = all.count();
      t.sequences = {all.begin + static_cast<int>(count * here / grid_.rows),
                     all.begin + static_cast<int>(count * (here + 1) / grid_.rows)};
      t.tokens = {0, t.sequences.count() * length_};
      return t;
    }
    // In tokens, or in lines.
    t.lines = cut_->lines_of_images();
    const int each = t.lines.empty() ? length_ : *std::min_element(t.lines.begin(), t.lines.end());
    const i64 units = i64{all.count()} * each, rows = std::min<i64>(grid_.rows, units);
    t.of_image = each;
    if (here >= rows) {
      t.sequences = {all.end, all.end};
      return t;
    }
    const i64 first = units * here / rows, end = units * (here + 1) / rows;
    t.sequences = {all.begin + static_cast<int>(first / each),
                   all.begin + static_cast<int>((end + each - 1) / each)};
    const i64 before = i64{t.sequences.begin - all.begin} * each;
    t.units = {static_cast<int>(first - before), static_cast<int>(end - before)};
    t.tokens = t.lines.empty() ? t.units : t.on(0, length_);
    return t;
  }
  /// The lines with which a row computes a stage that reads windows of images.
  std::vector<image_strip> strips(int row, const stage& s) const {
    const row_tokens t = tokens_of(row);
    const auto here = [&](int v) {
      const image_size& of = cut_->image_of(v);
      return pixels_here{t.on(cut_->axis(v), of.pixels()), of.height, of.width};
    };
    return strips_of(t.sequences.count(), here(s.inputs[0]), here(s.output),
                     [&](int line) { return *s.reads_of_line(line); });
  }
  /// The pixels of its first input that a stage of images reads on a row, and those of them that it borrows.
  struct pixels_read {
    i64 all = 0, borrowed = 0;
  };
  pixels_read pixels(int row, const stage& s) const {
    pixels_read n;
    if (!cut_->reads_lines(s)) return n;
    for (const image_strip& x : strips(row, s)) {
      const i64 width = cut_->image_of(s.inputs[0]).width;
      n.all += x.read.count() * width, n.borrowed += (x.read.count() - x.own.count()) * width;
    }
    return n;
  }
  /// Whether rows borrow lines from others for a stage.
  bool borrow_lines(const stage& s) const {
    bool any = false;
    for (int row = 0; row < grid_.rows * grid_.wafers && !any; ++row) any = pixels(row, s).borrowed > 0;
    return any;
  }
  /// How many of the rows before this one have tokens that those of this row see in the same sequence, if a
  /// token sees itself and the window - 1 tokens before it, or all of them if the window is 0.
  int rows_before(int row, int window) const {
    const row_tokens here = tokens_of(row);
    if (here.count() == 0) return 0;
    const int position = here.tokens.first, needed = window ? std::max(0, position - window + 1) : 0;
    int rows = 0;
    for (int first = position; first > needed; first = tokens_of(row - rows).in_last_sequence().first) ++rows;
    return rows;
  }

 private:
  sequence_range sequences_on(int wafer) const { return of_.on_wafer(wafer, grid_.wafers, sequences_); }
  bool cuts_sequences_of(int wafer) const {
    const int here = sequences_on(wafer).count();
    return !rows_keep_ && here > 0 && here < grid_.rows;
  }

  wafer_grid grid_;
  int sequences_, length_;
  micro_batch of_;
  bool rows_keep_, columns_keep_;
  const column_cut* cut_;
};

}  // namespace wsl::ml
