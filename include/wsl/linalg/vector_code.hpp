// SPDX-License-Identifier: MIT
// Vector code in a header. An inner loop is compiled three times, for vectors of 4, 8 and 16 numbers, and
// runs with the widest that this processor has, so that the users of a header need no compiler options. A
// loop is a struct with one function, `template <int lanes> static void run(Arguments...)`, marked
// always_inline; matrix_vector.hpp and kernel/wave25/loops.hpp hold some. `scripts/bench gemm` and
// `scripts/bench kernels` measure what they gain.
#pragma once
#include <utility>

#include "../core/scalar.hpp"

namespace wsl {

/// A vector of `lanes` numbers. Loads and stores through a reference need no alignment. Functions also take
/// them by reference: how vectors are passed by value depends on the instruction set.
template <int lanes, class T = f32>
struct vector_of {
  typedef T type __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <int lanes, class T = f32>
using vec = typename vector_of<lanes, T>::type;

template <int lanes, class T>
[[gnu::always_inline]] inline vec<lanes, T>& vec_at(T* p) {
  return *reinterpret_cast<vec<lanes, T>*>(p);
}
template <int lanes, class T>
[[gnu::always_inline]] inline const vec<lanes, T>& vec_at(const T* p) {
  return *reinterpret_cast<const vec<lanes, T>*>(p);
}

namespace detail {

/// Calls f for 0 to n - 1, each as a constant: what a loop over registers must be, because `-O2` does not
/// unroll loops.
template <int n, class F>
[[gnu::always_inline]] inline void each_of(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, n>{});
}

}  // namespace detail

/// out = the elements n, n + 1, ... of low and high side by side.
template <int n, int lanes>
[[gnu::always_inline]] inline void slide(vec<lanes>& out, const vec<lanes>& low, const vec<lanes>& high) {
#if defined(__x86_64__) && !defined(__clang__)
  if constexpr (lanes == 16) {
    // GCC would emit a permutation that holds a register with indices for every n, and a loop that slides a
    // lot runs out of registers.
    asm("valignd %3, %1, %2, %0" : "=v"(out) : "v"(low), "v"(high), "i"(n));
    return;
  }
#endif
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    out = __builtin_shufflevector(low, high, (i + n)...);
  }(std::make_integer_sequence<int, lanes>{});
}

/// Lines that loops work on have a multiple of this many numbers.
inline constexpr int widest_lanes = 16;
constexpr int whole_vectors(int n) { return (n + widest_lanes - 1) / widest_lanes * widest_lanes; }
/// Zeros before a line of cells.
inline constexpr int line_front = widest_lanes;
/// From one line of n cells to the next: an odd number of cache lines, so that neighbouring lines do not
/// compete for the same sets.
constexpr int line_stride(int n) {
  return line_front + whole_vectors(n) + (whole_vectors(n) / widest_lanes % 2 ? widest_lanes : 0);
}

/// The f32 numbers that one instruction of this processor works on: 4, 8 or 16.
inline int processor_lanes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return 16;
  // and has F16C, which is older
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
  return 4;
}

/// Whether the processor multiplies and rounds bf16 by AVX512-BF16, beside vectors of 16 f32.
inline bool processor_has_bf16() {
#if defined(__x86_64__)
  return processor_lanes() == 16 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

// GCC takes vectors for a loop with `-O3`; with `-O2` only where it need not look at how often the loop runs.
#if defined(__GNUC__) && !defined(__clang__)
#define WSL_VECTORIZED gnu::optimize("O3")
#else
#define WSL_VECTORIZED
#endif

template <class Loop, class... Arguments>
class vector_code {
 public:
  using function = void (*)(Arguments...);

  /// The version for this processor.
  static function best() { return with(processor_lanes()); }
  /// The version for 4, 8 or 16 numbers; at most as many as the processor has lanes.
  static function with([[maybe_unused]] int lanes) {
#if defined(__x86_64__)
    if (lanes == 16) return &with_16;
    if (lanes == 8) return &with_8;
#endif
    return &with_4;
  }

 private:
  [[WSL_VECTORIZED]] static void with_4(Arguments... a) { Loop::template run<4>(a...); }
#if defined(__x86_64__)
  [[WSL_VECTORIZED, gnu::target("avx2,fma")]] static void with_8(Arguments... a) {
    Loop::template run<8>(a...);
  }
  [[WSL_VECTORIZED, gnu::target("avx512f,avx512dq,avx512vl,avx2,fma")]] static void with_16(Arguments... a) {
    Loop::template run<16>(a...);
  }
#endif
};

}  // namespace wsl
