// SPDX-License-Identifier: MIT
// The 16-bit floating-point numbers of a processing element: CSL's `f16` (IEEE 754 binary16, 11 significant
// bits up to 65504), `bf16` (bfloat16, 8 significant bits in the range of f32) and `cb16` (Cerebras'
// cbfloat16 with 6 exponent and 9 mantissa bits: 10 significant bits up to about 2^32). A number is its bit
// pattern, so that it fills half a wavelet and may be a template value parameter:
//
//   constexpr f16 third{1.0 / 3};           // rounded once, from the double
//   f16 sum = 0;  sum += third * 2;         // halves all along
//   float wide = sum * 1.5f;                // a wider operand widens the result
//
// Conversions are those of C++23's std::float16_t, so that a half reads like any other number:
//  - to float: implicit, as nothing is lost. Comparisons need no code of their own: they are those of float,
//    exact, NaN unordered; `x == 2049` compares with 2049 and not with the half next to it.
//  - from float and double: explicit, as digits may be lost, and so that `x * 1.5f` has one meaning, a float.
//  - from integers: implicit, as int converts to float; `x = 0` and `x * 2` need neither suffix nor cast. The
//    operators take their operands' own types, so that `x * 2` is not torn between two conversions.
// Two different formats give float, which holds both.
//
// All three follow IEEE 754: an exponent of zeros is a zero or a subnormal number, one of ones an infinity or
// a NaN. For cb16 that is a choice: its documentation
// (docs.cerebras.net/en/1.6.1/general/cs-1-data-formats.html) gives the widths of the fields and says that
// denormals are rarer than in f16, but not the bias, infinities or NaN. The bias is taken to be 31, which
// agrees with the Model Zoo: its largest loss scale is 2^31 for cbfloat16 and 2^15 for float16, in both the
// largest power of two if the last exponent is kept for infinity.
//
// Arithmetic is done in float, then rounded once more, to nearest, ties to even. The result is the correctly
// rounded one: float's 24 significant bits are at least 2 * 11 + 2, enough that a sum, difference, product or
// quotient of halves never rounds onto the middle between two halves without being that middle (Figueroa,
// "When is double rounding innocuous?"). Constant expressions may use halves like floats; a division by zero
// is not a constant expression.
#pragma once
#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace wsl {
namespace detail {

// A float or double seen as a word of bits, and the landmarks of a 16-bit format in it. Every format is sign,
// exponent, mantissa: magnitudes order like integers, and a carry out of the mantissa is the step to the next
// exponent or to infinity.
template <int exponent_bits, int mantissa_bits, class Wide>
struct seen_as {
  using limits = std::numeric_limits<Wide>;
  using word = std::conditional_t<sizeof(Wide) == 4, std::uint32_t, std::uint64_t>;
  static_assert(limits::is_iec559 && sizeof(Wide) == sizeof(word));

  static constexpr int fraction_bits = limits::digits - 1;
  static constexpr int dropped = fraction_bits - mantissa_bits;
  static constexpr word exponent_step = word{1} << fraction_bits;
  static constexpr word rebias = word(limits::max_exponent - (1 << (exponent_bits - 1))) * exponent_step;
  static constexpr word smallest_normal = rebias + exponent_step;
  static constexpr word infinity = word(2 * limits::max_exponent - 1) * exponent_step;

  // The power of two whose last place is the smallest subnormal of the format.
  static constexpr word aligner = smallest_normal + word(dropped) * exponent_step;

  static constexpr word half_infinity = ((word{1} << exponent_bits) - 1) << mantissa_bits;
  static constexpr word half_smallest_normal = word{1} << mantissa_bits;
  static constexpr word half_quiet = half_smallest_normal >> 1;
};

// A choice that stays free of branches: a branch would keep a loop of conversions from becoming vector code.
template <class Word>
constexpr Word select(bool which, Word yes, Word no) {
  return no ^ ((yes ^ no) & (Word{0} - Word{which}));
}

// To nearest, ties to even; a NaN becomes quiet and keeps its sign and the leading bits of its payload.
template <int exponent_bits, int mantissa_bits, class Wide>
constexpr std::uint16_t narrow(Wide x) {
  using in = seen_as<exponent_bits, mantissa_bits, Wide>;
  using word = typename in::word;
  const word bits = std::bit_cast<word>(x), magnitude = bits & (word(-1) >> 1);
  const word sign = (bits ^ magnitude) >> (8 * sizeof(Wide) - 16), kept = magnitude >> in::dropped;

  const word almost_half = (word{1} << (in::dropped - 1)) - 1;
  const word normal = (magnitude - in::rebias + almost_half + (kept & 1)) >> in::dropped;

  // Subnormals drop different numbers of bits; an addition that lines them up has the adder round them all.
  const word number = magnitude < in::infinity ? magnitude : in::infinity;
  const Wide aligned = std::bit_cast<Wide>(number) + std::bit_cast<Wide>(in::aligner);
  const word subnormal = std::bit_cast<word>(aligned) - in::aligner;

  const bool too_small = in::rebias != 0 && magnitude < in::smallest_normal;
  const word rounded = select(too_small, subnormal, normal);
  const word finite = rounded < in::half_infinity ? rounded : in::half_infinity;
  const word nan = in::half_infinity | in::half_quiet | (kept & (in::half_quiet - 1));
  return std::uint16_t(sign | select(magnitude > in::infinity, nan, finite));
}

template <int exponent_bits, int mantissa_bits>
constexpr float widen(std::uint16_t bits) {
  using out = seen_as<exponent_bits, mantissa_bits, float>;
  using word = typename out::word;
  if constexpr (out::rebias == 0) return std::bit_cast<float>(word{bits} << out::dropped);

  const word magnitude = bits & 0x7fffu, sign = word{bits} >> 15 << 31;
  const word normal = (magnitude << out::dropped) + out::rebias;

  // A subnormal is given the leading one it lacks; subtracting that one again normalises the rest.
  const float led = std::bit_cast<float>(normal + out::exponent_step);
  const word subnormal = std::bit_cast<word>(led - std::bit_cast<float>(out::smallest_normal));

  const word quiet = select<word>(magnitude > out::half_infinity, out::exponent_step >> 1, 0);
  const word finite = select(magnitude < out::half_smallest_normal, subnormal, normal);
  return std::bit_cast<float>(sign |
                              select(magnitude < out::half_infinity, finite, (normal + out::rebias) | quiet));
}

// Up to 2^53 an integer is a double. Beyond, its last bits, far below the rounding, become one: "no tie".
constexpr double without_ties(std::uint64_t n) {
  return n >> 53 == 0 ? double(n) : 2048 * double(n >> 11 | std::uint64_t{(n & 2047) != 0});
}

template <std::integral Integer>
constexpr double without_ties(Integer n) {
  if constexpr (std::numeric_limits<Integer>::digits <= 53) return double(n);
  else if (n < 0) return -without_ties(0 - std::uint64_t(n));
  else return without_ties(std::uint64_t(n));
}

#ifdef __F16C__
// The two instructions by their builtin names: <immintrin.h> would cost every reader of this header .3 s.
using eight_halves [[gnu::vector_size(16)]] = short;
using four_floats [[gnu::vector_size(16)]] = float;

inline std::uint16_t narrow_f16c(float x) {
  constexpr int to_nearest_even = 0;
  return std::uint16_t(eight_halves(__builtin_ia32_vcvtps2ph(four_floats{x, 0, 0, 0}, to_nearest_even))[0]);
}

inline float widen_f16c(std::uint16_t bits) {
  return four_floats(__builtin_ia32_vcvtph2ps(eight_halves{short(bits), 0, 0, 0, 0, 0, 0, 0}))[0];
}
#endif

}  // namespace detail

template <int exponent_bits, int mantissa_bits>
struct basic_half {
  static_assert(1 + exponent_bits + mantissa_bits == 16);

  std::uint16_t bits = 0;

  constexpr basic_half() = default;
  constexpr explicit basic_half(float x) : bits{round(x)} {}
  constexpr explicit basic_half(double x) : bits{detail::narrow<exponent_bits, mantissa_bits>(x)} {}

  template <std::integral Integer>
    requires(sizeof(Integer) <= 8)
  constexpr basic_half(Integer n) : basic_half{detail::without_ties(n)} {}

  static constexpr basic_half from_bits(std::uint16_t bits) {
    basic_half x;
    x.bits = bits;
    return x;
  }

  constexpr operator float() const {
#ifdef __F16C__
    if (exponent_bits == 5 && !std::is_constant_evaluated()) return detail::widen_f16c(bits);
#endif
    return detail::widen<exponent_bits, mantissa_bits>(bits);
  }

  constexpr basic_half& operator+=(basic_half b) { return *this = *this + b; }
  constexpr basic_half& operator-=(basic_half b) { return *this = *this - b; }
  constexpr basic_half& operator*=(basic_half b) { return *this = *this * b; }
  constexpr basic_half& operator/=(basic_half b) { return *this = *this / b; }

  // The sign alone changes, that of a zero and of a NaN as well.
  friend constexpr basic_half operator+(basic_half x) { return x; }
  friend constexpr basic_half operator-(basic_half x) { return from_bits(x.bits ^ 0x8000); }
  friend constexpr basic_half abs(basic_half x) { return from_bits(x.bits & 0x7fff); }

 private:
  static constexpr std::uint16_t round(float x) {
#ifdef __F16C__
    if (exponent_bits == 5 && !std::is_constant_evaluated()) return detail::narrow_f16c(x);
#endif
    return detail::narrow<exponent_bits, mantissa_bits>(x);
  }
};

using f16 = basic_half<5, 10>;
using bf16 = basic_half<8, 7>;
using cb16 = basic_half<6, 9>;

namespace detail {

template <class T>
inline constexpr bool is_half = false;
template <int exponent_bits, int mantissa_bits>
inline constexpr bool is_half<basic_half<exponent_bits, mantissa_bits>> = true;

// Two halves of one format, or one half and an integer, calculate in the format of the half.
template <class B, class A>
concept operand_beside =
    (is_half<A> && (std::same_as<A, B> || std::integral<B>)) || (is_half<B> && std::integral<A>);

template <class A, class B>
using half_of = std::conditional_t<is_half<A>, A, B>;

}  // namespace detail

template <class A, detail::operand_beside<A> B, class Half = detail::half_of<A, B>>
constexpr Half operator+(A a, B b) {
  return Half(float(Half(a)) + float(Half(b)));
}

template <class A, detail::operand_beside<A> B, class Half = detail::half_of<A, B>>
constexpr Half operator-(A a, B b) {
  return Half(float(Half(a)) - float(Half(b)));
}

template <class A, detail::operand_beside<A> B, class Half = detail::half_of<A, B>>
constexpr Half operator*(A a, B b) {
  return Half(float(Half(a)) * float(Half(b)));
}

template <class A, detail::operand_beside<A> B, class Half = detail::half_of<A, B>>
constexpr Half operator/(A a, B b) {
  return Half(float(Half(a)) / float(Half(b)));
}

}  // namespace wsl

// Members that are not redefined here are those of float: radix, infinities, NaNs, rounding style.
template <int exponent_bits, int mantissa_bits>
struct std::numeric_limits<wsl::basic_half<exponent_bits, mantissa_bits>> : std::numeric_limits<float> {
 private:
  using half = wsl::basic_half<exponent_bits, mantissa_bits>;
  static constexpr int infinity_bits = ((1 << exponent_bits) - 1) << mantissa_bits;
  static constexpr half pattern(int bits) { return half::from_bits(std::uint16_t(bits)); }
  static constexpr int decimals(int binary) { return binary * 30103 / 100000; }  // log10(2) = .30103

 public:
  static constexpr int digits = mantissa_bits + 1, digits10 = decimals(mantissa_bits),
                       max_digits10 = 2 + decimals(digits);
  static constexpr int max_exponent = 1 << (exponent_bits - 1), max_exponent10 = decimals(max_exponent);
  static constexpr int min_exponent = 3 - max_exponent, min_exponent10 = decimals(min_exponent - 1);

  static constexpr half min() noexcept { return pattern(1 << mantissa_bits); }
  static constexpr half max() noexcept { return pattern(infinity_bits - 1); }
  static constexpr half lowest() noexcept { return -max(); }
  static constexpr half denorm_min() noexcept { return pattern(1); }
  static constexpr half epsilon() noexcept {
    return pattern((max_exponent - 1 - mantissa_bits) << mantissa_bits);
  }
  static constexpr half round_error() noexcept { return half(.5f); }
  static constexpr half infinity() noexcept { return pattern(infinity_bits); }
  static constexpr half quiet_NaN() noexcept { return pattern(infinity_bits | 1 << (mantissa_bits - 1)); }
  static constexpr half signaling_NaN() noexcept { return pattern(infinity_bits | 1); }
};
