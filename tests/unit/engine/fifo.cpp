// SPDX-License-Identifier: MIT
// FIFOs between operations, and between operations and tasks: order, waiting at both ends, conflicts,
// deadlocks.

#include "engines.hpp"

#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<u32> in{0}, out{1};
constexpr int longest = 300;

/// Words go through a FIFO of three elements between two PEs; in pieces, because the receiver takes them when
/// told.
struct source {
  std::array<u32, longest> x{};
  void go(pe& me, int n) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<u32>(i * i);
    me.async(mov(fabout(in), mem(x).part(0, n)));
  }
  using tasks = task_list<launch<&source::go>, sends<in>>;
};

struct narrow {
  fifo<u16, 3> few;
  int pushes = 0;
  void go(pe& me, int n) {
    me.async(mov(into(few, n), fabin(in)), then<&narrow::all_in>());
    me.async(fmac(fabout(out, n), 7, out_of(few), 2), each_time<&narrow::moved>());
  }
  void all_in(pe&) { pushes += 1000; }
  void moved(pe&) { ++pushes; }
  using tasks =
      task_list<launch<&narrow::go>, local<&narrow::all_in>, local<&narrow::moved>, reads<in>, sends<out>>;
};

struct sink {
  std::array<u32, longest> y{};
  task go(pe&, int n) { co_await mov(mem(y).part(0, n), fabin(out)); }
  using tasks = task_list<launch<&sink::go>, reads<out>>;
};

template <class P>
layout between() {
  layout l{wse2, 3, 1};
  l.place<source>(column(0));
  l.place<P>(column(1));
  l.place<sink>(column(2));
  l.path(in, column(0), ramp >> east).path(in, column(1), west >> ramp);
  l.path(out, column(1), ramp >> east).path(out, column(2), west >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what goes into a FIFO comes out in its order", "", every_engine) {
  for (int n : {1, 2, 3, 4, 7, longest}) {
    fabric f{between<narrow>(), TestType{}};
    f.start<&source::go>(column(0), n);
    f.start<&narrow::go>(column(1), n);
    f.launch<&sink::go>(column(2), n);
    for (int i = 0; i < n; ++i)
      REQUIRE(f.read(2, 0, &sink::y)[static_cast<std::size_t>(i)] ==
              7 + 2 * (static_cast<u32>(i * i) % 65536));
    const narrow& p = f.program_at<narrow>({1, 0});
    CHECK(p.few.empty());
    CHECK(p.pushes > 1000);
    CHECK(p.pushes <= 1000 + n);
  }
}

namespace {

/// A task fills the FIFO that an operation empties, and waits for room; another takes out what an operation
/// puts in.
struct between_tasks {
  fifo<u32, 4> there, back;
  std::array<u32, longest> heard{};
  int n = 0, rejected = 0;

  task go(pe& me, int count) {
    me.async(mov(fabout(out, count), out_of(there)));
    me.async(mov(into(back, count), fabin(in)), each_time<&between_tasks::look>());
    for (int i = 0; i < count; ++i) co_await mov(into(there, 1), i * 3);
  }
  void look(pe&) {
    u32 x = 0;
    while (back.try_pop(x)) heard[static_cast<std::size_t>(n++)] = x;
    rejected += back.try_pop(x);
  }
  using tasks = task_list<launch<&between_tasks::go>, local<&between_tasks::look>, reads<in>, sends<out>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("tasks stand at one end of a FIFO, operations at the other", "", every_engine) {
  for (int n : {1, 5, 100}) {
    fabric f{between<between_tasks>(), TestType{}};
    f.start<&source::go>(column(0), n);
    f.start<&between_tasks::go>(column(1), n);
    f.launch<&sink::go>(column(2), n);
    const between_tasks& p = f.program_at<between_tasks>({1, 0});
    REQUIRE(p.n == n);
    CHECK(p.rejected == 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      REQUIRE(p.heard[i] == i * i);
      REQUIRE(f.read(2, 0, &sink::y)[i] == i * 3);
    }
  }
}

TEST_CASE("a task sees how full a FIFO is") {
  fifo<i16, 2> q;
  i16 x = 0;
  CHECK(!q.try_pop(x));
  CHECK((q.try_push(1) && q.try_push(2) && !q.try_push(3) && q.full()));
  CHECK((q.try_pop(x) && x == 1 && q.try_push(4) && q.size() == q.capacity()));
  CHECK((q.try_pop(x) && x == 2 && q.try_pop(x) && x == 4 && q.empty()));
}

namespace {

struct careless {
  fifo<u32, 4> a, b;
  std::array<u32, 8> x{};
  void push_twice(pe& me) {
    me.async(mov(into(a), mem(x)));
    me.async(neg(into(a), mem(x)));
  }
  task pop_twice(pe& me) {
    me.async(mov(mem(x), out_of(a)));
    co_await mov(mem(x).part(0, 1), out_of(a));
  }
  void one_after_the_other(pe& me) { me.async(mov(into(b), mem(x).part(0, 2)), then<&careless::other>()); }
  void other(pe& me) { me.async(mov(into(b), mem(x).part(2, 2))); }
  void from_one_into_the_other(pe& me) {
    me.async(mov(into(a), mem(x)));
    me.async(mov(into(b, 8), out_of(a, 8)));
    me.async(mov(mem(x).reversed(), out_of(b)));
  }
  void overfill(pe& me) { me.async(mov(into(a), mem(x))); }
  void overdraw(pe& me) { me.async(mov(mem(x), out_of(a))); }
  void one_microthread(pe& me) {
    me.async(mov(into(a, 1), 1), microthread{3});
    me.async(mov(into(b, 1), 1), microthread{3});
  }
  void two_microthreads(pe& me) {
    me.async(mov(into(a, 1), 1), microthread{3});
    me.async(mov(into(b, 1), 1), microthread{7});
  }
  void no_microthread(pe& me) { me.async(mov(into(a, 1), 1), microthread{8}); }

  using tasks = task_list<launch<&careless::push_twice>, launch<&careless::pop_twice>,
                          launch<&careless::one_after_the_other>, launch<&careless::from_one_into_the_other>,
                          launch<&careless::overfill>, launch<&careless::overdraw>,
                          launch<&careless::one_microthread>, launch<&careless::two_microthreads>,
                          launch<&careless::no_microthread>, local<&careless::other>>;
};
const layout alone = layout{wse2, 1, 1}.place<careless>(all);

template <class Engine, auto Task>
void provoke() {
  fabric f{alone, Engine{}};
  f.launch<Task>(all);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("an end of a FIFO has one operation at a time", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &careless::push_twice>()),
                    Contains("PE(0, 0) of") &&
                        Contains("starts neg, which pushes into the FIFO of the mov that is in flight"));
  CHECK_THROWS_WITH((provoke<TestType, &careless::pop_twice>()),
                    Contains("which pops from the FIFO of the mov"));
  CHECK_NOTHROW(provoke<TestType, &careless::one_after_the_other>());
  CHECK_NOTHROW(provoke<TestType, &careless::from_one_into_the_other>());
}

TEMPLATE_LIST_TEST_CASE("a microthread has one operation at a time", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &careless::one_microthread>()),
                    Contains("starts mov on microthread 3 of the mov that is in flight"));
  CHECK_THROWS_WITH((provoke<TestType, &careless::no_microthread>()),
                    Contains("wse2 has the microthreads 0 to 7; there is no microthread 8"));
  CHECK_NOTHROW(provoke<TestType, &careless::two_microthreads>());
}

TEMPLATE_LIST_TEST_CASE("what waits at a FIFO for ever is a deadlock", "", every_engine) {
  CHECK_THROWS_WITH((provoke<TestType, &careless::overfill>()),
                    Contains("mov waits for room for 4 elements in a full FIFO") &&
                        Contains("give the FIFO room for all of it"));
  CHECK_THROWS_WITH((provoke<TestType, &careless::overdraw>()),
                    Contains("mov waits for 8 elements of an empty FIFO") && Contains("or pop fewer"));
}
