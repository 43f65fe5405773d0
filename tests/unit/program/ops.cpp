// SPDX-License-Identifier: MIT
// Every operation over memory, on every element type, against a plain loop: random views, in place, with
// scalars, into a scalar.
#include <wsl/core/half.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace wsl;
using Catch::Contains;
using wsl::detail::to_bits;

namespace {

std::mt19937_64 any{99};
int between(int from, int to) { return std::uniform_int_distribution{from, to}(any); }

// Whole numbers over their whole range; the others such that no result is NaN, and often a zero of either
// sign.
template <class T>
T value() {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(any());
  else return static_cast<T>(static_cast<float>(between(-12, 12)) * (between(0, 1) ? .25f : -.3f));
}
template <class T>
std::vector<T> values(int n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = value<T>();
  return v;
}

// The expected result of an operation on an element: computed in 64 bits and truncated, or in float and
// rounded.
template <class T>
auto wide(T x) {
  if constexpr (std::is_integral_v<T>) return static_cast<u64>(x);
  else return static_cast<float>(x);
}
constexpr auto plus = [](auto a, auto b) { return static_cast<decltype(a)>(wide(a) + wide(b)); };
constexpr auto minus = [](auto a, auto b) { return static_cast<decltype(a)>(wide(a) - wide(b)); };
constexpr auto times = [](auto a, auto b) { return static_cast<decltype(a)>(wide(a) * wide(b)); };
constexpr auto larger = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto smaller = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto negative = [](auto a) {
  if constexpr (std::is_integral_v<decltype(a)>) return minus(decltype(a){}, a);
  else return static_cast<decltype(a)>(-wide(a));
};
constexpr auto magnitude = [](auto a) {
  if constexpr (std::is_integral_v<decltype(a)>) return a < 0 ? negative(a) : a;
  else return static_cast<decltype(a)>(std::fabs(wide(a)));
};

/// A view of n elements of an array of 64.
template <class T>
memory<T> view(std::vector<T>& array, int n) {
  const int stride = between(1, n > 20 ? 2 : 3);
  const auto v = mem(std::span{array}).every(stride);
  const auto part = v.part(between(0, v.length() - n), n);
  return between(0, 2) ? part : part.reversed();
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (to_bits(a[i]) != to_bits(b[i])) return false;
  return a.size() == b.size();
}

constexpr int size = 64;

/// op(dst, a) against f(a), and in place.
template <class T, class Op, class F>
void unary(Op op, F f) {
  for (int round = 0; round < 60; ++round) {
    const int n = between(0, 21);
    auto d = values<T>(size), a = values<T>(size), expected = d;
    const auto dst = view(d, n), src = between(0, 2) ? view(a, n) : dst;
    for (int i = 0; i < n; ++i) expected[static_cast<std::size_t>(&dst[i] - d.data())] = f(src[i]);
    op(dst, src);
    REQUIRE(same(d, expected));
  }
}

/// op(dst, a, b) against f(a, b): all kinds of sources.
template <class T, class Op, class F>
void binary(Op op, F f) {
  for (int round = 0; round < 100; ++round) {
    const int n = between(0, 21);
    auto d = values<T>(size), a = values<T>(size), b = values<T>(size), expected = d;
    const T s = value<T>();
    const auto dst = view(d, n), left = between(0, 2) ? view(a, n) : dst,
               right = between(0, 2) ? view(b, n) : dst;
    const int kind = between(0, 3);
    for (int i = 0; i < n; ++i)
      expected[static_cast<std::size_t>(&dst[i] - d.data())] =
          f(kind == 1 || kind == 3 ? s : left[i], kind == 2 || kind == 3 ? s : right[i]);
    if (kind == 0) op(dst, left, right);
    if (kind == 1) op(dst, s, right);
    if (kind == 2) op(dst, left, s);
    if (kind == 3) op(dst, s, s);
    REQUIRE(same(d, expected));
  }
}

/// Into a scalar: a fold if the first source is a scalar, the last element otherwise.
template <class T, class Op, class F>
void scalar(Op op, F f) {
  for (int round = 0; round < 30; ++round) {
    const int n = between(0, 21);
    auto a = values<T>(size), b = values<T>(size);
    const auto left = view(a, n), right = view(b, n);
    const T start = value<T>(), before = value<T>();
    T fold = before, last = before, expected = n ? start : before;
    for (int i = 0; i < n; ++i) expected = f(expected, right[i]);
    op(&fold, start, right);
    op(&last, left, right);
    REQUIRE(to_bits(fold) == to_bits(expected));
    REQUIRE(to_bits(last) == to_bits(n ? f(left[n - 1], right[n - 1]) : before));
    T itself = start;
    op(&itself, itself, right);  // the usual: sum += ...
    REQUIRE(to_bits(itself) == to_bits(n ? expected : start));
  }
}

template <class T>
void fmac_rounds() {
  for (int round = 0; round < 100; ++round) {
    const int n = between(0, 21);
    auto d = values<T>(size), a = values<T>(size), b = values<T>(size), expected = d;
    const T s = value<T>(), start = value<T>();
    const auto dst = view(d, n), left = between(0, 1) ? view(a, n) : dst,
               right = between(0, 2) ? view(b, n) : dst;
    T total = start, expected_total = start;
    for (int i = 0; i < n; ++i) {
      expected[static_cast<std::size_t>(&dst[i] - d.data())] = plus(left[i], times(right[i], s));
      expected_total = plus(expected_total, times(right[i], s));
    }
    fmac(&total, total, right, s);
    fmac(dst, left, right, s);
    REQUIRE(same(d, expected));
    REQUIRE(to_bits(total) == to_bits(expected_total));
  }
}

template <class T>
void every_operation() {
  unary<T>([](auto... x) { mov(x...); }, [](T a) { return a; });
  unary<T>([](auto... x) { neg(x...); }, negative);
  unary<T>([](auto... x) { wsl::abs(x...); }, magnitude);
  unary<T>([](auto... x) { map_each([](T a) { return plus(a, a); }, x...); }, [](T a) { return plus(a, a); });
  const auto each = [](auto op, auto f) { binary<T>(op, f), scalar<T>(op, f); };
  each([](auto... x) { add(x...); }, plus);
  each([](auto... x) { sub(x...); }, minus);
  each([](auto... x) { mul(x...); }, times);
  each([](auto... x) { wsl::fmax(x...); }, larger);
  each([](auto... x) { wsl::fmin(x...); }, smaller);
  each([](auto... x) { map_each(minus, x...); }, minus);
  fmac_rounds<T>();
}

}  // namespace

TEST_CASE("operations on f32") { every_operation<f32>(); }
TEST_CASE("operations on f16") { every_operation<f16>(); }
TEST_CASE("operations on bf16") { every_operation<bf16>(); }
TEST_CASE("operations on i16 wrap around") { every_operation<i16>(); }
TEST_CASE("operations on u16 wrap around") { every_operation<u16>(); }
TEST_CASE("operations on i32 wrap around") { every_operation<i32>(); }
TEST_CASE("operations on u32 wrap around") { every_operation<u32>(); }

namespace {

template <class To, class From>
void converts() {
  auto from = values<From>(size);
  std::vector<To> to(size);
  mov(mem(std::span{to}).reversed(), mem(std::span{from}));
  for (std::size_t i = 0; i < size; ++i)
    REQUIRE(to_bits(to[size - 1 - i]) == to_bits(static_cast<To>(from[i])));
}

}  // namespace

TEST_CASE("mov converts between element types") {
  converts<f32, f16>(), converts<f16, f32>(), converts<f32, bf16>(), converts<bf16, f32>(),
      converts<f16, bf16>();
  converts<f32, i16>(), converts<f32, i32>(), converts<f16, u16>(), converts<i32, i16>(),
      converts<u16, u32>();
  f32 third[1]{1.f / 3};
  f16 half[1]{};
  mov(mem(half), mem(third));
  CHECK(half[0].bits == 0x3555);
}

namespace {

/// Checks which whole numbers these become, by every way that converts.
template <class From, class To>
void saturates(const From (&from)[8], const To (&expected)[8]) {
  To moved[8]{}, alone[8]{}, called[8]{}, spread[15]{}, last = 1;
  mov(mem(moved), mem(from));
  for (int i = 0; i < 8; ++i) mov(mem(alone).part(i, 1), mem(from).part(i, 1));
  map_each([](From x) { return x; }, mem(called), mem(from));
  mov(mem(spread).every(2), mem(from));
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(moved[i] == expected[i]);
    CHECK(alone[i] == expected[i]);
    CHECK(called[i] == expected[i]);
    CHECK(spread[2 * i] == expected[i]);
    mov(&last, mem(from).part(static_cast<int>(i), 1));
    CHECK(last == expected[i]);
  }
}

}  // namespace

TEST_CASE("a floating-point number beyond the whole ones becomes the last of them, NaN becomes 0") {
  constexpr f32 infinite = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  const f32 x[8]{1e10f, -1e10f, nan, infinite, -infinite, -2.7f, 300.9f, 3e9f};
  saturates<f32, i32>(x, {2147483647, -2147483647 - 1, 0, 2147483647, -2147483647 - 1, -2, 300, 2147483647});
  saturates<f32, u32>(x, {4294967295, 0, 0, 4294967295, 0, 0, 300, 3000000000});
  saturates<f32, i16>(x, {32767, -32768, 0, 32767, -32768, -2, 300, 32767});
  saturates<f32, i8>(x, {127, -128, 0, 127, -128, -2, 127, 127});
  saturates<f32, u8>(x, {255, 0, 0, 255, 0, 0, 255, 255});
  const f64 wide[8]{1e300, -1e300, nan, 2147483647.9, -2147483648.9, 4294967295., -0.9, 65536.};
  saturates<f64, i32>(wide,
                      {2147483647, -2147483647 - 1, 0, 2147483647, -2147483647 - 1, 2147483647, 0, 65536});
  saturates<f64, u16>(wide, {65535, 0, 0, 65535, 0, 65535, 0, 65535});
  const f16 half[8]{f16{infinite}, f16{-infinite}, f16{nan},   f16{65504.f},
                    f16{-1.f},     f16{0.5f},      f16{-0.5f}, f16{127.5f}};
  saturates<f16, i16>(half, {32767, -32768, 0, 32767, -1, 0, 0, 127});
  saturates<f16, u16>(half, {65535, 0, 0, 65504, 0, 0, 0, 127});
}

TEST_CASE("sums of halves may be kept in a float") {
  f16 x[3]{f16{1.f}, f16{1.f / 1024}, f16{1.f / 2048}};
  f32 wide = 0;
  f16 narrow = 0;
  add(&wide, 0, mem(x));
  add(&narrow, 0, mem(x));
  CHECK(wide == 1 + 1.f / 1024 + 1.f / 2048);
  CHECK(static_cast<f32>(narrow) == 1 + 2.f / 1024);
}

TEST_CASE("a scalar is a number of the destination's type") {
  f16 x[2]{};
  i32 n[2]{3, 5};
  mov(mem(x), 1. / 3);
  CHECK(x[1] == f16{1. / 3});
  mul(mem(n), mem(n), 2L);
  CHECK(n[1] == 10);
}

TEST_CASE("the bits of a whole scalar fit the destination") {
  i8 small[2]{};
  u8 natural[2]{};
  mov(mem(small), 255);
  CHECK(small[0] == -1);
  mov(mem(natural), -128);
  CHECK(natural[1] == 128);
  CHECK_THROWS_WITH(mov(mem(small), 1000), "wsl: 1000 does not fit into a signed number of 8 bits");
  CHECK_THROWS_WITH(add(mem(natural), mem(natural), -129),
                    "wsl: -129 does not fit into an unsigned number of 8 bits");
  CHECK_THROWS_WITH(mov(mem(natural), 256L), Contains("256 does not fit"));
  CHECK(natural[1] == 128);
}

TEST_CASE("elements are done in order, also where destination and source overlap") {
  i32 x[6]{1, 2, 3, 4, 5, 6}, y[6]{1, 2, 3, 4, 5, 6}, z[5]{1, 1, 1, 1, 1};
  mov(mem(x).from(1), mem(x).part(0, 5));
  mov(mem(y).part(0, 5), mem(y).from(1));
  add(mem(z).from(1), mem(z).from(1), mem(z).part(0, 4));
  i32 up[4]{1, 2, 3, 4};
  mov(mem(up).from(1).reversed(), mem(up).part(0, 3).reversed());
  CHECK(std::vector(up, up + 4) == std::vector{1, 1, 2, 3});
  CHECK(std::vector(x, x + 6) == std::vector{1, 1, 1, 1, 1, 1});
  CHECK(std::vector(y, y + 6) == std::vector{2, 3, 4, 5, 6, 6});
  CHECK(std::vector(z, z + 5) == std::vector{1, 2, 3, 4, 5});
}

TEST_CASE("whole numbers wrap around") {
  u16 x[1]{0xffff};
  i32 y[1]{0x7fffffff}, z[1]{-0x7fffffff - 1};
  mul(mem(x), mem(x), mem(x));
  add(mem(y), mem(y), 1);
  neg(mem(z), mem(z));
  CHECK(x[0] == 1);
  CHECK(y[0] == -0x7fffffff - 1);
  CHECK(z[0] == y[0]);
}

TEST_CASE("the absolute value of zero has no sign") {
  f32 x[3]{-0.f, 0.f, -2.f};
  f16 y[2]{-f16{}, f16{-1.5f}};
  wsl::abs(mem(x), mem(x));
  wsl::abs(mem(y), mem(y));
  CHECK_FALSE(std::signbit(x[0]));
  CHECK(x[2] == 2);
  CHECK(y[0].bits == 0);
  CHECK(y[1] == 1.5f);
}

TEST_CASE("map_each takes any function of any number of sources") {
  f32 x[3]{1, 2, 3}, y[3]{4, 5, 6}, z[3]{};
  int calls = 0;
  map_each([&calls](f32 a, f32 b, f32 c, f32 d) { return ++calls, a * b + c * d; }, mem(z), mem(x), mem(y),
           2.f, mem(x).reversed());
  CHECK(std::vector(z, z + 3) == std::vector{10.f, 14.f, 20.f});
  CHECK(calls == 3);
}

TEST_CASE("operations can be done while compiling") {
  constexpr f32 dot = [] {
    f32 x[3]{1, 2, 3}, y[3]{}, total = 0;
    fmac(mem(y), mem(y), mem(x).reversed(), 2);
    mul(mem(y), mem(y), mem(x));
    add(&total, 0, mem(y));
    return total;
  }();
  static_assert(dot == 2 * (3 + 4 + 3));
}

TEST_CASE("operands that do not fit together are faults") {
  f32 x[4]{}, y[3]{}, s = 0;
  CHECK_THROWS_WITH(mov(mem(x), mem(y)), "wsl: the operands of mov differ in length: 4 and 3 elements");
  CHECK_THROWS_WITH(add(mem(x), mem(x), mem(y)),
                    "wsl: the operands of add differ in length: 4 and 3 elements");
  CHECK_THROWS_WITH(sub(mem(y), 1, mem(x)), Contains("the operands of sub differ in length: 3 and 4"));
  CHECK_THROWS_WITH(fmac(mem(y), mem(y), mem(x), 1), Contains("fmac"));
  CHECK_THROWS_WITH(add(&s, mem(x), mem(y)), Contains("4 and 3"));
  CHECK_THROWS_WITH(map_each([](f32 a) { return a; }, mem(x).part(0, 0), mem(y)),
                    Contains("map_each differ in length: 0 and 3"));
  CHECK(std::vector(x, x + 4) == std::vector<f32>(4));
}

TEST_CASE("an operation with a fabric operand says so too, before it is started") {
  constexpr color<f32> red{0};
  f32 x[4]{}, s = 0;
  CHECK_THROWS_WITH(static_cast<void>(mov(mem(x), fabin(red, 3))), Contains("mov differ in length: 4 and 3"));
  CHECK_THROWS_WITH(static_cast<void>(mov(fabout(red, 5), mem(x))),
                    Contains("mov differ in length: 5 and 4"));
  CHECK_THROWS_WITH(static_cast<void>(add(&s, 0, fabin(red, -1))), "wsl: an operand of add has -1 elements");
  CHECK_THROWS_WITH(static_cast<void>(add(&s, 0, fabin(red))),
                    "wsl: no operand of add says how many elements there are: give one a length, as in "
                    "fabin(red, n), or forever");
  CHECK_THROWS_WITH(static_cast<void>(mov(fabout(red), 3.f)), Contains("no operand of mov says"));
  CHECK(add(&s, 0, fabin(red, forever)).length() == forever);
  CHECK(mov(mem(x), fabin(red, forever)).length() == 4);
  CHECK(mov(fabout(red, forever), mem(x)).length() == 4);
}

TEST_CASE("a mov copies blocks of every length, and nothing beside them") {
  const std::vector<u32> from = values<u32>(2300);
  for (int n = 0; n < 2200; n += n < 80 || (n >= 500 && n < 520) || n >= 2040 ? 1 : 37)
    for (int shift : {0, 1, 3}) {
      std::vector<u32> to(from.size(), 7), expected = to;
      std::copy_n(from.begin() + 1, n, expected.begin() + shift);
      const auto at = static_cast<std::size_t>(shift), length = static_cast<std::size_t>(n);
      mov(mem(std::span{to}.subspan(at, length)), mem(std::span{from}.subspan(1, length)));
      if (to != expected) FAIL(n << " words to place " << shift);
    }
}
