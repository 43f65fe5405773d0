// SPDX-License-Identifier: MIT
// A filter stands between a router and the processor of its PE: of a color that passes, the processor gets
// only some wavelets. What the router passes on to neighbours is not filtered. One path may serve a row of
// PEs of which each keeps its own part:
//   .path(red, columns(1, edge), west >> (ramp | east), range_filter{.first = 0, .last = 9, .per_column = 10})
// Control wavelets pass every filter but a counter that says otherwise. See examples/17_filters.cpp.
#pragma once
#include "change_rules.hpp"

namespace wsl {

/// Requires that `p` is the last path of the layout.
constexpr void add_filter(layout& l, path_record& p, filter_record f) {
  f.path = l.paths().size() - 1;
  if (!f.sensible())
    misuse::a_filter_keeps_some_of_the_wavelets_it_counts(p.color, f.first, f.last, f.period);
  if (l.filters().full()) misuse::the_layout_has_more_filters_than_it_can_hold(layout::max_filters);
  l.add(f, rules::of_changes);
}

/// Keeps the first `keep` of every `period` wavelets (CSL: max_counter is keep - 1, limit1 is period - 1).
/// The PE begins to count with `start`; from column to column and from row to row of the path that grows by
/// `per_column` and `per_row`. It may count control wavelets, also instead of data: then each of them ends a
/// part of the stream, of which every so many are kept.
struct counter_filter {
  int keep = 0, period = 0;
  int start = 0;
  int per_column = 0, per_row = 0;
  bool counts_data = true, counts_control = false;
  bool holds_control = false;  ///< control wavelets pass only where data does

  constexpr void give_to(layout& l, path_record& p) const {
    add_filter(l, p,
               {.last = keep - 1,
                .period = period,
                .start = start,
                .per_column = per_column,
                .per_row = per_row,
                .counts_data = counts_data,
                .counts_control = counts_control,
                .holds_control = holds_control});
  }
};

/// Keeps the wavelets `first` to `last` of every `period`, counted from 0. From column to column and from row
/// to row of the path both move on by `per_column` and `per_row`.
struct sparse_counter_filter {
  int first = 0, last = 0, period = 0;
  int per_column = 0, per_row = 0;

  constexpr void give_to(layout& l, path_record& p) const {
    add_filter(l, p,
               {.last = last - first,
                .period = period,
                .start = -first,
                .per_column = -per_column,
                .per_row = -per_row});
  }
};

/// Keeps wavelets whose index, the high half of the payload, is `first` to `last`. From column to column and
/// from row to row of the path both move on by `per_column` and `per_row`.
struct range_filter {
  int first = 0, last = 0;
  int per_column = 0, per_row = 0;

  constexpr void give_to(layout& l, path_record& p) const {
    add_filter(
        l, p, {.by_index = true, .first = first, .last = last, .per_column = per_column, .per_row = per_row});
  }
};

/// A filter on one PE, as the machine has it.
class filter_state {
 public:
  constexpr filter_state() = default;
  /// For the PE in this column and row of the path's region.
  constexpr filter_state(const filter_record& f, coord rank)
      : by_index_(f.by_index),
        holds_control_(f.holds_control),
        counts_{f.counts_data, f.counts_control},
        first_(f.first),
        last_(f.last),
        period_(f.period) {
    const i64 moved = i64{rank.x} * f.per_column + i64{rank.y} * f.per_row;
    if (by_index_) first_ += moved, last_ += moved;
    else seen_ = ((f.start + moved) % period_ + period_) % period_;
  }

  /// Does the processor get this wavelet, if it is the next one?
  constexpr bool keeps(const wavelet& w) const {
    const i64 number = by_index_ ? i64{w.bits >> 16} : seen_;
    return (w.control && !holds_control_) || (number >= first_ && number <= last_);
  }
  /// It has passed.
  constexpr void count(const wavelet& w) {
    if (!by_index_ && counts_[w.control] && ++seen_ == period_) seen_ = 0;
  }

 private:
  bool by_index_ = false, holds_control_ = false;
  bool counts_[2] = {true, false};  // data, control
  i64 first_ = 0, last_ = 0, period_ = 1, seen_ = 0;
};

}  // namespace wsl
