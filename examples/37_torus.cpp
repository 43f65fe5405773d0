// SPDX-License-Identifier: MIT
// Heat on a torus whose size is known only at run time: 37_torus <columns> <rows> <steps>. The cells are
// divided over 5 x 3 PEs as evenly as possible, so tiles differ by a row or a column of cells. The exchange
// of rims leads around both edges, and one task awaits it before each step.
#include <wsl/collective/awaited.hpp>
#include <wsl/collective/halo_exchange.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>
using namespace wsl;

constexpr int W = 5, H = 3;
constexpr halo_exchange<f32> rim{.first = 0, .around_x = true, .around_y = true};  // 12 colors

struct tile {
  tile_shape shape;
  std::vector<f32> u, next;  // with the rim, row by row
  awaited<rim> fill;

  void resize(tile_shape of_tile) {
    shape = of_tile;
    u.resize(static_cast<std::size_t>(shape.cells())), next = u;
  }
  f32& at(int row, int column) { return u[static_cast<std::size_t>((row + 1) * shape.pitch() + column + 1)]; }

  task run(pe& me, int steps) {
    while (steps-- > 0) {
      co_await fill(me, mem(std::span(u)), shape);
      for (int row = 0; row < shape.rows; ++row)
        for (int column = 0; column < shape.columns; ++column)
          next[static_cast<std::size_t>((row + 1) * shape.pitch() + column + 1)] =
            0.5f * at(row, column) +
            0.125f * (at(row - 1, column) + at(row + 1, column) + at(row, column - 1) + at(row, column + 1));
      u.swap(next);
    }
  }
  using tasks = task_list<launch<&tile::run>, use<&tile::fill>>;
};
constexpr layout torus = layout{wse2, W, H}.place<tile>(all).wire(rim);
static_assert(routed<torus>());

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int columns = argument(1, 23), rows = argument(2, 16), steps = argument(3, 50);
  const auto first = [](int n, int parts, int i) { return n * i / parts; };  // cell of the i-th part
  const auto heat = [](int x, int y) { return static_cast<f32>((x * x + 7 * y) % 64); };

  fabric f{torus};
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      tile& t = f.program_at<tile>({x, y});
      const int row = first(rows, H, y), column = first(columns, W, x);
      t.resize({.rows = first(rows, H, y + 1) - row, .columns = first(columns, W, x + 1) - column});
      for (int i = 0; i < t.shape.rows; ++i)
        for (int j = 0; j < t.shape.columns; ++j) t.at(i, j) = heat(column + j, row + i);
    }
  f.launch<&tile::run>(all, steps);

  std::vector<f32> u, next;  // the same, serially
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) u.push_back(heat(x, y));
  const auto cell = [&](int x, int y) {
    return static_cast<std::size_t>((y + rows) % rows * columns + (x + columns) % columns);
  };
  for (int step = 0; step < steps; ++step, u = next) {
    next = u;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        next[cell(x, y)] = 0.5f * u[cell(x, y)] + 0.125f * (u[cell(x, y - 1)] + u[cell(x, y + 1)] +
                                                            u[cell(x - 1, y)] + u[cell(x + 1, y)]);
  }
  int wrong = 0;
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      tile& t = f.program_at<tile>({x, y});
      for (int i = 0; i < t.shape.rows; ++i)
        for (int j = 0; j < t.shape.columns; ++j)
          wrong += t.at(i, j) != u[cell(first(columns, W, x) + j, first(rows, H, y) + i)];
    }
  std::printf("after %d steps %d of %d x %d cells differ from the serial run\n", steps, wrong, columns, rows);
  return wrong == 0 ? 0 : 1;
}
