// SPDX-License-Identifier: MIT
// Halo exchanges whose tiles have sizes that are known at run time and differ from PE to PE, on fields that
// are periodic or not, beside the value that a serial program would find in each cell of the rim.
#include <wsl/collective/awaited.hpp>
#include <wsl/collective/halo_exchange.hpp>
#include <wsl/layout/check.hpp>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "unit/engine/engines.hpp"

using namespace wsl;
using Catch::Contains;

namespace {

template <auto net>
struct owner {
  std::vector<i32> field;
  tile_shape tile;
  int times = 0;
  endpoint<net> filling;

  void fill(pe& me) { filling.start(me, mem(std::span(field)), tile, then<&owner::again>()); }
  void again(pe& me) {  // two calls one after the other leave the same
    if (++times % 2) fill(me);
  }
  using tasks = task_list<launch<&owner::fill>, local<&owner::again>, use<&owner::filling>>;
};

/// A rectangle of tiles, each row and column of them with a height and a width of its own.
struct tiling {
  region where;
  std::vector<int> heights, widths;
  int width;
  bool around_x, around_y;

  tile_shape at(int x, int y) const {
    return {heights[static_cast<std::size_t>(y)], widths[static_cast<std::size_t>(x)], width};
  }
  /// The value of a cell of a tile's array before the exchange: another number for each. Rows and columns
  /// count from the tile's own first cell, so those of the rim are negative, or beyond the tile.
  static i32 before(int x, int y, int row, int column) {
    return ((y * 16 + x) * 64 + row + 8) * 64 + column + 8;
  }
  /// The value of that cell after the exchange.
  i32 after(int x, int y, int row, int column) const {
    const int pes_x = where.columns(), pes_y = where.rows();
    const tile_shape t = at(x, y);
    if (row < 0 || row >= t.rows) {
      const int other = row < 0 ? y - 1 : y + 1;
      if (!around_y && (other < 0 || other == pes_y)) return before(x, y, row, column);
      const int there = (other + pes_y) % pes_y;
      return after(x, there, row < 0 ? row + at(x, there).rows : row - t.rows, column);
    }
    if (column < 0 || column >= t.columns) {
      const int other = column < 0 ? x - 1 : x + 1;
      if (!around_x && (other < 0 || other == pes_x)) return before(x, y, row, column);
      const int there = (other + pes_x) % pes_x;
      return before(there, y, row, column < 0 ? column + at(there, y).columns : column - t.columns);
    }
    return before(x, y, row, column);
  }
};

template <auto net, class Engine>
void fills_the_rims(int width, int height, unsigned seed, const Engine& engine) {
  using program = owner<net>;
  std::mt19937 any{seed};
  layout l{wse2, width, height};
  l.place<program>(net.where).wire(net);
  tiling all_tiles{l.inside(net.where), {}, {}, 1 + static_cast<int>(any() % 3), net.around_x, net.around_y};
  for (int y = 0; y < all_tiles.where.rows(); ++y)
    all_tiles.heights.push_back(all_tiles.width + static_cast<int>(any() % 4));
  for (int x = 0; x < all_tiles.where.columns(); ++x)
    all_tiles.widths.push_back(all_tiles.width + static_cast<int>(any() % 4));

  const auto each_cell = [&](auto use) {
    for (int y = 0; y < all_tiles.where.rows(); ++y)
      for (int x = 0; x < all_tiles.where.columns(); ++x) {
        const tile_shape t = all_tiles.at(x, y);
        for (int row = -t.width; row < t.rows + t.width; ++row)
          for (int column = -t.width; column < t.columns + t.width; ++column)
            use(x, y, row, column, static_cast<std::size_t>((row + t.width) * t.pitch() + column + t.width));
      }
  };
  fabric f{l, engine};
  const auto pe_at = [&](int x, int y) -> program& {
    return f.program_at<program>({all_tiles.where.x0 + x, all_tiles.where.y0 + y});
  };
  each_cell([&](int x, int y, int row, int column, std::size_t i) {
    program& p = pe_at(x, y);
    p.tile = all_tiles.at(x, y);
    p.field.resize(static_cast<std::size_t>(p.tile.cells()));
    p.field[i] = tiling::before(x, y, row, column);
  });
  f.launch(net.where);
  each_cell([&](int x, int y, int row, int column, std::size_t i) {
    INFO(width << " x " << height << " PEs, rim " << all_tiles.width << ", PE " << x << ", " << y << ", row "
               << row << ", column " << column);
    REQUIRE(pe_at(x, y).field[i] == all_tiles.after(x, y, row, column));
    REQUIRE(pe_at(x, y).times == 2);
  });
}

constexpr halo_exchange<i32> plane{.first = 0}, tube{.first = 2, .around_x = true},
    tower{.first = 0, .where = columns(1, edge - 1).rows(1), .around_y = true},
    torus{.first = 0, .around_x = true, .around_y = true};

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiles of any sizes fill their rims from eight neighbours, around the field or not",
                        "", every_engine) {
  unsigned seed = 0;
  for (int width = 1; width <= 4; ++width)
    for (int height = 1; height <= 4; ++height) {
      fills_the_rims<plane>(width, height, ++seed, TestType{});
      fills_the_rims<tube>(width, height, ++seed, TestType{});
      fills_the_rims<tower>(width + 2, height + 1, ++seed, TestType{});
      fills_the_rims<torus>(width, height, ++seed, TestType{});
    }
}

TEST_CASE("a periodic axis takes two colors more") {
  CHECK(plane.colors() == 8);
  CHECK(tube.colors() == 10);
  CHECK(torus.colors() == 12);
  layout l{wse2, 4, 4};
  l.wire(tube);
  layout beside = l, clash = l;
  CHECK(check(beside.wire(lane<i32>{12, east})).kind != fault_kind::two_modules_claim_one_color);
  CHECK(check(clash.wire(lane<i32>{11, east})).kind == fault_kind::two_modules_claim_one_color);
}

namespace {

struct careless {
  i32 u[25]{};
  endpoint<plane> filling;
  void fill(pe& me, int rows, int columns, int width) {
    filling.start(me, mem(u), tile_shape{rows, columns, width});
  }
  using tasks = task_list<launch<&careless::fill>, use<&careless::filling>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a tile that does not fit its array or its rim is a fault", "", every_engine) {
  layout l{wse2, 1, 1};
  l.place<careless>(all).wire(plane);
  const auto said = [&](int rows, int columns, int width) {
    fabric f{l, TestType{}};
    try {
      f.launch<&careless::fill>(all, rows, columns, width);
      return std::string{};
    } catch (const fault& e) { return std::string{e.what()}; }
  };
  CHECK(said(3, 3, 1).empty());
  CHECK_THAT(said(4, 3, 1), Contains("with an array of 25 words: a tile with its rim has 6 x 5"));
  CHECK_THAT(said(1, 1, 2), Contains("with a rim of width 2 around a tile of 1 x 1 cells"));
  CHECK_THAT(said(5, 5, 0), Contains("with a rim of width 0"));
}

namespace {

struct patient {
  i32 u[torus.cells()]{};
  int rounds = 0;
  awaited<torus> filling;
  task run(pe& me) {
    u[4] = 10 * me.y() + me.x();
    for (; rounds < 3; ++rounds) {
      co_await filling(me, mem(u));
      u[4] = (u[0] + u[1] + u[2] + u[3] + u[4] + u[5] + u[6] + u[7] + u[8]) % 97;
      co_await filling(me, mem(u), tile_shape{1, 1, 1});
    }
  }
  using tasks = task_list<launch<&patient::run>, use<&patient::filling>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task awaits the exchange", "", every_engine) {
  const int W = 4, H = 3;
  layout l{wse2, W, H};
  l.place<patient>(all).wire(torus);
  fabric f{l, TestType{}};
  f.launch();
  std::vector<int> u(W * H);
  for (int i = 0; i < W * H; ++i) u[static_cast<std::size_t>(i)] = 10 * (i / W) + i % W;
  for (int round = 0; round < 3; ++round) {
    std::vector<int> next(u.size());
    for (int i = 0; i < W * H; ++i)
      for (int dy : {H - 1, 0, 1})
        for (int dx : {W - 1, 0, 1})
          next[static_cast<std::size_t>(i)] +=
              u[static_cast<std::size_t>((i / W + dy) % H * W + (i % W + dx) % W)];
    for (int& x : next) x %= 97;
    u = next;
  }
  for (int i = 0; i < W * H; ++i)
    CHECK(f.program_at<patient>({i % W, i / W}).u[4] == u[static_cast<std::size_t>(i)]);
}

TEST_CASE("the cost of an exchange holds around a periodic axis, too") {
  const auto counted = []<auto net>(int width, int height, tile_shape tile) {
    layout l{wse2, width, height};
    l.place<owner<net>>(all).wire(net);
    fabric f{l, timed{}};
    for (int i = 0; i < width * height; ++i) {
      owner<net>& p = f.program_at<owner<net>>({i % width, i / width});
      p.tile = tile;
      p.field.resize(static_cast<std::size_t>(tile.cells()));
    }
    const auto cycles = static_cast<f64>(f.launch().cycles) / 2;  // two calls
    INFO(width << " x " << height << ", " << cycles << " cycles, by its formula " << net.cycles(l, tile));
    // The field is on the heap: in each task its descriptors are loaded, up to two for each of four sides.
    CHECK(cycles <= 1.3 * net.cycles(l, tile) + 30 + 8 * wse2.descriptor_load);
    CHECK(cycles >= 0.6 * net.cycles(l, tile));
  };
  for (const tile_shape& tile : {tile_shape{16, 16, 1}, {32, 64, 2}, {4, 4, 1}}) {
    counted.template operator()<plane>(5, 4, tile);
    counted.template operator()<torus>(5, 4, tile);
    counted.template operator()<torus>(40, 3, tile);
    counted.template operator()<tube>(60, 1, tile);
  }
}
