// SPDX-License-Identifier: MIT
// The serial references of the solvers: the methods as textbooks write them, in f64, cell by cell. They are
// slow and plain on purpose; tests compare the PEs' results with them. CG: Hestenes and Stiefel, J. Res. NBS
// 49 (1952); BiCGStab: van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992).
#pragma once
#include <functional>

#include "solution.hpp"
#include "stencil.hpp"

namespace wsl::solver::serial {

using vector = std::vector<f64>;

inline vector product(const stencil& a, const vector& u) {
  vector v(u.size());
  for (int x = 0; x < a.size.x; ++x)
    for (int y = 0; y < a.size.y; ++y)
      for (int z = 0; z < a.size.z; ++z)
        for (const side_of_stencil& s : stencil_sides) {
          const cells here{x, y, z}, there{x + s.offset.x, y + s.offset.y, z + s.offset.z};
          if (a.size.has(there))
            v[a.size.index(here)] += f64{weight_at(a, a.*s.weights, here)} * u[a.size.index(there)];
        }
  return v;
}

inline f64 dot(const vector& a, const vector& b) {
  f64 sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
/// The length, also where squares would be beyond the numbers of f64.
inline f64 norm(const vector& a) {
  f64 largest = 0;
  for (const f64 v : a) largest = std::max(largest, std::abs(v));
  if (!(largest > 0) || !std::isfinite(largest)) return std::sqrt(dot(a, a));
  const int exponent = std::ilogb(largest);  // a power of two changes no bit of what is summed
  f64 square = 0;
  for (const f64 v : a) {
    const f64 scaled = std::scalbn(v, -exponent);
    square += scaled * scaled;
  }
  return std::scalbn(std::sqrt(square), exponent);
}
/// to = a + s * b
inline void combine(vector& to, const vector& a, f64 s, const vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) to[i] = a[i] + s * b[i];
}

/// |b - A x| / |b|, whatever x a solver has returned; for b = 0, 0 if A x is 0, and otherwise infinite.
template <class T, class U>
f64 relative_residual(const stencil& a, const std::vector<T>& x, const std::vector<U>& b) {
  vector r = product(a, vector(x.begin(), x.end()));
  const vector right(b.begin(), b.end());
  combine(r, right, -1, r);
  return norm(r) == 0 ? 0 : norm(r) / norm(right);
}

/// A matrix, or a preconditioner: what it makes of a vector.
using linear_map = std::function<vector(const vector&)>;
inline vector as_it_is(const vector& r) { return r; }

/// With the preconditioner m on the right.
inline solution<f64> bicgstab(const linear_map& a, const vector& b, const limits& most,
                              const linear_map& m = as_it_is) {
  most.check();
  solution<f64> s{vector(b.size()), {}, ending::all_iterations};
  vector r = b, p = b, v(b.size()), t(b.size());
  const f64 whole = norm(b);
  f64 rho = dot(b, r);
  if (whole == 0) return s.how = ending::converged, s;
  while (s.iterations() < most.iterations) {
    const vector y = m(p);
    v = a(y);
    const f64 alpha = rho / dot(b, v);
    if (!std::isfinite(alpha)) return s.how = ending::breakdown, s;
    combine(r, r, -alpha, v);
    const vector z = m(r);
    t = a(z);
    const f64 omega = dot(t, t) == 0 ? 0 : dot(t, r) / dot(t, t);
    combine(s.x, s.x, alpha, y);
    combine(s.x, s.x, omega, z);
    combine(r, r, -omega, t);
    s.residuals.push_back(norm(r) / whole);
    if (s.residuals.back() <= most.tolerance) return s.how = ending::converged, s;
    if (omega == 0) return s.how = ending::stagnation, s;
    const f64 rho_before = rho;
    rho = dot(b, r);
    combine(p, p, -omega, v);
    combine(p, r, rho / rho_before * (alpha / omega), p);
  }
  return s;
}
inline solution<f64> bicgstab(const stencil& a, const vector& b, const limits& most = {}) {
  return bicgstab([&](const vector& u) { return product(a, u); }, b, most);
}

inline solution<f64> conjugate_gradient(const linear_map& a, const vector& b, const limits& most,
                                        const linear_map& m = as_it_is) {
  most.check();
  solution<f64> s{vector(b.size()), {}, ending::all_iterations};
  vector r = b, z = m(r), p = z;
  const f64 whole = norm(b);
  f64 rho = dot(r, z);
  if (whole == 0) return s.how = ending::converged, s;
  while (s.iterations() < most.iterations) {
    const vector q = a(p);
    const f64 curvature = dot(p, q);
    if (!(curvature > 0)) return s.how = ending::indefinite, s;
    combine(s.x, s.x, rho / curvature, p);
    combine(r, r, -rho / curvature, q);
    s.residuals.push_back(norm(r) / whole);
    if (s.residuals.back() <= most.tolerance) return s.how = ending::converged, s;
    z = m(r);
    const f64 rho_before = rho;
    rho = dot(r, z);
    combine(p, z, rho / rho_before, p);
  }
  return s;
}
/// With the diagonal as preconditioner if `jacobi`.
inline solution<f64> conjugate_gradient(const stencil& a, const vector& b, const limits& most = {},
                                        bool jacobi = false) {
  const auto times = [&](const vector& u) { return product(a, u); };
  const auto divided = [&](const vector& r) {
    vector z = r;
    for (std::size_t i = 0; i < r.size(); ++i)
      z[i] /= f64{a.centre[a.centre.size() == r.size() ? i : i % a.centre.size()]};
    return z;
  };
  return jacobi ? conjugate_gradient(times, b, most, divided) : conjugate_gradient(times, b, most);
}

inline eigenpair<f64> power_method(const stencil& a, vector y, const limits& most = {}) {
  most.check();
  eigenpair<f64> e{0, y, {}, ending::all_iterations};
  while (e.iterations() < most.iterations) {
    const f64 length = norm(y);
    if (length == 0) return e.how = ending::singular, e;
    combine(e.vector, y, 1 / length - 1, y);
    y = product(a, e.vector);
    const f64 before = e.value;
    e.values.push_back(e.value = dot(e.vector, y));
    if (e.iterations() > 1 && std::abs(e.value - before) <= most.tolerance * std::abs(e.value))
      return e.how = ending::converged, e;
  }
  return e;
}

}  // namespace wsl::solver::serial
