// SPDX-License-Identifier: MIT
// wave25 with the wafer's own exchange, the localized broadcast of arXiv 2204.03775 (section
// "communication"), beside the relays of part.hpp. A line goes out in four directions and is heard by the
// next four PEs at once, because the routers copy it. One color a direction: the right to send rotates among
// five neighbours. A router has position 0 to pass on and hear, 1 to send, 2 to talk to itself, 3 to be the
// end of the way. Behind its words the sender gives one command to itself, its successor and the end of its
// way, and one more to itself. A header of its own, because routes that change cost compile time;
// tests/unit/kernel/wave25_rotating.cpp compares both.
//   wave25::rotating_simulation<nz> s{problem};
#pragma once
#include "../../fabric/switches.hpp"
#include "simulation.hpp"

namespace wsl::wave25 {

inline constexpr int senders = reach + 1;  ///< that take turns
inline constexpr port headings[] = {east, south, west, north};
template <int d>
inline constexpr color<f32> heading{d};

/// One direction: `way` is the line of PEs from where the words come.
constexpr void wire_rotation(layout& l, color<f32> c, const collective::arm& way) {
  const auto path = [&](const region& where, int place, ports on) {
    if (where.empty()) return;
    if (place == 0)
      return void(
          l.path(c, where, ramp >> on, switches{.pos1 = {.to = ramp}, .ring = true, .pop = pop::always}));
    switches s{.pos1 = {.from = ramp}, .pos2 = {.to = ramp}, .ring = true, .pop = pop::always};
    if (place >= reach) s.pos3 = {.from = way.inward()};
    s.start = place % senders == 0 ? 1 : place % senders == reach ? 3 : 0;
    l.path(c, where, way.inward() >> on, s);
  };
  if (way.reach == 0) return void(l.path(c, region{}, ramp >> ramp));  // nobody to talk to
  for (int place = 0; place < reach; ++place)
    path(way.cells(place, support::min(place + 1, way.reach)), place, way.outward | ramp);
  for (int place = reach; place < reach + senders; ++place)
    path(way.cells(place, way.reach, senders), place, way.outward | ramp);
  path(way.tip(), way.reach, ramp);
}

template <int nz>
struct rotating_part {
  tile<one_line<nz>> here;
  int left = 0;       ///< steps of this launch that are still to do
  int open = 0;       ///< ends of broadcasts at which this PE has not finished
  bool back = false;  ///< the exchange has come to its second half
  int heard[4]{};     ///< lines, by direction
  int turn[4]{};      ///< of the two things that end this PE's turn, those that are done

  void march(pe& me, int steps) {
    left = steps;
    here.begin_launch();
    if (left > 0) me.activate<&rotating_part::exchange>();
  }
  // A PE whose command waits for room starts no task, so it keeps others waiting who are before it on the way
  // of another color. Toward the east and south such waits end somewhere; with all four directions at once
  // they could go in a circle.
  void exchange(pe& me) {
    open = 4, back = false;
    begin<0>(me), begin<1>(me);
  }
  void exchange_back(pe& me) {
    open = 4, back = true;
    begin<2>(me), begin<3>(me);
  }
  template <int d>
  void begin(pe& me) {
    heard[d] = turn[d] = 0;
    if (ahead(me, d) + place(me, d) == 0) return ended(me), ended(me);  // nobody else in this direction
    me.async(mov(fabout(heading<d>), own(me)), then<&rotating_part::sent<d>>());
    listen<d>(me);
  }
  // The PE hands its turn on when its words are on the way and it is about to take them itself: a command
  // that waits for room keeps it from starting to.
  template <int d>
  void sent(pe& me) {
    if (++turn[d] < 2) return;
    me.send_control(heading<d>, {switch_adv, switch_adv, nop, nop, switch_adv});
    me.send_control(heading<d>, switch_adv);
    ended(me);
  }
  template <int d>
  void listen(pe& me) {
    const int hops = place(me, d) - sender(place(me, d), heard[d]++);
    const coord hop = step(headings[d]);
    me.async(mov(line({me.x() - hops * hop.x, me.y() - hops * hop.y}), fabin(heading<d>)),
             then<&rotating_part::took<d>>());
    if (hops == 0) sent<d>(me);
  }
  template <int d>
  void took(pe& me) {
    if (heard[d] < std::min(senders, place(me, d) + 1)) listen<d>(me);
    else ended(me);
  }
  void ended(pe& me) {
    if (--open > 0) return;
    if (back) me.activate<&rotating_part::exchanged>();
    else me.activate<&rotating_part::exchange_back>();
  }
  void exchanged(pe& me) {
    here.march(1);
    if (--left > 0) me.activate<&rotating_part::exchange>();
  }

  template <int d>
  using sent_to = local<&rotating_part::sent<d>>;
  template <int d>
  using took_from = local<&rotating_part::took<d>>;
  template <int d>
  using on_way = task_list<sends<heading<d>>, reads<heading<d>>, steers<heading<d>, switch_adv>>;
  using tasks = task_list<launch<&rotating_part::march>, local<&rotating_part::exchange>,
                          local<&rotating_part::exchange_back>, local<&rotating_part::exchanged>,
                          numbered<4, sent_to>, numbered<4, took_from>, numbered<4, on_way>>;
  static constexpr void wire(layout& l) {
    for (int d = 0; d < 4; ++d) {
      const collective::axis along = d % 2 ? collective::axis::y : collective::axis::x;
      const int forward = d < 2, far = collective::length(l.grid(), along) - 1;
      wire_rotation(l, color<f32>{d}, collective::lines{l.grid(), along, forward ? 0 : far}.side(forward));
    }
  }

 private:
  memory<f32> line(coord at) { return {here.now(at.x, at.y), nz}; }
  memory<f32> own(const pe& me) { return line(me.at()); }
  /// PEs before this one on the way of a direction, and behind it.
  static int place(const pe& me, int d) {
    const int at = d % 2 ? me.y() : me.x(), last = (d % 2 ? me.height() : me.width()) - 1;
    return d < 2 ? at : last - at;
  }
  static int ahead(const pe& me, int d) { return place(me, (d + 2) % 4); }
  /// Turns go by the place's rest: who is heard as the n-th at a place, itself among them.
  static int sender(int mine, int n) {
    for (int rest = 0; rest < senders; ++rest)
      for (int from = std::max(0, mine - reach); from <= mine; ++from)
        if (from % senders == rest && n-- == 0) return from;
    return mine;
  }
};

/// As wafer_simulation, with this exchange.
template <int nz>
using rotating_simulation = wafer_simulation<nz, rotating_part<nz>>;

}  // namespace wsl::wave25
