// SPDX-License-Identifier: MIT
// Sources and receivers inside a stencil's march, and sides about the middle of a cell, against the serial
// reference, bit for bit: with any kinds of sides and any way to share the grid out.
#include <catch2/catch.hpp>

#include <limits>

#include "stencil_updates.hpp"

using namespace wsl;
namespace boundary = stencils::boundary;
using Catch::Contains;
using stencils::boundaries, stencils::cell, stencils::extents, stencils::options;

namespace {

constexpr int steps = 23;

/// A place that looks like chance, in a grid of up to three axes; every third is at a corner or a side.
cell somewhere(const extents& size, unsigned seed) {
  int at[3];
  for (int a = 0; a < 3; ++a) {
    const unsigned x = (seed * 2654435761u + unsigned(a) * 40503u) >> 7;
    at[a] = a >= size.axes() ? 0 : seed % 3 == 0 ? (x % 2 ? size[a] - 1 : 0) : int(x % unsigned(size[a]));
  }
  return size.axes() == 1 ? cell(at[0]) : size.axes() == 2 ? cell(at[0], at[1]) : cell(at[0], at[1], at[2]);
}

template <stencils::takes in, class T, class Simulation>
void add_stations(Simulation& s, const extents& size) {
  for (unsigned k = 0; k < 7; ++k)
    s.source(
        somewhere(size, k),
        [k](i64 n) { return static_cast<T>(n % 5 == 4 ? 0 : 0.03 * (k + 1) * static_cast<int>(n % 3)); },
        static_cast<int>(k) % in.fields);
  std::vector<stencils::weighted_cell<T>> wide;
  for (unsigned k = 0; k < 9; ++k)
    wide.push_back({somewhere(size, 40 + k), T(0.11) * static_cast<T>(k), static_cast<int>(k) % in.fields});
  s.source(std::span<const stencils::weighted_cell<T>>(wide), [](i64 n) { return T(n) / 80; });
  for (unsigned k = 0; k < 7; ++k) s.receiver(somewhere(size, k), static_cast<int>(k) % in.fields);
  s.receiver(std::span<const stencils::weighted_cell<T>>(wide));
  for (unsigned k = 70; k < 75; ++k) s.receiver(somewhere(size, k));
}

template <auto update, stencils::takes in = {}, class T = f32>
void agrees(const extents& size, const boundaries& some, std::initializer_list<options> ways) {
  const boundaries sides = updates::of_fields(some, in.fields);
  stencils::serial<update, in, T> expected(size, sides);
  updates::fill<update, in, T>(expected, size.count());
  add_stations<in, T>(expected, size);
  expected.run(steps);
  const auto fields = updates::all_fields(expected, in.fields);
  for (const options& how : ways) {
    stencils::simulation<update, in, T> s(size, sides, how);
    updates::fill<update, in, T>(s, size.count());
    add_stations<in, T>(s, size);
    s.run(steps);
    INFO(size.text() << " cells, " << how.wide << " x " << how.high << " PEs, depth " << how.depth
                     << ", tiles " << how.tile_x << " x " << how.tile_y << " x " << how.tile_z);
    for (int f = 0; f < in.fields; ++f) {
      INFO("field " << f);
      CHECK(updates::first_difference(s.values(f), fields[std::size_t(f)]) == -1);
    }
    for (int i = 0; i < 13; ++i) {
      INFO("receiver " << i);
      REQUIRE(s.trace(i).size() == std::size_t{steps});
      CHECK(s.trace(i) == expected.trace(i));
    }
  }
}

const boundary::side odd = boundary::centred_times({-1, -0.5}), even = boundary::centred_times({1, 1}),
                     tilted = boundary::mirrored_times({-1, 0.5}),
                     sponge = boundary::absorbing(3, 0.3, {0.125, 0.5});

const boundaries plane_sides[] = {boundary::fixed,
                                  boundary::periodic,
                                  odd,
                                  even,
                                  {{odd, sponge}, {boundary::open, even}},
                                  {boundary::periodic, {odd, tilted}},
                                  {{tilted, even}, {odd, boundary::open}},
                                  {{even, odd}, boundary::periodic}};
const auto plane_ways = {
    options{1, 1, 1, 1},       options{1, 1, 4, 1},          options{1, 1, 3, 1, 3, 0, 5},
    options{3, 1, 2, 2},       options{1, 2, 1, 2},          options{3, 2, 1, 3},
    options{3, 2, 4, 4, 2, 0}, options{5, 3, 2, 2, 4, 0, 6}, options{}};

}  // namespace

TEST_CASE("stencil: stations on a line") {
  for (const boundaries& sides : {boundaries{boundary::fixed}, boundaries{boundary::periodic},
                                  boundaries{odd}, boundaries{{{even, odd}}}, boundaries{sponge}})
    agrees<updates::line>(
        {103}, sides,
        {{1, 1, 1, 1}, {1, 1, 5, 1, 0, 0, 7}, {4, 1, 1, 2}, {4, 1, 3, 4, 0, 0, 5}, {40, 1, 4, 2}, {}});
}

TEST_CASE("stencil: stations on a plane") {
  for (const boundaries& sides : plane_sides) {
    agrees<updates::heat>({23, 37}, sides, plane_ways);
    agrees<updates::square>({20, 19}, sides, plane_ways);
    agrees<updates::conduct, stencils::takes{2, 1, 2}>({21, 18}, sides, plane_ways);
    agrees<updates::heat, stencils::takes{}, f64>({23, 37}, sides, plane_ways);
  }
}

TEST_CASE("stencil: stations in space") {
  const boundaries space_sides[] = {boundary::fixed,
                                    boundary::periodic,
                                    odd,
                                    {{even, sponge}, {odd, boundary::open}, {odd, sponge}},
                                    {boundary::periodic, {tilted, odd}, {even, odd}}};
  const auto ways = {options{1, 1, 1, 1},          options{1, 1, 4, 1, 3, 2}, options{3, 2, 1, 3},
                     options{2, 3, 3, 2, 4, 3, 8}, options{1, 4, 2, 2},       options{}};
  for (const boundaries& sides : space_sides) {
    agrees<updates::cube, stencils::takes{.scalars = 1}>({7, 8, 18}, sides, ways);
    agrees<updates::wave, stencils::takes{.coefficients = 1}>({9, 10, 17}, sides, ways);
    agrees<updates::conduct_3d, stencils::takes{.coefficients = 1}>({8, 7, 9}, sides, ways);
  }
}

TEST_CASE("stencil: a state goes on with sources and traces, elsewhere and bit by bit") {
  const extents size{21, 18};
  const boundaries sides{{odd, boundary::open}, boundary::periodic};
  constexpr stencils::takes in{2, 1, 2};
  using simulation = stencils::simulation<updates::conduct, in>;
  simulation whole(size, sides, {1, 1, 4, 1}), first(size, sides, {3, 2, 3, 2}),
      second(size, sides, {2, 1, 2, 2});
  for (simulation* s : {&whole, &first, &second}) {
    updates::fill<updates::conduct, in, f32>(*s, size.count());
    add_stations<in, f32>(*s, size);
  }
  whole.run(150);  // several launches
  first.run(71);
  second.run(4);
  const stencils::state<f32> saved = first.save();
  second.restore(saved);
  CHECK(second.time() == 71);
  second.run(79);
  for (int f : {0, 1}) CHECK(second.values(f) == whole.values(f));
  for (int i = 0; i < 13; ++i) CHECK(second.trace(i) == whole.trace(i));
  stencils::state<f32> bare = saved;
  bare.traces.clear();
  second.restore(bare);
  CHECK(second.trace(0).empty());
  bare.now.pop_back();
  CHECK_THROWS_WITH(second.restore(bare),
                    Contains("is after 71 steps and has 1 field now, 2 before, 0 traces and 0 numbers of a "
                             "border; the simulation has 2 fields now, 2 before, 13 receivers and 0 numbers "
                             "of a border"));
  bare = saved, bare.now[1].pop_back();
  CHECK_THROWS_WITH(second.restore(bare), Contains("field 1 has 377 numbers"));
  bare = saved, bare.before[0][7] = std::numeric_limits<f32>::infinity();
  CHECK_THROWS_WITH(second.restore(bare),
                    Contains("the step before of field 0 is not a finite number at index 7"));
  bare = saved, bare.traces[3].push_back(0);
  CHECK_THROWS_WITH(second.restore(bare), Contains("after 71 steps, and its trace 3 has 72 numbers"));
  // a receiver that comes later hears from then on
  const int late = second.receiver({3, 4});
  second.run(5);
  CHECK(second.trace(late).size() == 5);
}

TEST_CASE("stencil: the serial reference has the calls of a simulation") {
  const extents size{9, 7};
  const boundary::side calm = boundary::absorbing(3, 0.3, {0.125});
  const auto of_x = [](int x, int z) { return f32(x * x - z); };
  stencils::simulation<updates::wave_2d> s(size, calm);
  stencils::serial<updates::wave_2d> r(size, calm);
  s.load(of_x), r.load(of_x);
  add_stations<stencils::takes{}, f32>(s, size), add_stations<stencils::takes{}, f32>(r, size);
  s.run(11), r.run(11);
  std::vector<f32> u(63), v(63);
  s.get(u), r.get(v);
  CHECK(u == v);
  CHECK(r.time() == 11);
  for (const int axis : {0, 1}) CHECK(r.slice(axis, 3) == s.slice(axis, 3));
  // a state of one goes on in the other
  const stencils::state<f32> saved = r.save();
  CHECK(saved.before == s.save().before);
  r.run(4), s.run(9), s.restore(saved), s.run(4);
  CHECK(s.values() == r.values());
  CHECK(s.trace(2) == r.trace(2));
  r.restore(saved), r.run(4);
  CHECK(s.values() == r.values());
}

TEST_CASE("stencil: about a centred side a field is odd or even") {
  // sin(k i) is a mode between two odd sides, cos(k i) between even ones
  constexpr int n = 33;
  constexpr f64 k = 3.14159265358979 / (n - 1);
  const auto left = [&](const boundary::side& side, auto mode) {
    constexpr auto heat = [](auto u) { return u(0) + 0.25f * ((u(-1) - u(0)) + (u(1) - u(0))); };
    stencils::simulation<heat, stencils::takes{}, f64> s({n}, side);
    std::vector<f64> u;
    for (int i = 0; i < n; ++i) u.push_back(mode(k * i));
    s.load(u);
    s.run(100);
    f64 off = 0;
    const f64 decay = std::pow(1 - 0.5 * (1 - std::cos(k)), 100);
    const std::vector<f64> found = s.values();
    for (std::size_t i = 0; i < n; ++i) off = std::max(off, std::abs(found[i] - decay * u[i]));
    return off;
  };
  CHECK(left(boundary::centred_times({-1}), [](f64 x) { return std::sin(x); }) < 1e-12);
  CHECK(left(boundary::centred_times({1}), [](f64 x) { return std::cos(x); }) < 1e-12);
}

TEST_CASE("stencil: stations and sides that do not fit are named") {
  stencils::simulation<updates::heat> s({12, 9});
  const auto nothing = [](i64) { return 0.f; };
  CHECK_THROWS_WITH(s.source({12, 3}, nothing),
                    Contains("there is no cell (12, 3) for a source in a grid of 12 x 9 cells, which count "
                             "from 0"));
  CHECK_THROWS_WITH(s.receiver({1, 2, 3}), Contains("there is no cell (1, 2, 3) for a receiver"));
  CHECK_THROWS_WITH(s.receiver({1, -2}), Contains("there is no cell (1, -2)"));
  CHECK_THROWS_WITH(s.source({1, 2}, nothing, 1), Contains("there is no field 1; the update takes 1"));
  CHECK_THROWS_WITH(s.trace(0), Contains("there is no receiver 0; the simulation has none"));
  CHECK_THROWS_WITH(s.source({1, 2}, std::function<f32(i64)>()), Contains("function of a source is empty"));
  stencils::serial<updates::heat> r({16, 16});
  CHECK_THROWS_WITH(r.source({99, 99}, nothing),
                    Contains("there is no cell (99, 99) for a source in a grid"));
  CHECK_THROWS_WITH(r.source({1, 2}, std::function<f32(i64)>()), Contains("function of a source is empty"));
  CHECK_THROWS_WITH(r.receiver({1, 16}), Contains("there is no cell (1, 16) for a receiver"));
  CHECK_THROWS_WITH(r.trace(0), Contains("there is no receiver 0; the simulation has none"));
  CHECK_THROWS_WITH(r.slice(2, 0), Contains("there is no slice 0 along axis 2"));
  const stencils::weighted_cell<f32> heavy{{1, 2}, std::numeric_limits<f32>::infinity()};
  CHECK_THROWS_WITH(s.receiver(std::span(&heavy, 1)), Contains("weight of a cell of a receiver"));
  s.source({1, 2}, [](i64 n) { return n == 70 ? std::numeric_limits<f32>::quiet_NaN() : 0.f; });
  s.run(70);
  CHECK_THROWS_WITH(s.run(1), Contains("what source 0 emits in step 70 is not a finite number"));
  CHECK_THROWS_WITH((stencils::simulation<updates::square>({8, 2}, boundary::centred_times({1}))),
                    Contains("axis 1 of a grid of 8 x 2 has 2 cells") &&
                        Contains("beside a centred side; take at least 3 cells"));
}
