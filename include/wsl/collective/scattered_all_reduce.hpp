// SPDX-License-Identifier: MIT
// An all-reduce of arrays along a line: a reduce-scatter and an all-gather, as in a ring, but without a way
// back. The array is cut into one chunk for each PE. Chains of PEs from both ends of the line carry sums to
// the chunks' owners, those of the farthest owners first: one operation takes a word from the fabric, adds
// the PE's own and gives the sum to the fabric, in a single turn. Then all owners send their totals over the
// line both ways, the nearest first, on routes that are switched from one PE to the next; the routers copy,
// so nobody passes a word on.
//   constexpr scattered_all_reduce<f32> sum{.first = 0, .among = each_row};
//   endpoint<sum> summing; ... summing.start(me, mem(x), then<&worker::next>())
// The owner k of a chunk joins (((x0 + x1) + ...) + xk) + (xk+1 + (... + xn)), so the operation need not be
// commutative. On P PEs a processor handles (2 P + 4) B / P words. On long lines with a word or a few for
// each chunk that is quicker than a chain and a broadcast, which handle 2 B.
#pragma once
#include "../layout/switches.hpp"
#include "combine.hpp"
#include "cost.hpp"
#include "relay.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

template <payload T, class Combine = plus>
struct scattered_all_reduce {
  using element = T;
  using combine = Combine;
  static constexpr const char* name = "scattered_all_reduce";
  static constexpr int colors = 6;

  int first = 0;          ///< the first of its colors
  area where = all;       ///< the rectangle, without strides
  team among = each_row;  ///< each_row or each_column

  constexpr axis direction() const { return among == team::row ? axis::x : axis::y; }

  constexpr void wire(layout& l) const {
    const region r = rectangle_of(l, where, name);
    if (among == team::rectangle) faults::this_collective_goes_along_rows_or_columns(name);
    claim_colors<T>(l, name, first, colors, r);
    for (int way : {0, 1}) {
      chain(r, way).template wire<T>(l);
      wire_turns(l, toward(r, way).side(way), {first + 4 + way});
    }
  }

  /// The slices of an array of n words on a line of P PEs, one after the other: with chunks that fit into the
  /// queues on their way no direction waits for the other. Short lines wait less than a slice costs.
  static constexpr int slices_of(int P, int n) {
    constexpr int longest_chunk = 8;
    return P < 8 ? 1 : (n - 1) / (longest_chunk * P) + 1;
  }

  /// The cost on a layout, in cycles, for `n` words. In a slice with chunks of c words, a sum and a command
  /// of each PE pass all PEs, and so do the words: those of both ways meet at the ramps, where every other
  /// one waits. Eight tasks and operations follow each other.
  constexpr f64 cycles(const layout& l, int n) const {
    const int P = length(rectangle_of(l, where, name), direction()), slices = slices_of(P, n);
    if (P == 1) return 0;
    const f64 c = f64(n) / slices / P, queued = c > fits ? c - fits : 0;
    const f64 words = P == 2 ? 4 * c : P < 8 ? (3 * P + 1) * c : (1.5 * P + 6) * c + (P - 1) * queued;
    return slices * ((handling + 2) * (P - 1) + words + 8 * restart);
  }

  /// The line of a rectangle whose root is its end to the east or south (0), or to the west or north (1).
  constexpr lines toward(const region& r, int way) const {
    return {r, direction(), way == 0 ? length(r, direction()) - 1 : 0};
  }
  /// The relay of the sums that travel to that end.
  constexpr relay chain(const region& r, int way) const { return {toward(r, way), first + 2 * way}; }

  template <auto net>
  class part {
   public:
    /// Combines the words of all PEs of a line and leaves the total in each of them. The arrays are equally
    /// long, and must not be touched before `done` happens.
    void start(pe& me, memory<T> words, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      if (words.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      must_agree_in_team<net>(me, r, words.length());
      size_ = length(r, net.direction());
      place_ = along(me.at() - corner(r), net.direction());
      all_ = words, done_ = done, slice_ = 0;
      for (int way : {0, 1}) chains_[way] = net.chain(r, way);
      next_slice(me);
    }

   private:
    void next_slice(pe& me) {
      const i64 n = all_.length(), slices = slices_of(size_, all_.length());
      if (size_ == 1 || slice_ == slices) return finish(me, net.first, all_[0], done_);
      const auto low = static_cast<int>(slice_ * n / slices), high = static_cast<int>(++slice_ * n / slices);
      words_ = all_.part(low, high - low);
      pass_to_east(me);
      pass_to_west(me);
    }
    /// The chunks of the slice from one on and before another.
    memory<T> chunks(int from, int to) const {
      const i64 n = words_.length();
      const auto low = static_cast<int>(from * n / size_), high = static_cast<int>(to * n / size_);
      return words_.part(low, high - low);
    }
    memory<T> own() const { return chunks(place_, place_ + 1); }
    bool is_first() const { return place_ == 0; }
    bool is_last() const { return place_ == size_ - 1; }
    color<T> sum_color(int way, int beyond) const {
      const int distance = chains_[way].where.distance_of(place_) + beyond;
      return {chains_[way].color_of(way, distance)};
    }
    color<T> out(int way) const { return sum_color(way, 0); }
    color<T> in(int way) const { return sum_color(way, 1); }
    static constexpr color<T> total(int way) { return {net.first + 4 + way}; }

    // The chunks of the farthest owners go first, so those to the east travel in reverse.
    void pass_to_east(pe& me) {
      const memory<T> theirs = chunks(place_ + 1, size_).reversed();
      if (is_last()) take_from_west(me);
      else if (is_first()) me.async(mov(fabout(out(0)), theirs), then<&part::take_from_west>());
      else
        me.async(combine_elements<Combine>(fabout(out(0)), fabin(in(0)), theirs),
                 then<&part::take_from_west>());
    }
    void pass_to_west(pe& me) {
      const memory<T> theirs = chunks(0, place_);
      if (is_first()) me.activate<&part::take_from_east>();
      else if (is_last()) me.async(mov(fabout(out(1)), theirs), then<&part::take_from_east>());
      else
        me.async(combine_elements<Combine>(fabout(out(1)), theirs, fabin(in(1))),
                 then<&part::take_from_east>());
    }
    // A PE takes the sum from the west before the one from the east, whichever comes first.
    void take_from_west(pe& me) {
      if (is_first()) return me.activate<&part::take_from_east>();
      const memory<T> mine = own().reversed();
      me.async(combine_elements<Combine>(mine, fabin(in(0)), mine), then<&part::take_from_east>());
    }
    void take_from_east(pe& me) {
      if (is_last()) return tell(me);
      me.async(combine_elements<Combine>(own(), own(), fabin(in(1))), then<&part::tell>());
    }

    // A PE sends its total over the line both ways and hears those of the others, the nearest first. One that
    // is no end hears its own as well: on a WSE-2 the position of a switch may not change both sides of a
    // route.
    void tell(pe& me) {
      if (is_last()) me.activate<&part::ended>(), me.activate<&part::ended>();
      else {
        me.async(mov(fabout(total(0)), own().reversed()), then<&part::told_east>());
        me.async(mov(chunks(is_first() ? 1 : place_, size_), fabin(total(1))), then<&part::ended>());
      }
      if (is_first()) me.activate<&part::ended>(), me.activate<&part::ended>();
      else {
        me.async(mov(fabout(total(1)), own()), then<&part::told_west>());
        me.async(mov(chunks(0, is_last() ? place_ : place_ + 1).reversed(), fabin(total(0))),
                 then<&part::ended>());
      }
    }
    void told_east(pe& me) { give_way(me, 0, is_first()); }
    void told_west(pe& me) { give_way(me, 1, is_last()); }
    /// The command behind a PE's words lets those from beyond pass; the farthest PE turns all switches back.
    void give_way(pe& me, int way, bool farthest) {
      me.send_control(total(way), farthest ? switch_rst : switch_adv);
      me.activate<&part::ended>();
    }
    void ended(pe& me) { next_slice(me); }

    memory<T> all_{nullptr, 0}, words_{nullptr, 0};
    completion done_{};
    relay chains_[2];
    int size_ = 0, place_ = 0, slice_ = 0;

   public:
    using tasks = task_list<local<&part::take_from_west>, joins<2, &part::take_from_east>, local<&part::tell>,
                            local<&part::told_east>, local<&part::told_west>, joins<4, &part::ended>,
                            may_steer<total(0), switch_adv, switch_rst>,
                            may_steer<total(1), switch_adv, switch_rst>, uses_colors<T, net.first, colors>>;
  };

 private:
  /// Words of a color that fit between a processor and its router.
  static constexpr int fits = 6;

  // At first a router takes its own PE's words; the command behind them lets those from beyond pass.
  // Commands travel only over routes with switches, so the farthest PE has one as well.
  constexpr void wire_turns(layout& l, const arm& a, color<T> c) const {
    if (a.reach == 0) return;
    l.path(c, a.cells(1, a.reach), ramp >> (ramp | a.inward()),
           switches{.pos1 = {.from = a.outward}, .pop = pop::on_advance});
    l.path(c, a.cell(a.reach), ramp >> a.inward(),
           switches{.pos1 = {.to = a.inward()}, .pop = pop::on_advance});
    l.path(c, a.roots, a.outward >> ramp);
  }
};

}  // namespace wsl::collective

namespace wsl {
using collective::scattered_all_reduce;
}
