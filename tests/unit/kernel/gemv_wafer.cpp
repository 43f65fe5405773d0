// SPDX-License-Identifier: MIT
// Matrix-vector products within the limits of a wafer: the numbers against exact ones, the cycles against
// those that the algorithm takes.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/gemv/wafer.hpp>
#include <wsl/linalg/serial.hpp>

namespace {
using namespace wsl;

template <class T>
std::vector<T> random_numbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<T>(static_cast<f32>(random()) / 2147483648.f - 1.f));
  return x;
}

template <class T, gemv_shape shape>
void check(const machine& target, int m, int n, int wide, int high) {
  INFO(target.name << ", " << m << " x " << n << " on " << wide << " x " << high << " PEs");
  const std::vector<T> of_a = random_numbers<T>(m * n, 1);
  const std::vector<f32> x = random_numbers<f32>(n, 2);
  const matrix<const T> a(of_a.data(), m, n);
  const auto by = [&](auto engine, int times) {
    wafer_gemv<T, shape> product(a, wide, high, target, engine);
    std::vector<f32> y(static_cast<std::size_t>(m));
    for (int i = 0; i < times; ++i) std::fill(y.begin(), y.end(), std::nanf("")), product(y, x);
    return y;
  };
  const std::vector<f32> y = by(threaded{.threads = 2, .pes_per_partition = 1}, 2);
  for (int i = 0; i < m; ++i) {
    const auto exact = dense::serial_element(a, matrix<const f32>(x.data(), n, 1), i, 0);
    REQUIRE(std::abs(f64{y[static_cast<std::size_t>(i)]} - exact.value) <= exact.bound(n));
  }
  CHECK(by(timed{}, 1) == y);
  CHECK(by(reference{}, 1) == y);
}

TEST_CASE("gemv on a wafer: products are exact to rounding, on all engines") {
  for (const machine* target : {&wse2, &wse3}) {
    check<f32, {6, 5}>(*target, 6, 5, 1, 1);
    check<f32, {6, 5}>(*target, 17, 23, 5, 3);
    check<f32, {6, 5}>(*target, 6, 29, 6, 4);  // rows of PEs without a row of A
    check<f16, {8, 3}>(*target, 30, 7, 3, 4);
    check<bf16, {8, 3}>(*target, 32, 6, 2, 4);
  }
}

/// Products one after the other, and three cycles for each column of a tile; then x down and y along.
template <int n>
u64 cycles_beyond_products(const machine& target, int wide, int high) {
  const std::vector<f32> of_a = random_numbers<f32>(wide * n * high * n, 1),
                         x = random_numbers<f32>(wide * n, 2);
  std::vector<f32> y(static_cast<std::size_t>(high * n));
  wafer_gemv<f32, {n, n}> product(matrix<const f32>(of_a.data(), high * n, wide * n), wide, high, target,
                                  timed{});
  const u64 cycles = product(y, x).cycles, products = u64{n} * n;
  INFO(target.name << ", tiles of " << n << " on " << wide << " x " << high << ": " << cycles << " cycles");
  REQUIRE(cycles > products);
  return cycles - products;
}

TEST_CASE("gemv on a wafer: cycles grow as the products, the columns and the ways") {
  for (const machine* target : {&wse2, &wse3}) {
    // Besides the products: n words twice, three cycles a column, and the ways on 4 x 4 PEs.
    CHECK(cycles_beyond_products<16>(*target, 4, 4) <= 6 * 16 + 150);
    CHECK(cycles_beyond_products<64>(*target, 4, 4) <= 6 * 64 + 150);
    CHECK(cycles_beyond_products<64>(*target, 4, 4) >= 5 * 64);
    // A chain along the rows takes two ramps, a hop and an instruction for each PE, a broadcast a hop.
    const u64 few = cycles_beyond_products<64>(*target, 4, 4),
              wide = cycles_beyond_products<64>(*target, 20, 4),
              high = cycles_beyond_products<64>(*target, 4, 20);
    const u64 a_pe = static_cast<u64>(2 * target->ramp_latency + 2);
    CHECK(wide - few <= 16 * a_pe + 16);
    CHECK(high - few <= 16 + 4);
    CHECK(high - few >= 16 - 4);
  }
}

TEST_CASE("gemv on a wafer: what does not fit is named") {
  const std::vector<f32> a(12 * 12);
  CHECK_THROWS_WITH(
      (wafer_gemv<f32, {4, 4}>(matrix<const f32>(a.data(), 12, 12), 2, 3)),
      "wsl: A is (12, 12), and the tiles of 2 x 3 PEs hold (12, 8); take more PEs or larger tiles");
  CHECK_THROWS_WITH((wafer_gemv<f32, {4, 4}>(matrix<const f32>(a.data(), 12, 12), 0, 3)),
                    "wsl: a product runs on at least 1 x 1 PEs, not on 0 x 3");
  CHECK_THROWS_WITH((wafer_gemv<f32, {112, 112}>(matrix<const f32>(a.data(), 12, 12), 1, 1)),
                    Catch::Matchers::Contains("bytes"));
  CHECK(wafer_gemv<f32, {108, 108}>::bytes < wse2.memory);
  std::vector<f32> x(12), y(11);
  CHECK_THROWS_WITH((wafer_gemv<f32, {4, 4}>(matrix<const f32>(a.data(), 12, 12), 3, 3)(y, x)),
                    "wsl: y = A x of y (11), A (12, 12) and x (12): the shapes do not fit");
}

}  // namespace
