// SPDX-License-Identifier: MIT
// The faults of a program that misuses the fabric. Each names the PE, its program and the task that did it.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <stdexcept>

using namespace wsl;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};
constexpr color<i32> red_as_i32{0}, blue_as_i32{1};

struct culprit {
  std::array<f32, 8> x{};
  std::array<i32, 8> n{};
  void read_twice(pe& me) {
    me.async(mov(mem(x), fabin(red)));
    me.async(mov(mem(x), fabin(red)));
  }
  void read_one_color_as_two(pe& me) { me.async(add(mem(x), fabin(red), fabin(red))); }
  void send_twice(pe& me) {
    me.async(mov(fabout(blue), mem(x)));
    me.async(mov(fabout(blue), mem(x)));
  }
  void send_into_operation(pe& me) {
    me.async(mov(fabout(blue), mem(x)));
    me.send(blue, 1.f);
  }
  void undeclared_send(pe& me) { me.send(green, 1.f); }
  void undeclared_output(pe& me) { me.async(mov(fabout(green, 8), mem(x))); }
  void undeclared_read(pe& me) { me.async(mov(mem(x), fabin(green))); }
  void wrong_send(pe& me) { me.send(blue_as_i32, 1); }
  void wrong_output(pe& me) { me.async(mov(fabout(blue_as_i32), mem(n))); }
  void wrong_read(pe& me) { me.async(mov(mem(n), fabin(red_as_i32))); }
  void unbound(pe& me) { me.activate<&culprit::not_in_the_table>(); }
  void not_in_the_table(pe&) {}
  void activates_a_host_function(pe& me) { me.activate<&culprit::unbound>(); }
  void out_of_the_array(pe&) { mov(mem(x), mem(x).part(4, 5)); }
  void lengths(pe& me) { me.async(mov(mem(x), fabin(red, 7))); }
  task after_a_wait(pe& me) {
    co_await mov(fabout(blue), mem(x));
    me.send(green, 1.f);
  }
  void out_of_memory(pe&) { throw std::bad_alloc(); }
  void own_exception(pe&) { throw std::invalid_argument("of the program"); }
  task own_exception_after_a_wait(pe&) {
    co_await mov(fabout(blue), mem(x));
    throw std::invalid_argument("of the program");
  }
  using tasks = task_list<
      launch<&culprit::read_twice>, launch<&culprit::read_one_color_as_two>, launch<&culprit::send_twice>,
      launch<&culprit::send_into_operation>, launch<&culprit::undeclared_send>,
      launch<&culprit::undeclared_output>, launch<&culprit::undeclared_read>, launch<&culprit::wrong_send>,
      launch<&culprit::wrong_output>, launch<&culprit::wrong_read>, launch<&culprit::unbound>,
      launch<&culprit::activates_a_host_function>, launch<&culprit::out_of_memory>,
      launch<&culprit::out_of_the_array>, launch<&culprit::lengths>, launch<&culprit::after_a_wait>,
      launch<&culprit::own_exception>, launch<&culprit::own_exception_after_a_wait>, reads<red>, sends<blue>>;
};

struct partner {
  void say(pe& me) { me.send(red, 1.f); }
  void hear(pe&, f32) {}
  using tasks = task_list<launch<&partner::say>, on<blue, &partner::hear>, sends<red>>;
};

/// The culprit stands at (1, 0) and, without paths, at (1, 1).
constexpr layout scene = layout{wse2, 2, 2}
                             .place<partner>(at(0, 0))
                             .place<culprit>(column(1))
                             .path(red, at(0, 0), ramp >> east)
                             .path(red, at(1, 0), west >> ramp)
                             .path(blue, at(1, 0), ramp >> west)
                             .path(blue, at(0, 0), east >> ramp);
static_assert(routed<scene>());

template <class Engine, auto Task>
void provoke(const area& where = at(1, 0)) {
  fabric f{scene, Engine{}};
  f.launch<Task>(where);
}

const auto who = Contains("wsl: PE(1, 0) of ");

}  // namespace

TEMPLATE_LIST_TEST_CASE("a color has one reader at a time", "", every_engine) {
  CHECK_THROWS_WITH(
      (provoke<TestType, &culprit::read_twice>()),
      who && Contains("culprit reads color 0 twice at once") && Contains("in read_twice on PE(1, 0) of"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::read_one_color_as_two>()),
                    who && Contains("reads color 0 twice at once"));
}

TEMPLATE_LIST_TEST_CASE("a color has one writer at a time", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::send_twice>()),
                    who && Contains("sends color 1 while an operation still sends on it"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::send_into_operation>()),
                    who && Contains("sends color 1 while an operation still sends on it"));
}

TEMPLATE_LIST_TEST_CASE("what a task list does not declare is not sent or read", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::undeclared_send>()),
                    who && Contains("sends color 2, but its task list does not say sends<color>"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::undeclared_output>()),
                    who && Contains("sends color 2, but its task list does not say sends<color>"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::undeclared_read>()),
                    who && Contains("reads color 2 with mov, but its task list does not say reads<color>"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::unbound>()),
                    Contains("does not bind local<&") &&
                        Contains("culprit::not_in_the_table> in its tasks\n") &&
                        Contains("in unbound on PE(1, 0)"));
  CHECK_THROWS_WITH(
      (provoke<TestType, &culprit::activates_a_host_function>()),
      Contains("does not bind local<&") &&
          Contains("culprit::unbound> in its tasks, where it is a host function, launch<...>; what is "
                   "activated or blocked needs that entry as well"));
}

TEMPLATE_LIST_TEST_CASE("a color carries one payload", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::wrong_send>()),
                    who && Contains("sends int on color 1, which carries float"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::wrong_output>()),
                    who && Contains("sends int on color 1, which carries float"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::wrong_read>()),
                    who && Contains("reads int from color 0, which carries float"));
}

TEMPLATE_LIST_TEST_CASE("a PE without a path cannot send", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::send_twice>(at(1, 1))),
                    Contains("PE(1, 1)") && Contains("sends color 1, but no path leads from its ramp"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::send_into_operation>(at(1, 1))),
                    Contains("but no path leads from its ramp"));
}

TEMPLATE_LIST_TEST_CASE("operands must fit each other and their arrays", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::out_of_the_array>()),
                    Contains("5 elements from element 4 on leaves its array of 8") &&
                        Contains("in out_of_the_array on PE(1, 0)"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::lengths>()),
                    Contains("the operands of mov differ in length: 8 and 7"));
}

TEMPLATE_LIST_TEST_CASE("a fault after a wait names its place like any other", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::after_a_wait>()),
                    who && Contains("sends color 2, but its task list") && Contains("on PE(1, 0) of"));
}

TEMPLATE_LIST_TEST_CASE("standard exceptions of the program keep their types and get the place", "",
                        every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &culprit::own_exception>()),
                    StartsWith("of the program\n  in own_exception on PE(1, 0) of ") && EndsWith("culprit"));
  CHECK_THROWS_WITH((provoke<TestType, &culprit::own_exception_after_a_wait>()),
                    StartsWith("of the program\n  in own_exception_after_a_wait on PE(1, 0) of "));
  CHECK_THROWS_AS((provoke<TestType, &culprit::own_exception>()), std::invalid_argument);
  CHECK_THROWS_WITH((provoke<TestType, &culprit::out_of_memory>()),
                    Contains("bad_alloc\n  in out_of_memory on PE(1, 0) of "));
  CHECK_THROWS_AS((provoke<TestType, &culprit::out_of_memory>()), std::bad_alloc);
}

namespace {

constexpr color<f32> c0{10}, c1{11}, c2{12}, c3{13}, c4{14}, c5{15}, c6{16}, c7{17}, c8{18};

struct many_readers {
  std::array<f32, 9> x{};
  void go(pe& me, int n) {
    int i = 0;
    for (const auto c : {c0, c1, c2, c3, c4, c5, c6, c7, c8})
      if (i++ < n) me.async(mov(mem(x).part(i - 1, 1), fabin(c)));
  }
  using tasks = task_list<launch<&many_readers::go>, reads<c0, c1, c2, c3, c4, c5, c6, c7, c8>>;
};

struct many_sends {
  void go(pe& me) {
    for (const auto c : {c0, c1, c2, c3, c4, c5, c6, c7, c8}) me.send(c, static_cast<f32>(c.id));
  }
  using tasks = task_list<launch<&many_sends::go>, sends<c0, c1, c2, c3, c4, c5, c6, c7, c8>>;
};

struct many_senders {
  f32 x[16]{};
  void go(pe& me, int n) {
    int i = 0;
    for (const auto c : {c0, c1, c2, c3, c4, c5, c6, c7, c8})
      if (i++ < n) me.async(mov(fabout(c), mem(x)));
  }
  void one_word(pe& me) {
    for (const auto c : {c0, c1, c2, c3, c4, c5, c6}) me.async(mov(fabout(c, 1), 1.f));
  }
  // A task that engines may repeat at once, and that starts too much the third time.
  void again_and_again(pe& me) { me.activate<&many_senders::again>(); }
  void again(pe& me) {
    if (++runs < 3) me.async(mov(fabout(c0, 1), 1.f), then<&many_senders::again>());
    else one_word(me);
  }
  int runs = 0;
  using tasks = task_list<launch<&many_senders::go>, launch<&many_senders::one_word>,
                          launch<&many_senders::again_and_again>, local<&many_senders::again>,
                          sends<c0, c1, c2, c3, c4, c5, c6>>;
};

struct listener {
  f32 x[16]{};
  task go(pe&) {
    for (const auto c : {c0, c1, c2, c3, c4, c5}) co_await mov(mem(x), fabin(c));
  }
  using tasks = task_list<launch<&listener::go>, reads<c0, c1, c2, c3, c4, c5, c6>>;
};

/// As wse2, with a queue more, so that the microthreads are what runs out.
constexpr machine queued = [] {
  machine m = wse2;
  m.input_queues = 16;
  return m;
}();

}  // namespace

TEMPLATE_LIST_TEST_CASE("a PE has as many operations in flight as its machine has microthreads", "",
                        every_engine) {
  layout l{queued, 2, 1};
  l.place<many_sends>(column(0)).place<many_readers>(column(1));
  for (const auto c : {c0, c1, c2, c3, c4, c5, c6, c7, c8})
    l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  fabric f{l, TestType{}};
  CHECK_THROWS_WITH(
      f.launch<&many_readers::go>(at(1, 0), 9),
      Contains("PE(1, 0)") &&
          Contains("many_readers has more than 8 operations in flight; wse2 has 8 microthreads") &&
          Contains("in go on PE(1, 0)"));
  fabric g{l, TestType{}};
  g.start<&many_readers::go>(at(1, 0), 8);
  CHECK_THROWS_AS(g.launch(at(0, 0)), deadlock);  // the ninth wavelet has no reader
  CHECK(g.read(1, 0, &many_readers::x)[7] == 17);
  CHECK(g.read(1, 0, &many_readers::x)[8] == 0);
}

namespace {

layout many_sends_at_once() {
  layout l{wse2, 2, 1};
  l.place<many_senders>(column(0)).place<listener>(column(1));
  for (const auto c : {c0, c1, c2, c3, c4, c5, c6})
    l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a PE has as many operations that send as its machine has output queues", "",
                        every_engine) {
  fabric f{many_sends_at_once(), TestType{}};
  f.start<&listener::go>(column(1));
  CHECK_NOTHROW(f.launch<&many_senders::go>(column(0), 6));
}

TEMPLATE_LIST_TEST_CASE("an operation is in flight until its task ends, however short it is", "",
                        every_engine) {
  const auto too_many =
      Contains("many_senders has more than 6 operations that send in flight; wse2 has 6 output queues");
  fabric f{many_sends_at_once(), TestType{}}, g{many_sends_at_once(), TestType{}},
      h{many_sends_at_once(), TestType{}};
  CHECK_THROWS_WITH(f.launch<&many_senders::go>(column(0), 7), too_many && Contains("in go on PE(0, 0)"));
  CHECK_THROWS_WITH(g.launch<&many_senders::one_word>(column(0)),
                    too_many && Contains("in one_word on PE(0, 0)"));
  h.start<&listener::go>(column(1));
  CHECK_THROWS_WITH(h.launch<&many_senders::again_and_again>(column(0)),
                    too_many && Contains("in again on PE(0, 0)"));
  CHECK(h.read(0, 0, &many_senders::runs) == 3);
}

namespace {

/// Nine colors, of which the last three leave through one queue where a queue serves one color.
template <bool shares>
struct nine_senders {
  f32 x[16]{};
  void go(pe& me) {
    for (f32& v : x) v = 3;
    me.send(c0, 1.f), me.send(c1, 1.f), me.send(c2, 1.f), me.send(c3, 1.f), me.send(c4, 1.f),
        me.send(c5, 1.f);
    me.async(mov(fabout(c6), mem(x)), then<&nine_senders::next>());
  }
  void next(pe& me) { me.async(mov(fabout(c7), mem(x)), then<&nine_senders::last>()); }
  void last(pe& me) {
    for (int i = 0; i < 16; ++i) me.send(c8, 4.f);
  }
  void two_at_once(pe& me) { me.async(mov(fabout(c6), mem(x))), me.async(mov(fabout(c7), mem(x))); }
  using tasks = task_list<launch<&nine_senders::go>, launch<&nine_senders::two_at_once>,
                          local<&nine_senders::next>, local<&nine_senders::last>,
                          sends<c0, c1, c2, c3, c4, c5, c6, c7, c8>, when<shares, shares_queue<c8, c6, c7>>>;
};

struct nine_hearers {
  f32 sum[9]{};
  template <int k>
  void hear(pe&, f32 x) {
    sum[k] += x;
  }
  using tasks = task_list<
      on<c0, &nine_hearers::hear<0>>, on<c1, &nine_hearers::hear<1>>, on<c2, &nine_hearers::hear<2>>,
      on<c3, &nine_hearers::hear<3>>, on<c4, &nine_hearers::hear<4>>, on<c5, &nine_hearers::hear<5>>,
      on<c6, &nine_hearers::hear<6>>, on<c7, &nine_hearers::hear<7>>, on<c8, &nine_hearers::hear<8>>>;
};

/// wse3 with room for the nine data tasks of the receiver.
constexpr machine hearing = [] {
  machine m = wse3;
  m.data_tasks = m.input_queues = 9;
  return m;
}();

template <bool shares>
layout nine() {
  layout l{hearing, 2, 1};
  l.place<nine_senders<shares>>(column(0));
  l.place<nine_hearers>(column(1));
  for (const auto c : {c0, c1, c2, c3, c4, c5, c6, c7, c8})
    l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("colors that share an output queue take turns", "", every_engine) {
  CHECK_THROWS_WITH(fabric(nine<false>(), TestType{}), Contains("the_program_needs_too_many_output_queues"));
  fabric f{nine<true>(), TestType{}};
  f.launch<&nine_senders<true>::go>(column(0));
  const nine_hearers& h = f.program_at<nine_hearers>({1, 0});
  for (int k = 0; k < 6; ++k) CHECK(h.sum[k] == 1);
  CHECK((h.sum[6] == 48 && h.sum[7] == 48 && h.sum[8] == 64));
}

TEMPLATE_LIST_TEST_CASE("two operations at a time on a shared queue are a fault", "", every_engine) {
  fabric f{nine<true>(), TestType{}};
  CHECK_THROWS_WITH(f.launch<&nine_senders<true>::two_at_once>(column(0)),
                    Contains("starts mov on color") && Contains("whose output queue an operation on color") &&
                        Contains("still uses"));
}

namespace {

struct twofold {
  void go(pe& me) {
    me.send(color<f32>{63}, 1.f);  // refused when the task ends, but it ends otherwise
    throw std::runtime_error("its own");
  }
  void rest(pe&) {}
  using tasks = task_list<launch<&twofold::go>, launch<&twofold::rest>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("what a task was refused before it threw is no fault of the next fabric", "",
                        every_engine) {
  const layout one = layout{host, 1, 1}.place<twofold>(all);
  fabric f{one, TestType{}}, g{one, TestType{}};
  CHECK_THROWS_WITH(f.launch<&twofold::go>(all), StartsWith("its own"));
  CHECK_NOTHROW(g.launch<&twofold::rest>(all));
}

namespace {

struct overheated : std::runtime_error {
  using std::runtime_error::runtime_error;
  int degrees = 90;
};
struct thrower {
  int runs = 0;

  void throws_fault(pe&) { ++runs, throw fault("wsl: not so"); }
  void throws_own_type(pe&) { ++runs, throw overheated("hot"); }
  void throws_number(pe&) { ++runs, throw 7; }
  void runs_well(pe&) { ++runs; }
  using tasks = task_list<launch<&thrower::throws_fault>, launch<&thrower::throws_own_type>,
                          launch<&thrower::throws_number>, launch<&thrower::runs_well>>;
};
const layout a_thrower = layout{host, 1, 1}.place<thrower>(all);

}  // namespace

TEMPLATE_LIST_TEST_CASE("exceptions of the program's own types pass through, and the fabric tells the place",
                        "", every_engine) {
  fabric f{a_thrower, TestType{}}, g{a_thrower, TestType{}};
  try {
    f.launch<&thrower::throws_own_type>(all);
    FAIL("nothing was thrown");
  } catch (const overheated& e) {
    CHECK(e.degrees == 90);
    CHECK(e.what() == std::string("hot"));
  }
  CHECK_THAT(f.stopped_by(), StartsWith("hot\n  in throws_own_type on PE(0, 0) of ") && EndsWith("thrower"));
  CHECK_THROWS_AS(g.launch<&thrower::throws_number>(all), int);
  CHECK_THAT(g.stopped_by(),
             StartsWith("an exception that is no std::exception\n  in throws_number on PE(0, 0)"));
}

TEMPLATE_LIST_TEST_CASE("a fabric whose run ended with a fault can only be read", "", every_engine) {
  fabric f{a_thrower, TestType{}};
  CHECK_THROWS_AS(f.launch<&thrower::runs_well>(at(5, 5)), fault);
  f.launch<&thrower::runs_well>(all);  // a fault of the host has not run
  CHECK(f.stopped_by().empty());
  CHECK_THROWS_WITH(f.launch<&thrower::throws_fault>(all), StartsWith("wsl: not so"));
  const auto refuses = Contains(
      "wsl: this fabric has stopped: an earlier run of it ended in the middle of its "
      "tasks. What it holds can be read; to go on, mend the first fault and make a new "
      "fabric. The first fault was:\nwsl: not so\n  in throws_fault on PE(0, 0) of ");
  CHECK_THROWS_WITH(f.launch<&thrower::runs_well>(all), refuses);
  CHECK_THROWS_WITH(f.start<&thrower::runs_well>(all), refuses);
  CHECK_THROWS_WITH(f.run(), refuses);
  fabric moved{std::move(f)};
  CHECK_THROWS_WITH(moved.run(), refuses);
  CHECK(moved.read(0, 0, &thrower::runs) == 2);
}
