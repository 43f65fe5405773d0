// SPDX-License-Identifier: MIT
// The particulars of the threaded engine: threads and partitions, long queues and their ends, buffers that
// move. Everything that all engines do alike is tested beside it, on each of them.
#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace wsl;
using Catch::Contains;
using Catch::StartsWith;
using wsl::engines::sends_of_a_data_task, wsl::engines::sends_of_a_task;

namespace {

constexpr color<u32> red{0}, blue{1};

/// Sets WSL_THREADS while it lives.
class thread_wish {
 public:
  explicit thread_wish(const char* n)
      : before_(std::getenv("WSL_THREADS") ? std::getenv("WSL_THREADS") : "") {
    setenv("WSL_THREADS", n, 1);
  }
  ~thread_wish() { before_.empty() ? unsetenv("WSL_THREADS") : setenv("WSL_THREADS", before_.c_str(), 1); }
  thread_wish(const thread_wish&) = delete;
  thread_wish& operator=(const thread_wish&) = delete;

 private:
  std::string before_;
};

/// Every PE adds up; those from some row on throw. Bands are rows here.
struct adder {
  u32 sum = 0;
  void add(pe& me, u32 x, int first_thrower) {
    sum += x;
    if (me.y() >= first_thrower) throw std::out_of_range(std::to_string(me.y()));
  }
  using tasks = task_list<launch<&adder::add>>;
};
const layout adders = layout{wse2, 9, 9}.place<adder>(all);

}  // namespace

TEST_CASE("the number of threads is the program's, the environment's or the machine's") {
  for (const char* request : {"1", "3", "1024", ""}) {
    const thread_wish w(request);
    fabric f{adders, threaded{.pes_per_partition = 9}};
    CHECK_NOTHROW(f.launch<&adder::add>(all, 2u, 9));
    CHECK(f.read(8, 8, &adder::sum) == 2);
  }
  for (const char* request : {"0", "-1", "1025", "four", "4x", "4 ", "99999999999999999999"}) {
    const thread_wish w(request);
    CHECK_THROWS_WITH(
        (fabric{adders, threaded{}}),
        StartsWith("wsl: WSL_THREADS is \"" + std::string(request) + "\"") && Contains("from 1 to 1024"));
    CHECK_NOTHROW(fabric{adders, threaded{.threads = 2}});
  }
}

TEST_CASE("a number of threads that cannot be is a fault") {
  for (int n : {-1, 1025})
    CHECK_THROWS_WITH((fabric{adders, threaded{.threads = n}}),
                      Contains("on 1 to 1024 threads, not on " + std::to_string(n)));
  CHECK_NOTHROW(fabric{adders, threaded{.threads = 1024, .pes_per_partition = 0}});
}

TEMPLATE_LIST_TEST_CASE("of the exceptions of a run the first band's comes out, whatever thread it was on",
                        "", threaded_engines) {
  for (int first : {0, 1, 5, 8}) {
    fabric f{adders, TestType{}};
    CHECK_THROWS_WITH((f.launch<&adder::add>(column(4), 1u, first)),
                      StartsWith(std::to_string(first) + "\n  in add on PE(4, "));
    CHECK(f.read(4, 8, &adder::sum) == 1);  // the other partitions ran
  }
}

// ---- limits -------------------------------------------------------------------------------------

namespace {

struct sender {
  int n = 0;
  void go(pe& me, int count) {
    for (int i = 0; i < count; ++i) me.send(red, static_cast<u32>(i));
  }
  void later(pe& me, int count) {
    n = count;
    me.activate<&sender::step>();
  }
  void step(pe& me) { go(me, n); }
  void by_task(pe& me, u32 count) { go(me, static_cast<int>(count)); }
  using tasks = task_list<launch<&sender::go>, launch<&sender::later>, local<&sender::step>,
                          on<blue, &sender::by_task>, sends<red>>;
};

struct counter {
  u32 n = 0, next = 0, wrong = 0;
  void hear(pe&, u32 x) {
    ++n;
    if (x != next) ++wrong;
    next = x + 1;
  }
  using tasks = task_list<on<red, &counter::hear>>;
};

struct asker {
  void ask(pe& me, u32 count) { me.send(blue, count); }
  void ask_last_of_many(pe& me, u32 count) {
    for (int i = 0; i < 100; ++i) me.send(blue, 1u);
    me.send(blue, count);
  }
  using tasks = task_list<launch<&asker::ask>, launch<&asker::ask_last_of_many>, sends<blue>>;
};

constexpr layout three = layout{wse2, 3, 1}
                             .place<asker>(column(0))
                             .place<sender>(column(1))
                             .place<counter>(column(2))
                             .path(blue, column(0), ramp >> east)
                             .path(blue, column(1), west >> ramp)
                             .path(red, column(1), ramp >> east)
                             .path(red, column(2), west >> ramp);
static_assert(routed<three>());

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "a task may send as much as it is promised, and one wavelet more is a fault that names the remedy", "",
    every_engine) {
  fabric f{three, TestType{}};
  f.launch<&sender::go>(at(1, 0), sends_of_a_task);
  f.launch<&sender::later>(at(1, 0), sends_of_a_task);
  f.launch<&asker::ask>(at(0, 0), static_cast<u32>(sends_of_a_data_task));
  CHECK(f.read(2, 0, &counter::n) == 2 * sends_of_a_task + sends_of_a_data_task);
  CHECK(f.read(2, 0, &counter::wrong) == 2);  // each series begins anew

  const auto complains = [](const char* task, auto launch_it) {
    fabric g{three, TestType{}};
    std::string text;
    try {
      launch_it(g);
    } catch (const fault& e) { text = e.what(); }
    CHECK_THAT(text,
               Contains("PE(1, 0)") && Contains("sends too many wavelets of color 0") && Contains(task));
    CHECK_THAT(text, Contains("a data task may send 512, another task 4096: send more with a descriptor, "
                              "me.async(mov(fabout(color), mem(array)))"));
  };
  constexpr int too_many = sends_of_a_task + 1;
  complains("in go on", [=](fabric& g) { g.launch<&sender::go>(at(1, 0), too_many); });
  complains("in step on", [=](fabric& g) { g.launch<&sender::later>(at(1, 0), too_many); });
  complains("in by_task on",
            [](fabric& g) { g.launch<&asker::ask>(at(0, 0), static_cast<u32>(sends_of_a_data_task + 1)); });
  complains("in go on", [=](fabric& g) { g.launch<&sender::go>(at(1, 0), 10'000); });
  complains("in by_task on", [](fabric& g) { g.launch<&asker::ask>(at(0, 0), 5000u); });
  // one run of a batch; from 768 on this is certain on every engine
  for (const u32 count : {769u, 10'000u})
    complains("in by_task on", [=](fabric& g) { g.launch<&asker::ask_last_of_many>(at(0, 0), count); });
}

namespace {

/// Sends three words for each that it waits for.
struct tripler {
  u32 x = 0;
  task go(pe& me, int words) {
    for (int i = 0; i < words; ++i) {
      co_await mov(&x, fabin(blue, 1));
      for (u32 k = 0; k < 3; ++k) me.send(red, 3 * x + k);
    }
  }
  using tasks = task_list<launch<&tripler::go>, reads<blue>, sends<red>>;
};

struct asks_often {
  void ask(pe& me, u32 words) {
    for (u32 i = 0; i < words; ++i) me.send(blue, i);
  }
  using tasks = task_list<launch<&asks_often::ask>, sends<blue>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("what a task may send counts anew after each wait, also when it need not wait", "",
                        every_engine) {
  layout l{wse2, 3, 1};
  l.place<asks_often>(column(0)).place<tripler>(column(1)).place<counter>(column(2));
  l.path(blue, column(0), ramp >> east)
      .path(blue, column(1), west >> ramp)
      .path(red, column(1), ramp >> east)
      .path(red, column(2), west >> ramp);
  fabric f{l, TestType{}};
  f.start<&asks_often::ask>(at(0, 0), 4000u);
  f.launch<&tripler::go>(at(1, 0), 4000);
  CHECK(f.read(2, 0, &counter::n) == 12000);
  CHECK(f.read(2, 0, &counter::wrong) == 0);
}

// ---- a PE that talks to itself ------------------------------------------------------------------

namespace {

struct soliloquy {
  u32 x = 0, heard = 0, spoken = 0;
  std::array<u32, 2> y{};
  std::array<u32, 600> z{};
  task waits(pe& me) {
    me.send(red, 1u);
    co_await mov(&x, fabin(red, 1));
    me.send(red, x + 1);
    co_await mov(&x, fabin(red, 1));
  }
  void beside(pe& me) {
    me.send(red, 1u);
    me.async(mov(mem(y), fabin(red)));
    me.send(red, 2u);
  }
  void long_speech(pe& me) { me.async(mov(fabout(blue), mem(z)), then<&soliloquy::done>()); }
  void done(pe& me) {
    spoken = heard;
    me.send(blue, 7u);
  }
  void hear(pe&, u32) { ++heard; }
  using tasks =
      task_list<launch<&soliloquy::waits>, launch<&soliloquy::beside>, launch<&soliloquy::long_speech>,
                local<&soliloquy::done>, on<blue, &soliloquy::hear>, reads<red>, sends<red, blue>>;
};
constexpr layout alone =
    layout{wse2, 1, 1}.place<soliloquy>(all).path(red, all, ramp >> ramp).path(blue, all, ramp >> ramp);

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task reads its own words and goes on sending", "", every_engine) {
  fabric f{alone, TestType{}};
  f.launch<&soliloquy::waits>(all);
  CHECK(f.read(0, 0, &soliloquy::x) == 2);
  f.launch<&soliloquy::beside>(all);
  CHECK(f.read(0, 0, &soliloquy::y) == std::array<u32, 2>{1, 2});
}

TEMPLATE_LIST_TEST_CASE("words that an operation sent keep no task of its PE from running", "", long_queues) {
  fabric f{alone, TestType{}};
  f.launch<&soliloquy::long_speech>(all);
  CHECK(f.read(0, 0, &soliloquy::heard) == 601);
}

// ---- bounded memory -----------------------------------------------------------------------------

namespace {

/// Produces for ever, in one of three ways.
struct endless {
  std::array<u32, 100> x{};
  u64 rounds = 0;
  task by_waiting(pe&) {
    for (;; ++rounds) co_await mov(fabout(red), mem(x));
  }
  void by_task(pe& me) { me.activate<&endless::again>(); }
  void again(pe& me) {
    for (u32 i = 0; i < 100; ++i) me.send(red, i);
    ++rounds;
    me.activate<&endless::again>();
  }
  void by_operation(pe& me) { me.async(mov(fabout(red), mem(x)), then<&endless::more>()); }
  void more(pe& me) {
    ++rounds;
    by_operation(me);
  }
  using tasks =
      task_list<launch<&endless::by_waiting>, launch<&endless::by_task>, launch<&endless::by_operation>,
                local<&endless::again>, local<&endless::more>, sends<red>>;
};

/// Takes so many words, and then no more.
struct full {
  u32 taken = 0;
  void hear(pe& me, u32) {
    if (++taken == 1000) me.block<red>();
  }
  using tasks = task_list<on<red, &full::hear>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("an endless producer in front of a consumer that stops is stopped", "",
                        every_engine) {
  layout l{wse2, 2, 3};
  l.place<endless>(column(0))
      .place<full>(column(1))
      .path(red, column(0), ramp >> east)
      .path(red, column(1), west >> ramp);
  fabric f{l, TestType{}};
  f.start<&endless::by_waiting>(at(0, 0));
  f.start<&endless::by_task>(at(0, 1));
  f.start<&endless::by_operation>(at(0, 2));
  CHECK_THROWS_WITH(f.run(), Contains("whose task hear may not run"));
  for (int y : {0, 1, 2}) {
    CHECK(f.read(1, y, &full::taken) == 1000);
    CHECK(f.read(0, y, &endless::rounds) < 100);  // of 100 words each
  }
}

// ---- host streams -------------------------------------------------------------------------------

namespace {

struct doubler {
  void hear(pe& me, u32 x) { me.send(blue, 2 * x); }
  using tasks = task_list<on<red, &doubler::hear>, sends<blue>>;
};
/// Red comes in at the south-west corner, blue leaves at the north end of that column.
layout corner() {
  layout l{wse2, 1, 4};
  l.place<doubler>(at(0, edge - 1))
      .path(red, at(0, edge - 1), west >> ramp)
      .stream_in(red, at(0, edge - 1), west);
  l.path(blue, at(0, edge - 1), ramp >> north)
      .path(blue, rows(0, edge - 1), south >> north)
      .stream_out(blue, at(0, 0), north);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a million words go through host streams, in pieces", "", threaded_engines) {
  fabric f{corner(), TestType{}};
  std::vector<u32> piece;
  u32 sent = 0, received = 0, wrong = 0;
  for (const std::size_t size : std::initializer_list<std::size_t>{1, 999, 100'000, 399'000, 500'000}) {
    piece.resize(size);
    std::iota(piece.begin(), piece.end(), sent);
    f.engine_in_use().stream_write(red.id, {0, 3}, piece);
    sent += static_cast<u32>(size);
    CHECK(f.run().delivered == 2 * size);
    while (const std::size_t n = f.engine_in_use().stream_read(
               blue.id, {0, 0}, std::span<u32>(piece.data(), std::min<std::size_t>(size, 777))))
      for (std::size_t i = 0; i < n; ++i) wrong += piece[i] != 2 * received++;
  }
  CHECK(received == 1'000'000);
  CHECK(wrong == 0);
}

// ---- across partitions --------------------------------------------------------------------------

namespace {

/// Says a lot, with a control wavelet after every 100th word.
struct herald {
  std::array<u32, 1000> x{};
  void speak(pe& me, int words) {
    for (int i = 1; i <= words; ++i) {
      me.send(red, static_cast<u32>(i));
      if (i % 100 == 0) me.send_control(red, 5, static_cast<u16>(i));
    }
  }
  void stream(pe& me) {
    for (u32 i = 0; i < x.size(); ++i) x[i] = i;
    me.async(mov(fabout(red), mem(x)));
  }
  using tasks = task_list<launch<&herald::speak>, launch<&herald::stream>, sends<red>>;
};

struct crowd {
  u32 heard = 0, hash = 0, misplaced = 0;
  void hear(pe&, u32 x) {
    ++heard;
    hash = hash * 31 + x;
  }
  void count(pe&, u16 words) { misplaced += words != heard; }
  void leave(pe& me) { me.block<red>(); }
  void come(pe& me) { me.unblock<red>(); }
  using tasks = task_list<on<red, &crowd::hear>, control<5, &crowd::count>, launch<&crowd::leave>,
                          launch<&crowd::come>>;
};

/// From the north-west corner along row 0, and from there down every column.
layout to_all(int w, int h) {
  layout l{host, w, h};
  l.place<herald>(at(0, 0)).place<crowd>(row(0).columns(1)).place<crowd>(rows(1));
  l.path(red, at(0, 0), ramp >> (east | south))
      .path(red, row(0).columns(1, edge - 1), west >> (ramp | east | south));
  l.path(red, at(edge - 1, 0), west >> (ramp | south))
      .path(red, rows(1, edge - 1), north >> (ramp | south))
      .path(red, row(edge - 1), north >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a multicast with control wavelets reaches hundreds of PEs in many bands, in order",
                        "", every_engine) {
  fabric f{to_all(20, 25), TestType{}};
  const outcome o = f.launch<&herald::speak>(at(0, 0), 1000);
  CHECK(o.wavelets == 1010);
  CHECK(o.hops == 499 * 1010);
  CHECK(o.delivered == 499 * 1010);
  const u32 hash = f.read(1, 0, &crowd::hash);
  u32 other = 0;
  for (int i = 1; i < 500; ++i) {
    const crowd& c = f.program_at<crowd>({i % 20, i / 20});
    other += c.heard != 1000 || c.hash != hash || c.misplaced != 0;
  }
  CHECK(other == 0);
}

TEST_CASE("a multicast reaches more PEs than 16 bits count") {
  fabric f{to_all(300, 250), threaded{.threads = 2}};
  const outcome o = f.launch<&herald::speak>(at(0, 0), 3);
  CHECK(o.hops == 3 * 74'999);
  CHECK(o.delivered == 3 * 74'999);
  u32 unheard = 0;
  for (int i = 1; i < 75'000; ++i) unheard += f.read(i % 300, i / 300, &crowd::heard) != 3;
  CHECK(unheard == 0);
}

TEMPLATE_LIST_TEST_CASE(
    "a multicast goes on beside a slow receiver until the queues are full, and the slow one misses nothing",
    "", long_queues) {
  fabric f{to_all(4, 5), TestType{}};
  f.launch<&crowd::leave>(at(2, 3));
  // words are left in a queue
  for (int round = 0; round < 3; ++round) CHECK_THROWS_AS(f.launch<&herald::stream>(at(0, 0)), deadlock);
  CHECK_NOTHROW(f.launch<&crowd::come>(at(2, 3)));
  for (int i = 1; i < 20; ++i) CHECK(f.read(i % 4, i / 4, &crowd::heard) == 3000);
  CHECK(f.read(2, 3, &crowd::hash) == f.read(1, 0, &crowd::hash));
}

namespace {

constexpr color<u32> down{2}, up{3};

struct bouncer {
  u32 hits = 0;
  void serve(pe& me, u32 x) { me.north_edge() ? me.send(down, x) : me.send(up, x); }
  void from_north(pe& me, u32 x) {
    ++hits;
    if (x) me.send(up, x - 1);
  }
  void from_south(pe& me, u32 x) {
    ++hits;
    if (x) me.send(down, x - 1);
  }
  using tasks = task_list<launch<&bouncer::serve>, on<down, &bouncer::from_north>,
                          on<up, &bouncer::from_south>, sends<down, up>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("words go to and fro between bands", "", every_engine) {
  layout l{wse2, 3, 2};
  l.place<bouncer>(all).path(down, row(0), ramp >> south).path(down, row(1), north >> ramp);
  l.path(up, row(1), ramp >> north).path(up, row(0), south >> ramp);
  fabric f{l, TestType{}};
  f.launch<&bouncer::serve>(all, 100u);
  for (int i = 0; i < 6; ++i) CHECK(f.read(i % 3, i / 3, &bouncer::hits) == 101);
}

namespace {

constexpr color<u32> tick{4}, tock{5}, pulse{6}, trigger{8}, flood{9};

/// With every tock, which comes in every superstep, 100 words for the relay in the other partition.
struct pacemaker {
  u32 left = 100, next = 0;
  void start(pe& me) { me.send(tick, 0u); }
  void beat(pe& me, u32) {
    if (left == 0) return;
    --left;
    for (int i = 0; i < 100; ++i) me.send(pulse, next++);
    me.send(tick, 0u);
  }
  using tasks = task_list<launch<&pacemaker::start>, on<tock, &pacemaker::beat>, sends<tick, pulse>>;
};
struct pendulum {
  void start(pe& me) { me.send(tock, 0u); }
  void swing(pe& me, u32) { me.send(tock, 0u); }
  using tasks = task_list<launch<&pendulum::start>, on<tick, &pendulum::swing>, sends<tock>>;
};
/// Its buffer never runs empty, so that what is unread moves to another one; its neighbour takes the old one
/// at once.
struct relay {
  void pass(pe& me, u32 x) {
    me.send(red, x);
    if (x % 100 == 99) me.send(trigger, x);
  }
  using tasks = task_list<on<pulse, &relay::pass>, sends<red, trigger>>;
};
struct spendthrift {
  void spend(pe& me, u32 x) {
    for (int i = 0; i < sends_of_a_data_task; ++i) me.send(flood, ~x);
  }
  using tasks = task_list<on<trigger, &spendthrift::spend>, sends<flood>>;
};
struct drain {
  u32 n = 0;
  void take(pe&, u32) { ++n; }
  using tasks = task_list<on<flood, &drain::take>>;
};

/// Two partitions: the upper and the lower row.
constexpr layout heart = layout{wse2, 4, 2}
                             .place<pendulum>(at(0, 0))
                             .place<relay>(at(1, 0))
                             .place<spendthrift>(at(2, 0))
                             .place<drain>(at(3, 0))
                             .place<pacemaker>(at(0, 1))
                             .place<counter>(at(3, 1))
                             .path(tick, at(0, 1), ramp >> north)
                             .path(tick, at(0, 0), south >> ramp)
                             .path(tock, at(0, 0), ramp >> south)
                             .path(tock, at(0, 1), north >> ramp)
                             .path(pulse, at(0, 1), ramp >> east)
                             .path(pulse, at(1, 1), west >> north)
                             .path(pulse, at(1, 0), south >> ramp)
                             .path(red, at(1, 0), ramp >> east)
                             .path(red, at(2, 0), west >> east)
                             .path(red, at(3, 0), west >> south)
                             .path(red, at(3, 1), north >> ramp)
                             .path(trigger, at(1, 0), ramp >> east)
                             .path(trigger, at(2, 0), west >> ramp)
                             .path(flood, at(2, 0), ramp >> east)
                             .path(flood, at(3, 0), west >> ramp);
static_assert(routed<heart>());

}  // namespace

TEST_CASE("a buffer that another band still reads is not used again") {
  for (int threads : {1, 2}) {
    fabric f{heart, threaded{.threads = threads, .pes_per_partition = 3}};
    f.start<&pendulum::start>(at(0, 0));
    f.launch<&pacemaker::start>(at(0, 1));
    CHECK(f.read(3, 1, &counter::n) == 10'000);
    CHECK(f.read(3, 1, &counter::wrong) == 0);
    CHECK(f.read(3, 0, &drain::n) == 100 * sends_of_a_data_task);
  }
}

// ---- arrays that cross from memory to memory ----------------------------------------------------

namespace {

/// Two PEs, each a partition, send each other an array. A program that changes its array while the words are
/// on their way makes a mistake, but the result is not left to chance.
template <auto out, auto in>
struct trader {
  std::vector<u32> give, take;
  int changes_left = 0, ended = 0;

  void begin(pe& me, int n, bool in_place, int changes) {
    for (int i = 0; i < n; ++i) give.push_back(static_cast<u32>(n + i * 7) ^ static_cast<u32>(me.x()));
    take.resize(give.size());
    changes_left = changes;
    me.async(mov(fabout(out), mem(std::span(give))), then<&trader::sent>());
    me.async(mov(mem(std::span(in_place ? give : take)), fabin(in)), then<&trader::took>());
    if (changes) me.activate<&trader::change>();
  }
  void change(pe& me) {
    for (u32& w : give) w = w * 3 + 1;
    if (--changes_left) me.activate<&trader::change>();
  }
  void sent(pe&) {
    ++ended;
    if (give.data() != take.data()) std::fill(give.begin(), give.end(), 0u);
  }
  void took(pe&) { ++ended; }
  using tasks = task_list<launch<&trader::begin>, local<&trader::change>, local<&trader::sent>,
                          local<&trader::took>, sends<out>, reads<in>>;
};
using left_trader = trader<red, blue>;
using right_trader = trader<blue, red>;
constexpr layout market = layout{host, 2, 1}
                              .place<left_trader>(column(0))
                              .place<right_trader>(column(1))
                              .path(red, column(0), ramp >> east)
                              .path(red, column(1), west >> ramp)
                              .path(blue, column(1), ramp >> west)
                              .path(blue, column(0), east >> ramp);

struct traded {
  std::vector<u32> words;  ///< all arrays of both
  u64 wavelets = 0;
  bool operator==(const traded&) const = default;
};
traded trade(const threaded& how, int n, bool in_place, int changes) {
  fabric f{market, how};
  f.start<&left_trader::begin>(column(0), n, in_place, changes);
  const outcome done = f.launch<&right_trader::begin>(column(1), n, in_place, changes);
  left_trader& left = f.program_at<left_trader>({0, 0});
  right_trader& right = f.program_at<right_trader>({1, 0});
  CHECK(left.ended + right.ended == 4);
  traded result{{}, done.wavelets};
  for (const auto* array : {&left.give, &left.take, &right.give, &right.take})
    result.words.insert(result.words.end(), array->begin(), array->end());
  return result;
}

}  // namespace

TEST_CASE("a long array that crosses to another band arrives as it was, and its sender may then change it") {
  for (int n : {1, 4'097, 8'192, 600'000})  // the last takes more than one grant
    for (u32 rendezvous_from : {1u, 5'000u, 8'192u, 1'000'000u})
      for (int threads : {1, 2}) {
        const traded got = trade(
            {.threads = threads, .pes_per_partition = 1, .rendezvous_from = rendezvous_from}, n, false, 0);
        std::vector<u32> expected;
        for (int array = 0; array < 4; ++array)  // those that were sent are zeros
          for (int i = 0; i < n; ++i)
            expected.push_back(array % 2 == 0 ? 0 : static_cast<u32>(n + i * 7) ^ (array == 1 ? 1u : 0u));
        CHECK((got.words == expected));  // not all of them in a message
        CHECK(got.wavelets == 2 * static_cast<u64>(n));
      }
}

TEST_CASE("what a program does to words that are on their way has the same result on any number of threads") {
  for (u32 rendezvous_from : {1u, 8'192u})
    for (bool in_place : {false, true})
      for (int changes : {1, 40}) {
        const threaded one{.threads = 1, .pes_per_partition = 1, .rendezvous_from = rendezvous_from},
            two{.threads = 2, .pes_per_partition = 1, .rendezvous_from = rendezvous_from};
        const traded truth = trade(one, 20'000, in_place, changes);
        for (int again = 0; again < 5; ++again) CHECK((trade(two, 20'000, in_place, changes) == truth));
      }
}

// ---- deadlock reports ---------------------------------------------------------------------------

namespace {

struct patient {
  std::array<u32, 50> x{};
  task read(pe&, int n) { co_await mov(mem(x).part(0, n), fabin(blue)); }
  using tasks = task_list<launch<&patient::read>, reads<blue>>;
};
template <class Engine, class Use>
std::string report_of(const layout& l, const Engine& engine, Use use) {
  fabric f{l, engine};
  try {
    use(f);
  } catch (const deadlock& d) {
    // The threaded engine has no routers: it counts their wavelets to the input queue, and says so.
    std::string text = d.what();
    const std::string not_told_apart = " and on the way to it";
    for (std::size_t at; (at = text.find(not_told_apart)) != std::string::npos;)
      text.erase(at, not_told_apart.size());
    return text;
  }
  return "no deadlock";
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("where queues make no difference a deadlock reads as on the reference engine", "",
                        threaded_engines) {
  const auto starved = [](fabric& f) {
    f.start<&asks_often::ask>(at(0, 0), 5u);
    f.launch<&tripler::go>(at(1, 0), 8);
  };
  layout l{wse2, 3, 1};
  l.place<asks_often>(column(0)).place<tripler>(column(1)).place<counter>(column(2));
  l.path(blue, column(0), ramp >> east)
      .path(blue, column(1), west >> ramp)
      .path(red, column(1), ramp >> east)
      .path(red, column(2), west >> ramp);
  const std::string text = report_of(l, reference{}, starved);
  CHECK_THAT(text, Contains("mov waits for 1 wavelet of color 1"));
  CHECK(report_of(l, TestType{}, starved) == text);

  const auto nobody_came = [](fabric& f) {
    f.launch<&crowd::leave>(at(1, 1));
    f.launch<&herald::speak>(at(0, 0), 1);
  };
  const layout b = to_all(3, 3);
  CHECK_THAT(report_of(b, reference{}, nobody_came), Contains("task hear may not run"));
  CHECK(report_of(b, TestType{}, nobody_came) == report_of(b, reference{}, nobody_came));
}

TEMPLATE_LIST_TEST_CASE("where data tasks wait for room the report follows them to the culprit", "",
                        threaded_engines) {
  layout l{wse2, 3, 1};
  l.place<endless>(column(0)).place<doubler>(column(1)).place<patient>(column(2));
  l.path(red, column(0), ramp >> east)
      .path(red, column(1), west >> ramp)
      .path(blue, column(1), ramp >> east)
      .path(blue, column(2), west >> ramp);
  const std::string text = report_of(l, TestType{}, [](fabric& f) {
    f.start<&patient::read>(at(2, 0), 50);
    f.launch<&endless::by_waiting>(at(0, 0));
  });
  CHECK_THAT(text, Contains("PE(0, 0) waits for room on color 0 towards PE(1, 0), which waits for room on "
                            "color 1 towards PE(2, 0), where nothing "
                            "takes color 1."));
}
