// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>
#include <wsl/core/half.hpp>
#include <wsl/host/symbol.hpp>
#include <wsl/program/convert.hpp>

#include "mentions.hpp"

using namespace wsl;
using wsl::detail::becomes, wsl::detail::convert, wsl::detail::symbol_like;

namespace {

struct left {
  std::array<f32, 4> x{};
  void go(pe&) {}
  using tasks = task_list<launch<&left::go>>;
};
struct right {
  f16 before = 0;
  f32 x[2][2] = {};
  std::array<std::array<i16, 3>, 2> nested[5] = {};
  void go(pe&) {}
  using tasks = task_list<launch<&right::go>>;
};

template <class S>
constexpr std::size_t length_of(const S& s) {
  return symbol{s}.length;
}

static_assert(length_of(&right::before) == 1);
static_assert(length_of(&right::x) == 4);
static_assert(length_of(&right::nested) == 30);
static_assert(std::is_same_v<decltype(symbol{&right::nested})::element, i16>);
static_assert(length_of(symbol{&left::x, &right::x}) == 4);
static_assert(symbol_like<f32 (left::*)[3]> && !symbol_like<int> && !symbol_like<decltype(&left::go)>);

static_assert(becomes<f64, f16> && becomes<f32, bf16> && becomes<f16, f64> && becomes<int, f32> &&
              becomes<int, u8>);
static_assert(!becomes<f32, int> && !becomes<f16, u16> && !becomes<bool*, f32>);

layout two() {
  layout l{wse2, 4, 1};
  l.place<left>(columns(0, 2)).place<right>(column(2));
  return l;
}

}  // namespace

TEST_CASE("a symbol finds the elements of whichever program runs on a PE", "[symbol]") {
  fabric f{two()};
  const symbol x{&left::x, &right::x};
  CHECK(x.at(f, {1, 0}) == f.program_at<left>({1, 0}).x.data());
  CHECK(x.at(f, {2, 0}) == &f.program_at<right>({2, 0}).x[0][0]);
  CHECK(symbol{&right::nested}.at(f, {2, 0}) == &f.program_at<right>({2, 0}).nested[0][0][0]);
}

TEST_CASE("a symbol says which PE has no such member", "[symbol]") {
  fabric f{two()};
  CHECK_THROWS_WITH(symbol{&left::x}.at(f, {2, 0}), mentions("PE(2, 0) runs", "right, not", "left"));
  CHECK_THROWS_WITH((symbol{&left::x, &right::x}.at(f, {3, 0})), mentions("PE(3, 0) has no program", " or "));
  CHECK_THROWS_AS(symbol{&left::x}.at(f, {-1, 0}), fault);
}

TEST_CASE("numbers become elements with one rounding", "[convert]") {
  // A tie of f16 that is not a tie in f64: through f32 it would round twice, the second time to even.
  const f64 just_above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  CHECK(convert<f16>(just_above).bits == f16::from_bits(0x3c01).bits);
  CHECK(convert<f16>(static_cast<f32>(just_above)).bits == 0x3c00);
  CHECK(convert<f64>(f16(0.5)) == 0.5);
  CHECK(convert<f32>(bf16(3)) == 3);
  CHECK(convert<f32>(16777217) == 16777216);
  CHECK(static_cast<f32>(convert<f16>(bf16(0.1f))) == static_cast<f32>(f16(static_cast<f32>(bf16(0.1f)))));
}

TEST_CASE("whole numbers must fit", "[convert]") {
  CHECK(convert<u8>(255) == 255);
  CHECK(convert<i16>(u64{32767}) == 32767);
  CHECK_THROWS_WITH(convert<u8>(256), "wsl: 256 does not fit into an unsigned number of 8 bits");
  CHECK_THROWS_WITH(convert<i16>(-32769), mentions("-32769", "a signed number of 16 bits"));
  CHECK_THROWS_AS(convert<u32>(-1), fault);
  CHECK_THROWS_AS(convert<i32>(std::numeric_limits<u32>::max()), fault);
}
