// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>
#include <wsl/linalg/dense.hpp>
#include <wsl/linalg/microkernels/instruction_sets.hpp>
#include <wsl/linalg/serial.hpp>

namespace {
using namespace wsl;

template <class T>
std::vector<T> random_numbers(int n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x;
  for (int i = 0; i < n; ++i)
    if constexpr (std::is_same_v<T, f64>) x.push_back(static_cast<f64>(random()) * 0x1p-63 - 1);
    else x.push_back(static_cast<T>(static_cast<f32>(random()) * 0x1p-63f - 1.f));
  return x;
}

#ifdef __x86_64__
/// Tile registers in memory, which compute what Intel's manual says of TDPBF16PS, but for subnormal numbers.
struct tiles_in_memory {
  static constexpr int rows = 16, columns = 16;
  static inline thread_local f32 tile[8][16][16];

  static void configure() { std::memset(tile, 0, sizeof tile); }
  template <int t>
  static void zero() {
    std::memset(tile[t], 0, sizeof tile[t]);
  }
  template <int t>
  static void load(const f32* from, i64 row) {
    for (int i = 0; i < 16; ++i) std::memcpy(tile[t][i], from + i * row, sizeof tile[t][i]);
  }
  template <int t>
  static void store(f32* to, i64 row) {
    for (int i = 0; i < 16; ++i) std::memcpy(to + i * row, tile[t][i], sizeof tile[t][i]);
  }
  template <int c, int a, int b>
  static void multiply() {
    const auto number = [](const f32& pair, int which) {
      u16 bits[2];
      std::memcpy(bits, &pair, sizeof pair);
      return f32{bf16::from_bits(bits[which])};
    };
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) {
        f32 sum[2] = {};
        for (int k = 0; k < 16; ++k)
          for (int which : {0, 1})
            sum[which] = std::fma(number(tile[a][i][k], which), number(tile[b][k][j], which), sum[which]);
        tile[c][i][j] += sum[0] + sum[1];
      }
  }
};
#endif

template <class T = f32>
std::vector<const dense::microkernels<T>*> units() {
  std::vector<const dense::microkernels<T>*> all{&dense::microkernels_of<dense::detail::baseline<T>>};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(&dense::microkernels_of<dense::detail::avx2<T>>);
  if (__builtin_cpu_supports("avx512f")) all.push_back(&dense::microkernels_of<dense::detail::avx512<T>>);
  if constexpr (std::is_same_v<T, f32>) {
    if (processor_has_bf16()) all.push_back(&dense::microkernels_with_bf16);
    if (__builtin_cpu_supports("avx512f")) all.push_back(&dense::microkernels_with_tiles<tiles_in_memory>);
    if (dense::detail::processor_has_tiles()) all.push_back(&dense::microkernels_with_tiles<>);
  }
#endif
  return all;
}

// The promise of multiply_add, element by element, against f64, or long double.
template <class A, class B, class C>
void check_bound(const matrix<C>& c, const std::vector<C>& before, const matrix<const A>& a,
                 const matrix<const B>& b) {
  for (int i = 0; i < c.rows(); ++i)
    for (int j = 0; j < c.columns(); ++j) {
      const auto exact =
          dense::serial_element(a, b, i, j, before[static_cast<std::size_t>(&c(i, j) - c.first())]);
      if (!(std::abs(decltype(exact.value){c(i, j)} - exact.value) <= exact.bound(a.columns() + 1)))
        FAIL("element (" << i << ", " << j << ") is " << c(i, j) << ", not " << exact.value);
    }
}

template <class A, class B, class C>
void check_product(const dense::microkernels<C>& u, int m, int k, int n, unsigned how) {
  const auto a_numbers = random_numbers<A>(m * k + 1, 1);
  const auto b_numbers = random_numbers<B>(k * n + 1, 2);
  const auto before = random_numbers<C>(m * n + 1, 3);
  std::vector<C> c_numbers = before;
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
  std::vector<C> zero(before.size()), set(before.size(), std::nanf(""));
  multiply_add(lay(zero.data(), m, n, how & 1), a, b, u);
  set.back() = 0;
  multiply(lay(set.data(), m, n, how & 1), a, b, u);
  CHECK(set == zero);
}

TEMPLATE_TEST_CASE(
    "A product is within its bound of the exact one, on every instruction set, for odd sizes and all "
    "transpositions",
    "", f32, f64) {
  for (const dense::microkernels<TestType>* u : units<TestType>())
    for (unsigned how = 0; how < 8; ++how)
      for (int m : {0, 1, 5, 14, 15, 29, 71, 90})
        for (int n : {0, 1, 3, 16, 17, 32, 33, 65})
          for (int k : {0, 1, 7, 16, 31, 64}) check_product<TestType, TestType>(*u, m, k, n, how);
  check_product<TestType, TestType>(dense::best_microkernels<TestType>(), 61, 300, 63,
                                    0);  // deeper than one panel
  check_product<TestType, TestType>(dense::best_microkernels<TestType>(), 90, 519, 40, 4);
}

TEST_CASE("Products of 16-bit numbers are summed in f32, on every instruction set") {
  for (const dense::microkernels<f32>* u : units())
    for (unsigned how = 0; how < 8; ++how)
      for (int n : {1, 17, 64, 70}) {
        for (int k : {1, 2, 29, 257}) check_product<bf16, bf16>(*u, 30, k, n, how);
        check_product<f16, f16>(*u, 3, 65, n, how);
        check_product<cb16, cb16>(*u, 71, 31, n, how);
        check_product<bf16, f32>(*u, 57, 300, n, how);
        check_product<f32, f16>(*u, 57, 33, n, how);
        check_product<cb16, bf16>(*u, 16, 130, n, how);
      }
  const dense::microkernels<f32>& best = dense::best_microkernels<f32>();
  for (unsigned how : {0u, 2u, 6u}) {  // more rows of A than are converted at a time
    check_product<bf16, bf16>(best, 270, 259, 20, how);
    check_product<f16, f16>(best, 270, 131, 20, how);
  }
}

TEST_CASE("Rows of bf16 at any address and distance are the same operand") {
  constexpr int m = 9, k = 40, n = 33;
  const auto numbers = random_numbers<bf16>(m * (k + 3) + 1, 8), b_numbers = random_numbers<bf16>(k * n, 9);
  const matrix<const bf16> b(b_numbers.data(), k, n);
  for (int first : {0, 1})
    for (int apart : {0, 1, 2}) {
      const matrix<const bf16> a(numbers.data() + first, m, k, k + apart, 1);
      std::vector<bf16> same(m * k);
      copy(matrix(same.data(), m, k), a);
      std::vector<f32> c(m * n), expected(m * n);
      multiply(matrix(c.data(), m, n), a, b);
      multiply(matrix(expected.data(), m, n), matrix<const bf16>(same.data(), m, k), b);
      CHECK(c == expected);
    }
}

// Beyond rounding, the processor may lose terms with a subnormal factor, and sums below 2^-126.
TEST_CASE("Subnormal numbers of bf16 cost at most their products and 2^-126 a term") {
  constexpr int m = 20, k = 301, n = 35;
  std::mt19937 random(10);
  const auto numbers = [&](int count) {
    std::vector<bf16> x;
    for (int i = 0; i < count; ++i) {  // of all magnitudes below 1, every third subnormal
      const auto bits = static_cast<u16>(random() & 0xffff);
      x.push_back(bf16::from_bits(i % 3 ? bits & 0xbf7f : bits & 0x807f));
    }
    return x;
  };
  const auto a_numbers = numbers(m * k), b_numbers = numbers(k * n);
  const matrix<const bf16> a(a_numbers.data(), m, k), b(b_numbers.data(), k, n);
  const auto subnormal = [](bf16 x) { return abs(x).bits < 0x80; };
  for (const dense::microkernels<f32>* u : units()) {
    std::vector<f32> c(m * n);
    multiply(matrix(c.data(), m, n), a, b, *u);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        f64 lost = k * 0x1p-126;
        for (int p = 0; p < k; ++p)
          if (subnormal(a(i, p)) || subnormal(b(p, j)))
            lost += std::abs(f64{f32{a(i, p)}} * f64{f32{b(p, j)}});
        const auto exact = dense::serial_element(a, b, i, j);
        if (!(std::abs(f64{c[static_cast<std::size_t>(i * n + j)]} - exact.value) <= exact.bound(k) + lost))
          FAIL("element (" << i << ", " << j << ") is not within its bound of " << exact.value);
      }
  }
}

TEMPLATE_TEST_CASE("How a product is cut does not change a bit", "", f32, f16, bf16, cb16, f64) {
  using number = dense::sum_of<TestType>;
  constexpr int m = 67, k = 301, n = 75;
  const auto a_numbers = random_numbers<TestType>(m * k, 4), b_numbers = random_numbers<TestType>(k * n, 5);
  const matrix<const TestType> a(a_numbers.data(), m, k), b(b_numbers.data(), k, n);
  for (const dense::microkernels<number>* u : units<number>()) {
    std::vector<number> whole(m * n), cut(m * n);
    multiply_add(matrix(whole.data(), m, n), a, b, *u);
    const matrix<number> c(cut.data(), m, n);
    for (int p = 0; p < k; p += 96)
      for (int i = 0; i < m; i += 20)
        for (int j = 0; j < n; j += 30) {
          const int rows = std::min(20, m - i), columns = std::min(30, n - j), deep = std::min(96, k - p);
          multiply_add(c.part(i, j, rows, columns), a.part(i, p, rows, deep), b.part(p, j, deep, columns),
                       *u);
        }
    CHECK(whole == cut);
  }
}

#ifdef __x86_64__
TEST_CASE("Tile registers compute what their manual says, and other rows and columns make no difference") {
  const auto a = random_numbers<bf16>(90 * 300, 6), b = random_numbers<bf16>(300 * 70, 7);
  const auto product_of = [&](const dense::microkernels<f32>& u, int m, int k, int n) {
    std::vector<f32> c(static_cast<std::size_t>(m * n));
    multiply(matrix(c.data(), m, n), matrix<const bf16>(a.data(), m, k), matrix<const bf16>(b.data(), k, n),
             u);
    return c;
  };
  if (!__builtin_cpu_supports("avx512f")) SUCCEED("the processor has no AVX-512");
  else
    for (int m : {1, 17, 48, 71})
      for (int n : {1, 32, 70})
        for (int k : {2, 31, 64, 300}) {
          const std::vector<f32> c = product_of(dense::microkernels_with_tiles<tiles_in_memory>, m, k, n);
          if (dense::detail::processor_has_tiles())
            CHECK(product_of(dense::microkernels_with_tiles<>, m, k, n) == c);
          // element by element: the sums of 32 products each, of even k and of odd
          for (int i = 0; i < m; i += 7)
            for (int j = 0; j < n; j += 3) {
              f32 sum = 0;
              for (int first = 0; first < k; first += 32) {
                f32 part[2] = {};
                for (int p = first; p < std::min(k, first + 32); ++p)
                  part[p % 2] = std::fma(f32{a[static_cast<std::size_t>(i * k + p)]},
                                         f32{b[static_cast<std::size_t>(p * n + j)]}, part[p % 2]);
                sum += part[0] + part[1];
              }
              REQUIRE(c[static_cast<std::size_t>(i * n + j)] == sum);
            }
        }
}
#endif

TEMPLATE_TEST_CASE("A copy across has the same numbers, whatever squares fit into it", "", f32, f64) {
  for (const auto& [rows, columns] : {std::pair{1, 5}, {5, 1}, {16, 16}, {17, 40}, {33, 15}, {48, 65}}) {
    const std::vector<TestType> numbers = random_numbers<TestType>(rows * columns, 7);
    std::vector<TestType> across(numbers.size() + 1, TestType{-9});
    const matrix<const TestType> from(numbers.data(), rows, columns, 1, rows);  // by columns
    const matrix<TestType> to(across.data(), rows, columns);
    copy_across(to, from);
    bool same = across.back() == -9;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) same = same && to(i, j) == from(i, j);
    INFO(rows << " x " << columns);
    CHECK(same);
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
