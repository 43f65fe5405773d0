// SPDX-License-Identifier: MIT
// A filter stands between a router and the processor of its PE, and lets only some wavelets of a color
// through. Wavelets that the router passes on to neighbours are not filtered. One path may serve a row of PEs
// of which each keeps its own part:
//   .path(red, columns(1, edge), west >> (ramp | east),
//         range_filter{.first = 0, .last = 9, .per_column = 10})
// Control wavelets pass every filter except a counter that holds them. See examples/17_filters.cpp.
#pragma once
#include "change_rules.hpp"

namespace wsl {

namespace detail {

/// Requires that `p` is the last path of the layout.
constexpr void add_filter(layout& l, path_record& p, filter_record f) {
  f.path = l.paths().size() - 1;
  if (!f.sensible())
    faults::a_filter_keeps_some_of_the_wavelets_it_counts(p.color, f.first, f.last, f.period);
  if (l.filters().full()) faults::the_layout_has_more_filters_than_it_can_hold(layout::max_filters);
  l.add(f, rules::of_changes);
}

}  // namespace detail

/// Keeps the first `keep` of every `period` wavelets (CSL: max_counter is keep - 1, limit1 is period - 1).
/// The counter begins with `start`, which grows by `per_column` from column to column of the path and by
/// `per_row` from row to row. It may count control wavelets too, or instead of data; in the latter case a
/// control wavelet ends each part of the stream, and `keep` of every `period` parts are kept.
struct counter_filter {
  int keep = 0, period = 0;
  int start = 0;
  int per_column = 0, per_row = 0;
  bool counts_data = true, counts_control = false;
  bool holds_control = false;  ///< control wavelets pass only where data does

  constexpr void give_to(layout& l, path_record& p) const {
    detail::add_filter(l, p,
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
    detail::add_filter(l, p,
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
    detail::add_filter(
        l, p, {.by_index = true, .first = first, .last = last, .per_column = per_column, .per_row = per_row});
  }
};

}  // namespace wsl
