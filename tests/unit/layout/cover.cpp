// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <random>
#include <wsl/layout/rules/cover.hpp>

using namespace wsl;
using namespace wsl::rules;

namespace {

constexpr int side = 20;

class random_regions {
 public:
  region one() {
    const int x = below(side), y = below(side);
    return tight(region{x, x + 1 + below(side - x), y, y + 1 + below(side - y), 1 + below(16), 1 + below(7)});
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  std::mt19937 random_{7};
};

template <class Predicate>
bool on_every_pe(Predicate holds) {
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      if (!holds(coord{x, y})) return false;
  return true;
}

int times_covered(const scratch<region>& list, coord c) {
  int n = 0;
  for (int i = 0; i < list.size(); ++i) n += list[i].has(c);
  return n;
}

}  // namespace

TEST_CASE("a tight region ends one past its last column and row") {
  CHECK(tight(region{1, 9, 0, 4, 3, 2}) == region{1, 8, 0, 3, 3, 2});
  CHECK(tight(region{5, 5, 0, 4, 1, 1}).empty());
}

TEST_CASE("runs meet where both strides do") {
  CHECK(meet({0, 100, 4}, {2, 100, 6}).first == 8);
  CHECK(meet({0, 100, 4}, {2, 100, 6}).step == 12);
  CHECK(meet({0, 100, 4}, {1, 100, 6}).empty());
  CHECK(meet({0, 9, 4}, {8, 30, 5}).end == 9);
}

TEST_CASE("intersections hold exactly the PEs of both regions") {
  random_regions random;
  for (int i = 0; i < 3000; ++i) {
    const region a = random.one(), b = random.one(), both = intersect(a, b);
    REQUIRE(on_every_pe([&](coord c) { return both.has(c) == (a.has(c) && b.has(c)); }));
    REQUIRE(tight(both) == both);
  }
}

TEST_CASE("differences hold every other PE once") {
  random_regions random;
  for (int i = 0; i < 3000; ++i) {
    const region a = random.one(), b = random.one(), both = intersect(a, b);
    if (both.empty()) continue;
    scratch<region> rest;
    subtract(a, both, rest);
    REQUIRE(on_every_pe([&](coord c) { return times_covered(rest, c) == (a.has(c) && !b.has(c)); }));
  }
}

TEST_CASE("an uncovered PE is found exactly when there is one") {
  random_regions random;
  int complete = 0;
  for (int i = 0; i < 3000; ++i) {
    const region what = random.one();
    scratch<region> by;
    for (int n = random.below(12); n > 0; --n) by.push_back(random.one());
    if (random.below(2)) by.push_back({0, side, 0, side, 1, 1});
    rules::step_budget work;
    const coord bare = uncovered(what, by, work);
    const bool covered = on_every_pe([&](coord c) { return !what.has(c) || times_covered(by, c) > 0; });
    REQUIRE((bare == nowhere) == covered);
    if (!covered) REQUIRE((what.has(bare) && times_covered(by, bare) == 0));
    complete += covered;
  }
  CHECK(complete > 300);
}

TEST_CASE("the edge of a region is what has no neighbour on the grid") {
  random_regions random;
  const region grid{0, side, 0, side, 1, 1};
  for (int i = 0; i < 500; ++i) {
    const region r = random.one();
    for (port p : every_side)
      REQUIRE(on_every_pe([&](coord c) {
        return at_the_boundary(r, p, grid).has(c) == (r.has(c) && !grid.has(c + step(p)));
      }));
  }
}

TEST_CASE("scratch memory grows and keeps what it holds") {
  scratch<int> list(3);
  CHECK((list.size() == 3 && list[2] == 0));
  for (int i = 0; i < 100; ++i) list.push_back(i);
  CHECK((list.size() == 103 && list[102] == 99 && list.pop_back() == 99));
}
