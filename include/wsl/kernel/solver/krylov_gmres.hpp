// SPDX-License-Identifier: MIT
// GMRES(m) for any sparse matrix on PEs (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986), with the
// preconditioner on the right. A new basis vector is made orthogonal to all others at once and then again
// (classical Gram-Schmidt twice, which is as exact as the modified one): two totals an iteration, however
// many vectors there are. Every PE rotates the Hessenberg matrix by itself. One call is the iterations
// between two restarts; krylov_refinement.hpp begins the next one with the residual of the new x.
#pragma once
#include "krylov_precondition.hpp"

namespace wsl::solver {

struct generalized_minimal_residual {
  static constexpr const char* name = "GMRES";
  static constexpr bool needs_symmetry = false;
  static int vectors(int restart) { return restart + 2; }
  template <class T>
  static procedure run(krylov_pe& k);

 private:
  /// This PE's parts of the dot products of vector w with those from `first` on, and, last, with itself.
  template <class T>
  static void dots(krylov_pe& k, int first, int count, int w, std::vector<f64>& own) {
    own.clear();
    for (int i = 0; i <= count; ++i)
      own.push_back(k.sweep<T, 1>({i < count ? first + i : w, w},
                                  [](const auto& c, auto& sum)
                                      __attribute__((always_inline)) { sum[0] += c[0] * c[1]; })[0]);
  }
  /// w -= the sum of factor[i] times vector first + i
  template <class T>
  static void remove(krylov_pe& k, int first, std::span<const f64> factor, int w) {
    for (std::size_t i = 0; i < factor.size(); ++i) {
      const T by = static_cast<T>(factor[i]);
      k.sweep<T>({w, first + static_cast<int>(i)},
                 [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] -= by * c[1]; });
    }
  }
};

template <class T>
procedure generalized_minimal_residual::run(krylov_pe& k) {
  const int m = k.set.restart, basis = first_of_method, z = first_of_method + m + 1;
  enum : int { r = vector_r, d = vector_d };
  std::vector<f64> own, factors;
  dots<T>(k, r, 0, r, own);
  const f64 beta = std::sqrt((co_await k.total(own))[0]);
  const T shrink = static_cast<T>(1 / beta);
  k.clear<T>({d});
  k.sweep<T>({basis, r}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = shrink * c[1]; });
  // Column j of the triangular matrix has j + 1 numbers; g is the rotated right side.
  std::vector<std::vector<f64>> triangle;
  std::vector<f64> g{beta}, cosine, sine;
  bool ends = false;
  int count = 0;
  while (count < m && !ends) {
    const int j = count, w = basis + j + 1;
    co_await precondition<T>(k, z, basis + j);
    co_await k.product<T>(0, w, z);
    std::vector<f64> h(static_cast<std::size_t>(j) + 2);
    f64 whole = 0, left = 0;
    for (int pass = 0; pass < 2; ++pass) {
      dots<T>(k, basis, j + 1, w, own);
      const std::span<const f64> total = co_await k.total(own);
      factors.assign(total.begin(), total.end() - 1);
      left = total.back();
      if (pass == 0) whole = left;
      for (std::size_t i = 0; i < factors.size(); ++i) h[i] += factors[i], left -= factors[i] * factors[i];
      remove<T>(k, basis, factors, w);
    }
    if (!std::isfinite(left)) {
      k.how = ending::not_finite;
      co_return;
    }
    // The rest of A z may be rounding only: then the basis holds the solution, or A takes z into it.
    constexpr f64 rounding = std::is_same_v<T, f32> ? 1e-12 : 1e-28;
    const bool is_full = !(left > rounding * whole);
    const f64 length = is_full ? 0 : std::sqrt(left);
    h.back() = length;
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const f64 upper = cosine[i] * h[i] + sine[i] * h[i + 1];
      h[i + 1] = cosine[i] * h[i + 1] - sine[i] * h[i], h[i] = upper;
    }
    const std::size_t last = h.size() - 2;
    const f64 diagonal = std::hypot(h[last], length);
    if (!(diagonal > 0)) {
      k.how = whole > 0 ? ending::stagnation : ending::singular;
      break;
    }
    cosine.push_back(h[last] / diagonal), sine.push_back(length / diagonal);
    h[last] = diagonal, h.pop_back();
    triangle.push_back(std::move(h));
    g.push_back(-sine.back() * g[last]), g[last] *= cosine.back();
    ++count;
    if (!is_full) {
      const T norm = static_cast<T>(1 / length);
      k.sweep<T>({w}, [=](const auto& c, auto&) __attribute__((always_inline)) { c[0] = norm * c[0]; });
    }
    ends = co_await k.iterated(std::abs(g.back()));
    if (is_full) break;
  }
  if (count == 0 || k.how == ending::not_finite) co_return;
  std::vector<f64> y(static_cast<std::size_t>(count));
  for (std::size_t i = y.size(); i-- > 0;) {
    y[i] = g[i];
    for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= triangle[j][i] * y[j];
    y[i] /= triangle[i][i];
  }
  for (f64& v : y) v = -v;  // what is removed from zero is added
  // The vector behind the basis has no further use: it becomes the combination, of which z is the correction.
  const int sum = basis + count;
  k.clear<T>({sum});
  remove<T>(k, basis, y, sum);
  co_await precondition<T>(k, d, sum);
}

}  // namespace wsl::solver
