// SPDX-License-Identifier: MIT
// wave25 with the wafer's own exchange, the localized broadcast of arXiv 2204.03775 (section
// "communication"), beside the relays of wave_pe.hpp. A PE sends its line in four directions, and in each
// the next four PEs receive it at once, because the routers copy it. There is one color for each direction,
// and the right to send rotates among five neighbours. A router has four switch positions: 0 passes words on
// and delivers them, 1 sends, 2 loops a PE's words back to itself, and 3 is the end of the line. Behind its
// words the sender gives one command to itself, to its successor and to the end of its line, and one more to
// itself. It is a header of its own because routes that change cost compile time;
// tests/unit/kernel/wave25_rotating.cpp compares both exchanges.
//   wave25::rotating_simulation<nz> s{problem};
#pragma once
#include "../../layout/switches.hpp"
#include "simulation.hpp"

namespace wsl::wave25 {

inline constexpr int senders = reach + 1;  ///< the number of PEs that take turns as senders
inline constexpr port headings[] = {east, south, west, north};
template <int d>
inline constexpr color<f32> heading{d};

/// The routes of one direction; `way` is the line of PEs in the order of the words' way.
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
  if (way.reach == 0) return void(l.path(c, region{}, ramp >> ramp));  // there is no other PE
  for (int place = 0; place < reach; ++place)
    path(way.cells(place, support::min(place + 1, way.reach)), place, way.outward | ramp);
  for (int place = reach; place < reach + senders; ++place)
    path(way.cells(place, way.reach, senders), place, way.outward | ramp);
  path(way.tip(), way.reach, ramp);
}

template <int nz, class Storage = one_line<nz>>
struct rotating_wave_pe {
  using storage = Storage;

  subdomain<Storage> here;
  int left = 0;       ///< steps of this launch that are still to do
  int open = 0;       ///< ends of broadcasts at which this PE has not finished
  bool back = false;  ///< the exchange has come to its second half
  int heard[4]{};     ///< lines received, by direction
  int turn[4]{};      ///< how many of the two conditions that end this PE's turn are met, by direction

  void march(pe& me, int steps) {
    left = steps;
    here.begin_launch();
    if (left > 0) me.activate<&rotating_wave_pe::exchange>();
  }
  // A PE whose command waits for space starts no task, and so it delays PEs that precede it on the way of
  // another color. Toward the east and south such chains of waiting PEs end somewhere; with all four
  // directions at once they could form a cycle, a deadlock.
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
    if (ahead(me, d) + place(me, d) == 0) return ended(me), ended(me);  // no other PE in this direction
    me.async(mov(fabout(heading<d>), own(me)), then<&rotating_wave_pe::sent<d>>());
    listen<d>(me);
  }
  // A PE passes its turn on when its words have been sent and it is about to receive them itself: a command
  // that waits for space would keep it from doing so.
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
             then<&rotating_wave_pe::took<d>>());
    if (hops == 0) sent<d>(me);
  }
  template <int d>
  void took(pe& me) {
    if (heard[d] < std::min(senders, place(me, d) + 1)) listen<d>(me);
    else ended(me);
  }
  void ended(pe& me) {
    if (--open > 0) return;
    if (back) me.activate<&rotating_wave_pe::exchanged>();
    else me.activate<&rotating_wave_pe::exchange_back>();
  }
  void exchanged(pe& me) {
    here.march(1);
    me.spend(here.step_cycles(me.machine()));
    if (--left > 0) me.activate<&rotating_wave_pe::exchange>();
  }

  template <int d>
  using sent_to = local<&rotating_wave_pe::sent<d>>;
  template <int d>
  using took_from = local<&rotating_wave_pe::took<d>>;
  template <int d>
  using on_way = task_list<sends<heading<d>>, reads<heading<d>>, steers<heading<d>, switch_adv>>;
  using tasks = task_list<launch<&rotating_wave_pe::march>, local<&rotating_wave_pe::exchange>,
                          local<&rotating_wave_pe::exchange_back>, local<&rotating_wave_pe::exchanged>,
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
  /// The PEs before this one on the way of a direction, and those after it.
  static int place(const pe& me, int d) {
    const int at = d % 2 ? me.y() : me.x(), last = (d % 2 ? me.height() : me.width()) - 1;
    return d < 2 ? at : last - at;
  }
  static int ahead(const pe& me, int d) { return place(me, (d + 2) % 4); }
  /// Turns follow the remainder of the place: the PE that is received as the n-th at a place, which may be
  /// the PE itself.
  static int sender(int mine, int n) {
    for (int rest = 0; rest < senders; ++rest)
      for (int from = std::max(0, mine - reach); from <= mine; ++from)
        if (from % senders == rest && n-- == 0) return from;
    return mine;
  }
};

/// As wafer_simulation, with this exchange.
template <int nz>
using rotating_simulation = wafer_simulation<nz, rotating_wave_pe<nz>>;

}  // namespace wsl::wave25
