// SPDX-License-Identifier: MIT
// Tasks run to completion, one at a time, in a defined order, when they are activated and not blocked.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<f32> red{0}, blue{1};

/// The steps of a PE in their order, a letter for each.
struct diary {
  std::array<char, 64> text{};
  int length = 0;
  void note(char c) { text[static_cast<std::size_t>(length++)] = c; }
};

struct two_steps {
  diary log;
  void start(pe& me) {
    me.activate<&two_steps::later>();
    me.activate<&two_steps::sooner>();
    log.note('s');
    me.activate<&two_steps::later>();
    log.note('t');
  }
  void sooner(pe&) { log.note('a'); }
  void later(pe& me) {
    log.note('b');
    if (log.length < 5) me.activate<&two_steps::later>();
    log.note('c');
  }
  using tasks = task_list<launch<&two_steps::start>, local<&two_steps::sooner>, local<&two_steps::later>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "a task runs to completion, activation is one bit, and the first local task of the list goes first", "",
    every_engine) {
  fabric f{layout{wse2, 1, 1}.place<two_steps>(all), TestType{}};
  const outcome o = f.launch();
  CHECK(f.read(0, 0, &two_steps::log).text.data() == std::string("stabcbc"));
  CHECK(o.tasks == 4);
  CHECK(o.wavelets == 0);
  f.launch();
  CHECK(f.read(0, 0, &two_steps::log).text.data() == std::string("stabcbcstabc"));
}

namespace {

struct waiting_room {
  diary log;
  void boot(pe&) { log.note('b'); }
  void router_switch(pe& me) {
    log.note('g');
    me.block<&waiting_room::router_switch>();
    me.activate<&waiting_room::router_switch>();
  }
  void want(pe& me) { me.activate<&waiting_room::router_switch>(); }
  void open(pe& me) { me.unblock<&waiting_room::router_switch>(); }
  using tasks = task_list<local<&waiting_room::boot, active>, local<&waiting_room::router_switch, blocked>,
                          launch<&waiting_room::want>, launch<&waiting_room::open>>;
};

std::string text_of(fabric& f) { return f.read(0, 0, &waiting_room::log).text.data(); }

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task may be active or blocked from the start; a blocked task keeps its activation",
                        "", every_engine) {
  fabric f{layout{wse2, 1, 1}.place<waiting_room>(all), TestType{}};
  CHECK(text_of(f).empty());
  f.run();
  CHECK(text_of(f) == "b");
  f.launch<&waiting_room::open>(all);
  CHECK(text_of(f) == "b");
  CHECK_THROWS_AS((f.launch<&waiting_room::want>(all)), deadlock);  // gate blocks and activates itself
  CHECK(text_of(f) == "bg");
  CHECK_THROWS_AS((f.launch<&waiting_room::open>(all)), deadlock);
  CHECK(text_of(f) == "bgg");
}

namespace {

/// Sends 1, 2, 3, ...
struct counter {
  void count(pe& me, int n) {
    for (int i = 1; i <= n; ++i) me.send(red, static_cast<f32>(i));
  }
  using tasks = task_list<launch<&counter::count>, sends<red>>;
};

/// Takes a wavelet only when it is told to.
struct gated {
  f32 sum = 0;
  int taken = 0;
  void take(pe& me, f32 x) {
    sum = sum * 10 + x;
    if (++taken == 3) me.block<red>();
  }
  void open(pe& me) { me.unblock<red>(); }
  using tasks = task_list<on<red, &gated::take, blocked>, launch<&gated::open>>;
};

constexpr layout router_switch = layout{wse2, 2, 1}
                                     .place<counter>(column(0))
                                     .place<gated>(column(1))
                                     .path(red, column(0), ramp >> east)
                                     .path(red, column(1), west >> ramp);
static_assert(routed<router_switch>());

}  // namespace

TEMPLATE_LIST_TEST_CASE("a blocked data task leaves its wavelets in the queue, in order", "", every_engine) {
  fabric f{router_switch, TestType{}};
  CHECK_THROWS_AS(f.launch<&counter::count>(at(0, 0), 5), deadlock);
  CHECK(f.read(1, 0, &gated::taken) == 0);
  CHECK_THROWS_AS(f.launch<&gated::open>(at(1, 0)), deadlock);
  CHECK(f.read(1, 0, &gated::sum) == 123);  // the task blocked itself
  f.launch<&gated::open>(at(1, 0));
  CHECK(f.read(1, 0, &gated::sum) == 12345);
}

namespace {

/// The same with a color that is chosen at run time.
struct chooser {
  f32 sum = 0, unused[2]{};
  color<f32> which = red;
  void take(pe& me, f32 x) {
    sum = sum * 10 + x;
    me.block(which);
  }
  void open(pe& me) { me.unblock(which); }
  void wrong(pe& me, int what) {
    if (what == 0) me.block(blue);
    else if (what == 1) me.unblock(blue);
    else if (what == 2) me.block<blue>();
    else if (what == 3) me.unblock<blue>();
    else if (what == 4) me.async(mov(mem(unused), fabin(blue)), unblocks<blue>());
    else me.block(color<f32>{what});
  }
  using tasks = task_list<on<red, &chooser::take, blocked>, reads<blue>, launch<&chooser::open>,
                          launch<&chooser::wrong>>;
};
constexpr layout chosen = layout{wse2, 2, 1}
                              .place<counter>(column(0))
                              .place<chooser>(column(1))
                              .path(red, column(0), ramp >> east)
                              .path(red, column(1), west >> ramp)
                              .path(blue, columns(0, 0), west >> ramp);

}  // namespace

TEMPLATE_LIST_TEST_CASE("a data task is blocked and unblocked by a color that is known at run time", "",
                        every_engine) {
  fabric f{chosen, TestType{}};
  CHECK_THROWS_AS(f.launch<&counter::count>(at(0, 0), 3), deadlock);
  for (f32 expected : {1.f, 12.f}) {
    CHECK_THROWS_AS(f.launch<&chooser::open>(at(1, 0)), deadlock);
    CHECK(f.read(1, 0, &chooser::sum) == expected);
  }
  f.launch<&chooser::open>(at(1, 0));
  CHECK(f.read(1, 0, &chooser::sum) == 123);
}

TEMPLATE_LIST_TEST_CASE("a color without a data task cannot be blocked", "", every_engine) {
  for (int what : {0, 1, 2, 3, 4, 9, 70, -3}) {
    const bool unblocks = what == 1 || what == 3 || what == 4;
    fabric f{chosen, TestType{}};
    CHECK_THROWS_WITH(f.launch<&chooser::wrong>(at(1, 0), what),
                      Contains("calls me." + std::string(unblocks ? "unblock" : "block") + " for color " +
                               std::to_string(what < 5 && what >= 0 ? 1 : what)) &&
                          Contains("have no on<color, ...> for it") && Contains("in wrong on PE(1, 0)"));
  }
}

namespace {

struct two_sends {
  std::array<f32, 40> x{};
  void start(pe& me, int reds, int blues) {
    me.async(mov(fabout(red), mem(x).part(0, reds)));
    me.async(mov(fabout(blue), mem(x).part(0, blues)));
  }
  using tasks = task_list<launch<&two_sends::start>, sends<red, blue>>;
};

/// Two receives, one of which activates the join and the other of which unblocks it.
struct joined {
  std::array<f32, 40> x{}, y{};
  int joins = 0;
  void start(pe& me, int reds, int blues) {
    me.async(mov(mem(x).part(0, reds), fabin(red)), then<&joined::join>());
    me.async(mov(mem(y).part(0, blues), fabin(blue)), unblocks<&joined::join>());
  }
  void join(pe& me) {
    me.block<&joined::join>();
    ++joins;
  }
  using tasks = task_list<launch<&joined::start>, local<&joined::join, blocked>, reads<red, blue>>;
};

constexpr layout join_plan = layout{wse3, 2, 1}
                                 .place<two_sends>(column(0))
                                 .place<joined>(column(1))
                                 .path(red, column(0), ramp >> east)
                                 .path(red, column(1), west >> ramp)
                                 .path(blue, column(0), ramp >> east)
                                 .path(blue, column(1), west >> ramp);

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "one completion activates, the other unblocks: the join runs once, whichever comes first", "",
    every_engine) {
  fabric f{join_plan, TestType{}};
  int rounds = 0;
  for (const auto& [reds, blues] : {std::pair{40, 3}, std::pair{3, 40}, std::pair{7, 7}}) {
    f.start<&joined::start>(at(1, 0), reds, blues);
    f.launch<&two_sends::start>(at(0, 0), reds, blues);
    CHECK(f.read(1, 0, &joined::joins) == ++rounds);
  }
}

TEMPLATE_LIST_TEST_CASE("with one of its two completions missing the join does not run", "", every_engine) {
  fabric f{join_plan, TestType{}};
  f.start<&joined::start>(at(1, 0), 3, 3);
  CHECK_THROWS_AS(f.launch<&two_sends::start>(at(0, 0), 3, 2), deadlock);
  CHECK(f.read(1, 0, &joined::joins) == 0);
}

namespace {

struct register_machine {
  f32 value = 1;
  void add(pe&, f32 x) { value += x; }
  void mul(pe&, f32 x, int times) {
    for (int i = 0; i < times; ++i) value *= x;
  }
  void place(pe& me) { value += static_cast<f32>(10 * me.x() + 100 * me.y()); }
  using tasks = task_list<launch<&register_machine::add>, launch<&register_machine::mul>,
                          launch<&register_machine::place>>;
};

struct idle {
  void nothing(pe&) {}
  using tasks = task_list<local<&idle::nothing>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("host calls carry arguments, cover areas and run in their order", "", every_engine) {
  fabric f{layout{wse2, 3, 2}.place<register_machine>(all), TestType{}};
  f.start<&register_machine::add>(all, 2.f);
  f.start<&register_machine::mul>(columns(1, edge), 3.f, 2);
  f.start<&register_machine::add>(at(2, edge - 1), 0.5f);
  const outcome o = f.run();
  CHECK(o.tasks == 6 + 4 + 1);
  CHECK(f.read(0, 0, &register_machine::value) == 3);
  CHECK(f.read(1, 1, &register_machine::value) == 27);
  CHECK(f.read(2, 1, &register_machine::value) == 27.5f);
  f.program_at<register_machine>({0, 0}).value = 0;
  f.launch<&register_machine::place>(all);
  CHECK(f.read(0, 0, &register_machine::value) == 0);
  CHECK(f.read(2, 1, &register_machine::value) == 147.5f);
  CHECK(f.run() == outcome{});
}

TEMPLATE_LIST_TEST_CASE("a launch that names nothing, too little or the wrong place is a fault", "",
                        every_engine) {
  fabric f{layout{wse2, 3, 1}.place<register_machine>(at(0, 0)).place<idle>(at(1, 0)), TestType{}};
  CHECK_THROWS_WITH(f.launch(0, 0), Contains("register_machine has several host functions"));
  CHECK_THROWS_WITH(f.launch(1, 0), Contains("idle has no host function"));
  CHECK_THROWS_WITH(f.launch(2, 0), Contains("there is no program at PE(2, 0) of a grid of 3 x 1"));
  CHECK_THROWS_WITH(f.launch(columns(3, edge)), Contains("no PE in the area"));
  CHECK_THROWS_WITH(
      f.launch<&register_machine::add>(at(1, 0), 1.f),
      Contains("idle at PE(1, 0) does not bind launch<&") && Contains("register_machine::add>"));
}

TEMPLATE_LIST_TEST_CASE("a member is read with the type of the program that was placed", "", every_engine) {
  fabric f{layout{wse2, 2, 1}.place<register_machine>(at(0, 0)), TestType{}};
  CHECK(f.read(0, 0, &register_machine::value) == 1);
  CHECK_THROWS_WITH(f.read(0, 0, &gated::sum),
                    Contains("PE(0, 0) runs") && Contains("register_machine, not") && Contains("gated"));
  CHECK_THROWS_WITH(f.read(1, 0, &register_machine::value), Contains("no program at PE(1, 0)"));
  CHECK_THROWS_WITH(f.read(0, 5, &register_machine::value), Contains("no program at PE(0, 5)"));
}

namespace {

struct remote {
  void go(pe& me, int id) {
    me.send(red, 1.f);
    me.send_control(red, id, 513);
    me.send(red, 2.f);
  }
  using tasks = task_list<launch<&remote::go>, sends<red>>;
};

struct controlled {
  diary log;
  u16 data = 0;
  f32 last = 0;
  void take(pe&, f32 x) { last = x, log.note('d'); }
  void plain(pe&) { log.note('p'); }
  void with_data(pe&, u16 x) { data = x, log.note('c'); }
  using tasks = task_list<on<red, &controlled::take>, control<7, &controlled::plain>,
                          control<63, &controlled::with_data>>;
};

constexpr layout controls = layout{wse2, 3, 1}
                                .place<remote>(column(0))
                                .place<controlled>(columns(1, edge))
                                .path(red, column(0), ramp >> east)
                                .path(red, column(1), west >> (ramp | east))
                                .path(red, column(2), west >> ramp);
static_assert(routed<controls>());

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "a control wavelet runs the task of its id between the data, wherever it is delivered", "",
    every_engine) {
  fabric f{controls, TestType{}};
  f.launch<&remote::go>(at(0, 0), 7);
  for (int x : {1, 2}) CHECK(f.read(x, 0, &controlled::log).text.data() == std::string("dpd"));
  f.launch<&remote::go>(at(0, 0), 63);
  for (int x : {1, 2}) CHECK(f.read(x, 0, &controlled::log).text.data() == std::string("dpddcd"));
  CHECK(f.read(2, 0, &controlled::data) == 513);
}

TEMPLATE_LIST_TEST_CASE("a control wavelet that no task expects is a fault, whatever its id", "",
                        every_engine) {
  for (int id : {8, 62}) {
    fabric f{controls, TestType{}};
    CHECK_THROWS_WITH(
        (f.launch<&remote::go>(at(0, 0), id)),
        Contains("a control wavelet with id " + std::to_string(id) + " on color 0 arrived at PE(1, 0)") &&
            Contains("binds no such control task"));
  }
  for (int id : {-1, 64, 65535}) {
    fabric f{controls, TestType{}};
    CHECK_THROWS_WITH((f.launch<&remote::go>(at(0, 0), id)),
                      Contains("there is no control task " + std::to_string(id) +
                               ": the ids of control tasks are 0 to 63"));
  }
}

namespace {

constexpr color<f32> delay{2};

/// When the launch ends, words of both colors wait in their queues and a local task is activated.
template <bool local_first>
struct hurried {
  diary log;
  std::array<f32, 200> x{};

  task go(pe& me) {
    me.send(red, 1.f);
    me.send(blue, 1.f);
    me.async(mov(fabout(delay), mem(x)));
    co_await mov(mem(x), fabin(delay));
    me.activate<&hurried::step>();
    me.activate<&hurried::other>();
  }
  void slow(pe&, f32) { log.note('r'); }
  void fast(pe&, f32) { log.note('B'); }
  void other(pe&) { log.note('o'); }
  void step(pe&) { log.note('s'); }

  using step_task = local<&hurried::step>;
  using tasks =
      task_list<local<&hurried::other>, std::conditional_t<local_first, urgent<step_task>, step_task>,
                urgent<on<blue, &hurried::fast>>, launch<&hurried::go>, on<red, &hurried::slow>, reads<delay>,
                sends<red, blue, delay>>;
};

template <class P, class Engine>
std::string order_of() {
  layout l{wse2, 1, 1};
  l.place<P>(all);
  for (const auto c : {red, blue, delay}) l.path(c, all, ramp >> ramp);
  fabric f{l, Engine{}};
  f.launch(0, 0);
  return f.read(0, 0, &P::log).text.data();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what is urgent goes first", "", every_engine) {
  CHECK(order_of<hurried<false>, TestType>() == "Bosr");
  CHECK(order_of<hurried<true>, TestType>() == "sBor");
}

namespace {

/// Has something to compute while its question is on the way.
template <bool computes_long>
struct asking {
  diary log;

  void go(pe& me) {
    me.send(red, 1.f);
    me.activate<&asking::compute>();
  }
  void compute(pe&) { log.note('c'); }
  void hear(pe&, f32) { log.note('a'); }

  using computing = local<&asking::compute>;
  using tasks = task_list<std::conditional_t<computes_long, long_running<computing>, computing>,
                          launch<&asking::go>, on<blue, &asking::hear>, sends<red>>;
};
struct answering {
  void hear(pe& me, f32 x) { me.send(blue, x); }
  using tasks = task_list<on<red, &answering::hear>, sends_after<blue, red>>;
};

template <bool computes_long>
std::string order_between_bands(int threads) {
  layout l{host, 2, 1};
  l.place<asking<computes_long>>(at(0, 0));
  l.place<answering>(at(1, 0));
  l.path(red, at(0, 0), ramp >> east)
      .path(red, at(1, 0), west >> ramp)
      .path(blue, at(1, 0), ramp >> west)
      .path(blue, at(0, 0), east >> ramp);
  fabric f{l, threaded{.threads = threads, .pes_per_partition = 1}};
  for (int k = 0; k < 3; ++k) f.template launch<&asking<computes_long>::go>(at(0, 0));
  return f.read(0, 0, &asking<computes_long>::log).text.data();
}

}  // namespace

TEST_CASE("what computes long waits for what is on its way between bands") {
  for (int threads : {1, 2}) {
    CHECK(order_between_bands<false>(threads) == "cacaca");
    CHECK(order_between_bands<true>(threads) == "acacac");
  }
}

namespace {

/// Computes while its question is on the way.
struct thinking {
  diary log;
  int sum = 0;

  void go(pe& me) {
    me.async_compute<&thinking::compute>(*this, then<&thinking::computed>());
    me.send(red, 1.f);
  }
  void compute() {
    for (int k = 1; k <= 10; ++k) sum += k;
  }
  void computed(pe&) { log.note('c'); }
  void hear(pe&, f32) { log.note('a'); }

  using tasks =
      task_list<launch<&thinking::go>, local<&thinking::computed>, on<blue, &thinking::hear>, sends<red>>;
};
layout question() {
  layout l{host, 2, 1};
  l.place<thinking>(at(0, 0)).place<answering>(at(1, 0));
  l.path(red, at(0, 0), ramp >> east)
      .path(red, at(1, 0), west >> ramp)
      .path(blue, at(1, 0), ramp >> west)
      .path(blue, at(0, 0), east >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what is computed beside the tasks is complete once", "", every_engine) {
  fabric f{question(), TestType{}};
  f.launch(at(0, 0));
  CHECK(f.read(0, 0, &thinking::sum) == 55);
  const std::string order = f.read(0, 0, &thinking::log).text.data();
  CHECK((order == "ca" || order == "ac"));
}

TEST_CASE("words travel between bands while a PE computes beside its tasks") {
  for (int threads : {1, 2}) {
    fabric f{question(), threaded{.threads = threads, .pes_per_partition = 1}};
    for (int k = 1; k <= 3; ++k) {
      f.launch<&thinking::go>(at(0, 0));
      CHECK(f.read(0, 0, &thinking::sum) == 55 * k);
    }
    CHECK(std::string(f.read(0, 0, &thinking::log).text.data()) == "acacac");
  }
}

namespace {

struct stumbling {
  int done = 0;

  void go(pe& me) { me.async_compute<&stumbling::compute>(*this, then<&stumbling::computed>()); }
  void compute() {
    if (++done == 1) throw fault("wsl: too steep");
  }
  void computed(pe&) { done += 10; }
  using tasks = task_list<launch<&stumbling::go>, local<&stumbling::computed>>;
};

}  // namespace

TEST_CASE("what fails beside the tasks says where, and ends the run") {
  for (int threads : {1, 2, 8}) {
    layout l{host, 2, 1};
    l.place<stumbling>(all);
    fabric f{l, threaded{.threads = threads, .pes_per_partition = 2}};
    f.start<&stumbling::go>(all);
    CHECK_THROWS_WITH(f.run(), Catch::Contains("too steep") && Catch::Contains("PE(0, 0) of"));
    CHECK(f.read(0, 0, &stumbling::done) + f.read(1, 0, &stumbling::done) == 1);
  }
}

namespace {

struct failing {
  void go(pe&) { throw fault("wsl: no"); }
  using tasks = task_list<launch<&failing::go>>;
};
struct putting_off {
  int done = 0;

  void go(pe& me) { me.activate<&putting_off::compute>(); }
  void compute(pe&) { ++done; }
  using tasks = task_list<launch<&putting_off::go>, long_running<local<&putting_off::compute>>>;
};

}  // namespace

TEST_CASE("what a fault has left undone stays undone, on any number of threads") {
  for (int threads : {1, 2, 8}) {
    layout l{host, 2, 1};
    l.place<failing>(at(0, 0)).place<putting_off>(at(1, 0));
    fabric f{l, threaded{.threads = threads, .pes_per_partition = 1}};
    f.start<&failing::go>(at(0, 0));
    f.start<&putting_off::go>(at(1, 0));
    CHECK_THROWS_AS(f.run(), fault);
    CHECK_THROWS_WITH(f.run(), Catch::Contains("this fabric has stopped"));
    CHECK(f.read(1, 0, &putting_off::done) == 0);
  }
}

namespace {

/// Stays busy until a word comes.
struct impatient {
  bool here = false;
  u64 turns = 0;

  void go(pe& me) { me.activate<&impatient::look>(); }
  void look(pe& me) {
    ++turns;
    if (!here) me.activate<&impatient::look>();
  }
  void hear(pe&, f32) { here = true; }

  using tasks = task_list<launch<&impatient::go>, local<&impatient::look>, urgent<on<red, &impatient::hear>>>;
};
struct forgetful {
  void go(pe& me) { me.send(red, 1.f); }
  using tasks = task_list<launch<&forgetful::go>, sends<red>>;
};

}  // namespace

TEST_CASE("a PE that stays busy until a word comes gets the word") {
  u64 turns[2] = {};
  for (int threads : {1, 2}) {
    layout l{host, 2, 1};
    l.place<forgetful>(at(0, 0)).place<impatient>(at(1, 0));
    l.path(red, at(0, 0), ramp >> east).path(red, at(1, 0), west >> ramp);
    fabric f{l, threaded{.threads = threads, .pes_per_partition = 1}};
    f.start<&impatient::go>(at(1, 0));
    f.start<&forgetful::go>(at(0, 0));
    f.run();
    CHECK(f.read(1, 0, &impatient::here));
    turns[threads - 1] = f.read(1, 0, &impatient::turns);
  }
  CHECK(turns[0] == turns[1]);
}

TEMPLATE_LIST_TEST_CASE("a program knows its machine", "", every_engine) {
  struct curious {
    const char* name = "";
    int microthreads = 0;
    void go(pe& me) { name = me.machine().name, microthreads = me.machine().microthreads; }
    using tasks [[maybe_unused]] = task_list<launch<&curious::go>>;
  };
  const layout l = layout{wse3, 1, 1}.place<curious>(all);
  fabric f{l, TestType{}};
  f.launch(0, 0);
  CHECK(f.read(0, 0, &curious::name) == std::string("wse3"));
  CHECK(f.read(0, 0, &curious::microthreads) == 8);
}

namespace {

/// Calls a task that waits as if it were a function: another one, or itself.
struct impatient_caller {
  f32 x = 0;
  task take(pe&) { co_await mov(&x, fabin(red, 1)); }
  void call(pe& me) { static_cast<void>(take(me)); }
  task call_itself(pe& me) {
    co_await mov(&x, fabin(red, 1));
    if (x >= 0) static_cast<void>(call_itself(me));
  }
  void give(pe& me) { me.send(red, 1.f); }
  using tasks =
      task_list<launch<&impatient_caller::call>, launch<&impatient_caller::call_itself>,
                launch<&impatient_caller::give>, local<&impatient_caller::take>, reads<red>, sends<red>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task that waits is not called like a function", "", every_engine) {
  const layout l = layout{wse2, 1, 1}.place<impatient_caller>(all).path(red, all, ramp >> ramp);
  fabric f{l, TestType{}};
  CHECK_THROWS_WITH(f.launch<&impatient_caller::call>(all),
                    Contains("a task that waits was called like a function"));
  fabric g{l, TestType{}};
  g.start<&impatient_caller::give>(all);
  CHECK_THROWS_WITH(g.launch<&impatient_caller::call_itself>(all),
                    Contains("a task that waits was called like a function"));
}
