// SPDX-License-Identifier: MIT
// A tally counts events anywhere in a rectangle until as many have been reported as were expected, and then
// tells all PEs (CSL's <kernels/tally>). It detects termination in programs in which no PE can know that it
// has received its last word, because the senders choose the receiver. Reports travel along the rows to the
// first column and up that column to the first PE, word by word, which a task there adds up; those of several
// PEs may come in any order. See examples/56_histogram.cpp.
//   constexpr tally arrivals{.first = 6};
//   tally_counter<arrivals> arrived; ... arrived.expect(me, all_of_them); ... arrived.report(me);
//   ... on<arrivals.complete(), &worker::next>
// From the last report until the farthest of W x H PEs knows, 2 (W + H) cycles pass, and those of two ramps
// and at most two tasks. But the first PE starts a task for each report, of 6 cycles on a WSE-2 or WSE-3, so
// n calls of report() take at least 6 n cycles in all, wherever they were made: a PE with many events reports
// them together, report(me, k), which is one word.
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
  /// The color that carries the count to all PEs, when the tally is complete.
  constexpr color<u32> complete() const { return {first + 2}; }

  constexpr void wire(layout& l) const {
    const region r = rectangle_of(l, where, name);
    claim_colors<u32>(l, name, first, 2, r);
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

/// The state and the tasks of a PE that takes part in a tally: a member of its program.
template <auto net>
class tally_counter {
 public:
  /// Sets how many events complete the tally, at least 1. Every PE calls it with the same number before its
  /// first report. A tally that is complete begins anew. Throws fault if the number is 0, or if the call of
  /// another PE named another one.
  void expect(pe& me, u32 most) {
    if (most == 0) faults::a_tally_expects_at_least_one_event(net.name, me.at());
    const region r = rectangle_of(me, net.where, net.name);
    const team_sizes::size agreed = agreed_in_team<net, team::rectangle>(me, r, most);
    if (agreed.words != most)
      faults::the_expectations_differ(net.name, me.at(), most, agreed.of, agreed.words);
    expected_ = most;
    look(me);
  }
  /// A number of another type, if it fits.
  template <detail::other_than<u32> Value>
  void expect(pe& me, const Value& most) {
    expect(me, detail::as_payload<u32>(most));
  }
  /// Reports an event at this PE, or `times` of them.
  void report(pe& me, u32 times = 1) {
    const region r = rectangle_of(me, net.where, net.name);
    if (me.x() > r.x0) me.send(net.along_row(), times);
    else add(me, times);
  }
  template <detail::other_than<u32> Value>
  void report(pe& me, const Value& times) {
    report(me, detail::as_payload<u32>(times));
  }

 private:
  // In the first column: receives the reports of a row, or of the column.
  void add(pe& me, u32 times) {
    if (me.y() > rectangle_of(me, net.where, net.name).y0) return me.send(net.along_column(), times);
    counted_ += times;
    look(me);
  }
  void look(pe& me) {
    if (expected_ == 0 || counted_ < expected_) return;
    me.send(net.complete(), std::exchange(counted_, counted_ - expected_));
  }

  u32 counted_ = 0, expected_ = 0;

 public:
  using tasks =
      task_list<on<net.along_row(), &tally_counter::add>, on<net.along_column(), &tally_counter::add>,
                sends<net.along_row(), net.along_column(), net.complete()>>;
};

}  // namespace wsl::collective

namespace wsl {
using collective::tally_counter, collective::tally;
}
