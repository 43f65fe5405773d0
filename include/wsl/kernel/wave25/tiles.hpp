// SPDX-License-Identifier: MIT
// The tiles in which a block of lines marches. Several steps between two exchanges only pay if they are done
// while the cells are in cache. So a block is cut into parallelogram tiles that lean back by four cells a
// step along x and y (time skewing): a tile finds all it needs in itself and in the tiles before it, and
// nothing is computed twice inside a block. For a cell and step 12 bytes cross the memory bus (16 with a
// velocity in each cell) without tiles, and a quarter of that with leaning tiles of 48 planes and `depth` 8.
// A tile shares 84 planes of 44 lines with its neighbour in y, which should still be in the last cache: 12 MB
// for lines of 256 cells. Longer tiles read less from memory but share more. What a tile is the first to read
// comes from memory. The steps of the tile before it prefetch that, a few lines at a time
// (upcoming_lines.hpp), for its first step would otherwise wait for most of it.
#pragma once
#include <limits>

#include "partition.hpp"

namespace wsl::wave25 {

/// Lines of a tile; and cells of all of its lines that are done before the next ones, so that the planes of a
/// stencil stay in the first cache.
inline constexpr int tile_x = 48, tile_y = 8, tile_z = 64;
static_assert(tile_y % 2 == 0, "find_lines_of_next_tile takes halves");
/// A step of a tile.
struct tile_step {
  int x, y;          ///< the lines with which the tile begins
  int step, steps;   ///< which one it is of how many
  range computed;    ///< the planes that are computed in any step of any tile
  int first_plane;   ///< that it computes
  int pairs_before;  ///< pairs of planes in the steps before

  /// The planes and rows of a whole tile in this step.
  range planes() const { return {x - reach * step, x - reach * step + tile_x}; }
  range rows() const { return {y - reach * step, y - reach * step + tile_y}; }
};

/// Calls f(lines, step) for the steps of all tiles of a part of a block, whose planes(n) and rows(n) are
/// computed in step n of `steps`, which counts from 1.
template <class Planes, class Rows, class F>
void each_tile_step(int steps, Planes planes, Rows rows, F f) {
  range tiles{std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}, computed = tiles;
  for (int s = 0; s < steps; ++s) {
    const range r = planes(s + 1);
    if (r.size() == 0) continue;
    tiles = {std::min(tiles.from, r.from + reach * s), std::max(tiles.to, r.to + reach * s)};
    computed = {std::min(computed.from, r.from), std::max(computed.to, r.to)};
  }
  const range y{rows(1).from, rows(1).to + reach * (steps - 1)};
  for (int x = tiles.from; x < tiles.to; x += tile_x)
    for (int first = y.from; first < y.to; first += tile_y) {
      tile_step of{x, first, 0, steps, computed, 0, 0};
      for (; of.step < steps; ++of.step) {
        const lines l{overlap(planes(of.step + 1), of.planes()), overlap(rows(of.step + 1), of.rows())};
        of.first_plane = l.x.from;
        f(l, of);
        of.pairs_before += (l.x.size() + 1) / 2;
      }
    }
}

}  // namespace wsl::wave25
