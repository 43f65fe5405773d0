// SPDX-License-Identifier: MIT
// Products of a sparse matrix within the limits of a wafer, against sums in f64.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/sparse_product.hpp>

namespace {
using namespace wsl;

std::vector<f32> random_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<f32> x(n);
  for (f32& v : x) v = static_cast<f32>(random()) / 2147483648.f - 1;
  return x;
}
/// Some rows and columns are empty.
sparse_pattern some_places(int rows, int columns, unsigned seed) {
  std::mt19937 random(seed);
  return sparse_pattern::where(rows, columns,
                               [&](int r, int c) { return r % 7 != 2 && c % 5 != 1 && random() % 4 == 0; });
}

template <sparse_shape shape>
void check(const machine& target, int m, int n, int wide, int high) {
  INFO(target.name << ", " << m << " x " << n << " on " << wide << " x " << high << " PEs, " << shape.vectors
                   << " vectors");
  const sparse_pattern a = some_places(m, n, 1);
  constexpr auto vectors = std::size_t{shape.vectors};
  const std::vector<f32> values = random_numbers(static_cast<std::size_t>(a.count()), 2),
                         b = random_numbers(static_cast<std::size_t>(n) * vectors, 3);
  const auto by = [&](auto engine, int times) {
    wafer_sparse_product<shape> product(a, values, wide, high, target, engine);
    std::vector<f32> c(static_cast<std::size_t>(m) * vectors);
    for (int i = 0; i < times; ++i) {
      std::fill(c.begin(), c.end(), std::nanf(""));
      product(matrix<f32>(c.data(), m, shape.vectors), matrix<const f32>(b.data(), n, shape.vectors));
    }
    return c;
  };
  std::vector<f64> right(static_cast<std::size_t>(m) * vectors), size(right.size());
  a.each([&](int r, int c, i64, i64 k) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const f64 term =
          f64{values[static_cast<std::size_t>(k)]} * f64{b[static_cast<std::size_t>(c) * vectors + v]};
      right[static_cast<std::size_t>(r) * vectors + v] += term;
      size[static_cast<std::size_t>(r) * vectors + v] += std::abs(term);
    }
  });
  const std::vector<f32> found = by(timed{}, 2);
  for (std::size_t i = 0; i < right.size(); ++i)
    REQUIRE(std::abs(f64{found[i]} - right[i]) <= size[i] * n * std::ldexp(1., -24));
  CHECK(by(threaded{.threads = 2, .pes_per_partition = 1}, 1) == found);
  CHECK(by(reference{}, 1) == found);
}

TEST_CASE("sparse product on a wafer: sums of f64 to rounding, on all engines") {
  for (const machine* target : {&wse2, &wse3}) {
    check<{.rows = 9, .columns = 8, .nonzeros = 40}>(*target, 9, 8, 1, 1);
    check<{.rows = 9, .columns = 8, .nonzeros = 40}>(*target, 31, 37, 5, 4);
    check<{.rows = 9, .columns = 8, .nonzeros = 40}>(*target, 5, 39, 6, 3);  // PEs without a row
    check<{.rows = 7, .columns = 5, .nonzeros = 20, .vectors = 6}>(*target, 13, 14, 3, 2);
  }
}

TEST_CASE("sparse product on a wafer: the cycles are those of the nonzeros") {
  const auto cycles = []<int vectors>(std::integral_constant<int, vectors>, int places) {
    const sparse_pattern a =
        sparse_pattern::where(20, 20, [&](int r, int c) { return (c + r) % 20 < places; });
    const std::vector<f32> values(static_cast<std::size_t>(a.count()), 1), b(std::size_t{20 * vectors}, 1);
    std::vector<f32> c(b.size());
    wafer_sparse_product<{.rows = 20, .columns = 20, .nonzeros = 400, .vectors = vectors}> product(
        a, values, 1, 1, wse2, timed{});
    return product(matrix<f32>(c.data(), 20, vectors), matrix<const f32>(b.data(), 20, vectors)).cycles;
  };
  using one = std::integral_constant<int, 1>;
  using eight = std::integral_constant<int, 8>;
  // A nonzero takes loads of its column, its value and x, a product and a sum, and the loop's sum, comparison
  // and branch.
  CHECK(cycles(one{}, 20) - cycles(one{}, 10) == 200 * 8);
  // Or loads of two, the offset of a row of B, the loop, a setup and eight numbers; the rows of B follow each
  // other, so that a descriptor is seldom loaded.
  const u64 of_200 = cycles(eight{}, 20) - cycles(eight{}, 10);
  CHECK(of_200 > 200 * 15);
  CHECK(of_200 <= 200 * 16);
}

TEST_CASE("sparse product on a wafer: what does not fit is refused by name") {
  using Catch::Matchers::Contains;
  using product = wafer_sparse_product<{.rows = 4, .columns = 4, .nonzeros = 5}>;
  const sparse_pattern full = sparse_pattern::all(4, 4),
                       thin = sparse_pattern::where(9, 4, [](int r, int c) { return r == c; });
  const std::vector<f32> ones(16, 1);
  CHECK_THROWS_WITH((product(full, ones, 1, 1)),
                    Contains("the block of PE (0, 0) has more than the 5 nonzeros"));
  CHECK_THROWS_WITH((product(full, std::span(ones).first(3), 1, 1)), Contains("16 places and 3 values"));
  CHECK_THROWS_WITH((product(thin, std::span(ones).first(4), 1, 2)), Contains("hold (8, 4)"));
  CHECK_THROWS_WITH((product(thin, std::span(ones).first(4), 0, 2)), Contains("not on 0 x 2"));
  product p(thin, std::span(ones).first(4), 1, 3);
  std::vector<f32> c(9);
  CHECK_THROWS_WITH(p(matrix<f32>(c.data(), 9, 1), matrix<const f32>(ones.data(), 5, 1)),
                    Contains("the shapes do not fit"));
}

}  // namespace
