// SPDX-License-Identifier: MIT
// Lanes in all directions, on all small grids and in parts of them, with every kind of end: who hears whom,
// on which colors, and what is said when there is nobody.
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "unit/engine/engines.hpp"

using namespace wsl;
using Catch::Contains;

namespace {

constexpr int words = 5;

/// Sends an array to the next PE and one word after it; hears both from the one before.
template <auto net>
struct member {
  i32 own[words]{}, heard[words]{}, last = -1, times = 0;
  int out = -1, in = -1;

  void speak(pe& me) {
    for (int i = 0; i < words; ++i) own[i] = 100 * (10 * me.y() + me.x()) + i;
    for (i32& x : heard) x = -1;
    if (net.has_next(me)) {
      out = net.out(me).id;
      me.async(mov(net.fabout(me), mem(own)), then<&member::spoke>());
    }
    if (net.has_previous(me)) {
      in = net.in(me).id;
      me.async(mov(mem(heard), net.fabin(me)), then<&member::hear_last>());
    }
  }
  void spoke(pe& me) { net.send(me, own[0] - 1); }
  task hear_last(pe& me) { co_await mov(&last, net.fabin(me, 1)), ++times; }
  using tasks = task_list<launch<&member::speak>, local<&member::spoke>, local<&member::hear_last>,
                          sends<net>, reads<net>>;
};

/// The PE before another one in its lane, by walking; `itself` if there is none.
coord before(const region& r, port toward, bool ring, coord at) {
  const coord back = at + step(opposite(toward));
  if (r.has(back)) return back;
  if (!ring) return at;
  coord far = at;
  while (r.has(far + step(toward))) far = far + step(toward);
  return far;
}

template <auto net, class Engine>
void hears_the_one_before(int width, int height, const Engine& engine) {
  using program = member<net>;
  layout l{wse2, width, height};
  l.place<program>(net.where).wire(net);
  const region r = l.inside(net.where);
  fabric f{l, engine};
  f.launch(net.where);
  for (int i = 0; i < r.count(); ++i) {
    const coord at = r.nth(i), from = before(r, net.toward, net.is_ring(), at);
    const bool lone = from == at && !net.is_ring();
    const program &p = f.program_at<program>(at), &q = f.program_at<program>(from);
    INFO(width << " x " << height << " toward " << name_of(net.toward) << ", PE " << at.x << ", " << at.y);
    REQUIRE(p.times == (lone ? 0 : 1));
    for (int k = 0; k < words; ++k) REQUIRE(p.heard[k] == (lone ? -1 : q.own[k]));
    REQUIRE(p.last == (lone ? -1 : q.own[0] - 1));
    if (lone) continue;
    REQUIRE(p.in == q.out);
    if (from != at) REQUIRE(p.in != p.out);
  }
}

template <class Engine, port toward>
void on_all_grids(const Engine& engine) {
  static constexpr lane<i32> line{2, toward}, ring{.first = 7, .toward = toward, .ends = lane_ends::ring};
  for (int n = 1; n <= 6; ++n)
    for (int m : {1, 3}) {
      const bool in_rows = toward == east || toward == west;
      const int width = in_rows ? n : m, height = in_rows ? m : n;
      hears_the_one_before<line>(width, height, engine);
      hears_the_one_before<ring>(width, height, engine);
    }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("each PE of a lane hears the one before it, and in a ring the first hears the last",
                        "", every_engine) {
  on_all_grids<TestType, east>({});
  on_all_grids<TestType, west>({});
  on_all_grids<TestType, north>({});
  on_all_grids<TestType, south>({});
}

TEMPLATE_LIST_TEST_CASE("a lane may lie in a part of the grid, and leave out rows or columns", "",
                        every_engine) {
  static constexpr lane<i32> inner{0, west, columns(1, edge - 1).rows(2)},
      every_second{0, east, rows(1, edge, 2)}, upright{0, north, columns(0, edge, 3).rows(1)},
      ring{.first = 3, .toward = south, .where = column(2).rows(1, edge - 1), .ends = lane_ends::ring};
  for (int width : {4, 5, 7}) {
    hears_the_one_before<inner>(width, 4, TestType{});
    hears_the_one_before<every_second>(width, 6, TestType{});
    hears_the_one_before<upright>(width, 5, TestType{});
    hears_the_one_before<ring>(width, 6, TestType{});
  }
}

namespace {

/// Adds its place to each word that passes.
template <auto net>
struct adder {
  void pass(pe& me, i32 x, port from) {
    if (from == opposite(net.toward)) net.send(me, 3 * x + me.x() + me.y());
  }
  using tasks = task_list<on<net, &adder::pass>, sends<net>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("words of the host run through a lane and back to it", "", every_engine) {
  static constexpr lane<i32> lanes[] = {{.first = 1, .toward = east, .ends = lane_ends::host},
                                        {.first = 1, .toward = west, .ends = lane_ends::host},
                                        {.first = 1, .toward = north, .ends = lane_ends::host},
                                        {.first = 1, .toward = south, .ends = lane_ends::host}};
  const auto one = [&]<int which>() {
    static constexpr lane<i32> net = lanes[which];
    for (int n = 1; n <= 4; ++n) {
      const bool in_rows = which < 2, backward = net.toward == west || net.toward == north;
      layout l{wse2, in_rows ? n : 2, in_rows ? 2 : n};
      l.place<adder<net>>(all).wire(net);
      fabric f{l, TestType{}};
      device d{f};
      std::vector<i32> given{4, -7, 11, 900}, taken(4);
      d.stream_in(net.entrance(l), given);
      d.stream_out(net.exit(l), taken);
      for (std::size_t i = 0; i < 4; ++i) {  // the first two words for the first of two lanes
        i32 x = given[i];
        const int other = i < 2 ? 0 : 1;
        for (int k = 0; k < n; ++k) x = 3 * x + (backward ? n - 1 - k : k) + other;
        INFO("toward " << name_of(net.toward) << ", " << n << " PEs, word " << i);
        REQUIRE(taken[i] == x);
      }
    }
  };
  one.template operator()<0>(), one.template operator()<1>(), one.template operator()<2>(),
      one.template operator()<3>();
}

namespace {

constexpr lane<i32> short_lane{0, east, columns(0, 3)};
struct careless {
  void send(pe& me) { short_lane.send(me, 1); }
  task listen(pe& me) { co_await mov(&x, short_lane.fabin(me, 1)); }
  void ask(pe& me) { x = short_lane.has_next(me) ? 1 : short_lane.has_previous(me) ? 2 : 3; }
  void send_wide(pe& me, long value) { short_lane.send(me, value); }
  i32 x = 0;
  using tasks = task_list<launch<&careless::send>, launch<&careless::listen>, launch<&careless::ask>,
                          launch<&careless::send_wide>, sends<short_lane>, reads<short_lane>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("the end of a lane has no next PE, and its beginning none before it", "",
                        every_engine) {
  layout l{wse2, 4, 1};
  l.place<careless>(all).wire(short_lane);
  fabric last{l, TestType{}}, first{l, TestType{}}, outside{l, TestType{}};
  CHECK_THROWS_WITH((last.launch<&careless::send>(at(2, 0))),
                    Contains("PE(2, 0) sends to no PE on the lane of color 0") && Contains("has_next(me)"));
  CHECK_THROWS_WITH((first.launch<&careless::listen>(at(0, 0))),
                    Contains("PE(0, 0) hears no PE on the lane of color 0") && Contains("has_previous(me)"));
  CHECK_THROWS_WITH((outside.launch<&careless::send>(at(3, 0))),
                    Contains("PE(3, 0) calls lane, whose rectangle is columns 0 to 2"));
  fabric asking{l, TestType{}};
  asking.launch<&careless::ask>(all);
  for (int x = 0; x < 4; ++x)
    CHECK(asking.read(x, 0, &careless::x) == (x < 2 ? 1 : x == 2 ? 2 : 3));  // PE 3 has none
}

TEMPLATE_LIST_TEST_CASE("a lane sends numbers of other types if they fit", "", every_engine) {
  layout l{wse2, 4, 1};
  l.place<careless>(all).wire(short_lane);
  fabric f{l, TestType{}};
  f.start<&careless::listen>(at(1, 0));
  f.launch<&careless::send_wide>(at(0, 0), -7);
  CHECK(f.read(1, 0, &careless::x) == -7);
  CHECK_THROWS_WITH(f.launch<&careless::send_wide>(at(0, 0), 5'000'000'000),
                    Contains("5000000000 does not fit into a signed number of 32 bits"
                             "\n  in send_wide on PE(0, 0)"));
}

TEST_CASE("a lane claims its colors, and only whole rows or columns are left out") {
  layout l{wse2, 4, 4};
  l.wire(lane<i32>{0, east}, lane<i32>{2, west}).place<member<lane<i32>{0, east}>>(all);
  layout clash = l;
  clash.wire(lane<i32>{1, south});
  CHECK_THROWS_WITH(fabric{clash}, Contains("two_modules_claim_one_color"));
  layout other{wse2, 4, 4};
  CHECK_THROWS_WITH(other.wire(lane<i32>{0, east, columns(0, edge, 2)}), Contains("strides by 2 along it"));
  CHECK_THROWS_WITH(other.wire(lane<i32>{0, ramp}), Contains("leads toward east, west, north or south"));
  CHECK_THROWS_WITH(other.wire(lane<i32>{0, east, columns(2, 6)}), Contains("leaves the grid"));
  CHECK_THROWS_WITH(other.wire(lane<i32>{23, east}), Contains("there is no color 24"));
}

TEST_CASE("a constant layout with lanes is checked while compiling") {
  static constexpr lane<i32> right{0, east}, ring{.first = 2, .toward = south, .ends = lane_ends::ring};
  static constexpr layout wafer = layout{wse2, 700, 900}.place<member<right>>(all).wire(right);
  static_assert(routed<wafer>());
  static constexpr layout torus = layout{wse2, 3, 5}.place<member<ring>>(all).wire(ring);
  static_assert(routed<torus>());
  SUCCEED();
}
