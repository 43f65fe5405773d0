// SPDX-License-Identifier: MIT
// Dumps: what they have on every engine, at a deadlock, a fault and between runs; that a state comes back
// from its bytes; and that damaged bytes are refused.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <wsl/debug/commands.hpp>
#include <wsl/debug/dump.hpp>
#include <wsl/program/counted.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include "../engine/engines.hpp"

using namespace wsl;
using Catch::Contains;
using debug::machine_state, debug::place_state, debug::state_view;

namespace {

constexpr color<f32> red{3}, blue{4};
constexpr color<u32> steered{5};

/// The environment variable WSL_DUMP, for as long as this lives.
struct dump_variable {
  explicit dump_variable(const std::string& file) { ::setenv("WSL_DUMP", file.c_str(), 1); }
  ~dump_variable() { ::unsetenv("WSL_DUMP"); }
};
/// An empty folder, for as long as this lives.
struct folder {
  std::string name = (std::filesystem::temp_directory_path() / "wsl_dumps_XXXXXX").string();
  folder() { REQUIRE(::mkdtemp(name.data())); }
  ~folder() { std::filesystem::remove_all(name); }
  std::string operator/(const std::string& file) const { return name + "/" + file; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(name), std::filesystem::directory_iterator()));
  }
};

enum class mode : u8 { idle, busy = 7 };

struct sink {
  f32 sum = 0;
  std::array<std::array<i16, 3>, 2> table{{{1, 2, 3}, {4, 5, -6}}};
  std::vector<u16> grown{9};
  bool flag = true;
  bf16 coarse{1.5f};
  mode state = mode::busy;
  counted<f32> charged{2.5f};
  struct pair {
    u8 a = 0x12, b = 0xab;
  } other[2];
  f32 got[8]{};
  fifo<f32, 4> waiting;

  void take(pe& me, f32 x) {
    sum += x;
    if (x < 0) throw fault("wsl: a negative value");
    if (x == 100) me.block<red>();
  }
  task wait(pe&, int n) { co_await mov(mem(got).part(0, n), fabin(blue)); }
  void pop(pe& me) { me.async(mov(mem(got).part(0, 2), out_of(waiting)), then<&sink::popped>()); }
  void both(pe&) {}
  void popped(pe&) {}
  void once(pe& me) { me.activate<&sink::both>(); }
  void held(pe& me) { me.block<&sink::popped>(), me.activate<&sink::popped>(); }
  using tasks = task_list<on<red, &sink::take>, launch<&sink::wait>, launch<&sink::pop>, launch<&sink::once>,
                          launch<&sink::held>, joins<2, &sink::both>, local<&sink::popped>, reads<blue>>;
  using exports = export_list<&sink::sum, &sink::table, &sink::grown, &sink::flag, &sink::coarse,
                              &sink::state, &sink::charged, &sink::other>;
};
struct source {
  void send(pe& me, f32 first, int n) {
    for (int i = 0; i < n; ++i) me.send(red, first + static_cast<f32>(i));
  }
  using tasks = task_list<launch<&source::send>, sends<red, blue>>;
};

constexpr layout two = layout{wse2, 2, 1}
                           .place<source>(column(0))
                           .place<sink>(column(1))
                           .path(red, column(0), ramp >> east)
                           .path(red, column(1), west >> ramp)
                           .path(blue, column(0), ramp >> east)
                           .path(blue, column(1), west >> ramp);
static_assert(routed<two>());

struct turner {
  int heard = 0;
  void hear(pe&, u32) { ++heard; }
  void go(pe& me, int advances) {
    for (int i = 0; i < advances; ++i) me.send_control(steered, switch_adv);
  }
  using tasks =
      task_list<launch<&turner::go>, on<steered, &turner::hear>, sends<steered>, steers<steered, switch_adv>>;
};

struct quiet {
  f32 x[64]{};
  void go(pe&) {}
  using tasks = task_list<launch<&quiet::go>>;
  using exports = export_list<&quiet::x>;
};

/// The state in which a run stops.
template <class Run>
machine_state stopped(fabric& f, Run run) {
  try {
    run();
  } catch (const deadlock& d) {
    return debug::capture(f, debug::dump_reason::deadlock, d.what());
  } catch (const std::exception& e) { return debug::capture(f, debug::dump_reason::fault, e.what()); }
  return debug::capture(f);
}
machine_state back(machine_state& s) { return debug::state_of_contents(debug::contents_of(s)); }

/// All words of a state's color, in the order in which a receiver would get them.
std::vector<f32> words_of(const machine_state& s, int color) {
  std::vector<f32> all;
  using where = debug::queue_snapshot::place;
  const auto add = [&](coord c, where in) {
    for (const debug::queue_snapshot& q : s.at(c).queues)
      if (q.color == color && q.where == in)
        for (const auto& w : q.words) all.push_back(std::bit_cast<f32>(w.bits));
  };
  add({1, 0}, where::input), add({1, 0}, where::link);
  add({0, 0}, where::output), add({0, 0}, where::unsent);
  return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a dump has the exported members with their types", "", every_engine) {
  fabric f{two, TestType{}};
  f.program_at<sink>({1, 0}).grown = {1, 2, 65535};
  f.launch<&source::send>(column(0), 1.f, 3);
  machine_state first = debug::capture(f);
  const machine_state s = back(first);
  state_view v(s);
  CHECK(debug::carry_out(v, "print 1,0 sum") == "sum = 6\n");
  CHECK(debug::carry_out(v, "print 1,0 table") == "table = [1 2 3] [4 5 -6]\n");
  CHECK(debug::carry_out(v, "print 1,0 grown") == "grown = 1 2 65535\n");
  CHECK(debug::carry_out(v, "print 1,0 flag") == "flag = true\n");
  CHECK(debug::carry_out(v, "print 1,0 coarse") == "coarse = 1.5\n");
  CHECK(debug::carry_out(v, "print 1,0 state") == "state = 7\n");
  CHECK(debug::carry_out(v, "print 1,0 charged") == "charged = 2.5\n");
  CHECK(debug::carry_out(v, "print 1,0 other") == "other = 0x12ab 0x12ab\n");
  CHECK(debug::carry_out(v, "find table == -6") == "PE(1, 0)  table[1][2] = -6\n");
  CHECK_THAT(debug::carry_out(v, "list"),
             Contains("f32 sum, i16[2][3] table, u16[...] grown, bool flag, bf16 coarse"));
  CHECK(debug::carry_out(v, "find table == nan") == "none\n");
  f.program_at<sink>({1, 0}).sum = std::numeric_limits<f32>::quiet_NaN();
  const machine_state with_nan = debug::capture(f);
  state_view of_nan(with_nan);
  CHECK(debug::carry_out(of_nan, "find sum == nan") == "PE(1, 0)  sum = nan\n");
  CHECK(debug::carry_out(of_nan, "find sum != nan") == "none\n");
  CHECK(debug::carry_out(of_nan, "find sum >= 0") == "none\n");
  CHECK_THROWS_WITH(debug::carry_out(v, "find table >= nan"), Contains("no number is above or below nan"));
  CHECK_THROWS_WITH(debug::carry_out(v, "find other > 0"), Contains("other has no numbers"));
}

TEMPLATE_LIST_TEST_CASE("a dump of a deadlock has operations, tasks and their progress", "", every_engine) {
  fabric f{two, TestType{}};
  f.start<&sink::wait>(column(1), 5);
  machine_state s = stopped(f, [&] { f.run(); });
  CHECK(s.why == debug::dump_reason::deadlock);
  const place_state p = s.at({1, 0});
  REQUIRE(p.operations.size() == 1);
  CHECK(std::string(p.operations[0].name) == "mov");
  CHECK(p.operations[0].length == 5);
  CHECK(p.operations[0].done == 0);
  CHECK(p.operations[0].input[0] == blue.id);
  CHECK(p.operations[0].waited_for);
  CHECK(std::string(p.task) == "wait");
  REQUIRE(s.waits.size() == 1);
  CHECK(s.waits[0].at == coord{1, 0});
  state_view v(s);
  CHECK_THAT(v.who({1, 0}), Contains("PE(1, 0) waits for color 4 from PE(0, 0), which waits for nothing"));
}

TEMPLATE_LIST_TEST_CASE("a dump has FIFOs, joins and blocked tasks", "", every_engine) {
  fabric f{two, TestType{}};
  f.start<&sink::pop>(column(1));
  machine_state s = stopped(f, [&] { f.run(); });
  const place_state p = s.at({1, 0});
  REQUIRE(p.operations.size() == 1);
  REQUIRE(p.operations[0].pops);
  CHECK(p.operations[0].pops->size == 0);
  CHECK(p.operations[0].pops->capacity == 4);

  fabric g{two, TestType{}};
  g.start<&sink::once>(column(1));
  g.start<&sink::held>(column(1));
  machine_state t = stopped(g, [&] { g.run(); });
  const place_state q = t.at({1, 0});
  REQUIRE(q.joins.size() == 1);
  CHECK(q.joins[0].came == 1);
  CHECK(q.active == q.blocked);
  CHECK(q.blocked != 0);
  state_view v(t);
  CHECK_THAT(v.pe({1, 0}), Contains("both has 1 of 2 arrivals") && Contains("popped is active and blocked"));
}

TEMPLATE_LIST_TEST_CASE("a dump has the words of a color in their order", "", every_engine) {
  fabric f{two, TestType{}};
  f.start<&source::send>(column(0), 100.f, 40);  // the first blocks the task, the others pile up
  machine_state s = stopped(f, [&] { f.run(); });
  std::vector<f32> sent;
  for (int i = 1; i < 40; ++i) sent.push_back(100.f + static_cast<f32>(i));
  CHECK(words_of(s, red.id) == sent);
  CHECK(words_of(back(s), red.id) == sent);
  state_view v(s);
  CHECK_THAT(v.list(), Contains("39 words in queues: 39 of color 3"));
  CHECK_THAT(v.pe({1, 0}), Contains("take of color 3 is blocked"));
}

TEMPLATE_LIST_TEST_CASE("a dump of a fault is written where WSL_DUMP says", "", every_engine) {
  const folder here;
  const dump_variable set(here / "dump");
  fabric f{two, TestType{}};
  CHECK_THROWS_AS(f.launch<&source::send>(column(0), -1.f, 2), fault);
  REQUIRE(here.files() == 1);
  const machine_state s = debug::read_dump(std::filesystem::directory_iterator(here.name)->path().string());
  CHECK(s.why == debug::dump_reason::fault);
  CHECK_THAT(s.sentence, Contains("a negative value") && Contains("in take on PE(1, 0)"));
}

TEMPLATE_LIST_TEST_CASE("a dump has switches", "", changing_engines) {
  layout plan(wse2, 3, 1);
  plan.place<turner>(all)
      .path(steered, column(0), ramp >> east)
      .path(steered, column(1), west >> ramp, switches{.pos1 = {.to = east}})
      .path(steered, column(2), west >> ramp);
  fabric f{plan, TestType{}};
  machine_state before = debug::capture(f);
  REQUIRE(before.at({1, 0}).switches.size() == 1);
  CHECK(before.at({1, 0}).switches[0].position == 0);
  CHECK(before.at({1, 0}).switches[0].color == steered.id);
  f.launch<&turner::go>(column(0), 1);
  const machine_state after = debug::capture(f);
  CHECK(after.at({1, 0}).switches[0].position == 1);
  state_view v(before);
  CHECK_THAT(
      v.diff(after),
      Contains(
          "words and switches: router switch of color 5 is at position 0 | router switch of color 5 is"));
}

TEST_CASE("equal PEs are kept once, and a wafer of them is a small file") {
  layout plan(wse2, 750, 100);
  plan.place<quiet>(all);
  const folder here;
  fabric f{plan};
  f.program_at<quiet>({749, 99}).x[63] = 1;
  f.dump(here / "dump");
  CHECK(std::filesystem::file_size(here / "dump") < 2000);
  const machine_state s = debug::read_dump(here / "dump");
  CHECK(s.blocks.size() == 4);  // none, one state, two memories
  state_view v(s);
  CHECK(v.find(debug::condition_of("x > 0"), s.grid()) == "PE(749, 99)  x[63] = 1\n");
}

TEST_CASE("dumps are refused while tasks run, and where a file cannot be") {
  fabric f{two};
  CHECK_THROWS_WITH(f.dump("/nowhere/dump"), Contains("cannot write /nowhere/dump"));
  CHECK_THROWS_WITH(debug::read_dump("/nowhere/dump"), Contains("cannot read /nowhere/dump: No such file"));
  CHECK_THROWS_WITH(debug::read_dump("/tmp"), Contains("no regular file"));
}

TEST_CASE("bytes that are changed or cut off are refused, and never crash") {
  fabric f{two, reference{}};
  f.start<&source::send>(column(0), 100.f, 12);
  machine_state s = stopped(f, [&] { f.run(); });
  const std::string good = debug::contents_of(s);
  for (std::size_t n = 0; n < good.size(); ++n)
    CHECK_THROWS_AS(debug::state_of_contents(std::string_view(good).substr(0, n)), support::file_error);
  CHECK_THROWS_WITH(debug::state_of_contents(good + "x"), Contains("followed by 1 bytes too many"));
  std::ranges::fill(s.memories, 0u);
  CHECK_THROWS_WITH(debug::state_of_contents(debug::contents_of(s)),
                    Contains("a member ends behind the last byte"));
  std::size_t taken = 0;
  for (std::size_t n = 0; n < good.size(); ++n)
    for (int change : {1, 0x55, 0x80, 0xff}) {
      std::string bad = good;
      bad[n] = static_cast<char>(bad[n] ^ change);
      std::optional<machine_state> other;
      try {
        other = debug::state_of_contents(bad);
      } catch (const support::file_error&) { continue; }
      ++taken;
      try {
        state_view v(*other);
        v.list();
        for (int x = 0; x < other->width && x < 2; ++x) v.pe({x, 0}), v.who({x, 0});
      } catch (const fault&) {}  // two paths of one color, say
    }
  CHECK(taken > good.size());  // names and values may be any
  CHECK(taken < 4 * good.size());
}
