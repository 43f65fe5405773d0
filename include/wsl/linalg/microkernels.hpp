// SPDX-License-Identifier: MIT
// The microkernels of the dense matrix product (the term of BLIS): a block of C stays in registers while k
// runs. They are compiled for each vector width, and the widest that the processor has is chosen when the
// program starts, so a plain -O2 build is fast. Every element of C is a chain c = c + a_k b_k in the order of
// k, whatever the block: how a product is cut into tiles along rows and columns changes no bit.
//
// There are microkernels of f64, and of f32, whose vectors have twice as many numbers. Those of f32 multiply
// terms of 32 bits. A term is an f32 or, with AVX512-BF16, a pair of bf16 that are neighbours along k:
// vdpbf16ps adds the two products of two pairs to an f32. That is twice the products of an f32 microkernel
// with the same loads and stores, so the bound is the same as there, the rate of the multiplying instruction
// (one of 16 lanes a cycle on Zen 4): a step of a 6 x 64 block issues 24 of them beside 4 vector loads and 6
// broadcasts. Where the processor has AMX (Sapphire Rapids and later), whose vdpbf16ps has half the rate of
// an f32 fma, pairs are multiplied in tile registers: a block of 32 x 32 in four of them, with two tiles of A
// and two of B for 16 terms of k. `scripts/bench gemm` compares them with OpenBLAS and LIBXSMM, and
// `scripts/bench kernels dgemm` those of f64 with OpenBLAS.
#pragma once
#include "../core/half.hpp"
#include "../support/compiled.hpp"
#include "microkernels/block.hpp"
#include "vector_code.hpp"

namespace wsl::dense {

namespace detail {

/// to[j] = the pair of even[j] and odd[j].
struct pairs_loop {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(u32* to, const bf16* even, const bf16* odd, i64 n) {
    for (i64 j = 0; j < n; ++j) to[j] = even[j].bits | u32{odd[j].bits} << 16;
  }
};

}  // namespace detail

/// The microkernels of T, f32 or f64, for the widest vectors that this processor has.
template <class T>
const microkernels<T>& best_microkernels();

}  // namespace wsl::dense

#ifndef WSL_COMPILED
#include "microkernels/best.hpp"
#endif
