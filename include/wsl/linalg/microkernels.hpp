// SPDX-License-Identifier: MIT
// The microkernels of the dense matrix product (the term of BLIS): a block of C stays in registers while k
// runs. They are compiled for each vector width, and the widest that the processor has is chosen when the
// program starts, so a plain -O3 build is fast. Every element of C is a chain c = c + a_k b_k in the order of
// k, whatever the block: how a product is cut into tiles along rows and columns changes no bit.
//
// A microkernel multiplies terms of 32 bits. A term is an f32 or, with AVX512-BF16, a pair of bf16 that are
// neighbours along k: vdpbf16ps adds the two products of two pairs to an f32. That is twice the products of
// an f32 microkernel with the same loads and stores, so the bound is the same as there, the rate of the
// multiplying instruction (one of 16 lanes a cycle on Zen 4): a step of a 6 x 64 block issues 24 of them
// beside 4 vector loads and 6 broadcasts. `scripts/bench gemm` compares them with OpenBLAS and LIBXSMM.
#pragma once
#include "../core/half.hpp"
#include "../support/compiled.hpp"
#include "vector_code.hpp"

namespace wsl::dense {

/// Prefetched memory: with step p of a block the processor is asked for from + p * step.
struct upcoming {
  const f32* from;
  i64 step;
};

/// rows x (vectors * lanes) elements of C += A B over k steps. Term (r, p) of A is a[r * a_row + p *
/// a_column], row p of B starts at b + p * b_row and is contiguous, row r of C at c + r * c_row and is
/// contiguous. A pair of bf16 is passed as the f32 with its bits.
struct block {
  const f32* a;
  i64 a_row, a_column;
  const f32* b;
  i64 b_row;
  f32* c;
  i64 c_row;
  i64 k;
  bool sets;  ///< C = A B instead
  upcoming next[2];
};

/// `rows` rows of some vectors each, to be copied from one place to another.
struct strip {
  const f32* from;
  i64 from_row;
  f32* to;
  i64 to_row, rows;
};

/// A square of `lanes` x `lanes` elements: row i of `to` is column i of `from`.
struct square {
  const f32* from;
  i64 from_row;
  f32* to;
  i64 to_row;
};

inline constexpr int max_vectors = 4, max_rows = 14;

namespace detail {

/// to[j] = the pair of even[j] and odd[j].
struct pairs_loop {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(u32* to, const bf16* even, const bf16* odd, i64 n) {
    for (i64 j = 0; j < n; ++j) to[j] = even[j].bits | u32{odd[j].bits} << 16;
  }
};

}  // namespace detail

/// The microkernels of one instruction set: blocks of up to `rows[n - 1]` rows and n vectors of `lanes`
/// elements (none if that is 0), and the functions that pack B for them.
struct microkernels {
  using multiplier = void (*)(const block&);
  using copier = void (*)(const strip&);
  int lanes;
  int rows[max_vectors];
  multiplier multiply[max_rows][max_vectors];  ///< [rows - 1][vectors - 1]
  copier copy[max_vectors];                    ///< [vectors - 1]
  void (*transpose)(const square&);
  const microkernels* of_pairs = nullptr;  ///< those of pairs of bf16, if the processor has them

  /// The width of the blocks, in vectors, for a C with this many columns, or for its first columns, so that
  /// little of a block is computed in vain. Wide blocks have few rows and need an A whose rows are
  /// contiguous; from contiguous columns they would use too few numbers of a cache line.
  constexpr int vectors_for(int columns, bool rows_of_a = true) const {
    return columns > 3 * lanes && rows[3] && rows_of_a ? 4 : columns > lanes ? 2 : 1;
  }
};

/// The microkernels for the widest vectors that this processor has.
const microkernels& best_microkernels();

}  // namespace wsl::dense

#ifndef WSL_COMPILED
#include "microkernels/best.hpp"
#endif
