// SPDX-License-Identifier: MIT
// How PEs apply a preconditioner: co_await precondition<T>(k, z, r) makes z = M r. All are symmetric if the
// matrix is. The polynomial is that of the Chebyshev iteration (Saad, Iterative Methods for Sparse Linear
// Systems, 12.3); the V-cycle smooths as often before as after, and after in the reverse order.
#pragma once
#include "krylov_pe.hpp"

namespace wsl::solver {

/// z = inverse diagonal * r
template <class T>
void scale_by_diagonal(krylov_pe& k, int z, int r) {
  k.sweep<T>({z, r, k.set.plan.inverse},
             [](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[2] * c[1]; });
}

template <class T>
procedure apply_polynomial(krylov_pe& k, int z, int r) {
  const preconditioner_plan& m = k.set.plan;
  const int p = m.help, t = m.help + 1;
  // A polynomial of degree n damps the eigenvalues from about 1 / n^2 of the largest on.
  const f64 most = m.largest, least = most / (2. * (m.degree + 1) * (m.degree + 1)),
            centre = (most + least) / 2, radius = (most - least) / 2;
  const T first = static_cast<T>(1 / centre);
  k.sweep<T>({z, r, m.inverse, p}, [=](const auto& c, auto&) __attribute__((always_inline)) {
    c[0] = first * (c[2] * c[1]);
    c[3] = c[0];
  });
  f64 rho = radius / centre;
  for (int i = 0; i < m.degree; ++i) {
    co_await k.product<T>(0, t, z);
    const f64 next = 1 / (2 * centre / radius - rho);
    const T keep = static_cast<T>(next * rho), add = static_cast<T>(2 * next / radius);
    rho = next;
    k.sweep<T>({z, r, m.inverse, p, t}, [=](const auto& c, auto&) __attribute__((always_inline)) {
      c[3] = keep * c[3] + add * (c[2] * (c[1] - c[4]));
      c[0] += c[3];
    });
  }
}

template <class T>
procedure apply_multigrid(krylov_pe& k, int z, int r) {
  const preconditioner_plan& m = k.set.plan;
  const int last = static_cast<int>(m.levels.size()) - 1;
  const auto level = [&](int i) {
    preconditioner_plan::level l = m.levels[static_cast<std::size_t>(i)];
    if (i == 0) l.right = r, l.sum = z;
    return l;
  };
  // All sweeps are so many corrections, of all cells or of a part of them, by what l.help = A sum leaves.
  const int parts = m.corrections(), corrections = m.sweeps * parts;
  const auto correct = [&](const preconditioner_plan::level& l, int part) {
    k.sweep<T>({l.sum, l.inverse[part], l.right, l.help},
               [](const auto& c, auto&) __attribute__((always_inline)) { c[0] += c[1] * (c[2] - c[3]); });
  };
  for (int i = 0; i < last; ++i) {
    const preconditioner_plan::level l = level(i);
    k.sweep<T>({l.sum, l.inverse[0], l.right},
               [](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[1] * c[2]; });
    for (int s = 1; s < corrections; ++s) {
      co_await k.product<T>(l.matrix, l.help, l.sum);
      correct(l, s % parts);
    }
    co_await k.product<T>(l.matrix, l.help, l.sum);
    k.sweep<T>({l.help, l.right},
               [](const auto& c, auto&) __attribute__((always_inline)) { c[0] = c[1] - c[0]; });
    co_await k.product<T>(l.down, level(i + 1).right, l.help);
  }
  co_await k.product<T>(level(last).matrix, level(last).sum, level(last).right);
  for (int i = last - 1; i >= 0; --i) {
    const preconditioner_plan::level l = level(i);
    co_await k.product<T>(l.up, l.help, level(i + 1).sum);
    k.sweep<T>({l.sum, l.help}, [](const auto& c, auto&) __attribute__((always_inline)) { c[0] += c[1]; });
    for (int s = corrections; s-- > 0;) {
      co_await k.product<T>(l.matrix, l.help, l.sum);
      correct(l, s % parts);
    }
  }
}

/// Whether the preconditioner multiplies each number by one of its own, so that methods can do so where they
/// read the number anyway. Without a preconditioner these are ones.
inline bool is_diagonal(const krylov_pe& k) {
  return k.set.how == preconditioner::none || k.set.how == preconditioner::jacobi;
}

/// z = M r; they are different vectors.
template <class T>
procedure precondition(krylov_pe& k, int z, int r) {
  switch (k.set.how) {
    case preconditioner::block_jacobi: co_await k.product<T>(k.set.plan.blocks, z, r); break;
    case preconditioner::polynomial: co_await apply_polynomial<T>(k, z, r); break;
    case preconditioner::multigrid: co_await apply_multigrid<T>(k, z, r); break;
    default: scale_by_diagonal<T>(k, z, r);
  }
}

}  // namespace wsl::solver
