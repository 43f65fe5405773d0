// SPDX-License-Identifier: MIT
// Symbolic colors: one program at several places with different colors, on every engine.
#include <wsl/core/symbolic.hpp>

#include <catch2/catch.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/layout/explain.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2}, gray{3};

struct giver {
  static constexpr auto out = symbolic<f32>(0);
  f32 x[8]{};
  void start(pe& me, f32 first) {
    for (int i = 0; i < 8; ++i) x[i] = first + static_cast<f32>(i);
    me.async(mov(fabout(out), mem(x)));
  }
  using tasks = task_list<launch<&giver::start>, sends<out>>;
};

/// Adds one: by a data task for the first four, then by an operation.
struct adder {
  static constexpr auto in = symbolic<f32>(3), out = symbolic<f32>(15);
  int seen = 0;
  void hear(pe& me, f32 x) {
    me.send(out, x + 1);
    if (++seen % 4 == 0) {
      me.block<in>();
      me.activate<&adder::pause>();
    }
  }
  void pause(pe& me) { me.unblock(in); }
  using tasks = task_list<on<in, &adder::hear>, local<&adder::pause>, sends<out>>;
};
struct doubler {
  static constexpr auto in = symbolic<f32>(7), out = symbolic<f32>(2);
  void start(pe& me) { me.async(mul(fabout(out, 8), fabin(in), 2), then<&doubler::done>()); }
  bool ended = false;
  void done(pe&) { ended = true; }
  using tasks = task_list<launch<&doubler::start>, local<&doubler::done>, reads<in>, sends<out>>;
};
struct picker {
  static constexpr auto a = symbolic<f32>(0), b = symbolic<f32>(1);
  void hear(pe&, f32) {}
  using tasks = task_list<on<a, &picker::hear>, reads<b>>;
};
struct taker {
  static constexpr auto in = symbolic<f32>(0);
  f32 x[8]{}, y[4]{};
  task start(pe&) {
    co_await mov(mem(y), fabin(in));
    co_await mov(mem(x).part(0, 4), fabin(in));
  }
  using tasks = task_list<launch<&taker::start>, reads<in>>;
};

/// giver, adder, doubler, adder, taker: the adder has other colors at its second place.
constexpr layout chain(const machine& m) {
  layout l{m, 5, 1};
  l.place<giver>(column(0), given_colors(giver::out, red));
  l.place<adder>(column(1), given_colors(adder::in, red, adder::out, blue));
  l.place<doubler>(column(2), given_colors(doubler::in, blue, doubler::out, green));
  l.place<adder>(column(3), given_colors(adder::in, green, adder::out, gray));
  l.place<taker>(column(4), given_colors(taker::in, gray));
  int x = 0;
  for (const color<f32> c : {red, blue, green, gray}) {
    l.path(c, column(x), ramp >> east).path(c, column(x + 1), west >> ramp);
    ++x;
  }
  return l;
}
constexpr layout constant = chain(wse2);
static_assert(routed<constant>() && complete<constant>() && live<constant>());

}  // namespace

TEST_CASE("a program has other colors at each of its places") {
  for (const machine& m : {wse2, wse3, host})
    for (int e = 0; e < 4; ++e) {
      INFO(m.name << ", engine " << e);
      const layout l = chain(m);
      fabric f = e == 0   ? fabric{l, reference{}}
                 : e == 1 ? fabric{l, threaded{.threads = 1}}
                 : e == 2 ? fabric{l, threaded{.threads = 2, .pes_per_partition = 1}}
                          : fabric{l, timed{}};
      f.start<&giver::start>(column(0), 3.f);
      f.start<&doubler::start>(column(2));
      f.start<&taker::start>(column(4));
      f.run();
      const taker& t = f.program_at<taker>({4, 0});
      for (int i = 0; i < 8; ++i) CHECK((i < 4 ? t.y[i] : t.x[i - 4]) == 2 * static_cast<f32>(3 + i + 1) + 1);
      CHECK(f.program_at<doubler>({2, 0}).ended);
    }
}

TEST_CASE("the checker knows the colors of a place") {
  layout l{wse2, 2, 1};
  l.place<giver>(column(0), given_colors(giver::out, red))
      .place<taker>(column(1), given_colors(taker::in, blue));
  l.path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  CHECK_THAT(explain(l), Catch::Contains("the_program_does_not_take_the_color: color 0, PE(1, 0)") &&
                             Catch::Contains("no_path_feeds_the_program: color 1, PE(1, 0)"));
  layout clash{wse2, 1, 1};
  clash.place<picker>(all, given_colors(picker::a, red, picker::b, red));
  CHECK_THAT(explain(clash), Catch::Contains("the_program_takes_one_color_twice: color 0"));
}

TEST_CASE("a deadlock names the colors of the fabric") {
  fabric f{chain(wse2), reference{}};
  f.start<&taker::start>(column(4));
  CHECK_THROWS_WITH(f.run(), Catch::Contains("color 3"));
}

TEST_CASE("a symbolic color that a program does not list is named so") {
  struct forgetful {
    void start(pe& me) { me.send(symbolic<f32>(3), 1.f); }
    using tasks [[maybe_unused]] = task_list<launch<&forgetful::start>>;
  };
  fabric f{layout{wse2, 1, 1}.place<forgetful>(all), reference{}};
  CHECK_THROWS_WITH(f.launch<&forgetful::start>(all), Catch::Contains("sends symbolic color 3, but"));
}

TEST_CASE("symbolic colors without colors are refused") {
  layout l{wse2, 2, 1};
  CHECK_THROWS_WITH(l.place<giver>(all), Catch::Contains("giver gets no color for symbolic color 0"));
  CHECK_THROWS_WITH(l.place<adder>(all, given_colors(adder::in, red)), Catch::Contains("symbolic color 15"));
  CHECK_THROWS_WITH(symbolic<f32>(16), Catch::Contains("symbolic<f32>(15), not 16"));
  CHECK_THROWS_WITH(given_colors(red, blue), Catch::Contains("color 0 is one of the fabric"));
  CHECK_THROWS_WITH(given_colors(adder::in, adder::out), Catch::Contains("not 63"));
  CHECK_THROWS_WITH(l.path(adder::in, all, ramp >> east), Catch::Contains("no color 51"));
}
