// SPDX-License-Identifier: MIT
// C = A B on a square of PEs, for matrices of the host of any sizes: each PE owns a tile of C, and the tiles of A and B travel.
//   gemm(matrix(c, m, n), matrix(a, m, k), matrix(b, k, n));
// On this computer a PE may own a tile as large as a cache, so a few PEs a thread are enough. See examples/30_gemm.cpp.
#pragma once
#include "cannon.hpp"
#include "summa.hpp"

namespace wsl {

/// How the tiles of A and B get to the PEs.
enum class gemm_method : u8 {
  cannon,  ///< rotate by one PE a step: short ways, equal work for all threads
  summa,   ///< are broadcast along rows and columns: the same bits for any number of PEs
};

struct gemm_options {
  gemm_method method = gemm_method::cannon;
  int side = 0;     ///< side x side PEs; 0: the smallest power of two whose tiles are not larger than 512 x 512, one PE below 128
  int threads = 0;  ///< 0: WSL_THREADS, or one a core; more than `side` do not help
};

/// A grid of PEs that computes C = A B, made once for many products. A and B have elements f32, f16 or bf16; the sums are f32.
template <class T>
class gemm_fabric {
 public:
  /// Throws std::invalid_argument if the method has no grid of this side.
  explicit gemm_fabric(int side, gemm_method method = gemm_method::cannon, int threads = 0)
      : method_(method), fabric_(plan(side, method), threaded{.threads = threads, .pes_per_band = static_cast<u32>(side)}) {}

  /// C is (m, n), A is (m, k), B is (k, n), each with any strides; C overlaps neither A nor B. An element differs from the exact one
  /// by at most k * 2^-24 * |A| |B|. Throws std::invalid_argument if the shapes do not fit.
  outcome operator()(const matrix<f32>& c, const matrix<const T>& a, const matrix<const T>& b) {
    if (a.columns() != b.rows() || c.rows() != a.rows() || c.columns() != b.columns())
      throw std::invalid_argument("wsl: C = A B of C " + c.shape() + ", A " + a.shape() + " and B " + b.shape() + ": the shapes do not fit");
    const detail::gemm_problem<T> p{c, a, b};
    if (method_ == gemm_method::summa) return fabric_.launch<&detail::summa_tile<T>::begin>(all, p);
    return fabric_.launch<&detail::cannon_tile<T>::begin>(all, p);
  }

  /// The layout on which the product runs; for drawings, and for other engines.
  static layout plan(int side, gemm_method method) {
    const int largest = method == gemm_method::summa ? detail::summa_tile<T>::largest_side : detail::cannon_tile<T>::largest_side;
    if (side < 1 || side > largest)
      throw std::invalid_argument("wsl: a grid of a product has a side of 1 to " + std::to_string(largest) + " PEs, not " + std::to_string(side));
    return method == gemm_method::summa ? detail::summa_tile<T>::plan(side) : detail::cannon_tile<T>::plan(side);
  }

 private:
  gemm_method method_;
  fabric fabric_;
};

/// C = A B once; see gemm_fabric for shapes, error and exceptions.
template <class T>
outcome gemm(const matrix<f32>& c, const matrix<T>& a, const matrix<T>& b, const gemm_options& how = {}) {
  const int longest = std::max({c.rows(), c.columns(), a.columns()});
  int side = longest < 128 ? 1 : 2;
  while (side < 32 && longest > 512 * side) side *= 2;
  return gemm_fabric<std::remove_const_t<T>>(how.side ? how.side : side, how.method, how.threads)(c, a, b);
}

}  // namespace wsl
