// SPDX-License-Identifier: MIT
// Operations that end with a command: the switches on the way turn behind the last word, whatever its
// operation.
#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr int P = 6, most = 24;
constexpr color<i32> ordered{0}, side{1};

/// Every PE of a row has the line to the west end for its array, one after the other.
struct member {
  std::array<i32, most> mine{};
  std::array<i32, P * most> heard{};
  int rounds = 0, sent = 0;

  void take_turns(pe& me, int words, bool one_by_one) {
    for (int i = 0; i < words; ++i) mine[static_cast<std::size_t>(i)] = 100 * me.x() + i;
    if (me.west_edge()) return me.async(mov(mem(heard).part(0, (P - 1) * words), fabin(ordered)));
    const completion next = me.east_edge() ? then<&member::ended>() : then_advance(ordered);
    if (one_by_one) me.async(add(fabout(ordered, words), mem(mine).part(0, words), 0), next);
    else me.async(mov(fabout(ordered), mem(mine).part(0, words)), next, unblocks<&member::ended>());
  }
  void ended(pe&) { ++sent; }
  using tasks = task_list<launch<&member::take_turns>, local<&member::ended>, reads<ordered>, sends<ordered>,
                          advances<ordered>>;
};

constexpr layout row_of_pes =
    layout{wse2, P, 1}
        .place<member>(all)
        .path(ordered, column(0), east >> ramp)
        .path(ordered, columns(1, edge - 1), ramp >> west,
              switches{.pos1 = {.from = east}, .ring = true, .pop = pop::on_advance})
        .path(ordered, column(edge - 1), ramp >> west);
static_assert(routed<row_of_pes>());

}  // namespace

TEMPLATE_LIST_TEST_CASE("then_advance turns the switches behind the last word", "", changing_engines) {
  for (const bool one_by_one : {false, true})
    for (int words : {1, 2, 7, most}) {
      fabric f{row_of_pes, TestType{}};
      f.launch<&member::take_turns>(all, words, one_by_one);
      const auto& heard = f.program_at<member>({0, 0}).heard;
      for (int i = 0; i < (P - 1) * words; ++i) {
        INFO(words << " words, word " << i);
        REQUIRE(heard[static_cast<std::size_t>(i)] == 100 * (1 + i / words) + i % words);
      }
    }
}

namespace {

struct forgetful {
  std::array<i32, 4> x{};
  void start(pe& me) { me.async(mov(fabout(side), mem(x)), then_advance(side)); }
  using tasks = task_list<launch<&forgetful::start>, sends<side>>;
};
struct taker {
  void take(pe&, i32) {}
  using tasks = task_list<on<side, &taker::take>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("then_advance needs advances in the list of tasks", "", changing_engines) {
  layout l{wse2, 2, 1};
  l.place<forgetful>(column(0)).place<taker>(column(1));
  l.path(side, column(0), ramp >> east).path(side, column(1), west >> ramp);
  fabric f{l, TestType{}};
  CHECK_THROWS_WITH(f.launch(0, 0),
                    Contains("forgetful does not bind advances<color> for the color of then_advance"));
}
