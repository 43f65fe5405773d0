// SPDX-License-Identifier: MIT
// Every PE of a row or column has a block of words for each PE of it, and gets one from each: block j of PE i becomes block i of PE j. With
// rows of a matrix as blocks this transposes it. Blocks travel east and west at the same time; a PE first sends its own group, then takes
// its own block of each group that comes, the nearest sender's first, and passes on the rest. Westward all of it runs backwards.
// See examples/22_transpose.cpp.
//   constexpr all_to_all<f32> turn{.first = 0, .among = each_row};
//   endpoint<turn> turning; ... turning.start(me, mem(give), mem(take), then<&worker::next>())
// The PE in the middle bounds what it costs: it sends and takes P - 1 blocks and passes on (P - 1)^2 / 2. It also waits for others, so the
// timed engine counts up to 1.7 times as much for long blocks, and more for single words, where operations begin and end. Four colors.
#pragma once
#include "cost.hpp"
#include "relay.hpp"

namespace wsl::collective {

template <payload T>
struct all_to_all {
  using element = T;
  static constexpr const char* name = "all_to_all";
  static constexpr int colors = 4;

  int first = 0;           ///< the first of its colors
  area where = all;        ///< the rectangle, without strides
  team among = each_row;   ///< each_row or each_column

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

  /// What it takes at least on a layout, in cycles, with blocks of `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const int size = length(ground(l, where, name), direction()), i = size / 2, j = size - 1 - i;
    const f64 own = copying(words, sizeof(T)) + restart, handled = f64(words) * (2 * (size - 1) + 2 * i * j);
    if (size == 1) return own;
    return own + pattern{.contention = handled, .distance = f64(size - 1), .depth = f64(size - 1)}.cycles();
  }

  template <auto net>
  class part {
   public:
    /// Sends the blocks of `give` and fills those of `take`: both have one for each PE of the line, all as long.
    void start(pe& me, memory<T> give, memory<T> take, completion done = none<T>(net.first)) {
      const region r = ground(me, net.where, name);
      const int size = length(r, net.direction()), at = along(me.at() - corner(r), net.direction());
      if (give.length() < 1) misuse::a_collective_moves_at_least_one_word(name, me.at());
      if (give.length() != take.length()) misuse::the_arrays_differ(name, me.at(), give.length(), take.length());
      if (give.length() % size) misuse::the_blocks_do_not_fit(name, me.at(), give.length(), size, give.length() / size + 1);
      block_ = give.length() / size;
      done_ = done;
      mov(take.part(at * block_, block_), give.part(at * block_, block_));
      ways_[0] = {give, take, at, size - 1 - at, net.course(r, 0)};
      ways_[1] = {give.reversed(), take.reversed(), size - 1 - at, at, net.course(r, 1)};
      go_on<0>(me);
      go_on<1>(me);
    }
    static consteval auto tasks() {
      return table(local<&part::template go_on<0>>(), local<&part::template go_on<1>>(), local<&part::exchanged>(blocked),
                   uses_colors<T, net.first, colors>());
    }

   private:

    /// One way of the line, with the arrays as they lie along it.
    struct stream {
      memory<T> give{nullptr, 0};
      memory<T> take{nullptr, 0};
      int behind = 0, ahead = 0;
      relay course;
      int step = 0;
      color<T> out() const { return {course.color_of(course.where.root == 0, ahead)}; }
      color<T> in() const { return {course.color_of(course.where.root == 0, ahead + 1)}; }
    };

    template <int way>
    void go_on(pe& me) {
      stream& s = ways_[way];
      while (s.step <= 2 * s.behind) {
        const int step = s.step++, from = s.behind - (step + 1) / 2;
        if (step % 2) return me.async(mov(s.take.part(from * block_, block_), fabin(s.in())), then<&part::template go_on<way>>());
        if (s.ahead == 0) continue;
        if (step == 0) return me.async(mov(fabout(s.out()), s.give.from((s.behind + 1) * block_)), then<&part::template go_on<way>>());
        return me.async(mov(fabout(s.out()), fabin(s.in(), s.ahead * block_)), then<&part::template go_on<way>>());
      }
      way == 0 ? me.unblock<&part::exchanged>() : me.activate<&part::exchanged>();
    }
    void exchanged(pe& me) {
      me.block<&part::exchanged>();
      finish(me, net.first, unused_, done_);
    }

    stream ways_[2];
    completion done_{};
    int block_ = 0;
    T unused_{};
  };
};

}  // namespace wsl::collective

namespace wsl {
using collective::all_to_all;
}
