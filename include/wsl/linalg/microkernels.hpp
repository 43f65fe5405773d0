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
#include <cstddef>
#include <utility>

#include "../core/half.hpp"
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

template <int lanes>
struct vector {
  typedef f32 type __attribute__((vector_size(lanes * sizeof(f32))));
  typedef f32 unaligned __attribute__((vector_size(lanes * sizeof(f32)), aligned(sizeof(f32)), may_alias));
};

/// sum += a b for a term of A and a vector of terms of B.
struct f32_product {
  using term = f32;
  template <class Vector>
  [[gnu::always_inline]] static inline void add(Vector& sum, f32 a, const Vector& b) {
    sum += a * b;
  }
};
#ifdef __x86_64__
/// Pairs of bf16. The instruction takes subnormal numbers for zeros and makes subnormal sums zero.
struct pair_product {
  typedef u32 term __attribute__((may_alias));
  typedef u32 terms __attribute__((vector_size(64)));

  // Not always_inline: Clang checks the operands of an asm against the instruction set of the function around
  // it
  [[gnu::target("avx512f")]] static inline void add(vector<16>::type& sum, u32 a, const vector<16>::type& b) {
    const terms pairs = a - terms{};
    vector<16>::type in_register = sum;  // GCC would keep an array in memory whose elements an asm writes
    asm("vdpbf16ps %2, %1, %0" : "+v"(in_register) : "v"(b), "v"(pairs));
    sum = in_register;
  }
};
#endif

template <class Product, int lanes, int rows, int vectors>
[[gnu::always_inline]] inline void multiply_block(const block& x) {
  using unaligned = typename vector<lanes>::unaligned;
  typename vector<lanes>::type sum[std::size_t{rows}][std::size_t{vectors}];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      if (x.sets) sum[r][v] = typename vector<lanes>::type{};
      else sum[r][v] = *reinterpret_cast<const unaligned*>(x.c + r * x.c_row + v * lanes);
    }
  // Prefetches the next block, the one below, because C is seldom in a near cache
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(x.c + (rows + r) * x.c_row + v * lanes, 1);
  const f32* a = x.a;
  const f32* b = x.b;
  for (i64 p = 0; p < x.k; ++p, a += x.a_column, b += x.b_row) {
    typename vector<lanes>::type of_b[std::size_t{vectors}];
    for (int v = 0; v < vectors; ++v) of_b[v] = *reinterpret_cast<const unaligned*>(b + v * lanes);
    for (const upcoming& u : x.next) __builtin_prefetch(u.from + p * u.step, 0, 2);
    for (int r = 0; r < rows; ++r) {
      const auto of_a = *reinterpret_cast<const typename Product::term*>(a + r * x.a_row);
      for (int v = 0; v < vectors; ++v) Product::add(sum[r][v], of_a, of_b[v]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      *reinterpret_cast<unaligned*>(x.c + r * x.c_row + v * lanes) = sum[r][v];
}

template <int lanes, int vectors>
[[gnu::always_inline]] inline void copy_strip(const strip& x) {
  using unaligned = typename vector<lanes>::unaligned;
  for (i64 r = 0; r < x.rows; ++r)
    for (int v = 0; v < vectors; ++v)
      *reinterpret_cast<unaligned*>(x.to + r * x.to_row + v * lanes) =
          *reinterpret_cast<const unaligned*>(x.from + r * x.from_row + v * lanes);
}

// Each round interleaves the rows of the upper half with those of the lower half; log2(lanes) rounds
// transpose.
template <int lanes, int... i>
[[gnu::always_inline]] inline void transpose_square(const square& x, std::integer_sequence<int, i...>) {
  using unaligned = typename vector<lanes>::unaligned;
  typename vector<lanes>::type row[std::size_t{lanes}], next[std::size_t{lanes}];
  for (int r = 0; r < lanes; ++r) row[r] = *reinterpret_cast<const unaligned*>(x.from + r * x.from_row);
  for (int round = 1; round < lanes; round *= 2) {
    for (int r = 0; r < lanes / 2; ++r) {
      next[2 * r] = __builtin_shufflevector(row[r], row[r + lanes / 2], (i % 2 * lanes + i / 2)...);
      next[2 * r + 1] =
          __builtin_shufflevector(row[r], row[r + lanes / 2], (i % 2 * lanes + i / 2 + lanes / 2)...);
    }
    for (int r = 0; r < lanes; ++r) row[r] = next[r];
  }
  for (int r = 0; r < lanes; ++r) *reinterpret_cast<unaligned*>(x.to + r * x.to_row) = row[r];
}

// One set of functions for each instruction set. Attributes cannot be parameters, so the three differ in
// one word. Blocks of rows[n - 1] rows of n vectors leave registers for B and A. Low wide blocks read A
// seldom and touch few rows of C; high narrow ones are for a narrow C.
struct baseline {
  static constexpr int lanes = 4, rows[max_vectors] = {6, 6, 0, 0};
  template <int r, int v>
  static void multiply(const block& x) {
    multiply_block<f32_product, lanes, r, v>(x);
  }
  template <int v>
  static void copy(const strip& x) {
    copy_strip<lanes, v>(x);
  }
  static void transpose(const square& x) {
    transpose_square<lanes>(x, std::make_integer_sequence<int, lanes>{});
  }
};
#ifdef __x86_64__
struct avx2 {
  static constexpr int lanes = 8, rows[max_vectors] = {6, 6, 0, 0};
  template <int r, int v>
  [[gnu::target("avx2,fma")]] static void multiply(const block& x) {
    multiply_block<f32_product, lanes, r, v>(x);
  }
  template <int v>
  [[gnu::target("avx2,fma")]] static void copy(const strip& x) {
    copy_strip<lanes, v>(x);
  }
  [[gnu::target("avx2,fma")]] static void transpose(const square& x) {
    transpose_square<lanes>(x, std::make_integer_sequence<int, lanes>{});
  }
};
struct avx512 {
  static constexpr int lanes = 16, rows[max_vectors] = {14, 14, 0, 6};
  template <int r, int v>
  [[gnu::target("avx512f,fma")]] static void multiply(const block& x) {
    multiply_block<f32_product, lanes, r, v>(x);
  }
  template <int v>
  [[gnu::target("avx512f,fma")]] static void copy(const strip& x) {
    copy_strip<lanes, v>(x);
  }
  [[gnu::target("avx512f,fma")]] static void transpose(const square& x) {
    transpose_square<lanes>(x, std::make_integer_sequence<int, lanes>{});
  }
};
// The microkernels of pairs; copies and transpositions move terms of either kind.
struct avx512_bf16 : avx512 {
  template <int r, int v>
  [[gnu::target("avx512f,fma")]] static void multiply(const block& x) {
    multiply_block<pair_product, lanes, r, v>(x);
  }
};
#endif

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

namespace detail {

template <class Set, int vectors>
constexpr void enter(microkernels& u) {
  if constexpr (Set::rows[vectors - 1] > 0) {
    u.copy[vectors - 1] = &Set::template copy<vectors>;
    [&]<int... r>(std::integer_sequence<int, r...>) {
      ((u.multiply[r][vectors - 1] = &Set::template multiply<r + 1, vectors>), ...);
    }(std::make_integer_sequence<int, Set::rows[vectors - 1]>{});
  }
}

}  // namespace detail

template <class Set>
inline constexpr microkernels microkernels_of = [] {
  microkernels u{Set::lanes, {}, {}, {}, &Set::transpose};
  for (int v = 0; v < max_vectors; ++v) u.rows[v] = Set::rows[v];
  [&]<int... v>(std::integer_sequence<int, v...>) {
    (detail::enter<Set, v + 1>(u), ...);
  }(std::make_integer_sequence<int, max_vectors>{});
  return u;
}();

#ifdef __x86_64__
/// f32 as in AVX-512, and pairs of bf16.
inline constexpr microkernels microkernels_with_bf16 = [] {
  microkernels u = microkernels_of<detail::avx512>;
  u.of_pairs = &microkernels_of<detail::avx512_bf16>;
  return u;
}();
#endif

/// The microkernels for the widest vectors that this processor has.
inline const microkernels& best_microkernels() {
#ifdef __x86_64__
  static const microkernels& best = processor_has_bf16()                ? microkernels_with_bf16
                                    : __builtin_cpu_supports("avx512f") ? microkernels_of<detail::avx512>
                                    : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                        ? microkernels_of<detail::avx2>
                                        : microkernels_of<detail::baseline>;
  return best;
#else
  return microkernels_of<detail::baseline>;
#endif
}

}  // namespace wsl::dense
