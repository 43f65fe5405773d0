// SPDX-License-Identifier: MIT
// What the march of a block on this computer prefetches: the lines of a tile's next planes, and of the next
// tile.
#pragma once
#include "storage.hpp"
#include "tiles.hpp"

namespace wsl::wave25 {

// While the steps of a tile go back, this goes back through the planes that the next tile in y will read. A
// call computes two planes of tile_y lines and prefetches tile_y / 2 lines, so that a step of a whole tile
// gets through tile_x / 4 planes; in eight steps these are more than the tile reads. Planes before the tile's
// first are those of its later steps, whose lines lean back as well.
template <class Storage>
void find_lines_of_next_tile(upcoming& soon, Storage& store, const lines& known, int x, const tile_step& of,
                             i64 time) {
  if (of.steps < 3) return;  // too little time for it: it would delay what is needed at once
  const int pair = of.pairs_before + (x - of.first_plane) / 2,
            plane = std::min(of.x + tile_x, of.computed.to) + reach - 1 - pair / 2,
            lean = std::max(0, of.x - plane + reach - 1) / reach * reach,
            y = of.y + tile_y - lean + pair % 2 * (tile_y / 2);
  if (lean > reach * of.steps || plane < of.computed.from - reach || plane >= of.computed.to + reach) return;
  if (!known.has(plane, y) || !known.has(plane, y + tile_y / 2 - 1)) return;
  const int now = static_cast<int>(time & 1);
  soon.next_u = store.field(now, plane, y + reach), soon.next_v = store.field(1 - now, plane, y);
  soon.next_k = store.factor(plane, y);
}

/// Lines of the planes after x, of a tile that began at `time` and whose lines begin at y in this step. The
/// tile before it in y has computed the first half of the lines that come in, and they are not in the second
/// cache any more; the other half has just been computed. A wafer has no caches.
template <class Storage>
upcoming upcoming_lines(Storage& store, const lines& known, int x, int y, const tile_step& of, i64 time) {
  if constexpr (Storage::is_for_wafers) return {};
  constexpr int planes = Storage::planes;
  const int last = known.x.to + reach - planes;  // planes that have memory
  const int now = static_cast<int>((time + of.step) & 1);
  upcoming soon{store.field(now, std::min(x + planes + reach, last), y),
                store.field(now, std::min(x + planes, last), y - reach),
                store.factor(std::min(x + planes, last), y)};
  soon.next_u = soon.next_v = soon.far, soon.next_k = soon.k;  // the same again, unless there are others
  find_lines_of_next_tile(soon, store, known, x, of, time);
  return soon;
}

}  // namespace wsl::wave25
