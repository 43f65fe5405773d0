// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/kernel/gemv.hpp>
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

/// Every element within the bound that rounding sets.
template <class T>
void check(int m, int n, const gemv_options& how) {
  const std::vector<T> a = random_numbers<T>(m * n, 1), x = random_numbers<T>(n, 2);
  std::vector<f32> y(static_cast<std::size_t>(m), std::nanf(""));
  gemv(std::span(y), matrix<const T>(a.data(), m, n), std::span(x), how);
  const matrix<const T> of_a(a.data(), m, n), of_x(x.data(), n, 1);
  for (int i = 0; i < m; ++i) {
    const auto exact = dense::serial_element(of_a, of_x, i, 0);
    const f32 found = y[static_cast<std::size_t>(i)];
    if (!(std::abs(f64{found} - exact.value) <= exact.bound(n)))
      FAIL(m << " x " << n << " on " << how.wide << " x " << how.high << " PEs: element " << i << " is "
             << found << ", not " << exact.value);
  }
  SUCCEED();
}

TEST_CASE("gemv: any shape on any grid, in f32, f16 and bf16") {
  for (int wide : {1, 2, 5})
    for (int high : {1, 3, 4})
      for (auto [m, n] : {std::array{1, 1}, {7, 130}, {200, 3}, {65, 70}, {1, 40}, {40, 1}}) {
        check<f32>(m, n, {.wide = wide, .high = high, .threads = 2});
        check<bf16>(m, n, {.wide = wide, .high = high});
      }
  check<f16>(33, 1000, {.wide = 3, .high = 2});
  check<f32>(700, 5000, {});
}

TEST_CASE("gemv: the number of threads does not change a bit, and the matrix stays") {
  const std::vector<f32> a = random_numbers<f32>(301 * 203, 1), x = random_numbers<f32>(203, 2);
  std::vector<f32> one(301), other(301);
  gemv_fabric<f32>(matrix<const f32>(a.data(), 301, 203), {.wide = 3, .high = 4, .threads = 1})(one, x);
  for (int threads : {2, 3, 8}) {
    gemv_fabric<f32> product(matrix<const f32>(a.data(), 301, 203),
                             {.wide = 3, .high = 4, .threads = threads});
    for (int time = 0; time < 2; ++time) {
      std::fill(other.begin(), other.end(), 0.f);
      product(other, x);
      CHECK(one == other);
    }
  }
}

TEST_CASE("gemv: a transposed matrix is an operand like others; what does not fit is named") {
  const std::vector<f32> a = random_numbers<f32>(37 * 52, 1), x = random_numbers<f32>(37, 2);
  std::vector<f32> y(52), z(52);
  gemv(std::span(y), matrix<const f32>(a.data(), 37, 52).transposed(), std::span(x), {.wide = 2, .high = 2});
  std::vector<f32> turned(a.size());
  copy(matrix(turned.data(), 52, 37), matrix(a.data(), 37, 52).transposed());
  gemv(std::span(z), matrix<const f32>(turned.data(), 52, 37), std::span(x), {.wide = 2, .high = 2});
  CHECK(y == z);
  CHECK_THROWS_WITH(gemv_fabric<f32>(matrix<const f32>(a.data(), 37, 52))(y, x),
                    "wsl: y = A x of y (52), A (37, 52) and x (37): the shapes do not fit");
  CHECK_THROWS_WITH(gemv_fabric<f32>(matrix<const f32>(a.data(), 37, 52), {.wide = -1, .high = 2}),
                    "wsl: a product runs on at least 1 x 1 PEs, not on -1 x 2");
}

}  // namespace
