// SPDX-License-Identifier: MIT
// The PE program of wave25, and its layout. A PE exchanges lines with its four neighbours, each side for itself and at its own
// pace, marches as far as they carry it, and begins anew: nobody waits for all others, so distant parts of the grid may be steps
// apart. The exchange uses two colors a direction, one for even and one for odd PEs. Lines that must go further than to the
// neighbour are passed on, a stage for each hop.
#pragma once
#include <utility>

#include "../../collective/neighbours.hpp"
#include "tile.hpp"

namespace wsl::wave25 {

inline constexpr neighbours<f32> halo{0};  ///< colors 0 to 7

template <class Storage>
struct part {
  tile<Storage> here;
  int left = 0;                       ///< steps of this launch that are still to do
  int stage = 0;                      ///< of the exchange before the next steps
  int open = 0;                       ///< directions of this stage that are not done yet
  int pieces_out[5]{}, pieces_in[5]{};  ///< of this stage so far, by side

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
    open = 8;
    begin<east>(me), begin<west>(me), begin<north>(me), begin<south>(me);
  }
  template <port side>
  void begin(pe& me) {
    pieces_out[index_of(side)] = pieces_in[index_of(side)] = 0;
    send<side>(me);
    receive<side>(me);
  }

  // The completion of an operation starts the next. An activation is one bit, so each of the eight directions has a task of its own.
  template <port side>
  void send(pe& me) {
    const auto words = halo.edge(me, side) ? std::span<f32>{} : here.outgoing(stage, side, pieces_out[index_of(side)]++);
    if (words.empty()) return done(me);
    me.async(mov(fabout(halo.out(me, side)), mem(words)), then<&part::send<side>>());
  }
  template <port side>
  void receive(pe& me) {
    const auto words = halo.edge(me, side) ? std::span<f32>{} : here.incoming(stage, side, pieces_in[index_of(side)]++);
    if (words.empty()) return done(me);
    me.async(mov(mem(words), fabin(halo.in(me, side))), then<&part::receive<side>>());
  }
  void done(pe& me) {
    if (--open > 0) return;
    ++stage;
    me.activate<&part::proceed>();
  }

  static consteval auto tasks() {
    return table(launch<&part::march>(), local<&part::proceed>(),
                 local<&part::send<east>>(), local<&part::send<west>>(), local<&part::send<north>>(), local<&part::send<south>>(),
                 local<&part::receive<east>>(), local<&part::receive<west>>(), local<&part::receive<north>>(), local<&part::receive<south>>(),
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
