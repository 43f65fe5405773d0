// SPDX-License-Identifier: MIT
// A filter stands between a router and the processor of its PE: of a color that passes, the processor gets only some wavelets. What
// the router passes on to neighbours is not filtered. One path may serve a row of PEs of which each keeps its own part:
//   .path(red, columns(1, end), west >> (ramp | east), range_filter{.first = 0, .last = 9, .per_column = 10})
// Control wavelets pass every filter. See examples/17_filters.cpp.
#pragma once
#include "../core/coord.hpp"

namespace wsl {

/// Keeps the first `keep` of every `period` wavelets (CSL: max_counter is keep - 1, limit1 is period - 1). The PE begins to count
/// with `start`; from column to column and from row to row of the path that grows by `per_column` and `per_row`.
struct counter_filter {
  int keep = 0, period = 0;
  int start = 0;
  int per_column = 0, per_row = 0;
};

/// Keeps the wavelets `first` to `last` of every `period`, counted from 0. From column to column and from row to row of the path
/// both move on by `per_column` and `per_row`.
struct sparse_counter_filter {
  int first = 0, last = 0, period = 0;
  int per_column = 0, per_row = 0;
};

/// Keeps wavelets whose index, the high half of the payload, is `first` to `last`. From column to column and from row to row of the
/// path both move on by `per_column` and `per_row`.
struct range_filter {
  int first = 0, last = 0;
  int per_column = 0, per_row = 0;
};

/// The filter of one path, on all its PEs: it keeps wavelets whose index is `first` to `last`, or the first `last` + 1 of every
/// `period`. What moves from PE to PE is the range of the index, or where the PE begins to count.
struct filter_record {
  int path = 0;  ///< which of the layout's paths
  bool by_index = false;
  int first = 0, last = 0;
  int period = 0, start = 0;
  int per_column = 0, per_row = 0;

  constexpr filter_record() = default;
  constexpr filter_record(int of, const counter_filter& f)
      : path(of), last(f.keep - 1), period(f.period), start(f.start), per_column(f.per_column), per_row(f.per_row) {}
  constexpr filter_record(int of, const sparse_counter_filter& f)
      : path(of), last(f.last - f.first), period(f.period), start(-f.first), per_column(-f.per_column), per_row(-f.per_row) {}
  constexpr filter_record(int of, const range_filter& f)
      : path(of), by_index(true), first(f.first), last(f.last), per_column(f.per_column), per_row(f.per_row) {}

  constexpr bool sensible() const { return first <= last && (by_index || (first >= 0 && last < period)); }
};

/// A filter on one PE, as the machine has it.
class filter_state {
 public:
  constexpr filter_state() = default;
  /// For the PE in this column and row of the path's region.
  constexpr filter_state(const filter_record& f, coord rank) : by_index_(f.by_index), first_(f.first), last_(f.last), period_(f.period) {
    const i64 moved = i64{rank.x} * f.per_column + i64{rank.y} * f.per_row;
    if (by_index_) first_ += moved, last_ += moved;
    else seen_ = ((f.start + moved) % period_ + period_) % period_;
  }

  /// Does the processor get this data wavelet, if it is the next one?
  constexpr bool keeps(u32 payload) const {
    const i64 number = by_index_ ? i64{payload >> 16} : seen_;
    return number >= first_ && number <= last_;
  }
  /// It has passed.
  constexpr void count() {
    if (!by_index_ && ++seen_ == period_) seen_ = 0;
  }

 private:
  bool by_index_ = false;
  i64 first_ = 0, last_ = 0, period_ = 1, seen_ = 0;
};

}  // namespace wsl
