// SPDX-License-Identifier: MIT
// The matrix product C = A B, or alpha A B + beta C, on a column or a square of PEs, for matrices of the host
// of any sizes, in f32 or f64. Each PE owns a tile of C, and the tiles of A and B travel.
//   gemm(matrix(c, m, n), matrix(a, m, k), matrix(b, k, n));
// On this computer a PE may own a tile as large as a cache, so one PE for each thread is enough. See
// examples/30_gemm.cpp. Within the limits of a wafer's PEs the product is in gemm/wafer.hpp.
#pragma once
#include "../fabric/host_gather.hpp"
#include "../support/bad_argument.hpp"
#include "gemm/cannon.hpp"
#include "gemm/operands.hpp"
#include "gemm/rows.hpp"
#include "gemm/summa.hpp"
#include "pe_a_thread.hpp"

namespace wsl {

/// The algorithm by which the tiles of A and B travel to the PEs.
enum class gemm_method : u8 {
  /// a column of PEs that own rows of A and C; rows of B are broadcast: the fewest words, and the same bits
  /// for any number of PEs
  rows,
  cannon,  ///< a square; tiles rotate by one PE a step: short ways, equal work for all
  summa,   ///< a square; tiles are broadcast along rows and columns: the same bits for any number of PEs
};

struct gemm_options {
  gemm_method method = gemm_method::rows;
  /// PEs of a column. 0 chooses: for `rows` one PE for each thread, with at least 64 rows each; for a square
  /// the smallest power of two whose tiles are not larger than 512 x 512, and one PE below 128
  int side = 0;
  int threads = 0;          ///< 0: WSL_THREADS, or one for each core; more than `side` do not help
  f64 alpha = 1, beta = 0;  ///< as gemm_factors
};

/// C = alpha A B + beta C, as in BLAS: with beta = 0 what C was does not matter, with alpha = 0 neither do A
/// and B, even if they are not finite. The factors are rounded to the format of C.
struct gemm_factors {
  f64 alpha = 1, beta = 0;
};

namespace detail {

/// use(std::type_identity of the method's PE program).
template <class T, class Use>
auto with_tile(gemm_method method, Use use) {
  switch (method) {
    case gemm_method::rows: return use(std::type_identity<row_tile<T>>{});
    case gemm_method::cannon: return use(std::type_identity<cannon_tile<T>>{});
    case gemm_method::summa: return use(std::type_identity<summa_tile<T>>{});
  }
  support::bad_argument({"there is no method ", static_cast<int>(method), " of a matrix product"});
}

/// The number of PEs on a side of the grid for one product.
inline int gemm_side(int rows, int longest, const gemm_options& how, int threads) {
  if (how.side) return how.side;
  if (how.method == gemm_method::rows) return std::clamp(rows / 64, 1, threads);
  int side = longest < 128 ? 1 : 2;
  while (side < 32 && longest > 512 * side) side *= 2;
  return side;
}

}  // namespace detail

/// A grid of PEs that computes C = A B, made once for many products. On the ranks of `mpi::world()` a product
/// is collective: all have the same A, B and C, and get the same bits. A and B have elements f32, f16, bf16
/// or cb16, and C and the sums are f32; or A, B, C and the sums are f64.
template <class T>
class gemm_fabric {
 public:
  using number = dense::sum_of<T>;  ///< of C and of the sums

  /// On the threads of this computer, or on another engine. Throws std::invalid_argument if the method has no
  /// grid of this side.
  template <class Engine = threaded>
  explicit gemm_fabric(int side, gemm_method method = gemm_method::rows, int threads = 0,
                       const Engine& engine = {})
      : method_(method),
        processes_(engine),
        fabric_(plan(side, method),
                kernel::with_partitions(engine, threads, method == gemm_method::rows ? 1 : side)) {}

  /// C is (m, n), A is (m, k), B is (k, n), each with any strides; C overlaps neither A nor B. An element
  /// differs from the exact one by at most k * u * |A| |B|, where u is 2^-24 for f32 and 2^-53 for f64
  /// (multiply_add says what bf16 may lose beyond). Throws std::invalid_argument if the shapes do not fit, if
  /// C overlaps A or B where they are read (alpha is not 0), or if elements of C share a place.
  outcome operator()(const matrix<number>& c, const matrix<const T>& a, const matrix<const T>& b,
                     const gemm_factors& by = {}) {
    detail::check_shapes<T>(c, a, b);
    processes_.require_same("shape or factor of a matrix product", [&](support::fingerprint& f) {
      f.add(c.rows()), f.add(c.columns()), f.add(a.columns()), f.add(by.alpha), f.add(by.beta);
    });
    const number alpha = static_cast<number>(by.alpha), beta = static_cast<number>(by.beta);
    // Without the product nothing is left of A and B but their shapes.
    const bool any = alpha != 0;
    const detail::gemm_problem<T> p{c, any ? a : a.part(0, 0, a.rows(), 0),
                                    any ? b : b.part(0, 0, 0, b.columns()), any ? alpha : 1, beta};
    detail::check_memory<T>(p.c, p.a, p.b);
    return detail::with_tile<T>(method_, [&]<class Tile>(std::type_identity<Tile>) {
      const outcome done = fabric_.template launch<&Tile::begin>(all, p);
      if (fabric_.spread()) gather_tiles<Tile>(c);
      return done;
    });
  }

  /// The layout on which the product runs; for drawings, and for other engines.
  static layout plan(int side, gemm_method method) {
    return detail::with_tile<T>(method, [&]<class Tile>(std::type_identity<Tile>) {
      if (side < 1 || side > Tile::largest_side)
        support::bad_argument(
            {"a grid of a product has a side of 1 to ", Tile::largest_side, " PEs, not ", side});
      return Tile::plan(side);
    });
  }

 private:
  /// Each rank has written the tiles of its own PEs into its C.
  template <class Tile>
  void gather_tiles(const matrix<number>& c) {
    struct place {
      coord at;
      int rows = 0, columns = 0;
    };
    const region pes = fabric_.plan().inside(all);
    const std::vector<place> tiles = gather_values(fabric_, all, [&](coord pe) {
      const auto& sum = fabric_.template program_at<Tile>(pe).sum_of_c();
      return place{sum.at(), sum.tile().rows(), sum.tile().columns()};
    });
    host_gather from(fabric_);
    for (int i = 0; i < pes.count(); ++i) {
      const place& t = tiles[static_cast<std::size_t>(i)];
      const bool along_rows = c.column_stride() == 1;
      for (int r = 0; r < t.rows; ++r)
        for (int k = 0; k < t.columns; k += along_rows ? t.columns : 1) {
          number* const first = &c(t.at.y + r, t.at.x + k);
          from.add(pes.nth(i), first, first, along_rows ? static_cast<std::size_t>(t.columns) : 1);
        }
    }
    from.run();
  }

  gemm_method method_;
  kernel::agreement processes_;
  fabric fabric_;
};

/// C = A B once, or C = alpha A B + beta C; see gemm_fabric for shapes, error and exceptions.
template <class T, class Engine = threaded>
outcome gemm(const matrix<dense::sum_of<T>>& c, const matrix<T>& a, const matrix<T>& b,
             const gemm_options& how = {}, const Engine& engine = {}) {
  const int side = detail::gemm_side(c.rows(), std::max({c.rows(), c.columns(), a.columns()}), how,
                                     kernel::threads_in_all(engine, how.threads));
  gemm_fabric<std::remove_const_t<T>> product(side, how.method, how.threads, engine);
  return product(c, a, b, {how.alpha, how.beta});
}

}  // namespace wsl
