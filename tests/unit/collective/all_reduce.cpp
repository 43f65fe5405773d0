// SPDX-License-Identifier: MIT
// All-reduce on every small rectangle, in several rounds, and its faults; the same for a tally.
#include <wsl/collective/all_reduce.hpp>
#include <wsl/collective/tally.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>

#include <catch2/catch.hpp>
#include <set>

using namespace wsl;
using Catch::Contains;

namespace {

template <auto net>
struct worker {
  using T = typename decltype(net)::element;
  T part = 0, total = 0;
  int rounds = 0, done = 0;
  reducer<net> reduce;

  void begin(pe& me, int n) {
    part = static_cast<T>(me.y() * 10 + me.x() + 1);
    rounds = n;
    reduce.contribute(me, part);
  }
  void next(pe& me, T t) {
    total = t;
    if (++done < rounds) reduce.contribute(me, static_cast<T>(part + static_cast<T>(done)));
  }
  void twice(pe& me) {
    reduce.contribute(me, 1);
    reduce.contribute(me, 1);
  }
  using tasks = task_list<launch<&worker::begin>, launch<&worker::twice>, use<&worker::reduce>,
                          on<net.total(), &worker::next>>;
};

template <auto net>
constexpr layout wired(int width, int height) {
  layout l{wse2, width, height};
  l.place<worker<net>>(net.where);
  net.wire(l);
  return l;
}

/// The sum of the contributions of all PEs of r in a round.
i32 sum_of(const region& r, int round) {
  i32 sum = 0;
  for (int i = 0; i < r.count(); ++i) sum += r.nth(i).y * 10 + r.nth(i).x + 1 + round;
  return sum;
}
template <auto net>
void all_know(fabric& f, const region& r, i32 expected, int done) {
  for (int i = 0; i < r.count(); ++i) {
    INFO(r.columns() << " x " << r.rows() << ", PE " << i);
    REQUIRE(f.program_at<worker<net>>(r.nth(i)).total == expected);
    REQUIRE(f.program_at<worker<net>>(r.nth(i)).done == done);
  }
}

constexpr all_reduce<i32> sum{0};
constexpr all_reduce<i32, larger> highest{0};
constexpr all_reduce<i32, smaller> lowest{0};

}  // namespace

TEST_CASE("on every rectangle each PE learns the total") {
  for (int h = 1; h <= 5; ++h)
    for (int w = 1; w <= 6; ++w) {
      const layout l = wired<sum>(w, h);
      for (int engine : {0, 1}) {
        fabric f = engine ? fabric{l} : fabric{l, reference{}};
        f.launch<&worker<sum>::begin>(all, 1);
        all_know<sum>(f, l.grid(), sum_of(l.grid(), 0), 1);
      }
    }
}

TEST_CASE("totals follow each other, each from a launch or from the total before") {
  const layout l = wired<sum>(4, 3);
  fabric f{l, reference{}};
  f.launch<&worker<sum>::begin>(all, 1);
  f.launch<&worker<sum>::begin>(all, 1);
  all_know<sum>(f, l.grid(), sum_of(l.grid(), 0), 2);
  fabric alone{l, reference{}};
  alone.launch<&worker<sum>::begin>(all, 20);
  all_know<sum>(alone, l.grid(), sum_of(l.grid(), 19), 20);
}

TEST_CASE("the largest and the smallest") {
  fabric high{wired<highest>(5, 3), reference{}}, low{wired<lowest>(5, 3), reference{}};
  high.launch<&worker<highest>::begin>(all, 1);
  low.launch<&worker<lowest>::begin>(all, 1);
  all_know<highest>(high, high.plan().grid(), 25, 1);
  all_know<lowest>(low, low.plan().grid(), 1, 1);
}

TEST_CASE("nobody learns a total before everybody has contributed") {
  const layout l = wired<sum>(3, 2);
  fabric f{l, reference{}};
  f.launch<&worker<sum>::begin>(columns(1, edge), 1);
  all_know<sum>(f, l.grid(), 0, 0);
  f.launch<&worker<sum>::begin>(column(0), 1);
  all_know<sum>(f, l.grid(), sum_of(l.grid(), 0), 1);
}

TEST_CASE("a rectangle of a larger grid, and two side by side with the same colors") {
  static constexpr all_reduce<i32> left{3, columns(0, 3).rows(1, edge - 1)}, right{3, columns(3).rows(2)};
  layout l = wired<left>(7, 5);
  l.place<worker<right>>(right.where);
  right.wire(l);
  fabric f{l, reference{}};
  f.start<&worker<left>::begin>(left.where, 2);
  f.launch<&worker<right>::begin>(right.where, 1);
  all_know<left>(f, l.inside(left.where), sum_of(l.inside(left.where), 1), 2);
  all_know<right>(f, l.inside(right.where), sum_of(l.inside(right.where), 0), 1);
}

TEST_CASE("four colors serve every rectangle") {
  const layout l = wired<sum>(6, 5);
  std::set<int> colors;
  for (const path_record& p : l.paths()) colors.insert(p.color);
  CHECK(colors == std::set{0, 1, 2, 3});
  CHECK(sum.total() == color<i32>{3});
}

TEST_CASE("a second contribution of a PE to one total is a fault") {
  const layout l = wired<sum>(3, 2);
  fabric f{l, reference{}};
  CHECK_THROWS_WITH(f.launch<&worker<sum>::twice>(at(1, 0)),
                    Contains("wsl: PE(1, 0) has two contributions to one total of an all_reduce: contribute "
                             "again when the total has come"));
}

TEST_CASE("a constant layout with an all_reduce is checked while compiling") {
  static constexpr layout plate = wired<sum>(48, 32), lone = wired<sum>(1, 1), line = wired<sum>(5, 1),
                          post = wired<sum>(1, 2);
  static_assert(routed<plate>() && routed<lone>() && routed<line>() && routed<post>());
  SUCCEED();
}

namespace {

constexpr tally reports{.first = 3}, reports_inside{.first = 3, .where = columns(1, 4).rows(1, 3)};

/// Each PE reports as often as its number says, in parts. A PE that is told that a round is complete begins
/// the next one.
template <auto net>
struct reporter {
  u32 rounds = 0, over = 0, sum = 0;
  tally_counter<net> count;
  void begin(pe& me, u32 number_of_rounds, u32 all_of_them) {
    rounds = number_of_rounds;
    count.expect(me, all_of_them);
    go(me);
  }
  void go(pe& me) {
    for (int i = 0; i < me.x() + 2 * me.y(); ++i) count.report(me);
    count.report(me, 3);
  }
  void next(pe& me, u32 all_of_them) {
    sum += all_of_them;
    if (++over < rounds) go(me);
  }
  using tasks =
      task_list<launch<&reporter::begin>, use<&reporter::count>, on<net.complete(), &reporter::next>>;
};

template <auto net, class Engine>
void tallies(int width, int height, const Engine& engine) {
  layout l{wse2, width, height};
  l.place<reporter<net>>(net.where);
  net.wire(l);
  fabric f{l, engine};
  const region r = resolve(net.where, l.grid());
  u32 expected = 0;
  for (int i = 0; i < r.count(); ++i) expected += static_cast<u32>(r.nth(i).x + 2 * r.nth(i).y + 3);
  f.launch<&reporter<net>::begin>(net.where, 3u, expected);
  for (int i = 0; i < r.count(); ++i) {
    INFO(width << " x " << height << ", PE " << i);
    REQUIRE(f.program_at<reporter<net>>(r.nth(i)).over == 3);
    REQUIRE(f.program_at<reporter<net>>(r.nth(i)).sum == 3 * expected);
  }
}

}  // namespace

TEST_CASE("a tally is complete everywhere when the last report has come") {
  for (int width : {1, 2, 3, 6})
    for (int height : {1, 2, 5}) {
      tallies<reports>(width, height, reference{});
      tallies<reports>(width, height, timed{});
      for (int threads : {1, 2, 3, 8})
        tallies<reports>(width, height, threaded{.threads = threads, .pes_per_partition = 2});
    }
  tallies<reports_inside>(5, 4, threaded{.threads = 2, .pes_per_partition = 3});
}

namespace {

struct expecting {
  tally_counter<reports> count;
  void same(pe& me, int events) { count.expect(me, events); }
  void different(pe& me) { count.expect(me, me.x() + 1); }
  void report(pe& me, int times) { count.report(me, times); }
  void done(pe&, u32) {}
  using tasks = task_list<launch<&expecting::same>, launch<&expecting::different>, launch<&expecting::report>,
                          use<&expecting::count>, on<reports.complete(), &expecting::done>>;
};

}  // namespace

TEST_CASE("all PEs expect the same number of events, at least one") {
  layout l{wse2, 3, 2};
  l.place<expecting>(all).wire(reports);
  const auto message = [&](auto what) {
    fabric f{l};
    try {
      what(f);
    } catch (const fault& e) { return std::string(e.what()); }
    return std::string("nothing");
  };
  CHECK_THAT(message([](fabric& f) { f.launch<&expecting::same>(all, 0); }),
             Catch::Contains("PE(0, 0) calls tally with an expectation of 0 events"));
  CHECK_THAT(message([](fabric& f) { f.launch<&expecting::same>(all, -2); }),
             Catch::Contains("-2 does not fit into an unsigned number of 32 bits"));
  CHECK_THAT(message([](fabric& f) { f.launch<&expecting::report>(all, -1); }),
             Catch::Contains("-1 does not fit"));
  CHECK_THAT(
      message([](fabric& f) { f.launch<&expecting::different>(all); }),
      Catch::Contains("calls tally with an expectation of 2 events, and PE(0, 0) of 1 in the same call"));
  CHECK(message([](fabric& f) { f.launch<&expecting::same>(all, 7); }) == "nothing");
}
