// SPDX-License-Identifier: MIT
// Neighbours on every small rectangle: the PEs that receive each other's words, the colors, and the edges
// of the rectangle.
#include <wsl/collective/neighbours.hpp>
#include <wsl/engine/reference.hpp>

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

template <auto halo>
struct cell {
  i32 own = 0, heard[4]{-1, -1, -1, -1}, times = 0;
  int out[4]{}, in[4]{}, degree = -1;
  bool edge[4]{};

  void speak(pe& me) {
    own = me.y() * 100 + me.x();
    halo.send(me, own);
    degree = halo.degree(me);
    for (int s = 0; s < 4; ++s) {
      if ((edge[s] = halo.edge(me, every_side[s]))) continue;
      out[s] = halo.out(me, every_side[s]).id, in[s] = halo.in(me, every_side[s]).id;
    }
  }
  void hear(pe&, i32 x, port from) { heard[index_of(from) - 1] = x, ++times; }
  using tasks = task_list<launch<&cell::speak>, on<halo, &cell::hear>, sends<halo>>;
};

/// Every PE of r received one word of each of its neighbours in r, on the color that it expects, and no
/// other.
template <auto halo>
void all_heard(fabric& f, const region& r) {
  using program = cell<halo>;
  for (int i = 0; i < r.count(); ++i) {
    const program& p = f.program_at<program>(r.nth(i));
    int degree = 0;
    for (port side : every_side) {
      const coord there = r.nth(i) + step(side);
      const int s = index_of(side) - 1, back = index_of(opposite(side)) - 1;
      INFO(r.columns() << " x " << r.rows() << ", PE " << i << ", " << name_of(side));
      REQUIRE(p.edge[s] == !r.has(there));
      REQUIRE(p.heard[s] == (r.has(there) ? there.y * 100 + there.x : -1));
      if (!r.has(there)) continue;
      ++degree;
      REQUIRE(p.in[s] == f.program_at<program>(there).out[back]);
      REQUIRE(p.in[s] != p.out[s]);
    }
    REQUIRE(p.times == degree);
    REQUIRE(p.degree == degree);
  }
}

std::set<int> colors_of(const layout& l) {
  std::set<int> found;
  for (const path_record& p : l.paths()) found.insert(p.color);
  return found;
}

constexpr neighbours<i32> halo{0};

template <auto net>
constexpr layout wired(int width, int height) {
  layout l{wse2, width, height};
  l.place<cell<net>>(net.where);
  net.wire(l);
  return l;
}

}  // namespace

TEST_CASE("on every rectangle each PE hears its neighbours, and nobody else") {
  for (int h = 1; h <= 5; ++h)
    for (int w = 1; w <= 6; ++w) {
      const layout l = wired<halo>(w, h);
      for (int engine : {0, 1}) {
        fabric f = engine ? fabric{l} : fabric{l, reference{}};
        f.launch();
        all_heard<halo>(f, l.grid());
      }
    }
}

TEST_CASE("eight colors serve every rectangle; a line of two PEs needs two") {
  CHECK(colors_of(wired<halo>(6, 5)) == std::set{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(colors_of(wired<halo>(3, 3)).size() == 8);
  CHECK(colors_of(wired<halo>(2, 1)).size() == 2);
  CHECK(colors_of(wired<halo>(1, 3)).size() == 4);
  CHECK(colors_of(wired<halo>(1, 1)).empty());
}

TEST_CASE("the colors count from the first") {
  static constexpr neighbours<i32> higher{13};
  CHECK(colors_of(wired<higher>(3, 3)) == std::set{13, 14, 15, 16, 17, 18, 19, 20});
  CHECK(higher.colors()[7] == color<i32>{20});
  CHECK(higher.to(east).colors()[0] == color<i32>{13});
  CHECK(higher.to(south).colors()[1] == color<i32>{20});
  CHECK(higher.arrives_from(0) == west);
  CHECK(higher.arrives_from(7) == north);
}

TEST_CASE("a rectangle of a larger grid has edges of its own") {
  static constexpr neighbours<i32> inside{0, columns(1, edge - 1).rows(2, edge)};
  for (int w = 3; w <= 6; ++w)
    for (int h = 3; h <= 5; ++h) {
      const layout l = wired<inside>(w, h);
      fabric f{l, reference{}};
      f.launch(inside.where);
      all_heard<inside>(f, l.inside(inside.where));
    }
}

TEST_CASE("two modules with the same colors live side by side") {
  static constexpr neighbours<i32> left{0, columns(0, 3)}, right{0, columns(3)};
  layout l = wired<left>(7, 3);
  l.place<cell<right>>(right.where);
  right.wire(l);
  fabric f{l, reference{}};
  f.launch();
  all_heard<left>(f, l.inside(left.where));
  all_heard<right>(f, l.inside(right.where));
}

TEST_CASE("two modules with the same colors on the same PEs are a fault") {
  layout l = wired<halo>(4, 4);
  halo.wire(l);
  CHECK_THROWS_WITH(fabric{l}, Contains("two_modules_claim_one_color"));
  layout line = wired<halo>(4, 1);  // colors 4 to 7 have no path here, and yet they are taken
  neighbours<i32>{4}.wire(line);
  CHECK_THROWS_WITH(fabric{line}, Contains("two_modules_claim_one_color") && Contains("color 4"));
}

TEST_CASE("a module needs its eight colors to exist") {
  layout l{wse2, 4, 4};
  CHECK_THROWS_WITH(neighbours<i32>{17}.wire(l), Contains("there is no color 24"));
}

TEST_CASE("a constant layout with neighbours is checked while compiling") {
  static constexpr layout plate = wired<halo>(48, 32);
  static_assert(routed<plate>());
  static constexpr layout lone = wired<halo>(1, 1), line = wired<halo>(5, 1), post = wired<halo>(1, 2);
  static_assert(routed<lone>() && routed<line>() && routed<post>());
  SUCCEED();
}
