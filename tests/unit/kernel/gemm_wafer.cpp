// SPDX-License-Identifier: MIT
// Products on squares of PEs within the limits of a wafer: the numbers against the host's product and the
// exact one, the cycles against those that the algorithm takes.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/gemm/wafer.hpp>
#include <wsl/linalg/serial.hpp>

namespace {
using namespace wsl;

template <class T>
struct operands {
  int m, k, n;
  std::vector<T> of_a, of_b;

  /// Whole numbers, whose sums are exact in any order, or any from -1 to 1.
  operands(int rows, int depth, int columns, bool whole = false) : m(rows), k(depth), n(columns) {
    std::mt19937 random(7);
    const auto fill = [&](std::vector<T>& x, int count) {
      for (int i = 0; i < count; ++i) {
        const f32 any = static_cast<f32>(random()) / 2147483648.f - 1.f;
        x.push_back(static_cast<T>(whole ? std::floor(8 * any) : any));
      }
    };
    fill(of_a, m * k), fill(of_b, k * n);
  }
  matrix<const T> a() const { return {of_a.data(), m, k}; }
  matrix<const T> b() const { return {of_b.data(), k, n}; }
  template <class Product>
  std::vector<f32> by(Product&& product) const {
    std::vector<f32> c(static_cast<std::size_t>(m * n), std::nanf(""));
    product(matrix<f32>(c.data(), m, n), a(), b());
    return c;
  }
  void must_be_close(const std::vector<f32>& c) const {
    const matrix<const f32> found(c.data(), m, n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const auto exact = dense::serial_element(a(), b(), i, j);
        if (!(std::abs(f64{found(i, j)} - exact.value) <= exact.bound(k)))
          FAIL("element (" << i << ", " << j << ") is " << found(i, j) << ", not " << exact.value);
      }
    SUCCEED();
  }
};

template <class T, gemm_shape shape, gemm_method method>
void check_products(const machine& target) {
  for (int side : {1, 2, 3, 4, 5}) {
    if (side < 3 && method == gemm_method::summa) continue;
    INFO(target.name << ", " << side << " x " << side << " PEs");
    const operands<T> full(side * shape.rows, side * shape.depth, side * shape.columns, true),
        odd(side * shape.rows - 3, side * shape.depth - 1, side * shape.columns - 2);
    wafer_gemm<T, shape, method> threads(side, target), clock(side, target, timed{}),
        oracle(side, target, reference{});
    const std::vector<f32> exact =
        full.by([](const auto& c, const auto& a, const auto& b) { gemm(c, a, b); });
    CHECK(full.by(threads) == exact);
    CHECK(full.by(clock) == exact);
    const std::vector<f32> close = odd.by(threads);  // the second product of the same grid
    odd.must_be_close(close);
    CHECK(odd.by(clock) == close);
    CHECK(odd.by(oracle) == close);
  }
}

TEST_CASE("gemm on a wafer: products are those of the host, on all engines") {
  for (const machine* target : {&wse2, &wse3}) {
    check_products<f32, {4, 3, 5}, gemm_method::cannon>(*target);
    check_products<f32, {4, 3, 5}, gemm_method::summa>(*target);
    check_products<f16, {8, 3, 4}, gemm_method::cannon>(*target);
    check_products<bf16, {8, 3, 4}, gemm_method::summa>(*target);
  }
}

template <gemm_method method>
void check_orders() {
  const operands<f32> x(20, 14, 23);
  using product = wafer_gemm<f32, {4, 3, 5}, method>;
  const std::vector<f32> one = x.by(product(5, wse2, threaded{.threads = 1}));
  for (int threads : {2, 3, 8})
    CHECK(x.by(product(5, wse2, threaded{.threads = threads, .pes_per_partition = 3})) == one);
  for (unsigned seed : {1u, 2u, 3u})
    CHECK(x.by(product(5, wse2, threaded{.order = schedule::shuffled{seed}})) == one);
}
TEST_CASE("gemm on a wafer: neither threads nor the order of the words change a bit") {
  check_orders<gemm_method::cannon>();
  check_orders<gemm_method::summa>();
}

/// The cycles of a product of full tiles.
template <int n, gemm_method method>
u64 cycles_of(const machine& target, int side) {
  constexpr gemm_shape shape{n, n, n};
  const operands<f32> x(side * n, side * n, side * n);
  wafer_gemm<f32, shape, method> product(side, target, timed{});
  std::vector<f32> c(static_cast<std::size_t>(x.m * x.n));
  return product(matrix<f32>(c.data(), x.m, x.n), x.a(), x.b()).cycles;
}

/// A step is a product for each cycle, three cycles for each of the n^2 operations, some for each of n rows,
/// and the words that the datapath moves.
template <int n, gemm_method method>
void check_cycles(const machine& target, int side) {
  const u64 products = u64{n} * n * n, counted = cycles_of<n, method>(target, side) / static_cast<u64>(side);
  const u64 words = 6 * u64{n} * n, starts = 3 * u64{n} * n + 40 * u64{n} + 200;
  INFO(target.name << ", tiles of " << n << ": " << counted << " cycles a step");
  CHECK(counted >= products + 3 * u64{n} * n);
  CHECK(counted <= products + starts + words);
}

TEST_CASE("gemm on a wafer: cycles grow as the products and words of a step") {
  for (const machine* target : {&wse2, &wse3}) {
    check_cycles<8, gemm_method::cannon>(*target, 4);
    check_cycles<16, gemm_method::cannon>(*target, 4);
    check_cycles<24, gemm_method::cannon>(*target, 4);
    check_cycles<8, gemm_method::summa>(*target, 4);
    check_cycles<16, gemm_method::summa>(*target, 4);
    check_cycles<24, gemm_method::summa>(*target, 4);
    // A step takes as long on more PEs.
    const u64 few = cycles_of<12, gemm_method::cannon>(*target, 4) / 4,
              more = cycles_of<12, gemm_method::cannon>(*target, 8) / 8;
    CHECK(more <= few + few / 20);
  }
}

TEST_CASE("gemm on a wafer: what does not fit is named") {
  CHECK_THROWS_WITH((wafer_gemm<f32, {56, 56, 56}>(2)), Catch::Matchers::Contains("bytes"));
  CHECK(wafer_gemm<f32, {48, 48, 48}>::bytes < wse2.memory);
  CHECK_THROWS_WITH((wafer_gemm<f32, {4, 4, 4}>(129)),
                    "wsl: a grid of a product has a side of 1 to 128 PEs, not 129");
  CHECK_THROWS_WITH((wafer_gemm<f32, {4, 4, 4}, gemm_method::summa>(751)), Catch::Matchers::Contains("750"));
  CHECK_THROWS_WITH((wafer_gemm<f32, {4, 4, 4}, gemm_method::summa>(2)),
                    "wsl: a grid of a product has a side of 3 to 32767 PEs, not 2");
  const operands<f32> x(9, 8, 8);
  CHECK_THROWS_WITH(x.by(wafer_gemm<f32, {4, 4, 4}>(2)),
                    "wsl: C = A B of A (9, 8) and B (8, 8): the tiles of 2 x 2 PEs hold A of (8, 8) and B of "
                    "(8, 8); take more PEs or larger tiles");
}

}  // namespace
