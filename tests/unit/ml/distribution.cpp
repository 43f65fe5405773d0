// SPDX-License-Identifier: MIT
#include <wsl/ml/tensor/redistribute.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using ml::axis, ml::distribution, ml::block_cyclic, ml::index_map, ml::tensor_shape;

TEST_CASE("A block-cyclic map is a function and its inverse") {
  for (int length : {1, 2, 5, 16, 37})
    for (int parts : {1, 2, 3, 7})
      for (int tile : {0, 1, 2, 5}) {
        const block_cyclic p{length, parts, tile};
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

TEST_CASE("Distributions are values") {
  constexpr distribution c = distribution{}.block(0, axis::y).cyclic(1, axis::x, 4);
  // different axes of different dimensions: in any order
  static_assert(c == distribution{}.cyclic(1, axis::x, 4).block(0, axis::y) && c != distribution{});
  static_assert(distribution{}.block(0, axis::y).block(0, axis::x) !=
                distribution{}.block(0, axis::x).block(0, axis::y));
  static_assert(c.cuts(0, axis::y) && !c.cuts(0, axis::x) && c.uses(axis::x) && c.dimensions() == 2);
  static_assert(c.replicate(axis::x) == distribution{}.block(0, axis::y) &&
                c.replicate(axis::x).replicate(axis::y) == distribution{});
  static_assert(distribution{}.block(0, axis::y).block(0, axis::x).replicate(axis::y) ==
                distribution{}.block(0, axis::x));
  static_assert(c.replicate(axis::x).cyclic(1, axis::x, 4) == c);
  CHECK_THROWS_WITH(c.block(2, axis::x), "wsl: an axis cuts one dimension; axis::x has one already");
  CHECK_THROWS_WITH(distribution{}.cyclic(0, axis::x, 0),
                    "wsl: a distribution deals out blocks of at least 1, not of 0");
  CHECK_THROWS_WITH(distribution{}.block(4, axis::x),
                    "wsl: a distribution cuts one of the dimensions 0 to 3, not 4");
  CHECK_THROWS_WITH(distribution{}.block(0, axis::none), "wsl: a dimension is cut along axis::x or axis::y");
  CHECK_THROWS_WITH(index_map({3, 4}, distribution{}.block(2, axis::x), {2, 2}),
                    "wsl: a distribution cuts dimension 2, but the tensor has the dimensions 0 to 1");
  CHECK_THROWS_WITH(tensor_shape({1, 2, 3, 4, 5}), "wsl: a tensor has 1 to 4 dimensions, not 5");
  CHECK_THROWS_WITH(tensor_shape({2, -1}), "wsl: dimension 1 of a tensor has no length of -1");
  CHECK_THROWS_WITH(ml::distributed_tensor({2, 3}, 2, 1).load(std::vector<f32>(5), distribution{}),
                    "wsl: a tensor of 6 numbers is loaded with 5");
}

std::vector<distribution> all_distributions() {
  return {distribution{},
          distribution{}.block(0, axis::x),
          distribution{}.block(0, axis::y),
          distribution{}.block(1, axis::x),
          distribution{}.cyclic(1, axis::y, 3),
          distribution{}.block(0, axis::y).block(1, axis::x),
          distribution{}.block(0, axis::x).block(1, axis::y),
          distribution{}.cyclic(0, axis::y, 2).cyclic(1, axis::x, 1),
          distribution{}.cyclic(0, axis::x, 3).block(1, axis::y),
          distribution{}.block(0, axis::y).block(0, axis::x),
          distribution{}.cyclic(0, axis::x, 2).block(0, axis::y),
          distribution{}.block(1, axis::x).cyclic(1, axis::y, 2)};
}

/// One of all cuts of a tensor with so many dimensions.
distribution random_distribution(int dimensions, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  distribution c;
  const axis first = below(2) ? axis::x : axis::y;
  for (axis a : {first, first == axis::x ? axis::y : axis::x})
    if (const int how = below(4))
      c = how == 1 ? c.cyclic(below(dimensions), a, 1 + below(3)) : c.block(below(dimensions), a);
  return c;
}

TEST_CASE("An index map is a function and its inverse, and every index is somewhere") {
  for (const distribution& c : all_distributions())
    for (coord grid : {coord{1, 1}, {3, 2}, {2, 5}}) {
      const index_map p({11, 13}, c, grid);
      std::vector<int> copies(11 * 13);
      for (int y = 0; y < grid.y; ++y)
        for (int x = 0; x < grid.x; ++x)
          for (int i = 0; i < p.size({x, y}, 0); ++i)
            for (int j = 0; j < p.size({x, y}, 1); ++j)
              ++copies[static_cast<std::size_t>(p.global({x, y}, 0, i) * 13 + p.global({x, y}, 1, j))];
      const int wanted = (c.uses(axis::x) ? 1 : grid.x) * (c.uses(axis::y) ? 1 : grid.y);
      CHECK(std::all_of(copies.begin(), copies.end(), [&](int n) { return n == wanted; }));
      for (int d : {0, 1})
        for (int i = 0; i < p.shape().length(d); ++i)
          REQUIRE(p.global(p.holder(d, i), d, p.local(d, i)) == i);
    }
}

std::vector<f32> counted(i64 n) {
  std::vector<f32> numbers(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<f32>(i + 1);
  return numbers;
}
/// The count of numbers that are not where the cut of a tensor of counted() puts them.
int misplaced(ml::distributed_tensor& t) {
  const index_map& p = t.now();
  int wrong = 0;
  for (int y = 0; y < p.grid().y; ++y)
    for (int x = 0; x < p.grid().x; ++x) {
      const ml::tile here = t.tile_at({x, y});
      const std::vector<f32>& numbers = t.numbers_at({x, y});
      if (numbers.size() != here.size()) return -1;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        i64 whole = 0, rest = static_cast<i64>(k), stride = 1;  // from the last dimension to the first
        for (int d = p.shape().dimensions(); d-- > 0; stride *= p.shape().length(d)) {
          const i64 n = p.size({x, y}, d);
          whole += stride * p.global({x, y}, d, static_cast<int>(rest % n)), rest /= n;
        }
        wrong += numbers[k] != static_cast<f32>(whole + 1);
      }
    }
  return wrong;
}

TEST_CASE("From every cut to every other, on rectangles of many shapes") {
  const std::vector<f32> numbers = counted(11 * 13);
  for (auto [width, height] : {std::array{1, 1}, {1, 3}, {4, 1}, {2, 2}, {3, 2}, {5, 4}}) {
    ml::distributed_tensor t({11, 13}, width, height, 2);
    for (const distribution& from : all_distributions())
      for (const distribution& to : all_distributions()) {
        t.load(numbers, from);
        t.redistribute(to);
        CHECK(misplaced(t) == 0);
      }
  }
}

TEST_CASE("From cut to cut and back, tensors of one to four dimensions") {
  std::mt19937 random(1);
  for (const tensor_shape& shape :
       {tensor_shape{17}, {5, 9}, {3, 4, 5}, {2, 3, 4, 5}, {7, 1, 3}, {1, 1, 1, 1}, {4, 0, 3}})
    for (auto [width, height] : {std::array{3, 2}, {2, 5}, {4, 4}}) {
      ml::distributed_tensor t(shape, width, height, 1 + static_cast<int>(random() % 3));
      const std::vector<f32> numbers = counted(shape.size());
      t.load(numbers, random_distribution(shape.dimensions(), random));
      for (int step = 0; step < 6; ++step) {
        t.redistribute(random_distribution(shape.dimensions(), random));
        REQUIRE(misplaced(t) == 0);
      }
      CHECK(t.whole() == numbers);
    }
}

TEST_CASE("Copies do not travel, and large packets do") {
  const std::vector<f32> numbers = counted(200 * 100);
  ml::distributed_tensor t({200, 100}, 3, 2);
  const distribution by_rows = distribution{}.block(0, axis::y);
  t.load(numbers, distribution{});
  CHECK(t.redistribute(by_rows).wavelets == 0);
  CHECK(t.redistribute(by_rows.block(1, axis::x)).wavelets == 0);  // to cut what is there is to drop the rest
  CHECK(t.redistribute(by_rows).wavelets > 0);
  CHECK(t.redistribute(distribution{}.block(1, axis::x)).wavelets > 0);
  CHECK(misplaced(t) == 0);
}

}  // namespace
