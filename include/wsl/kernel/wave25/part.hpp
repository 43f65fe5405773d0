// SPDX-License-Identifier: MIT
// The PE program of wave25, and its layout. A PE exchanges lines with its four neighbours, each side for itself and at its own
// pace, marches as far as they carry it, and begins anew: nobody waits for all others, so distant parts of the grid may be steps
// apart. The exchange uses two colors a direction, one for even and one for odd PEs. Lines that must go further than to the
// neighbour are passed on, a stage for each hop.
#pragma once
#include <utility>

#include "../../collective/neighbours.hpp"
#include "mailboxes.hpp"

namespace wsl::wave25 {

inline constexpr neighbours<f32> halo{0};  ///< colors 0 to 7

template <class Storage>
struct part {
  tile<Storage> here;
  mailboxes<Storage> boxes;
  int left = 0;   ///< steps of this launch that are still to do
  int stage = 0;  ///< of the exchange before the next steps
  int open = 0;   ///< operations of this stage in flight

  void march(pe& me, int steps) {
    left = steps;
    here.begin_launch();
    if (left > 0) me.activate<&part::proceed>();
  }

  void proceed(pe& me) {
    if (stage < here.cut().stages()) return exchange(me);
    const int steps = std::min(left, here.cut().depth);
    here.march(steps);
    stage = 0;
    if (left -= steps; left > 0) me.activate<&part::proceed>();
  }

  void exchange(pe& me) {
    open = 1;  // this task
    (talk<east>(me), talk<west>(me), talk<north>(me), talk<south>(me));
    joined(me);
  }

  template <port side>
  void talk(pe& me) {
    if (halo.edge(me, side)) return;
    if (const auto words = boxes.sending(here, stage, side); !words.empty()) {
      ++open;
      me.async(mov(fabout(halo.out(me, side)), mem(words)), then<&part::sent<side>>());
    }
    if (const auto words = boxes.receiving(here, stage, side); !words.empty()) {
      ++open;
      me.async(mov(mem(words), fabin(halo.in(me, side))), then<&part::received<side>>());
    }
  }

  // An activation is one bit, so each of the eight operations has a task of its own.
  template <port side>
  void sent(pe& me) { joined(me); }
  template <port side>
  void received(pe& me) {
    boxes.take_in(here, stage, side);
    joined(me);
  }
  void joined(pe& me) {
    if (--open > 0) return;
    ++stage;
    me.activate<&part::proceed>();
  }

  static consteval auto tasks() {
    return table(launch<&part::march>(), local<&part::proceed>(),
                 local<&part::sent<east>>(), local<&part::sent<west>>(), local<&part::sent<north>>(), local<&part::sent<south>>(),
                 local<&part::received<east>>(), local<&part::received<west>>(), local<&part::received<north>>(), local<&part::received<south>>(),
                 sends<halo>(), reads_all(std::make_index_sequence<8>{}));
  }

 private:
  template <std::size_t... i>
  static consteval auto reads_all(std::index_sequence<i...>) { return table(reads<halo.colors()[i]>()...); }
};

/// wide x high PEs, each with the same program.
template <class Storage>
constexpr layout plan(const machine& target, int wide, int high) {
  layout l{target, wide, high};
  l.place(all, program_v<part<Storage>>);
  halo.wire(l);
  return l;
}

}  // namespace wsl::wave25
