// SPDX-License-Identifier: MIT
// The exchange among the rows of workers that share an image. A stage that reads windows needs lines beyond
// the strip of its row. Before the stage they come along the column from the rows beside it, into the lines
// of the activation store; after the stage, in the backward pass, their gradients go back and are added to
// those of the rows that have them. Lines from farther away, where strips are thinner than a window, pass the
// rows between them.
//
//   row 0   lines 0, 1    line 1 to row 1; gradients for line 1 from row 1
//   row 1   lines 2, 3    line 2 to row 0, line 3 to row 2; gradients for line 1 and line 4 to their rows
//   row 2   lines 4, 5    line 4 to row 1
#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "../../op/rows.hpp"
#include "neighbour_exchange.hpp"
#include "row_tokens.hpp"

namespace wsl::ml {

class line_exchange {
 public:
  /// The part of the worker in a row, counted over all wafers, for a stage.
  line_exchange(const rows_of_wafers& rows, int row, bool is_first_of_wafer, bool is_last_of_wafer,
                const stage& s, int pixels_of_line, activation_store& store)
      : stage_(&s), width_(pixels_of_line), store_(&store), here_(rows.strips(row, s)) {
    if (here_.empty()) return;
    const image_strip &first = here_.front(), &last = here_.back();
    borrowed_north_ = {first.read.first, first.own.first}, borrowed_south_ = {last.own.end, last.read.end};
    if (!is_first_of_wafer && first.own.first > 0)
      lent_north_ = {first.own.first, std::max(first.own.first, rows.strips(row - 1, s).back().read.end)};
    if (is_last_of_wafer) return;
    const std::vector<image_strip> next = rows.strips(row + 1, s);
    if (!next.empty() && next.front().own.first > 0)
      lent_south_ = {std::min(last.own.end, next.front().read.first), last.own.end};
  }

  /// Brings the lines that the stage borrows; done(me) is called at the end. The store shows what the stage
  /// reads.
  void bring(pe& me, neighbour_exchange& on, std::function<void(pe&)> done) {
    if (here_.empty()) return done(me);
    if (!stage_->given[0]) store_->round_value(value());
    const matrix<f32> own = store_->value(value());
    if (own.columns() == 0) return done(me);
    if (borrows()) {
      store_->begin_lines(static_cast<int>(rows_of_lines()), own.columns());
      each_own([&](i64 in_lines, i64 in_value, int pixels) {
        copy(part(lines(), in_lines, pixels), part(own, in_value, pixels));
      });
    }
    passing_block south{span(lines(), first(), borrowed_north_), span(lines(), last(), lent_south_)},
        north{span(lines(), last(), borrowed_south_), span(lines(), first(), lent_north_)};
    // Lines that have come are in their places, from where they go on.
    south.waits = passes_south(), north.waits = passes_north();
    on.start(me, std::move(south), std::move(north), std::move(done));
  }

  /// Adds the gradients that other rows have made of this row's lines to those of the stage's input, and
  /// sends those of the borrowed lines to their rows.
  void give_back(pe& me, neighbour_exchange& on, std::function<void(pe&)> done) {
    if (here_.empty() || store_->value(value()).columns() == 0) return done(me);
    const matrix<f32> dx = store_->gradient_of_lines(value());
    room(gradients_north_, lent_north_, dx.columns()), room(gradients_south_, lent_south_, dx.columns());
    // The parts of the lent lines that this row has borrowed itself, from the other side: gradients of those
    // lent to the south go on to the north, and the other way round.
    const line_range on_to_north{lent_south_.first,
                                 std::max(lent_south_.first, std::min(lent_south_.end, last().own.first))},
        on_to_south{std::min(lent_north_.end, std::max(lent_north_.first, first().own.end)), lent_north_.end};
    passing_block north{gradients_south_, span(dx, first(), borrowed_north_)},
        south{gradients_north_, span(dx, last(), borrowed_south_)};
    if ((north.waits = passes_south()))
      north.arrived = [=, this] { add_to(dx, last(), on_to_north, gradients_south_, lent_south_); };
    if ((south.waits = passes_north()))
      south.arrived = [=, this] { add_to(dx, first(), on_to_south, gradients_north_, lent_north_); };
    on.start(me, std::move(south), std::move(north), [=, this, done = std::move(done)](pe& at) {
      add_to(dx, last(), {on_to_north.end, lent_south_.end}, gradients_south_, lent_south_);
      add_to(dx, first(), {lent_north_.first, on_to_south.first}, gradients_north_, lent_north_);
      if (borrows()) take_own(dx);
      done(at);
    });
  }

 private:
  int value() const { return stage_->inputs[0]; }
  const image_strip& first() const { return here_.front(); }
  const image_strip& last() const { return here_.back(); }
  bool borrows() const { return borrowed_north_.count() > 0 || borrowed_south_.count() > 0; }
  /// Whether lines of one neighbour are among those that go to the other.
  bool passes_south() const { return lent_south_.count() > 0 && lent_south_.first < last().own.first; }
  bool passes_north() const { return lent_north_.count() > 0 && lent_north_.end > first().own.end; }
  i64 rows_of_lines() const { return last().first_of_read + i64{last().read.count()} * width_; }
  matrix<f32> lines() { return store_->lines(value()); }

  static matrix<f32> part(const matrix<f32>& x, i64 row, int pixels) {
    return x.part(static_cast<int>(row), 0, pixels, x.columns());
  }
  /// The numbers of some lines of a strip.
  std::span<f32> span(const matrix<f32>& x, const image_strip& s, const line_range& of) const {
    if (of.count() <= 0) return {};
    return {x.row(row_of(s, of.first)), static_cast<std::size_t>(i64{of.count()} * width_ * x.columns())};
  }
  i64 row_of(const image_strip& s, int line) const {
    return s.first_of_read + i64{line - s.read.first} * width_;
  }
  /// Calls f(row among the lines, row of the value, pixels) for the row's own part of each image.
  template <class F>
  void each_own(F f) const {
    i64 in_value = 0;
    for (const image_strip& s : here_) {
      f(row_of(s, s.own.first), in_value, s.own.count() * width_);
      in_value += i64{s.own.count()} * width_;
    }
  }
  void room(std::vector<f32>& numbers, const line_range& of, int features) const {
    numbers.resize(static_cast<std::size_t>(i64{of.count()} * width_ * features));
  }
  /// Adds some of the lines that have come.
  void add_to(const matrix<f32>& dx, const image_strip& s, const line_range& some, std::vector<f32>& come,
              const line_range& all) {
    const std::span<f32> to = span(dx, s, some);
    const f32* const from = come.data() + i64{some.first - all.first} * width_ * dx.columns();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }
  void take_own(const matrix<f32>& dx) {
    bool overwrite = false;
    const matrix<f32> own = store_->gradient(value(), overwrite);
    each_own([&](i64 in_lines, i64 in_value, int pixels) {
      const matrix<f32> to = part(own, in_value, pixels), from = part(dx, in_lines, pixels);
      if (overwrite) copy(to, from);
      else add(to, from);
    });
  }

  const stage* stage_;
  int width_;
  activation_store* store_;
  std::vector<image_strip> here_;  // of this row
  // Lines that this row borrows from the row there, and that it lends to it.
  line_range borrowed_north_, lent_north_, borrowed_south_, lent_south_;
  // The gradients of the lent lines, as they come back from there.
  std::vector<f32> gradients_north_, gradients_south_;
};

}  // namespace wsl::ml
