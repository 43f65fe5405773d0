// SPDX-License-Identifier: MIT
// Every PE of a row or column has a block of words for each PE of it, and gets one from each: block j of PE i
// becomes block i of PE j. With rows of a matrix as blocks this transposes it. Blocks travel east and west at
// the same time: first those that go one place or two, then three or four, and so on. A PE sends its own two,
// the farther one first, passes on those that go beyond it, and takes its two, the nearer sender's first; so
// all PEs are as far as their neighbours, and nobody stores what is not his. Words run backwards on their
// way. See examples/22_transpose.cpp.
//   constexpr all_to_all<f32> turn{.first = 0, .among = each_row};
//   endpoint<turn> turning; ... turning.start(me, mem(give), mem(take), then<&worker::next>())
// The busiest PE is what it costs. With i PEs on one side and j on the other it handles 2 (P - 1) + 2 i j
// blocks of B words, in O operations of S cycles to end one and begin the next, about 2 P; then the last word
// passes max(i, j) - 1 PEs: (2 (P - 1) + 2 i j) B + O S + (2 T + 2) (max(i, j) - 1), with T the ramp's
// latency, and the copy of its own block. Two blocks that do not fit between two PEs wait at first, until the
// next PE has sent its own: (2 j - 3) B + (j - 1) S more, for j = (P - 1) / 2. For 2 to 512 PEs the timed
// engine counts at most 6 % more than that. Four colors.
#pragma once
#include <algorithm>

#include "cost.hpp"
#include "relay.hpp"

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
    const region r = ground(l, where, name);
    if (among == team::rectangle) misuse::an_all_to_all_goes_along_rows_or_columns(name);
    take_colors<T>(l, name, first, colors, r);
    for (int way : {0, 1}) course(r, way).template wire<T>(l);
  }

  constexpr axis direction() const { return among == team::row ? axis::x : axis::y; }
  /// To the east or south (0), or to the west or north (1): a relay toward that end of the line.
  constexpr relay course(const region& r, int way) const {
    const int size = length(r, direction());
    return {{r, direction(), way == 0 ? size - 1 : 0}, first + 2 * way};
  }

  /// What it takes on a layout, in cycles, with blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const int size = length(ground(l, where, name), direction()), middle = (size - 1) / 2;
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
    /// Sends the blocks of `give` and fills those of `take`: both have one for each PE of the line, all as
    /// long.
    void start(pe& me, memory<T> give, memory<T> take, completion done = none<T>(net.first)) {
      const region r = ground(me, net.where, name);
      const int size = length(r, net.direction()), at = along(me.at() - corner(r), net.direction());
      if (give.length() < 1) misuse::a_collective_moves_at_least_one_word(name, me.at());
      if (give.length() != take.length())
        misuse::the_arrays_differ(name, me.at(), give.length(), take.length());
      if (give.length() % size)
        misuse::the_blocks_do_not_fit(name, me.at(), give.length(), size, give.length() / size + 1);
      block_ = give.length() / size;
      done_ = done;
      mov(take.part(at * block_, block_), give.part(at * block_, block_));
      ways_[0] = {give.reversed(), take.reversed(), at, size - 1 - at, net.course(r, 0)};
      ways_[1] = {give, take, size - 1 - at, at, net.course(r, 1)};
      go_on<0>(me);
      go_on<1>(me);
    }

   private:
    /// One way of the line, with the arrays as they lie against it. Each two distances are three steps.
    struct stream {
      memory<T> give{nullptr, 0};
      memory<T> take{nullptr, 0};
      int behind = 0, ahead = 0;
      relay course;
      int step = 0;

      color<T> out() const { return {course.color_of(course.where.root == 0, ahead)}; }
      color<T> in() const { return {course.color_of(course.where.root == 0, ahead + 1)}; }
      int distance() const { return 1 + step / 3 * 2; }  ///< the shorter one
      /// At how many of the two there is a PE, of those on one side.
      int reached(int pes) const { return std::clamp(pes - distance() + 1, 0, 2); }
      /// How many blocks go so far from PEs behind to PEs ahead.
      int passing(int far) const {
        return std::max(std::min(behind, far - 1) - std::max(1, far - ahead) + 1, 0);
      }
    };

    template <int way>
    void go_on(pe& me) {
      for (stream& s = ways_[way]; s.distance() <= s.behind + s.ahead;)
        if (step<way>(me, s)) return;
      way == 0 ? me.unblock<&part::exchanged>() : me.activate<&part::exchanged>();
    }
    /// Says whether it has started an operation.
    template <int way>
    bool step(pe& me, stream& s) {
      const auto next = then<&part::template go_on<way>>();
      const int near = s.distance(), kind = s.step % 3;
      const int n = kind == 0   ? s.reached(s.ahead)
                    : kind == 1 ? s.passing(near) + s.passing(near + 1)
                                : s.reached(s.behind);
      ++s.step;
      if (n == 0) return false;
      if (kind == 0)
        me.async(mov(fabout(s.out()), s.give.part((s.ahead - near - n + 1) * block_, n * block_)), next);
      else if (kind == 1) me.async(mov(fabout(s.out()), fabin(s.in(), n * block_)), next);
      else me.async(mov(s.take.part((s.ahead + near) * block_, n * block_), fabin(s.in())), next);
      return true;
    }
    void exchanged(pe& me) {
      me.block<&part::exchanged>();
      finish(me, net.first, unused_, done_);
    }

    stream ways_[2];
    completion done_{};
    int block_ = 0;
    T unused_{};

   public:
    using tasks = task_list<local<&part::template go_on<0>>, local<&part::template go_on<1>>,
                            local<&part::exchanged, blocked>, uses_colors<T, net.first, colors>>;
  };

 private:
  /// Words that fit between two PEs of which one takes none: the queues of the last of its colors, both ramps
  /// and both routers.
  static constexpr int between_two =
      wse2.output_depth[0] + 2 * (ramp_latency + wse2.router_depth) + wse2.input_depth[colors - 1];

  /// For how long a PE is busy.
  static constexpr f64 busy(int before, int behind, int words) {
    const int rounds = (before + behind + 1) / 2, passes = before > 0 && behind > 0 ? rounds : 0;
    const int operations = 2 * ((before + 1) / 2 + (behind + 1) / 2 + passes);
    return 2.0 * words * (before + behind + before * behind) + operations * restart;
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::all_to_all;
}
