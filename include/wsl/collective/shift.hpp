// SPDX-License-Identifier: MIT
// A shift: every PE of a row or column sends its words to the PE `by` places further on and receives those of
// the PE as far before it; a cyclic shift wraps around. Each PE's words pass the PEs between on a color of
// their own, so a shift by k takes k + 1 colors, and k more for the words that wrap from the end to the
// beginning. See examples/24_rotating_gemm.cpp.
//   constexpr shift<f32> pass{.first = 0, .among = each_row, .by = 1};
//   endpoint<pass> passing; ... passing.start(me, mem(give), mem(take), then<&worker::next>())
// A PE that sends and receives B words handles 2 B, and a link carries k B: B max(2, k) + 2 T + 1 cycles,
// where T is the latency of a ramp; around a line of P PEs not less than B + P - k + 2 T + 1.
#pragma once
#include "cost.hpp"
#include "relay.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

template <payload T>
struct shift {
  using element = T;
  static constexpr const char* name = "shift";

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = each_row;  ///< each_row or each_column
  int by = 1;             ///< places to the east or south; negative to the west or north
  bool cyclic = false;

  constexpr int hop() const { return by < 0 ? -by : by; }
  constexpr int colors() const { return hop() + 1 + (cyclic ? hop() : 0); }

  constexpr void wire(layout& l, const char* as = name) const {
    const region r = rectangle_of(l, where, as);
    if (by == 0 || among == team::rectangle) faults::a_shift_goes_along_rows_or_columns(as, by);
    claim_colors<T>(l, as, first, colors(), r);
    const int size = length(r, direction()), h = hop_in(size);
    if (h == 0) return;
    // Senders are at least one hop away from the end to which the shift leads, and h + 1 neighbours have
    // different colors.
    const arm ahead = lines{r, direction(), by > 0 ? size - 1 : 0}.side(by < 0);
    for (int d = h; d <= 2 * h; ++d)
      wire_hops<T>(l, ahead, {color_of(size, size - 1 - d)}, d, size, h + 1, h);
    const arm back = lines{r, direction(), by > 0 ? 0 : size - 1}.side(by > 0);
    for (int p = size - h; cyclic && p < size; ++p)
      wire_hops<T>(l, back, {color_of(size, p)}, p, p + 1, 1, size - h);
  }

  /// The cost on a layout, in cycles, for `words` words.
  constexpr f64 cycles(const layout& l, int words) const {
    const int size = length(rectangle_of(l, where, name), direction()), h = hop_in(size);
    if (h == 0) return copying(words, sizeof(T)) + restart;
    if (h >= size) return 0;
    const bool both = cyclic || size > 2 * h;  // some PE sends and takes
    const int side_by_side = h < size - h ? h : size - h, hops = cyclic && size - h > h ? size - h : h;
    const int busiest = side_by_side > 1 + both ? side_by_side : 1 + both;
    const pattern p{.contention = f64(words) * busiest,
                    .energy = f64(words) * hops,
                    .links = f64(hops),
                    .distance = f64(hops),
                    .depth = 1};
    return p.cycles() + both * restart;
  }

  constexpr axis direction() const { return among == team::row ? axis::x : axis::y; }
  /// The color that the PE at a place sends, and the one that it receives; -1 for none. Places count in the
  /// direction of the shift.
  constexpr int out(int size, int place) const {
    return cyclic || place + hop() < size ? color_of(size, place) : -1;
  }
  constexpr int in(int size, int place) const {
    const int h = hop_in(size);
    return place >= h ? color_of(size, place - h) : cyclic ? color_of(size, place - h + size) : -1;
  }
  constexpr int place_of(int size, int position) const { return by > 0 ? position : size - 1 - position; }
  /// Around a line shorter than `by` a shift has fewer hops; 0 leads back to where it began.
  constexpr int hop_in(int size) const { return cyclic ? hop() % size : hop(); }

  template <auto net>
  class part {
   public:
    /// Sends `give` and receives `take`, another array of the same length. A PE at the beginning of a line
    /// that is not cyclic receives nothing, and its `take` keeps its values.
    void start(pe& me, memory<T> give, memory<T> take, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      const int size = length(r, net.direction()),
                place = net.place_of(size, along(me.at() - corner(r), net.direction()));
      if (give.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      if (give.length() != take.length())
        faults::the_arrays_differ(name, me.at(), give.length(), take.length());
      must_agree_in_team<net>(me, r, give.length());
      const int out = net.out(size, place), in = net.in(size, place);
      if (net.hop_in(size) == 0) return mov(take, give), finish(me, net.first, unused_, done);
      done_ = done;
      if (out >= 0 && in >= 0) {
        me.async(mov(fabout(color<T>{out}), give), unblocks<&part::exchanged>());
        me.async(mov(take, fabin(color<T>{in})), then<&part::exchanged>());
      } else if (out >= 0) me.async(mov(fabout(color<T>{out}), give), done);
      else if (in >= 0) me.async(mov(take, fabin(color<T>{in})), done);
      else finish(me, net.first, unused_, done);
    }

   private:
    void exchanged(pe& me) {
      me.block<&part::exchanged>();
      finish(me, net.first, unused_, done_);
    }
    completion done_{};
    T unused_{};

   public:
    using tasks = task_list<local<&part::exchanged, blocked>, uses_colors<T, net.first, net.colors()>>;
  };

 private:
  constexpr int color_of(int size, int place) const {
    const int h = hop_in(size), beyond = place + h - size;
    return first + (beyond < 0 ? place % (h + 1) : h + 1 + beyond);
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::shift;
}
