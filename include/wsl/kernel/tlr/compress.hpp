// SPDX-License-Identifier: MIT
// Compression of a dense matrix into tiles of low rank: a singular value decomposition of each tile in f64,
// of which the largest values are kept. Needs Eigen (CMake: the component `low_rank`). See
// examples/89_low_rank.cpp.
#pragma once
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <functional>

#include "../../linalg/matrix.hpp"
#include "../../support/bad_argument.hpp"
#include "low_rank.hpp"

namespace wsl::tlr {

namespace detail {

/// A matrix as U S V^H with the fewest singular values such that the squared norm of the rest is at most
/// `allowed`; `rest` is that squared norm.
template <class Dense>
struct decomposition {
  Dense u, v;
  Eigen::VectorXd values;
  f64 rest = 0;

  // Most tiles have few significant columns: a QR decomposition with pivoting finds them, and only they are
  // decomposed further.
  decomposition(const Dense& a, f64 allowed) {
    const Eigen::ColPivHouseholderQR<Dense> qr(a);
    const Eigen::Index size = std::min(a.rows(), a.cols());
    const Dense upper = qr.matrixR().topRows(size).template triangularView<Eigen::Upper>();
    Eigen::Index rank =
        leave_out(size, 1e-4 * allowed, [&](Eigen::Index k) { return upper.row(k).squaredNorm(); });
    if (rank == 0) return;
    const Dense tall = qr.colsPermutation() * upper.topRows(rank).adjoint();
    const Eigen::JacobiSVD<Dense> svd(tall, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const f64 nothing = 1e-30 * svd.singularValues()[0] * svd.singularValues()[0];
    const Eigen::Index whole = rank;
    rank = leave_out(rank, std::max(allowed, rest + nothing),
                     [&](Eigen::Index k) { return svd.singularValues()[k] * svd.singularValues()[k]; });
    values = svd.singularValues().head(rank);
    v = svd.matrixU().leftCols(rank);
    u = Dense::Zero(a.rows(), rank);
    u.topRows(whole) = svd.matrixV().leftCols(rank);
    u.applyOnTheLeft(qr.householderQ());
  }

 private:
  /// Drops the last of `count` terms as long as the sum of the dropped squares is allowed; returns how many
  /// are kept.
  template <class Square>
  Eigen::Index leave_out(Eigen::Index count, f64 allowed, Square square) {
    for (; count > 0 && rest + square(count - 1) <= allowed; --count) rest += square(count - 1);
    return count;
  }
};

}  // namespace detail

/// The matrix whose tiles have the smallest ranks with |A - result| <= tolerance |A| in Frobenius norms, if
/// every tile drops the same amount. With tolerance 0 only the part below the precision of f64 is dropped.
/// Calls `each_tile` after each tile. Throws std::invalid_argument for a tolerance that is negative or not a
/// number, for a tile size below 1, and for elements that are not finite.
template <class T>
low_rank<T> compress(
    const matrix<const T>& a, int tile, f64 tolerance, const std::function<void()>& each_tile = [] {}) {
  using dense = Eigen::Matrix<wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
  if (!(tolerance >= 0))
    support::bad_argument({"the tolerance of a compression is at least 0, not ", std::to_string(tolerance)});
  low_rank<T> out(a.rows(), a.columns(), tile);
  f64 square = 0;
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j) square += std::norm(wide<T>(a(i, j)));
  if (!std::isfinite(square))
    support::bad_argument({"a matrix of ", a.shape(), " to compress has elements that are not finite"});
  const f64 allowed = tolerance * tolerance * square / (f64(out.tile_rows()) * out.tile_columns());
  f64 left_out = 0;
  for (int i = 0; i < out.tile_rows(); ++i)
    for (int j = 0; j < out.tile_columns(); ++j) {
      const range rows = out.rows_of(i), columns = out.columns_of(j);
      dense one(rows.size(), columns.size());
      for (int r = 0; r < rows.size(); ++r)
        for (int c = 0; c < columns.size(); ++c) one(r, c) = wide<T>(a(rows.from + r, columns.from + c));
      const detail::decomposition<dense> svd(one, allowed);
      left_out += svd.rest;
      factors<T> f{static_cast<int>(svd.values.size()), {}, {}};
      for (int k = 0; k < f.rank; ++k) {
        for (int r = 0; r < rows.size(); ++r) f.u.push_back(static_cast<T>(svd.u(r, k) * svd.values[k]));
        for (int c = 0; c < columns.size(); ++c)
          f.v.push_back(static_cast<T>(Eigen::numext::conj(svd.v(c, k))));
      }
      out.set(i, j, std::move(f));
      each_tile();
    }
  out.error = std::sqrt(left_out);
  return out;
}

}  // namespace wsl::tlr
