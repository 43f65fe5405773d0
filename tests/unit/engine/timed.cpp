// SPDX-License-Identifier: MIT
// The timed engine's counts, on programs whose cycles can be counted by hand with the rules of
// docs/timing.md.
#include <wsl/core/half.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/engine/timed/costs.hpp>
#include <wsl/engine/timed/engine.hpp>
#include <wsl/fabric/fabric.hpp>
#include <wsl/host/device.hpp>
#include <wsl/layout/injection.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/program/descriptor/box.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using Catch::Contains;
using wsl::detail::command_list, wsl::detail::work;
using wsl::engines::state_of;

namespace {

constexpr color<f32> red{0}, blue{1};
/// wse2 with constants that all differ, so that no test can confuse them.
constexpr machine countable = [] {
  machine m = wse2;
  m.task_start = 10, m.operation_setup = 5, m.call = 7, m.descriptor_load = 11, m.operation_least = 1;
  return m;
}();

/// The cycles that each operation of a task takes, as the task's clock shows them.
struct calculator {
  f32 a[16]{}, b[16]{}, gap[1]{}, c[16]{}, wide[128]{};
  f16 halves[12]{}, others[12]{};
  u64 at[16]{};
  int n = 0;
  void note(pe& me) { at[n++] = me.now(); }
  void start(pe& me) {
    note(me);
    me.spend(3), note(me);
    mov(mem(a), mem(c)), note(me);              // one source, two a cycle
    add(mem(a), mem(a), mem(b)), note(me);      // sources 64 bytes apart: they clash
    add(mem(a), mem(b), mem(c)), note(me);      // 68 bytes apart: they do not
    fmac(mem(a), mem(b), mem(c), 2), note(me);  // one a cycle
    fmax(mem(a), mem(b), mem(c)), note(me);
    add(mem(a), mem(wide).every(8), 1), note(me);  // all elements in one bank
    fmac(mem(halves), mem(halves), 2, f16(1)), note(me);
    map_each([](f32 x) { return x + 1; }, mem(a), mem(b)), note(me);
    mov(mem(a).part(0, 0), mem(b).part(0, 0)), note(me);
    mov(mem(a), box(mem(wide), {2, 8}, {1, 8})), note(me);  // the first row: one bank
    // rows are as good as arrays
    add(mem(a), box(mem(b), {4, 4}, {0, 1}), mem(c)), note(me);
    add(mem(a), box(mem(a), {4, 4}, {0, 1}), box(mem(b), {4, 4})), note(me);  // and clash as they do
    fmac(mem(a), mem(a), mem(b), 2), note(me);                                // one in two cycles
  }
  using tasks = task_list<launch<&calculator::start>>;
};

/// Sends n numbers east, or takes them from the west, and notes when its operation begins and when it has
/// ended.
struct messenger {
  f32 x[256]{};
  u64 begin = 0, end = 0;
  void start(pe& me, int n) {
    if (me.west_edge()) me.async(mov(fabout(red), mem(x).part(0, n)), then<&messenger::done>());
    if (me.east_edge()) me.async(mov(mem(x).part(0, n), fabin(red)), then<&messenger::done>());
    begin = me.now();
  }
  void done(pe& me) { end = me.now(); }
  using tasks = task_list<launch<&messenger::start>, local<&messenger::done>, sends<red>, reads<red>>;
};

layout line_of(const machine& m, int p) {
  layout line{m, p, 1};
  return line.place<messenger>(all)
      .path(red, column(0), ramp >> east)
      .path(red, columns(1, edge - 1), west >> east)
      .path(red, column(edge - 1), west >> ramp);
}

/// Two colors from the west to the east, over the same links.
struct two_streams {
  u64 end[2]{};
  void start(pe& me, int n) {
    if (me.west_edge()) me.async(mov(fabout(red, n), 1.f)), me.async(mov(fabout(blue, n), 1.f));
    else {
      me.async(mov(&x, fabin(red, n)), then<&two_streams::red_done>());
      me.async(mov(&x, fabin(blue, n)), then<&two_streams::blue_done>());
    }
  }
  void red_done(pe& me) { end[0] = me.now(); }
  void blue_done(pe& me) { end[1] = me.now(); }
  f32 x = 0;
  using tasks = task_list<launch<&two_streams::start>, local<&two_streams::red_done>,
                          local<&two_streams::blue_done>, sends<red, blue>, reads<red, blue>>;
};

/// A task that computes while a message comes.
struct busy {
  f32 x[64]{};
  u64 computed = 0;
  void start(pe& me, int n) {
    if (me.west_edge()) return me.async(mov(fabout(red, n), 1.f));
    me.async(mov(mem(x).part(0, n), fabin(red)));
    me.activate<&busy::compute>();
  }
  void compute(pe& me) {
    me.spend(200);
    me.activate<&busy::after>();
  }
  void after(pe& me) { computed = me.now(); }
  using tasks =
      task_list<launch<&busy::start>, local<&busy::compute>, local<&busy::after>, sends<red>, reads<red>>;
};

/// Sends words that nobody takes at the east end, and in the middle passes them on if it is told to.
struct sender {
  void start(pe& me, bool relays) {
    if (me.west_edge()) me.async(mov(fabout(red, 1000), 1.f));
    else if (!me.east_edge() && relays) me.async(add(fabout(blue), fabin(red, forever), 1.f));
  }
  using tasks = task_list<launch<&sender::start>, sends<red, blue>, reads<red, blue>>;
};

u64 words_before_the_stall(layout line, bool relays) {
  fabric f{line, timed{}};
  try {
    f.launch<&sender::start>(columns(0, edge, relays ? 1 : 2), relays);
  } catch (const deadlock& d) {
    for (const deadlock::wait& w : d.open())
      if (w.why == deadlock::wait::reason::output && w.at == coord{0, 0}) return 1000 - w.count;
  }
  return 0;
}

struct clock_reader {
  u64 first = 0, second = 0;
  void start(pe& me) {
    first = me.now();
    me.spend(1000);
    me.activate<&clock_reader::later>();
  }
  void later(pe& me) { second = me.now(); }
  using tasks = task_list<launch<&clock_reader::start>, local<&clock_reader::later>>;
};

template <class Engine>
clock_reader clocks_on(const Engine& engine) {
  layout one{countable, 1, 1};
  one.place<clock_reader>(all);
  fabric f{one, engine};
  f.launch();
  return f.program_at<clock_reader>({0, 0});
}

const engines::pe_cycles& cycles_of(fabric& f, coord c) {
  engines::engine& e = f.engine_in_use();
  return static_cast<engines::timed_engine&>(e).processors()[state_of(*e.find(c)).index].spent;
}

/// The west end sends eight words while its task computes for a hundred cycles; the east end notes when it
/// has them.
struct rivals {
  f32 sum = 0;
  u64 end = 0;
  template <class... Options>
  void compute(pe& me, Options... how) {
    me.async(mov(fabout(red, 8), 1.f), how...);
    me.spend(100);
  }
  template <main_priority of_tasks, priority of_it>
  void contend(pe& me) {
    me.set_main_priority(of_tasks);
    compute(me, of_it);
  }
  void by_default(pe& me) { compute(me); }
  void take(pe& me) { me.async(add(&sum, 0.f, fabin(red, 8)), then<&rivals::done>()); }
  void done(pe& me) { end = me.now(); }
  template <main_priority of_tasks>
  using against = task_list<launch<&rivals::contend<of_tasks, priority::low>>,
                            launch<&rivals::contend<of_tasks, priority::medium>>,
                            launch<&rivals::contend<of_tasks, priority::high>>>;
  using tasks = task_list<launch<&rivals::by_default>, against<main_priority::medium_low>,
                          against<main_priority::medium>, against<main_priority::medium_high>,
                          against<main_priority::high>, launch<&rivals::take>, local<&rivals::done>,
                          sends<red>, reads<red>>;
};

/// The time at which the east end has the words.
template <auto Launch>
u64 words_end(const machine& m = countable) {
  layout l{m, 2, 1};
  l.place<rivals>(all).path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  fabric f{l, timed{}};
  f.start<&rivals::take>(column(1));
  f.launch<Launch>(column(0));
  CHECK(f.program_at<rivals>({1, 0}).sum == 8);
  return f.program_at<rivals>({1, 0}).end;
}
template <main_priority of_tasks>
std::vector<u64> words_end_against() {
  return {words_end<&rivals::contend<of_tasks, priority::low>>(),
          words_end<&rivals::contend<of_tasks, priority::medium>>(),
          words_end<&rivals::contend<of_tasks, priority::high>>()};
}

}  // namespace

TEST_CASE("operations over memory take a setup and the elements divided by the width") {
  layout one{countable, 1, 1};
  one.place<calculator>(all);
  fabric f{one, timed{}};
  const outcome o = f.launch();
  const calculator& p = f.program_at<calculator>({0, 0});
  const u64 expected[] = {10,    3,          5 + 8, 5 + 16, 5 + 8, 5 + 16, 5 + 16, 5 + 16,
                          5 + 3, 5 + 16 * 7, 5,     5 + 16, 5 + 8, 5 + 16, 5 + 32};
  CHECK(p.at[0] == expected[0]);
  for (int i = 1; i < p.n; ++i) CHECK(p.at[i] - p.at[i - 1] == expected[i]);
  CHECK(o.cycles == p.at[p.n - 1]);
  CHECK(cycles_of(f, {0, 0}).tasks == o.cycles);
}

namespace {

/// Copies parts of an array, as told, and notes the cycles of each copy.
struct reader_of_parts {
  f32 from[128]{}, to[8]{};
  std::vector<u64> cycles;
  void read(pe& me, std::span<const int> places) {
    for (int at : places) {
      const u64 begin = me.now();
      mov(mem(to), mem(from).part(at, 8));
      cycles.push_back(me.now() - begin);
    }
  }
  using tasks = task_list<launch<&reader_of_parts::read>>;
};

std::vector<u64> cycles_of_copies(std::vector<int> places) {
  machine m = countable;
  m.descriptor_registers = 3;
  layout one{m, 1, 1};
  one.place<reader_of_parts>(all);
  fabric f{one, timed{}};
  f.launch<&reader_of_parts::read>(all, std::span<const int>(places));
  return f.program_at<reader_of_parts>({0, 0}).cycles;
}

}  // namespace

TEST_CASE("a descriptor that is in no register is loaded") {
  using list = std::vector<u64>;
  const u64 copy = 5 + 4, load = copy + 11;
  // three registers hold the first three descriptors, the fourth goes over the oldest
  CHECK(cycles_of_copies({1, 3, 7, 1, 3, 7}) == list{copy, copy, copy, copy, copy, copy});
  CHECK(cycles_of_copies({1, 3, 7, 20, 3, 1}) == list{copy, copy, copy, load, copy, load});
  // a sweep needs one register, and leaves it at its end
  CHECK(cycles_of_copies({0, 8, 16, 24, 40, 48, 70, 0}) ==
        list{copy, copy, copy, copy, copy, copy, copy, load});
  // one that has been used twice in a place does not move on
  CHECK(cycles_of_copies({0, 0, 8, 8, 16, 16, 24, 24}) ==
        list{copy, copy, copy, copy, copy, copy, load, copy});
}

namespace {

/// Clears a member and, if told, before it an array of its own; notes the cycles.
struct clears_own_arrays {
  f32 kept[8]{}, other[8]{};
  std::vector<u64> cycles;
  void clear(pe& me, bool both) {
    f32 own[8];
    const u64 begin = me.now();
    mov(mem(own), 0), mov(mem(own), 0);
    mov(both ? mem(other) : mem(kept), 0);
    cycles.push_back(me.now() - begin);
  }
  using tasks = task_list<launch<&clears_own_arrays::clear>>;
};

}  // namespace

TEST_CASE("a descriptor of a task's own array is in a register until the task ends") {
  machine m = countable;
  m.descriptor_registers = 2;
  layout one{m, 1, 1};
  one.place<clears_own_arrays>(all);
  fabric f{one, timed{}};
  for (const bool both : {false, false, true, false}) f.launch<&clears_own_arrays::clear>(all, both);
  // The member's descriptor is in a register at the beginning. The array's is loaded in each task, over its
  // own old one, which leaves the member's where it is until another member's takes its place.
  const u64 clear = 5 + 4, load = 11;
  CHECK(f.program_at<clears_own_arrays>({0, 0}).cycles ==
        std::vector<u64>{load + 3 * clear, load + 3 * clear, 2 * load + 3 * clear, 2 * load + 3 * clear});
}

TEST_CASE("of the threads that can move, the one with the highest priority does, and equals take turns") {
  // After start, setting of the priority, and setup: the words leave the ramp from the next cycle on, cross
  // it, a link and the other ramp, are taken, and another task starts.
  const u64 first = 10 + 1 + 5 + (8 - 1) + 1 + 2 + 1 + 2 + 1 + 10;
  const u64 after_main = first + 100, in_turn = first + (8 - 1);
  using expected = std::vector<u64>;
  CHECK(words_end_against<main_priority::medium_low>() == expected{after_main, first, first});
  CHECK(words_end_against<main_priority::medium>() == expected{after_main, in_turn, first});
  CHECK(words_end_against<main_priority::medium_high>() == expected{after_main, after_main, first});
  CHECK(words_end_against<main_priority::high>() == expected{after_main, after_main, in_turn});
}

TEST_CASE("an operation without a priority has that of its machine") {
  const u64 first = 10 + 5 + (8 - 1) + 1 + 2 + 1 + 2 + 1 + 10;
  CHECK(words_end<&rivals::by_default>() == first + 100);
  machine m = countable;
  m.other = priority::medium;
  CHECK(words_end<&rivals::by_default>(m) == first);
  m.other = priority::low, m.reading = priority::high;  // it does not read
  CHECK(words_end<&rivals::by_default>(m) == first + 100);
}

TEST_CASE("a message takes its words, its hops and two ramps") {
  const int p = GENERATE(2, 3, 9, 64), n = GENERATE(1, 2, 7, 256);
  const machine m = GENERATE(false, true) ? countable : wse2;
  fabric f{line_of(m, p), timed{}};
  const outcome o = f.launch<&messenger::start>(all, n);
  const messenger& last = f.program_at<messenger>({p - 1, 0});
  const auto task = static_cast<u64>(m.task_start), ramps = static_cast<u64>(2 * m.ramp_latency),
             words = static_cast<u64>(n), hops = static_cast<u64>(p - 1);
  CHECK(last.begin == task + static_cast<u64>(m.operation_setup));
  CHECK(last.end - last.begin == words + hops + 1 + ramps + task);
  CHECK(f.program_at<messenger>({0, 0}).end - last.begin == words + task);
  CHECK(o.cycles == last.end);
  CHECK(o.hops == words * hops);
}

TEST_CASE("a second launch goes on from the time of the first") {
  fabric f{line_of(countable, 4), timed{}};
  const outcome first = f.launch<&messenger::start>(all, 8);
  const u64 after_first = f.program_at<messenger>({3, 0}).end;
  CHECK(f.launch<&messenger::start>(all, 8) == first);
  CHECK(f.program_at<messenger>({3, 0}).end == after_first + first.cycles);
}

TEST_CASE("two colors share a link word by word") {
  const int p = GENERATE(2, 5);
  layout line{wse2, p, 1};
  const area ends = columns(0, edge, p - 1);
  line.place<two_streams>(ends);
  for (color<f32> c : {red, blue})
    line.path(c, column(0), ramp >> east)
        .path(c, columns(1, edge - 1), west >> east)
        .path(c, column(edge - 1), west >> ramp);
  fabric f{line, timed{}};
  const u64 n = 500;
  const outcome o = f.launch<&two_streams::start>(ends, static_cast<int>(n));
  const two_streams& last = f.program_at<two_streams>({p - 1, 0});
  CHECK(o.cycles >= 2 * n);
  CHECK(o.cycles < 2 * n + 50);
  CHECK(last.end[0] + 20 > last.end[1]);
  CHECK(last.end[1] + 20 > last.end[0]);
}

TEST_CASE("a task and the words that arrive meanwhile share the datapath") {
  const int n = GENERATE(0, 20, 64);
  layout line{wse2, 2, 1};
  line.place<busy>(all).path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  fabric f{line, timed{}};
  f.launch<&busy::start>(all, n);
  const u64 alone = 4 + 2 + (4 + 200) + 4;  // launch and setup, the task, and what reads the clock
  CHECK(f.program_at<busy>({1, 0}).computed == alone + static_cast<u64>(n));
  CHECK(cycles_of(f, {1, 0}).operations == static_cast<u64>(n));
}

TEST_CASE("a pipeline stalls above 14 words in flight") {
  layout relayed{wse2, 3, 1}, direct{wse2, 3, 1};
  relayed.place<sender>(all)
      .path(red, column(0), ramp >> east)
      .path(red, column(1), west >> ramp)
      .path(blue, column(1), ramp >> east)
      .path(blue, column(2), west >> ramp);
  direct.place<sender>(columns(0, edge, 2))
      .path(red, column(0), ramp >> east)
      .path(red, column(1), west >> east)
      .path(red, column(2), west >> ramp)
      .path(blue, columns(3, edge), ramp >> east);
  const u64 through = words_before_the_stall(direct, false);
  CHECK(through == 6 + 2 * 2 + 6 + 2);  // the first PE's way out, two links, and the last PE's way in
  CHECK(words_before_the_stall(relayed, true) == through + 14);
}

namespace {

/// Sends three wavelets one after the other, the one in the middle a command; the receiver notes when the
/// words come.
struct commander {
  u64 heard[2]{};
  int n = 0;
  void start(pe& me, command_list what) {
    me.send(red, 1.f);
    me.send_control(red, what);
    me.send(red, 2.f);
  }
  void hear(pe& me, f32) { heard[n++] = me.now(); }
  void torn_down(pe& me) { me.reopen(red, phase{0}); }
  using tasks =
      task_list<launch<&commander::start>, on<red, &commander::hear>, on_teardown<red, &commander::torn_down>,
                sends<red>, steers<red, switch_adv, teardown>>;
};

}  // namespace

TEST_CASE("a switch turns for the wavelet behind the command, without a pause") {
  layout l{countable, 3, 1};
  l.place<commander>(all);
  l.path(red, column(1), ramp >> west, switches{.pos1 = {.to = east}});
  l.path(red, column(0), east >> ramp).path(red, column(2), west >> ramp);
  fabric f{l, timed{}};
  f.launch<&commander::start>(at(1, 0), command_list{switch_adv});
  // the launch's start, out of the PE, a ramp, a hop, a ramp; the turns before a send count besides
  const u64 one_way = 10 + 1 + 2 + 1 + 2;
  CHECK(f.program_at<commander>({0, 0}).heard[0] == one_way + 10);
  CHECK(f.program_at<commander>({2, 0}).heard[0] == one_way + 2 + 10);
}

TEST_CASE("a color that is torn down waits for the tasks of both PEs") {
  layout l{countable, 2, 1};
  l.place<commander>(all).path(red, column(1), west >> ramp);
  l.path(red, column(0), ramp >> east, switches{.pos1 = {.to = east}});  // the table speaks of advance, too
  fabric f{l, timed{}};
  f.launch<&commander::start>(at(0, 0), command_list{teardown});
  const commander& last = f.program_at<commander>({1, 0});
  const u64 one_way = 10 + 1 + 2 + 1 + 2;
  CHECK(last.heard[0] == one_way + 10);
  // it starts when the first word's task ends, and reopens the color in its last turn
  const u64 second_task_ends = one_way + 10 + 10;
  CHECK(last.heard[1] == second_task_ends + 1 + 2 + 10);
}

namespace {
/// Notes the cycles in which it hears.
struct listener {
  u64 heard[16]{};
  int n = 0;
  void hear(pe& me, f32) { heard[n++] = me.now(); }
  using tasks = task_list<on<red, &listener::hear>>;
};
struct second_listener : listener {
  using tasks = task_list<on<blue, &listener::hear>>;
};
}  // namespace

TEST_CASE("words of the host come when its link has brought them") {
  layout l{countable, 3, 1};
  l.place<listener>(columns(0, 2)).place<second_listener>(column(2));
  l.path(red, columns(0, 2), north >> ramp).stream_in(red, columns(0, 2), north);
  l.path(blue, column(2), north >> ramp).stream_in(blue, column(2), north);
  const auto heard = [&](const host_link& link, std::initializer_list<std::size_t> reds, std::size_t blues) {
    fabric f{l, timed{.host = link}};
    device d{f};
    for (std::size_t words : reds) d.stream_in(red, std::vector<f32>(words, 1.f));
    d.stream_in(blue, std::vector<f32>(blues, 1.f));
    f.run();
    std::vector<std::vector<u64>> at;
    for (int x = 0; x < 3; ++x) {
      const listener& p = x < 2 ? f.program_at<listener>({x, 0}) : f.program_at<second_listener>({2, 0});
      at.emplace_back(p.heard, p.heard + p.n);
    }
    return at;
  };
  using times = std::vector<std::vector<u64>>;
  // From the edge into the router, down the ramp, the task's start; then a task for each word.
  const u64 way = 1 + 2 + 10;
  CHECK(heard({}, {4}, 2) == times{{way, way + 10}, {way, way + 10}, {way, way + 10}});
  // A word in 20 cycles: 32 bits at 850 MHz. They go to the two PEs in turn, then those of the other command.
  const host_link slow{.channels = 2, .bits_a_second = 32 * 850e6 / 20 / 2};
  CHECK(heard(slow, {6}, 2) ==
        times{{20 + way, 60 + way, 100 + way}, {40 + way, 80 + way, 120 + way}, {140 + way, 160 + way}});
  // The same in two commands; and everything later by the latency.
  host_link late = slow;
  late.latency = 7 / 850e6;
  CHECK(heard(late, {2, 4}, 1) ==
        times{{27 + way, 67 + way, 107 + way}, {47 + way, 87 + way, 127 + way}, {147 + way}});
  // A published link brings 44 words in a cycle, more than a stream takes.
  CHECK(heard({.channels = 12}, {4}, 2) ==
        times{{1 + way, 1 + way + 10}, {1 + way, 1 + way + 10}, {1 + way, 1 + way + 10}});
  CHECK_THROWS_WITH(heard({.channels = -1}, {2}, 1), Contains("timed{.host} has -1 channels"));
  CHECK_THROWS_WITH(heard({.channels = 1, .bits_a_second = 0}, {2}, 1),
                    Contains("some of at least a bit a second"));
}

TEST_CASE("a machine must leave a cycle between what is done and what is seen") {
  machine m = wse2;
  m.ramp_latency = 0;
  layout one{m, 1, 1};
  one.place<clock_reader>(all);
  CHECK_THROWS_WITH((fabric{one, timed{}}),
                    Contains("machine wse2 has a ramp_latency of 0; the timed engine needs at least 1"));
  const auto refused = [](auto change, const char* sentence) {
    machine wrong = wse2;
    change(wrong);
    layout l{wrong, 1, 1};
    l.place<clock_reader>(all);
    CHECK_THROWS_WITH((fabric{l, timed{}}), Contains(sentence));
  };
  refused([](machine& w) { w.simd.add32 = 0; }, "has a simd.add32 of 0");
  refused([](machine& w) { w.instructions.divide = -7; }, "has a instructions.divide of -7");
  refused([](machine& w) { w.clock_hz = NAN; }, "has a clock_hz of nan");
}

TEST_CASE("clocks") {
  const clock_reader timed_one = clocks_on(timed{}), stepped = clocks_on(reference{}),
                     untimed = clocks_on(threaded{});
  CHECK(timed_one.first == 10);
  CHECK(timed_one.second == 10 + 1000 + 10);
  CHECK(stepped.second == stepped.first + 1);
  CHECK(untimed.first == 0);
  CHECK(untimed.second == 0);
}

TEST_CASE("constants of the machines") {
  CHECK(timing::width_of_two(wse2, {.what = work::add, .bytes = 4}) == 2 * 2);
  CHECK(timing::width_of_two(wse3, {.what = work::add, .bytes = 2}) == 2 * 8);
  CHECK(timing::width_of_two(wse3, {.what = work::multiply, .bytes = 4}) == 2 * 1);
  CHECK(timing::width_of_two(wse2, {.what = work::multiply, .bytes = 2, .banks_clash = true}) == 4);
  CHECK(timing::width_of_two(wse2, {.what = work::compare, .bytes = 2, .banks_clash = true}) == 1);
  CHECK(timing::cycles(wse2, {.what = work::multiply, .bytes = 4, .banks_clash = true}, 5) == 10);
  CHECK(timing::fabric_cycles(wse2, {.what = work::multiply, .bytes = 4, .banks_clash = true}) == 2);
  for (u64 n : {u64{1}, u64{2}, u64{6}})  // at least
    CHECK(timing::cycles(wse2, {.what = work::add, .bytes = 4}, n) == 3);
  CHECK(timing::cycles(wse2, {.what = work::add, .bytes = 4}, 7) == 4);
  CHECK(timing::cycles(wse2, {.what = work::add, .bytes = 4}, 0) == 0);
  for (int stride : {0, 1, 2, 3, 5, 6, 10, -3}) CHECK(detail::width_of_stride(stride) == 8);
  for (int stride : {4, 7, 9, 12, 15, -9}) CHECK(detail::width_of_stride(stride) == 2);
  for (int stride : {8, 16, -8}) CHECK(detail::width_of_stride(stride) == 1);
}

namespace {

/// The first two of three PEs send ten words each, which meet at the second one's router; the third writes
/// down whose word comes when.
struct rival {
  u32 mine[10]{};
  std::vector<int> heard;
  void go(pe& me) {
    for (u32& x : mine) x = static_cast<u32>(me.x());
    me.async(mov(fabout(color<u32>{0}), mem(mine)));
  }
  void hear(pe&, u32 x) { heard.push_back(static_cast<int>(x)); }
  using tasks = task_list<launch<&rival::go>, on<color<u32>{0}, &rival::hear>, sends<color<u32>{0}>>;
};

template <class... Priority>
std::vector<int> order_of_arrival(Priority... priority) {
  layout l{wse2, 3, 1};
  l.place<rival>(all);
  constexpr color<u32> c{0};
  l.path(c, column(0), ramp >> east)
      .path(c, column(1), (ramp | west) >> east, merges, priority...)
      .path(c, column(2), west >> ramp);
  fabric f{l, timed{}};
  f.launch<&rival::go>(columns(0, 2));
  return f.program_at<rival>({2, 0}).heard;
}

}  // namespace

TEST_CASE("an injection priority says who goes first where words meet") {
  const std::vector<int> in_turn = order_of_arrival(), first = order_of_arrival(injects_first),
                         last = order_of_arrival(injects_last);
  // The second PE's first word is at its router a cycle before the other's.
  CHECK(first == std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(last == std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(in_turn == std::vector<int>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
}

namespace {

/// A PE whose operations keep moving hears a command for which it has no task.
struct answering {
  f32 sum = 0;
  void go(pe& me) {
    me.async(add(&sum, 0.f, fabin(red, 40)));
    me.async(mov(fabout(blue, 100), 1.f));
  }
  using tasks = task_list<launch<&answering::go>, reads<red>, sends<blue>>;
};
struct commanding {
  f32 heard[8]{};
  void go(pe& me) {
    me.async(mov(mem(heard), fabin(blue)));
    for (int i = 0; i < 6; ++i) me.send(red, 1.f);
    me.send_control(red, 9);
    me.send(red, 1.f);
  }
  using tasks = task_list<launch<&commanding::go>, sends<red>, reads<blue>>;
};

}  // namespace

TEST_CASE("a command without a task is a fault when it arrives, although operations go on") {
  layout l{wse2, 2, 1};
  l.place<commanding>(column(0)).place<answering>(column(1));
  l.path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  l.path(blue, column(1), ramp >> west).path(blue, column(0), east >> ramp);
  fabric f{l, timed{}};
  f.start<&commanding::go>(column(0));
  CHECK_THROWS_WITH(f.launch<&answering::go>(column(1)), Contains("id 9 on color 0 arrived at PE(1, 0)") &&
                                                             Contains("binds no such control task"));
  CHECK(f.read(1, 0, &answering::sum) == 6);
}
