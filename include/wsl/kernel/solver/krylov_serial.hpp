// SPDX-License-Identifier: MIT
// The serial references of the Krylov methods for sparse matrices, beside those of serial.hpp, as textbooks
// write them, in f64. They are slow and plain on purpose; tests compare the PEs' results with them. Sources:
// Saad, Iterative Methods for Sparse Linear Systems, for CG (9.1), GMRES (6.5, with modified Gram-Schmidt and
// the preconditioner on the right) and the Chebyshev iteration (12.3); BiCGStab: van der Vorst 1992.
#pragma once
#include "serial.hpp"
#include "sparse_matrix.hpp"

namespace wsl::solver::serial {

inline vector product(const sparse_matrix& a, const vector& u) {
  vector v(static_cast<std::size_t>(a.rows()));
  a.places.each([&](int r, int c, i64, i64 k) {
    v[static_cast<std::size_t>(r)] += a.values[static_cast<std::size_t>(k)] * u[static_cast<std::size_t>(c)];
  });
  return v;
}

/// |b - A x| / |b|; for b = 0, 0 if A x is 0, and otherwise infinite.
inline f64 relative_residual(const sparse_matrix& a, const vector& x, const vector& b) {
  vector r = product(a, x);
  combine(r, b, -1, r);
  return norm(r) == 0 ? 0 : norm(r) / norm(b);
}

/// The inverse of the diagonal, and of blocks of so many rows along it by elimination without pivots.
inline linear_map jacobi(const sparse_matrix& a) {
  vector inverse(static_cast<std::size_t>(a.rows()));
  a.places.each([&](int r, int c, i64, i64 k) {
    if (r == c) inverse[static_cast<std::size_t>(r)] = 1 / a.values[static_cast<std::size_t>(k)];
  });
  return [inverse](const vector& r) {
    vector z = r;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= inverse[i];
    return z;
  };
}
inline linear_map block_jacobi(const sparse_matrix& a, int block) {
  return [&a, block](const vector& r) {
    vector z = r;
    for (int first = 0; first < a.rows(); first += block) {
      const int n = std::min(block, a.rows() - first);
      const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
      const auto z_at = [&](int i) -> f64& { return z[static_cast<std::size_t>(first + i)]; };
      vector m(static_cast<std::size_t>(n * n));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          if (const i64 k = a.places.find(first + i, first + j); k >= 0)
            m[at(i, j)] = a.values[static_cast<std::size_t>(k)];
      for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) {
          const f64 f = m[at(i, k)] / m[at(k, k)];
          for (int j = k; j < n; ++j) m[at(i, j)] -= f * m[at(k, j)];
          z_at(i) -= f * z_at(k);
        }
      for (int i = n; i-- > 0;) {
        for (int j = i + 1; j < n; ++j) z_at(i) -= m[at(i, j)] * z_at(j);
        z_at(i) /= m[at(i, i)];
      }
    }
    return z;
  };
}

inline linear_map times(const sparse_matrix& a) {
  return [&a](const vector& u) { return product(a, u); };
}
inline solution<f64> conjugate_gradient(const sparse_matrix& a, const vector& b, const limits& most,
                                        const linear_map& m = as_it_is) {
  return conjugate_gradient(times(a), b, most, m);
}
inline solution<f64> bicgstab(const sparse_matrix& a, const vector& b, const limits& most,
                              const linear_map& m = as_it_is) {
  return bicgstab(times(a), b, most, m);
}

inline solution<f64> gmres(const sparse_matrix& a, const vector& b, const limits& most, int restart,
                           const linear_map& m = as_it_is) {
  most.check();
  solution<f64> s{vector(b.size()), {}, ending::all_iterations};
  const f64 whole = norm(b);
  if (whole == 0) return s.how = ending::converged, s;
  while (s.iterations() < most.iterations) {
    vector r = product(a, s.x);
    combine(r, b, -1, r);
    const f64 beta = norm(r);
    std::vector<vector> basis{r};
    combine(basis[0], r, 1 / beta - 1, r);
    std::vector<vector> columns;
    vector g{beta}, cosine, sine;
    for (int j = 0; j < restart && s.iterations() < most.iterations; ++j) {
      vector w = product(a, m(basis.back())), h;
      for (const vector& v : basis) {
        h.push_back(dot(v, w));
        combine(w, w, -h.back(), v);
      }
      const f64 length = norm(w);
      h.push_back(length);
      for (std::size_t i = 0; i < cosine.size(); ++i) {
        const f64 upper = cosine[i] * h[i] + sine[i] * h[i + 1];
        h[i + 1] = cosine[i] * h[i + 1] - sine[i] * h[i], h[i] = upper;
      }
      const std::size_t last = h.size() - 2;
      const f64 diagonal = std::hypot(h[last], h[last + 1]);
      cosine.push_back(h[last] / diagonal), sine.push_back(h[last + 1] / diagonal);
      h[last] = diagonal;
      columns.push_back(h);
      g.push_back(-sine.back() * g[last]), g[last] *= cosine.back();
      s.residuals.push_back(std::abs(g.back()) / whole);
      if (s.residuals.back() <= most.tolerance || length == 0) break;
      combine(w, w, 1 / length - 1, w);
      basis.push_back(w);
    }
    vector y(columns.size()), sum(b.size());
    for (std::size_t i = y.size(); i-- > 0;) {
      y[i] = g[i];
      for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= columns[j][i] * y[j];
      y[i] /= columns[i][i];
      combine(sum, sum, y[i], basis[i]);
    }
    combine(s.x, s.x, 1, m(sum));
    if (s.residuals.back() <= most.tolerance) return s.how = ending::converged, s;
  }
  return s;
}

/// With bounds of the eigenvalues of M A.
inline solution<f64> chebyshev(const sparse_matrix& a, const vector& b, const limits& most, f64 smallest,
                               f64 largest, const linear_map& m = as_it_is) {
  most.check();
  solution<f64> s{vector(b.size()), {}, ending::all_iterations};
  const f64 whole = norm(b), centre = (largest + smallest) / 2, radius = (largest - smallest) / 2;
  if (whole == 0) return s.how = ending::converged, s;
  vector r = b, p = m(r);
  combine(p, p, 1 / centre - 1, p);
  f64 rho = radius / centre;
  while (s.iterations() < most.iterations) {
    combine(s.x, s.x, 1, p);
    combine(r, r, -1, product(a, p));
    s.residuals.push_back(norm(r) / whole);
    if (s.residuals.back() <= most.tolerance) return s.how = ending::converged, s;
    const f64 next = 1 / (2 * centre / radius - rho);
    const vector z = m(r);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = next * rho * p[i] + 2 * next / radius * z[i];
    rho = next;
  }
  return s;
}

}  // namespace wsl::solver::serial
