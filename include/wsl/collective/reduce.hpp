// SPDX-License-Identifier: MIT
// A reduce: the words of all PEs of a row, a column or the rectangle are combined element by element at a
// root, with any associative operation. By default the tactic (line_reduce.hpp) is the cheapest by the cost
// model for arrays of `words` words that needs no more than `colors` colors along an axis. In a rectangle the
// rows reduce first, then the root's column. See examples/20_gemv_collectives.cpp.
//   constexpr reduce<f32> sum{.first = 1, .among = each_row, .root = {edge - 1}, .words = 64};
//   endpoint<sum> summing; ... summing.start(me, mem(x), then<&worker::next>())
// Contributions are combined in the order of their PEs' indices, row by row; the tactic only sets the
// brackets. For B words on a line of P PEs a chain takes B + (2 T + 2) (P - 1) cycles, where T is the latency
// of a ramp. A star takes 2 (P - 1) + 3 cycles for single values and B + 1 for each PE's array; with groups
// of B + 1 PEs that is about P + (2 T + 2) B + 9. With the other two, each input waits for its first word
// and for the input before it, and in a tree later inputs delay earlier ones (inputs.hpp).
#pragma once
#include "../program/descriptor/box.hpp"
#include "combine.hpp"
#include "reduce_cost.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

template <payload T, class Combine = plus>
struct reduce {
  using element = T;
  using combine = Combine;
  static constexpr const char* name = "reduce";

  int first = 0;     ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  root_position root = {};  ///< a row uses only x, a column only y
  int words = 1;            ///< the length for which the automatic choice, or a grouped star, is optimized
  tactic how = tactic::automatic;
  /// the colors for each axis: a star needs 1 for each side of the root, a tree 1 for each level, the others
  /// 2
  int colors = 2;

  constexpr int all_colors() const { return among == team::rectangle ? 2 * colors - shares() : colors; }
  /// A root at the west or east edge receives its row on the first color only, so the column of the roots
  /// can use the second. A tree of more than one level needs both.
  constexpr bool shares() const {
    const bool at_edge = root.centred_from == root_position::never && root.x.offset == (root.x.far ? -1 : 0);
    return among == team::rectangle && at_edge && colors == 2 && how != tactic::tree;
  }

  /// `as` names the module for which it works, in messages.
  constexpr void wire(layout& l, const char* as = name) const {
    const region r = rectangle_of(l, where, as);
    claim_colors<T>(l, as, first, all_colors(), r);
    along(r, axis::x).template wire<T>(l, first);
    along(r, axis::y).template wire<T>(l, first_of(axis::y));
  }

  /// The cost on a layout, in cycles, for `n` words.
  constexpr f64 cycles(const layout& l, int n) const {
    const region r = rectangle_of(l, where, name);
    const f64 rows = reduce_cost{along(r, axis::x), n}.cycles(),
              columns = reduce_cost{along(r, axis::y), n}.cycles();
    return rows + columns + (rows > 0 && columns > 0 ? restart : 0);
  }

  /// The reduction of the lines along an axis.
  constexpr line_reduce along(const region& r, axis a) const { return on(lines_of(r, a, among, root, name)); }
  constexpr line_reduce on(const lines& those) const {
    const int of_tree = shares() && those.direction == axis::x ? 1 : colors;
    const line_reduce l = how == tactic::automatic ? cheapest(those, words, colors, may_switch(), of_tree)
                                                   : line_reduce{how, those, words};
    if (l.colors() > colors) faults::the_tactic_needs_more_colors(name, l.colors(), colors);
    return l;
  }
  constexpr int first_of(axis a) const {
    return a == axis::y && among == team::rectangle ? first + colors - shares() : first;
  }
  /// Whether its routes may have switches. If the tactic is not named, every machine must support switches
  /// on these colors.
  constexpr bool may_switch() const {
    u64 switched = wse2.switch_colors & wse3.switch_colors;
    if (how != tactic::automatic) return how != tactic::chain && how != tactic::tree;
    for (int c = first; c < first + all_colors(); ++c)
      if (c >= 64 || !(switched >> c & 1)) return false;
    return true;
  }

  template <auto net>
  class part {
   public:
    /// Combines the arrays of all PEs of a team into the root's; those of other PEs are overwritten. They
    /// are equally long, and must not be touched before `done` happens: then the root has the result, and
    /// any other PE has sent its contribution.
    void start(pe& me, memory<T> array, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      if (array.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      if (is_under_way()) faults::the_last_call_is_under_way(name, me.at());
      must_agree_in_team<net>(me, r, array.length());
      begin(me, r, array, done);
    }
    /// The same for a module that has asked what start asks.
    void begin(pe& me, const region& r, memory<T> array, const completion& done) {
      if (!planned_) plan(me.at() - corner(r), r);
      array_ = array, done_ = done, next_ = 0;
      go_on(me);
    }

    bool is_under_way() const { return next_ < steps_.size(); }

   private:
    void plan(coord at, const region& r) {
      planned_ = true;
      if (net.along(r, axis::x).append(steps_, at.x, net.first))
        net.along(r, axis::y).append(steps_, at.y, net.first_of(axis::y));
    }
    void go_on(pe& me) {
      if (next_ == steps_.size()) return finish(me, net.first, array_[0], done_);
      const line_reduce::step s = steps_[next_++];
      const completion then_what = next_ < steps_.size() ? then<&part::go_on>() : after(s);
      if (s.in < 0) return give(me, s, then_what);
      const auto all = box(array_, {s.times, array_.length()}, {0, 1});  // the sum, once for each sender
      if (s.out < 0) take(me, all, color<T>{s.in}, all, s.before, then_what);
      else take(me, fabout(color<T>{s.out}), color<T>{s.in}, array_, s.before, then_what);
    }
    completion after(const line_reduce::step& last) const {
      if constexpr (net.may_switch())
        if (last.behind != nop) return then<&part::turn>();
      return done_;
    }
    void give(pe& me, const line_reduce::step& s, const completion& then_what) {
      const color<T> out{s.out};
      if constexpr (net.may_switch())
        if (s.behind != nop && array_.length() == 1) return me.send(out, array_[0]), turn(me);
      me.async(mov(fabout(out), array_), then_what);
    }
    /// The last action of a PE where routes are switched: it lets others pass.
    void turn(pe& me) {
      const line_reduce::step& s = steps_[steps_.size() - 1];
      const color<T> out{s.out};
      if (s.behind == switch_rst) me.send_control(out, switch_rst);
      else me.send_control(out, {switch_adv, switch_adv});
      finish(me, net.first, array_[0], done_);
    }
    template <class To, class Sum>
    void take(pe& me, const To& to, color<T> from, const Sum& sum, bool before, const completion& then_what) {
      if (before) me.async(combine_elements<Combine>(to, fabin(from), sum), then_what);
      else me.async(combine_elements<Combine>(to, sum, fabin(from)), then_what);
    }

    memory<T> array_{nullptr, 0};
    completion done_{};
    line_reduce::steps steps_;
    int next_ = 0;
    bool planned_ = false;

    template <int k>
    using commands = may_steer<color<T>{net.first + k}, switch_adv, switch_rst>;

   public:
    using tasks = task_list<local<&part::go_on>,
                            when<net.may_switch(), local<&part::turn>, numbered<net.all_colors(), commands>>,
                            uses_colors<T, net.first, net.all_colors()>>;
  };
};

}  // namespace wsl::collective
