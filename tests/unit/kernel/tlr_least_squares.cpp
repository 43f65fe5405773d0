// SPDX-License-Identifier: MIT
// Least squares against the normal equations in f64, on matrices of low-rank tiles and on a small dense one.
#include <catch2/catch.hpp>
#include <complex>
#include <random>
#include <wsl/kernel/tlr.hpp>

namespace {
using namespace wsl;
using tlr::least_squares_end;

template <class T>
T random_number(std::mt19937& random) {
  const auto next = [&] { return static_cast<f32>(random()) / 2147483648.f - 1.f; };
  if constexpr (std::is_same_v<T, f32>) return next();
  else {
    const f32 re = next();
    return {re, next()};
  }
}

/// A dense matrix, row after row, with products as a multiplier has them.
template <class T>
struct dense_matrix {
  int rows, columns;
  std::vector<T> a;

  dense_matrix(int m, int n, unsigned seed) : rows(m), columns(n) {
    std::mt19937 random(seed);
    for (int i = 0; i < m * n; ++i) a.push_back(random_number<T>(random));
  }
  tlr::wide<T> at(int i, int j) const { return a[static_cast<std::size_t>(i * columns + j)]; }
  void operator()(std::span<T> y, std::span<const T> x, tlr::operation which) {
    const bool across = tlr::transposes(which);
    for (std::size_t k = 0; k < y.size(); ++k) {
      tlr::wide<T> sum = 0;
      for (std::size_t l = 0; l < x.size(); ++l) {
        const int i = static_cast<int>(across ? l : k), j = static_cast<int>(across ? k : l);
        sum += tlr::conjugate_if(tlr::conjugates(which), static_cast<T>(at(i, j))) * tlr::wide<T>(x[l]);
      }
      y[k] = static_cast<T>(sum);
    }
  }
};

/// The solution of the normal equations, by elimination with pivots.
template <class T>
std::vector<tlr::wide<T>> exact_solution(const dense_matrix<T>& a, const std::vector<T>& b, f64 damping) {
  using W = tlr::wide<T>;
  const auto conjugated = [](const W& x) {
    if constexpr (std::is_same_v<W, f64>) return x;
    else return std::conj(x);
  };
  const std::size_t n = static_cast<std::size_t>(a.columns);
  std::vector<std::vector<W>> m(n, std::vector<W>(n + 1));
  for (std::size_t p = 0; p < n; ++p) {
    for (int i = 0; i < a.rows; ++i) {
      const W left = conjugated(a.at(i, static_cast<int>(p)));
      for (std::size_t q = 0; q < n; ++q) m[p][q] += left * a.at(i, static_cast<int>(q));
      m[p][n] += left * W(b[static_cast<std::size_t>(i)]);
    }
    m[p][p] += damping * damping;
  }
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t q = p; q < n; ++q)
      if (std::abs(m[q][p]) > std::abs(m[best][p])) best = q;
    std::swap(m[p], m[best]);
    for (std::size_t q = 0; q < n; ++q)
      if (q != p) {
        const W factor = m[q][p] / m[p][p];
        for (std::size_t k = p; k <= n; ++k) m[q][k] -= factor * m[p][k];
      }
  }
  std::vector<W> x;
  for (std::size_t p = 0; p < n; ++p) x.push_back(m[p][n] / m[p][p]);
  return x;
}
template <class T>
f64 difference(const std::vector<T>& x, const std::vector<tlr::wide<T>>& exact) {
  f64 error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    error += std::norm(tlr::wide<T>(x.at(i)) - exact[i]), size += std::norm(exact[i]);
  return std::sqrt(error / size);
}

}  // namespace

TEMPLATE_TEST_CASE("least squares: the solution of the normal equations", "", f32, std::complex<f32>) {
  for (f64 damping : {0., 0.5, 3.}) {
    dense_matrix<TestType> a(40, 15, 1);
    std::mt19937 random(2);
    std::vector<TestType> b;
    for (int i = 0; i < 40; ++i) b.push_back(random_number<TestType>(random));
    const auto found = tlr::least_squares<TestType>(a, 15, b, {.tolerance = 1e-6, .damping = damping});
    INFO("damping " << damping << ", " << found.steps << " steps");
    CHECK(found.ending == least_squares_end::closest);
    CHECK(found.steps < 60);
    const auto exact = exact_solution(a, b, damping);
    CHECK(difference(found.x, exact) < 2e-5);
    // The residual that the recurrence has is that of the solution.
    std::vector<TestType> of_x(40);
    a(of_x, found.x, tlr::operation::forward);
    f64 square = 0;
    for (std::size_t i = 0; i < of_x.size(); ++i)
      square += std::norm(tlr::wide<TestType>(of_x[i]) - tlr::wide<TestType>(b[i]));
    for (const TestType& x : found.x) square += damping * damping * std::norm(tlr::wide<TestType>(x));
    CHECK(found.residual == Approx(std::sqrt(square)).epsilon(1e-4));
    for (std::size_t i = 1; i < found.history.size(); ++i)
      CHECK(found.history[i] <= found.history[i - 1] * (1 + 1e-12));
  }
}

TEMPLATE_TEST_CASE("least squares: low-rank tiles, on any threads and PEs", "", f32, std::complex<f32>) {
  // Diagonal tiles keep the matrix regular, the others are of rank 2.
  constexpr int n = 90, side = 30;
  std::mt19937 random(3);
  tlr::low_rank<TestType> a(n, n, side);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      tlr::factors<TestType> f{i == j ? side : 2, {}, {}};
      for (int k = 0; k < f.rank * side; ++k) {
        const bool one = k / side == k % side;
        f.u.push_back(i == j ? TestType(one ? 3.f : 0.f) + 0.1f * random_number<TestType>(random)
                             : 0.2f * random_number<TestType>(random));
        f.v.push_back(i == j ? TestType(one ? 1.f : 0.f) : random_number<TestType>(random));
      }
      a.set(i, j, std::move(f));
    }
  std::vector<TestType> wanted, b(n);
  for (int i = 0; i < n; ++i) wanted.push_back(random_number<TestType>(random));
  tlr::multiplier<TestType> product(a, {.pes = 2, .threads = 1});
  product(b, wanted);
  const auto found = tlr::least_squares<TestType>(product, n, b, {.tolerance = 1e-6});
  CHECK(found.ending == least_squares_end::fits);
  CHECK(difference(found.x, {wanted.begin(), wanted.end()}) < 1e-5);
  for (int threads : {2, 3}) {
    tlr::multiplier<TestType> other(a, {.pes = 2, .threads = threads});
    const auto same = tlr::least_squares<TestType>(other, n, b, {.tolerance = 1e-6});
    CHECK(same.x == found.x);
    CHECK(same.steps == found.steps);
  }
}

TEST_CASE("least squares: ends that are no solution, and what is refused") {
  dense_matrix<f32> a(4, 3, 7);
  const std::vector<f32> zero(4), b{1, 2, 3, 4};
  const auto nothing = tlr::least_squares<f32>(a, 3, zero);
  CHECK(
      (nothing.ending == least_squares_end::fits && nothing.steps == 0 && nothing.x == std::vector<f32>(3)));
  const auto few = tlr::least_squares<f32>(a, 3, b, {.tolerance = 0, .max_steps = 1});
  CHECK((few.ending == least_squares_end::steps && few.steps == 1 && few.residual > 0));
  std::fill(a.a.begin(), a.a.end(), 0.f);  // nothing comes closer than x = 0
  const auto far = tlr::least_squares<f32>(a, 3, b);
  CHECK((far.ending == least_squares_end::closest && far.x == std::vector<f32>(3)));
  CHECK(far.residual == Approx(std::sqrt(30.)));
  CHECK_THROWS_WITH(tlr::least_squares<f32>(a, 3, b, {.tolerance = std::nan("")}),
                    Catch::Contains("at least 0") && Catch::Contains("the tolerance is"));
  CHECK_THROWS_WITH(tlr::least_squares<f32>(a, 3, b, {.max_steps = 0}),
                    Catch::Contains("at least 1 step") && Catch::Contains("the number of steps is"));
  CHECK_THROWS_WITH(tlr::least_squares<f32>(a, 3, b, {.damping = -1}), Catch::Contains("the damping is"));
  const std::vector<f32> infinite{1, std::numeric_limits<f32>::infinity(), 3, 4};
  CHECK_THROWS_WITH(tlr::least_squares<f32>(a, 3, infinite),
                    Catch::Contains("a right side that is finite, and its number 1"));
  a.a[0] = std::numeric_limits<f32>::quiet_NaN();
  CHECK_THROWS_WITH(tlr::least_squares<f32>(a, 3, b), Catch::Contains("is not finite"));
}
