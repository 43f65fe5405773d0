// SPDX-License-Identifier: MIT
// The matrix-vector product y = A x on a grid of PEs, each of which keeps a tile of A from product to
// product.
//   gemv_fabric<f32> product(matrix(a, m, n));
//   product(y, x);
// See examples/87_gemv.cpp. Within the limits of a wafer's PEs the product is in gemv/wafer.hpp.
#pragma once

#include "../support/bad_argument.hpp"
#include "gemv/tile.hpp"

namespace wsl {

struct gemv_options {
  int wide = 0, high = 0;  ///< PEs; 0: one column of PEs, one for each thread
  int threads = 0;         ///< 0: WSL_THREADS, or one a core
};

/// A grid of PEs with the tiles of a matrix A, for many products. A has elements f32, f16 or bf16; the sums
/// are f32.
template <class T>
class gemv_fabric {
 public:
  /// A is (m, n), with any strides; it is copied. Throws std::invalid_argument for a grid of less than one
  /// PE.
  explicit gemv_fabric(const matrix<const T>& a, const gemv_options& how = {})
      : rows_(a.rows()),
        columns_(a.columns()),
        how_(choose(a, how)),
        fabric_(detail::gemv_tile<T>::plan(how_.wide, how_.high), engine(how_)) {
    for (int j = 0; j < how_.high; ++j)
      for (int i = 0; i < how_.wide; ++i)
        fabric_.template program_at<detail::gemv_tile<T>>({i, j}).load(a, how_.wide, how_.high, i, j);
  }

  /// y of m numbers, x of n. An element of y differs from the exact one by at most n * 2^-24 * |A| |x|.
  /// Throws std::invalid_argument if the lengths do not fit.
  outcome operator()(std::span<f32> y, std::span<const T> x) {
    if (y.size() != static_cast<std::size_t>(rows_) || x.size() != static_cast<std::size_t>(columns_))
      support::bad_argument({"y = A x of y (", y.size(), "), A (", rows_, ", ", columns_, ") and x (",
                             x.size(), "): the shapes do not fit"});
    if (y.empty()) return {};
    return fabric_.template launch<&detail::gemv_tile<T>::begin>(all, detail::gemv_problem<T>{y, x});
  }

 private:
  static gemv_options choose(const matrix<const T>& a, gemv_options how) {
    const int cores = how.threads > 0 ? how.threads : default_threads();
    if (how.wide == 0) how.wide = 1;
    if (how.high == 0) how.high = std::clamp(cores, 1, std::max(1, a.rows()));
    if (how.wide < 1 || how.high < 1)
      support::bad_argument({"a product runs on at least 1 x 1 PEs, not on ", how.wide, " x ", how.high});
    return how;
  }
  static threaded engine(const gemv_options& how) {
    return {.threads = how.threads, .pes_per_partition = static_cast<u32>(how.wide)};
  }

  int rows_, columns_;
  gemv_options how_;
  fabric fabric_;
};

/// y = A x once; see gemv_fabric.
template <class T>
outcome gemv(std::span<f32> y, const matrix<T>& a, std::span<const std::remove_const_t<T>> x,
             const gemv_options& how = {}) {
  return gemv_fabric<std::remove_const_t<T>>(a, how)(y, x);
}

}  // namespace wsl
