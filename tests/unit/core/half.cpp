// SPDX-License-Identifier: MIT
// The oracles: a table of all values of a format, decoded from the definition of its bits, in which the
// nearest is looked up in long double; and the conversion instructions of the processor, where it has them.

#include <wsl/core/half.hpp>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

using wsl::bf16;
using wsl::cb16;
using wsl::f16;

namespace {

template <class Half>
constexpr int mantissa_bits = std::is_same_v<Half, f16>    ? 10
                              : std::is_same_v<Half, bf16> ? 7
                                                           : 9;
template <class Half>
constexpr int exponent_bits = 15 - mantissa_bits<Half>;
template <class Half>
constexpr int infinity_bits = 0x7fff >> mantissa_bits<Half> << mantissa_bits<Half>;

// The integer code of the header, whatever instructions it would choose here.
template <class Half, class Wide>
std::uint16_t narrow(Wide x) {
  return wsl::detail::narrow<exponent_bits<Half>, mantissa_bits<Half>>(x);
}

template <class Half>
float widen(int bits) {
  return wsl::detail::widen<exponent_bits<Half>, mantissa_bits<Half>>(std::uint16_t(bits));
}

// The value of a magnitude's bits; infinity has the value that would follow the largest finite one.
template <class Half>
long double meaning(int bits) {
  constexpr int m = mantissa_bits<Half>, bias = (1 << (exponent_bits<Half> - 1)) - 1;
  const int exponent = bits >> m, mantissa = bits & ((1 << m) - 1);
  if (exponent == 0) return std::ldexp(static_cast<long double>(mantissa), 1 - bias - m);
  return std::ldexp(static_cast<long double>(mantissa + (1 << m)), exponent - bias - m);
}

template <class Half>
const std::vector<long double>& meanings() {
  static const std::vector<long double> all = [] {
    std::vector<long double> table;
    for (int bits = 0; bits <= infinity_bits<Half>; ++bits) table.push_back(meaning<Half>(bits));
    return table;
  }();
  return all;
}

// The nearest pattern of a number, ties to the even one.
template <class Half>
int nearest(long double x) {
  const auto& table = meanings<Half>();
  const int sign = std::signbit(x) ? 0x8000 : 0;
  x = std::fabs(x);
  if (x >= table.back()) return sign | infinity_bits<Half>;
  const int above = int(std::upper_bound(table.begin(), table.end(), x) - table.begin()), below = above - 1;
  const long double middle = (table[std::size_t(below)] + table[std::size_t(above)]) / 2;
  if (x == middle) return sign | (below % 2 == 0 ? below : above);
  return sign | (x < middle ? below : above);
}

template <class Half>
bool is_nan(Half x) {
  return (x.bits & 0x7fff) > infinity_bits<Half>;
}

// The sign and the kept bits of a NaN's payload, and the quiet bit.
template <class Half>
int quietened(std::uint32_t nan) {
  constexpr int m = mantissa_bits<Half>;
  const int payload = int(nan >> (23 - m)) & ((1 << m) - 1);
  return int(nan >> 16 & 0x8000) | infinity_bits<Half> | 1 << (m - 1) | payload;
}

template <class Half>
int expected(float x) {
  return std::isnan(x) ? quietened<Half>(std::bit_cast<std::uint32_t>(x)) : nearest<Half>(x);
}

// Every value of Half, every middle between two, and the floats next to all of these; then any floats.
template <class Half, class Check>
void for_telling_floats(Check check) {
  constexpr std::uint32_t half_a_place = 1u << (22 - mantissa_bits<Half>);
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = widen<Half>(bits);
    const bool subnormal = (bits & 0x7fff) >> mantissa_bits<Half> == 0;
    const auto here = std::bit_cast<std::uint32_t>(value);
    const auto middle =
        subnormal ? std::bit_cast<std::uint32_t>((value + widen<Half>(bits + 1)) / 2) : here + half_a_place;
    for (const std::uint32_t x : {here - 1, here, here + 1, middle - 1, middle, middle + 1})
      check(std::bit_cast<float>(x));
  }
  std::mt19937 random{16};
  for (int i = 0; i < 2'000'000; ++i) check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

// Counts disagreements instead of asserting each case: millions of assertions would take minutes.
struct tally {
  long cases = 0, wrong = 0;
  double example = 0;

  void operator()(bool right, double x) {
    ++cases;
    if (!right && wrong++ == 0) example = x;
  }
  void require() const {
    INFO(wrong << " of " << cases << " cases, the first at " << example);
    REQUIRE(wrong == 0);
  }
};

}  // namespace

// The properties of the types, and operations in constant expressions.
static_assert(sizeof(f16) == 2 && std::is_trivially_copyable_v<f16> && std::is_standard_layout_v<f16>);
static_assert(sizeof(cb16) == 2 && std::is_trivially_copyable_v<cb16> && std::is_standard_layout_v<cb16>);
static_assert(sizeof(bf16) == 2 && std::is_trivially_copyable_v<bf16> && std::is_standard_layout_v<bf16>);

static_assert(f16(1.f).bits == 0x3c00 && f16(-2.0).bits == 0xc000 && f16(65504).bits == 0x7bff &&
              f16(65520).bits == 0x7c00);
static_assert(bf16(1.f).bits == 0x3f80 && bf16(-2.0).bits == 0xc000 && bf16(3.389e38f).bits == 0x7f7f);
static_assert(cb16(1.f).bits == 0x3e00 && cb16(-2.0).bits == 0xc000 && cb16(0x1.ff8p31).bits == 0x7dff &&
              cb16(0x1.ffcp31).bits == 0x7e00 && cb16(0x1p-39).bits == 1 && cb16(0x1p-40).bits == 0);
static_assert(f16(0x1p-24).bits == 1 && f16(0x1p-25).bits == 0 && f16(0x1.8p-24f).bits == 2 &&
              f16(-0.f).bits == 0x8000);
static_assert(f16(1e300).bits == 0x7c00 && bf16(-1e300).bits == 0xff80 && f16(5e-324).bits == 0);
static_assert(f16(std::numeric_limits<float>::infinity()).bits == 0x7c00);
static_assert(f16(std::numeric_limits<double>::quiet_NaN()).bits == 0x7e00);
static_assert(float(f16::from_bits(0x03ff)) == 0x1.ff8p-15f && float(bf16::from_bits(1)) == 0x1p-133f);

static_assert(f16(1.5) + f16(2.25) == 3.75f && f16(7) / 2 == 3.5f && 2 - bf16(3) == -1 && -f16(0) == 0 &&
              abs(bf16(-3)) == 3);
static_assert([] {
  f16 x = 0;
  x += 3;
  x *= x;
  x -= f16(1.f);
  x /= 2;
  return x;
}() == 4);
static_assert(f16(1) < f16(2) && f16(1) != 2 && (f16(1) <=> f16(1)) == 0 && f16(2048) != 2049 &&
              bf16(1) == f16(1));
static_assert((f16::from_bits(0x7e00) <=> f16(0)) == std::partial_ordering::unordered);

// A wider operand widens; an integer does not.
static_assert(std::is_same_v<decltype(f16() * 2), f16> && std::is_same_v<decltype(2u - bf16()), bf16>);
static_assert(std::is_same_v<decltype(f16() * 2.f), float> && std::is_same_v<decltype(2.0 / f16()), double>);
static_assert(std::is_same_v<decltype(f16() + bf16()), float> && std::is_same_v<decltype(-f16()), f16>);
static_assert(std::is_convertible_v<f16, float> && std::is_convertible_v<int, f16>);
static_assert(!std::is_convertible_v<float, f16> && !std::is_convertible_v<f16, bf16>);
static_assert(!std::is_convertible_v<double, bf16> && std::is_constructible_v<bf16, f16>);

template <f16 scale>
constexpr float scaled(float x) {
  return scale * x;
}
static_assert(scaled<f16(0.5)>(3) == 1.5f);

TEMPLATE_TEST_CASE("a half goes to float, by definition, and comes back", "[half]", f16, bf16, cb16) {
  tally same, back;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const TestType x = TestType::from_bits(std::uint16_t(bits));
    const long double value = meaning<TestType>(bits & 0x7fff) * (bits < 0x8000 ? 1 : -1);
    const int returned = is_nan(x) ? bits | 1 << (mantissa_bits<TestType> - 1) : bits;
    if (is_nan(x)) same(std::isnan(float(x)) && std::isnan(widen<TestType>(bits)), bits);
    else if (abs(x).bits == infinity_bits<TestType>)
      same(std::isinf(float(x)) && (float(x) < 0) == (bits > 0x8000), bits);
    else same(value == float(x) && std::signbit(float(x)) == (bits > 0x7fff), bits);
    back(TestType(float(x)).bits == returned && TestType(double(float(x))).bits == returned, bits);
    back(narrow<TestType>(widen<TestType>(bits)) == returned, bits);
  }
  same.require();
  back.require();
}

TEMPLATE_TEST_CASE("a float becomes the nearest half", "[half]", f16, bf16, cb16) {
  tally agree;
  for_telling_floats<TestType>([&](float x) {
    const int bits = expected<TestType>(x);
    agree(TestType(x).bits == bits && narrow<TestType>(x) == bits, double(x));
  });
  agree.require();
}

// The rounding as textbooks write it for bfloat16: add just under half a place, plus the last bit kept; cut.
TEST_CASE("bf16 is the upper half of a float, rounded", "[half]") {
  tally agree;
  for_telling_floats<bf16>([&](float x) {
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(x);
    if (!std::isnan(x)) agree(bf16(x).bits == (bits + 0x7fff + (bits >> 16 & 1)) >> 16, double(x));
  });
  agree.require();
}

// Division with remainder: the significand in units of the last place of the result.
template <class Half>
int nearest_by_division(float x) {
  constexpr int m = mantissa_bits<Half>, smallest = 2 - (1 << (exponent_bits<Half> - 1));
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int field = int(bits >> 23 & 255), exponent = std::max(field, 1) - 127;
  const std::uint64_t significand = (bits & 0x7fffff) | (field ? 0x800000u : 0u);
  const int last_place = std::max(exponent, smallest) - m,
            dropped = std::min(last_place - (exponent - 23), 32);
  const std::uint64_t unit = std::uint64_t{1} << dropped, rest = significand % unit;
  std::uint64_t kept = significand / unit;
  if (2 * rest > unit || (2 * rest == unit && kept % 2 == 1)) ++kept;
  const auto magnitude = int(kept) + (std::max(exponent - smallest, 0) << m);
  return int(bits >> 16 & 0x8000) | std::min(magnitude, infinity_bits<Half>);
}

TEMPLATE_TEST_CASE("rounding is that of a division of integers", "[half]", f16, bf16, cb16) {
  tally agree;
  for_telling_floats<TestType>([&](float x) {
    if (!std::isnan(x)) agree(narrow<TestType>(x) == nearest_by_division<TestType>(x), double(x));
  });
  agree.require();
}

TEMPLATE_TEST_CASE("a double is rounded once", "[half]", f16, bf16, cb16) {
  const double last_place = std::ldexp(1.0, -mantissa_bits<TestType>);
  const double above_tie =
      1 + last_place / 2 + 0x1p-40;  // by way of float it is the tie itself, which goes to 1
  CHECK(TestType(above_tie) == 1 + last_place);
  CHECK(TestType(static_cast<float>(above_tie)) == 1);

  tally agree;
  std::mt19937_64 random{64};
  for (int i = 0; i < 500'000; ++i) {
    const int bits = int(random() % std::uint64_t(infinity_bits<TestType>));
    const double middle = double((meaning<TestType>(bits) + meaning<TestType>(bits + 1)) / 2);
    for (const double x : {std::nextafter(middle, 0), -middle, std::nextafter(middle, 1e300)})
      agree(TestType(x).bits == nearest<TestType>(x), x);
    const double any = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    if (std::isnan(any)) continue;
    agree(TestType(any).bits == nearest<TestType>(any), any);
  }
  agree.require();
}

TEMPLATE_TEST_CASE("an integer is rounded once", "[half]", f16, bf16, cb16) {
  tally agree;
  for (int n = -70'000; n <= 70'000; ++n) agree(TestType(n).bits == nearest<TestType>(n), n);
  std::mt19937_64 random{8};
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t n = random() >> (random() % 64);
    agree(TestType(n).bits == nearest<TestType>(static_cast<long double>(n)), double(n));
    const auto negative = static_cast<std::int64_t>(n);
    agree(TestType(negative).bits == nearest<TestType>(static_cast<long double>(negative)), double(negative));
  }
  agree.require();
}

TEST_CASE("an integer that is no double is rounded once", "[half]") {
  const std::uint64_t tie = std::uint64_t{0x101}
                            << 55;  // of bf16; a double cannot tell the next integer from it
  CHECK(bf16(tie) == 0x1p63f);
  CHECK(bf16(tie + 1) == 0x1.02p63f);
  CHECK(bf16(std::numeric_limits<std::int64_t>::min()) == -0x1p63f);
  CHECK(bf16(std::numeric_limits<std::uint64_t>::max()) == 0x1p64f);
  CHECK(f16(true) == 1);
}

TEMPLATE_TEST_CASE("arithmetic is correctly rounded", "[half]", f16, bf16, cb16) {
  tally agree;
  std::mt19937 random{4};
  const auto check = [&](TestType result, long double exact) {
    agree(std::isnan(exact) ? is_nan(result) : result.bits == nearest<TestType>(exact), double(exact));
  };
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(random());
    const auto near =
        std::uint16_t((bits & 0x8fff) + (i % 2 ? 0 : bits >> 16 & 0x7000));  // like magnitudes, or any
    const TestType a = TestType::from_bits(std::uint16_t(bits >> 16)), b = TestType::from_bits(near);
    const long double x = static_cast<long double>(float(a)), y = static_cast<long double>(float(b));
    check(a + b, x + y);
    check(a - b, x - y);
    check(a * b, x * y);
    if (y != 0) check(a / b, x / y);
  }
  agree.require();
}

TEMPLATE_TEST_CASE("what is no number behaves as in float", "[half]", f16, bf16, cb16) {
  using limits = std::numeric_limits<TestType>;
  const TestType one = 1, zero = 0, nan = limits::quiet_NaN(), infinity = limits::infinity();
  CHECK_FALSE(nan == nan);
  CHECK_FALSE(nan < one);
  CHECK_FALSE(nan >= one);
  CHECK(nan != one);
  CHECK(zero == -zero);
  CHECK((-zero).bits == 0x8000);
  CHECK((-nan).bits == (nan.bits | 0x8000));
  CHECK(abs(-infinity) == infinity);
  CHECK(is_nan(infinity - infinity));
  CHECK(is_nan(nan * zero));
  CHECK(limits::max() + limits::max() == infinity);
  CHECK(limits::lowest() * 2 == -infinity);
}

TEST_CASE("numeric_limits of f16 are those of binary16", "[half]") {
  using limits = std::numeric_limits<f16>;
  STATIC_REQUIRE(
      (limits::is_specialized && limits::is_iec559 && limits::has_infinity && !limits::is_integer));
  STATIC_REQUIRE((limits::digits == 11 && limits::digits10 == 3 && limits::max_digits10 == 5));
  STATIC_REQUIRE((limits::min_exponent == -13 && limits::max_exponent == 16));
  STATIC_REQUIRE((limits::min_exponent10 == -4 && limits::max_exponent10 == 4));
  STATIC_REQUIRE((limits::min() == 0x1p-14f && limits::max() == 65504 && limits::lowest() == -65504));
  STATIC_REQUIRE(
      (limits::epsilon() == 0x1p-10f && limits::denorm_min() == 0x1p-24f && limits::round_error() == 0.5f));
  STATIC_REQUIRE((limits::infinity().bits == 0x7c00 && limits::quiet_NaN().bits == 0x7e00));
}

TEST_CASE("numeric_limits of bf16 are those of a float cut in half", "[half]") {
  using limits = std::numeric_limits<bf16>;
  STATIC_REQUIRE((limits::digits == 8 && limits::digits10 == 2 && limits::max_digits10 == 4));
  STATIC_REQUIRE((limits::min_exponent == -125 && limits::max_exponent == 128));
  STATIC_REQUIRE((limits::min_exponent10 == -37 && limits::max_exponent10 == 38));
  STATIC_REQUIRE(
      (limits::min() == 0x1p-126f && limits::max() == 0x1.fep127f && limits::epsilon() == 0x1p-7f));
  STATIC_REQUIRE((limits::infinity().bits == 0x7f80 && limits::quiet_NaN().bits == 0x7fc0));
}

TEST_CASE("numeric_limits of cb16 are those of 6 exponent and 9 mantissa bits", "[half]") {
  using limits = std::numeric_limits<cb16>;
  STATIC_REQUIRE((limits::digits == 10 && limits::digits10 == 2 && limits::max_digits10 == 5));
  STATIC_REQUIRE((limits::min_exponent == -29 && limits::max_exponent == 32));
  STATIC_REQUIRE((limits::min_exponent10 == -9 && limits::max_exponent10 == 9));
  STATIC_REQUIRE((limits::min() == 0x1p-30f && limits::max() == 0x1.ff8p31f && limits::epsilon() == 0x1p-9f));
  STATIC_REQUIRE((limits::denorm_min() == 0x1p-39f && limits::infinity().bits == 0x7e00));
}

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

[[gnu::target("f16c")]] std::uint16_t narrow_by_processor(float x) {
  return std::uint16_t(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT), 0));
}

[[gnu::target("f16c")]] float widen_by_processor(int bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}

}  // namespace

TEST_CASE("the integer code is the processor's conversion, bit for bit", "[half]") {
  if (!__builtin_cpu_supports("avx2")) {  // not every compiler can ask for F16C; it came before AVX2
    WARN("skipped: this processor has no F16C");
    return;
  }
  tally narrowed, widened;
  for_telling_floats<f16>([&](float x) { narrowed(narrow<f16>(x) == narrow_by_processor(x), double(x)); });
  for (int bits = 0; bits < 0x10000; ++bits)
    widened(std::bit_cast<int>(widen<f16>(bits)) == std::bit_cast<int>(widen_by_processor(bits)), bits);
  narrowed.require();
  widened.require();
}

#endif
