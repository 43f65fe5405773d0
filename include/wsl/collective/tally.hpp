// SPDX-License-Identifier: MIT
// Counts what happens anywhere in a rectangle, until as much has happened as was expected; then all PEs hear
// of it (CSL's <kernels/tally>). It is for programs in which no PE knows that it has received its last word,
// because others choose the receiver. Reports go along the rows to the first column and up that to the first
// PE; those of several PEs meet on the way, and only their sum counts. See examples/56_histogram.cpp.
//   constexpr tally arrivals{.first = 6};
//   teller<arrivals> arrived; ... arrived.expect(me, all_of_them); ... arrived.report(me);
//   ... on<arrivals.over(), &worker::next>
// From the last report until the farthest of W x H PEs knows, two ramps, at most two tasks and the way there
// and back pass by: 2 (W + H) cycles and what these take.
#pragma once
#include "broadcast.hpp"

namespace wsl::collective {

struct tally {
  static constexpr const char* name = "tally";
  static constexpr int colors = 3;

  int first = 0;     ///< the first of its colors
  area where = all;  ///< the rectangle, without strides

  constexpr color<u32> along_row() const { return {first}; }
  constexpr color<u32> along_column() const { return {first + 1}; }
  /// Carries the count to all PEs.
  constexpr color<u32> over() const { return {first + 2}; }

  constexpr void wire(layout& l) const {
    const region r = ground(l, where, name);
    take_colors<u32>(l, name, first, 2, r);
    const region column{r.x0, r.x0 + 1, r.y0, r.y1};
    wire_line(l, along_row(), {r.x0 + 1, r.x1 - 1, r.y0, r.y1}, {r.x1 - 1, r.x1, r.y0, r.y1}, column, east,
              r.columns());
    wire_line(l, along_column(), {r.x0, r.x0 + 1, r.y0 + 1, r.y1 - 1}, {r.x0, r.x0 + 1, r.y1 - 1, r.y1},
              {r.x0, r.x0 + 1, r.y0, r.y0 + 1}, south, r.rows());
    to_all().wire(l, name);
  }

 private:
  constexpr broadcast<u32> to_all() const { return {.first = first + 2, .where = where, .echo = true}; }
  static constexpr void wire_line(layout& l, color<u32> c, const region& inner, const region& tip,
                                  const region& root, port outward, int size) {
    if (size == 1) return;
    if (!inner.empty()) l.path(c, inner, (ramp | outward) >> opposite(outward), merges);
    l.path(c, tip, ramp >> opposite(outward));
    l.path(c, root, outward >> ramp);
  }
};

/// What a PE keeps of a tally, a member of its program.
template <auto net>
class teller {
 public:
  /// How much is to be reported until it is over, at least 1; every PE says so, and says the same, before its
  /// first report. A tally that is over begins anew.
  void expect(pe& me, u32 most) {
    expected_ = most;
    look(me);
  }
  /// Something has happened here, or `times` of it.
  void report(pe& me, u32 times = 1) {
    const region r = ground(me, net.where, net.name);
    if (me.x() > r.x0) me.send(net.along_row(), times);
    else add(me, times);
  }

 private:
  // In the first column: reports of a row, or of the column.
  void add(pe& me, u32 times) {
    if (me.y() > ground(me, net.where, net.name).y0) return me.send(net.along_column(), times);
    counted_ += times;
    look(me);
  }
  void look(pe& me) {
    if (expected_ == 0 || counted_ < expected_) return;
    me.send(net.over(), std::exchange(counted_, counted_ - expected_));
  }

  u32 counted_ = 0, expected_ = 0;

 public:
  using tasks = task_list<on<net.along_row(), &teller::add>, on<net.along_column(), &teller::add>,
                          sends<net.along_row(), net.along_column(), net.over()>>;
};

}  // namespace wsl::collective

namespace wsl {
using collective::teller, collective::tally;
}
