// SPDX-License-Identifier: MIT
// Low-rank tiles as arrays in files have them, in the order of the public data sets of TLR-MVM (Ltaief et
// al., SC'21): every tile is padded to a whole one; the V of a column of tiles are stacked, and lie column by
// column; the U of a row of tiles stand side by side, and lie column by column too. With K the sum of all
// ranks both are K * tile numbers. The arrays are not trusted.
#pragma once
#include <string>
#include <wsl/kernel/tlr/low_rank.hpp>

#include "../number_array.hpp"

namespace tlr_app {

using wsl::f32, wsl::f64, wsl::i64;

inline constexpr i64 most_rows = 1 << 20, most_tile = 4096;  ///< also for columns

/// Rows, columns and the side of a tile; 0: not given.
struct bases_shape {
  i64 rows = 0, columns = 0, tile = 0;
};

/// T is f32 or std::complex<f32>.
template <class T>
struct stored_bases {
  app::number_array<i64> ranks;  ///< (rows of tiles, columns of tiles)
  /// For each row of tiles its columns of U, those of the first tile first, each of `tile` numbers: K * tile
  app::number_array<T> u;
  /// For each column of tiles, whose ranks add up to k, the first column of V, k numbers, those of the first
  /// tile first; then the second column, and so on: tile * k
  app::number_array<T> v;
};

/// The tiles in such arrays. The shape may leave out the side of a tile, which follows from the ranks and U
/// unless all ranks are 0, and rows and columns, which then fill their tiles. Numbers in the padding are not
/// looked at. Throws std::invalid_argument, with `name` and the array, for sizes that contradict each other,
/// for ranks below 0 or above the side of a tile, and for numbers that are not finite.
template <class T>
wsl::tlr::low_rank<T> bases_from(const stored_bases<T>& stored, const bases_shape& shape,
                                 const std::string& name);

/// The arrays of such tiles; U has the shape (K, tile), and V (K * tile).
template <class T>
stored_bases<T> bases_of(const wsl::tlr::low_rank<T>& a);

/// Sets `a.error` to |dense - a| in Frobenius norms, in f64. The shapes are equal.
template <class T>
void measure_error(wsl::tlr::low_rank<T>& a, const std::vector<T>& dense);

}  // namespace tlr_app
