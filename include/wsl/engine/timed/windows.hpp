// SPDX-License-Identifier: MIT
// Windows of the timed engine: a few cycles in which each thread simulates its part of the grid by itself. A
// word takes a cycle for a hop, and a free place a cycle to be seen one hop away, so a router may be a cycle
// ahead of its neighbor. docs/engines/timed.md draws the two halves of a window. Within its part, a thread
// goes tile by tile, where a tile leans towards the origin by one router in each cycle, so that all before it
// is known and its state stays in the cache.
#pragma once
#include <cstring>
#include <span>

#include "event_queue.hpp"
#include "grid_cut.hpp"

namespace wsl::engines {

/// A thread's part of a half of a window, which changes with each cycle: lines from `first` on, before `end`.
struct window_part {
  int first = 0, end = 0;                  ///< in the first cycle
  int first_moves = 0, end_moves = 0;      ///< by so many lines in each cycle
  int first_touched = 0, end_touched = 0;  ///< the lines that only this thread may touch meanwhile
};

/// The parts of a grid that is cut into bands, one for each thread.
class window_parts {
 public:
  window_parts(const grid_cut& cut, int bands) : cut_(cut), bands_(bands) {}

  /// Cycles of a window, which event_table counts in a byte. At its end two lines of a band are left between
  /// those that wait for the second half.
  static int cycles(const grid_cut& cut) { return std::min(cut.span - 1, 250); }

  /// A band, from whose borders with others the part moves away.
  window_part band(int k) const {
    const int first = cut_.first_line(k, bands_), end = cut_.first_line(k + 1, bands_);
    window_part p{first, end, 0, 0, first, end};
    if (k > 0) ++p.first, p.first_moves = 1;
    else p.first_touched = -1;
    if (k + 1 < bands_) --p.end, p.end_moves = -1;
    else p.end_touched = end + 1;
    return p;
  }
  /// What band(k) and band(k + 1) have left at their border.
  window_part border(int k) const {
    const int at = cut_.first_line(k + 1, bands_);
    return {at - 1, at + 1, -1, 1, at - cut_.span, at + cut_.span};
  }

 private:
  const grid_cut& cut_;
  int bands_;
};

/// The routers of a grid, in tiles.
class tiled_grid {
 public:
  static constexpr int side = 16;  ///< routers of a tile, and of a block that has a byte in event_table::busy

  tiled_grid(int width, int height, bool columns, event_table& events)
      : width_(width), height_(height), columns_(columns), events_(events) {}

  static int blocks(int routers) { return (routers + side - 1) / side; }
  u32 blocks() const { return static_cast<u32>(blocks(width_) * blocks(height_)); }
  u32 block_of(coord c) const { return static_cast<u32>(c.y / side * blocks(width_) + c.x / side); }
  /// Calls visit(cycle, routers) with routers of a part at which something is due in that cycle, for all
  /// cycles of a window, in an order in which a router follows its neighbors by one cycle at most.
  template <class Visit>
  void sweep(const window_part& part, int cycles, Visit visit) {
    const int last = cycles - 1;
    const int from = std::min(part.first, part.first + last * part.first_moves);
    const int to = std::max(part.end, part.end + last * part.end_moves) + last;
    const box tiles = columns_ ? box{from / side, 0, blocks(to), blocks(height_ + last)}
                               : box{0, from / side, blocks(width_ + last), blocks(to)};
    for (int j = tiles.y; j < tiles.end_y; ++j)
      for (int i = tiles.x; i < tiles.end_x; ++i) {
        if (!is_busy(i, j, cycles)) continue;
        for (int k = 0; k < cycles; ++k) {
          u32 due[side * side];
          if (const u32 n = find_due(tile(i, j, k, part), static_cast<u8>(k), due))
            visit(k, std::span<const u32>(due, n));
        }
      }
  }

 private:
  struct box {
    int x, y, end_x, end_y;
  };

  box tile(int i, int j, int k, const window_part& part) const {
    box b{i * side - k, j * side - k, i * side - k + side, j * side - k + side};
    const int first = part.first + k * part.first_moves, end = part.end + k * part.end_moves;
    b.x = std::max(b.x, columns_ ? first : 0), b.end_x = std::min(b.end_x, columns_ ? end : width_);
    b.y = std::max(b.y, columns_ ? 0 : first), b.end_y = std::min(b.end_y, columns_ ? height_ : end);
    return b;
  }
  // A tile leans over its own block and some before it in each direction.
  bool is_busy(int i, int j, int cycles) const {
    const int before = blocks(cycles - 1);
    for (int y = std::max(j - before, 0); y <= std::min(j, blocks(height_) - 1); ++y)
      for (int x = std::max(i - before, 0); x <= std::min(i, blocks(width_) - 1); ++x)
        if (events_.is_busy(static_cast<u32>(y * blocks(width_) + x))) return true;
    return false;
  }
  u32 find_due(const box& b, u8 cycle, u32* due) const {
    u32 n = 0;
    for (int y = b.y; y < b.end_y; ++y) {
      const u32 row = static_cast<u32>(y) * static_cast<u32>(width_);
      const u8* const next = events_.next.data() + row;
      for (int x = b.x; x < b.end_x; x += 8) {
        const int end = std::min(x + 8, b.end_x);  // behind it another thread may write
        if (end == x + 8 && !any_of_eight(next + x, cycle)) continue;
        for (int k = x; k < end; ++k)
          if (next[k] == cycle) due[n++] = row + static_cast<u32>(k);
      }
    }
    return n;
  }
  static bool any_of_eight(const u8* bytes, u8 value) {
    constexpr u64 ones = ~u64{0} / 255;
    u64 eight;
    std::memcpy(&eight, bytes, 8);
    eight ^= ones * value;
    return ((eight - ones) & ~eight & (ones << 7)) != 0;
  }

  int width_, height_;
  bool columns_;
  event_table& events_;
};

}  // namespace wsl::engines
