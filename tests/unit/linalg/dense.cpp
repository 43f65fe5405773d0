// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/linalg/dense.hpp>

namespace {
using namespace wsl;

template <class T>
std::vector<T> random_numbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<T>(static_cast<f32>(random()) / 2147483648.f - 1.f));
  return x;
}

std::vector<const dense::microkernels*> units() {
  std::vector<const dense::microkernels*> all{&dense::microkernels_of<dense::detail::baseline>};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(&dense::microkernels_of<dense::detail::avx2>);
  if (__builtin_cpu_supports("avx512f")) all.push_back(&dense::microkernels_of<dense::detail::avx512>);
#endif
  return all;
}

// The promise of multiply_add, element by element, against f64.
template <class A, class B>
void check_bound(const matrix<f32>& c, const std::vector<f32>& before, const matrix<const A>& a,
                 const matrix<const B>& b) {
  for (int i = 0; i < c.rows(); ++i)
    for (int j = 0; j < c.columns(); ++j) {
      f64 exact = static_cast<f64>(before[static_cast<std::size_t>(&c(i, j) - c.first())]),
          size = std::abs(exact);
      for (int k = 0; k < a.columns(); ++k) {
        const f64 term =
            static_cast<f64>(static_cast<f32>(a(i, k))) * static_cast<f64>(static_cast<f32>(b(k, j)));
        exact += term, size += std::abs(term);
      }
      const f64 bound = (a.columns() + 1) * 0x1p-24 * size * 1.01;
      if (std::abs(static_cast<f64>(c(i, j)) - exact) > bound)
        FAIL("element (" << i << ", " << j << ") is " << c(i, j) << ", not " << exact);
    }
}

template <class A, class B>
void check_product(const dense::microkernels& u, int m, int k, int n, unsigned how) {
  const auto a_numbers = random_numbers<A>(m * k + 1, 1);
  const auto b_numbers = random_numbers<B>(k * n + 1, 2);
  const auto before = random_numbers<f32>(m * n + 1, 3);
  std::vector<f32> c_numbers = before;
  // Each of the eight ways in which three matrices lie by rows or by columns.
  const auto lay = [](auto* first, int rows, int columns, bool turned) {
    return turned ? matrix(first, columns, rows).transposed() : matrix(first, rows, columns);
  };
  const auto c = lay(c_numbers.data(), m, n, how & 1);
  const auto a = lay(a_numbers.data(), m, k, how & 2);
  const auto b = lay(b_numbers.data(), k, n, how & 4);
  multiply_add(c, a, b, u);
  check_bound(c, before, a, b);
  CHECK(c_numbers.back() == before.back());
  std::vector<f32> zero(before.size()), set(before.size(), std::nanf(""));
  multiply_add(lay(zero.data(), m, n, how & 1), a, b, u);
  set.back() = 0;
  multiply(lay(set.data(), m, n, how & 1), a, b, u);
  CHECK(set == zero);
}

TEST_CASE(
    "A product is within its bound of the exact one, on every instruction set, for odd sizes and all "
    "transpositions") {
  for (const dense::microkernels* u : units())
    for (unsigned how = 0; how < 8; ++how)
      for (int m : {0, 1, 5, 14, 15, 29, 71, 90})
        for (int n : {0, 1, 3, 16, 17, 32, 33, 65})
          for (int k : {0, 1, 7, 16, 31, 64}) check_product<f32, f32>(*u, m, k, n, how);
  check_product<f32, f32>(dense::best_microkernels(), 61, 300, 63, 0);  // deeper than one panel
  check_product<f32, f32>(dense::best_microkernels(), 90, 519, 40, 4);
}

TEST_CASE("Numbers of 16 bits are multiplied as f32") {
  for (unsigned how = 0; how < 8; ++how)
    for (int n : {1, 17, 64}) {
      check_product<bf16, bf16>(dense::best_microkernels(), 30, 29, n, how);
      check_product<f16, f16>(dense::best_microkernels(), 3, 65, n, how);
      check_product<bf16, f32>(dense::best_microkernels(), 57, 300, n, how);
      check_product<f32, f16>(dense::best_microkernels(), 57, 33, n, how);
    }
}

TEST_CASE("How a product is cut does not change a bit") {
  constexpr int m = 67, k = 301, n = 75;
  const auto a_numbers = random_numbers<f32>(m * k, 4), b_numbers = random_numbers<f32>(k * n, 5);
  const matrix<const f32> a(a_numbers.data(), m, k), b(b_numbers.data(), k, n);
  for (const dense::microkernels* u : units()) {
    std::vector<f32> whole(m * n), cut(m * n);
    multiply_add(matrix(whole.data(), m, n), a, b, *u);
    const matrix<f32> c(cut.data(), m, n);
    for (int p = 0; p < k; p += 100)
      for (int i = 0; i < m; i += 20)
        for (int j = 0; j < n; j += 30) {
          const int rows = std::min(20, m - i), columns = std::min(30, n - j), deep = std::min(100, k - p);
          multiply_add(c.part(i, j, rows, columns), a.part(i, p, rows, deep), b.part(p, j, deep, columns),
                       *u);
        }
    CHECK(whole == cut);
  }
}

TEST_CASE("Shapes that do not fit are named") {
  f32 x[12]{};
  CHECK_THROWS_WITH(multiply_add(matrix(x, 2, 2), matrix(x, 2, 3), matrix(x, 2, 2)),
                    "wsl: a product C = A B of C (2, 2), A (2, 3) and B (2, 2): the shapes do not fit");
  CHECK_THROWS_WITH(matrix(x, 3, 4).part(1, 2, 3, 1),
                    "wsl: a part of (3, 1) from (1, 2) on leaves its matrix of (3, 4)");
  CHECK_THROWS_WITH(matrix(x, 3, -4), "wsl: a matrix has no shape (3, -4)");
}

}  // namespace
