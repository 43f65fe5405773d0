// SPDX-License-Identifier: MIT
// Library modules: members of a program that bring their own state, colors and tasks.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};

/// Sums up what arrives on a color, in a task of its own that it activates itself.
template <color<f32> in>
struct summer {
  f32 last = 0, sum = 0;
  int steps = 0;
  void hear(pe& me, f32 x) {
    last = x;
    me.activate<&summer::add>();
  }
  void add(pe& me) {
    sum += last;
    if (++steps == 3) me.block<in>();
  }
  using tasks = task_list<on<in, &summer::hear>, local<&summer::add>>;
};

/// Sends an array, and says when it has.
template <color<f32> out>
struct shouter {
  std::array<f32, 4> words{1, 2, 3, 4};
  int sent = 0;
  void shout(pe& me) { me.async(mov(fabout(out), mem(words)), then<&shouter::done>()); }
  void done(pe&) { ++sent; }
  using tasks = task_list<local<&shouter::done>, sends<out>>;
};

/// A module of modules.
struct pair_of_summers {
  int padding = 0;
  summer<red> first;
  summer<blue> second;
  using tasks = task_list<use<&pair_of_summers::first>, use<&pair_of_summers::second>>;
};

struct worker {
  f32 own = 0;
  int steps = 0, padding[3] = {};
  pair_of_summers in;
  shouter<green> out;
  void start(pe& me) {
    me.activate<&worker::step>();
    out.shout(me);
  }
  void step(pe&) { ++steps; }
  using tasks = task_list<launch<&worker::start>, local<&worker::step>, use<&worker::in>, use<&worker::out>>;
};

struct caller {
  f32 heard = 0;
  void call(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(red, 1.f), me.send(blue, 10.f);
  }
  void hear(pe&, f32 x) { heard += x; }
  using tasks = task_list<launch<&caller::call>, on<green, &caller::hear>, sends<red, blue>>;
};

constexpr layout together = layout{wse2, 2, 1}
                                .place<caller>(column(0))
                                .place<worker>(column(1))
                                .path(red, column(0), ramp >> east)
                                .path(red, column(1), west >> ramp)
                                .path(blue, column(0), ramp >> east)
                                .path(blue, column(1), west >> ramp)
                                .path(green, column(1), ramp >> west)
                                .path(green, column(0), east >> ramp);
static_assert(routed<together>());

}  // namespace

TEMPLATE_LIST_TEST_CASE("modules bring state and tasks, at any depth, and each activates its own", "",
                        every_engine) {
  fabric f{together, TestType{}};
  f.start(at(1, 0));
  f.launch<&caller::call>(at(0, 0), 2);
  const worker& w = f.program_at<worker>({1, 0});
  CHECK(w.in.first.sum == 2);
  CHECK(w.in.second.sum == 20);
  CHECK(w.in.first.steps == 2);
  CHECK(w.in.second.steps == 2);
  CHECK(w.steps == 1);
  CHECK(w.out.sent == 1);
  CHECK(f.read(0, 0, &caller::heard) == 10);
}

TEMPLATE_LIST_TEST_CASE("a module blocks its own color and no other", "", every_engine) {
  fabric f{together, TestType{}};
  CHECK_THROWS_WITH(f.launch<&caller::call>(at(0, 0), 4),
                    Contains("1 wavelet of color 0 in the input queue") &&
                        Contains("; task hear may not run") &&
                        Contains("1 wavelet of color 1 in the input queue"));
  const worker& w = f.program_at<worker>({1, 0});
  CHECK(w.in.first.sum == 3);
  CHECK(w.in.second.sum == 30);
}

namespace {

/// Wants a task of a module that it has not.
struct outsider {
  void start(pe& me) { me.activate<&shouter<green>::done>(); }
  using tasks = task_list<launch<&outsider::start>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task of a module that the program does not use is a fault", "", every_engine) {
  fabric f{layout{wse2, 1, 1}.place<outsider>(all), TestType{}};
  CHECK_THROWS_WITH(f.launch(), Contains("outsider does not bind local<&") && Contains("shouter<color<") &&
                                    Contains("{2}>::done>") && Contains("in start on PE(0, 0)"));
}
