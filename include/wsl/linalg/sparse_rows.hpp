// SPDX-License-Identifier: MIT
// A view of some rows of a sparse matrix with their nonzeros, in compressed rows (CSR): what a PE has of
// sparse weights. sparse_products.hpp multiplies with it; sparse_pattern.hpp has the places of a whole
// matrix.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

/// The most columns of `sparse_rows`, so that a column, and the number of nonzeros of a row, take 16 bits.
inline constexpr int most_sparse_columns = 65535;
/// A product takes as long for a nonzero as a dense f32 product does for so many numbers (`scripts/bench
/// sparse`).
inline constexpr f64 numbers_in_time_of_nonzero = 2.2;

struct sparse_rows {
  int rows = 0, columns = 0;
  /// (rows + 1): the nonzeros of row r are those from first[r] to before first[r + 1].
  const u32* first = nullptr;
  const u16* column = nullptr;  ///< of each nonzero, ascending in each row
  const f32* value = nullptr;   ///< of each nonzero; null where only the places matter
  i64 count() const { return rows ? i64{first[rows]} - first[0] : 0; }
  f64 density() const {
    const f64 size = static_cast<f64>(rows) * static_cast<f64>(columns);
    return size > 0 ? static_cast<f64>(count()) / size : 1;
  }
};

}  // namespace wsl
