// SPDX-License-Identifier: MIT
// Every PE of a row, a column or the rectangle contributes and learns the total: a reduce to one PE, then a
// broadcast from it. Four colors for a rectangle; or with `.colors = 1` a single one, which takes longer
// (taking_turns.hpp). The module has two parts: a constant that wires the layout, and a member of the PE
// program that holds its state and tasks. For arrays that member is the endpoint; for single values, where a
// task per total is quicker, the reducer:
//   constexpr all_reduce<f32> sum{0};                                  // colors 0 to 3
//   struct solver { endpoint<sum> summing; ... summing.start(me, mem(x), then<&solver::next>()) ... };
//   struct worker { reducer<sum> reduce; ... use<&worker::reduce>, on<sum.total(), &worker::done> ... };
// The total is the same on every PE, bit for bit: rows are joined from the west, then their results from the
// north. A chain of P PEs and the broadcast take B + (2 T + 2) (P - 1) and B + P + 2 T cycles for B words.
// See examples/10_all_reduce.cpp.
#pragma once
#include "broadcast.hpp"
#include "reduce.hpp"
#include "taking_turns.hpp"

namespace wsl::collective {

template <payload T, class Combine = plus>
struct all_reduce {
  using element = T;
  using combine = Combine;
  static constexpr const char* name = "all_reduce";

  int first;         ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  /// of the arrays; with 1 the total goes to all as a reducer needs it, in one more word
  int words = 1;
  tactic how = tactic::chain;  ///< of the reduce; a reducer has chains
  /// of the reduce, for each axis; with 1 there is no other, and the reduce is a star
  int colors = 2;

  constexpr bool takes_turns() const { return colors == 1; }
  constexpr reduce<T, Combine> gathering() const {
    return {first, where, among, {edge - 1, edge - 1}, words, takes_turns() ? tactic::star : how, colors};
  }
  constexpr broadcast<T> spreading() const {
    return {takes_turns() ? first : first + gathering().all_colors(),
            where,
            among,
            {edge - 1, edge - 1},
            words == 1 && !takes_turns()};
  }
  /// The color on which the total arrives at every PE.
  constexpr color<T> total() const { return spreading().line(); }

  constexpr void wire(layout& l) const {
    if (takes_turns()) return turns::wire(l, *this);
    gathering().wire(l, name);
    spreading().wire(l, name);
  }
  /// What it takes on a layout, in cycles, with `n` words.
  constexpr f64 cycles(const layout& l, int n) const {
    return takes_turns() ? turns::cycles(l, *this, n)
                         : gathering().cycles(l, n) + restart + spreading().cycles(l, n);
  }

  template <auto net>
  class two_modules {
   public:
    /// Joins the arrays of all PEs of a team and leaves the total in each.
    void start(pe& me, memory<T> array, completion done = none<T>(net.first)) {
      array_ = array, done_ = done;
      gathering_.start(me, array, then<&two_modules::spread>());
    }

   private:
    void spread(pe& me) { spreading_.start(me, array_, done_); }

    endpoint<net.gathering()> gathering_;
    endpoint<net.spreading()> spreading_;
    memory<T> array_{nullptr, 0};
    completion done_{};

   public:
    using tasks =
        task_list<use<&two_modules::gathering_>, use<&two_modules::spreading_>, local<&two_modules::spread>>;
  };
  template <auto net>
  using part = std::conditional_t<net.takes_turns(), taking_turns<net>, two_modules<net>>;
};

/// What a PE keeps of an all_reduce of single values over a rectangle, and what it does for it.
template <auto net>
class reducer {
  using T = typename decltype(net)::element;
  static_assert(
      net.among == everyone && net.how == tactic::chain && net.words == 1 && !net.takes_turns(),
      "wsl: a reducer joins single values over the rectangle, in chains; otherwise use an endpoint");

 public:
  /// This PE's part of the next total; each PE contributes once for each total, and not again before the
  /// total has come.
  void contribute(pe& me, T value) {
    if (row_.complete(me, value, partial::own, me.x() == inside(me).x0)) pass_row(me);
  }

 private:
  // What the PE at a distance from the last one sends. The column of the last PEs hears its rows on row(1),
  // and has row(2) for itself.
  static constexpr color<T> row(int distance) { return {net.first + (distance + 1) % 2}; }
  static constexpr color<T> column(int distance) { return {net.first + 1 + (distance + 1) % 2}; }
  static_assert(row(2) == column(1) && column(1).id == net.gathering().first_of(axis::y));

  // A sum of two parts: the one from the west or north and this PE's, in this order whichever comes first.
  // The first PE of a line has only its own.
  struct partial {
    enum origin : u8 { nothing, before, own };
    T value{};
    origin waits = nothing;
    bool complete(const pe& me, T part, origin from, bool alone) {
      if (waits == from)
        throw fault("wsl: PE(" + std::to_string(me.x()) + ", " + std::to_string(me.y()) +
                    ") has two contributions to one total of an all_reduce: contribute again when the total "
                    "has come");
      if (waits == nothing) value = part;
      else value = from == own ? join(value, part) : join(part, value);
      waits = waits == nothing && !alone ? from : nothing;
      return waits == nothing;
    }
    static T join(T first, T second) { return typename decltype(net)::combine{}(first, second); }
  };

  void add(pe& me, T part) { me.x() + 1 < inside(me).x1 ? add_to_row(me, part) : add_to_column(me, part); }
  void add_to_row(pe& me, T part) {
    if (row_.complete(me, part, partial::before, false)) pass_row(me);
  }
  void add_to_column(pe& me, T part) {
    if (column_.complete(me, part, partial::before, false)) pass_column(me);
  }
  void pass_row(pe& me) {
    const region r = inside(me);
    if (me.x() + 1 < r.x1) return me.send(row(r.x1 - 1 - me.x()), row_.value);
    if (column_.complete(me, row_.value, partial::own, me.y() == r.y0)) pass_column(me);
  }
  void pass_column(pe& me) {
    const region r = inside(me);
    if (me.y() + 1 < r.y1) me.send(column(r.y1 - 1 - me.y()), column_.value);
    else me.send(net.total(), column_.value);
  }
  region inside(const pe& me) const { return resolve(net.where, {0, me.width(), 0, me.height()}); }

  partial row_, column_;

 public:
  using tasks =
      task_list<on<row(1), &reducer::add_to_row>, on<row(2), &reducer::add>,
                on<column(2), &reducer::add_to_column>, sends<row(1), row(2), column(2), net.total()>>;
};

}  // namespace wsl::collective

namespace wsl {
using collective::all_reduce, collective::reducer;
}
