// SPDX-License-Identifier: MIT
// GMRES on small systems of whole numbers, singular and regular, against an oracle: the least residual of the
// whole Krylov space, by orthogonal bases in long double. Where numbers of x are long, a residual in f64 is
// rounding; what counts here is computed in long double.
#include <wsl/engine/reference.hpp>
#include <wsl/kernel/sparse_solver.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::solver;

namespace {

using f80 = long double;
using long_vector = std::vector<f80>;

f80 length(const long_vector& x) {
  f80 square = 0;
  for (const f80 v : x) square += v * v;
  return std::sqrt(square);
}
/// Removes from x what lies along the vectors of an orthonormal basis.
void make_orthogonal(long_vector& x, const std::vector<long_vector>& basis) {
  for (int pass = 0; pass < 3; ++pass)
    for (const long_vector& u : basis) {
      f80 along = 0;
      for (std::size_t i = 0; i < x.size(); ++i) along += u[i] * x[i];
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= along * u[i];
    }
}
/// Adds the direction of x to a basis, unless what is new in it is rounding.
bool extend(std::vector<long_vector>& basis, long_vector x, f80 size) {
  make_orthogonal(x, basis);
  const f80 l = length(x);
  if (!(l > 1e-14L * size)) return false;
  for (f80& v : x) v /= l;
  basis.push_back(std::move(x));
  return true;
}

struct small_system {
  std::size_t n = 0;
  std::vector<f64> a, b;

  sparse_matrix matrix() const {
    std::vector<sparse_matrix::entry> entries;
    for (std::size_t k = 0; k < a.size(); ++k)
      if (a[k] != 0) entries.push_back({static_cast<int>(k / n), static_cast<int>(k % n), a[k]});
    return sparse_matrix::from_entries(static_cast<int>(n), static_cast<int>(n), entries);
  }
  template <class X>
  long_vector times(const X& x) const {
    long_vector y(n);
    for (std::size_t k = 0; k < a.size(); ++k)
      y[k / n] += static_cast<f80>(a[k]) * static_cast<f80>(x[k % n]);
    return y;
  }
  /// |b - A x| / |b| of this x.
  f64 residual(const std::vector<f64>& x) const {
    long_vector r = times(x);
    for (std::size_t i = 0; i < n; ++i) r[i] = static_cast<f80>(b[i]) - r[i];
    return static_cast<f64>(length(r) / length(long_vector(b.begin(), b.end())));
  }
  /// The same of the best x in the Krylov space of A and b.
  f64 least_residual() const {
    const long_vector right(b.begin(), b.end());
    const f80 size = length(long_vector(a.begin(), a.end()));
    std::vector<long_vector> space, products;
    long_vector next = right;
    while (space.size() < n && extend(space, next, space.empty() ? length(right) : size)) {
      next = times(space.back());
      extend(products, next, size);
    }
    long_vector left = right;
    make_orthogonal(left, products);
    return static_cast<f64>(length(left) / length(right));
  }
};

}  // namespace

TEST_CASE("sparse solver: GMRES leaves no more than the least residual of its Krylov space") {
  std::vector<small_system> systems{
      // Their last column is rounding, with which the residual in f64 was 0 or small by chance.
      {3, {1, 1, -2, 1, -1, -1, 0, -2, 1}, {-2, -1, -2}},
      {4, {2, 1, 2, 2, 2, -1, 2, 2, 2, -1, 2, -2, 0, 0, 0, -2}, {0, 0, 0, 2}},
      {4, {0, 2, -1, -2, -2, -2, -2, 1, 1, 0, 0, 0, 1, 2, 2, -1}, {1, 0, -2, -1}},
      {4, {2, -1, 2, -2, -2, 2, 0, 0, 1, -1, 2, -2, -2, 0, -2, 2}, {4, -6, 3, -2}},
      {3, {-2, -2, 1, 1, 0, 0, 2, 0, 0}, {2, 2, 4}},
  };
  u32 seed = 3;
  const auto whole_number = [&] {
    return static_cast<f64>(((seed = seed * 1664525 + 1013904223) >> 8) % 5) - 2;
  };
  while (systems.size() < 120) {
    small_system s{2 + systems.size() % 3, {}, {}};
    for (std::size_t k = 0; k < s.n * s.n; ++k) s.a.push_back(whole_number());
    for (std::size_t i = 0; i < s.n; ++i) s.b.push_back(whole_number());
    if (systems.size() % 2 == 0)  // the last row is the first
      std::copy_n(s.a.begin(), s.n, s.a.end() - static_cast<std::ptrdiff_t>(s.n));
    const sparse_matrix a = s.matrix();
    bool has_empty_row = false;
    for (int r = 0; r < a.rows(); ++r) has_empty_row = has_empty_row || a.places.row(r).empty();
    if (!has_empty_row && serial::norm(s.b) > 0 && !a.takes_constants_to_zero()) systems.push_back(s);
  }
  constexpr f64 tolerance = 1e-9;
  for (const small_system& s : systems) {
    const sparse_matrix a = s.matrix();
    const f64 least = s.least_residual();
    for (const arithmetic numbers : {arithmetic::in_f64, arithmetic::in_f32, arithmetic::mixed}) {
      const f64 rounding = numbers == arithmetic::in_f64 ? tolerance : 1e-4;
      const sparse_solution x =
          sparse_solver(a, generalized_minimal_residual{}, {.numbers = numbers, .threads = 1}, reference{})
              .solve(s.b, {.tolerance = numbers == arithmetic::in_f32 ? rounding : tolerance});
      INFO("A " << Catch::Detail::stringify(s.a) << ", b " << Catch::Detail::stringify(s.b) << ", arithmetic "
                << int(numbers));
      const f64 residual = s.residual(x.x);
      CHECK(residual <= 1.05 * least + rounding);
      CHECK(x.residual == Approx(residual).epsilon(0.02).margin(rounding));
      CHECK(x.converged() == (residual <= rounding));
    }
  }
}
