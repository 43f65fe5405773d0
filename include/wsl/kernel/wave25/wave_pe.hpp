// SPDX-License-Identifier: MIT
// The PE program of wave25, and its layout. A PE exchanges lines with its four neighbours, marches as many
// steps as these lines allow, and begins anew. There is no global barrier, so distant parts of the grid may
// be steps apart. The exchange takes two colors for each direction, one for even and one for odd PEs. Lines
// that must reach a PE further away are passed on, one stage for each hop. Where borders drift (drift.hpp),
// there is another stage in the middle of a march.
#pragma once
#include "../stencil/side_exchange.hpp"
#include "subdomain.hpp"

namespace wsl::wave25 {

inline constexpr neighbours<f32> halo{0};  ///< colors 0 to 7

template <class Storage>
struct wave_pe {
  using storage = Storage;

  subdomain<Storage> here;
  int left = 0;   ///< steps of this launch that are still to do
  int steps = 0;  ///< those of this march
  int stage = 0;  ///< of the exchange before a march, or after it that of borders that drift
  side_exchange<halo, wave_pe> sides;

  void march(pe& me, int all) {
    left = all, stage = 0;
    here.begin_launch();
    if (left > 0) me.activate<&wave_pe::proceed>();
  }

  void proceed(pe& me) {
    if (stage < here.cut().stages()) sides.start(me, *this, then<&wave_pe::exchanged>());
    else me.activate<&wave_pe::advance>();
  }
  void exchanged(pe& me) {
    ++stage;
    me.activate<&wave_pe::proceed>();
  }
  void advance(pe& me) {
    steps = std::min(left, here.cut().depth);
    if (here.cut().drifts()) {
      here.begin_drift(steps);
      return sides.start(me, *this, then<&wave_pe::grow>());
    }
    here.march(steps);
    if constexpr (Storage::is_for_wafers) me.spend(here.step_cycles(me.machine()));
    marched(me);
  }
  void grow(pe& me) {
    here.end_drift();
    marched(me);
  }
  void marched(pe& me) {
    left -= steps;
    if (left == 0 && here.has_drifted()) {  // the host looks for cells on the PEs that own them at first
      here.begin_return();
      return sides.start(me, *this, then<&wave_pe::returned>());
    }
    stage = 0;
    if (left > 0) me.activate<&wave_pe::proceed>();
  }
  void returned(pe&) { here.end_return(); }

  std::span<f32> outgoing(port side, int piece) { return here.outgoing(stage, side, piece); }
  std::span<f32> incoming(port side, int piece) { return here.incoming(stage, side, piece); }

  using tasks = task_list<launch<&wave_pe::march>, local<&wave_pe::proceed>, local<&wave_pe::exchanged>,
                          long_running<local<&wave_pe::advance>>, long_running<local<&wave_pe::grow>>,
                          local<&wave_pe::returned>, use<&wave_pe::sides>>;
  static constexpr void wire(layout& l) { halo.wire(l); }
};

/// wide x high PEs, each with the same program.
template <class Storage, class Program = wave_pe<Storage>>
constexpr layout plan(const machine& target, int wide, int high) {
  layout l{target, wide, high};
  l.place<Program>(all);
  Program::wire(l);
  return l;
}

}  // namespace wsl::wave25
