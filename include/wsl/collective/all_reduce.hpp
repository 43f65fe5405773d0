// SPDX-License-Identifier: MIT
// An all-reduce: every PE of a row, a column or the rectangle contributes, and all learn the total. It is a
// reduce to one PE and a broadcast from it, and takes four colors for a rectangle, or with `.colors = 1` a
// single one and more time (single_color.hpp). The module has two parts: a constant that wires the layout,
// and a member of the PE program that holds its state and tasks. That member is an endpoint for arrays, and a
// reducer for single values, for which a task for each total is quicker:
//   constexpr all_reduce<f32> sum{0};                                  // colors 0 to 3
//   struct solver { endpoint<sum> summing; ... summing.start(me, mem(x), then<&solver::next>()) ... };
//   struct worker { reducer<sum> reduce; ... use<&worker::reduce>, on<sum.total(), &worker::done> ... };
// The total is the same on every PE, bit for bit: rows are combined from the west, then their results from
// the north. With the total in the centre of a line (.place = total_at::centre) the PEs to the west are
// joined before the centre's own words and those to the east behind them: the same order with other
// brackets. For B words and P PEs a chain and the broadcast take B + (2 T + 2) (P - 1) and B + P + 2 T
// cycles, where T is the latency of a ramp. See examples/10_all_reduce.cpp.
#pragma once
#include "broadcast.hpp"
#include "reduce.hpp"
#include "single_color.hpp"
#include "total_place.hpp"

namespace wsl::collective {

template <payload T, class Combine = plus>
struct all_reduce {
  using element = T;
  using combine = Combine;
  static constexpr const char* name = "all_reduce";

  int first;         ///< the first of its colors
  area where = all;  ///< the rectangle, without strides
  team among = everyone;
  /// the length of the arrays; with 1 the total is sent as a reducer needs it, with one more word
  int words = 1;
  tactic how = tactic::chain;  ///< the tactic of the reduce; a reducer uses chains
  /// the colors of the reduce on each axis; with 1 the module uses no other color, and the reduce is a star
  int colors = 2;
  total_at place = total_at::corner;  ///< a single color and a reducer have it in the corner

  constexpr bool uses_single_color() const { return colors == 1; }
  constexpr root_position root() const {
    return {edge - 1, edge - 1, centred_from(place, reduce_to(in_the_middle), name)};
  }
  constexpr reduce<T, Combine> reduce_to(root_position to) const {
    return {first, where, among, to, words, uses_single_color() ? tactic::star : how, colors};
  }
  constexpr reduce<T, Combine> reduce_part() const { return reduce_to(root()); }
  constexpr broadcast<T> broadcast_part() const {
    return {uses_single_color() ? first : first + reduce_part().all_colors(), where, among, root(),
            words == 1 && !uses_single_color()};
  }
  /// The color on which the total arrives at every PE.
  constexpr color<T> total() const { return broadcast_part().line(); }

  constexpr void wire(layout& l) const {
    if (uses_single_color()) return single_color::wire(l, *this);
    reduce_part().wire(l, name);
    broadcast_part().wire(l, name);
  }
  /// The cost on a layout, in cycles, for `n` words.
  constexpr f64 cycles(const layout& l, int n) const {
    return uses_single_color() ? single_color::cycles(l, *this, n)
                               : reduce_part().cycles(l, n) + restart + broadcast_part().cycles(l, n);
  }

  template <auto net>
  class reduce_then_broadcast {
   public:
    /// Combines the arrays of all PEs of a team and leaves the total in each of them. The arrays are
    /// equally long, and must not be touched before `done` happens.
    void start(pe& me, memory<T> array, completion done = then_nothing) {
      const region r = rectangle_of(me, net.where, name);
      if (array.length() < 1) faults::a_collective_moves_at_least_one_word(name, me.at());
      if (reducing_.is_under_way()) faults::the_last_call_is_under_way(name, me.at());
      must_agree_in_team<net>(me, r, array.length());
      array_ = array, done_ = done;
      reducing_.begin(me, r, array, then<&reduce_then_broadcast::spread>());
    }

   private:
    void spread(pe& me) { broadcasting_.begin(me, rectangle_of(me, net.where, name), array_, done_); }

    endpoint<net.reduce_part()> reducing_;
    endpoint<net.broadcast_part()> broadcasting_;
    memory<T> array_{nullptr, 0};
    completion done_{};

   public:
    using tasks =
        task_list<use<&reduce_then_broadcast::reducing_>, use<&reduce_then_broadcast::broadcasting_>,
                  local<&reduce_then_broadcast::spread>>;
  };
  template <auto net>
  using part =
      std::conditional_t<net.uses_single_color(), single_color_all_reduce<net>, reduce_then_broadcast<net>>;
};

/// The state and the tasks of a PE for an all_reduce of single values over a rectangle.
template <auto net>
class reducer {
  using T = typename decltype(net)::element;
  static_assert(
      net.among == everyone && net.how == tactic::chain && net.words == 1 && !net.uses_single_color() &&
          net.place == total_at::corner,
      "wsl: a reducer joins single values over the rectangle, in chains; otherwise use an endpoint");

 public:
  /// Contributes this PE's part of the next total. Each PE contributes once for each total, and not again
  /// before the total has arrived.
  void contribute(pe& me, T value) {
    if (row_.complete(me, value, partial::own, me.x() == inside(me).x0)) pass_row(me);
  }
  /// A number of another type becomes the payload, as in lane::send.
  template <detail::other_than<T> Value>
  void contribute(pe& me, const Value& value) {
    contribute(me, detail::as_payload<T>(value));
  }

 private:
  // The color that the PE at a distance from the last PE of its line sends. The column of the last PEs
  // receives its rows on row(1), and has row(2) for itself.
  static constexpr color<T> row(int distance) { return {net.first + (distance + 1) % 2}; }
  static constexpr color<T> column(int distance) { return {net.first + 1 + (distance + 1) % 2}; }
  static_assert(row(2) == column(1) && column(1).id == net.reduce_part().first_of(axis::y));

  // A sum of two parts in a fixed order, whichever comes first: the one from the west or north, then this
  // PE's. The first PE of a line has only its own.
  struct partial {
    enum origin : u8 { nothing, before, own };
    T value{};
    origin waits = nothing;
    bool complete(const pe& me, T part, origin from, bool alone) {
      if (waits == from)
        throw fault("wsl: " + text_of(coord{me.x(), me.y()}) +
                    " has two contributions to one total of an all_reduce: contribute again when the total "
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
using collective::all_reduce, collective::reducer, collective::total_at;
}
