// SPDX-License-Identifier: MIT
// Tasks that count their activations: they start when so many have come, however these fall together, and a
// count that is not reached is reported.
#include "engines.hpp"

#include <wsl/layout/check.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<i32> red{0}, blue{1}, green{2};

struct giver {
  std::array<i32, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  void give(pe& me, int reds, int blues, int greens) {
    if (reds) me.async(mov(fabout(red), mem(x).part(0, reds)));
    if (blues) me.async(mov(fabout(blue), mem(x).part(0, blues)));
    if (greens) me.async(mov(fabout(green), mem(x).part(0, greens)));
  }
  using tasks = task_list<launch<&giver::give>, sends<red, blue, green>>;
};

/// Three receives, each of which completes at a time of its own.
struct taker {
  std::array<i32, 8> a{}, b{}, c{};
  int rounds = 0, sum = 0;
  void take(pe& me, int reds, int blues, int greens) {
    me.async(mov(mem(a).part(0, reds), fabin(red)), then<&taker::all_three>());
    me.async(mov(mem(b).part(0, blues), fabin(blue)), then<&taker::all_three>());
    me.async(mov(mem(c).part(0, greens), fabin(green)), then<&taker::all_three>());
  }
  void all_three(pe&) {
    ++rounds;
    sum = 0;
    for (const auto* v : {&a, &b, &c})
      for (i32 x : *v) sum += x;
  }
  using tasks = task_list<launch<&taker::take>, joins<3, &taker::all_three>, reads<red, blue, green>>;
};

constexpr layout pair = [] {
  layout l{wse2, 2, 1};
  l.place<giver>(column(0)).place<taker>(column(1));
  for (auto c : {red, blue, green}) l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  return l;
}();
static_assert(routed<pair>());

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task that joins three operations runs once, after the last of them", "",
                        every_engine) {
  std::mt19937 any{3};
  fabric f{pair, TestType{}};
  int rounds = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const int n[3] = {1 + static_cast<int>(any() % 8), 1 + static_cast<int>(any() % 8),
                      1 + static_cast<int>(any() % 8)};
    taker& t = f.program_at<taker>({1, 0});
    t.a.fill(0), t.b.fill(0), t.c.fill(0);
    f.start<&taker::take>(column(1), n[0], n[1], n[2]);
    f.launch<&giver::give>(column(0), n[0], n[1], n[2]);
    int expected = 0;
    for (int k : n) expected += k * (k + 1) / 2;
    REQUIRE(t.rounds == ++rounds);
    REQUIRE(t.sum == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("a count that is not reached is a deadlock that says how many came", "",
                        every_engine) {
  fabric f{pair, TestType{}};
  f.start<&taker::take>(column(1), 2, 2, 2);
  CHECK_THROWS_WITH(f.launch<&giver::give>(column(0), 2, 0, 0),
                    Contains("task all_three waits for 3 arrivals; 1 of 3 came") &&
                        Contains("mov waits for 2 wavelets of color 1"));
  CHECK_THROWS_WITH(f.launch<&giver::give>(column(0), 0, 2, 0), Contains("2 of 3 came"));
  f.launch<&giver::give>(column(0), 0, 0, 2);
  CHECK(f.read(1, 0, &taker::rounds) == 1);
  CHECK(f.read(1, 0, &taker::sum) == 9);
}

namespace {

/// Activations by tasks, more at once than one run takes.
struct counter {
  int pairs = 0, ones = 0, runs = 0;
  void count(pe& me, int n) {
    for (int i = 0; i < n; ++i)
      me.activate<&counter::two>(), me.activate<&counter::one>(), me.activate<&counter::bit>();
  }
  void two(pe&) { ++pairs; }
  void one(pe&) { ++ones; }
  void bit(pe&) { ++runs; }
  void hold(pe& me) { me.block<&counter::two>(); }
  void let_go(pe& me) { me.unblock<&counter::two>(); }
  using tasks = task_list<launch<&counter::count>, launch<&counter::hold>, launch<&counter::let_go>,
                          joins<2, &counter::two>, joins<1, &counter::one>, local<&counter::bit>>;
};
constexpr layout lone = layout{wse2, 1, 1}.place<counter>(all);

}  // namespace

TEMPLATE_LIST_TEST_CASE("activations of a task that joins are counted, of others they are one bit", "",
                        every_engine) {
  fabric f{lone, TestType{}};
  const outcome o = f.launch<&counter::count>(all, 6);
  const counter& c = f.program_at<counter>({0, 0});
  CHECK(c.pairs == 3);
  CHECK(c.ones == 6);
  CHECK(c.runs == 1);
  CHECK(o.tasks == 1 + 6 + 6 + 1);  // each arrival is the run of a task that counts
  CHECK_THROWS_WITH(f.launch<&counter::count>(all, 3),
                    Contains("PE(0, 0) of ") && Contains("task two waits for 2 arrivals; 1 of 2 came") &&
                        Contains("as its joins<n, &two> counts"));
  CHECK(c.pairs == 4);
  f.launch<&counter::count>(all, 1);
  CHECK(c.pairs == 5);
}

TEMPLATE_LIST_TEST_CASE("a blocked task that joins keeps its arrivals", "", every_engine) {
  fabric f{lone, TestType{}};
  f.launch<&counter::hold>(all);
  CHECK_THROWS_WITH(f.launch<&counter::count>(all, 4), Contains("task two is activated but blocked"));
  CHECK(f.read(0, 0, &counter::pairs) == 0);
  f.launch<&counter::let_go>(all);
  CHECK(f.read(0, 0, &counter::pairs) == 2);
}

namespace {

/// A module with a join of its own, twice in a program, beside one of the program; odd sizes of members.
struct gate {
  char passed = 0;
  void open(pe& me) { me.activate<&gate::both>(); }
  void both(pe&) { ++passed; }
  using tasks = task_list<joins<2, &gate::both>>;
};
struct house {
  char rooms = 0;
  gate front;
  void knock(pe& me, int n) {
    for (int i = 0; i < n; ++i) front.open(me), me.activate<&house::enter>();
  }
  task enter(pe&) {
    ++rooms;
    co_return;
  }
  using tasks = task_list<joins<3, &house::enter>, launch<&house::knock>, use<&house::front>>;
};
constexpr layout street = layout{wse2, 3, 2}.place<house>(all);

}  // namespace

TEMPLATE_LIST_TEST_CASE("each PE has counters of its own, also of modules and of tasks that wait", "",
                        every_engine) {
  fabric f{street, TestType{}};
  for (int i = 0; i < 6; ++i) f.start<&house::knock>(at(i % 3, i / 3), 6 * i);
  f.run();
  for (int i = 0; i < 6; ++i) {
    const house& h = f.program_at<house>({i % 3, i / 3});
    CHECK(h.rooms == 2 * i);
    CHECK(h.front.passed == 3 * i);
  }
}

namespace {

/// A join that its own class does not list: the list of a derived program does.
struct base {
  int met = 0;
  void arrive(pe& me) { me.activate<&base::meet>(), me.activate<&base::meet>(); }
  void meet(pe&) { ++met; }
};
struct derived : base {
  using tasks = task_list<launch<&base::arrive>, joins<2, &base::meet>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a derived program may count the activations of a task of its base", "",
                        every_engine) {
  fabric f{layout{wse2, 1, 1}.place<derived>(all), TestType{}};
  f.launch();
  CHECK(f.read(0, 0, &base::met) == 1);
}

namespace {

template <int n>
struct greedy {
  void go(pe&) {}
  using tasks = task_list<joins<n, &greedy::go>>;
};

}  // namespace

TEST_CASE("a task that joins n activations takes n local task ids and a counter in memory") {
  CHECK(program_v<counter>.bytes == sizeof(counter) + 2 * 8);
  CHECK(program_v<house>.bytes == 4 + 2 * 8);
  CHECK(program_v<taker>.alignment == alignof(taker));
  CHECK_FALSE(check(layout{wse2, 1, 1}.place<greedy<31>>(all)).found());
  CHECK(check(layout{wse2, 1, 1}.place<greedy<32>>(all)).kind ==
        fault_kind::the_program_has_too_many_local_tasks);
  CHECK(check(layout{wse3, 1, 1}.place<greedy<24>>(all)).kind ==
        fault_kind::the_program_has_too_many_local_tasks);
}
