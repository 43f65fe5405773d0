// SPDX-License-Identifier: MIT
// The microkernels of each instruction set, of which best.hpp chooses.
#pragma once
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "../vector_code.hpp"
#include "block.hpp"
#include "tile_registers.hpp"

namespace wsl::dense {

namespace detail {

using wsl::detail::each_of;

template <class T, int lanes>
struct vector {
  typedef T type __attribute__((vector_size(lanes * sizeof(T))));
  typedef T unaligned __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
};

/// sum += a b for a term of A and a vector of terms of B.
template <class T>
struct plain_product {
  using number = T;
  using term = T;
  template <class Vector>
  [[gnu::always_inline]] static inline void add(Vector& sum, T a, const Vector& b) {
    sum += a * b;
  }
};
#ifdef __x86_64__
/// Pairs of bf16. The instruction takes subnormal numbers for zeros and makes subnormal sums zero.
struct pair_product {
  using number = f32;
  typedef u32 term __attribute__((may_alias));
  typedef u32 terms __attribute__((vector_size(64)));

  // Not always_inline: Clang checks the operands of an asm against the instruction set of the function around
  // it
  [[gnu::target("avx512f")]] static inline void add(vector<f32, 16>::type& sum, u32 a,
                                                    const vector<f32, 16>::type& b) {
    const terms pairs = a - terms{};
    // GCC would keep an array in memory whose elements an asm writes
    vector<f32, 16>::type in_register = sum;
    asm("vdpbf16ps %2, %1, %0" : "+v"(in_register) : "v"(b), "v"(pairs));
    sum = in_register;
  }
};
#endif

template <class Product, int lanes, int rows, int vectors>
[[gnu::always_inline]] inline void multiply_block(const block<typename Product::number>& x) {
  using number = typename Product::number;
  using whole = typename vector<number, lanes>::type;
  using unaligned = typename vector<number, lanes>::unaligned;
  whole sum[std::size_t{rows}][std::size_t{vectors}];
  const auto each_sum = [&](auto f) __attribute__((always_inline)) {
    each_of<rows>([&](auto r) __attribute__((always_inline)) {
      each_of<vectors>([&](auto v) __attribute__((always_inline)) { f(r, v); });
    });
  };
  if (x.sets) {
    each_sum([&](auto r, auto v) __attribute__((always_inline)) { sum[r][v] = whole{}; });
  } else {
    each_sum([&](auto r, auto v) __attribute__((always_inline)) {
      sum[r][v] = *reinterpret_cast<const unaligned*>(x.c + r * x.c_row + v * lanes);
    });
  }
  // Prefetches the next block, the one below, because C is seldom in a near cache
  each_sum([&](auto r, auto v) __attribute__((always_inline)) {
    __builtin_prefetch(x.c + (rows + r) * x.c_row + v * lanes, 1);
  });
  const number* a = x.a;
  const number* b = x.b;
  for (i64 p = 0; p < x.k; ++p, a += x.a_column, b += x.b_row) {
    whole of_b[std::size_t{vectors}];
    each_of<vectors>([&](auto v) __attribute__((always_inline)) {
      of_b[v] = *reinterpret_cast<const unaligned*>(b + v * lanes);
    });
    each_of<2>([&](auto n) __attribute__((always_inline)) {
      __builtin_prefetch(x.next[n].from + p * x.next[n].step, 0, 2);
    });
    each_of<rows>([&](auto r) __attribute__((always_inline)) {
      const auto of_a = *reinterpret_cast<const typename Product::term*>(a + r * x.a_row);
      each_of<vectors>([&](auto v)
                           __attribute__((always_inline)) { Product::add(sum[r][v], of_a, of_b[v]); });
    });
  }
  each_sum([&](auto r, auto v) __attribute__((always_inline)) {
    *reinterpret_cast<unaligned*>(x.c + r * x.c_row + v * lanes) = sum[r][v];
  });
}

template <class T, int lanes, int vectors>
[[gnu::always_inline]] inline void copy_strip(const strip<T>& x) {
  using unaligned = typename vector<T, lanes>::unaligned;
  for (i64 r = 0; r < x.rows; ++r)
    each_of<vectors>([&](auto v) __attribute__((always_inline)) {
      *reinterpret_cast<unaligned*>(x.to + r * x.to_row + v * lanes) =
          *reinterpret_cast<const unaligned*>(x.from + r * x.from_row + v * lanes);
    });
}

// Each round interleaves the rows of the upper half with those of the lower half; log2(lanes) rounds
// transpose.
template <class T, int lanes, int... i>
[[gnu::always_inline]] inline void transpose_square(const square<T>& x, std::integer_sequence<int, i...>) {
  using unaligned = typename vector<T, lanes>::unaligned;
  typename vector<T, lanes>::type row[std::size_t{lanes}], next[std::size_t{lanes}];
  each_of<lanes>([&](auto r) __attribute__((always_inline)) {
    row[r] = *reinterpret_cast<const unaligned*>(x.from + r * x.from_row);
  });
  each_of<std::countr_zero(unsigned{lanes})>([&](auto) __attribute__((always_inline)) {
    each_of<lanes / 2>([&](auto r) __attribute__((always_inline)) {
      next[2 * r] = __builtin_shufflevector(row[r], row[r + lanes / 2], (i % 2 * lanes + i / 2)...);
      next[2 * r + 1] =
          __builtin_shufflevector(row[r], row[r + lanes / 2], (i % 2 * lanes + i / 2 + lanes / 2)...);
    });
    each_of<lanes>([&](auto r) __attribute__((always_inline)) { row[r] = next[r]; });
  });
  each_of<lanes>([&](auto r) __attribute__((always_inline)) {
    *reinterpret_cast<unaligned*>(x.to + r * x.to_row) = row[r];
  });
}

// One set of functions for each instruction set. Attributes cannot be parameters, so the three differ in
// one word. Blocks of rows[n - 1] rows of n vectors leave registers for B and A. Low wide blocks read A
// seldom and touch few rows of C; high narrow ones are for a narrow C.
template <class T>
struct baseline {
  using number = T;
  static constexpr int lanes = 16 / sizeof(T), rows[max_vectors] = {6, 6, 0, 0};
  template <int r, int v>
  static void multiply(const block<T>& x) {
    multiply_block<plain_product<T>, lanes, r, v>(x);
  }
  template <int v>
  static void copy(const strip<T>& x) {
    copy_strip<T, lanes, v>(x);
  }
  static void transpose(const square<T>& x) {
    transpose_square<T, lanes>(x, std::make_integer_sequence<int, lanes>{});
  }
};
#ifdef __x86_64__
template <class T>
struct avx2 {
  using number = T;
  static constexpr int lanes = 32 / sizeof(T), rows[max_vectors] = {6, 6, 0, 0};
  template <int r, int v>
  [[gnu::target("avx2,fma")]] static void multiply(const block<T>& x) {
    multiply_block<plain_product<T>, lanes, r, v>(x);
  }
  template <int v>
  [[gnu::target("avx2,fma")]] static void copy(const strip<T>& x) {
    copy_strip<T, lanes, v>(x);
  }
  [[gnu::target("avx2,fma")]] static void transpose(const square<T>& x) {
    transpose_square<T, lanes>(x, std::make_integer_sequence<int, lanes>{});
  }
};
template <class T>
struct avx512 {
  using number = T;
  static constexpr int lanes = 64 / sizeof(T), rows[max_vectors] = {14, 14, 0, 6};
  template <int r, int v>
  [[gnu::target("avx512f,fma")]] static void multiply(const block<T>& x) {
    multiply_block<plain_product<T>, lanes, r, v>(x);
  }
  template <int v>
  [[gnu::target("avx512f,fma")]] static void copy(const strip<T>& x) {
    copy_strip<T, lanes, v>(x);
  }
  [[gnu::target("avx512f,fma")]] static void transpose(const square<T>& x) {
    transpose_square<T, lanes>(x, std::make_integer_sequence<int, lanes>{});
  }
};
// The microkernels of pairs; copies and transpositions move terms of either kind.
struct avx512_bf16 : avx512<f32> {
  template <int r, int v>
  [[gnu::target("avx512f,fma")]] static void multiply(const block<f32>& x) {
    multiply_block<pair_product, lanes, r, v>(x);
  }
};
/// One or two tiles of rows times one or two of columns of C, in up to four registers; two more have the
/// terms of A and two those of B.
template <class Tiles, bool lower, bool right>
void multiply_tiles(const f32* const (&a)[2], const i64 (&a_row)[2], const f32* b, i64 b_row,
                    f32* const (&c)[2], const i64 (&c_row)[2], i64 k, bool sets) {
  constexpr int side = Tiles::columns;
  if (sets) Tiles::template zero<0>();
  else Tiles::template load<0>(c[0], c_row[0]);
  if constexpr (right) sets ? Tiles::template zero<1>() : Tiles::template load<1>(c[0] + side, c_row[0]);
  if constexpr (lower) sets ? Tiles::template zero<2>() : Tiles::template load<2>(c[1], c_row[1]);
  if constexpr (lower && right)
    sets ? Tiles::template zero<3>() : Tiles::template load<3>(c[1] + side, c_row[1]);
  const auto step = [](const f32* of_a, i64 row_of_a, const f32* below, i64 row_below, const f32* of_b,
                       i64 row_of_b) __attribute__((always_inline)) {
    Tiles::template load<4>(of_a, row_of_a);
    if constexpr (lower) Tiles::template load<5>(below, row_below);
    Tiles::template load<6>(of_b, row_of_b);
    if constexpr (right) Tiles::template load<7>(of_b + side, row_of_b);
    Tiles::template multiply<0, 4, 6>();
    if constexpr (right) Tiles::template multiply<1, 4, 7>();
    if constexpr (lower) Tiles::template multiply<2, 5, 6>();
    if constexpr (lower && right) Tiles::template multiply<3, 5, 7>();
  };
  i64 p = 0;
  for (; p + side <= k; p += side) step(a[0] + p, a_row[0], a[1] + p, a_row[1], b + p * b_row, b_row);
  if (p < k) {  // terms beyond k are zeros
    alignas(64) f32 of_a[2][std::size_t{side * side}] = {}, of_b[std::size_t{2 * side * side}] = {};
    const i64 left = k - p;
    for (int t = 0; t <= int{lower}; ++t)
      for (i64 i = 0; i < side; ++i)
        std::memcpy(of_a[t] + i * side, a[t] + i * a_row[t] + p,
                    static_cast<std::size_t>(left) * sizeof(f32));
    for (i64 i = 0; i < left; ++i)
      std::memcpy(of_b + i * 2 * side, b + (p + i) * b_row, (right ? 2 : 1) * side * sizeof(f32));
    step(of_a[0], side, of_a[1], side, of_b, 2 * side);
  }
  Tiles::template store<0>(c[0], c_row[0]);
  if constexpr (right) Tiles::template store<1>(c[0] + side, c_row[0]);
  if constexpr (lower) Tiles::template store<2>(c[1], c_row[1]);
  if constexpr (lower && right) Tiles::template store<3>(c[1] + side, c_row[1]);
}

/// A block of C in tile registers. Rows that fill no tile are copied to where they do.
template <class Tiles, int rows, int vectors>
void multiply_block_of_tiles(const block<f32>& x) {
  constexpr int side = Tiles::rows, above = rows < side ? rows : side, below = rows - above,
                rest = below ? below : above, deepest = 128;  // dense::depth_of
  constexpr bool is_whole = rest == side;
  alignas(64) f32 of_a[std::size_t{is_whole ? 1 : side * deepest}],
      of_c[std::size_t{is_whole ? 1 : side * vectors * side}];
  const f32* a[2] = {x.a, below ? x.a + side * x.a_row : x.a};
  f32* c[2] = {x.c, below ? x.c + side * x.c_row : x.c};
  i64 a_row[2] = {x.a_row, x.a_row}, c_row[2] = {x.c_row, x.c_row};
  constexpr int last = below ? 1 : 0;
  if constexpr (!is_whole) {
    for (int i = 0; i < side; ++i) {
      const std::size_t n = static_cast<std::size_t>(x.k) * sizeof(f32);
      if (i < rest) std::memcpy(of_a + i * x.k, a[last] + i * x.a_row, n);
      else std::memset(of_a + i * x.k, 0, n);
      if (i < rest && !x.sets)
        std::memcpy(of_c + i * vectors * side, c[last] + i * x.c_row, vectors * side * sizeof(f32));
      else std::memset(of_c + i * vectors * side, 0, vectors * side * sizeof(f32));
    }
    a[last] = of_a, a_row[last] = x.k, c[last] = of_c, c_row[last] = vectors * side;
  }
  for (int v = 0; v < vectors; v += 2) {
    multiply_tiles<Tiles, (below > 0), (vectors > 1)>(a, a_row, x.b + v * side, x.b_row, c, c_row, x.k,
                                                      x.sets);
    c[0] += 2 * side, c[1] += 2 * side;
  }
  if constexpr (!is_whole)
    for (int i = 0; i < rest; ++i)
      std::memcpy(x.c + (last * side + i) * x.c_row, of_c + i * vectors * side, vectors * side * sizeof(f32));
}

template <class Tiles>
struct tiles_of_bf16 : avx512<f32> {
  static constexpr int rows[max_vectors] = {32, 32, 0, 32};
  template <int r, int v>
  static void multiply(const block<f32>& x) {
    multiply_block_of_tiles<Tiles, r, v>(x);
  }
};
#endif

template <class Set, int vectors>
constexpr void enter(microkernels<typename Set::number>& u) {
  if constexpr (Set::rows[vectors - 1] > 0) {
    u.copy[vectors - 1] = &Set::template copy<vectors>;
    [&]<int... r>(std::integer_sequence<int, r...>) {
      ((u.multiply[r][vectors - 1] = &Set::template multiply<r + 1, vectors>), ...);
    }(std::make_integer_sequence<int, Set::rows[vectors - 1]>{});
  }
}

}  // namespace detail

template <class Set>
inline constexpr microkernels<typename Set::number> microkernels_of = [] {
  microkernels<typename Set::number> u{Set::lanes, {}, {}, {}, &Set::transpose};
  for (int v = 0; v < max_vectors; ++v) u.rows[v] = Set::rows[v];
  [&]<int... v>(std::integer_sequence<int, v...>) {
    (detail::enter<Set, v + 1>(u), ...);
  }(std::make_integer_sequence<int, max_vectors>{});
  return u;
}();

#ifdef __x86_64__
/// f32 as in AVX-512, and pairs of bf16.
inline constexpr microkernels<f32> microkernels_with_bf16 = [] {
  microkernels<f32> u = microkernels_of<detail::avx512<f32>>;
  u.of_pairs = &microkernels_of<detail::avx512_bf16>;
  return u;
}();
/// The same with tile registers, which are those of AMX but in a test.
template <class Tiles>
inline constexpr microkernels<f32> pairs_in_tiles = [] {
  microkernels<f32> u = microkernels_of<detail::tiles_of_bf16<Tiles>>;
  u.whole_rows = Tiles::rows, u.prepare = &Tiles::configure;
  return u;
}();
template <class Tiles = detail::tile_registers>
inline constexpr microkernels<f32> microkernels_with_tiles = [] {
  microkernels<f32> u = microkernels_of<detail::avx512<f32>>;
  u.of_pairs = &pairs_in_tiles<Tiles>;
  return u;
}();
#endif

}  // namespace wsl::dense
