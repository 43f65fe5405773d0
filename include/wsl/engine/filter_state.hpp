// SPDX-License-Identifier: MIT
// The state of a filter in the router of one PE, as the machine has it: a range of indices, or a counter that
// advances with every wavelet. layout/filters.hpp describes the filters of whole paths.
#pragma once
#include "../core/coord.hpp"
#include "../core/wavelet.hpp"
#include "../layout/changes.hpp"

namespace wsl::engines {

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

  /// Whether the processor gets this wavelet, if it is the next one.
  constexpr bool keeps(const wavelet& w) const {
    const i64 number = by_index_ ? i64{w.bits >> 16} : seen_;
    return (w.control && !holds_control_) || (number >= first_ && number <= last_);
  }
  /// Records that the wavelet has passed.
  constexpr void count(const wavelet& w) {
    if (!by_index_ && counts_[w.control] && ++seen_ == period_) seen_ = 0;
  }

 private:
  bool by_index_ = false, holds_control_ = false;
  bool counts_[2] = {true, false};  // data, control
  i64 first_ = 0, last_ = 0, period_ = 1, seen_ = 0;
};

}  // namespace wsl::engines
