// SPDX-License-Identifier: MIT
// The columns and rows that a drawing of a wafer leaves out. Paths and placements cover strided areas, so
// along one axis a layout is a few runs of columns (or rows) that repeat with a short period: a drawing shows
// both ends of each run and a gap that says how many columns continue the pattern. The cost grows with the
// areas and with what is shown, never with the number of PEs.
#pragma once
#include "../layout.hpp"

namespace wsl::drawing {

/// The columns (or rows) of a region: from, from + every, ... below to.
struct stripe {
  int from = 0, to = 0, every = 1;
  friend constexpr bool operator==(const stripe&, const stripe&) = default;
};

/// One place of a drawing: a column (or row), or a gap that stands for `count` of them.
struct slot {
  int first = 0, count = 1;
  bool gap = false;
  bool alike = true;  ///< for a gap: the hidden columns continue the pattern at its sides
  constexpr int last() const { return first + count - 1; }
  friend constexpr bool operator==(const slot&, const slot&) = default;
};

using slots = support::inplace_vector<slot, 128>;

/// Whether the slots of an axis leave something out that continues the pattern, or that does not.
inline bool has_gap(const slots& shown, bool alike) {
  for (const slot& s : shown)
    if (s.gap && s.alike == alike) return true;
  return false;
}

class axis {
 public:
  explicit axis(int extent) : extent_(extent) {}

  /// Takes the columns of one more region into account.
  void add(const stripe& s) {
    for (const stripe& known : stripes_)
      if (known == s) return;
    stripes_.push_back(s);
  }

  /// The slots to draw, at most about `room` of them: all of a short axis, else one or two periods at both
  /// ends of each run; if even these do not fit, as many as fit at both ends of the axis. A gap needs the
  /// room of two columns; 16 <= room <= 100.
  slots fit(int room) const {
    if (extent_ <= 16) return collect(extent_, room);
    return collect(drawn(2) <= room ? 2 : 1, room);
  }

 private:
  static constexpr int room_of(const slot& s) { return s.gap ? 2 : 1; }

  // The end of the run at i: no stripe begins or ends inside a run.
  int next_change(int i) const {
    int next = extent_;
    for (const stripe& s : stripes_)
      for (const int change : {s.from, s.to})
        if (change > i && change < next) next = change;
    return next;
  }

  // The period with which the columns of the run at i repeat; at most the extent.
  int period(int i) const {
    int period = 1;
    for (const stripe& s : stripes_) {
      if (i < s.from || i >= s.to) continue;
      int both = period;
      while (both % s.every != 0) both += period;
      if (both >= extent_) return extent_;
      period = both;
    }
    return period;
  }

  template <class Emit>
  void walk(int periods, Emit emit) const {
    for (int i = 0; i < extent_;) {
      const int stop = next_change(i), keep = periods * period(i);
      const int hidden = stop - i > 2 * keep + 2 ? stop - i - 2 * keep : 0;
      for (const int first_end = hidden > 0 ? i + keep : stop; i < first_end; ++i) emit(slot{i});
      if (hidden > 0) emit(slot{i, hidden, true});
      for (i += hidden; i < stop; ++i) emit(slot{i});
    }
  }

  int drawn(int periods) const {
    int sum = 0;
    walk(periods, [&](const slot& s) { sum += room_of(s); });
    return sum;
  }

  slots collect(int periods, int room) const {
    const int total = drawn(periods), half = total <= room ? total : room / 2 - 1;
    slots shown;
    slot hidden{0, 0, true, false};
    int used = 0;
    walk(periods, [&](const slot& s) {
      const bool keep = used < half || used >= total - half;
      if (keep && hidden.count > 0) shown.push_back(hidden), hidden.count = 0;
      if (keep) shown.push_back(s);
      else hidden = {hidden.count == 0 ? s.first : hidden.first, hidden.count + s.count, true, false};
      used += room_of(s);
    });
    return shown;
  }

  int extent_;
  support::inplace_vector<stripe, layout::max_paths + layout::max_placements + layout::max_streams> stripes_;
};

/// Both axes of a layout.
struct axes {
  axis x, y;
  explicit axes(const layout& l) : x(l.width()), y(l.height()) {}
  void add(const region& r) { x.add({r.x0, r.x1, r.sx}), y.add({r.y0, r.y1, r.sy}); }
  void add_programs(const layout& l) {
    for (const placement& p : l.placements()) add(p.where);
  }
  void add_routes(const layout& l, int color) {
    for (const path_record& p : l.paths())
      if (p.color == color) add(p.where);
    for (const stream_record& s : l.streams())
      if (s.color == color) add(s.where);
  }
};

}  // namespace wsl::drawing
