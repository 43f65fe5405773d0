// SPDX-License-Identifier: MIT
// Collectives that a task awaits in the middle of its body: every module with an endpoint, one after the
// other, beside a serial line.
#include <wsl/collective.hpp>
#include <wsl/fabric/race.hpp>
#include <wsl/program/event.hpp>

#include <catch2/catch.hpp>
#include <vector>

#include "unit/engine/engines.hpp"

using namespace wsl;
using Catch::Contains;

namespace {

constexpr all_reduce<i32> sum{.first = 0, .words = 1, .colors = 1};                // 0
constexpr broadcast<i32> spread{.first = 4, .root = {1, 0}};                       // 4
constexpr collective::reduce<i32, larger> highest{.first = 5, .among = each_row};  // 5, 6
constexpr shift<i32> around{.first = 7, .by = 1, .cyclic = true};                  // 7 to 9
constexpr collective::barrier meeting{.first = 10};                                // 10 to 13
constexpr lane<i32> below{14, south};                                              // 14, 15

constexpr int N = 3, rounds = 4;

/// A made-up iteration in which every collective takes part.
struct worker {
  i32 x[N]{}, got[N]{}, scale[1]{}, total = 0, top = 0, from_north = 0;
  int noises = 0, done = 0;
  awaited<sum> summing;
  awaited<spread> spreading;
  awaited<highest> comparing;
  awaited<around> passing;
  awaited<meeting> all_here;
  event sent;

  task run(pe& me) {
    for (int i = 0; i < N; ++i) x[i] = 7 * me.x() + 3 * me.y() + i;
    for (int round = 0; round < rounds; ++round) {
      me.activate<&worker::noise>();  // runs while this task waits
      if (me.x() == 1 && me.y() == 0) scale[0] = round + 2;
      co_await spreading(me, mem(scale));
      i32 own = 0;
      for (i32 v : x) own += scale[0] * v;
      total = co_await summing(me, own);
      co_await summing(me, mem(x));
      mov(mem(got), mem(x));
      co_await comparing(me, mem(got));
      top = got[0];
      for (int i = 0; i < N; ++i) x[i] = x[i] % 1000 + me.x() - total % 10;
      if (me.width() > 1) co_await passing(me, mem(x), mem(got)), mov(mem(x), mem(got));
      if (below.has_next(me)) me.async(mov(below.fabout(me, 1), x[0]), signals(sent));
      if (below.has_previous(me)) co_await mov(&from_north, below.fabin(me, 1));
      if (below.has_next(me)) co_await sent;
      co_await all_here(me);
      ++done;
    }
  }
  void noise(pe&) { ++noises; }
  using tasks = task_list<launch<&worker::run>, local<&worker::noise>, use<&worker::summing>,
                          use<&worker::spreading>, use<&worker::comparing>, use<&worker::passing>,
                          use<&worker::all_here>, sends<below>, reads<below>>;
};

struct line {
  std::vector<i32> x = std::vector<i32>(N);
  i32 total = 0, top = 0, from_north = 0;
};
/// The same, PE after PE.
std::vector<line> serially(int width, int height) {
  const auto at = [&](int px, int py) { return static_cast<std::size_t>(py * width + px); };
  std::vector<line> all_pes(static_cast<std::size_t>(width * height));
  for (int y = 0; y < height; ++y)
    for (int px = 0; px < width; ++px)
      for (int i = 0; i < N; ++i) all_pes[at(px, y)].x[static_cast<std::size_t>(i)] = 7 * px + 3 * y + i;
  for (int round = 0; round < rounds; ++round) {
    i32 total = 0;
    std::vector<i32> sums(N);
    for (const line& p : all_pes)
      for (std::size_t i = 0; i < N; ++i) total += (round + 2) * p.x[i], sums[i] += p.x[i];
    std::vector<line> next = all_pes;
    for (int y = 0; y < height; ++y)
      for (int px = 0; px < width; ++px) {
        line& p = next[at(px, y)];
        p.total = total;
        p.top = sums[0];  // the root's: all have the same
        const int from = (px + width - 1) % width;
        for (std::size_t i = 0; i < N; ++i) p.x[i] = sums[i] % 1000 + from - total % 10;
      }
    for (int y = 1; y < height; ++y)
      for (int px = 0; px < width; ++px) next[at(px, y)].from_north = next[at(px, y - 1)].x[0];
    all_pes = next;
  }
  return all_pes;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task awaits one collective after the other", "", every_engine) {
  for (const auto& [width, height] : {std::pair{2, 1}, {3, 3}, {5, 2}, {4, 4}}) {
    layout l{wse2, width, height};
    l.place<worker>(all).wire(sum, spread, highest, around, meeting, below);
    fabric f{l, TestType{}};
    f.launch();
    const std::vector<line> expected = serially(width, height);
    for (int y = 0; y < height; ++y)
      for (int px = 0; px < width; ++px) {
        const worker& p = f.program_at<worker>({px, y});
        const line& e = expected[static_cast<std::size_t>(y * width + px)];
        INFO(width << " x " << height << ", PE " << px << ", " << y);
        REQUIRE(std::vector<i32>(p.x, p.x + N) == e.x);
        REQUIRE(p.total == e.total);
        REQUIRE((px > 0 || p.top == e.top));
        REQUIRE(p.from_north == e.from_north);
        REQUIRE(p.noises == rounds);
        REQUIRE(p.done == rounds);
      }
  }
}

namespace {

/// Tells when it passed a barrier, and when the slowest came to it.
struct runner {
  awaited<meeting> all_here;
  u64 came = 0, went = 0;
  task run(pe& me) {
    for (int i = 0; i < 10 * (me.x() + me.y()); ++i) me.spend(100);
    came = me.now();
    co_await all_here(me);
    went = me.now();
  }
  using tasks = task_list<launch<&runner::run>, use<&runner::all_here>>;
};

}  // namespace

TEST_CASE("tasks that await collectives have no race, and none of their memory is left out") {
  layout l{wse2, 3, 2};
  l.place<worker>(all).wire(sum, spread, highest, around, meeting, below);
  const race_report r = find_race(l, [](fabric& f) { f.launch(); });
  INFO(r.text());
  CHECK_FALSE(r);
  CHECK(r.not_compared.empty());
}

TEST_CASE("no PE passes a barrier before the last has come") {
  for (const auto& [width, height] : {std::pair{1, 1}, {6, 1}, {1, 4}, {5, 3}}) {
    layout l{wse2, width, height};
    l.place<runner>(all).wire(meeting);
    fabric f{l, timed{}};
    f.launch();
    u64 last = 0, first = ~u64{0};
    for (int i = 0; i < width * height; ++i) {
      const runner& p = f.program_at<runner>({i % width, i / width});
      last = std::max(last, p.came), first = std::min(first, p.went);
    }
    CHECK(first >= last);
  }
}

namespace {

struct hasty {
  awaited<sum> summing;
  i32 seen = 0;
  task one(pe& me) { seen += co_await summing(me, 1); }
  task two(pe& me) { seen += co_await summing(me, 2); }
  void both(pe& me) { me.activate<&hasty::one>(), me.activate<&hasty::two>(); }
  task then_wrong(pe& me) {
    seen = co_await summing(me, 5);
    me.block(color<f32>{30});
  }
  using tasks = task_list<launch<&hasty::one>, launch<&hasty::both>, launch<&hasty::then_wrong>,
                          local<&hasty::one>, local<&hasty::two>, use<&hasty::summing>>;
};

layout hasty_layout() {
  layout l{wse2, 2, 1};
  return l.place<hasty>(all).wire(sum);
}

}  // namespace

namespace {

constexpr all_reduce<f32> total_of_all{.first = 0};
struct naming {
  f32 x[2]{}, first = 0, second = 0;
  awaited<total_of_all> total;
  task go(pe& me) {
    x[0] = x[1] = 1;
    const auto one = total(me, static_cast<f32>(me.x() + 1));
    auto array = total(me, mem(x));
    first = co_await one;
    second = co_await one;
    co_await array;
  }
  using tasks = task_list<launch<&naming::go>, use<&naming::total>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a wait that has a name is awaited like any other, and again", "", every_engine) {
  layout l{wse2, 2, 1};
  l.place<naming>(all).wire(total_of_all);
  fabric f{l, TestType{}};
  f.launch(all);
  for (int x : {0, 1}) {
    CHECK(f.read(x, 0, &naming::first) == 3);
    CHECK(f.read(x, 0, &naming::second) == 3);
    CHECK(f.read(x, 0, &naming::x)[1] == 2);
  }
}

TEMPLATE_LIST_TEST_CASE("two tasks of a PE do not await one collective at once", "", every_engine) {
  fabric f{hasty_layout(), TestType{}};
  CHECK_THROWS_WITH(f.launch<&hasty::both>(all),
                    Contains("calls all_reduce while another of its tasks waits for it"));
}

TEMPLATE_LIST_TEST_CASE("a collective that some PE does not begin is a deadlock, and may be begun later", "",
                        every_engine) {
  {
    fabric f{hasty_layout(), TestType{}};
    CHECK_THROWS_AS(f.launch<&hasty::one>(at(0, 0)), deadlock);
    f.launch<&hasty::one>(at(1, 0));
    CHECK(f.read(0, 0, &hasty::seen) == 2);
    CHECK(f.read(1, 0, &hasty::seen) == 2);
  }
  fabric f{hasty_layout(), TestType{}};  // ends with a task that waits
  CHECK_THROWS_AS(f.launch<&hasty::one>(at(1, 0)), deadlock);
}

TEMPLATE_LIST_TEST_CASE("what a task throws after it has awaited is thrown by the run", "", every_engine) {
  fabric f{hasty_layout(), TestType{}};
  CHECK_THROWS_WITH(f.launch<&hasty::then_wrong>(all), Contains("calls me.block for color 30"));
}
