// SPDX-License-Identifier: MIT
// Products with low-rank tiles against the same product in f64 and against the dense matrix.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <wsl/kernel/tlr.hpp>

namespace {
using namespace wsl;
using tlr::low_rank, tlr::schedule, tlr::operation;

template <class T>
std::vector<T> random_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  const auto next = [&] { return static_cast<f32>(random()) / 2147483648.f - 1.f; };
  std::vector<T> x(n);
  for (T& v : x) {
    if constexpr (std::is_same_v<T, f32>) v = next();
    else {
      const f32 re = next();
      v = {re, next()};
    }
  }
  return x;
}

/// Ranks from 0 to `most`, all different somewhere.
template <class T>
low_rank<T> random_matrix(int rows, int columns, int tile, int most) {
  low_rank<T> a(rows, columns, tile);
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      const int rank = (i * 5 + j * 3) % (most + 1);
      const unsigned seed = static_cast<unsigned>(i * 1000 + j);
      const auto n = [&](const tlr::range& r) { return static_cast<std::size_t>(rank * r.size()); };
      a.set(i, j,
            {rank, random_numbers<T>(n(a.rows_of(i)), 2 * seed),
             random_numbers<T>(n(a.columns_of(j)), 2 * seed + 1)});
    }
  return a;
}

template <class T>
std::vector<T> product(const low_rank<T>& a, const std::vector<T>& x, operation which,
                       const tlr::options& how) {
  std::vector<T> y(static_cast<std::size_t>(tlr::transposes(which) ? a.columns() : a.rows()));
  tlr::multiplier<T>(a, how)(y, x, which);
  return y;
}
template <class T>
f64 relative_error(const std::vector<T>& y, const std::vector<tlr::wide<T>>& exact) {
  f64 difference = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    difference += std::norm(tlr::wide<T>(y.at(i)) - exact[i]), size += std::norm(exact[i]);
  return std::sqrt(difference) / (std::sqrt(size) + 1e-300);
}

template <class T>
void check_products() {
  for (auto [rows, columns, tile, most] :
       {std::array{1, 1, 1, 1}, {70, 50, 16, 5}, {33, 129, 20, 9}, {200, 7, 25, 4}, {5, 90, 90, 3}}) {
    const low_rank<T> a = random_matrix<T>(rows, columns, tile, most);
    for (operation which :
         {operation::forward, operation::transposed, operation::conjugated, operation::adjoint}) {
      const std::vector<T> x =
          random_numbers<T>(static_cast<std::size_t>(tlr::transposes(which) ? rows : columns), 7);
      const auto exact = tlr::serial<T>(a, which, x);
      for (schedule how : {schedule::exchange, schedule::stacked})
        for (int pes : {1, 2, 3, 5}) {
          INFO(rows << " x " << columns << ", tiles of " << tile << ", " << pes << " PEs, product "
                    << static_cast<int>(which));
          CHECK(relative_error(product(a, x, which, {.pes = pes, .threads = 2, .how = how}), exact) < 2e-6);
        }
    }
  }
}
TEST_CASE("tlr: products of any shape, on any number of PEs, agree with those in f64") {
  check_products<f32>();
  check_products<std::complex<f32>>();
}

TEST_CASE("tlr: the serial product is the dense one") {
  using number = std::complex<f32>;
  const low_rank<number> a = random_matrix<number>(23, 31, 8, 4);
  const std::vector<number> x = random_numbers<number>(31, 1);
  std::vector<std::complex<f64>> y(23);
  for (int i = 0; i < 23; ++i)
    for (int j = 0; j < 31; ++j) {
      const auto& f = a.at(i / 8, j / 8);
      const int r = a.rows_of(i / 8).size(), c = a.columns_of(j / 8).size();
      for (int k = 0; k < f.rank; ++k)
        y[static_cast<std::size_t>(i)] += std::complex<f64>(f.u[static_cast<std::size_t>(k * r + i % 8)]) *
                                          std::complex<f64>(f.v[static_cast<std::size_t>(k * c + j % 8)]) *
                                          std::complex<f64>(x[static_cast<std::size_t>(j)]);
    }
  f64 error = 0;
  const auto serial = tlr::serial<number>(a, operation::forward, x);
  for (std::size_t i = 0; i < y.size(); ++i) error = std::max(error, std::abs(y[i] - serial[i]));
  CHECK(error < 1e-12);
}

TEST_CASE("tlr: threads do not change a bit, and <y, A x> is <A^H y, x>") {
  using number = std::complex<f32>;
  const low_rank<number> a = random_matrix<number>(300, 260, 32, 11);
  const std::vector<number> x = random_numbers<number>(260, 3), y = random_numbers<number>(300, 4);
  for (schedule how : {schedule::exchange, schedule::stacked}) {
    const auto one = product(a, x, operation::forward, {.pes = 4, .threads = 1, .how = how});
    for (int threads : {2, 3, 8})
      CHECK(product(a, x, operation::forward, {.pes = 4, .threads = threads, .how = how}) == one);
    const auto back = product(a, y, operation::adjoint, {.pes = 3, .how = how});
    std::complex<f64> left = 0, right = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      left += std::conj(std::complex<f64>(y[i])) * std::complex<f64>(one[i]);
    for (std::size_t i = 0; i < x.size(); ++i)
      right += std::conj(std::complex<f64>(back[i])) * std::complex<f64>(x[i]);
    CHECK(std::abs(left - right) < 1e-5 * std::abs(left));
  }
}

TEST_CASE("tlr: vectors of every length compute the same") {
  const auto u = random_numbers<f32>(2 * 13 * 48, 1), x = random_numbers<f32>(2 * 48, 2);
  std::vector<f32> wide(26), narrow(26), wide_sum = x, narrow_sum;
  using dot = vector_code<dense::matrix_times_vector<2>, const f32*, const f32*, f32*, int, int>;
  using sum = vector_code<dense::transposed_times_vector<2>, const f32*, const f32*, f32*, int, int>;
  dot::best()(u.data(), x.data(), wide.data(), 13, 48);
  sum::best()(u.data(), wide.data(), wide_sum.data(), 13, 48);
  for (int lanes : {4, 8}) {
    if (lanes > processor_lanes()) continue;
    narrow_sum = x;
    dot::with(lanes)(u.data(), x.data(), narrow.data(), 13, 48);
    sum::with(lanes)(u.data(), wide.data(), narrow_sum.data(), 13, 48);
    for (std::size_t i = 0; i < wide.size(); ++i) CHECK(narrow[i] == Approx(wide[i]).margin(1e-5));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(narrow_sum[i] == Approx(wide_sum[i]).margin(1e-4));
  }
}

TEST_CASE("tlr: an invalid argument is named in a sentence") {
  CHECK_THROWS_WITH(low_rank<f32>(4, 0, 2), "wsl: a matrix of (4, 0) has no tiles of 2");
  low_rank<f32> a(5, 4, 2);
  CHECK_THROWS_WITH(a.at(3, 0), "wsl: there is no tile (3, 0) among 3 x 2");
  CHECK_THROWS_WITH(a.set(3, 0, {}), "wsl: there is no tile (3, 0) among 3 x 2");
  CHECK_THROWS_WITH(a.set(2, 1, {-1, {}, {}}), "wsl: tile (2, 1) has a rank of 0 or more, not -1");
  CHECK_THROWS_WITH(low_rank<f32>(65536, 65536, 1),
                    "wsl: a matrix of (65536, 65536) has 4294967296 tiles of 1, more than 2147483647: take "
                    "larger tiles");
  const std::vector<f32> short_x(1);
  CHECK_THROWS_WITH(tlr::serial(a, tlr::operation::forward, std::span(short_x)),
                    Catch::Contains("takes x of ") && Catch::Contains("not of 1"));
  // Sides of the largest int are one tile, or two.
  constexpr int most = std::numeric_limits<int>::max();
  const low_rank<f32> one(10, 7, most), two(most, 1, most - 1);
  CHECK((one.tile_rows() == 1 && one.tile_columns() == 1));
  CHECK((one.rows_of(0).to == 10 && one.columns_of(0).to == 7));
  CHECK((two.tile_rows() == 2 && two.rows_of(1).from == most - 1 && two.rows_of(1).to == most));
  CHECK_THROWS_WITH(a.set(2, 1, {1, {1, 2}, {1, 2}}),
                    "wsl: tile (2, 1) of rank 1 takes U of 1 and V of 2 numbers, not 2 and 2");
  CHECK_THROWS_WITH(a.set(0, 1, {1, {1, 2}, {1, NAN}}),
                    "wsl: tile (0, 1): number 1 of its V is not finite as f32");
  low_rank<std::complex<f32>> c(5, 4, 2);
  CHECK_THROWS_WITH(c.set(2, 0, {1, {{1, INFINITY}}, {1, 2}}),
                    "wsl: tile (2, 0): number 0 of its U is not finite as f32");
  std::vector<f32> x(5), y(5);
  CHECK_THROWS_WITH(tlr::multiplier<f32>(a)(y, x),
                    "wsl: this product takes x of 4 and y of 5 numbers, not of 5 and 5");
  CHECK_THROWS_WITH(tlr::multiplier<f32>(a, {.pes = -2}), "wsl: a product runs on at least 1 PE, not on -2");
}

}  // namespace
