// SPDX-License-Identifier: MIT
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/fabric/race.hpp>
#include <wsl/kernel/gemm.hpp>
#include <wsl/linalg/serial.hpp>

namespace {
using namespace wsl;
using wsl::detail::cannon_tile, wsl::detail::gemm_problem, wsl::detail::row_tile, wsl::detail::summa_tile;
constexpr std::array methods{gemm_method::rows, gemm_method::cannon, gemm_method::summa};

template <class T>
std::vector<T> random_numbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<T>(static_cast<f32>(random()) / 2147483648.f - 1.f));
  return x;
}

template <class T>
struct example {
  int m, k, n;
  std::vector<T> of_a = random_numbers<T>(m * k, 1), of_b = random_numbers<T>(k * n, 2);
  std::vector<f32> of_c = std::vector<f32>(static_cast<std::size_t>(m * n), std::nanf(""));

  matrix<const T> a() const { return {of_a.data(), m, k}; }
  matrix<const T> b() const { return {of_b.data(), k, n}; }
  matrix<f32> c() { return {of_c.data(), m, n}; }

  void check() {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const dense::exact_element exact = dense::serial_element(a(), b(), i, j);
        if (!(std::abs(f64{c()(i, j)} - exact.value) <= exact.bound(k)))
          FAIL(m << " x " << k << " x " << n << ": element (" << i << ", " << j << ") is " << c()(i, j)
                 << ", not " << exact.value);
      }
    SUCCEED();
  }
};

TEST_CASE("Products of odd sizes on grids of any side are within their bound of the exact ones") {
  for (gemm_method method : methods)
    for (int side : {1, 2, 3, 4, 5, 6, 7}) {
      gemm_fabric<f32> product(side, method, 2);
      for (auto [m, k, n] : {std::array{1, 1, 1},
                             {7, 5, 3},
                             {1, 33, 64},
                             {40, 1, 1},
                             {67, 70, 45},
                             {16, 3, 130},
                             {8, 0, 8},
                             {3, 5, 0},
                             {0, 5, 3}}) {
        example<f32> x{m, k, n};
        product(x.c(), x.a(), x.b());
        x.check();
      }
    }
}

TEST_CASE("Inputs of 16 bits are summed in f32") {
  for (gemm_method method : methods)
    for (int side : {1, 2, 3, 4}) {
      example<bf16> x{45, 31, 29};
      gemm(x.c(), x.a(), x.b(), {.method = method, .side = side});
      x.check();
      example<f16> y{5, 99, 71};
      gemm(y.c(), y.a(), y.b(), {.method = method, .side = side});
      y.check();
      example<cb16> z{9, 23, 70};
      gemm(z.c(), z.a(), z.b(), {.method = method, .side = side});
      z.check();
    }
}

TEST_CASE("Tiles longer than a queue, and the default choice of a grid") {
  example<f32> x{300, 530, 410};
  gemm(x.c(), x.a(), x.b());
  x.check();
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::summa, .side = 3});
  x.check();
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::cannon});
  x.check();
}

TEST_CASE("Rows of B in several parts, owned by the first of more PEs") {
  example<f32> x{41, 1100, 70}, y = x;
  example<bf16> half{41, 1101, 70}, other = half;
  for (int side : {1, 2, 3, 4, 5, 60}) {
    gemm(x.c(), x.a(), x.b(), {.side = side, .threads = 2});
    x.check();
    if (side > 1) CHECK(x.of_c == y.of_c);
    y.of_c = x.of_c;
    gemm(half.c(), half.a(), half.b(), {.side = side, .threads = 2});
    half.check();
    if (side > 1) CHECK(half.of_c == other.of_c);
    other.of_c = half.of_c;
  }
}

TEST_CASE("Transposed matrices and parts are operands like others") {
  example<f32> x{37, 52, 23};
  example<f32> turned{23, 52, 37};
  turned.of_a = std::vector<f32>(23 * 52), turned.of_b = std::vector<f32>(52 * 37);
  copy(matrix(turned.of_a.data(), 23, 52), x.b().transposed());
  copy(matrix(turned.of_b.data(), 52, 37), x.a().transposed());
  gemm(x.c(), turned.b().transposed(), turned.a().transposed(), {.side = 3});
  x.check();
}

TEMPLATE_TEST_CASE("Factors of the product and of what C was", "", f32, bf16) {
  const f32 nan = std::nanf("");
  for (gemm_method method : methods)
    for (int side : {1, 3})
      for (const auto& [alpha, beta] :
           {std::pair{1.f, 1.f}, {1.f, -0.5f}, {2.5f, 0.f}, {-1.f, 1.f}, {0.75f, 3.f}}) {
        example<TestType> x{37, 300, 29};
        const std::vector<f32> before = random_numbers<f32>(37 * 29, 5);
        if (beta != 0) x.of_c = before;
        gemm(x.c(), x.a(), x.b(), {.method = method, .side = side, .alpha = alpha, .beta = beta});
        for (int i = 0; i < x.m; ++i)
          for (int j = 0; j < x.n; ++j) {
            const dense::exact_element exact = dense::serial_element(x.a(), x.b(), i, j);
            const f64 was = beta == 0 ? 0 : f64{before[static_cast<std::size_t>(i * x.n + j)]};
            const f64 expected = f64{alpha} * exact.value + f64{beta} * was;
            REQUIRE(std::abs(f64{x.c()(i, j)} - expected) <=
                    std::abs(f64{alpha}) * exact.bound(x.k) +
                        4e-7 * (std::abs(f64{beta} * was) + std::abs(exact.value)));
          }
      }
  // What does not count is not read.
  example<TestType> x{9, 7, 5};
  std::fill(x.of_a.begin(), x.of_a.end(), static_cast<TestType>(nan));
  for (gemm_method method : methods) {
    std::fill(x.of_c.begin(), x.of_c.end(), 2.f);
    gemm(x.c(), x.a(), x.b(), {.method = method, .side = 2, .alpha = 0, .beta = 3});
    CHECK(x.of_c == std::vector<f32>(45, 6.f));
    std::fill(x.of_c.begin(), x.of_c.end(), nan);
    gemm(x.c(), x.a(), x.b(), {.method = method, .side = 2, .alpha = 0});
    CHECK(x.of_c == std::vector<f32>(45, 0.f));
  }
  // C may lie by columns.
  example<TestType> y{6, 8, 4};
  std::vector<f32> turned(24, 1.f);
  gemm(y.c(), y.a(), y.b());
  gemm(matrix(turned.data(), 4, 6).transposed(), y.a(), y.b(), {.side = 2, .alpha = 2, .beta = 1});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j)
      CHECK(turned[static_cast<std::size_t>(j * 6 + i)] == Approx(2 * y.c()(i, j) + 1));
}

TEST_CASE("The number of threads does not change a bit") {
  for (gemm_method method : methods) {
    example<f32> one{203, 101, 150}, other = one;
    gemm(one.c(), one.a(), one.b(), {.method = method, .side = 5, .threads = 1});
    for (int threads : {2, 3, 8}) {
      gemm(other.c(), other.a(), other.b(), {.method = method, .side = 5, .threads = threads});
      CHECK(one.of_c == other.of_c);
    }
  }
}

TEMPLATE_TEST_CASE("With broadcast tiles the number of PEs does not change a bit", "", f32, bf16) {
  example<TestType> one{203, 101, 150}, other = one;
  std::fill(one.of_c.begin(), one.of_c.end(), 0.f);
  multiply_add(one.c(), one.a(), one.b());
  for (gemm_method method : {gemm_method::rows, gemm_method::summa})
    for (int side : {1, 2, 4, 7, 32}) {
      gemm(other.c(), other.a(), other.b(), {.method = method, .side = side});
      CHECK(one.of_c == other.of_c);
    }
}

TEST_CASE("The reference engine computes the same bits, and no order of the words changes one") {
  example<f32> x{9, 10, 11}, y = x;
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::cannon, .side = 3});
  fabric slow{gemm_fabric<f32>::plan(3, gemm_method::cannon), reference{}};
  slow.launch<&cannon_tile<f32>::begin>(all, gemm_problem<f32>{y.c(), y.a(), y.b()});
  CHECK(x.of_c == y.of_c);
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::summa, .side = 3});
  fabric steps{gemm_fabric<f32>::plan(3, gemm_method::summa), reference{}};
  steps.launch<&summa_tile<f32>::begin>(all, gemm_problem<f32>{y.c(), y.a(), y.b()});
  CHECK(x.of_c == y.of_c);
  example<f32> z{9, 800, 11}, w = z;
  gemm(z.c(), z.a(), z.b(), {.side = 3});
  fabric column{gemm_fabric<f32>::plan(3, gemm_method::rows), reference{}};
  column.launch<&row_tile<f32>::begin>(all, gemm_problem<f32>{w.c(), w.a(), w.b()});
  CHECK(z.of_c == w.of_c);
  for (unsigned seed : {1u, 2u, 3u}) {
    fabric parts{gemm_fabric<f32>::plan(3, gemm_method::rows), threaded{.order = schedule::shuffled{seed}}};
    parts.launch<&row_tile<f32>::begin>(all, gemm_problem<f32>{w.c(), w.a(), w.b()});
    CHECK(z.of_c == w.of_c);
    fabric shuffled{gemm_fabric<f32>::plan(3, gemm_method::summa),
                    threaded{.order = schedule::shuffled{seed}}};
    shuffled.launch<&summa_tile<f32>::begin>(all, gemm_problem<f32>{y.c(), y.a(), y.b()});
    CHECK(x.of_c == y.of_c);
  }
}

TEST_CASE("A folded ring visits every PE once and never goes further than two") {
  using ring = folded_ring<f32>;
  for (int n = 1; n < 12; ++n) {
    std::vector<int> at(static_cast<std::size_t>(n), -1);
    for (int i = 0; i < n; ++i) at.at(static_cast<std::size_t>(ring::place(i, n))) = i;
    for (std::size_t p = 0; p < at.size(); ++p) CHECK(std::abs(at[p] - at[(p + 1) % at.size()]) <= 2);
  }
}

TEST_CASE("What does not fit is named") {
  f32 x[12]{};
  CHECK_THROWS_WITH(gemm(matrix(x, 2, 2), matrix(x, 2, 3), matrix(x, 2, 2)),
                    "wsl: C = A B of C (2, 2), A (2, 3) and B (2, 2): the shapes do not fit");
  CHECK_THROWS_WITH(gemm(matrix(x, 2, 2), matrix(x, 2, 3), matrix(x, 3, 2), {.threads = -1}),
                    "wsl: an engine runs on 1 to 1024 threads, not on -1");
  CHECK_THROWS_WITH(gemm_fabric<f32>(33, gemm_method::summa),
                    "wsl: a grid of a product has a side of 1 to 32 PEs, not 33");
  CHECK_THROWS_WITH(gemm_fabric<f32>(-1), "wsl: a grid of a product has a side of 1 to 1024 PEs, not -1");
}

}  // namespace
