// SPDX-License-Identifier: MIT
// Routes that change while a fabric runs: switch positions, commands and pop modes, teardown and phases.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace wsl;
using Catch::Contains;
using wsl::detail::command_list;

namespace {

constexpr color<i32> red{0};

/// Runs a script of sends: what a launch is given.
struct conductor {
  void say(pe& me, i32 x) { me.send(red, x); }
  void tell(pe& me, command_list what) { me.send_control(red, what); }
  void call(pe& me, command_list what, int id) { me.send_control(red, what, id); }
  void call_with(pe& me, command_list what, int id, u16 data) { me.send_control(red, what, id, data); }
  using tasks =
      task_list<launch<&conductor::say>, launch<&conductor::tell>, launch<&conductor::call>,
                launch<&conductor::call_with>, sends<red>, steers<red, switch_adv, switch_rst, teardown>>;
};

struct player {
  std::vector<i32> heard;
  void hear(pe&, i32 x) { heard.push_back(x); }
  void cue(pe&, u16 data) { heard.push_back(1000 + data); }
  using tasks = task_list<on<red, &player::hear>, control<7, &player::cue>>;
};

std::vector<i32> heard(fabric& f, int x, int y) { return f.program_at<player>({x, y}).heard; }

/// The conductor stands in the middle of a cross of players.
layout cross(const switches& s) {
  layout l{wse2, 3, 3};
  l.place<conductor>(at(1, 1));
  for (coord c : {coord{0, 1}, coord{1, 0}, coord{2, 1}, coord{1, 2}}) l.place<player>(at(c.x, c.y));
  l.path(red, at(1, 1), ramp >> west, s);
  l.path(red, at(0, 1), east >> ramp)
      .path(red, at(1, 0), south >> ramp)
      .path(red, at(2, 1), west >> ramp)
      .path(red, at(1, 2), north >> ramp);
  return l;
}

/// The conductor stands at the west end of a row of players who all hear, until an advance makes them pass on
/// only.
layout row_of(int width, pop when) {
  layout l{wse2, width, 1};
  l.place<conductor>(at(0, 0)).place<player>(columns(1, edge));
  l.path(red, at(0, 0), ramp >> east);
  l.path(red, columns(1, edge - 1), west >> (ramp | east), switches{.pos1 = {.to = east}, .pop = when});
  l.path(red, at(edge - 1, 0), west >> ramp);
  return l;
}

using lists = std::vector<std::vector<command>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a ring turns a sender to one side after the other", "", changing_engines) {
  fabric f{cross({.pos1 = {.to = north}, .pos2 = {.to = east}, .pos3 = {.to = south}, .ring = true}),
           TestType{}};
  for (int i = 0; i < 10; ++i) {
    f.start<&conductor::say>(at(1, 1), i);
    f.start<&conductor::tell>(at(1, 1), command_list{switch_adv});
  }
  f.run();
  CHECK(heard(f, 0, 1) == std::vector<i32>{0, 4, 8});
  CHECK(heard(f, 1, 0) == std::vector<i32>{1, 5, 9});
  CHECK(heard(f, 2, 1) == std::vector<i32>{2, 6});
  CHECK(heard(f, 1, 2) == std::vector<i32>{3, 7});
}

TEMPLATE_LIST_TEST_CASE("without a ring the last position stays, until a reset", "", changing_engines) {
  fabric f{cross({.pos1 = {.to = north}, .pos2 = {.to = east}, .pos3 = {.to = south}, .start = 2}),
           TestType{}};
  for (int i = 0; i < 6; ++i) {
    f.launch<&conductor::say>(at(1, 1), i);
    f.launch<&conductor::tell>(at(1, 1), command_list{i == 3 ? switch_rst : switch_adv});
  }
  CHECK(heard(f, 2, 1) == std::vector<i32>{0});
  CHECK(heard(f, 1, 2) == std::vector<i32>{1, 2, 3});
  CHECK(heard(f, 0, 1) == std::vector<i32>{4});
  CHECK(heard(f, 1, 0) == std::vector<i32>{5});
}

TEMPLATE_LIST_TEST_CASE("each router on the way carries out the command that the pop modes leave for it", "",
                        changing_engines) {
  const lists some = {{switch_adv},
                      {nop, switch_adv},
                      {switch_adv, nop, switch_adv, switch_adv},
                      {nop, nop, nop, nop, nop, nop, nop, switch_adv},
                      {switch_adv, switch_adv, nop, nop, switch_adv},
                      {unheard(switch_adv), switch_adv}};
  for (pop when : {pop::never, pop::always, pop::on_advance, pop::on_advance_or_nop})
    for (const auto& list : some) {
      fabric f{row_of(11, when), TestType{}};
      const auto at_list = [&](std::size_t i) { return i < list.size() ? list[i] : nop; };
      f.launch<&conductor::tell>(at(0, 0), command_list{at_list(0), at_list(1), at_list(2), at_list(3),
                                                        at_list(4), at_list(5), at_list(6), at_list(7)});
      f.launch<&conductor::say>(at(0, 0), 42);
      std::size_t head = 0;
      for (int x = 1; x < 10; ++x) {
        const int now = static_cast<int>(at_list(head)) & 3;
        INFO("pop " << static_cast<int>(when) << ", list of " << list.size() << ", column " << x);
        CHECK(heard(f, x, 0).size() == (now == static_cast<int>(switch_adv) ? 0u : 1u));
        head += when == pop::always || (when == pop::on_advance && now == 1) ||
                (when == pop::on_advance_or_nop && now < 2);
      }
      CHECK(heard(f, 10, 0) == std::vector<i32>{42});
    }
}

TEMPLATE_LIST_TEST_CASE(
    "a control wavelet with a task is heard where its command lets it, and its data reach all of them", "",
    changing_engines) {
  fabric f{row_of(6, pop::always), TestType{}};
  f.launch<&conductor::call>(at(0, 0), command_list{nop, unheard(switch_adv), nop, unheard(nop)}, 7);
  for (int x = 1; x < 6; ++x) CHECK(heard(f, x, 0).size() == (x == 2 || x == 4 ? 0u : 1u));
  f.launch<&conductor::call_with>(at(0, 0), command_list{switch_adv, nop, unheard(nop)}, 7, 234);
  CHECK(heard(f, 1, 0) == std::vector<i32>{1000, 1234});
  CHECK(heard(f, 2, 0).empty());
  CHECK(heard(f, 3, 0) == std::vector<i32>{1000});
  CHECK(heard(f, 5, 0) == std::vector<i32>{1000});  // the last command was unheard, and so is what follows
}

TEMPLATE_LIST_TEST_CASE("a task list names the commands that a program may send", "", changing_engines) {
  struct quiet {
    void go(pe& me) { me.send_control(red, {nop, switch_rst}); }
    using tasks [[maybe_unused]] = task_list<launch<&quiet::go>, sends<red>, steers<red, switch_adv>>;
  };
  layout l{wse2, 3, 1};
  l.place<quiet>(at(1, 0));
  l.place<player>(columns(0, edge, 2));
  l.path(red, at(1, 0), ramp >> west, switches{.pos1 = {.to = east}})
      .path(red, at(0, 0), east >> ramp)
      .path(red, at(2, 0), west >> ramp);
  fabric f{l, TestType{}};
  CHECK_THROWS_WITH(f.launch(at(1, 0)), Contains("its task list does not say steers<color, switch_rst>"));
}

// ---- waiting at a switch ------------------------------------------------------------------------

namespace {

/// Every PE of a row but the first sends one word to the first, in turn: each router lets its own PE send
/// first and then those behind it.
struct in_turn {
  i32 words = 1;
  std::vector<i32> heard;
  void go(pe& me) {
    for (i32 i = 0; i < words; ++i) me.send(red, 100 * me.x() + i);
    me.send_control(red, switch_adv);
  }
  void forget(pe& me) { me.send(red, me.x()); }
  void hear(pe&, i32 x) { heard.push_back(x); }
  using tasks = task_list<launch<&in_turn::go>, launch<&in_turn::forget>, on<red, &in_turn::hear>, sends<red>,
                          steers<red, switch_adv>>;
};

layout queue_of(int width) {
  layout l{wse2, width, 1};
  l.place<in_turn>(all)
      .path(red, at(0, 0), east >> ramp)
      .path(red, at(edge - 1, 0), ramp >> west, switches{.pos1 = {.to = ramp}});
  return l.path(red, columns(1, edge - 1), ramp >> west,
                switches{.pos1 = {.from = east}, .pop = pop::on_advance});
}

template <class Run>
std::string report_of(Run run_it) {
  try {
    run_it();
  } catch (const deadlock& d) { return d.what(); }
  return "no deadlock";
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("who is not selected waits, and nothing is lost", "", changing_engines) {
  for (int width : {2, 3, 12, 40}) {
    fabric f{queue_of(width), TestType{}};
    for (int x = 1; x < width; ++x) f.program_at<in_turn>({x, 0}).words = 1 + x % 7;
    f.launch<&in_turn::go>(columns(1, edge));
    std::vector<i32> expected;
    for (int x = 1; x < width; ++x)
      for (i32 i = 0; i < 1 + x % 7; ++i) expected.push_back(100 * x + i);
    CHECK(f.program_at<in_turn>({0, 0}).heard == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("a report names the router, the position and the remedy", "", changing_engines) {
  fabric f{queue_of(5), TestType{}};
  f.start<&in_turn::go>(columns(2, edge));
  const std::string text = report_of([&] { f.launch<&in_turn::forget>(at(1, 0)); });
  CHECK_THAT(
      text, Contains("PE(1, 0), router: ") && Contains("of color 0 wait for the switch to leave position 0"));
  CHECK_THAT(text,
             Contains("Let a control wavelet with switch_adv or switch_rst pass the switch of color 0 at "
                      "PE(1, 0)"));
}

namespace {

struct reader {
  i32 x[4]{};
  void read(pe& me) { me.async(mov(mem(x), fabin(red))); }
  using tasks = task_list<launch<&reader::read>, reads<red>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("who waits for wavelets that wait at a switch is told so", "", changing_engines) {
  layout l{wse2, 3, 1};
  l.place<conductor>(columns(1, edge)).place<reader>(at(0, 0));
  l.path(red, at(0, 0), east >> ramp)
      .path(red, at(1, 0), ramp >> west, switches{.pos1 = {.from = east}})
      .path(red, at(2, 0), ramp >> west);
  fabric f{l, TestType{}};
  for (int i = 0; i < 4; ++i) f.start<&conductor::say>(at(2, 0), i);
  f.start<&reader::read>(at(0, 0));
  const std::string text = report_of([&] { f.run(); });
  CHECK_THAT(text, Contains("PE(0, 0) waits for color 0, which waits at the router of PE(1, 0): no control "
                            "wavelet moves its switch."));
  f.launch<&conductor::tell>(at(1, 0), command_list{switch_adv});
  CHECK(f.program_at<reader>({0, 0}).x[3] == 3);
}

// ---- the localized broadcast of a 25-point stencil ----------------------------------------------

namespace {

constexpr int reach = 5;  // every PE hears itself and the four before it

/// All send at once, and the routers make them take turns by their column's rest: a sender streams its words
/// to itself and the next four; then one wavelet shuts it off, makes the next PE a sender and the last hearer
/// a forwarder, and a second one makes it the end of the next stream.
struct station {
  i32 words[3]{};
  std::vector<i32> heard;
  void start(pe& me) {
    for (i32 i = 0; i < 3; ++i) words[i] = 1000 * me.x() + i;
    me.async(mov(fabout(red), mem(words)), then<&station::hand_over>());
  }
  void hand_over(pe& me) {
    me.send_control(red, {switch_adv, switch_adv, nop, nop, switch_adv});
    me.send_control(red, switch_adv);
  }
  void hear(pe&, i32 x) { heard.push_back(x); }
  using tasks = task_list<launch<&station::start>, local<&station::hand_over>, on<red, &station::hear>,
                          sends<red>, steers<red, switch_adv>>;
};

layout localized(int width) {
  layout l{wse2, width, 1};
  l.place<station>(all);
  const auto kind = [&](int x, int start) {
    const bool last = x == width - 1;
    const ports on = last ? ports{ramp} : east | ramp;
    if (x == 0) {
      last ? l.path(red, at(x, 0), ramp >> on)
           : l.path(red, at(x, 0), ramp >> on,
                    switches{.pos1 = {.to = ramp}, .ring = true, .pop = pop::always});
      return;
    }
    l.path(red, at(x, 0), west >> on,
           switches{.pos1 = {.from = ramp},
                    .pos2 = {.to = ramp},
                    .pos3 = {.from = west},
                    .start = start,
                    .ring = true,
                    .pop = pop::always});
  };
  for (int x = 0; x < width; ++x) kind(x, x % reach == 0 ? 1 : x % reach == reach - 1 ? 3 : 0);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "a localized broadcast: every PE hears itself and the four before it, in the order of their turns", "",
    changing_engines) {
  for (int width : {2, 4, 5, 6, 9, 10, 11, 23}) {
    INFO("width " << width);
    fabric f{localized(width), TestType{}};
    f.launch();
    for (int x = 0; x < width; ++x) {
      std::vector<i32> expected;  // senders x - 4 to x, by rest
      for (int rest = 0; rest < reach; ++rest)
        for (int from = std::max(0, x - reach + 1); from <= x; ++from)
          for (i32 i = 0; i < 3 && from % reach == rest; ++i) expected.push_back(1000 * from + i);
      CHECK(f.program_at<station>({x, 0}).heard == expected);
    }
  }
}

// ---- teardown and phases ------------------------------------------------------------------------

namespace {

/// One color sums up a row in its first PE and then, in phase 1, tells the sum to all.
struct summing {
  i32 mine = 0, sum = 0;
  int missing = 0;
  bool closed = false;
  void start(pe& me) {
    mine = me.x() + 1, sum = mine, missing = me.width() - 1, closed = false;
    if (me.west_edge()) return;
    me.send(red, mine);
    me.send_control(red, me.east_edge() ? teardown : switch_adv);
  }
  void take(pe& me, i32 x) {
    if (!me.west_edge()) {
      sum = x;
      return;
    }
    sum += x, --missing;
    tell_if_complete(me);
  }
  void torn_down(pe& me) {
    closed = true;
    me.west_edge() ? tell_if_complete(me) : me.reopen(red, phase{1});
  }
  void tell_if_complete(pe& me) {
    if (!closed || missing > 0) return;
    me.reopen(red, phase{1});
    me.send(red, sum);
  }
  void open_twice(pe& me) { me.reopen(red); }
  using tasks =
      task_list<launch<&summing::start>, launch<&summing::open_twice>, on<red, &summing::take>, sends<red>,
                steers<red, switch_adv, teardown>, on_teardown<red, &summing::torn_down>>;
};

layout sum_of(int width, const program& p = program_v<summing>) {
  layout l{wse2, width, 1};
  l.place(all, p).path(red, at(0, 0), east >> ramp).path(red, at(edge - 1, 0), ramp >> west);
  l.path(red, columns(1, edge - 1), ramp >> west, switches{.pos1 = {.from = east}, .pop = pop::on_advance});
  l.path(red, at(0, 0), ramp >> east, phase{1})
      .path(red, columns(1, edge - 1), west >> (ramp | east), phase{1});
  return l.path(red, at(edge - 1, 0), west >> ramp, phase{1});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("one color sums up a row and then tells the sum to all of it", "", changing_engines) {
  for (int width : {3, 4, 17, 50}) {
    fabric f{sum_of(width), TestType{}};
    f.launch<&summing::start>(all);
    for (int x = 0; x < width; ++x) CHECK(f.read(x, 0, &summing::sum) == width * (width + 1) / 2);
  }
}

TEMPLATE_LIST_TEST_CASE("only a color that is torn down can be reopened, and only in a phase that it has", "",
                        changing_engines) {
  fabric f{sum_of(4), TestType{}};
  CHECK_THROWS_WITH(f.launch<&summing::open_twice>(at(1, 0)),
                    Contains("PE(1, 0)") && Contains("reopens color 0, which is open"));
  struct wrong {
    void go(pe& me) { me.send_control(red, teardown); }
    void torn_down(pe& me) { me.reopen(red, phase{3}); }
    using tasks [[maybe_unused]] =
        task_list<launch<&wrong::go>, sends<red>, steers<red, teardown>, on_teardown<red, &wrong::torn_down>>;
  };
  layout l{wse2, 2, 1};
  l.place<wrong>(at(0, 0));
  l.place<player>(at(1, 0)).path(red, at(0, 0), ramp >> east).path(red, at(1, 0), west >> ramp);
  fabric g{l, TestType{}};
  CHECK_THROWS_WITH(g.launch(at(0, 0)),
                    Contains("PE(0, 0)") && Contains("in phase 3, but no path of this phase covers the PE"));
}

namespace {

struct doorkeeper {
  std::vector<i32> heard;
  void hear(pe&, i32 x) { heard.push_back(x); }
  void open(pe& me) { me.reopen(red); }
  void ignore(pe&) {}
  using tasks =
      task_list<launch<&doorkeeper::open>, on<red, &doorkeeper::hear>, on_teardown<red, &doorkeeper::ignore>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a closed path lets nothing in until it is opened, and the report says so", "",
                        changing_engines) {
  struct visitor {
    void knock(pe& me, i32 x) { me.send(red, x); }
    // where nobody pops, all routers carry out the nop
    void shut(pe& me) { me.send_control(red, {nop, teardown}); }
    using tasks [[maybe_unused]] =
        task_list<launch<&visitor::knock>, launch<&visitor::shut>, sends<red>, steers<red, teardown>>;
  };
  layout l{wse2, 2, 1};
  l.place<visitor>(at(0, 0));
  l.place<doorkeeper>(at(1, 0));
  l.path(red, at(0, 0), ramp >> east).path(red, at(1, 0), west >> ramp, starts_closed);
  fabric f{l, TestType{}};
  const std::string text = report_of([&] { f.launch<&visitor::knock>(at(0, 0), 5); });
  CHECK_THAT(text, Contains("PE(1, 0), router: 1 wavelet of color 0 waits for the color to be reopened"));
  CHECK_THAT(text, Contains("call me.reopen for color 0."));
  f.launch<&doorkeeper::open>(at(1, 0));
  CHECK(f.program_at<doorkeeper>({1, 0}).heard == std::vector<i32>{5});
  f.launch<&visitor::shut>(at(0, 0));
  f.launch<&visitor::knock>(at(0, 0), 6);
  CHECK(f.program_at<doorkeeper>({1, 0}).heard.size() == 2);
}

// ---- filters ------------------------------------------------------------------------------------

namespace {

constexpr color<halves<i16>> words_with_index{2};

struct source {
  void count(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(red, i);
  }
  void count_and_call(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(red, i), me.send_control(red, 7, static_cast<u16>(i));
  }
  using tasks = task_list<launch<&source::count>, launch<&source::count_and_call>, sends<red>>;
};

template <class Filter>
layout filtered_row(int width, const Filter& f) {
  layout l{wse2, width, 1};
  l.place<source>(at(0, 0)).place<player>(columns(1, edge));
  l.path(red, at(0, 0), ramp >> east).path(red, columns(1, edge - 1), west >> (ramp | east), f);
  return l.path(red, at(edge - 1, 0), west >> ramp);
}

/// Counts as the machine's registers do: from `start`, back to 0 after `period` - 1.
std::vector<i32> kept_words(int n, int first, int last, int period, int start) {
  std::vector<i32> kept;
  int counter = ((start % period) + period) % period;
  for (int i = 0; i < n; ++i, counter = counter == period - 1 ? 0 : counter + 1)
    if (counter >= first && counter <= last) kept.push_back(i);
  return kept;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a counter keeps some of every few, from where each PE begins to count", "",
                        changing_engines) {
  for (int keep : {1, 3, 7})
    for (int start : {0, 2, 6, -3})
      for (int per_column : {0, 1, -2}) {
        const counter_filter c{.keep = keep, .period = 7, .start = start, .per_column = per_column};
        fabric f{filtered_row(6, c), TestType{}};
        f.launch<&source::count>(at(0, 0), 30);
        for (int x = 1; x < 5; ++x)
          CHECK(heard(f, x, 0) == kept_words(30, 0, keep - 1, 7, start + (x - 1) * per_column));
        CHECK(heard(f, 5, 0).size() == 30);
      }
}

TEMPLATE_LIST_TEST_CASE("a sparse counter keeps a part in the middle", "", changing_engines) {
  fabric f{filtered_row(6, sparse_counter_filter{.first = 2, .last = 4, .period = 12, .per_column = 3}),
           TestType{}};
  f.launch<&source::count>(at(0, 0), 24);
  for (int x = 1; x < 5; ++x) {
    std::vector<i32> expected;
    for (int i = 0; i < 24; ++i)
      if (const int n = i % 12 - 3 * (x - 1); (n >= 2 && n <= 4) || (n + 12 >= 2 && n + 12 <= 4))
        expected.push_back(i);
    CHECK(heard(f, x, 0) == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("control wavelets pass every filter and are not counted", "", changing_engines) {
  fabric f{filtered_row(3, counter_filter{.keep = 1, .period = 4}), TestType{}};
  f.launch<&source::count_and_call>(at(0, 0), 6);
  CHECK(heard(f, 1, 0) == std::vector<i32>{0, 1000, 1001, 1002, 1003, 4, 1004, 1005});
}

TEMPLATE_LIST_TEST_CASE("control wavelets are counted, and kept back, where the filter says so", "",
                        changing_engines) {
  const auto kept = [](const counter_filter& c) {
    fabric f{filtered_row(3, c), TestType{}};
    f.launch<&source::count_and_call>(at(0, 0), 6);  // 0, call 0, 1, call 1, ...
    return heard(f, 1, 0);
  };
  // Of the twelve wavelets every third and the one before it; calls come in any case, or like data.
  CHECK(kept({.keep = 2, .period = 3, .counts_control = true}) ==
        std::vector<i32>{0, 1000, 1001, 2, 1002, 3, 1003, 1004, 5, 1005});
  CHECK(kept({.keep = 2, .period = 3, .counts_control = true, .holds_control = true}) ==
        std::vector<i32>{0, 1000, 1001, 2, 3, 1003, 1004, 5});
  // A call ends a part of the stream; of three parts the last one is kept, its end included.
  CHECK(kept({.keep = 1,
              .period = 3,
              .start = 1,
              .counts_data = false,
              .counts_control = true,
              .holds_control = true}) == std::vector<i32>{2, 1002, 5, 1005});
}

namespace {

struct scatterer {
  void scatter(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(words_with_index, {static_cast<i16>(10 * i), static_cast<u16>(i)});
  }
  using tasks = task_list<launch<&scatterer::scatter>, sends<words_with_index>>;
};
struct part_owner {
  std::vector<i32> heard;
  void hear(pe&, i16 x, u16 at) { heard.push_back(x + at); }
  using tasks = task_list<on<words_with_index, &part_owner::hear>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a range of indices gives each PE its part", "", changing_engines) {
  layout l{wse2, 5, 3};
  l.place<scatterer>(at(0, 0)).place<part_owner>(columns(1, edge));
  l.path(words_with_index, at(0, 0), ramp >> (east | south))
      .path(words_with_index, at(0, 1), north >> (east | south))
      .path(words_with_index, at(0, 2), north >> east);
  const range_filter part{.first = 0, .last = 2, .per_column = 3, .per_row = 12};
  l.path(words_with_index, columns(1, edge - 1), west >> (ramp | east), part);
  l.path(words_with_index, column(edge - 1), west >> ramp,
         range_filter{.first = 9, .last = 11, .per_row = 12});
  fabric f{l, TestType{}};
  f.launch<&scatterer::scatter>(at(0, 0), 40);
  for (int y = 0; y < 3; ++y)
    for (int x = 1; x < 5; ++x) {
      const int first = 3 * (x - 1) + 12 * y;
      CHECK(f.program_at<part_owner>({x, y}).heard ==
            std::vector<i32>{11 * first, 11 * first + 11, 11 * first + 22});
    }
}
