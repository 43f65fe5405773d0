// SPDX-License-Identifier: MIT
// The operands of microkernels, and the table of those of one instruction set: see ../microkernels.hpp.
#pragma once
#include "../../core/scalar.hpp"

namespace wsl::dense {

/// Prefetched memory: with step p of a block the processor is asked for from + p * step.
template <class T>
struct upcoming {
  const T* from;
  i64 step;
};

/// rows x (vectors * lanes) elements of C += A B over k steps, all f32 or all f64. Term (r, p) of A is
/// a[r * a_row + p * a_column], row p of B starts at b + p * b_row and is contiguous, row r of C at
/// c + r * c_row and is contiguous. A pair of bf16 is passed as the f32 with its bits.
template <class T>
struct block {
  const T* a;
  i64 a_row, a_column;
  const T* b;
  i64 b_row;
  T* c;
  i64 c_row;
  i64 k;
  bool sets;  ///< C = A B instead
  upcoming<T> next[2];
};

/// `rows` rows of some vectors each, to be copied from one place to another.
template <class T>
struct strip {
  const T* from;
  i64 from_row;
  T* to;
  i64 to_row, rows;
};

/// A square of `lanes` x `lanes` elements: row i of `to` is column i of `from`.
template <class T>
struct square {
  const T* from;
  i64 from_row;
  T* to;
  i64 to_row;
};

inline constexpr int max_vectors = 4, max_rows = 32;

/// The microkernels of one instruction set: blocks of up to `rows[n - 1]` rows and n vectors of `lanes`
/// elements (none if that is 0), and the functions that pack B for them.
template <class T>
struct microkernels {
  using multiplier = void (*)(const block<T>&);
  using copier = void (*)(const strip<T>&);
  int lanes;
  int rows[max_vectors];
  multiplier multiply[max_rows][max_vectors];  ///< [rows - 1][vectors - 1]
  copier copy[max_vectors];                    ///< [vectors - 1]
  void (*transpose)(const square<T>&);
  const microkernels* of_pairs = nullptr;  ///< those of pairs of bf16, if the processor has them
  int whole_rows = 1;                      ///< blocks have a multiple of so many rows where they can
  void (*prepare)() = nullptr;  ///< called on the thread before a product, if there is something to do

  /// The width of the blocks, in vectors, for a C with this many columns, or for its first columns, so that
  /// little of a block is computed in vain. Wide blocks have few rows and need an A whose rows are
  /// contiguous; from contiguous columns they would use too few numbers of a cache line.
  constexpr int vectors_for(int columns, bool rows_of_a = true) const {
    return columns > 3 * lanes && rows[3] && rows_of_a ? 4 : columns > lanes ? 2 : 1;
  }
};

}  // namespace wsl::dense
