// SPDX-License-Identifier: MIT
// Random areas against the set of PEs that their words describe.
#include <wsl/core/area.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace wsl;

namespace {

std::mt19937 any{2024};
int between(int from, int to) { return std::uniform_int_distribution{from, to}(any); }
bool coin() { return between(0, 1) == 1; }

bound some_bound(int extent) { return coin() ? bound{between(0, extent)} : edge - between(0, extent); }
area some_area(const region& grid) {
  const int w = grid.x1 - grid.x0, h = grid.y1 - grid.y0;
  return {some_bound(w), some_bound(w), some_bound(h), some_bound(h), between(1, 4), between(1, 4)};
}

/// Positions from, from + every, ... before to, along an axis that begins at `origin`.
std::vector<int> axis(bound from, bound to, int every, int origin, int extent) {
  std::vector<int> positions;
  const int last = to.far ? extent + to.offset : to.offset;
  for (int i = from.far ? extent + from.offset : from.offset; i < last; i += every)
    positions.push_back(origin + i);
  return positions;
}
/// The PEs of an area, row by row.
std::vector<coord> pes(const area& a, const region& grid) {
  std::vector<coord> found;
  for (int y : axis(a.y0, a.y1, a.sy, grid.y0, grid.y1 - grid.y0))
    for (int x : axis(a.x0, a.x1, a.sx, grid.x0, grid.x1 - grid.x0)) found.push_back({x, y});
  return found;
}

bool same(const region& r, const std::vector<coord>& expected) {
  if (r.count() != static_cast<int>(expected.size()) || r.empty() != expected.empty()) return false;
  for (int i = 0; i < r.count(); ++i) {
    const coord c = expected[static_cast<std::size_t>(i)];
    if (r.nth(i) != c || r.rank(c) != i) return false;
  }
  for (int y = -2; y < 20; ++y)
    for (int x = -2; x < 20; ++x)
      if (r.has({x, y}) != (std::ranges::find(expected, coord{x, y}) != expected.end())) return false;
  return true;
}

}  // namespace

TEST_CASE("a region has the PEs that its area describes, in row-major order") {
  int empty = 0, several = 0;
  for (int n = 0; n < 3000; ++n) {
    const region grid{0, between(1, 16), 0, between(1, 16)};
    const area a = some_area(grid);
    const std::vector<coord> expected = pes(a, grid);
    REQUIRE(same(resolve(a, grid), expected));
    empty += expected.empty(), several += expected.size() > 3;
  }
  CHECK(empty > 100);
  CHECK(several > 100);
}

TEST_CASE("an area in a rectangle counts from the edges of the rectangle") {
  for (int n = 0; n < 1000; ++n) {
    const int x = between(0, 6), y = between(0, 6);
    const region rectangle{x, x + between(1, 6), y, y + between(1, 6)};
    const area a = some_area(rectangle);
    REQUIRE(same(resolve(a, rectangle), pes(a, rectangle)));
  }
}

TEST_CASE("regions with the same PEs are equal, whatever the words") {
  const region grid{0, 7, 0, 5};
  CHECK(resolve(columns(0, 6, 2), grid) == resolve(columns(0, 5, 2), grid));
  CHECK(resolve(columns(0, edge, 2), grid) == resolve(columns(edge - 7, 7, 2), grid));
  CHECK(resolve(rows(edge - 2), grid) == resolve(rows(3, 5), grid));
  CHECK(resolve(columns(edge), grid) == resolve(rows(2, 2), grid));
}

TEST_CASE("a shifted region has every PE shifted") {
  for (int n = 0; n < 500; ++n) {
    const region grid{0, between(1, 16), 0, between(1, 16)};
    const area a = some_area(grid);
    const region r = resolve(a, grid);
    if (r.empty()) continue;
    for (port p : every_side) {
      std::vector<coord> expected = pes(a, grid);
      for (coord& c : expected) c = c + step(p);
      REQUIRE(same(r.shifted(step(p)), expected));
    }
  }
}
