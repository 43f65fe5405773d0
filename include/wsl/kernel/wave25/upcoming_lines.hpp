// SPDX-License-Identifier: MIT
// What the march of a block on this computer prefetches: the lines of a tile's next planes, and of the next
// tile. See tile.hpp for the tiles.
#pragma once
#include <algorithm>

#include "partition.hpp"
#include "storage.hpp"

namespace wsl::wave25 {

/// Lines of a tile; and cells of all of its lines that are done before the next ones, so that the planes of a
/// stencil stay in the first cache.
inline constexpr int tile_x = 48, tile_y = 8, tile_z = 64;
static_assert(tile_x % 4 == 0 && tile_y % 2 == 0, "find_lines_of_next_tile takes quarters and halves");
/// A step of a tile: the lines with which the tile begins, and which one it is of how many.
struct tile_step {
  int x, y, step, steps;
};

// While the steps of a tile go back, this goes back through the planes that the next tile in y will read. A
// call computes two planes of tile_y lines and prefetches tile_y / 2 lines, so that a step gets through
// tile_x / 4 planes; in eight steps these are more than the tile reads. Planes before the tile's first are
// those of its later steps, whose lines lean back as well.
template <class Storage>
void find_lines_of_next_tile(upcoming& soon, Storage& store, const lines& known, int x, const tile_step& of,
                             i64 time) {
  if (of.steps < 3) return;  // too little time for it: it would delay what is needed at once
  const int pair = (x - (of.x - reach * of.step)) / 2,
            plane = of.x + tile_x + reach - 1 - of.step * (tile_x / 4) - pair / 2,
            lean = std::max(0, of.x - plane + reach - 1) / reach * reach,
            y = of.y + tile_y - lean + pair % 2 * (tile_y / 2);
  if (lean > reach * of.steps || !known.has(plane, y) || !known.has(plane, y + tile_y / 2 - 1)) return;
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
