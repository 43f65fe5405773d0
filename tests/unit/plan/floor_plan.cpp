// SPDX-License-Identifier: MIT
// Floor plans: regions are placed, ports connected, colors given, and what cannot be done is said.
#include <wsl/plan/floor_plan.hpp>

#include <catch2/catch.hpp>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/host/device.hpp>
#include <wsl/layout/explain.hpp>
#include <wsl/plan/mux.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr int words = 6;

struct source {
  static constexpr auto out = symbolic<f32>(0);
  f32 x[words]{};
  void start(pe& me, f32 first) {
    for (int i = 0; i < words; ++i) x[i] = first + static_cast<f32>(i);
    me.async(mov(fabout(out), mem(x)));
  }
  using tasks = task_list<launch<&source::start>, sends<out>>;
};
struct doubler {
  static constexpr auto in = symbolic<f32>(0), out = symbolic<f32>(1);
  void begin(pe& me) { me.async(mul(fabout(out, forever), fabin(in, forever), 2)); }
  using tasks = task_list<local<&doubler::begin, active>, reads<in>, sends<out>>;
};
struct adder {
  static constexpr auto x = symbolic<f32>(0), y = symbolic<f32>(1), out = symbolic<f32>(2);
  void begin(pe& me) { me.async(add(fabout(out, forever), fabin(x, forever), fabin(y, forever))); }
  using tasks = task_list<local<&adder::begin, active>, reads<x, y>, sends<out>>;
};
struct sink {
  static constexpr auto in = symbolic<f32>(0);
  std::array<f32, 6 * words> seen{};
  int count = 0;
  void take(pe&, f32 v) { seen[static_cast<std::size_t>(count++)] = v; }
  using tasks = task_list<on<in, &sink::take>>;
};

constexpr color<f32> red{5};
struct red_sink {
  f32 sum = 0;
  void take(pe&, f32 v) { sum += v; }
  using tasks = task_list<on<red, &red_sink::take>>;
};

/// Two sources, their sum, and a sink.
constexpr floor_plan sum_of_two(const machine& m) {
  floor_plan p{m, 12, 7};
  const auto a = p.region<source>("a", 1, 1), b = p.region<source>("b", 1, 1),
             s = p.region<adder>("sum", 1, 1), last = p.region<sink>("last", 1, 1);
  p.place(a, {1, 1}).place(b, {1, 5}).place(s, {5, 3}).place(last, {10, 1});
  p.connect(a.output(source::out, east), s.input(adder::x, west));
  p.connect(b.output(source::out, east), s.input(adder::y, west));
  p.connect(s.output(adder::out, east), last.input(sink::in, south));
  return p;
}
constexpr layout constant = sum_of_two(wse2).connected();
static_assert(routed<constant>() && complete<constant>());

/// A layout with the words that its sources give.
struct run {
  explicit run(const layout& l, int engine = 0)
      : plan(l),
        f(engine == 0   ? fabric{l, reference{}}
          : engine == 1 ? fabric{l}
                        : fabric{l, timed{}}) {
    require(l);
  }
  run& give(coord c, f32 first) { return f.start<&source::start>(at(c.x, c.y), first), *this; }
  std::vector<f32> taken(coord c) {
    const sink& s = f.program_at<sink>(c);
    return {s.seen.begin(), s.seen.begin() + s.count};
  }
  layout plan;
  fabric f;
};
std::vector<f32> ramp_of(f32 first, f32 by = 1) {
  std::vector<f32> found;
  for (int i = 0; i < words; ++i) found.push_back(first + by * static_cast<f32>(i));
  return found;
}
int colors_of(const layout& l) {
  u64 colors = 0;
  for (const path_record& p : l.paths()) colors |= detail::color_bit(p.color);
  return std::popcount(colors);
}

}  // namespace

TEST_CASE("connections carry the words of their outputs, on every machine and engine") {
  for (const machine& m : {wse2, host})
    for (int engine : {0, 1, 2}) {
      run r(sum_of_two(m).connected(), engine);
      r.give({1, 1}, 1).give({1, 5}, 100).f.run();
      CHECK(r.taken({10, 1}) == ramp_of(101, 2));
    }
}

TEST_CASE("a table says which connection has which color") {
  const std::string t = sum_of_two(wse2).table();
  CHECK_THAT(t, Contains("color  from") && Contains("a (1, 1)") && Contains("sum (5, 3)") &&
                    Contains("last (10, 1)"));
}

TEST_CASE("one program has other colors in each of its regions") {
  floor_plan p{wse2, 16, 3};
  const auto a = p.region<source>("a", 1, 1), b = p.region<doubler>("b", 1, 1),
             c = p.region<doubler>("c", 1, 1), d = p.region<sink>("d", 1, 1);
  p.hstack({1, 1}, 2, {a, b, c, d});
  p.connect(a.output(source::out, east), b.input(doubler::in, west));
  p.connect(b.output(doubler::out, east), c.input(doubler::in, west));
  p.connect(c.output(doubler::out, east), d.input(sink::in, west));
  const layout l = p.connected();
  CHECK(colors_of(l) == 2);  // the first and the last connection share no PE
  CHECK(l.color_at({4, 1}, doubler::out) == l.color_at({7, 1}, doubler::in));
  CHECK(l.color_at({4, 1}, doubler::in) != l.color_at({4, 1}, doubler::out));
  run r(l);
  r.give({1, 1}, 3).f.run();
  CHECK(r.taken({10, 1}) == ramp_of(12, 4));
}

TEST_CASE("ports of several PEs are connected one by one, in few paths") {
  floor_plan p{wse2, 20, 12};
  const auto a = p.region<source>("a", 1, 8), d = p.region<sink>("d", 1, 8);
  p.place(a, {2, 1}).place(d, {15, 3});
  p.connect(a.output(source::out, east), d.input(sink::in, west));
  const layout l = p.connected();
  run r(l);
  for (int y = 0; y < 8; ++y) r.give({2, 1 + y}, static_cast<f32>(100 * y));
  r.f.run();
  for (int y = 0; y < 8; ++y) CHECK(r.taken({15, 3 + y}) == ramp_of(static_cast<f32>(100 * y)));
  floor_plan straight{wse2, 20, 12};
  const auto b = straight.region<source>("b", 1, 8), e = straight.region<sink>("e", 1, 8);
  straight.place(b, {2, 1}).place(e, {15, 1}).connect(b.output(source::out, east), e.input(sink::in, west));
  CHECK(straight.connected().paths().size() == 3);
}

TEST_CASE("an output may lead to several inputs") {
  floor_plan p{wse2, 12, 9};
  const auto a = p.region<source>("a", 1, 1), many = p.region<sink>("many", 1, 3),
             one = p.region<sink>("one", 2, 1);
  p.place(a, {1, 4}).place(many, {8, 1}).place(one, {6, 7});
  p.connect(a.output(source::out, east), many.input(sink::in, west));
  p.connect(a.output(source::out, east), one.input(sink::in, at(0, 0)));
  p.connect(a.output(source::out, east), one.input(sink::in, at(1, 0)));
  run r(p.connected());
  r.give({1, 4}, 5).f.run();
  for (const coord c : {coord{8, 1}, {8, 2}, {8, 3}, {6, 7}, {7, 7}}) CHECK(r.taken(c) == ramp_of(5));
}

TEST_CASE("several outputs lead to one input if they may merge") {
  floor_plan p{wse2, 12, 9};
  const auto a = p.region<source>("a", 1, 3), d = p.region<sink>("d", 1, 1);
  p.place(a, {1, 2}).place(d, {9, 5});
  CHECK_THROWS_WITH(p.connect(a.output(source::out, east), d.input(sink::in, west)),
                    Contains("a has 3 PEs, the input of d has 1"));
  p.connect(a.output(source::out, east), d.input(sink::in, west), merges);
  run r(p.connected());
  for (int y = 0; y < 3; ++y) r.give({1, 2 + y}, static_cast<f32>(100 * y));
  r.f.run();
  std::vector<f32> came = r.taken({9, 5}), expected;
  for (int y = 0; y < 3; ++y)
    for (const f32 x : ramp_of(static_cast<f32>(100 * y))) expected.push_back(x);
  std::sort(came.begin(), came.end());
  CHECK(came == expected);
}

/// Sends its words, `parts` times, and ends its turn after each time.
struct turn_source {
  static constexpr auto out = symbolic<f32>(0);
  void start(pe& me, f32 first) {
    for (int part = 0; part < 2; ++part) {
      for (int i = 0; i < words; ++i) me.send(out, first + static_cast<f32>(part * words + i));
      me.send_control(out, switch_adv);
    }
  }
  using tasks = task_list<launch<&turn_source::start>, sends<out>, steers<out, switch_adv>>;
};

TEST_CASE("outputs take turns at an input, with one color") {
  for (const int engine : {0, 1, 2}) {
    floor_plan p{wse2, 12, 9};
    const auto a = p.region<turn_source>("a", 1, 1), b = p.region<turn_source>("b", 1, 1),
               c = p.region<turn_source>("c", 1, 1), d = p.region<sink>("d", 1, 1);
    p.place(a, {1, 7}).place(b, {1, 1}).place(c, {10, 2}).place(d, {6, 4});
    for (const code_region& from : {b, c, a})
      p.connect(from.output(turn_source::out, all), d.input(sink::in, all), by_turns);
    const layout l = p.connected();
    for (const path_record& path : l.paths()) CHECK(path.color == l.color_at({6, 4}, sink::in).id);
    CHECK(l.switches().size() == 1);
    require(l);
    fabric f = engine == 0 ? fabric{l, reference{}} : engine == 1 ? fabric{l} : fabric{l, timed{}};
    // those whose turn comes later send first
    f.start<&turn_source::start>(at(1, 7), 300), f.start<&turn_source::start>(at(10, 2), 200),
        f.start<&turn_source::start>(at(1, 1), 100);
    f.run();
    const sink& s = f.program_at<sink>({6, 4});
    REQUIRE(s.count == 6 * words);
    for (int k = 0; k < s.count; ++k) {
      const int part = k / (3 * words), whose = k / words % 3;
      CHECK(s.seen[static_cast<std::size_t>(k)] ==
            static_cast<f32>(100 * (whose + 1) + part * words + k % words));
    }
  }
}

TEST_CASE("inputs take turns at an output, and many ports do so PE by PE") {
  floor_plan p{wse2, 16, 12};
  const auto a = p.region<turn_source>("a", 1, 3);
  const auto d = p.region<sink>("d", 1, 3), e = p.region<sink>("e", 1, 3);
  p.place(a, {5, 4}).place(d, {11, 1}).place(e, {0, 7});
  p.connect(a.output(turn_source::out, all), d.input(sink::in, west), by_turns);
  p.connect(a.output(turn_source::out, all), e.input(sink::in, east), by_turns);
  const layout l = p.connected();
  require(l);
  fabric f{l};
  for (int y = 0; y < 3; ++y) f.start<&turn_source::start>(at(5, 4 + y), static_cast<f32>(100 * y));
  f.run();
  for (int y = 0; y < 3; ++y)
    for (const int part : {0, 1}) {
      const sink& s = f.program_at<sink>(part == 0 ? coord{11, 1 + y} : coord{0, 7 + y});
      REQUIRE(s.count == words);
      for (int k = 0; k < words; ++k)
        CHECK(s.seen[static_cast<std::size_t>(k)] == static_cast<f32>(100 * y + part * words + k));
    }
}

TEST_CASE("what cannot take turns is refused") {
  floor_plan p{wse2, 12, 9};
  const auto a = p.region<turn_source>("a", 1, 1), b = p.region<turn_source>("b", 1, 1),
             d = p.region<sink>("d", 1, 1);
  p.place(a, {1, 1}).place(b, {1, 5}).place(d, {8, 3});
  CHECK_THROWS_WITH(
      p.connect(a.output(turn_source::out, east).switched({}), d.input(sink::in, west), by_turns),
      Contains("the connection from a to d takes turns"));
  floor_plan narrow = p, mixed = p;
  for (const code_region& from : {a, b})
    narrow.connect(from.output(turn_source::out, east), d.input(sink::in, west), by_turns);
  CHECK_THROWS_WITH(narrow.connected(), Contains("at PE(8, 3) of d, 2 connections take turns") &&
                                            Contains("through 1 of its sides"));
  mixed.connect(a.output(turn_source::out, all), d.input(sink::in, all), by_turns);
  mixed.connect(b.output(turn_source::out, all), d.input(sink::in, all), merges);
  CHECK_THROWS_WITH(mixed.connected(), Contains("give it to both, or to none"));
  p.connect(a.output(turn_source::out, all), d.input(sink::in, all));
  p.connect(b.output(turn_source::out, all), d.input(sink::in, all));
  CHECK_THROWS_WITH(p.connected(), Contains("with by_turns if they say"));
}

TEST_CASE("one connection by turns is one, and each sender must end its turn") {
  floor_plan p{wse2, 12, 9}, edge_of_grid{wse2, 6, 4};
  const auto a = p.region<turn_source>("a", 1, 1), d = p.region<sink>("d", 1, 1);
  p.place(a, {1, 1}).place(d, {8, 3});
  p.connect(a.output(turn_source::out, all), d.input(sink::in, all), by_turns);
  floor_plan silent = p, inside = p;
  const layout l = p.connected();
  require(l);
  fabric f{l};
  for (int k : {0, 1}) f.start<&turn_source::start>(at(1, 1), static_cast<f32>(100 * k));
  f.run();
  CHECK(f.program_at<sink>({8, 3}).count == 4 * words);

  const auto b = silent.region<source>("b", 1, 1);
  silent.place(b, {1, 5});
  silent.connect(b.output(source::out, all), d.input(sink::in, all), by_turns);
  CHECK_THROWS_WITH(silent.connected(), Contains("from b to d takes turns, but program") &&
                                            Contains("source at PE(1, 5) does not say steers"));
  const auto c = inside.region<turn_source>("c", 1, 1);
  inside.place(c, {4, 7});
  inside.connect(c.output(turn_source::out, all), d.input(sink::in, all).to(ramp | east), by_turns);
  CHECK_THROWS_WITH(inside.connected(), Contains(".from(...) or .to(...) of the two differ"));

  const auto many = edge_of_grid.region<turn_source>("many", 1, 3),
             corner = edge_of_grid.region<sink>("corner", 1, 1);
  edge_of_grid.place(many, {4, 0}).place(corner, {0, 0});
  edge_of_grid.connect(many.output(turn_source::out, all), corner.input(sink::in, all), by_turns);
  CHECK_THROWS_WITH(edge_of_grid.connected(), Contains("at PE(0, 0) of corner, 3 connections take turns") &&
                                                  Contains("move the region off the edge"));
}

TEST_CASE("colors of connections that take turns have switches on the machine") {
  layout base{wse3, 40, 24};  // the colors from 0 to 9 are taken between them; 10 and 11 have no switches
  for (int k = 0; k < 10; ++k) base.path(color<f32>{k}, column(10), north >> south);
  floor_plan crossed{base};
  const auto e = crossed.region<sink>("e", 1, 1), from = crossed.region<turn_source>("from", 1, 1),
             other = crossed.region<turn_source>("other", 1, 1);
  crossed.place(e, {20, 12}).place(from, {2, 12}).place(other, {2, 18});
  for (const code_region& r : {from, other})
    crossed.connect(r.output(turn_source::out, all), e.input(sink::in, all), by_turns);
  const layout l = crossed.connected();
  const int given = l.color_at({20, 12}, sink::in).id;
  INFO("color " << given);
  CHECK((wse3.switch_colors >> given & 1) == 1);
  CHECK(given >= 10);
}

TEST_CASE("one output deals its words out") {
  floor_plan p{wse2, 12, 9};
  const auto a = p.region<source>("a", 1, 1), d = p.region<sink>("d", 1, 3);
  p.place(a, {1, 4}).place(d, {8, 1});
  p.connect(a.output(source::out, east), d.input(sink::in, west), deals{.words = 1});
  run r(p.connected());
  r.give({1, 4}, 0).f.run();
  for (int k = 0; k < 3; ++k)
    CHECK(r.taken({8, 1 + k}) == std::vector<f32>{static_cast<f32>(k), static_cast<f32>(k + 3)});
  CHECK_THROWS_WITH(p.connect(d.output(sink::in, east), d.input(sink::in, west), deals{.words = 1}),
                    Contains("dealt out by one PE"));
}

TEST_CASE("a multiplexer takes words in turn, between streams of the host") {
  const auto tried = [](auto count) {
    constexpr int n = count;
    for (const port toward : {east, south})
      for (int engine : {0, 1, 2}) {
        const machine& m = engine == 1 ? wse3 : wse2;
        INFO(n << " PEs toward " << name_of(toward) << ", engine " << engine);
        floor_plan p{m, 18, 12};
        const auto d = p.region<doubler>("d", toward == east ? n : 1, toward == east ? 1 : n);
        const mux<f32, n, 4> y(p, "y", toward);
        p.place(d, {5, 3}).place(y, toward == east ? coord{5, 7} : coord{9, 3});
        p.stream_in(d.input(doubler::in, toward == east ? north : west), north, deals{.words = 4});
        p.connect(d.output(doubler::out, toward == east ? south : east), y.input());
        p.stream_out(y.output(), west);
        run r(p.connected(), engine);
        device computer{r.f};
        std::vector<f32> x(n * 12), got(n * 12);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(i);
        computer.stream_in(r.plan.color_at({5, 3}, doubler::in), x);
        computer.stream_out(r.plan.color_at(toward == east ? coord{5, 7} : coord{9, 3}, symbolic<f32>(2)),
                            got);
        bool right = true;
        for (std::size_t i = 0; i < x.size(); ++i) right = right && got[i] == 2 * x[i];
        CHECK(right);
      }
  };
  tried(std::integral_constant<int, 1>{}), tried(std::integral_constant<int, 2>{}),
      tried(std::integral_constant<int, 3>{}), tried(std::integral_constant<int, 6>{});
}

TEST_CASE("ports of three PEs at any sides find ways around each other") {
  // Three ways that do not cross lead from one rectangle to another if the ports run in opposite turns around
  // them: row by row, those at the east and the north run clockwise, those at the west and the south do not.
  const auto clockwise = [](port side) { return side == east || side == north; };
  for (const port out : {east, west, north, south})
    for (const port in : {east, west, north, south})
      for (const coord there : {coord{22, 12}, {22, 22}, {12, 23}, {6, 5}}) {
        if (clockwise(out) == clockwise(in)) continue;
        INFO(name_of(out) << " to " << name_of(in) << " at " << there.x << ", " << there.y);
        floor_plan p{wse2, 32, 32};
        const auto a = p.region<source>("a", 3, 3), d = p.region<sink>("d", 3, 3);
        p.place(a, {14, 14}).place(d, there);
        p.connect(a.output(source::out, out), d.input(sink::in, in));
        run r(p.connected(), 1);
        const auto at_side = [](port side, coord corner, int k) {
          return corner + (side == east    ? coord{2, k}
                           : side == west  ? coord{0, k}
                           : side == north ? coord{k, 0}
                                           : coord{k, 2});
        };
        for (int k = 0; k < 3; ++k) r.give(at_side(out, {14, 14}, k), static_cast<f32>(100 * k));
        r.f.run();
        for (int k = 0; k < 3; ++k)
          CHECK(r.taken(at_side(in, there, k)) == ramp_of(static_cast<f32>(100 * k)));
      }
}

TEST_CASE("a region may be as large as the grid, and two ports are connected once") {
  floor_plan whole{wse2, 3, 2};
  static_cast<void>(whole.region("all of it", 3, 2));
  CHECK_NOTHROW(require(whole.connected()));
  CHECK(whole.connected().width() == 3);
  floor_plan full{wse2, 3, 2};
  static_cast<void>(full.region("most", 3, 2)), static_cast<void>(full.region("more", 1, 1));
  CHECK_THROWS_WITH(full.connected(), Contains("no room for region"));

  floor_plan p{wse2, 9, 3};
  const auto a = p.region<source>("a", 1, 1), d = p.region<sink>("d", 1, 2);
  p.connect(a.output(source::out, east), d.input(sink::in, west));
  CHECK_THROWS_WITH(p.connect(a.output(source::out, east), d.input(sink::in, west), deals{.words = 2}),
                    Contains("this output of a is connected to this input of d already"));
}

TEST_CASE("a multiplexer waits for no words when a run ends") {
  floor_plan p{wse2, 12, 9};
  const auto a = p.region<source>("a", 1, 3), d = p.region<sink>("d", 1, 1);
  const mux<f32, 3, 2> y(p, "y", south);
  p.place(a, {1, 1}).place(y, {5, 1}).place(d, {9, 1});
  p.connect(a.output(source::out, east), y.input()).connect(y.output(), d.input(sink::in, west));
  run r(p.connected());
  r.give({1, 1}, 0).give({1, 2}, 100).give({1, 3}, 200);
  CHECK_NOTHROW(r.f.run());
  CHECK(r.taken({9, 1}) ==
        std::vector<f32>{0, 1, 100, 101, 200, 201, 2, 3, 102, 103, 202, 203, 4, 5, 104, 105, 204, 205});
}

TEST_CASE("ways go around regions, programs and colors that are there already") {
  layout base{wse2, 11, 5};
  base.place<sink>(at(5, 0), given_colors(sink::in, color<f32>{0}));
  base.path(color<f32>{0}, row(0).columns(0, 5), ramp >> ramp);
  base.claim_colors("a module", 1, 3, {0, 11, 0, 5});
  floor_plan p{base};
  const auto a = p.region<source>("a", 1, 1), d = p.region<sink>("d", 1, 1), wall = p.region("wall", 1, 3);
  p.place(a, {1, 2}).place(d, {9, 2}).place(wall, {5, 1});
  p.connect(a.output(source::out, east), d.input(sink::in, west));
  const layout l = p.connected();
  const color<f32> given = l.color_at({1, 2}, source::out);
  CHECK((given.id == 0 || given.id >= 4));  // 1 to 3 are the module's
  for (int y = 0; y < 4; ++y) CHECK(l.route_at({5, y}, given.id) == route{});
  CHECK_FALSE(l.route_at({5, 4}, given.id) == route{});
}

TEST_CASE("inner paths, ports behind them, and colors of the fabric in a region") {
  // words enter at the first PE and pass on inside the region
  floor_plan p{wse2, 14, 4};
  const auto a = p.region<source>("a", 1, 1), d = p.region<sink>("d", 4, 1);
  p.place(a, {1, 1}).place(d, {6, 1});
  p.path(d, sink::in, columns(1, edge - 1), west >> (ramp | east))
      .path(d, sink::in, column(edge - 1), west >> ramp);
  p.connect(a.output(source::out, east), d.input(sink::in, at(0, 0), west).to(ramp | east));
  run r(p.connected());
  r.give({1, 1}, 7).f.run();
  for (int x = 0; x < 4; ++x) CHECK(r.taken({6 + x, 1}) == ramp_of(7));

  floor_plan q{wse2, 8, 3};
  const auto b = q.region<source>("b", 1, 1), e = q.region<red_sink>("e", 1, 1);
  q.place(b, {1, 1}).place(e, {5, 1}).connect(b.output(source::out, east), e.input(red, west));
  const layout l = q.connected();
  CHECK(l.color_at({1, 1}, source::out) == red);
  require(l);
}

TEST_CASE("an inner path may merge and filter, and has one filter") {
  // the words of two sources merge on a column; of those that pass, the middle PE takes every second one
  floor_plan p{wse2, 5, 5};
  const auto a = p.region("a", 1, 3);
  p.place<source>(a, row(0)).place<sink>(a, rows(1, 3)).place(a, {2, 1});
  p.path(a, source::out, row(0), ramp >> south)
      .path(a, source::out, row(1), north >> (ramp | south),
            sparse_counter_filter{.first = 0, .last = 0, .period = 2})
      .path(a, source::out, row(2), north >> ramp);
  run r(p.connected());
  r.give({2, 1}, 0).f.run();
  CHECK(r.taken({2, 2}) == std::vector<f32>{0, 2, 4});
  CHECK(r.taken({2, 3}) == ramp_of(0));

  floor_plan q{wse2, 5, 5};
  const auto b = q.region("b", 1, 3);
  q.place<source>(b, row(0)).place<sink>(b, rows(1, 3)).place(b, {2, 1});
  CHECK_THROWS_WITH(
      q.path(b, source::out, row(1), north >> ramp, sparse_counter_filter{.period = 2}, range_filter{}),
      Contains("has one filter"));
  q.path(b, source::out, row(0), ramp >> south)
      .path(b, source::out, row(1), (ramp | north) >> (ramp | south), merges,
            sparse_counter_filter{.first = 0, .last = 0, .period = 2})
      .path(b, source::out, row(2), north >> ramp);
  CHECK(q.connected().paths().size() == 3);
  CHECK_THROWS_WITH(q.place<source>(b, at(5, 5)),
                    Contains("programs and paths of region b lie on PEs of the region"));
}

TEST_CASE("regions that nobody places are placed behind those that they take words from") {
  floor_plan p{wse2, 24, 10};
  const auto a = p.region<source>("a", 1, 2), b = p.region<source>("b", 1, 2),
             s = p.region<adder>("sum", 1, 2), last = p.region<sink>("last", 1, 2);
  p.connect(a.output(source::out, east), s.input(adder::x, west));
  p.connect(b.output(source::out, east), s.input(adder::y, west));
  p.connect(s.output(adder::out, east), last.input(sink::in, west));
  const layout l = p.connected();
  require(l);
  CHECK(l.placements().size() == 4);
  floor_plan small{wse2, 4, 3};
  static_cast<void>(small.region<source>("too wide", 5, 1));
  CHECK_THROWS_WITH(small.connected(), Contains("there is no room for region too wide") ||
                                           Contains("connected to nothing") ||
                                           Contains("neither a connection"));
}

TEST_CASE("where colors are few, connections go around each other") {
  // three connections cross in a row of PEs, on a machine with two colors
  machine few = wse2;
  few.colors = 2;
  floor_plan p{few, 13, 13};
  std::vector<code_region> a, d;
  for (int k = 0; k < 3; ++k) {
    a.push_back(p.region<source>("a", 1, 1)), d.push_back(p.region<sink>("d", 1, 1));
    p.place(a.back(), {1, 3 + 3 * k}).place(d.back(), {11, 9 - 3 * k});
  }
  for (std::size_t k = 0; k < 3; ++k) p.connect(a[k].output(source::out, east), d[k].input(sink::in, west));
  run r(p.connected());
  CHECK(colors_of(r.plan) <= 2);
  for (int k = 0; k < 3; ++k) r.give({1, 3 + 3 * k}, static_cast<f32>(100 * k));
  r.f.run();
  for (int k = 0; k < 3; ++k) CHECK(r.taken({11, 9 - 3 * k}) == ramp_of(static_cast<f32>(100 * k)));
}

TEST_CASE("what cannot be connected is said with the regions that are in the way") {
  floor_plan p{wse2, 7, 3};
  const auto a = p.region<source>("a", 1, 1), d = p.region<sink>("d", 1, 1), wall = p.region("wall", 1, 3);
  p.place(a, {1, 1}).place(d, {5, 1}).place(wall, {3, 0});
  p.connect(a.output(source::out, east), d.input(sink::in, west));
  CHECK_THROWS_WITH(p.connected(), Contains("the connection from a to d finds no way to PE(5, 1)") &&
                                       Contains("region wall"));

  machine one = wse2;
  one.colors = 1;
  floor_plan q{one, 5, 3};
  const auto x = q.region<source>("x", 1, 1), y = q.region<adder>("y", 1, 1), z = q.region<sink>("z", 1, 1);
  q.hstack({0, 1}, 1, {x, y, z});
  q.connect(x.output(source::out, at(0, 0)), y.input(adder::x, at(0, 0)));
  q.connect(x.output(source::out, at(0, 0)), z.input(sink::in, at(0, 0)));
  CHECK_THROWS_WITH(q.connected(), Contains("neither a connection nor an inner path") && Contains("adder"));
}

TEST_CASE("colors that run out are said with the connections that have them") {
  machine one = wse2;
  one.colors = 1;
  floor_plan p{one, 9, 5};
  const auto a = p.region<source>("a", 1, 1), b = p.region<doubler>("b", 1, 1), c = p.region<sink>("c", 1, 1);
  p.hstack({1, 2}, 2, {a, b, c});
  p.connect(a.output(source::out, east), b.input(doubler::in, west));
  p.connect(b.output(doubler::out, east), c.input(sink::in, west));
  CHECK_THROWS_WITH(p.connected(),
                    Contains("no color is left for the connection from") && Contains("has 1 colors"));
}

TEST_CASE("mistakes in a floor plan have a sentence") {
  floor_plan p{wse2, 8, 8};
  const auto a = p.region<source>("a", 2, 2), d = p.region<sink>("d", 1, 1);
  CHECK_THROWS_WITH(p.region("none", 0, 1), Contains("region none has 0 x 1 PEs"));
  CHECK_THROWS_WITH(p.place(a, {7, 0}), Contains("region a at PE(7, 0) leaves the grid of 8 x 8"));
  p.place(a, {1, 1});
  CHECK_THROWS_WITH(p.place(a, {3, 1}), Contains("region a has its place already"));
  CHECK_THROWS_WITH(a.output(source::out, ramp), Contains("a port of region a lets words through a side"));
  CHECK_THROWS_WITH(a.output(source::out, at(2, 0)), Contains("region, of which there are 2 x 2"));
  CHECK_THROWS_WITH(a.output(source::out, east).to(ramp), Contains("an output says .from"));
  CHECK_THROWS_WITH(p.connect(d.input(sink::in, west), a.output(source::out, east)),
                    Contains("from an output of d to an input of a"));
  CHECK_THROWS_WITH(p.stream_in(a.output(source::out, east), west), Contains("an output"));
  floor_plan other{wse2, 8, 8};
  CHECK_THROWS_WITH(other.place(a, {1, 1}), Contains("it is of another one"));
  const auto stranger = other.region<sink>("stranger", 1, 1);
  CHECK_THROWS_WITH(p.connect(a.output(source::out, at(0, 0)), stranger.input(sink::in, west)),
                    Contains("it is of another one"));
  p.place(d, {2, 2});
  p.connect(a.output(source::out, at(0, 0)), d.input(sink::in, west));
  CHECK_THROWS_WITH(p.connected(), Contains("regions d and a overlap at PE(2, 2)"));

  floor_plan q{wse2, 12, 8};
  const auto x = q.region<source>("x", 1, 1), y = q.region<source>("y", 1, 1), z = q.region<sink>("z", 1, 1);
  q.place(x, {1, 1}).place(y, {1, 4}).place(z, {7, 2});
  q.connect(x.output(source::out, east), z.input(sink::in, west));
  q.connect(y.output(source::out, east), z.input(sink::in, west));
  CHECK_THROWS_WITH(q.connected(), Contains("words of x and of y come to one PE of z"));

  floor_plan same{wse2, 12, 8};
  const auto s = same.region<source>("s", 1, 1), t = same.region<adder>("t", 1, 1),
             u = same.region<sink>("u", 1, 1);
  same.place(s, {1, 1}).place(t, {5, 1}).place(u, {9, 1});
  same.connect(s.output(source::out, east), t.input(adder::x, west))
      .connect(s.output(source::out, east), t.input(adder::y, west));
  same.connect(t.output(adder::out, east), u.input(sink::in, west));
  CHECK_THROWS_WITH(same.connected(), Contains("symbolic colors 0 and 1 of region t would be one color"));

  floor_plan edge_of_grid{wse2, 9, 5};
  const auto near_edge = edge_of_grid.region<source>("near", 1, 1),
             far = edge_of_grid.region<sink>("far", 1, 1);
  edge_of_grid.place(near_edge, {1, 1}).place(far, {8, 1});
  CHECK_THROWS_WITH(edge_of_grid.connect(near_edge.output(color<f32>{30}, east), far.input(sink::in, east)),
                    Contains("there is no color 30"));
  CHECK_THROWS_WITH(edge_of_grid.path(far, color<f32>{99}, all, ramp >> east),
                    Contains("there is no color 99"));
  edge_of_grid.connect(near_edge.output(source::out, east), far.input(sink::in, east));
  CHECK_THROWS_WITH(edge_of_grid.connected(),
                    Contains("the port on PE(8, 1) opens only toward the edge of the grid"));
  layout taken{wse2, 4, 4};
  taken.place<sink>(at(2, 2), given_colors(sink::in, red));
  floor_plan over{taken};
  over.place(over.region("over", 2, 2), {1, 1});
  CHECK_THROWS_WITH(over.connected(), Contains("region over overlaps a program of the layout at PE(2, 2)"));

  constexpr color<f32> blue{2};
  floor_plan two{wse2, 12, 8};
  const auto v = two.region("v", 1, 1), w = two.region("w", 1, 1);
  two.place(v, {1, 1}).place(w, {5, 1}).connect(v.output(red, east), w.input(blue, west));
  CHECK_THROWS_WITH(two.connected(),
                    Contains("of color 5 and of color 2") || Contains("of color 2 and of color 5"));
}
