// SPDX-License-Identifier: MIT
// The report of a deadlock: the waiting operations and tasks, which PE waits for which, and the remedy.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace wsl;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using wsl::engines::wait, wsl::engines::waits;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};

/// The report of the deadlock in which a run stops.
template <class Run>
std::string report_of(Run run_it) {
  try {
    run_it();
  } catch (const deadlock& d) { return d.what(); }
  return "no deadlock";
}

int lines_of(const std::string& text) {
  return 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

template <color<f32> in, color<f32> out>
struct node {
  std::array<f32, 64> x{};
  f32 heard = 0;
  int steps = 0;
  task receive(pe&, int n) { co_await mov(mem(x).part(0, n), fabin(in)); }
  task receive_then_send(pe& me) {
    co_await mov(mem(x), fabin(in));
    me.async(mov(fabout(out), mem(x)));
  }
  task send_then_receive(pe&) {
    co_await mov(fabout(out), mem(x));
    co_await mov(mem(x), fabin(in));
  }
  void send(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(out, 1.f);
  }
  void stream(pe& me) { me.async(mov(fabout(out), mem(x))); }
  void hold(pe& me) { me.activate<&node::step>(); }
  void step(pe&) { ++steps; }
  void control_then_receive(pe& me) { me.send_control(out, 1), me.send(out, 1.f); }
  task stop(pe& me) {
    me.unblock<&node::step>();
    co_return;
  }
  using tasks = task_list<launch<&node::receive>, launch<&node::receive_then_send>,
                          launch<&node::send_then_receive>, launch<&node::send>, launch<&node::stream>,
                          launch<&node::hold>, launch<&node::control_then_receive>,
                          local<&node::step, blocked>, control<1, &node::stop>, reads<in>, sends<out>>;
};

using left = node<blue, red>;
using right = node<red, blue>;

/// left sends red to right, right sends blue to left.
constexpr layout couple = layout{wse2, 2, 1}
                              .place<left>(column(0))
                              .place<right>(column(1))
                              .path(red, column(0), ramp >> east)
                              .path(red, column(1), west >> ramp)
                              .path(blue, column(1), ramp >> west)
                              .path(blue, column(0), east >> ramp);
static_assert(routed<couple>());

}  // namespace

TEMPLATE_LIST_TEST_CASE("a reader whose partner never sends: the partner is the culprit", "", every_engine) {
  fabric f{couple, TestType{}};
  f.start<&right::receive>(at(1, 0), 8);
  const std::string text = report_of([&] { f.launch<&left::send>(at(0, 0), 5); });
  CHECK_THAT(text, StartsWith("wsl: deadlock: nothing moves any more, but something waits\n  PE(1, 0) of "));
  CHECK_THAT(text, Contains("mov waits for 3 wavelets of color 0; the input queue is empty"));
  CHECK_THAT(text, Contains("\nPE(1, 0) waits for color 0 from PE(0, 0), which waits for nothing: it never "
                            "sent what is missing."));
  CHECK_THAT(text,
             Contains("\nLet PE(0, 0) of ") && Contains("send as many wavelets of color 0 as are read"));
}

TEMPLATE_LIST_TEST_CASE("two readers that wait for each other are a cycle", "", every_engine) {
  fabric f{couple, TestType{}};
  f.start<&left::receive_then_send>(at(0, 0));
  f.start<&right::receive_then_send>(at(1, 0));
  const std::string text = report_of([&] { f.run(); });
  CHECK_THAT(
      text,
      Contains(
          "\nPE(0, 0) waits for color 1 from PE(1, 0), which waits for color 0 from PE(0, 0): a cycle."));
  CHECK_THAT(text, EndsWith("Let one of them send before it waits."));
}

TEMPLATE_LIST_TEST_CASE("two senders that wait for each other to receive are a cycle", "", short_queues) {
  fabric f{couple, TestType{}};
  f.start<&left::send_then_receive>(at(0, 0));
  f.start<&right::send_then_receive>(at(1, 0));
  const std::string text = report_of([&] { f.run(); });
  CHECK_THAT(text, Contains("mov waits to put 54 wavelets of color 0 into the full output queue"));
  // The threaded engine has no routers: what lies in them it counts to the input queue.
  CHECK_THAT(text, Contains(" wavelets of color 1 in the input queue") &&
                       Contains("; no task or operation takes them"));
  CHECK_THAT(text, Contains("waits for room on color 0 towards PE(1, 0), which waits for room on color 1 "
                            "towards PE(0, 0): a cycle."));
  CHECK_THAT(text, EndsWith("Let one of them take its wavelets while it sends: with a data task, or with an "
                            "operation started by me.async(...)."));
}

namespace {

/// Sends red, then green; the other one reads green, then red.
struct red_first {
  std::array<f32, 64> x{};
  task go(pe&) {
    co_await mov(fabout(red), mem(x));
    co_await mov(fabout(green), mem(x));
  }
  using tasks = task_list<launch<&red_first::go>, sends<red, green>>;
};
struct green_first {
  std::array<f32, 64> x{};
  task go(pe&) {
    co_await mov(mem(x), fabin(green));
    co_await mov(mem(x), fabin(red));
  }
  using tasks = task_list<launch<&green_first::go>, reads<red, green>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a sender and a reader that take two colors in different orders are a cycle", "",
                        short_queues) {
  layout l{wse3, 2, 1};
  l.place<red_first>(column(0)).place<green_first>(column(1));
  for (const auto c : {red, green}) l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  fabric f{l, TestType{}};
  const std::string text = report_of([&] { f.launch(); });
  CHECK_THAT(text, Contains("\nPE(0, 0) waits for room on color 0 towards PE(1, 0), which waits for color 2 "
                            "from PE(0, 0): a cycle."));
  CHECK_THAT(text, Contains("me.async"));
}

TEMPLATE_LIST_TEST_CASE("a sender whose words nobody takes: the receiver is the culprit", "", short_queues) {
  fabric f{couple, TestType{}};
  const std::string text = report_of([&] { f.launch<&left::stream>(at(0, 0)); });
  CHECK_THAT(text,
             Contains("PE(0, 0) waits for room on color 0 towards PE(1, 0), where nothing takes color 0."));
  CHECK_THAT(text, Contains("\nBind a task to color 0 on PE(1, 0) of "));
}

TEST_CASE("what a task sent and could not leave is counted") {
  fabric f{couple, reference{}};
  const std::string text = report_of([&] { f.launch<&left::send>(at(0, 0), 20); });
  CHECK_THAT(text, Contains("send waits to put 10 wavelets of color 0 into the full output queue"));
  CHECK_THAT(text, Contains("2 routers (PE(0, 0), PE(1, 0)): 2 wavelets of color 0 each cannot move on"));
}

TEMPLATE_LIST_TEST_CASE("unread words alone are a deadlock too", "", every_engine) {
  fabric f{couple, TestType{}};
  const std::string text = report_of([&] { f.launch<&left::send>(at(0, 0), 1); });
  CHECK_THAT(text, Contains("\n  PE(1, 0) of ") && Contains("1 wavelet of color 0 in the input queue") &&
                       Contains("; no task or operation takes them"));
  CHECK_THAT(text, Contains("\nBind a task to color 0 on PE(1, 0) of "));
  CHECK(lines_of(text) == 3);
}

TEMPLATE_LIST_TEST_CASE("a task that is activated but blocked", "", every_engine) {
  fabric f{couple, TestType{}};
  const std::string text = report_of([&] { f.launch<&left::hold>(at(0, 0)); });
  CHECK_THAT(text, Contains("task step is activated but blocked"));
  CHECK_THAT(text, Contains("\nLet PE(0, 0) of ") && EndsWith(" unblock step, or do not activate it."));
}

TEMPLATE_LIST_TEST_CASE("a control wavelet waits for its task while a task that waits holds the PE", "",
                        every_engine) {
  fabric f{couple, TestType{}};
  f.start<&right::receive>(at(1, 0), 1);
  const std::string text = report_of([&] { f.launch<&left::control_then_receive>(at(0, 0)); });
  CHECK_THAT(text, Contains("mov waits for 1 wavelet of color 0"));
  CHECK_THAT(text,
             Contains("2 wavelets of color 0 in the input queue") && Contains("; task stop may not run"));
}

namespace {

struct taker {
  int got = 0;
  void take(pe&, f32) { ++got; }
  void open(pe& me) { me.unblock<red>(); }
  using tasks = task_list<on<red, &taker::take, blocked>, launch<&taker::open>>;
};

struct giver {
  void give(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(red, 1.f);
  }
  using tasks = task_list<launch<&giver::give>, sends<red>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a blocked data task is named, with what unblocks it", "", short_queues) {
  layout l{wse2, 3, 1};
  l.place<giver>(column(0)).place<taker>(column(2));
  l.path(red, column(0), ramp >> east).path(red, column(1), west >> east).path(red, column(2), west >> ramp);
  fabric f{l, TestType{}};
  const std::string text = report_of([&] { f.launch<&giver::give>(at(0, 0), 30); });
  CHECK_THAT(text,
             Contains(" wavelets of color 0 in the input queue") && Contains("; task take may not run"));
  CHECK_THAT(text,
             Contains("PE(0, 0) waits for room on color 0 towards PE(2, 0), whose task take may not run."));
  CHECK_THAT(text, Contains("\nLet PE(2, 0) of ") &&
                       Contains("unblock color 0 or end what keeps it busy, so that take runs"));
}

namespace {

struct reader {
  std::array<f32, 16> x{};
  void read(pe& me, int n) { me.async(mov(mem(x).part(0, n), fabin(red))); }
  using tasks = task_list<launch<&reader::read>, reads<red>>;
};

/// A color from the host through the west side.
layout streamed(const program& p) {
  layout l{wse2, 2, 1};
  return l.place(column(1), p)
      .path(red, column(0), west >> east)
      .path(red, column(1), west >> ramp)
      .stream_in(red, at(0, 0), west);
}

void write(fabric& f, std::size_t n) {
  const std::vector<u32> words(n);
  f.engine_in_use().stream_write(0, {0, 0}, words);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a host that writes too few words", "", every_engine) {
  fabric f{streamed(program_v<reader>), TestType{}};
  write(f, 3);
  const std::string text = report_of([&] { f.launch<&reader::read>(at(1, 0), 5); });
  CHECK_THAT(text, Contains("mov waits for 2 wavelets of color 0"));
  CHECK_THAT(
      text,
      Contains("PE(1, 0) waits for color 0 from the host stream at PE(0, 0): the host wrote too few words."));
  CHECK_THAT(text, EndsWith("Write as many words of color 0 into the stream as the PEs read."));
}

TEMPLATE_LIST_TEST_CASE("a host that writes more words than are taken", "", short_queues) {
  fabric f{streamed(program_v<taker>), TestType{}};
  write(f, 25);
  const std::string text = report_of([&] { f.run(); });
  CHECK_THAT(text, Contains("host stream at PE(0, 0): 15 words of color 0 cannot enter the grid"));
  CHECK_THAT(
      text,
      Contains(
          "the host at PE(0, 0) waits for room on color 0 towards PE(1, 0), whose task take may not run."));
}

TEMPLATE_LIST_TEST_CASE("a reader on a PE that no path reaches", "", every_engine) {
  layout l{wse2, 3, 1};
  l.place<giver>(column(0)).place<reader>(columns(1, edge));
  l.path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  fabric f{l, TestType{}};
  const std::string text = report_of([&] { f.launch<&reader::read>(at(2, 0), 5); });
  CHECK_THAT(text, Contains("PE(2, 0) waits for color 0, which no path brings there."));
  CHECK_THAT(text, Contains("\nAdd a path of color 0 that ends in the ramp of PE(2, 0) of "));
}

TEST_CASE("a multicast that one receiver stops starves the other") {
  layout l{wse2, 3, 1};
  l.place<giver>(column(1)).place<reader>(column(0)).place<taker>(column(2));
  l.path(red, column(1), ramp >> (west | east))
      .path(red, column(0), east >> ramp)
      .path(red, column(2), west >> ramp);
  fabric f{l, reference{}};
  f.start<&reader::read>(at(0, 0), 16);
  const std::string text = report_of([&] { f.launch<&giver::give>(at(1, 0), 10); });
  CHECK_THAT(
      text,
      Contains("PE(0, 0) waits for color 0, which is held up by PE(2, 0), whose task take may not run."));
}

namespace {

/// Reads one value from the west and passes it on.
template <color<f32> in, color<f32> out>
struct link {
  f32 x = 0;
  task pass(pe& me) {
    co_await mov(&x, fabin(in, 1));
    if (!me.east_edge()) me.send(out, x);
  }
  using tasks = task_list<launch<&link::pass>, reads<in>, sends<out>>;
};

layout chain(int width) {
  layout l{wse2, width, 1};
  l.place<link<blue, red>>(columns(0, edge, 2)).place<link<red, blue>>(columns(1, edge, 2));
  l.path(red, columns(0, edge - 1, 2), ramp >> east).path(red, columns(1, edge, 2), west >> ramp);
  l.path(blue, columns(1, edge - 1, 2), ramp >> east).path(blue, columns(2, edge, 2), west >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a long chain is followed to its beginning, and only its ends are printed", "",
                        every_engine) {
  fabric f{chain(600), TestType{}};
  const std::string text = report_of([&] { f.launch(columns(1, edge)); });
  CHECK_THAT(
      text,
      Contains("300 PEs of ") &&
          Contains("(PE(1, 0), PE(3, 0), PE(5, 0), PE(7, 0), ...): mov waits for 1 wavelet of color 0 each"));
  CHECK_THAT(
      text,
      Contains("299 PEs of ") &&
          Contains("(PE(2, 0), PE(4, 0), PE(6, 0), PE(8, 0), ...): mov waits for 1 wavelet of color 1 each"));
  CHECK_THAT(text, Contains("\nPE(2, 0) waits for color 1 from PE(1, 0), which waits for color 0 from PE(0, "
                            "0), which waits for nothing"));
  CHECK(lines_of(text) < 8);
  fabric g{chain(600), TestType{}};
  g.start(at(599, 0));
  g.start(columns(1, edge - 1));
  CHECK(report_of([&] { g.run(); }).size() < 1500);
}

TEST_CASE("the links in the middle of a chain are counted") {
  waits open;
  for (int x = 29; x > 0; --x) open.push_back({wait::reason::input, {x, 0}, x % 2 ? 0 : 1, "link", "mov", 1});
  const std::string text = deadlock(chain(30), open).what();
  CHECK_THAT(
      text, Contains("\nPE(29, 0) waits for color 0 from PE(28, 0), which waits for color 1 from PE(27, 0)"));
  CHECK_THAT(text, Contains("more PEs in turn, the last of them being PE(2, 0), which waits for color 1 from "
                            "PE(1, 0), which waits for color 0 from PE(0, 0), "
                            "which waits for nothing: it never sent what is missing."));
}

TEST_CASE("on a large grid on which everything waits the report stays short") {
  const int side = 700;
  layout l{wse2, side, side};
  l.place<left>(all);
  l.path(blue, column(edge - 1), ramp >> west)
      .path(blue, columns(1, edge - 1), east >> (ramp | west))
      .path(blue, column(0), east >> ramp);
  waits open;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      open.push_back({wait::reason::input, {x, y}, 1, "p", "mov", static_cast<unsigned long long>(1 + x)});
  for (int i = 0; i < 50; ++i) {
    static std::array<std::string, 50> names;
    names[static_cast<std::size_t>(i)] = "step" + std::to_string(i);
    open.push_back({wait::reason::held, {i, 0}, -1, "p", names[static_cast<std::size_t>(i)].c_str(), 1});
  }
  const std::string text = deadlock(l, open).what();
  CHECK(lines_of(text) <= 14);
  CHECK(text.size() < 1500);
  CHECK_THAT(text, Contains("490000 PEs of p (PE(0, 0), PE(1, 0), PE(2, 0), PE(3, 0), ...): mov waits for 1 "
                            "to 700 wavelets of color 1 each"));
  CHECK_THAT(text, Contains("\n  and 41 more waits\n"));
  CHECK_THAT(text, Contains("\nPE(0, 0) waits for color 1 from PE(699, 0), which waits for color 1, which no "
                            "path brings there."));
}

TEMPLATE_LIST_TEST_CASE("the waits themselves can be read", "", every_engine) {
  fabric f{couple, TestType{}};
  f.start<&right::receive>(at(1, 0), 8);
  try {
    f.run();
    FAIL("nothing waits");
  } catch (const deadlock& d) {
    REQUIRE(d.open().size() == 1);
    const wait& w = d.open()[0];
    CHECK(w.why == wait::reason::input);
    CHECK(w.at == coord{1, 0});
    CHECK(w.color == 0);
    CHECK(w.count == 8);
    CHECK(std::string(w.what) == "mov");
  }
}

namespace {

/// Takes nothing: its task stays blocked.
struct deaf {
  void take(pe&, f32) {}
  using tasks = task_list<on<red, &deaf::take, blocked>>;
};

u64 count_of(const deadlock& d, int color) {
  u64 n = 0;
  for (const wait& w : d.open()) n += w.color == color ? w.count : 0;
  return n;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("where paths merge each PE is named once, with all that waits there", "",
                        every_engine) {
  layout l{wse2, 5, 3};
  l.place<deaf>(row(1)).place<giver>(rows(0, edge, 2));
  l.path(red, row(0), ramp >> south)
      .path(red, row(2), ramp >> north)
      .path(red, row(1), (north | south) >> ramp, merges);
  fabric f{l, TestType{}};
  const std::string text = report_of([&] { f.launch<&giver::give>(rows(0, edge, 2), 2); });
  CHECK_THAT(text,
             Contains("5 PEs of ") &&
                 Contains("(PE(0, 1), PE(1, 1), PE(2, 1), PE(3, 1), ...): 4 wavelets of color 0 each in "
                          "the input queue"));
}

namespace {

/// Sends on two colors in turn, 70 wavelets of red and 30 of blue.
struct two_color_giver {
  void give(pe& me) {
    for (int i = 0; i < 100; ++i) i % 10 < 7 ? me.send(red, 1.f) : me.send(blue, 1.f);
  }
  using tasks = task_list<launch<&two_color_giver::give>, sends<red, blue>>;
};
struct two_color_deaf {
  void take(pe&, f32) {}
  using tasks = task_list<on<red, &two_color_deaf::take, blocked>, on<blue, &two_color_deaf::take, blocked>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("the counts of each color add up to what was sent", "", every_engine) {
  layout l{wse2, 3, 1};
  l.place<two_color_giver>(column(0)).place<two_color_deaf>(column(2));
  for (const auto c : {red, blue})
    l.path(c, column(0), ramp >> east).path(c, column(1), west >> east).path(c, column(2), west >> ramp);
  fabric f{l, TestType{}};
  try {
    f.launch<&two_color_giver::give>(at(0, 0));
    FAIL("nothing waits");
  } catch (const deadlock& d) {
    CHECK(count_of(d, 0) == 70);
    CHECK(count_of(d, 1) == 30);
  }
}

TEST_CASE("what stands behind another color in the output queue is said to") {
  layout l{wse2, 2, 1};
  l.place<two_color_giver>(column(0)).place<two_color_deaf>(column(1));
  for (const auto c : {red, blue}) l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  fabric f{l, reference{}};
  const std::string text = report_of([&] { f.launch<&two_color_giver::give>(at(0, 0)); });
  CHECK_THAT(text, Contains("of color 0 into the full output queue") &&
                       Contains("of color 1 behind those of another color"));
}

namespace {

/// Two operations complete with the same task while a third keeps the main thread from running it: it runs
/// once and waits for a second time.
struct joiner {
  f32 x = 0, y = 0;
  std::array<f32, 30> z{};
  int done = 0;
  task go(pe& me) {
    me.async(mov(&x, fabin(red, 1)), then<&joiner::step>());
    me.async(mov(&y, fabin(blue, 1)), then<&joiner::step>());
    co_await mov(mem(z), fabin(green));
  }
  void step(pe& me) {
    if (++done == 2) me.send(color<f32>{3}, x + y);
  }
  using tasks =
      task_list<launch<&joiner::go>, local<&joiner::step>, reads<red, blue, green>, sends<color<f32>{3}>>;
};
struct joiners_partner {
  std::array<f32, 30> z{};
  f32 sum = 0;
  task go(pe& me) {
    me.send(red, 1.f), me.send(blue, 2.f);
    co_await mov(fabout(green), mem(z));
    co_await mov(&sum, fabin(color<f32>{3}, 1));
  }
  using tasks = task_list<launch<&joiners_partner::go>, sends<red, blue, green>, reads<color<f32>{3}>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("an activation that was lost is in the report", "", every_engine) {
  layout l{wse2, 2, 1};
  l.place<joiners_partner>(column(0)).place<joiner>(column(1));
  for (const auto c : {red, blue, green}) l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  l.path(color<f32>{3}, column(1), ramp >> west).path(color<f32>{3}, column(0), east >> ramp);
  fabric f{l, TestType{}};
  const std::string text = report_of([&] { f.launch(); });
  CHECK_THAT(text, Contains("joiner: task step was activated by a completion when it was active already; "
                            "activations are not counted, so one was lost"));
  CHECK_THAT(text, Contains("PE(0, 0) waits for color 3 from PE(1, 0)"));
}

namespace {

struct talker {
  f32 x = 0;
  void talk(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(red, 1.f);
  }
  task listen(pe&) { co_await mov(&x, fabin(blue, 1)); }
  using tasks = task_list<launch<&talker::talk>, launch<&talker::listen>, reads<blue>, sends<red>>;
};

constexpr layout between_streams = layout{wse2, 1, 1}
                                       .place<talker>(all)
                                       .path(red, all, ramp >> east)
                                       .path(blue, all, west >> ramp)
                                       .stream_out(red, all, east)
                                       .stream_in(blue, all, west);

}  // namespace

TEMPLATE_LIST_TEST_CASE("calls that cannot begin, and words that the host has not read, are reported", "",
                        every_engine) {
  fabric f{between_streams, TestType{}};
  f.start<&talker::listen>(all);
  f.start<&talker::talk>(all, 2);
  f.start<&talker::talk>(all, 1);
  CHECK_THAT(report_of([&] { f.run(); }),
             Contains("talker: 2 host calls (the first: talk) cannot begin") && !Contains("has not read"));
  fabric g{between_streams, TestType{}};
  g.start<&talker::talk>(all, 3);
  CHECK_THAT(report_of([&] { g.launch<&talker::listen>(all); }),
             EndsWith("\nThe host has not read 3 words that left the grid through host streams.") &&
                 !Contains("host call"));
}
