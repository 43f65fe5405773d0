// SPDX-License-Identifier: MIT
// Compression of a dense matrix into tiles of low rank: a singular value decomposition of each tile in f64,
// of which the largest values are kept. Tiles are compressed on all cores. Needs Eigen (CMake: the component
// `low_rank`). See examples/89_low_rank.cpp.
#pragma once
#include <Eigen/QR>
#include <Eigen/SVD>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "../../engine/threaded.hpp"
#include "../../linalg/matrix.hpp"
#include "../../support/bad_argument.hpp"
#include "../../support/split_mix.hpp"
#include "low_rank.hpp"

namespace wsl::tlr {

namespace detail {

/// A matrix as Q B, up to a rest whose squared norm is at most `allowed`, with few columns of Q, which are
/// orthonormal.
template <class Dense>
struct range_of {
  Dense q, b;
  f64 rest = 0;

  range_of(const Dense& a, f64 allowed) {
    const Eigen::Index size = std::min(a.rows(), a.cols());
    // Most tiles have few significant columns, which products with random vectors find (Halko, Martinsson and
    // Tropp, SIAM Review 53, 2011). The vectors are the same for all tiles of a shape.
    for (Eigen::Index k = 16; 3 * k <= size; k *= 2) {
      q = orthonormal(a * random_vectors(a.cols(), k));
      q = orthonormal(a * orthonormal(a.adjoint() * q));
      b = q.adjoint() * a;
      rest = (a - q * b).squaredNorm();
      if (rest <= allowed) return;
    }
    const Eigen::ColPivHouseholderQR<Dense> qr(a);
    const Dense upper = qr.matrixR().topRows(size).template triangularView<Eigen::Upper>();
    Eigen::Index rank = size;
    rest = 0;
    for (; rank > 0 && rest + upper.row(rank - 1).squaredNorm() <= allowed; --rank)
      rest += upper.row(rank - 1).squaredNorm();
    q = qr.householderQ() * Dense::Identity(a.rows(), rank);
    b = upper.topRows(rank) * qr.colsPermutation().inverse();
  }

 private:
  static Dense orthonormal(const Dense& of) {
    return Eigen::HouseholderQR<Dense>(of).householderQ() * Dense::Identity(of.rows(), of.cols());
  }
  static Dense random_vectors(Eigen::Index n, Eigen::Index k) {
    Dense x(n, k);
    u64 state = 1;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x.data()[i] =
          static_cast<f64>(static_cast<i64>(support::split_mixed(state += support::split_mix_step))) *
          0x1p-63;
    return x;
  }
};

/// A matrix as U S V^H with the fewest singular values such that the squared norm of the rest is at most
/// `allowed`; `rest` is that squared norm.
template <class Dense>
struct decomposition {
  Dense u, v;
  Eigen::VectorXd values;
  f64 rest = 0;

  decomposition(const Dense& a, f64 allowed) {
    const range_of<Dense> range(a, 1e-4 * allowed);
    rest = range.rest;
    if (range.b.rows() == 0) return;
    const Eigen::JacobiSVD<Dense> svd(range.b.adjoint(), Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::VectorXd& all = svd.singularValues();
    const f64 nothing = 1e-30 * all[0] * all[0], most = std::max(allowed, rest + nothing);
    Eigen::Index rank = all.size();
    for (; rank > 0 && rest + all[rank - 1] * all[rank - 1] <= most; --rank)
      rest += all[rank - 1] * all[rank - 1];
    values = all.head(rank);
    v = svd.matrixU().leftCols(rank);
    u = range.q * svd.matrixV().leftCols(rank);
  }
};

/// Calls each(0) to each(n - 1) on so many threads, in any order, and throws what one of them has thrown.
template <class Each>
void on_threads(int threads, int n, Each each) {
  std::atomic<int> next = 0;
  std::exception_ptr thrown;
  std::mutex keeping;
  const auto work = [&] {
    for (int i; (i = next++) < n;) try {
        each(i);
      } catch (...) {
        const std::lock_guard lock(keeping);
        if (!thrown) thrown = std::current_exception();
        next = n;
      }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(threads, n); ++t) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace detail

/// The matrix whose tiles have the smallest ranks with |A - result| <= tolerance |A| in Frobenius norms, if
/// every tile drops the same amount. With tolerance 0 only the part below the precision of f64 is dropped.
/// Calls `each_tile` after each tile, one call at a time. `threads` are as threaded{.threads}; the result
/// does not depend on them, bit for bit. Throws std::invalid_argument for a tolerance that is negative or not
/// a number, for a tile size below 1, and for elements that are not finite.
template <class T>
low_rank<T> compress(
    const matrix<const T>& a, int tile, f64 tolerance, const std::function<void()>& each_tile = [] {},
    int threads = 0) {
  using dense = Eigen::Matrix<wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
  if (!(tolerance >= 0))
    support::bad_argument({"the tolerance of a compression is at least 0, not ", std::to_string(tolerance)});
  low_rank<T> out(a.rows(), a.columns(), tile);
  f64 square = 0;
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j) {
      if (!detail::is_finite(a(i, j)))
        support::bad_argument(
            {"the element (", i, ", ", j, ") of a matrix of ", a.shape(), " to compress is not finite"});
      square += std::norm(wide<T>(a(i, j)));
    }
  const f64 allowed = tolerance * tolerance * square / (f64(out.tile_rows()) * out.tile_columns());
  const int tiles = out.tile_rows() * out.tile_columns();
  std::vector<f64> rests(static_cast<std::size_t>(tiles));
  std::mutex telling;
  detail::on_threads(threads > 0 ? threads : default_threads(), tiles, [&](int t) {
    const int i = t / out.tile_columns(), j = t % out.tile_columns();
    const range rows = out.rows_of(i), columns = out.columns_of(j);
    dense one(rows.size(), columns.size());
    for (int r = 0; r < rows.size(); ++r)
      for (int c = 0; c < columns.size(); ++c) one(r, c) = wide<T>(a(rows.from + r, columns.from + c));
    const detail::decomposition<dense> svd(one, allowed);
    rests[static_cast<std::size_t>(t)] = svd.rest;
    factors<T> f{static_cast<int>(svd.values.size()), {}, {}};
    for (int k = 0; k < f.rank; ++k) {
      for (int r = 0; r < rows.size(); ++r) f.u.push_back(static_cast<T>(svd.u(r, k) * svd.values[k]));
      for (int c = 0; c < columns.size(); ++c)
        f.v.push_back(static_cast<T>(Eigen::numext::conj(svd.v(c, k))));
    }
    out.set(i, j, std::move(f));
    const std::lock_guard lock(telling);
    each_tile();
  });
  f64 left_out = 0;
  for (f64 rest : rests) left_out += rest;
  out.error = std::sqrt(left_out);
  return out;
}

}  // namespace wsl::tlr
