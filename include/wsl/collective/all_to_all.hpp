// SPDX-License-Identifier: MIT
// An all-to-all: every PE of a row or column has a block of words for each PE of it, and receives one from
// each; block j of PE i becomes block i of PE j. With rows of a matrix as blocks this is a transposition.
// Blocks travel east and west at the same time: first those that go one place or two, then three or four, and
// so on. A PE sends its own two blocks, the one for the farther PE first, passes on those that go beyond it,
// and receives two, that of the nearer sender first. So all PEs advance in step, and no PE stores the words
// of another. The words of the two blocks go in one operation, eastward in reverse; long blocks go one by one
// with their words in order, so that an engine may copy a block to its neighbour from memory to memory. See
// examples/22_transpose.cpp.
//   constexpr all_to_all<f32> turn{.first = 0, .among = each_row};
//   endpoint<turn> turning; ... turning.start(me, mem(give), mem(take), then<&worker::next>())
// Its cost is that of the busiest PE. With i PEs on one side and j on the other it handles 2 (P - 1) + 2 i j
// blocks of B words, in O operations (about 2 P, or 3 P of long blocks) of which S cycles end one and begin
// the next; then the last word passes max(i, j) - 1 PEs: (2 (P - 1) + 2 i j) B + O S + (2 T + 2) (max(i, j) -
// 1) cycles, where T is the latency of a ramp, and the copy of the PE's own block. Two blocks that do not fit
// between two PEs wait at first until the next PE has sent its own: (2 j - 3) B + (j - 1) S more, for j =
// (P - 1) / 2. For 2, 3, and 7 to 512 PEs the timed engine counts at most 6 % more, for 4 to 6 PEs at most
// 12 %. Four colors.
#pragma once
#include <algorithm>

#include "cost.hpp"
#include "overlap.hpp"
#include "relay.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

template <payload T>
struct all_to_all {
  using element = T;
  static constexpr const char* name = "all_to_all";
  static constexpr int colors = 4;

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = each_row;  ///< each_row or each_column

  constexpr void wire(layout& l) const {
    const region r = rectangle_of(l, where, name);
    if (among == team::rectangle) faults::this_collective_goes_along_rows_or_columns(name);
    claim_colors<T>(l, name, first, colors, r);
    for (int way : {0, 1}) course(r, way).template wire<T>(l);
  }

  constexpr axis direction() const { return among == team::row ? axis::x : axis::y; }
  /// To the east or south (0), or to the west or north (1): a relay toward that end of the line.
  constexpr relay course(const region& r, int way) const {
    const int size = length(r, direction());
    return {{r, direction(), way == 0 ? size - 1 : 0}, first + 2 * way};
  }

  /// The cost on a layout, in cycles, for blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const int size = length(rectangle_of(l, where, name), direction()), middle = (size - 1) / 2;
    const f64 own = copying(words, sizeof(T)) + begin;
    if (size == 1) return own;
    f64 most = 0;
    for (int i = size / 2; i < size; ++i)
      if (const f64 taken = busy(i, size - 1 - i, words) + (handling + 1) * (i - 1); taken > most)
        most = taken;
    const f64 waiting =
        2 * words > between_two && middle > 1 ? (2 * middle - 3) * words + (middle - 1) * restart : 0;
    return own + waiting + most;
  }

  template <auto net>
  class part {
   public:
    /// Sends the blocks of `give` and receives those of `take`. Both arrays have a block for each PE of the
    /// line, all of the same length; they do not overlap.
    void start(pe& me, memory<T> give, memory<T> take, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      const int size = length(r, net.direction()), at = along(me.at() - corner(r), net.direction());
      if (give.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      if (give.length() != take.length())
        faults::the_arrays_differ(name, me.at(), give.length(), take.length());
      if (give.length() % size)
        faults::the_blocks_do_not_fit(name, me.at(), give.length(), size, give.length() / size + 1);
      if (may_overlap(give, take)) faults::the_arrays_overlap(name, me.at());
      must_agree_in_team<net>(me, r, give.length());
      block_ = give.length() / size;
      done_ = done;
      mov(take.part(at * block_, block_), give.part(at * block_, block_));
      relays_[0] = {give, take, at, size - 1 - at, net.course(r, 0)};
      relays_[1] = {give, take, size - 1 - at, at, net.course(r, 1)};
      go_on<0>(me);
      go_on<1>(me);
    }

   private:
    /// One direction of the line. Two distances take three steps.
    struct stream {
      memory<T> give{nullptr, 0};
      memory<T> take{nullptr, 0};
      int behind = 0, ahead = 0;
      relay course;
      int step = 0;
      int moved = 0;  ///< blocks that an operation of the current step has moved already

      color<T> out() const { return {course.color_of(course.where.root == 0, ahead)}; }
      color<T> in() const { return {course.color_of(course.where.root == 0, ahead + 1)}; }
      int size() const { return behind + ahead + 1; }
      /// Whether each block has an operation of its own, which leaves its words in order: with two PEs, and
      /// where an operation more costs little.
      bool one_by_one(int length) const { return size() == 2 || length >= long_block; }
      /// Of an array, n blocks from the ith on, in the order in which blocks travel: the first is that of the
      /// PE at the far end.
      memory<T> blocks(memory<T> array, int i, int n, int length) const {
        if (course.where.root == 0) return array.part(i * length, n * length);
        const memory<T> these = array.part((size() - i - n) * length, n * length);
        return one_by_one(length) ? these : these.reversed();
      }
      int distance() const { return 1 + step / 3 * 2; }  ///< the shorter one
      /// The number of the two distances at which there is a PE, if one side has `pes` PEs.
      int reached(int pes) const { return std::clamp(pes - distance() + 1, 0, 2); }
      /// The number of blocks that travel `far` places from the PEs behind this one to those ahead of it.
      int passing(int far) const {
        return std::max(std::min(behind, far - 1) - std::max(1, far - ahead) + 1, 0);
      }
    };

    template <int way>
    void go_on(pe& me) {
      for (stream& s = relays_[way]; s.distance() <= s.behind + s.ahead;)
        if (step<way>(me, s)) return;
      way == 0 ? me.unblock<&part::exchanged>() : me.activate<&part::exchanged>();
    }
    /// Returns whether it has started an operation.
    template <int way>
    bool step(pe& me, stream& s) {
      const auto next = then<&part::template go_on<way>>();
      const int near = s.distance(), kind = s.step % 3;
      const int all = kind == 0   ? s.reached(s.ahead)
                      : kind == 1 ? s.passing(near) + s.passing(near + 1)
                                  : s.reached(s.behind);
      const int from = s.moved, n = kind != 1 && s.one_by_one(block_) ? std::min(all, 1) : all;
      if ((s.moved += n) == all) s.moved = 0, ++s.step;
      if (n == 0) return false;
      if (kind == 0)
        me.async(mov(fabout(s.out()), s.blocks(s.give, s.ahead - near - all + 1 + from, n, block_)), next);
      else if (kind == 1) me.async(mov(fabout(s.out()), fabin(s.in(), n * block_)), next);
      else me.async(mov(s.blocks(s.take, s.ahead + near + from, n, block_), fabin(s.in())), next);
      return true;
    }
    void exchanged(pe& me) {
      me.block<&part::exchanged>();
      finish(me, net.first, unused_, done_);
    }

    stream relays_[2];
    completion done_{};
    int block_ = 0;
    T unused_{};

   public:
    using tasks = task_list<local<&part::template go_on<0>>, local<&part::template go_on<1>>,
                            local<&part::exchanged, blocked>, uses_colors<T, net.first, colors>>;
  };

 private:
  /// The words of a block from which on each block has an operation of its own. Three PEs of a wafer have no
  /// memory for arrays of so many.
  static constexpr int long_block = 4096;
  /// Words that fit between two PEs of which the receiver takes none: the queues of the last of its colors,
  /// both ramps and both routers.
  static constexpr int between_two =
      wse2.output_depth[0] + 2 * (ramp_latency + wse2.router_depth) + wse2.input_depth[colors - 1];

  /// The cycles for which a PE with so many others before it and after it is busy.
  static constexpr f64 busy(int before, int after, int words) {
    const int rounds = (before + after + 1) / 2, passes = before > 0 && after > 0 ? rounds : 0;
    const int own = words < long_block ? (before + 1) / 2 + (after + 1) / 2 : before + after;
    const int operations = 2 * (own + passes);
    return 2.0 * words * (before + after + before * after) + operations * restart;
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::all_to_all;
}
