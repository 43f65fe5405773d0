// SPDX-License-Identifier: MIT
// The microkernels of each instruction set, of which best.hpp chooses.
#pragma once
#include <cstddef>
#include <utility>

#include "../vector_code.hpp"
#include "block.hpp"

namespace wsl::dense {

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

template <class Set, int vectors>
constexpr void enter(microkernels& u) {
  if constexpr (Set::rows[vectors - 1] > 0) {
    u.copy[vectors - 1] = &Set::template copy<vectors>;
    [&]<int... r>(std::integer_sequence<int, r...>) {
      ((u.multiply[r][vectors - 1] = &Set::template multiply<r + 1, vectors>), ...);
    }
    (std::make_integer_sequence<int, Set::rows[vectors - 1]>{});
  }
}

}  // namespace detail

template <class Set>
inline constexpr microkernels microkernels_of = [] {
  microkernels u{Set::lanes, {}, {}, {}, &Set::transpose};
  for (int v = 0; v < max_vectors; ++v) u.rows[v] = Set::rows[v];
  [&]<int... v>(std::integer_sequence<int, v...>) { (detail::enter<Set, v + 1>(u), ...); }
  (std::make_integer_sequence<int, max_vectors>{});
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

}  // namespace wsl::dense
