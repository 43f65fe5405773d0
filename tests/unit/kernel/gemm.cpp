// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
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
  std::mt19937_64 random(seed);
  std::vector<T> x;
  for (int i = 0; i < n; ++i)
    if constexpr (std::is_same_v<T, f64>) x.push_back(static_cast<f64>(random()) * 0x1p-63 - 1);
    else x.push_back(static_cast<T>(static_cast<f32>(random()) * 0x1p-63f - 1.f));
  return x;
}

template <class T>
struct example {
  int m, k, n;
  std::vector<T> of_a = random_numbers<T>(m * k, 1), of_b = random_numbers<T>(k * n, 2);
  std::vector<dense::sum_of<T>> of_c =
      std::vector<dense::sum_of<T>>(static_cast<std::size_t>(m * n), std::nanf(""));

  matrix<const T> a() const { return {of_a.data(), m, k}; }
  matrix<const T> b() const { return {of_b.data(), k, n}; }
  matrix<dense::sum_of<T>> c() { return {of_c.data(), m, n}; }

  void check() {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const auto exact = dense::serial_element(a(), b(), i, j);
        if (!(std::abs(decltype(exact.value){c()(i, j)} - exact.value) <= exact.bound(k)))
          FAIL(m << " x " << k << " x " << n << ": element (" << i << ", " << j << ") is " << c()(i, j)
                 << ", not " << exact.value);
      }
    SUCCEED();
  }
};

TEMPLATE_TEST_CASE("Products of odd sizes on grids of any side are within their bound of the exact ones", "",
                   f32, f64) {
  for (gemm_method method : methods)
    for (int side : {1, 2, 3, 4, 5, 6, 7}) {
      gemm_fabric<TestType> product(side, method, 2);
      for (auto [m, k, n] : {std::array{1, 1, 1},
                             {7, 5, 3},
                             {1, 33, 64},
                             {40, 1, 1},
                             {67, 70, 45},
                             {16, 3, 130},
                             {8, 0, 8},
                             {3, 5, 0},
                             {0, 5, 3}}) {
        example<TestType> x{m, k, n};
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

TEMPLATE_TEST_CASE("Tiles longer than a queue, and the default choice of a grid", "", f32, f64) {
  example<TestType> x{300, 530, 410};
  gemm(x.c(), x.a(), x.b());
  x.check();
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::summa, .side = 3});
  x.check();
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::cannon});
  x.check();
}

TEMPLATE_TEST_CASE("Rows of B in several parts, owned by the first of more PEs", "", f32, f64) {
  example<TestType> x{41, 1100, 70}, y = x;
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

TEMPLATE_TEST_CASE("Transposed matrices and parts are operands like others", "", f32, f64) {
  example<TestType> x{37, 52, 23};
  example<TestType> turned{23, 52, 37};
  turned.of_a = std::vector<TestType>(23 * 52), turned.of_b = std::vector<TestType>(52 * 37);
  copy(matrix(turned.of_a.data(), 23, 52), x.b().transposed());
  copy(matrix(turned.of_b.data(), 52, 37), x.a().transposed());
  for (gemm_method method : methods) {
    gemm(x.c(), turned.b().transposed(), turned.a().transposed(), {.method = method, .side = 3});
    x.check();
    // Each operand, and C, a part of a larger matrix whose other elements stay what they are.
    const TestType other = 77;
    std::vector<TestType> room(3 * 80 * 80, other);
    const matrix<TestType> all(room.data(), 240, 80), a = all.part(3, 5, 37, 52), b = all.part(90, 7, 52, 23),
                                                      c = all.part(170, 11, 37, 23);
    copy(a, x.a()), copy(b, x.b());
    gemm(c, matrix<const TestType>(a), matrix<const TestType>(b), {.method = method, .side = 2});
    example<TestType> y = x;
    copy(y.c(), c);
    y.check();
    CHECK(std::count(room.begin(), room.end(), other) == 3 * 80 * 80 - 37 * 52 - 52 * 23 - 37 * 23);
  }
}

TEMPLATE_TEST_CASE("Factors of the product and of what C was", "", f32, bf16, f64) {
  using number = dense::sum_of<TestType>;
  const f32 nan = std::nanf("");
  for (gemm_method method : methods)
    for (int side : {1, 3})
      for (const auto& [alpha, beta] :
           {std::pair{1., 1.}, {1., -0.5}, {2.5, 0.}, {-1., 1.}, {0.75, 3.}, {1. / 3, 0.1}}) {
        example<TestType> x{37, 300, 29};
        const std::vector<number> before = random_numbers<number>(37 * 29, 5);
        if (beta != 0) x.of_c = before;
        gemm(x.c(), x.a(), x.b(), {.method = method, .side = side, .alpha = alpha, .beta = beta});
        for (int i = 0; i < x.m; ++i)
          for (int j = 0; j < x.n; ++j) {
            const auto exact = dense::serial_element(x.a(), x.b(), i, j);
            using wide = decltype(exact.value);
            const wide was = beta == 0 ? 0 : wide{before[static_cast<std::size_t>(i * x.n + j)]},
                       expected = wide{alpha} * exact.value + wide{beta} * was,
                       rounding = 3 * static_cast<wide>(std::numeric_limits<number>::epsilon());
            REQUIRE(std::abs(wide{x.c()(i, j)} - expected) <=
                    std::abs(wide{alpha}) * exact.bound(x.k) +
                        rounding * (std::abs(wide{beta} * was) + std::abs(exact.value)));
          }
      }
  // What does not count is not read.
  example<TestType> x{9, 7, 5};
  std::fill(x.of_a.begin(), x.of_a.end(), static_cast<TestType>(nan));
  for (gemm_method method : methods) {
    std::fill(x.of_c.begin(), x.of_c.end(), number{2});
    gemm(x.c(), x.a(), x.b(), {.method = method, .side = 2, .alpha = 0, .beta = 3});
    CHECK(x.of_c == std::vector<number>(45, 6));
    std::fill(x.of_c.begin(), x.of_c.end(), number{nan});
    gemm(x.c(), x.a(), x.b(), {.method = method, .side = 2, .alpha = 0});
    CHECK(x.of_c == std::vector<number>(45, 0));
    // NaNs that count are read: those of C with a beta, and those of A and B with an alpha.
    x.of_c[7] = nan;
    gemm(x.c(), x.a(), x.b(), {.method = method, .side = 2, .alpha = 0, .beta = 1});
    CHECK((std::isnan(x.of_c[7]) && x.of_c[8] == 0));
    gemm(x.c(), x.a(), x.b(), {.method = method, .side = 2});
    CHECK(std::all_of(x.of_c.begin(), x.of_c.end(), [](number c) { return std::isnan(c); }));
  }
  // C may lie by columns.
  example<TestType> y{6, 8, 4};
  std::vector<number> turned(24, 1);
  gemm(y.c(), y.a(), y.b());
  gemm(matrix(turned.data(), 4, 6).transposed(), y.a(), y.b(), {.side = 2, .alpha = 2, .beta = 1});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j)
      CHECK(turned[static_cast<std::size_t>(j * 6 + i)] == Approx(2 * y.c()(i, j) + 1));
}

TEMPLATE_TEST_CASE("The number of threads does not change a bit", "", f32, f64) {
  for (gemm_method method : methods) {
    example<TestType> one{203, 101, 150}, other = one;
    gemm(one.c(), one.a(), one.b(), {.method = method, .side = 5, .threads = 1});
    for (int threads : {2, 3, 8}) {
      gemm(other.c(), other.a(), other.b(), {.method = method, .side = 5, .threads = threads});
      CHECK(one.of_c == other.of_c);
    }
  }
}

TEMPLATE_TEST_CASE("With broadcast tiles the number of PEs does not change a bit", "", f32, bf16, f64) {
  example<TestType> one{203, 601, 150}, other = one;
  std::fill(one.of_c.begin(), one.of_c.end(), dense::sum_of<TestType>{});
  multiply_add(one.c(), one.a(), one.b());
  for (gemm_method method : {gemm_method::rows, gemm_method::summa})
    for (int side : {1, 2, 4, 7, 32}) {
      gemm(other.c(), other.a(), other.b(), {.method = method, .side = side});
      CHECK(one.of_c == other.of_c);
    }
}

TEMPLATE_TEST_CASE("The reference engine computes the same bits, and no order of the words changes one", "",
                   f32, f64) {
  example<TestType> x{9, 10, 11}, y = x;
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::cannon, .side = 3});
  fabric slow{gemm_fabric<TestType>::plan(3, gemm_method::cannon), reference{}};
  slow.launch<&cannon_tile<TestType>::begin>(all, gemm_problem<TestType>{y.c(), y.a(), y.b()});
  CHECK(x.of_c == y.of_c);
  gemm(x.c(), x.a(), x.b(), {.method = gemm_method::summa, .side = 3});
  fabric steps{gemm_fabric<TestType>::plan(3, gemm_method::summa), reference{}};
  steps.launch<&summa_tile<TestType>::begin>(all, gemm_problem<TestType>{y.c(), y.a(), y.b()});
  CHECK(x.of_c == y.of_c);
  example<TestType> z{9, 800, 11}, w = z;
  gemm(z.c(), z.a(), z.b(), {.side = 3});
  fabric column{gemm_fabric<TestType>::plan(3, gemm_method::rows), reference{}};
  column.launch<&row_tile<TestType>::begin>(all, gemm_problem<TestType>{w.c(), w.a(), w.b()});
  CHECK(z.of_c == w.of_c);
  for (unsigned seed : {1u, 2u, 3u}) {
    fabric parts{gemm_fabric<TestType>::plan(3, gemm_method::rows),
                 threaded{.order = schedule::shuffled{seed}}};
    parts.launch<&row_tile<TestType>::begin>(all, gemm_problem<TestType>{w.c(), w.a(), w.b()});
    CHECK(z.of_c == w.of_c);
    fabric shuffled{gemm_fabric<TestType>::plan(3, gemm_method::summa),
                    threaded{.order = schedule::shuffled{seed}}};
    shuffled.launch<&summa_tile<TestType>::begin>(all, gemm_problem<TestType>{y.c(), y.a(), y.b()});
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

TEST_CASE("A product in f64 has the digits of f64, and factors that f32 does not have") {
  f64 a = 1 + 0x1p-40, b = 1 - 0x1p-41, c = 3;
  gemm(matrix(&c, 1, 1), matrix(&a, 1, 1), matrix(&b, 1, 1), {.alpha = 1e200, .beta = 0x1p-30});
  CHECK(c == Approx(1e200 * a * b).epsilon(1e-15));
  gemm(matrix(&c, 1, 1), matrix(&a, 1, 1), matrix(&b, 1, 1));
  CHECK(c == a * b);
  // The factors of a product in f32 are rounded before they are compared with 0.
  f32 x = 2, y = std::nanf(""), z = 5;
  gemm(matrix(&z, 1, 1), matrix(&x, 1, 1), matrix(&y, 1, 1), {.alpha = 1e-60, .beta = 2});
  CHECK(z == 10);
}

TEMPLATE_TEST_CASE("C that overlaps A or B is refused, and one between their numbers is not", "", f32, bf16) {
  using number = dense::sum_of<TestType>;
  std::vector<TestType> other(40 * 40);
  std::vector<number> room(40 * 40);
  const matrix<number> all(room.data(), 40, 40);
  const matrix<const TestType> apart(other.data(), 40, 40);
  // the same memory as numbers of A and B
  const matrix<const TestType> same(reinterpret_cast<const TestType*>(room.data()), 40, 40);
  const std::string shapes = "wsl: C = A B of C (40, 40), A (40, 40) and B (40, 40): C overlaps ",
                    remedy = ", which is read while C is written; take another array for C";
  for (gemm_method method : methods) {
    gemm_fabric<TestType> product(2, method, 1);
    CHECK_THROWS_WITH(product(all, same, apart), shapes + "A" + remedy);
    CHECK_THROWS_WITH(product(all, apart, same), shapes + "B" + remedy);
    CHECK_THROWS_WITH(product(all, same.transposed(), same), shapes + "A and B" + remedy);
    product(all, same, same, {.alpha = 0});  // which are not read
  }
}

TEST_CASE("Matrices without a common number do not overlap, those with one do") {
  std::vector<f32> room(4000);
  const matrix<f32> all(room.data(), 40, 100);
  using wsl::detail::may_overlap;
  const auto overlap = [](const matrix<f32>& a, const matrix<f32>& b) {
    // Neither the order nor a view from the other side changes the answer.
    const bool found = may_overlap(a, b);
    CHECK(may_overlap(b, a) == found);
    CHECK(may_overlap(a.transposed(), b) == found);
    const matrix<f32> turned(&a(a.rows() - 1, a.columns() - 1), a.rows(), a.columns(), -a.row_stride(),
                             -a.column_stride());
    CHECK(may_overlap(turned, b) == found);
    // No common number is missed.
    bool common = false;
    for (int i = 0; i < a.rows(); ++i)
      for (int j = 0; j < a.columns(); ++j)
        for (int k = 0; k < b.rows(); ++k)
          for (int l = 0; l < b.columns(); ++l) common |= &a(i, j) == &b(k, l);
    CHECK((found || !common));
    return found;
  };
  // Parts of one matrix: columns, rows and blocks, and one row beside the columns.
  CHECK_FALSE(overlap(all.part(0, 0, 40, 50), all.part(0, 50, 40, 50)));
  CHECK_FALSE(overlap(all.part(3, 20, 30, 10), all.part(0, 30, 40, 7).transposed()));
  CHECK_FALSE(overlap(all.part(0, 0, 20, 100), all.part(20, 0, 20, 100)));
  CHECK_FALSE(overlap(all.part(10, 10, 30, 30), all.part(10, 0, 30, 10)));
  CHECK_FALSE(overlap(all.part(0, 0, 40, 50), matrix(&all(7, 50), 1, 50)));
  CHECK_FALSE(overlap(all.part(0, 0, 40, 50), matrix(&all(7, 50), 30, 50, 0, 1)));
  CHECK(overlap(all.part(0, 0, 40, 51), all.part(0, 50, 40, 50)));
  CHECK(overlap(all.part(0, 0, 21, 100), all.part(20, 99, 20, 1)));
  CHECK(overlap(all.part(0, 0, 40, 50), matrix(&all(7, 49), 1, 50)));
  CHECK(overlap(all, matrix(&room.back(), 1, 1)));
  // Real and imaginary parts, even and odd rows, and neighbours in a batch that is the innermost axis.
  CHECK_FALSE(overlap(matrix(&room[0], 20, 10, 20, 2), matrix(&room[1], 20, 10, 20, 2)));
  CHECK_FALSE(overlap(matrix(&room[0], 20, 30, 200, 1), matrix(&room[100], 20, 100, 200, 1)));
  CHECK_FALSE(overlap(matrix(&room[2], 10, 12, 36, 3), matrix(&room[1], 12, 10, 30, 3)));
  CHECK(overlap(matrix(&room[0], 20, 10, 20, 2), matrix(&room[2], 20, 10, 20, 2)));
  // Another matrix, and none.
  std::vector<f32> other(4000);
  CHECK_FALSE(overlap(all, matrix(other.data(), 40, 100)));
  CHECK_FALSE(may_overlap(all, all.part(5, 5, 0, 3)));
}

TEST_CASE("C whose elements share a place is refused") {
  std::vector<f32> room(200), a(36), b(36);
  const auto product = [&](int rows, int columns, i64 row_stride, i64 column_stride) {
    gemm(matrix(&room[100], rows, columns, row_stride, column_stride), matrix(a.data(), rows, 4),
         matrix(b.data(), 4, columns), {.threads = 1});
  };
  CHECK_THROWS_WITH(
      product(3, 4, 0, 1),
      "wsl: C = A B of C (3, 4) with a row stride of 0 and a column stride of 1: elements of C share "
      "a place; give each its own");
  CHECK_THROWS_AS(product(3, 4, 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(product(3, 1, 0, 0), std::invalid_argument);
  CHECK_THROWS_AS(product(3, 4, 3, 1), std::invalid_argument);
  CHECK_THROWS_AS(product(4, 3, 2, -3), std::invalid_argument);
  product(1, 1, 0, 0), product(1, 4, 0, 1), product(4, 1, 1, 0);
  product(3, 4, 4, 1), product(3, 4, -1, 3), product(2, 4, 3, 2), product(0, 4, 0, 0);
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
