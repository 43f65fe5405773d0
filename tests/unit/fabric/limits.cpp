// SPDX-License-Identifier: MIT
// Limits of a run: its seconds (WSL_LIMIT), the memory of its PEs, the memory of the computer.
#include "../engine/engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

/// Sets WSL_LIMIT while it lives.
struct limit_is {
  explicit limit_is(const char* text) { setenv("WSL_LIMIT", text, 1); }
  ~limit_is() { unsetenv("WSL_LIMIT"); }
};

constexpr color<f32> red{0}, blue{1};

struct restless {
  void go(pe& me) { me.activate<&restless::again>(); }
  void again(pe& me) { me.activate<&restless::again>(); }
  using tasks = task_list<launch<&restless::go>, local<&restless::again>>;
};

template <color<f32> in, color<f32> out>
struct answers {
  void ask(pe& me) { me.send(out, 1.f); }
  void answer(pe& me, f32 x) { me.send(out, x); }
  using tasks = task_list<launch<&answers::ask>, on<in, &answers::answer>, sends<out>>;
};

struct forwards {
  void go(pe& me) {
    me.send(red, 1.f);
    me.activate<&forwards::open>();
  }
  void open(pe& me) { me.async(mov(fabout(red, forever), fabin(blue, forever))); }
  using tasks = task_list<launch<&forwards::go>, local<&forwards::open>, reads<blue>, sends<red>>;
};
struct returns {
  void go(pe& me) { me.async(mov(fabout(blue, forever), fabin(red, forever))); }
  using tasks = task_list<local<&returns::go, active>, reads<red>, sends<blue>>;
};

template <class West, class East>
layout couple() {
  layout l{wse2, 2, 1};
  l.place<West>(column(0));
  l.place<East>(column(1));
  return l.path(red, column(0), ramp >> east)
      .path(red, column(1), west >> ramp)
      .path(blue, column(1), ramp >> west)
      .path(blue, column(0), east >> ramp);
}

/// Room for n floats, and a map with as many entries as are asked for.
struct holder {
  std::vector<f32> numbers;
  std::map<int, f32> by_number;
  void take(pe&, int floats, int entries) {
    numbers.assign(static_cast<std::size_t>(floats), 1.f);
    by_number.clear();
    for (int i = 0; i < entries; ++i) by_number[i] = 1;
  }
  using tasks = task_list<launch<&holder::take>>;
};

struct large {
  u8 bytes[2048]{};
  void go(pe&) {}
  using tasks = task_list<launch<&large::go>>;
};

/// An engine that needs more memory than there is.
struct greedy {
  engines::engine* make(const layout&) const { throw std::bad_alloc(); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a run that never ends is ended after WSL_LIMIT, and says who ran", "",
                        every_engine) {
  const limit_is limit("0.02s");
  const auto is_ended = Contains("wsl: the run has not become quiet in 0.02s (WSL_LIMIT=0.02s)");
  fabric f{layout{wse2, 3, 1}.place<restless>(all), TestType{}};
  CHECK_THROWS_WITH(f.launch(1, 0), is_ended && Contains("\n  PE(1, 0) of ") &&
                                        Contains("restless: again, ") && Contains(" time") &&
                                        !Contains("PE(0, 0)"));
  fabric g{couple<answers<blue, red>, answers<red, blue>>(), TestType{}};
  CHECK_THROWS_WITH(g.launch(0, 0), is_ended && Contains(": answer, ") && Contains(" time"));
  fabric h{couple<forwards, returns>(), TestType{}};
  CHECK_THROWS_WITH(h.launch(0, 0), is_ended && Contains("no task ran"));
}

TEMPLATE_LIST_TEST_CASE("WSL_LIMIT does not touch what ends in time", "", every_engine) {
  const limit_is limit("1000s");
  fabric f{layout{wse2, 1, 1}.place<holder>(all), TestType{}};
  CHECK(f.launch<&holder::take>(all, 1, 1).tasks == 1);
}

TEST_CASE("WSL_LIMIT is a number of seconds") {
  for (const char* wrong : {"10", "s", "-1s", "0s", "1 s", "1m", "100 tasks", "1e99s"}) {
    const limit_is limit(wrong);
    CHECK_THROWS_WITH(fabric(layout{wse2, 1, 1}.place<large>(all)),
                      Contains(std::string("wsl: WSL_LIMIT is \"") + wrong + "\"; it must be the seconds"));
  }
  const limit_is none("");
  CHECK_NOTHROW(fabric(layout{wse2, 1, 1}.place<large>(all)));
}

TEMPLATE_LIST_TEST_CASE("the containers of a program count to the memory of its PE", "", every_engine) {
  const layout plan = layout{wse2, 2, 1}.place<holder>(all);
  fabric f{plan, TestType{}};
  CHECK_NOTHROW(f.launch<&holder::take>(all, 12'000, 0));
  CHECK_THROWS_WITH(f.launch<&holder::take>(at(1, 0), 12'300, 0),
                    Contains("wsl: PE(1, 0) of ") && Contains("holder has ") &&
                        Contains(" and 49200 in their containers; a PE of wse2 has 49152: "));
  f.start<&holder::take>(at(1, 0), 0, 0);
  CHECK_NOTHROW(f.run());  // the third run is not looked at, and neither is its mistake
  fabric g{plan, TestType{}};
  g.program_at<holder>({0, 0}).numbers.resize(12'300);
  CHECK_THROWS_WITH(g.run(), Contains("PE(0, 0)"));
  fabric h{plan, TestType{}};
  CHECK_THROWS_WITH(h.launch<&holder::take>(at(0, 0), 0, 7'000), Contains("in their containers"));
}

TEMPLATE_LIST_TEST_CASE("that limit can be ignored, and a program of the computer has none", "",
                        every_engine) {
  fabric f{layout{wse2, 1, 1}.place<holder>(all), TestType{}};
  f.ignore_memory_limit();
  fabric moved{std::move(f)};
  CHECK_NOTHROW(moved.launch<&holder::take>(all, 20'000, 0));
  fabric g{layout{host, 1, 1}.place<holder>(all), TestType{}};
  CHECK_NOTHROW(g.launch<&holder::take>(all, 20'000, 0));
}

TEMPLATE_LIST_TEST_CASE("a grid that the computer cannot hold is a fault that says how large it is", "",
                        every_engine) {
  CHECK_THROWS_WITH(fabric(layout{host, 32767, 32767}.place<large>(all), TestType{}),
                    Contains("wsl: a grid of 32767 x 32767 PEs takes 2") &&
                        Contains("MiB for its programs alone, which is more than this computer has:"));
}

TEST_CASE("so is one for which the memory ends while it is built") {
  CHECK_THROWS_WITH(
      fabric(layout{wse2, 3, 2}.place<large>(all), greedy{}),
      "wsl: a grid of 3 x 2 PEs takes 1 MiB for its programs and more for its engine, which this "
      "computer does not give: use a smaller grid or smaller arrays");
}
