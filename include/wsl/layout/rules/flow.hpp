// SPDX-License-Identifier: MIT
// The flow of one color is a graph whose nodes are route segments, the paths of the layout. An edge leads
// from segment a to segment b through a side if some PE of a sends through that side to a PE of b that
// listens there; a row of 750 PEs that pass wavelets on to each other is one segment with an edge to itself.
// The rules of paths and cycles work on this graph, whose size is that of the program text and not that of
// the grid. A path with a switch is one segment for each position of the switch: control wavelets decide
// which positions stand at the same time.
#pragma once
#include "../faults/table.hpp"
#include "../layout.hpp"
#include "cover.hpp"

namespace wsl::rules {

/// Sides as small numbers, in the order of every_side: east, west, north, south. The opposite of side d is d
/// ^ 1.
constexpr u8 bit_of_side(int d) { return static_cast<u8>(2 << d); }
inline constexpr u8 ramp_bit = 1, side_bits = 30;
constexpr bool several(int bits) { return (bits & (bits - 1)) != 0; }

/// One route on the PEs of a region.
struct route_segment {
  region where;
  u8 from = 0, to = 0;
  bool merges = false;
  const payload_type* type = nullptr;
  /// if this is a position of a switch, the number of the path plus one; else 0
  int switched_path = 0;
  u8 color = 0, swaps = 0;  ///< sides through which wavelets leave with the other color of the pair
};

struct edge {
  int from = 0, to = 0, side = 0;
  int next_out = -1;  ///< the next edge out of the same segment through the same side
  int next_in = -1;   ///< the next edge into the same segment through the same side
};

class flow {
 public:
  const layout& plan;
  const int color, phase;
  scratch<route_segment> segments;
  scratch<edge> edges;
  int positions = 1;        ///< the largest number of positions of a switch of the color
  coord overlap = nowhere;  ///< a PE that two of the segments cover
  step_budget work;         ///< the budget of all rules that use this flow

  static constexpr int every = -1;

  /// If paths swap colors, the flow also has the segments of the other color of the pair, because edges lead
  /// from one color to the other. Only the rules of cycles and forks look at those.
  constexpr bool foreign(int segment) const { return pair_ && segments.data()[segment].color != color; }

  /// The flow of one phase or of all of them, with every position of the switches, or with position `only` of
  /// each switch, which is its last one if it has fewer.
  constexpr flow(const layout& l, int c, int which = 0, int only = every)
      : plan(l), color(c), phase(which), pair_((l.swapped_colors() >> c & 1) != 0) {
    gather(only);
    for (int i = 0; i < 4 * segments.size(); ++i) first_out_.push_back(-1), first_in_.push_back(-1);
    sweep();
  }

  /// The first edge out of a segment through a side, and the first into a segment through a side of that
  /// segment; -1 if there is none.
  constexpr int first_out(int segment, int side) const { return first_out_[4 * segment + side]; }
  constexpr int first_in(int segment, int side) const { return first_in_[4 * segment + side]; }

  constexpr diagnostic report(fault_kind kind, coord at, int side = -1) const {
    return {.kind = kind, .color = color, .at = at, .side = side < 0 ? port::ramp : every_side[side]};
  }
  /// The answer of a rule that has found no fault: none, unless the rule had to give up.
  constexpr diagnostic nothing() const {
    if (!work.exhausted()) return {};
    return report(fault_kind::the_paths_meet_too_often_to_check_while_compiling, segments[0].where.nth(0));
  }

 private:
  // Segments in the order of their first column or row, whichever separates them better, so that the sweep
  // compares few pairs.
  constexpr void gather(int only) {
    scratch<route_segment> found;
    i64 wide = 0, high = 0;
    const change_rules* changes = plan.rules();
    for (const path_record& p : plan.paths())
      if ((p.color == color || (pair_ && p.color == (color ^ 1))) && (p.phase == phase || phase == every)) {
        const int count = plan.changes() ? changes->positions(plan, p, only, found) : 0;
        positions = count > positions ? count : positions;
        if (count == 0) found.push_back(segment_of(p));
        wide += i64{p.where.x1 - p.where.x0} * plan.height(),
            high += i64{p.where.y1 - p.where.y0} * plan.width();
      }
    along_x_ = wide <= high;
    scratch<int> order;
    for (int i = 0; i < found.size(); ++i) order.push_back(i);
    sort(order, found);
    for (int i = 0; i < found.size(); ++i) segments.push_back(found[order[i]]);
  }
  // The ramps of the other color belong to its own flow.
  constexpr route_segment segment_of(const path_record& p) const {
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

  // Equal strides that are never one hop apart, the usual case of segments that share a bounding box.
  static constexpr bool out_of_step(int a, int step_a, int b, int step_b) {
    if (step_a != step_b) return false;
    const int apart = (b - a) % step_a, around = apart < 0 ? apart + step_a : apart;
    return around > 1 && around < step_a - 1;
  }

  constexpr void sweep() {
    const route_segment* p = segments.data();
    for (int a = 0; a < segments.size() && !work.exhausted(); ++a) {
      const region r = p[a].where;
      const int last = along_x_ ? r.x1 : r.y1;
      compare_with_itself(a);
      int b = a + 1;
      for (; b < segments.size(); ++b) {
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
    for (int d = 0; d < 4; ++d) connect(a, a, d);
  }
  constexpr void compare(int a, int b) {
    work.spent += overlap == nowhere ? 24 : 10;
    if (overlap == nowhere && !(foreign(a) || foreign(b)) &&
        (segments[a].switched_path == 0 || segments[a].switched_path != segments[b].switched_path)) {
      const region both = intersect(segments[a].where, segments[b].where);
      if (!both.empty()) overlap = both.nth(0);
    }
    for (int d = 0; d < 4; ++d) connect(a, b, d), connect(b, a, d);
  }
  constexpr void connect(int a, int b, int d) {
    const route_segment &sender = segments.data()[a], &receiver = segments.data()[b];
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
