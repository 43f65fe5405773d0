// SPDX-License-Identifier: MIT
// Arrays of f32 and of the 16-bit formats, converted with the processor's vectors:
//   convert(weights_bf16, weights_f32, n);
// Every result has the bits of the scalar conversion in core/half.hpp, on every processor. Where there is an
// instruction it is used (F16C; AVX512-BF16 for rounding to bf16); otherwise the loops are the scalar integer
// code, which has no branches so that compilers turn it into vector code.
#pragma once
#include <type_traits>

#include "../core/half.hpp"
#include "vector_code.hpp"

namespace wsl {
namespace dense {

#if defined(__x86_64__)
namespace detail {

// Instructions on a vector, for the widths that have them. They are functions of their own, not
// always_inline, because Clang checks the operands of an asm against the instruction set of the function
// around it; the optimizer inlines them into loops of that set.
template <int lanes>
struct f16_unit;

template <>
struct f16_unit<8> {
  [[gnu::target("avx2")]] static inline void widen(f32* to, const f16* from) {
    vec<8> x;
    asm("vcvtph2ps %1, %0" : "=v"(x) : "m"(*reinterpret_cast<const f16(*)[8]>(from)));
    vec_at<8>(to) = x;
  }
  [[gnu::target("avx2")]] static inline void narrow(f16* to, const f32* from) {
    const vec<8> x = vec_at<8>(from);
    asm("vcvtps2ph $0, %1, %0" : "=m"(*reinterpret_cast<f16(*)[8]>(to)) : "v"(x));
  }
};
template <>
struct f16_unit<16> {
  [[gnu::target("avx512f")]] static inline void widen(f32* to, const f16* from) {
    vec<16> x;
    asm("vcvtph2ps %1, %0" : "=v"(x) : "m"(*reinterpret_cast<const f16(*)[16]>(from)));
    vec_at<16>(to) = x;
  }
  [[gnu::target("avx512f")]] static inline void narrow(f16* to, const f32* from) {
    const vec<16> x = vec_at<16>(from);
    asm("vcvtps2ph $0, %1, %0" : "=m"(*reinterpret_cast<f16(*)[16]>(to)) : "v"(x));
  }
};

struct bf16_unit {
  /// Rounds 16 numbers, unless one of them is subnormal: the instruction would make it zero.
  [[gnu::target("avx512f,avx512dq")]] static inline bool narrow(bf16* to, const f32* from) {
    const vec<16> x = vec_at<16>(from);
    u16 subnormal;
    asm("vfpclassps $0x20, %1, %0" : "=k"(subnormal) : "v"(x));
    if (subnormal) return false;
    typedef u16 half_vector __attribute__((vector_size(32), aligned(2), may_alias));
    half_vector rounded;
    asm("vcvtneps2bf16 %1, %0" : "=v"(rounded) : "v"(x));
    *reinterpret_cast<half_vector*>(to) = rounded;
    return true;
  }
};

}  // namespace detail
#endif

template <class To, class From>
struct conversion_loop {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(To* to, const From* from, i64 n) {
    i64 i = 0;
    for (; i + lanes <= n; i += lanes) vector<lanes>(to + i, from + i);
    for (; i < n; ++i) number(to[i], from[i]);
  }

  template <int lanes>
  [[gnu::always_inline]] static inline void vector(To* to, const From* from) {
#if defined(__x86_64__)
    if constexpr (lanes > 4 && std::is_same_v<From, f16>) return detail::f16_unit<lanes>::widen(to, from);
    if constexpr (lanes > 4 && std::is_same_v<To, f16>) return detail::f16_unit<lanes>::narrow(to, from);
#endif
    for (int l = 0; l < lanes; ++l) number(to[l], from[l]);
  }

 private:
  template <int exponent_bits, int mantissa_bits>
  [[gnu::always_inline]] static inline void number(basic_half<exponent_bits, mantissa_bits>& to, f32 from) {
    to.bits = wsl::detail::narrow<exponent_bits, mantissa_bits>(from);
  }
  template <int exponent_bits, int mantissa_bits>
  [[gnu::always_inline]] static inline void number(f32& to, basic_half<exponent_bits, mantissa_bits> from) {
    to = wsl::detail::widen<exponent_bits, mantissa_bits>(from.bits);
  }
};

/// Rounds to bf16 by AVX512-BF16.
struct bf16_instruction_loop {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(bf16* to, const f32* from, i64 n) {
    i64 i = 0;
#if defined(__x86_64__)
    for (; i + 16 <= n; i += 16)
      if (!detail::bf16_unit::narrow(to + i, from + i))
        conversion_loop<bf16, f32>::vector<16>(to + i, from + i);
#endif
    conversion_loop<bf16, f32>::run<16>(to + i, from + i, n - i);
  }
};

template <class To, class From>
using converter = void (*)(To*, const From*, i64);

/// The conversion for 4, 8 or 16 lanes, with or without AVX512-BF16 (which needs 16).
template <class To, class From>
converter<To, From> conversion_with(int lanes, [[maybe_unused]] bool bf16_instructions) {
  if constexpr (std::is_same_v<To, bf16>)
    if (bf16_instructions) return vector_code<bf16_instruction_loop, bf16*, const f32*, i64>::with(lanes);
  return vector_code<conversion_loop<To, From>, To*, const From*, i64>::with(lanes);
}

}  // namespace dense

/// to[i] = To(from[i]) for n numbers, with the bits of the scalar conversion. One of the types is f32, the
/// other f16, bf16 or cb16. Rounds to nearest, ties to even; the arrays do not overlap.
template <class To, class From>
void convert(To* to, const From* from, i64 n) {
  static const dense::converter<To, From> best =
      dense::conversion_with<To, From>(processor_lanes(), processor_has_bf16());
  best(to, from, n);
}

}  // namespace wsl
