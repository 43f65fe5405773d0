// SPDX-License-Identifier: MIT
// The flow of one color: its path records and the joins between them. Record a joins record b through a side
// when some PE of a sends through that side into a PE of b that listens there; a row of 750 PEs that hand on
// to each other is one record that joins itself. The rules of paths and cycles ask this graph, whose size is
// that of the program text, instead of the PEs. A path with a switch is one record for each of its positions:
// which of them stand at the same time is up to the control wavelets.
#pragma once
#include "../cover.hpp"
#include "../faults/table.hpp"
#include "../layout.hpp"

namespace wsl::rules {

/// Sides as small numbers, in the order of every_side: east, west, north, south. The opposite of side d is d
/// ^ 1.
constexpr u8 bit_of_side(int d) { return static_cast<u8>(2 << d); }
inline constexpr u8 ramp_bit = 1, side_bits = 30;
constexpr bool several(int bits) { return (bits & (bits - 1)) != 0; }

struct route_segment {
  region where;
  u8 from = 0, to = 0;
  bool merges = false;
  const payload_type* type = nullptr;
  /// one more than the number of the path of which this is a position; 0 if its route stays
  int switched_path = 0;
  u8 color = 0, swaps = 0;  ///< sides through which words leave with the other color of the pair
};

struct edge {
  int from = 0, to = 0, side = 0;
  int next_out = -1;  ///< the next join out of the same record through the same side
  int next_in = -1;   ///< the next join into the same record through the same side
};

class flow {
 public:
  const layout& plan;
  const int color, phase;
  scratch<route_segment> paths;
  scratch<edge> edges;
  int positions = 1;        ///< the most that a switch of the color has
  coord overlap = nowhere;  ///< a PE that two of the records cover
  step_budget work;         ///< of all rules that ask this flow

  static constexpr int every = -1;

  /// Where paths swap colors the records of the other color of the pair stand here as well: joins cross over.
  /// Only circles and forks are asked of both.
  constexpr bool foreign(int record) const { return pair_ && paths.data()[record].color != color; }

  /// Of one phase or of every one; with every position of its switches, or with position `only` of each, the
  /// last one where it has fewer.
  constexpr flow(const layout& l, int c, int which = 0, int only = every)
      : plan(l), color(c), phase(which), pair_((l.swapped_colors() >> c & 1) != 0) {
    gather(only);
    for (int i = 0; i < 4 * paths.size(); ++i) first_out_.push_back(-1), first_in_.push_back(-1);
    sweep();
  }

  /// The lists of joins: out of a record through a side, and into a record through a side of that record; -1
  /// ends them.
  constexpr int first_out(int record, int side) const { return first_out_[4 * record + side]; }
  constexpr int first_in(int record, int side) const { return first_in_[4 * record + side]; }

  constexpr diagnostic report(fault_kind what, coord at, int side = -1) const {
    return {.what = what, .color = color, .at = at, .side = side < 0 ? port::ramp : every_side[side]};
  }
  /// What a rule answers when it found nothing: nothing, unless it had to give up.
  constexpr diagnostic nothing() const {
    if (!work.exhausted()) return {};
    return report(fault_kind::the_paths_meet_too_often_to_check_while_compiling, paths[0].where.nth(0));
  }

 private:
  // Records in the order of their first column or row, whichever separates them better, so that the sweep
  // meets few pairs.
  constexpr void gather(int only) {
    scratch<route_segment> found;
    i64 wide = 0, high = 0;
    const change_rules* changes = plan.rules();
    for (const path_record& p : plan.paths())
      if ((p.color == color || (pair_ && p.color == (color ^ 1))) && (p.phase == phase || phase == every)) {
        const int count = plan.changes() ? changes->positions(plan, p, only, found) : 0;
        positions = count > positions ? count : positions;
        if (count == 0) found.push_back(record_of(p));
        wide += i64{p.where.x1 - p.where.x0} * plan.height(),
            high += i64{p.where.y1 - p.where.y0} * plan.width();
      }
    along_x_ = wide <= high;
    scratch<int> order;
    for (int i = 0; i < found.size(); ++i) order.push_back(i);
    sort(order, found);
    for (int i = 0; i < found.size(); ++i) paths.push_back(found[order[i]]);
  }
  // The ramps of the other color belong to its own flow.
  constexpr route_segment record_of(const path_record& p) const {
    const u8 kept = p.color == color ? 0xff : static_cast<u8>(~ramp_bit);
    return {.where = tight(p.where),
            .from = static_cast<u8>(p.how.from.bits & kept),
            .to = static_cast<u8>(p.how.to.bits & kept),
            .merges = p.merges,
            .type = p.type,
            .color = static_cast<u8>(p.color),
            .swaps = p.swaps.bits};
  }
  constexpr int begin_of(const region& r) const { return along_x_ ? r.x0 : r.y0; }

  constexpr void sort(scratch<int>& order, const scratch<route_segment>& by) const {
    int* item = order.data();
    for (int gap : {301, 132, 57, 23, 10, 4, 1})
      for (int i = gap; i < order.size(); ++i) {
        const int moving = item[i], key = begin_of(by[moving].where);
        int j = i;
        for (; j >= gap && begin_of(by[item[j - gap]].where) > key; j -= gap) item[j] = item[j - gap];
        item[j] = moving;
      }
  }

  // Equal strides that never come as near as one hop: the usual case of records that share a bounding box.
  static constexpr bool out_of_step(int a, int step_a, int b, int step_b) {
    if (step_a != step_b) return false;
    const int apart = (b - a) % step_a, around = apart < 0 ? apart + step_a : apart;
    return around > 1 && around < step_a - 1;
  }

  constexpr void sweep() {
    const route_segment* p = paths.data();
    for (int a = 0; a < paths.size() && !work.exhausted(); ++a) {
      const region r = p[a].where;
      const int last = along_x_ ? r.x1 : r.y1;
      compare_with_itself(a);
      int b = a + 1;
      for (; b < paths.size(); ++b) {
        const region& s = p[b].where;
        if ((along_x_ ? s.x0 : s.y0) > last) break;
        if (s.x0 > r.x1 || s.x1 < r.x0 || s.y0 > r.y1 || s.y1 < r.y0) continue;
        work.spent += 2;
        if (!out_of_step(r.x0, r.sx, s.x0, s.sx) && !out_of_step(r.y0, r.sy, s.y0, s.sy)) compare(a, b);
      }
      work.spent += b - a;
    }
  }
  constexpr void compare_with_itself(int a) {
    for (int d = 0; d < 4; ++d) join_through(a, a, d);
  }
  constexpr void compare(int a, int b) {
    work.spent += overlap == nowhere ? 24 : 10;
    if (overlap == nowhere && !(foreign(a) || foreign(b)) &&
        (paths[a].switched_path == 0 || paths[a].switched_path != paths[b].switched_path)) {
      const region both = intersect(paths[a].where, paths[b].where);
      if (!both.empty()) overlap = both.nth(0);
    }
    for (int d = 0; d < 4; ++d) join_through(a, b, d), join_through(b, a, d);
  }
  constexpr void join_through(int a, int b, int d) {
    const route_segment &sender = paths.data()[a], &receiver = paths.data()[b];
    if (!(sender.to & bit_of_side(d)) || !(receiver.from & bit_of_side(d ^ 1))) return;
    work.spent += 16;
    if (pair_ && (sender.color ^ int{(sender.swaps & bit_of_side(d)) != 0}) != receiver.color) return;
    if (intersect(sender.where.shifted(step(every_side[d])), receiver.where).empty()) return;
    int &out = first_out_[4 * a + d], &in = first_in_[4 * b + (d ^ 1)];
    edges.push_back({a, b, d, out, in});
    out = in = edges.size() - 1;
  }

  bool pair_;
  scratch<int> first_out_, first_in_;
  bool along_x_ = true;
};

}  // namespace wsl::rules
