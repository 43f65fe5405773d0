// SPDX-License-Identifier: MIT
// The game of life on tiles of cells: before each generation the tiles exchange their rims, corners included.
#include <wsl/collective/halo_exchange.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
using namespace wsl;

constexpr int R = 8, C = 8;  // cells of a tile
constexpr halo_exchange<i16> rim{.first = 0, .rows = R, .columns = C};

struct tile {
  i16 cell[rim.cells()]{}, next[rim.cells()]{};
  int left = 0;
  endpoint<rim> meeting;

  void run(pe& me, int n) {
    left = n;
    meeting.start(me, mem(cell), then<&tile::grow>());
  }
  void grow(pe& me) {
    for (int y = 1; y <= R; ++y)
      for (int x = 1; x <= C; ++x) {
        const i16* c = cell + y * rim.pitch() + x;
        const int near = c[-rim.pitch() - 1] + c[-rim.pitch()] + c[-rim.pitch() + 1] +
                         c[-1]                                 + c[1] +
                         c[rim.pitch() - 1]  + c[rim.pitch()]  + c[rim.pitch() + 1];
        next[y * rim.pitch() + x] = near == 3 || (near == 2 && *c);
      }
    mov(mem(cell), mem(next));
    if (--left) meeting.start(me, mem(cell), then<&tile::grow>());
  }
  using tasks = task_list<launch<&tile::run>, use<&tile::meeting>, local<&tile::grow>>;
};

/// The number of cells of W x H tiles that differ from a serial run.
int wrong(int W, int H, int generations) {
  layout world{wse2, W, H};
  world.place<tile>(all).wire(rim);
  std::vector<int> field(static_cast<std::size_t>(W * C * H * R));
  const auto at = [W](int x, int y) { return static_cast<std::size_t>(y * W * C + x); };
  // A glider that flies over several tiles, and a row of four cells.
  for (auto [x, y] : {coord{2, 1}, {3, 2}, {1, 3}, {2, 3}, {3, 3}, {20, 5}, {21, 5}, {22, 5}, {23, 5}})
    field[at(x % (W * C), y)] = 1;
  fabric f{world};
  for (int y = 0; y < H * R; ++y)
    for (int x = 0; x < W * C; ++x)
      f.program_at<tile>({x / C, y / R}).cell[(y % R + 1) * rim.pitch() + x % C + 1] =
        static_cast<i16>(field[at(x, y)]);
  f.launch<&tile::run>(all, generations);

  for (int t = 0; t < generations; ++t) {  // the same, serially
    std::vector<int> next(field.size());
    for (int y = 0; y < H * R; ++y)
      for (int x = 0; x < W * C; ++x) {
        int near = -field[at(x, y)];
        for (int v = std::max(y - 1, 0); v <= std::min(y + 1, H * R - 1); ++v)
          for (int u = std::max(x - 1, 0); u <= std::min(x + 1, W * C - 1); ++u) near += field[at(u, v)];
        next[at(x, y)] = near == 3 || (near == 2 && field[at(x, y)]);
      }
    field = next;
  }
  int alive = 0, differ = 0;
  for (int y = 0; y < H * R; ++y)
    for (int x = 0; x < W * C; ++x) {
      const int now = f.program_at<tile>({x / C, y / R}).cell[(y % R + 1) * rim.pitch() + x % C + 1];
      alive += now, differ += now != field[at(x, y)];
    }
  std::printf("after %d generations %d cells of %d x %d tiles are alive; %d differ from the serial run\n",
              generations, alive, W, H, differ);
  return differ;
}

int main() { return wrong(4, 3, 60) + wrong(1, 2, 25) == 0 ? 0 : 1; }
