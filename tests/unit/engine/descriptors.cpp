// SPDX-License-Identifier: MIT
// Descriptor operations on the fabric: waited for, beside the task, of any length, over any view of memory.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>
#include <wsl/program/event.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};
using numbers = std::array<f32, 8>;

/// Sends 1, 2, 3, ... on red and 10, 20, 30, ... on blue.
struct feeder {
  numbers x{1, 2, 3, 4, 5, 6, 7, 8}, y{10, 20, 30, 40, 50, 60, 70, 80};
  void go(pe& me, int reds, int blues) {
    me.async(mov(fabout(red), mem(x).part(0, reds)));
    me.async(mov(fabout(blue), mem(y).part(0, blues)));
  }
  using tasks = task_list<launch<&feeder::go>, sends<red, blue>>;
};

/// feeder on the left, P on the right of it, both colors between them.
template <class P>
layout fed(const machine& m) {
  layout l{m, 2, 1};
  l.place<feeder>(column(0)).place<P>(column(1));
  for (const auto c : {red, blue}) l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  return l;
}

struct reader {
  numbers x{}, y{};
  f32 total = 0, last = 0, shadow = 0;
  int phase = 0, done = 0, other = 0;

  task waited(pe& me, int n) {
    me.activate<&reader::beside>();
    phase = 1;
    co_await mov(mem(x).part(0, n), fabin(red));
    phase = 2;
    co_await add(mem(y).part(0, n), mem(x).part(0, n), fabin(blue));
    phase = 3;
  }
  void beside(pe&) { other = other * 10 + phase; }

  void async(pe& me, int n) {
    me.async(mov(mem(x).part(0, n), fabin(red)), then<&reader::finished>());
    me.async(mov(mem(y).part(0, n), fabin(blue)), then<&reader::finished>());
    phase = 4;
  }
  void finished(pe&) { ++done; }

  task both(pe&) { co_await fmac(mem(x), fabin(red), fabin(blue), 0.5); }
  task difference(pe&) { co_await sub(mem(x), fabin(blue), fabin(red)); }
  task views(pe&) {
    co_await mov(mem(x).from(1).every(2), fabin(red));
    co_await mov(mem(y).part(2, 4).reversed(), fabin(blue));
  }
  task sums(pe&) {
    co_await add(&total, 100, fabin(red, 8));
    co_await mov(&last, fabin(blue, 8));
  }
  task shadowed(pe&) {
    co_await fmax(mem(x), mem(x), fabin(red));
    co_await map_each([](f32 a, f32 b) { return a * 100 + b; }, mem(y), mem(x), fabin(blue));
  }

  using tasks = task_list<launch<&reader::waited>, launch<&reader::async>, launch<&reader::both>,
                          launch<&reader::difference>, launch<&reader::views>, launch<&reader::sums>,
                          launch<&reader::shadowed>, local<&reader::beside>, local<&reader::finished>,
                          reads<red, blue>>;
};

template <auto Task, class... X>
const reader& fed_with(fabric& f, int reds, int blues, X... x) {
  f.start<Task>(at(1, 0), x...);
  f.launch<&feeder::go>(at(0, 0), reds, blues);
  return f.program_at<reader>({1, 0});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task that waits keeps its PE for itself, and continues with what arrived", "",
                        every_engine) {
  fabric f{fed<reader>(wse2), TestType{}};
  const reader& r = fed_with<&reader::waited>(f, 8, 8, 8);
  CHECK(r.x == numbers{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(r.y == numbers{11, 22, 33, 44, 55, 66, 77, 88});
  CHECK(r.phase == 3);
  CHECK(r.other == 3);  // the activated task ran after the waiting one
}

TEMPLATE_LIST_TEST_CASE("operations beside the task complete on their own", "", every_engine) {
  fabric f{fed<reader>(wse2), TestType{}};
  const reader& r = fed_with<&reader::async>(f, 5, 5, 5);
  CHECK(r.phase == 4);
  CHECK(r.x == numbers{1, 2, 3, 4, 5});
  CHECK(r.y == numbers{10, 20, 30, 40, 50});
  CHECK(r.done >= 1);  // the bit does not count
  CHECK(r.done <= 2);
}

TEMPLATE_LIST_TEST_CASE("an operation without elements is complete at once", "", every_engine) {
  fabric f{fed<reader>(wse2), TestType{}};
  const reader& a = fed_with<&reader::async>(f, 0, 0, 0);
  CHECK(a.done >= 1);
  CHECK(a.x == numbers{});
  const reader& w = fed_with<&reader::waited>(f, 0, 0, 0);
  CHECK(w.phase == 3);
}

TEMPLATE_LIST_TEST_CASE(
    "an operation reads two colors where the machine can, and its operands keep their places", "",
    every_engine) {
  fabric f{fed<reader>(wse2), TestType{}};
  CHECK(fed_with<&reader::both>(f, 8, 8).x == numbers{6, 12, 18, 24, 30, 36, 42, 48});
  CHECK(fed_with<&reader::difference>(f, 8, 8).x == numbers{9, 18, 27, 36, 45, 54, 63, 72});
  fabric g{fed<reader>(wse3), TestType{}};
  CHECK_THROWS_WITH((fed_with<&reader::both>(g, 8, 8)),
                    Contains("PE(1, 0)") && Contains("reads 2 colors in one fmac; wse3 reads 1") &&
                        Contains("in both on PE(1, 0)"));
}

TEMPLATE_LIST_TEST_CASE("memory operands may be strided, reversed and parts", "", every_engine) {
  fabric f{fed<reader>(wse3), TestType{}};
  const reader& r = fed_with<&reader::views>(f, 4, 4);
  CHECK(r.x == numbers{0, 1, 0, 2, 0, 3, 0, 4});
  CHECK(r.y == numbers{0, 0, 40, 30, 20, 10, 0, 0});
}

TEMPLATE_LIST_TEST_CASE("a scalar destination accumulates from its first source, or keeps the last element",
                        "", every_engine) {
  fabric f{fed<reader>(wse3), TestType{}};
  const reader& r = fed_with<&reader::sums>(f, 8, 8);
  CHECK(r.total == 136);
  CHECK(r.last == 80);
}

TEMPLATE_LIST_TEST_CASE("the destination may be a source", "", every_engine) {
  fabric f{fed<reader>(wse3), TestType{}};
  f.program_at<reader>({1, 0}).x = {5, 5, 5, 5, 5, 5, 5, 5};
  const reader& r = fed_with<&reader::shadowed>(f, 8, 8);
  CHECK(r.x == numbers{5, 5, 5, 5, 5, 6, 7, 8});
  CHECK(r.y == numbers{510, 520, 530, 540, 550, 660, 770, 880});
}

namespace {

/// Passes everything on, for ever, twice as large.
struct relay {
  int other = 0;
  void go(pe& me) { me.async(mul(fabout(blue), fabin(red, forever), 2)); }
  void tick(pe&) { ++other; }
  using tasks = task_list<launch<&relay::go>, launch<&relay::tick>, reads<red>, sends<blue>>;
};

struct source {
  void say(pe& me, f32 from, int n) {
    for (int i = 0; i < n; ++i) me.send(red, from + static_cast<f32>(i));
  }
  using tasks = task_list<launch<&source::say>, sends<red>>;
};

struct drain {
  f32 sum = 0;
  int count = 0;
  void take(pe&, f32 x) { sum += x, ++count; }
  using tasks = task_list<on<blue, &drain::take>>;
};

constexpr layout relayed = layout{wse3, 3, 1}
                               .place<source>(column(0))
                               .place<relay>(column(1))
                               .place<drain>(column(2))
                               .path(red, column(0), ramp >> east)
                               .path(red, column(1), west >> ramp)
                               .path(blue, column(1), ramp >> east)
                               .path(blue, column(2), west >> ramp);
static_assert(routed<relayed>());

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "an operation without an end waits for nothing: the run ends when nothing comes, and goes on with the "
    "next",
    "", every_engine) {
  fabric f{relayed, TestType{}};
  CHECK_NOTHROW(f.launch<&relay::go>(at(1, 0)));
  CHECK_NOTHROW(f.launch<&source::say>(at(0, 0), 1.f, 100));
  CHECK(f.read(2, 0, &drain::sum) == 2 * 5050);
  CHECK_NOTHROW(f.launch<&source::say>(at(0, 0), 7.f, 1));
  CHECK(f.read(2, 0, &drain::sum) == 2 * 5057);
  f.launch<&relay::tick>(at(1, 0));
  CHECK(f.read(1, 0, &relay::other) == 1);
}

namespace {

/// Passes words on in threes, twice as large.
struct server {
  int served = 0;
  void serve(pe& me) { me.async(mul(fabout(blue), fabin(red, 3), 2), then<&server::again>(), serves); }
  void again(pe& me) { ++served, serve(me); }
  using tasks = task_list<launch<&server::serve>, local<&server::again>, reads<red>, sends<blue>>;
};

struct adding_server {
  f32 sums[2]{};
  void serve(pe& me) { me.async(add(mem(sums), fabin(red), fabin(blue)), serves); }
  using tasks = task_list<launch<&adding_server::serve>, reads<red, blue>>;
};

constexpr layout served = layout{wse3, 3, 1}
                              .place<source>(column(0))
                              .place<server>(column(1))
                              .place<drain>(column(2))
                              .path(red, column(0), ramp >> east)
                              .path(red, column(1), west >> ramp)
                              .path(blue, column(1), ramp >> east)
                              .path(blue, column(2), west >> ramp);

}  // namespace

TEMPLATE_LIST_TEST_CASE("a run does not end while an operation that serves has words of one operand only", "",
                        every_engine) {
  layout l{wse2, 2, 1};
  l.place<source>(column(0)).place<adding_server>(column(1));
  l.path(red, column(0), ramp >> east)
      .path(red, column(1), west >> ramp)
      .path(blue, column(1), south >> ramp);
  l.stream_in(blue, column(1), south);
  fabric f{l, TestType{}};
  CHECK_NOTHROW(f.launch<&adding_server::serve>(at(1, 0)));
  CHECK_THROWS_WITH(f.launch<&source::say>(at(0, 0), 1.f, 2),
                    Contains("add waits for 2 wavelets of color 1"));
}

TEMPLATE_LIST_TEST_CASE("a run may end while an operation that serves waits for its first word, not later",
                        "", every_engine) {
  fabric f{served, TestType{}};
  CHECK_NOTHROW(f.launch<&server::serve>(at(1, 0)));
  CHECK_NOTHROW(f.launch<&source::say>(at(0, 0), 1.f, 99));
  CHECK(f.read(2, 0, &drain::sum) == 2 * 4950);
  CHECK(f.read(1, 0, &server::served) == 33);
  CHECK_THROWS_WITH(f.launch<&source::say>(at(0, 0), 1.f, 1),
                    Contains("mul waits for 2 wavelets of color 0"));
  CHECK_NOTHROW(f.launch<&source::say>(at(0, 0), 1.f, 2));
  CHECK(f.read(1, 0, &server::served) == 34);
}

namespace {

/// The completion of a send unblocks the data task of another color.
struct polite {
  numbers x{1, 2, 3, 4, 5, 6, 7, 8};
  f32 heard = 0;
  int sent = 0;
  void go(pe& me) { me.async(mov(fabout(green), mem(x)), unblocks<blue>(), then<&polite::done>()); }
  void done(pe&) { ++sent; }
  void hear(pe&, f32 x_) { heard = heard * 10 + x_ + 100 * static_cast<f32>(sent == 0); }
  using tasks =
      task_list<launch<&polite::go>, local<&polite::done>, on<blue, &polite::hear, blocked>, sends<green>>;
};

struct counterpart {
  f32 sum = 0;
  void go(pe& me) { me.send(blue, 3.f), me.send(blue, 4.f); }
  void hear(pe&, f32 x) { sum += x; }
  using tasks = task_list<launch<&counterpart::go>, on<green, &counterpart::hear>, sends<blue>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a completion unblocks a color's task and activates a local one", "", every_engine) {
  layout l{wse2, 2, 1};
  l.place<counterpart>(column(0)).place<polite>(column(1));
  l.path(blue, column(0), ramp >> east).path(blue, column(1), west >> ramp);
  l.path(green, column(1), ramp >> west).path(green, column(0), east >> ramp);
  fabric f{l, TestType{}};
  CHECK_THROWS_AS(f.launch(at(0, 0)), deadlock);
  f.launch(at(1, 0));
  CHECK(f.read(1, 0, &polite::heard) == 34);
  CHECK(f.read(1, 0, &polite::sent) == 1);
  CHECK(f.read(0, 0, &counterpart::sum) == 36);
}

namespace {

/// Several operations at once: each moves on when its own color does.
struct three_readers {
  numbers x{}, y{};
  int order = 0;
  void go(pe& me) {
    me.async(mov(mem(x), fabin(red)), then<&three_readers::slow>());
    me.async(mov(mem(y).part(0, 1), fabin(blue)), then<&three_readers::quick>());
  }
  void slow(pe&) { order = order * 10 + 1; }
  void quick(pe&) { order = order * 10 + 2; }
  using tasks = task_list<launch<&three_readers::go>, local<&three_readers::slow>,
                          local<&three_readers::quick>, reads<red, blue>>;
};

}  // namespace

TEST_CASE("microthreads take turns: a short operation does not wait for a long one") {
  fabric f{fed<three_readers>(wse2), reference{}};
  f.start(at(1, 0));
  f.launch<&feeder::go>(at(0, 0), 8, 1);
  CHECK(f.read(1, 0, &three_readers::order) == 21);
}

TEMPLATE_LIST_TEST_CASE("an operation goes on while another one beside it has nothing to read", "",
                        every_engine) {
  fabric f{fed<three_readers>(wse2), TestType{}};
  f.start(at(1, 0));
  CHECK_THROWS_AS((f.launch<&feeder::go>(at(0, 0), 5, 1)), deadlock);
  CHECK(f.read(1, 0, &three_readers::order) == 2);
  f.launch<&feeder::go>(at(0, 0), 3, 0);
  CHECK(f.read(1, 0, &three_readers::order) == 21);
  CHECK(f.read(1, 0, &three_readers::x) == numbers{1, 2, 3, 4, 5, 1, 2, 3});
}

namespace {

/// Sends two arrays at once and overwrites each as soon as it has left.
struct careful_sender {
  std::array<f32, 3000> x{}, y{};
  event left;
  int stages = 0;

  task go(pe& me) {
    x.fill(1), y.fill(2);
    me.async(mov(fabout(red), mem(x)), signals(left));
    me.async(mov(fabout(blue), mem(y)), signals(left));
    stages = 1;
    co_await left;
    stages = 2;
    co_await left;
    stages = 3;
    x.fill(100), y.fill(100);
  }
  task once_too_often(pe& me) {
    me.async(mov(fabout(red, 3000), 1.f), signals(left));
    me.async(mov(fabout(blue, 3000), 2.f));
    co_await left;
    co_await left;
  }
  using tasks =
      task_list<launch<&careful_sender::go>, launch<&careful_sender::once_too_often>, sends<red, blue>>;
};

struct two_sums {
  f32 reds = 0, blues = 0;
  task go(pe&) {
    co_await add(&reds, 0.f, fabin(red, 3000));
    co_await add(&blues, 0.f, fabin(blue, 3000));
  }
  using tasks = task_list<launch<&two_sums::go>, reads<red, blue>>;
};

layout careful() {
  layout l{wse2, 2, 1};
  l.place<careful_sender>(column(0)).place<two_sums>(column(1));
  for (const auto c : {red, blue}) l.path(c, column(0), ramp >> east).path(c, column(1), west >> ramp);
  return l;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a task waits for the end of operations that it started before", "", every_engine) {
  fabric f{careful(), TestType{}};
  f.start<&two_sums::go>(column(1));
  f.launch<&careful_sender::go>(column(0));
  CHECK(f.read(0, 0, &careful_sender::stages) == 3);
  CHECK(f.read(1, 0, &two_sums::reds) == 3000);
  CHECK(f.read(1, 0, &two_sums::blues) == 6000);

  f.start<&two_sums::go>(column(1));
  CHECK_THROWS_WITH(
      f.launch<&careful_sender::once_too_often>(column(0)),
      Contains("PE(0, 0) of") && Contains("co_await waits for an event that no operation in flight signals"));
}
