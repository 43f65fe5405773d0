// SPDX-License-Identifier: MIT
#include <wsl/ml/tensor/redistribute.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using ml::axis, ml::cut, ml::dimension, ml::partition;

TEST_CASE("A partition is a function and its inverse") {
  for (int length : {1, 2, 5, 16, 37})
    for (int parts : {1, 2, 3, 7})
      for (int tile : {0, 1, 2, 5}) {
        const partition p{length, parts, tile};
        int all = 0;
        for (int k = 0; k < parts; ++k) {
          all += p.size(k);
          for (int i = 0; i < p.size(k); ++i) {
            const int whole = p.global(k, i);
            REQUIRE((whole >= 0 && whole < length));
            CHECK(p.part_of(whole) == k);
            CHECK(p.local(whole) == i);
            if (i > 0) CHECK(p.global(k, i - 1) < whole);
          }
        }
        CHECK(all == length);
      }
}

TEST_CASE("Cuts are values") {
  constexpr cut c = cut{}.split(dimension::rows, axis::y).tile(dimension::columns, axis::x, 4);
  static_assert(c.of(dimension::rows) == axis::y && c.of(dimension::columns) == axis::x && c != cut{});
  CHECK_THROWS_WITH(c.split(dimension::rows, axis::x), "wsl: a cut uses an axis for one dimension; it uses x already");
  CHECK_THROWS_WITH(cut{}.split(dimension::rows, axis::x).split(dimension::rows, axis::y), "wsl: a cut cuts a dimension once; it cuts the rows already");
  CHECK_THROWS_WITH(cut{}.tile(dimension::rows, axis::x, 0), "wsl: a cut deals out tiles of at least 1, not of 0");
}

std::vector<cut> all_cuts() {
  using enum dimension;
  return {cut{},
          cut{}.split(rows, axis::x),
          cut{}.split(rows, axis::y),
          cut{}.split(columns, axis::x),
          cut{}.tile(columns, axis::y, 3),
          cut{}.split(rows, axis::y).split(columns, axis::x),
          cut{}.split(rows, axis::x).split(columns, axis::y),
          cut{}.tile(rows, axis::y, 2).tile(columns, axis::x, 1),
          cut{}.tile(rows, axis::x, 3).split(columns, axis::y)};
}

TEST_CASE("From every cut to every other, on rectangles of many shapes") {
  for (auto [width, height] : {std::array{1, 1}, {1, 3}, {4, 1}, {2, 2}, {3, 2}, {5, 4}}) {
    const int rows = 11, columns = 13;
    std::vector<f32> whole;
    for (int i = 0; i < rows * columns; ++i) whole.push_back(static_cast<f32>(i + 1));
    const matrix<const f32> m(whole.data(), rows, columns);
    ml::cut_matrix on_fabric(rows, columns, width, height, 2);
    for (const cut& from : all_cuts())
      for (const cut& to : all_cuts()) {
        on_fabric.load(m, from);
        on_fabric.recut(to);
        int wrong = 0;
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            const ml::patch p = on_fabric.patch_of({x, y});
            const std::vector<f32>& numbers = on_fabric.numbers_at({x, y});
            REQUIRE(numbers.size() == p.size());
            std::size_t k = 0;
            for (int i : p.rows)
              for (int j : p.columns) wrong += numbers[k++] != m(i, j);
          }
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("Copies do not travel, and large packets do") {
  std::vector<f32> whole(200 * 100);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<f32>(i);
  const matrix<const f32> m(whole.data(), 200, 100);
  ml::cut_matrix on_fabric(200, 100, 3, 2);
  const cut by_rows = cut{}.split(dimension::rows, axis::y), by_columns = cut{}.split(dimension::columns, axis::x);
  on_fabric.load(m, cut{});
  CHECK(on_fabric.recut(by_rows).wavelets == 0);
  CHECK(on_fabric.recut(by_columns).wavelets > 0);
  const ml::patch p = on_fabric.patch_of({2, 1});
  std::size_t k = 0;
  int wrong = 0;
  for (int i : p.rows)
    for (int j : p.columns) wrong += on_fabric.numbers_at({2, 1})[k++] != m(i, j);
  CHECK(wrong == 0);
}

}  // namespace
