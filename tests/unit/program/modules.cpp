// SPDX-License-Identifier: MIT
// Modules that are members of a program: random numbers, notes, an arena.
#include <wsl/core/half.hpp>
#include <wsl/program/arena.hpp>
#include <wsl/program/descriptor/ops.hpp>
#include <wsl/program/notes.hpp>
#include <wsl/program/random.hpp>

#include <catch2/catch.hpp>
#include <cmath>

using namespace wsl;
using Catch::Contains;

TEST_CASE("the generator is SplitMix64") {
  // The first numbers of seed 1234567, as printed for the reference implementation.
  prng r{1234567};
  for (u64 expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                       16408922859458223821u})
    CHECK(r.bits64() == expected);
}

TEST_CASE("random numbers have the distribution that they say") {
  prng r{7};
  constexpr int n = 200'000;
  f64 sum = 0, squares = 0, shifted = 0;
  int counts[6] = {};
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    const f32 u = r.uniform();
    inside = inside && u >= 0 && u < 1;
    sum += u, squares += u * u;
    ++counts[r.below(6)];
    shifted += r.uniform(-2, 3);
  }
  CHECK(sum / n == Approx(.5).margin(5 * std::sqrt(1. / 12 / n)));
  CHECK(squares / n == Approx(1. / 3).margin(5 * std::sqrt(4. / 45 / n)));
  CHECK(shifted / n == Approx(.5).margin(5 * std::sqrt(25. / 12 / n)));
  for (int c : counts) CHECK(c == Approx(n / 6.).margin(5 * std::sqrt(n * 5. / 36)));

  f64 moments[5] = {};
  for (int i = 0; i < n; ++i) {
    const f64 x = (static_cast<f64>(r.normal(10, 2)) - 10) / 2;
    inside = inside && std::abs(x) < 6;
    moments[1] += x, moments[2] += x * x, moments[3] += x * x * x, moments[4] += x * x * x * x;
  }
  CHECK(inside);
  CHECK(moments[1] / n == Approx(0).margin(5 * std::sqrt(1. / n)));
  CHECK(moments[2] / n == Approx(1).margin(5 * std::sqrt(2. / n)));
  CHECK(moments[3] / n == Approx(0).margin(5 * std::sqrt(15. / n)));
  CHECK(moments[4] / n == Approx(3).margin(5 * std::sqrt(96. / n)));
}

TEST_CASE("a random number is below one that is positive") {
  prng r{7};
  CHECK(r.below(1) == 0);
  CHECK(r.below(4294967295) < 4294967295);
  CHECK_THROWS_WITH(
      r.below(0),
      "wsl: below(n) of a prng draws one of the numbers 0 to n - 1, n from 1 to 4294967295, not 0");
  CHECK_THROWS_WITH(r.below(-4), Catch::Contains("not -4"));
  CHECK_THROWS_WITH(r.below(u64{1} << 32), Catch::Contains("not 4294967296"));
}

TEST_CASE("notes keep what they were given, and count the rest") {
  notes<7> log;
  log.add("begin");
  log.add(u16{65535});
  log.add(-3);
  log.add(2.5f);
  log.add(f16{4.f});
  log.add(true);
  log.add(u32{4294967295u});
  log.add("too many");
  log.add(1);
  CHECK((log.size() == 7 && log.lost() == 2));
  const char* expected[] = {"begin", "65535", "-3", "2.5", "4.0", "true", "4294967295"};
  for (int i = 0; i < 7; ++i) CHECK(log.text(i) == expected[i]);
  CHECK_THROWS_WITH(log.text(7), Contains("there are 7 notes and none has the number 7"));
  CHECK_THROWS_WITH(log.text(-1), Contains("number -1"));
  log.clear();
  CHECK((log.size() == 0 && log.lost() == 0));
}

TEST_CASE("an arena gives room as long as it has some") {
  arena<64> room;
  const memory<u8> bytes = room.take<u8>(3);
  const memory<f32> numbers = room.take<f32>(5);  // from byte 4 to byte 24
  CHECK((bytes.length() == 3 && numbers.length() == 5 && room.used() == 24));
  mov(numbers, 2.f);
  mov(bytes, 255);
  f32 sum = 0;
  add(&sum, 0, numbers);
  CHECK(sum == 10);
  CHECK((room.has_room<u64>(5) && !room.has_room<u64>(6) && !room.has_room<u8>(-1)));
  CHECK_THROWS_WITH(room.take<u64>(6),
                    Contains("an arena of 64 bytes has 40 left, not room for 6 elements of 8 bytes"));
  CHECK(room.take<u64>(5).length() == 5);
  CHECK((room.has_room<u8>(0) && !room.has_room<u8>(1)));
  room.clear();
  const memory<f32> again = room.take<f32>(16);
  for (int i = 0; i < 16; ++i) CHECK(again[i] == 0);
}
