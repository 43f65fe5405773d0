// SPDX-License-Identifier: MIT
// The PE program of wave25, and its layout. A PE exchanges lines with its four neighbours, each side for
// itself and at its own pace, marches as far as they carry it, and begins anew: nobody waits for all others,
// so distant parts of the grid may be steps apart. The exchange uses two colors a direction, one for even and
// one for odd PEs. Lines that must go further than to the neighbour are passed on, a stage for each hop.
#pragma once
#include "../stencil/side_exchange.hpp"
#include "tile.hpp"

namespace wsl::wave25 {

inline constexpr neighbours<f32> halo{0};  ///< colors 0 to 7

template <class Storage>
struct part {
  tile<Storage> here;
  int left = 0;   ///< steps of this launch that are still to do
  int stage = 0;  ///< of the exchange before the next steps
  side_exchange<halo, part> sides;

  void march(pe& me, int steps) {
    left = steps;
    here.begin_launch();
    if (left > 0) me.activate<&part::proceed>();
  }

  void proceed(pe& me) {
    if (stage < here.cut().stages()) sides.start(me, *this, then<&part::exchanged>());
    else me.activate<&part::advance>();
  }
  void advance(pe& me) {
    const int steps = std::min(left, here.cut().depth);
    here.march(steps);
    stage = 0;
    if (left -= steps; left > 0) me.activate<&part::proceed>();
  }
  void exchanged(pe& me) {
    ++stage;
    me.activate<&part::proceed>();
  }

  std::span<f32> outgoing(port side, int piece) { return here.outgoing(stage, side, piece); }
  std::span<f32> incoming(port side, int piece) { return here.incoming(stage, side, piece); }

  using tasks = task_list<launch<&part::march>, local<&part::proceed>, long_running<local<&part::advance>>,
                          local<&part::exchanged>, use<&part::sides>>;
  static constexpr void wire(layout& l) { halo.wire(l); }
};

/// wide x high PEs, each with the same program.
template <class Storage, class Program = part<Storage>>
constexpr layout plan(const machine& target, int wide, int high) {
  layout l{target, wide, high};
  l.place<Program>(all);
  Program::wire(l);
  return l;
}

}  // namespace wsl::wave25
