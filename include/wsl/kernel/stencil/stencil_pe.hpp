// SPDX-License-Identifier: MIT
// The PE program of all stencils, and its layout. A PE exchanges cells with its four neighbours, marches as
// many steps as these cells allow, and begins anew. There is no global barrier, so distant parts of the grid
// may be steps apart. The exchange takes three colors for each direction, one for even and one for odd PEs,
// and one that leads back to the other end, for grids that go around. Cells that must reach a PE further away
// are passed on, one stage for each hop.
#pragma once
#include "side_exchange.hpp"
#include "tile.hpp"

namespace wsl::stencils {

/// Colors 0 to 11.
inline constexpr neighbours<f32> halo{.first = 0, .around_x = true, .around_y = true};

template <auto update, takes in, class T, class Storage>
struct stencil_pe {
  tile<update, in, T, Storage> here;
  int left = 0;   ///< steps of this launch that are still to do
  int stage = 0;  ///< the stage of the exchange before the next steps
  side_exchange<halo, stencil_pe> sides;

  void march(pe& me, int steps) {
    left = steps;
    if (left > 0) me.activate<&stencil_pe::begin>();
  }
  void begin(pe& me) {
    stage = 0;
    here.begin_exchange();
    me.activate<&stencil_pe::proceed>();
  }
  void proceed(pe& me) {
    if (stage < here.cut().stages()) sides.start(me, *this, then<&stencil_pe::exchanged>());
    else me.activate<&stencil_pe::advance>();
  }
  void exchanged(pe& me) {
    here.end_stage(stage++);
    me.activate<&stencil_pe::proceed>();
  }
  void advance(pe& me) {
    const int steps = std::min(left, here.cut().depth);
    here.end_exchange();
    here.march(steps);
    if constexpr (Storage::is_for_wafers) me.spend(here.step_cycles(me.machine()));
    if (left -= steps; left > 0) me.activate<&stencil_pe::begin>();
  }

  std::span<f32> outgoing(port side, int piece) { return here.outgoing(stage, side, piece); }
  std::span<f32> incoming(port side, int piece) { return here.incoming(stage, side, piece); }

  using tasks = task_list<launch<&stencil_pe::march>, local<&stencil_pe::begin>, local<&stencil_pe::proceed>,
                          long_running<local<&stencil_pe::advance>>, local<&stencil_pe::exchanged>,
                          use<&stencil_pe::sides>>;
};

/// wide x high PEs, each with the same program.
template <class Program>
constexpr layout plan(const machine& target, int wide, int high) {
  layout l{target, wide, high};
  l.place<Program>(all);
  halo.wire(l);
  return l;
}

}  // namespace wsl::stencils
