// SPDX-License-Identifier: MIT
// Products with low-rank tiles within the limits of a wafer: the numbers against the same product in f64, the
// cycles against those that the algorithm takes.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/tlr/wafer.hpp>

namespace {
using namespace wsl;
using tlr::low_rank, tlr::operation, tlr::wafer_multiplier, tlr::wafer_room;

template <class T>
std::vector<T> random_numbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  const auto next = [&] { return static_cast<f32>(random()) / 2147483648.f - 1.f; };
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) {
    if constexpr (std::is_same_v<T, f32>) v = next();
    else {
      const f32 re = next();
      v = {re, next()};
    }
  }
  return x;
}

/// Ranks from `least` to `most`.
template <class T>
low_rank<T> random_matrix(int rows, int columns, int side, int least, int most) {
  low_rank<T> a(rows, columns, side);
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      const int rank = least + (i * 5 + j * 3) % (most - least + 1);
      const unsigned seed = static_cast<unsigned>(i * 1000 + j);
      a.set(i, j,
            {rank, random_numbers<T>(rank * a.rows_of(i).size(), 2 * seed),
             random_numbers<T>(rank * a.columns_of(j).size(), 2 * seed + 1)});
    }
  return a;
}

template <class T>
f64 relative_error(const std::vector<T>& y, const std::vector<tlr::wide<T>>& exact) {
  f64 difference = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    difference += std::norm(tlr::wide<T>(y.at(i)) - exact[i]), size += std::norm(exact[i]);
  return std::sqrt(difference) / std::sqrt(size);
}

template <class T>
void check_products(const machine& target) {
  using product = wafer_multiplier<T, wafer_room{.side = 8, .bases = 6, .tiles = 3}>;
  for (auto [rows, columns, most] : {std::array{8, 8, 1}, {40, 24, 4}, {37, 29, 9}, {3, 50, 20}}) {
    const low_rank<T> a = random_matrix<T>(rows, columns, 8, rows == 8, most);
    INFO(target.name << ", " << rows << " x " << columns << ", ranks up to " << most << ", "
                     << product::pes(a) << " PEs");
    const int wide = 3, high = (product::pes(a) + 2) / 3;
    const std::vector<T> x = random_numbers<T>(columns, 7);
    const auto by = [&](auto engine, int times) {
      std::vector<T> y(static_cast<std::size_t>(rows));
      product p(a, wide, high, target, engine);
      for (int i = 0; i < times; ++i) p(y, x);
      return y;
    };
    const std::vector<T> y = by(threaded{.threads = 2, .pes_per_partition = 1}, 2);
    CHECK(relative_error(y, tlr::serial<T>(a, operation::forward, x)) < 1e-6);
    CHECK(by(timed{}, 1) == y);
    CHECK(by(reference{}, 1) == y);
  }
}
TEST_CASE("tlr on a wafer: products agree with those in f64, on all engines") {
  for (const machine* target : {&wse2, &wse3}) {
    check_products<f32>(*target);
    check_products<std::complex<f32>>(*target);
  }
}

/// The cycles of a product whose PEs are all full.
template <class T, int bases>
u64 cycles_of(const machine& target, int tiles_high) {
  constexpr wafer_room room{.side = 32, .bases = bases, .tiles = 2};
  const low_rank<T> a = random_matrix<T>(32 * 2 * tiles_high, 32 * 2, 32, bases / 2, bases / 2);
  wafer_multiplier<T, room> product(a, 2, tiles_high, target, timed{});
  std::vector<T> y(static_cast<std::size_t>(a.rows())), x = random_numbers<T>(a.columns(), 3);
  return product(y, x).cycles;
}

TEST_CASE("tlr on a wafer: a cycle for each product of f32, and some for each column") {
  for (const machine* target : {&wse2, &wse3}) {
    const auto check = [&](u64 cycles, u64 real_products, u64 bases) {
      // V has 32 columns, U one for each basis; with call and setup each takes three cycles more. Where a
      // descriptor is in no register it is loaded.
      const u64 products = real_products * 2 * 32 * bases, columns = real_products * (32 + bases);
      INFO(target->name << ", " << bases << " bases: " << cycles << " cycles");
      CHECK(cycles >= products + 3 * columns);
      CHECK(cycles <= products + 3 * columns + 60 * real_products + 150);
    };
    check(cycles_of<f32, 16>(*target, 1), 1, 16);
    check(cycles_of<f32, 48>(*target, 1), 1, 48);
    check(cycles_of<std::complex<f32>, 16>(*target, 1), 4, 16);
    check(cycles_of<std::complex<f32>, 32>(*target, 1), 4, 32);
    // Nothing travels: more PEs take as long.
    CHECK(cycles_of<f32, 16>(*target, 1) == cycles_of<f32, 16>(*target, 5));
  }
}

TEST_CASE("tlr on a wafer: what does not fit is named") {
  const low_rank<f32> a = random_matrix<f32>(32, 16, 8, 3, 3);
  using product = wafer_multiplier<f32, wafer_room{.side = 8, .bases = 6, .tiles = 3}>;
  CHECK(product::pes(a) == 4);
  CHECK_THROWS_WITH((product(a, 3, 1)),
                    "wsl: the bases of the matrix fill 4 PEs, and the grid has 3 x 1: take more PEs, or give "
                    "each more space");
  CHECK_THROWS_WITH((product(a, -1, 1)), "wsl: a product runs on at least 1 x 1 PEs, not on -1 x 1");
  CHECK_THROWS_WITH((wafer_multiplier<f32, wafer_room{.side = 6, .bases = 6, .tiles = 3}>(a, 2, 2)),
                    "wsl: the PEs have space for tiles of 6 x 6, not of 8");
  CHECK_THROWS_WITH((wafer_multiplier<f32, wafer_room{.side = 8, .bases = 1000, .tiles = 2}>(a, 2, 2)),
                    Catch::Matchers::Contains("bytes"));
  std::vector<f32> x(16), y(31);
  product p(a, 2, 2);
  CHECK_THROWS_WITH(p(y, x), "wsl: this product takes x of 16 and y of 32 numbers, not of 16 and 31");
}

}  // namespace
