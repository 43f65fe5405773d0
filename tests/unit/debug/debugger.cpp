// SPDX-License-Identifier: MIT
// The debugger, on the engines whose runs it steps: where it stops, that a stepped run is the same run, and
// that going back leads to the same states.
#include <wsl/debug/debugger.hpp>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/layout/check.hpp>
#include <wsl/program/descriptor/ops.hpp>

using namespace wsl;
using Catch::Contains;
using stepped = std::tuple<reference, timed>;

namespace {

constexpr color<f32> values{2}, answers{3};

struct adder {
  f32 sum = 0;
  int count = 0;
  f32 last[2]{};
  std::vector<i32> seen;

  void begin(pe& me, int n) {
    if (!me.west_edge()) return;
    for (int i = 1; i <= n; ++i) me.send(values, static_cast<f32>(i));
  }
  void add(pe& me, f32 x) {
    if (x < 0) throw std::out_of_range("no such value");
    sum += x;
    last[count++ % 2] = x;
    seen.push_back(static_cast<i32>(x));
    if (me.east_edge()) me.send(answers, sum), me.activate<&adder::answered>();
  }
  void answered(pe&) {}
  task wait(pe&, int n) { co_await mov(mem(got).part(0, n), fabin(answers)); }
  void fail(pe& me) { me.send(values, -1.f); }
  f32 got[8]{};
  using tasks =
      task_list<launch<&adder::begin>, launch<&adder::wait>, launch<&adder::fail>, on<values, &adder::add>,
                local<&adder::answered>, sends<values, answers>, reads<answers>>;
  using exports = export_list<&adder::sum, &adder::count, &adder::last, &adder::seen, &adder::got>;
};

constexpr layout row_of_three = layout{wse2, 3, 1}
                                    .place<adder>(all)
                                    .path(values, column(0), ramp >> (ramp | east))
                                    .path(values, column(1), west >> (ramp | east))
                                    .path(values, column(2), west >> ramp)
                                    .path(answers, column(2), ramp >> west)
                                    .path(answers, column(1), east >> west)
                                    .path(answers, column(0), east >> ramp);

template <class Engine>
auto made(int n, int awaited) {
  return [=] {
    fabric f{row_of_three, Engine{}};
    f.start<&adder::begin>(all, n);
    f.start<&adder::wait>(column(0), awaited);
    return f;
  };
}
std::string contents(debugger& d) {
  debug::machine_state s = d.state();
  return debug::contents_of(s);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a debugger stops before tasks, and a stepped run is the same run", "", stepped) {
  fabric plain = made<TestType>(4, 4)();
  const outcome undisturbed = plain.run();
  debugger d{made<TestType>(4, 4)};
  CHECK(d.where().why == stop::reason::begin);
  d.stop_at<&adder::add>(at(1, 0));
  for (int i = 0; i < 4; ++i) {
    const stop& s = d.run();
    CHECK(s.why == stop::reason::task);
    CHECK(s.at == coord{1, 0});
    CHECK_THAT(s.text, Contains("PE(1, 0) begins add(" + std::to_string(i + 1) + ")"));
    CHECK(d.read(1, 0, &adder::count) == i);
  }
  CHECK(d.run().why == stop::reason::quiet);
  CHECK_THAT(d.where().text, Contains(std::to_string(undisturbed.tasks) + " tasks"));
  for (int x = 0; x < 3; ++x) CHECK(d.read(x, 0, &adder::sum) == plain.read(x, 0, &adder::sum));
  debug::machine_state a = d.state(), b = debug::capture(plain);
  CHECK(a.cycle == b.cycle);
  debug::state_view v(a);
  CHECK(v.diff(b) == "no difference\n");
}

TEMPLATE_LIST_TEST_CASE("a debugger takes single steps", "", stepped) {
  fabric plain = made<TestType>(4, 4)();
  const outcome undisturbed = plain.run();
  debugger d{made<TestType>(4, 4)};
  u64 tasks = 0;
  while (!d.step_task().has_ended()) ++tasks;
  CHECK(tasks == undisturbed.tasks);

  debugger e{made<TestType>(4, 4)};
  u64 before = 0;
  while (!e.step_cycle().has_ended()) {
    CHECK(e.where().cycle > before);
    before = e.where().cycle;
  }
}

TEMPLATE_LIST_TEST_CASE("a debugger watches members, counts wavelets and waits for cycles", "", stepped) {
  debugger d{made<TestType>(3, 3)};
  d.watch(1, 0, &adder::sum);
  CHECK_THAT(d.run().text, Contains("sum of PE(1, 0) changes from 0 to 1"));
  CHECK(d.where().why == stop::reason::value);
  CHECK_THAT(d.run().text, Contains("sum of PE(1, 0) changes from 1 to 3"));
  d.delete_stops();
  d.watch_member("seen", at(2, 0));
  d.run();
  CHECK_THAT(d.where().text, Contains("seen of PE(2, 0) changes from "));
  d.delete_stops();
  CHECK(d.run().why == stop::reason::quiet);

  debugger e{made<TestType>(3, 3)};
  e.stop_at(values, 2, column(2));
  CHECK_THAT(e.run().text, Contains("2 wavelets of color 2 have arrived, the last at PE(2, 0)"));
  CHECK(e.where().why == stop::reason::wavelets);
  CHECK(e.history(values).size() >= 2);
  e.delete_stops();
  const u64 now = e.where().cycle;
  e.stop_at_cycle(now + 2);
  CHECK(e.run().why == stop::reason::cycle);
  CHECK(e.where().cycle >= now + 2);
  CHECK(e.run().why == stop::reason::quiet);
  std::vector<f32> came;
  for (const arrival& a : e.history(values))
    if (a.at == coord{1, 0}) came.push_back(std::bit_cast<f32>(a.word.bits));
  CHECK(came == std::vector<f32>{1, 2, 3});
  CHECK(e.history(answers).size() == 3);
}

TEMPLATE_LIST_TEST_CASE("reasons to stop at one step are one stop, and none hides another", "", stepped) {
  const auto stops_before_add = [](debugger& d) {
    int stops = 0;
    while (!d.run().has_ended()) stops += d.where().text.find("PE(1, 0) begins add(") != std::string::npos;
    return stops;
  };
  debugger plain{made<TestType>(4, 4)};
  plain.stop_at<&adder::add>(at(1, 0));
  CHECK(stops_before_add(plain) == 4);
  debugger watched{made<TestType>(4, 4)};
  watched.stop_at<&adder::add>(at(1, 0));
  for (int x = 0; x < 3; ++x) watched.watch(x, 0, &adder::sum), watched.watch(x, 0, &adder::count);
  CHECK(stops_before_add(watched) == 4);

  // Two members that one task changes are one stop, and the next step is not another.
  debugger d{made<TestType>(1, 1)};
  d.watch(1, 0, &adder::sum), d.watch(1, 0, &adder::count);
  CHECK_THAT(d.run().text, Contains("stop 1: sum of PE(1, 0) changes from 0 to 1 in add(1); "
                                    "stop 2: count of PE(1, 0) changes from 0 to 1 in add(1)"));
  CHECK(d.where().numbers == std::vector<int>{1, 2});
  CHECK(d.run().has_ended());
}

TEMPLATE_LIST_TEST_CASE("going back leads to the same states", "", stepped) {
  debugger d{made<TestType>(4, 4)};
  d.stop_at<&adder::add>();
  d.stop_at(values, 5);
  d.watch(2, 0, &adder::sum);
  std::vector<std::string> states{contents(d)}, texts{d.where().text};
  std::vector<std::size_t> heard{0};
  while (!d.run().has_ended()) {
    states.push_back(contents(d)), texts.push_back(d.where().text);
    heard.push_back(d.history(values).size());
  }
  REQUIRE(states.size() > 12);
  for (std::size_t i = states.size(); i-- > 0;) {
    CHECK(d.back().text == texts[i]);
    CHECK(contents(d) == states[i]);
    CHECK(d.history(values).size() == heard[i]);
  }
  CHECK_THROWS_WITH(d.back(), Contains("there is no stop before this one"));
  for (std::size_t i = 1; i < states.size(); ++i) {  // and forward again
    CHECK(d.run().text == texts[i]);
    CHECK(contents(d) == states[i]);
  }
  CHECK(d.run().why == stop::reason::quiet);
  CHECK(d.back().text == texts.back());
  d.back(), d.back();
  d.step_task(), d.step_cycle(), d.back(), d.back();
  CHECK(contents(d) == states[states.size() - 3]);
}

TEMPLATE_LIST_TEST_CASE("a debugger sees deadlocks and faults", "", stepped) {
  debugger d{made<TestType>(2, 3)};
  CHECK(d.run().why == stop::reason::deadlock);
  CHECK_THAT(d.where().text, Contains("mov waits for 1 wavelet of color 3"));
  CHECK_THAT(d.command("who 0,0"), Contains("PE(0, 0) waits for color 3 from PE(2, 0)"));
  CHECK(d.back().why == stop::reason::begin);

  debugger e{[] {
    fabric f{row_of_three, TestType{}};
    f.start<&adder::fail>(column(0));
    return f;
  }};
  e.stop_at_task("add", at(1, 0));
  CHECK_THAT(e.run().text, Contains("PE(1, 0) begins add(-1)") || Contains("no such value"));
  while (!e.where().has_ended()) e.run();
  CHECK(e.where().why == stop::reason::fault);
  CHECK_THAT(e.where().text, Contains("no such value") && Contains("in add on PE("));
  CHECK_THROWS_AS(e.run(), fault);
  CHECK(!e.back().has_ended());
}

TEMPLATE_LIST_TEST_CASE("a debugger steps the runs of a fabric that it is given", "", stepped) {
  fabric f = made<TestType>(3, 3)();
  {
    debugger d{f};
    d.stop_at<&adder::add>(column(2));
    d.run();
    CHECK_THROWS_WITH(d.back(), Contains("cannot make the fabric again"));
    d.delete_stops();
    CHECK(d.run().why == stop::reason::quiet);
    d.stepped().template start<&adder::begin>(all, 1);
    d.stepped().template start<&adder::wait>(column(0), 1);
    d.stop_at<&adder::add>(column(1));
    CHECK_THAT(d.run().text, Contains("PE(1, 0) begins add(1)"));
    CHECK(d.run().why == stop::reason::quiet);
  }
  f.start<&adder::begin>(all, 2);
  f.start<&adder::wait>(column(0), 2);
  f.run();  // without a debugger again
  CHECK(f.read(1, 0, &adder::sum) == 6 + 1 + 3);
  {
    f.start<&adder::begin>(all, 2);
    debugger d{f};
    d.stop_at<&adder::add>(column(1));
    d.run();
  }
  CHECK_THAT(f.stopped_by(), Contains("the debugger has ended this run in its middle"));
  CHECK(f.read(1, 0, &adder::sum) == 10);
  CHECK_THROWS_AS(f.run(), fault);
}

TEST_CASE("what a debugger cannot do it says") {
  fabric f{row_of_three};
  CHECK_THROWS_WITH(debugger{f}, Contains("the threaded engine cannot be stepped"));
  debugger d{made<reference>(2, 2)};
  CHECK_THROWS_WITH(d.stop_at(at(3, 0)), Contains("a stop is on the grid of 3 x 1 PEs"));
  CHECK_THROWS_WITH(d.stop_at_color(64), Contains("24 colors"));
  CHECK_THROWS_WITH(d.stop_at(values, 0), Contains("above 0"));
  CHECK_THROWS_WITH(d.watch_member("many", at(0, 0)),
                    Contains("no program on PE(0, 0) exports many; there are sum of "));
  CHECK_THROWS_WITH(d.watch_member("sum", at(0, 9)), Contains("on the grid of 3 x 1 PEs, not on PE(0, 9)"));
  CHECK_THROWS_WITH(d.command("stop"), Contains("stop is used as"));
  CHECK_THROWS_WITH(d.command("nonsense"), Contains("there is no command nonsense"));
  int made_before = 0;
  debugger e{[&] {
    fabric g{row_of_three, reference{}};
    g.start<&adder::begin>(all, made_before++ ? 1 : 3);
    return g;
  }};
  e.stop_at<&adder::add>(column(0));
  for (int i = 0; i < 3; ++i) CHECK(e.run().why == stop::reason::task);
  CHECK_THROWS_WITH(e.back(), Contains("the run went another way than before"));
}

TEMPLATE_LIST_TEST_CASE("what goes wrong with a debugger leaves it where it was", "", stepped) {
  // A fabric that cannot be made again.
  int made_so_far = 0;
  debugger d{[&] {
    if (made_so_far++) throw std::runtime_error("not a second time");
    return made<TestType>(4, 4)();
  }};
  d.stop_at<&adder::add>(at(1, 0));
  d.run(), d.run();
  const std::string here = d.where().text;
  CHECK_THROWS_WITH(d.back(), "not a second time");
  CHECK(d.where().text == here);
  CHECK_THAT(d.run().text, Contains("begins add(3)"));

  // A fabric that goes before its debugger, in the middle of a run and between two.
  for (const bool in_the_middle : {true, false}) {
    std::optional<fabric> f{made<TestType>(4, 4)()};
    debugger e{*f};
    if (in_the_middle) e.stop_at<&adder::add>();
    e.run();
    CHECK(e.where().has_ended() != in_the_middle);
    f.reset();
    CHECK_THROWS_WITH(e.run(), Contains("the fabric of this debugger is gone"));
    CHECK_THROWS_WITH(e.command("list"), Contains("the fabric of this debugger is gone"));
  }
  fabric from = made<TestType>(2, 2)();
  debugger e{from};
  fabric to = std::move(from);
  CHECK_THROWS_WITH(e.step_task(), Contains("the fabric of this debugger is gone"));
  to.run();
  CHECK(to.read(1, 0, &adder::count) == 2);

  fabric one = made<TestType>(2, 2)();
  {
    debugger first{one};
    CHECK_THROWS_WITH(debugger{one}, Contains("has a debugger already"));
  }
  debugger second{one};
  CHECK(second.run().why == stop::reason::quiet);

  // A run after the last one ended is no way in which back is lost.
  debugger g{made<TestType>(2, 2)};
  g.stop_at<&adder::add>(at(1, 0));
  while (!g.run().has_ended()) {}
  g.run();
  CHECK_THAT(g.back().text, Contains("begins add(2)"));
}

TEMPLATE_LIST_TEST_CASE("a run that is left is no fault, and no dump is written of it", "", stepped) {
  const std::string file = "/tmp/wsl_left_" + std::to_string(::getpid());
  ::setenv("WSL_DUMP", file.c_str(), 1);
  {
    debugger d{made<TestType>(4, 4)};
    d.stop_at<&adder::add>();
    d.run(), d.run(), d.back();
  }
  ::unsetenv("WSL_DUMP");
  CHECK(::access(file.c_str(), F_OK) != 0);
}

TEMPLATE_LIST_TEST_CASE("a stop that can never come is refused", "", stepped) {
  debugger d{made<TestType>(4, 4)};
  CHECK_THROWS_WITH(d.stop_at_task("nothing"),
                    Contains("has a task nothing; there are begin, wait, fail, add, answered"));
  CHECK_THROWS_WITH(d.stop_at_color(7), Contains("no path has color 7"));
  d.stop_at_cycle(3);
  d.run();
  CHECK_THROWS_WITH(d.stop_at_cycle(1), Contains("cycle 1 has come already"));
  CHECK_THROWS_WITH(d.command("watch"), Contains("watch is used as: watch 1,2 sum"));
  CHECK_THROWS_WITH(d.command("run 3"), "run is used as: run");
  CHECK_THROWS_WITH(d.command("stop task"), Contains("stop is used as"));
  CHECK(d.command("stop cycle 5000000000") == "stop 2: in cycle 5000000000\n");
  CHECK(d.command("").empty());
}

TEMPLATE_LIST_TEST_CASE("a run that the debugger has not begun cannot stop, and says so", "", stepped) {
  fabric f = made<TestType>(4, 4)();
  debugger d{f};
  CHECK_THROWS_WITH(d.stop_at_task("multiply"), Contains("has a task multiply"));
  CHECK_THROWS_WITH(d.stop_at_cycle(0), Contains("cycle 0 has come already"));
  d.stop_at<&adder::add>();
  CHECK_THROWS_WITH(f.run(), Contains("run it with d.run()"));
}

TEST_CASE("an empty line takes the last step again, and several steps are one command") {
  const auto shows = [](const char* lines) {
    debugger d{made<reference>(4, 4)};
    std::istringstream from(lines);
    std::ostringstream to;
    d.prompt(from, to);
    return to.str();
  };
  CHECK(shows("task\n\n\nwhere\n") == shows("task\ntask\ntask\nwhere\n"));
  CHECK_THAT(shows("task 3\n"), Contains(shows("task\n\n\n").substr(shows("task\n\n").size())));
  CHECK(shows("\n") == "nothing has run yet\n(wsl) (wsl) \n");
  CHECK_THAT(shows("task\nwhere\n\nwhere\n"), Contains("\n(wsl) (wsl) cycle "));  // where is no step
  CHECK_THAT(shows("stop task add 1,0\ntask 1000\n"), Contains("stop 1: PE(1, 0) begins add(1)"));
  CHECK_THAT(shows("task 1000\n"), Contains("(wsl) the run has ended: "));
  CHECK_THAT(shows("task 0\n"), Contains("a number of steps is above 0"));
  CHECK_THAT(shows("cycle x\n"), Contains("'x' is no number of steps"));
  CHECK_THAT(shows("cycle 1 2\n"), Contains("cycle is used as: cycle, or cycle 5"));
  CHECK_THAT(shows("cycle 5\nwhere\n"), Contains("cycle 5"));
}

TEST_CASE("the prompt carries out the debugger's commands and those of wsl-debug") {
  debugger d{made<reference>(2, 2)};
  std::istringstream from(
      "stop task add 1,0\nstop color 2 4\nstop cycle 6\nwatch 2,0 sum\nstops\nrun\nprint 1,0 "
      "sum\ntask\ncycle\nback\n"
      "where\nhistory 2\npe 1,0\nbad\ndelete\nstops\nrun\nlist\nquit\nlist\n");
  std::ostringstream to;
  d.prompt(from, to);
  CHECK_THAT(to.str(),
             Contains("1  before add on PE(1, 0)\n2  each time when 4 wavelets more of color 2 have arrived") &&
                 Contains("3  in cycle 6\n4  when sum of PE(2, 0) changes\n") &&
                 Contains("PE(1, 0) begins add(1)\n(wsl) sum = 0\n") &&
                 Contains("there is no command bad; help lists them") &&
                 Contains("(wsl) none\n(wsl) the run has ended: ") &&
                 Contains("the state on the reference engine, 3 x 1 PEs"));
  CHECK(to.str().ends_with("words in queues\n(wsl) "));
}
