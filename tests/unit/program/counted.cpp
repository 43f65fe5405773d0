// SPDX-License-Identifier: MIT
// Scalar code: numbers that charge their arithmetic, and tasks whose list says what they cost.
#include <wsl/core/half.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/fabric/fabric.hpp>
#include <wsl/program/counted.hpp>
#include <wsl/program/descriptor/ops.hpp>
#include <wsl/wsl.hpp>

#include <catch2/catch.hpp>

using namespace wsl;

namespace {

constexpr color<f32> red{0};
/// wse2 with constants that all differ.
constexpr machine slow = [] {
  machine m = wse2;
  m.task_start = 100;
  m.instructions = {
      .simple = 1, .simple32 = 3, .multiply16 = 5, .multiply32 = 11, .divide = 23, .branch = 47};
  return m;
}();

/// The cycles of each statement of a task.
struct statements {
  counted<f32> x = 1.5f, y[2]{2.f, 3.f};
  counted<u16> n = u16{7};
  counted<i32> wide = 100000;
  std::vector<u64> at;
  void note(pe& me) { at.push_back(me.now()); }
  void start(pe& me) {
    note(me);
    x = x + 1.f, note(me);
    x = x * y[0] - y[1], note(me);
    x = y[1], note(me);  // a copy
    x /= 2.f, note(me);
    n = n * u16{3} + n, note(me);
    wide = wide * 2 - 1, note(me);
    if (n < u16{100}) ++n;
    note(me);
    if (wide == 0) ++n;
    note(me);
    const counted<f32> as_number = n.as<f32>();
    note(me);
    const f32 plain = as_number.value() * 3;  // charges nothing
    note(me);
    x = plain, note(me);
  }
  using tasks = task_list<launch<&statements::start>>;
};

/// The sum of the squares of what is heard, in three ways that cost the same.
template <class Number>
struct listener {
  Number sum = 0;
  void hear(pe&, f32 x) { sum += Number(x) * Number(x); }
  void send(pe& me) {
    for (int i = 0; i < 5; ++i) me.send(red, static_cast<f32>(i));
  }
};
struct by_counting : listener<counted<f32>> {
  using tasks = task_list<on<red, &by_counting::hear>, launch<&by_counting::send>, sends<red>>;
};
struct by_declaration : listener<f32> {
  using tasks =
      task_list<costs<2, on<red, &by_declaration::hear>>, launch<&by_declaration::send>, sends<red>>;
};
struct for_nothing : listener<f32> {
  using tasks = task_list<on<red, &for_nothing::hear>, launch<&for_nothing::send>, sends<red>>;
};

template <class Program, class Engine>
std::pair<f32, outcome> heard_by(const Engine& engine, bool* exchange_only = nullptr) {
  layout l{slow, 2, 1};
  l.place<Program>(all).path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  fabric f{l, engine};
  const outcome o = f.launch<&Program::send>(column(0));
  if (exchange_only) *exchange_only = f.exchange_only();
  return {static_cast<f32>(f.program_at<Program>({1, 0}).sum), o};
}

}  // namespace

TEST_CASE("counted numbers charge the instructions of their arithmetic") {
  layout one{slow, 1, 1};
  one.place<statements>(all);
  fabric f{one, timed{}};
  f.launch();
  const statements& p = f.program_at<statements>({0, 0});
  const std::vector<u64> expected{1, 2, 1, 23, 5 + 1, 11 + 3, 1 + 47 + 1, 3 + 47, 1, 0, 0};
  REQUIRE(p.at.size() == expected.size() + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(p.at[i + 1] - p.at[i] == expected[i]);
  CHECK(p.n.value() == 29);
  CHECK(p.wide.value() == 199999);
  CHECK(p.x.value() == 87);
}

TEST_CASE("counted numbers compute what plain ones do, on any engine") {
  layout one{slow, 1, 1};
  one.place<statements>(all);
  fabric f{one}, g{one, reference{}};
  f.launch(), g.launch();
  for (fabric* each : {&f, &g}) {
    const statements& p = each->program_at<statements>({0, 0});
    CHECK(p.n.value() == 29);
    CHECK(p.wide.value() == 199999);
    CHECK(p.x.value() == 87);
  }
  CHECK((counted<u16>(u16{40000}) + u16{40000}).value() == u16{14464});
  CHECK((counted<i32>(-7) / 2).value() == -3);
  CHECK((-counted<f32>(2.f)).value() == -2);
  CHECK(((counted<u32>(5) << 3 | 1) ^ 2).value() == 43);
  // whole numbers wrap around, and shifts beyond their bits leave none
  CHECK((counted<u16>(u16{65535}) * u16{65535}).value() == 1);
  CHECK((counted<i32>(2147483647) + 1).value() == -2147483647 - 1);
  CHECK((counted<i32>(-2147483647 - 1) / -1).value() == -2147483647 - 1);
  CHECK((counted<u32>(1) << 32).value() == 0);
  CHECK((counted<i16>(i16{-5}) >> 20).value() == -1);
  CHECK_THROWS_WITH(counted<u32>(7) / 0, Catch::Contains("is divided by 0"));
  CHECK_THROWS_WITH(counted<i16>(i16{7}) % i16{0}, Catch::Contains("is divided by 0"));
}

TEST_CASE("a declared cost and counted numbers charge the same, and what charges nothing says so") {
  bool counting = true, declaring = true, nothing = false;
  const auto by_numbers = heard_by<by_counting>(timed{}, &counting);
  const auto by_list = heard_by<by_declaration>(timed{}, &declaring);
  const auto free_of_charge = heard_by<for_nothing>(timed{}, &nothing);
  CHECK(by_numbers.first == 30);
  CHECK(by_numbers == by_list);
  CHECK(by_numbers.second.cycles == free_of_charge.second.cycles + 5 * 2);
  CHECK((!counting && !declaring && nothing));
  CHECK(heard_by<by_declaration>(threaded{}).first == 30);
}
