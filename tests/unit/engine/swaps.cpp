// SPDX-License-Identifier: MIT
// Routers that swap colors: who gets a word as what, on every engine that does it, and what the checker
// refuses.

#include "engines.hpp"

#include <wsl/layout/draw.hpp>
#include <wsl/layout/swaps.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<u32> red{0}, blue{1};
using swapping_engines =
    std::tuple<reference, timed, on_threads<1>, on_threads<2>, on_threads<3>, on_threads<8>, machine_depth>;

struct member {
  std::vector<u32> reds, blues;
  void send_red(pe& me, u32 n) {
    for (u32 i = 0; i < n; ++i) me.send(red, i);
  }
  void send_blue(pe& me, u32 n) {
    for (u32 i = 0; i < n; ++i) me.send(blue, 100 + i);
  }
  void take_red(pe&, u32 x) { reds.push_back(x); }
  void take_blue(pe&, u32 x) { blues.push_back(x); }
  using tasks = task_list<launch<&member::send_red>, launch<&member::send_blue>, on<red, &member::take_red>,
                          on<blue, &member::take_blue>, sends<red, blue>>;
};

layout row(int width, bool upright = false) {
  layout l{wse2, upright ? 1 : width, upright ? width : 1};
  l.place<member>(all);
  for (const auto c : {red, blue}) {
    if (upright)
      l.path(c, wsl::row(edge - 1), ramp >> north, swap_y)
          .path(c, rows(1, edge - 1), south >> (ramp | north), swap_y)
          .path(c, wsl::row(0), south >> ramp);
    else
      l.path(c, column(0), ramp >> east, swap_x)
          .path(c, columns(1, edge - 1), west >> (ramp | east), swap_x)
          .path(c, column(edge - 1), west >> ramp);
  }
  return l;
}
std::vector<u32> numbers(u32 n, u32 from) {
  std::vector<u32> v;
  for (u32 i = 0; i < n; ++i) v.push_back(from + i);
  return v;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a word changes its color on every way along the axis", "", swapping_engines) {
  for (int width : {2, 3, 6})
    for (bool upright : {false, true}) {
      fabric f{row(width, upright), TestType{}};
      const area first = upright ? wsl::row(edge - 1) : column(0);
      f.start<&member::send_red>(first, 300u);
      f.launch<&member::send_blue>(first, 5u);
      for (int i = 1; i < width; ++i) {
        const member& m = f.program_at<member>(upright ? coord{0, width - 1 - i} : coord{i, 0});
        CHECK((i % 2 ? m.blues : m.reds) == numbers(300, 0));
        CHECK((i % 2 ? m.reds : m.blues) == numbers(5, 100));
      }
    }
}

namespace {

struct head {
  std::array<u32, 40> x{};
  void go(pe& me) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<u32>(i);
    me.async(mov(fabout(red), mem(x)));
  }
  using tasks = task_list<launch<&head::go>, sends<red>>;
};
struct tail {
  std::array<u32, 40> y{};
  task go(pe&) { co_await mov(mem(y), fabin(blue)); }
  using tasks = task_list<launch<&tail::go>, reads<blue>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("an axis that is not swapped keeps the color; operations send and read both", "",
                        swapping_engines) {
  layout l{wse2, 2, 2};  // red goes south, then east as blue
  l.place<head>(at(0, 0)).place<tail>(at(1, 1));
  l.path(red, at(0, 0), ramp >> south, swap_x)
      .path(red, at(0, 1), north >> east, swap_x)
      .path(blue, at(1, 1), west >> ramp);
  fabric f{l, TestType{}};
  f.start<&tail::go>(at(1, 1));
  f.launch<&head::go>(at(0, 0));
  for (u32 i = 0; i < 40; ++i) REQUIRE(f.read(1, 1, &tail::y)[i] == i);
}

TEST_CASE("the checker follows words across colors") {
  const auto says = [](const layout& l) {
    try {
      fabric f{l};
    } catch (const fault& e) { return std::string(e.what()); }
    return std::string("nothing");
  };
  CHECK(says(row(4)) == "nothing");

  layout deaf{wse2, 2, 1};
  deaf.place<head>(at(0, 0)).place<tail>(at(1, 0));
  deaf.path(red, at(0, 0), ramp >> east).path(blue, at(1, 0), west >> ramp);
  CHECK_THAT(says(deaf), Contains("the_neighbour_does_not_listen: color 0, PE(0, 0)"));
  layout wrong{wse2, 2, 1};
  wrong.place<head>(at(0, 0)).place<member>(at(1, 0));
  wrong.path(red, at(0, 0), ramp >> east, swap_x).path(red, at(1, 0), west >> ramp);
  CHECK_THAT(says(wrong), Contains("the_neighbour_does_not_listen: color 0, PE(0, 0)"));
  layout silent = row(3);
  silent.path(blue, at(0, 0), ramp >> east);
  CHECK_THAT(says(silent), Contains("two_paths_of_one_color_cover_one_pe: color 1"));

  layout round{wse2, 3, 2};
  round.place<head>(at(0, 0));
  round.path(red, at(0, 0), ramp >> east, swap_x);
  round.path(blue, at(1, 0), (west | south) >> east, swap_x, merges)
      .path(red, at(2, 0), west >> south)
      .path(red, at(2, 1), north >> west, swap_x);
  round.path(blue, at(1, 1), east >> north);
  CHECK_THAT(says(round), Contains("the_route_goes_in_a_circle"));
}

TEST_CASE("swapped colors are drawn as they flow") {
  for (int c : {0, 1}) CHECK_THAT(draw(row(4), c), Contains("o──►●──►●──►●"));
}
