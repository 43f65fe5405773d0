// SPDX-License-Identifier: MIT
// Who a PE of the wafer algorithm talks to: the neighbours above and below, and the next PE of its row, which
// is closed to a ring by a color that runs back through all PEs between. Seven colors, one less than a PE of
// the wafer has input queues, so no PE sends and receives the same one. See wafer_pe.hpp.
#pragma once
#include <array>

#include "../../wsl.hpp"

namespace wsl::monte_carlo {

struct wafer_links {
  int first;  ///< the first of seven colors

  constexpr std::array<color<f32>, 7> colors() const {
    return {up(0), up(1), down(0), down(1), along(0), along(1), around()};
  }

  /// The color with which a PE sends north or south, and the one that comes from there.
  color<f32> out(const pe& me, port side) const { return side == north ? up(me.y() % 2) : down(me.y() % 2); }
  color<f32> in(const pe& me, port side) const {
    return side == north ? down(1 - me.y() % 2) : up(1 - me.y() % 2);
  }
  /// Along the ring: to the next PE, from the one before.
  color<f32> onward(const pe& me) const { return me.east_edge() ? around() : along(me.x() % 2); }
  color<f32> behind(const pe& me) const { return me.west_edge() ? around() : along(1 - me.x() % 2); }

  constexpr void wire(layout& l) const {
    l.claim_colors("wafer_links", first, 7, l.grid());
    for (int p = 0; p < 2; ++p) {
      l.path(up(p), rows(p ? 1 : 2, edge, 2), ramp >> north)
          .path(up(p), rows(p ? 0 : 1, edge - 1, 2), south >> ramp);
      l.path(down(p), rows(p, edge - 1, 2), ramp >> south).path(down(p), rows(p + 1, edge, 2), north >> ramp);
      l.path(along(p), columns(p, edge - 1, 2), ramp >> east)
          .path(along(p), columns(p + 1, edge, 2), west >> ramp);
    }
    if (l.width() == 1) return void(l.path(around(), region{}, ramp >> west));
    l.path(around(), column(edge - 1), ramp >> west)
        .path(around(), columns(1, edge - 1), east >> west)
        .path(around(), column(0), east >> ramp);
  }

 private:
  constexpr color<f32> up(int parity) const { return {first + parity}; }
  constexpr color<f32> down(int parity) const { return {first + 2 + parity}; }
  constexpr color<f32> along(int parity) const { return {first + 4 + parity}; }
  constexpr color<f32> around() const { return {first + 6}; }
};

}  // namespace wsl::monte_carlo
