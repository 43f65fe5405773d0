// SPDX-License-Identifier: MIT
// Stencils in blocks of cells on this computer against the serial reference, bit for bit: all numbers of
// axes, radii, kinds of sides, and ways to share the grid out.
#include <wsl/engine/reference.hpp>
#include <wsl/kernel/stencil/array_fingerprint.hpp>

#include <catch2/catch.hpp>

#include "stencil_updates.hpp"

using namespace wsl;
namespace boundary = stencils::boundary;
using stencils::boundaries, stencils::extents, stencils::options;

namespace {

constexpr int steps = 9;

template <auto update, stencils::takes in = {}, class T = f32>
void agrees(const extents& size, const boundaries& some, std::initializer_list<options> ways) {
  const boundaries sides = updates::of_fields(some, in.fields);
  stencils::serial<update, in, T> expected(size, sides);
  updates::fill<update, in, T>(expected, size.count());
  expected.run(steps);
  const auto fields = updates::all_fields(expected, in.fields);
  for (const options& how : ways) {
    stencils::simulation<update, in, T> s(size, sides, how);
    updates::fill<update, in, T>(s, size.count());
    s.run(steps);
    INFO(size.text() << " cells, " << how.wide << " x " << how.high << " PEs, depth " << how.depth
                     << ", tiles " << how.tile_x << " x " << how.tile_y << " x " << how.tile_z);
    for (int f = 0; f < in.fields; ++f) {
      INFO("field " << f);
      CHECK(updates::first_difference(s.values(f), fields[std::size_t(f)]) == -1);
    }
  }
}

const boundary::side tilted = boundary::mirrored_times({-1, 0.5});
const boundary::side warm = boundary::fixed_at({0.75, -0.25});
const boundary::side sponge = boundary::absorbing(3, 0.3, {0.125, 0.5}),
                     wet = boundary::absorbing(11, 0.2, {-0.75, 0.5}),
                     dry = boundary::absorbing(10, 0.4, {0.5, 0.25});

/// Every kind of side meets every other one along another axis.
const boundaries plane_sides[] = {boundary::fixed,
                                  boundary::open,
                                  boundary::mirrored,
                                  boundary::periodic,
                                  sponge,
                                  {{warm, boundary::open}, {tilted, sponge}},
                                  {{tilted, boundary::open}, {boundary::open, tilted}},
                                  {boundary::periodic, {warm, tilted}},
                                  {{boundary::mirrored, sponge}, boundary::periodic},
                                  {{sponge, boundary::open}, {wet, dry}}};

const auto plane_ways = {
    options{1, 1, 1, 1},       options{1, 1, 4, 1},          options{1, 1, 3, 1, 3, 0, 5},
    options{3, 1, 2, 2},       options{1, 2, 1, 2},          options{3, 2, 1, 3},
    options{3, 2, 4, 4, 2, 0}, options{5, 3, 2, 2, 4, 0, 6}, options{}};

}  // namespace

TEST_CASE("stencil: a line of cells") {
  for (const boundaries& sides : {boundaries{boundary::fixed}, boundaries{boundary::open}, boundaries{tilted},
                                  boundaries{boundary::periodic}, boundaries{sponge},
                                  boundaries{{warm, tilted}}, boundaries{{{sponge, wet}}}})
    agrees<updates::line>(
        {103}, sides,
        {{1, 1, 1, 1}, {1, 1, 5, 1, 0, 0, 7}, {4, 1, 1, 2}, {4, 1, 3, 4, 0, 0, 5}, {40, 1, 4, 2}, {}});
}

TEST_CASE("stencil: a plane, a star and a square") {
  for (const boundaries& sides : plane_sides) {
    agrees<updates::heat>({23, 37}, sides, plane_ways);
    agrees<updates::square>({20, 19}, sides, plane_ways);
  }
}

TEST_CASE("stencil: a plane, two fields, a wide square") {
  for (const boundaries& sides : plane_sides)
    agrees<updates::wide_square, stencils::takes{.fields = 2}>({17, 33}, sides, plane_ways);
}

TEST_CASE("stencil: a plane, coefficients around, scalars, and the step before") {
  for (const boundaries& sides : plane_sides)
    agrees<updates::conduct, stencils::takes{2, 1, 2}>({21, 18}, sides, plane_ways);
}

TEST_CASE("stencil: space") {
  const boundary::side thick = boundary::absorbing(6, 0.2, {-0.75});
  const boundaries space_sides[] = {boundary::fixed,
                                    boundary::periodic,
                                    sponge,
                                    {{warm, boundary::open}, {tilted, sponge}, {boundary::mirrored, warm}},
                                    {boundary::periodic, {tilted, boundary::open}, boundary::periodic},
                                    {{boundary::open, tilted}, boundary::periodic, {sponge, tilted}},
                                    {{sponge, boundary::fixed}, {warm, sponge}, {thick, sponge}}};
  const auto ways = {options{1, 1, 1, 1},          options{1, 1, 4, 1, 3, 2}, options{3, 2, 1, 3},
                     options{2, 3, 3, 2, 4, 3, 8}, options{1, 4, 2, 2},       options{}};
  for (const boundaries& sides : space_sides) {
    agrees<updates::heat_3d>({11, 9, 21}, sides, ways);
    agrees<updates::cube, stencils::takes{.scalars = 1}>({7, 8, 18}, sides, ways);
    agrees<updates::wave, stencils::takes{.coefficients = 1}>({9, 10, 17}, sides, ways);
    agrees<updates::conduct_3d, stencils::takes{.coefficients = 1}>({8, 7, 9}, sides, ways);
  }
}

TEST_CASE("stencil: numbers of 64 bits") {
  for (const boundaries& sides : plane_sides) {
    agrees<updates::heat, stencils::takes{}, f64>({23, 37}, sides, plane_ways);
    agrees<updates::roots, stencils::takes{}, f64>({23, 12}, sides, plane_ways);
  }
  agrees<updates::wave, stencils::takes{.coefficients = 1}, f64>({9, 10, 17}, boundary::periodic,
                                                                 {{1, 1, 2, 1}, {3, 2, 2, 2}, {}});
}

TEST_CASE("stencil: the reference engine computes the same bits") {
  const boundaries sides{boundary::periodic, {boundary::open, boundary::fixed_at({0.75})}};
  stencils::serial<updates::square> expected({8, 11}, sides);
  stencils::simulation<updates::square> s({8, 11}, sides, {.wide = 2, .high = 2, .depth = 2}, reference{});
  updates::fill<updates::square, stencils::takes{}, f32>(expected, 88);
  updates::fill<updates::square, stencils::takes{}, f32>(s, 88);
  expected.run(5), s.run(5);
  CHECK(updates::first_difference(s.values(), expected.values()) == -1);
}

TEST_CASE("stencil: a run in parts is the same as one") {
  const boundaries sides{{tilted, boundary::open}, boundary::periodic};
  constexpr stencils::takes in{2, 1, 2};
  stencils::simulation<updates::conduct, in> one({21, 18}, sides, {1, 1, 4, 1}),
      parts({21, 18}, sides, {3, 2, 3, 2});
  updates::fill<updates::conduct, in, f32>(one, 378), updates::fill<updates::conduct, in, f32>(parts, 378);
  one.run(17);
  for (int n : {1, 0, 7, 4, 5}) parts.run(n);
  CHECK(parts.time() == 17);
  for (int f : {0, 1}) CHECK(updates::first_difference(parts.values(f), one.values(f)) == -1);
  // and a field may be loaded anew at any time
  one.load(updates::numbers<f32>(378, 7), 1), parts.load(updates::numbers<f32>(378, 7), 1);
  one.run(3), parts.run(3);
  for (int f : {0, 1}) CHECK(updates::first_difference(parts.values(f), one.values(f)) == -1);
}

TEST_CASE("stencil: each sponge draws cells to the values outside of its own side") {
  constexpr auto stay = [](auto u) { return 1 * u(0, 0); };
  const boundary::side cold = boundary::absorbing(4, 0.5, {-2}), hot = boundary::absorbing(6, 0.25, {3});
  stencils::simulation<stay, stencils::takes{}, f64> s({20, 12}, {{cold, hot}, {hot, boundary::open}});
  s.load([](int, int) { return 1.; });
  s.run(3);
  const std::vector<f64> u = s.values();
  const auto rate = [](f64 strength, int width, int i) {
    return i < width ? strength * (width - i) * (width - i) / (width * width) : 0;
  };
  f64 off = 0;
  for (int x = 0; x < 20; ++x)
    for (int z = 0; z < 12; ++z) {
      // rates of all three sides, as if each drew for a short time in turn
      const f64 of_cold = rate(0.5, 4, x), of_hot = rate(0.25, 6, 19 - x) + rate(0.25, 6, z),
                whole = of_cold + of_hot, rest = whole > 0 ? (3 * of_hot - 2 * of_cold) / whole : 0;
      off = std::max(off, std::abs(u[std::size_t(x * 12 + z)] - (rest + std::exp(-3 * whole) * (1 - rest))));
    }
  CHECK(off < 1e-14);
}

TEST_CASE("stencil: beyond a mirrored side fields and coefficients are those of a doubled grid") {
  constexpr auto update = [](auto u, auto k) {
    return u(0, 0) + 0.03f * (k(2, 0) * (u(2, 0) - u(0, 0)) + k(-2, 0) * (u(-2, 0) - u(0, 0)) +
                              k(0, 1) * (u(0, 1) - u(0, 0)) + k(0, -1) * (u(0, -1) - u(0, 0)));
  };
  constexpr int n = 9, m = 6;
  constexpr stencils::takes in{.coefficients = 1};
  const auto folded = [](int i, int size) { return i < size ? size - 1 - i : i - size; };
  const auto number = [](int x, int z) { return (x * 31 + z * 17) % 23 / 23.; };
  stencils::simulation<update, in, f64> one({n, m}, boundary::mirrored, {.wide = 2, .high = 2, .depth = 2}),
      doubled({2 * n, 2 * m}, boundary::mirrored);
  one.load(number), one.coefficient(0, [&](int x, int z) { return 0.5 + number(z, x); });
  doubled.load([&](int x, int z) { return number(folded(x, n), folded(z, m)); });
  doubled.coefficient(0, [&](int x, int z) { return 0.5 + number(folded(z, m), folded(x, n)); });
  one.run(20), doubled.run(20);
  const std::vector<f64> u = one.values(), v = doubled.values();
  f64 off = 0;
  for (int x = 0; x < n; ++x)
    for (int z = 0; z < m; ++z)
      off = std::max(off, std::abs(u[std::size_t(x * m + z)] - v[std::size_t((n + x) * 2 * m + m + z)]));
  CHECK(off < 1e-14);
}

TEST_CASE("stencil: the second axis is cut where the first one has too few cells for all threads") {
  const auto pes = [](const extents& size, const options& how) {
    stencils::simulation<updates::heat_3d> s(size, boundary::fixed, how);
    return std::pair{s.plan().cut.axis[0].parts, s.plan().cut.axis[1].parts};
  };
  CHECK(pes({64, 64, 4}, {.threads = 4}) == std::pair{4, 1});
  CHECK(pes({8, 64, 4}, {.threads = 4}) == std::pair{1, 4});
  CHECK(pes({31, 128, 4}, {.threads = 16}) == std::pair{2, 8});
  CHECK(pes({8, 20, 4}, {.threads = 16}) == std::pair{1, 2});
  CHECK(pes({64, 64, 4}, {.wide = 2, .threads = 4}) == std::pair{2, 2});
  CHECK(pes({64, 64, 4}, {.high = 2, .threads = 4}) == std::pair{2, 2});
}

TEST_CASE("stencil: a condition selects between plain numbers") {
  static constexpr auto is_larger = [](auto u) { return select(u(0) > u(-1), 2, 0.5f); };
  stencils::simulation<is_larger> s({5}, stencils::boundary::fixed);
  s.load(std::vector<f32>{3, 4, 4, 1, 7});
  s.run(1);
  CHECK(s.values() == std::vector<f32>{2, 2, 0.5f, 0.5f, 2});
}

TEST_CASE("The fingerprint of an array tells changed signs") {
  std::vector<f32> u(64, 1.f);
  const auto print = [&] {
    support::fingerprint f;
    grid::add_array(f, std::span<const f32>(u));
    return f.value();
  };
  const u64 before = print();
  const auto change = [&](std::initializer_list<std::size_t> places) {
    for (const std::size_t i : places) u[i] = -u[i];
  };
  int same = 0;
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = i + 1; j < 64; ++j)
      for (std::size_t k = j; k < 64; ++k) {
        if (k == j) change({i, j});
        else change({i, j, k});
        same += print() == before;
        if (k == j) change({i, j});
        else change({i, j, k});
      }
  CHECK(print() == before);
  CHECK(same == 0);
}

namespace {

/// An update of two fields without neighbours, in blocks, in the reference and on a wafer, beside std.
template <class T, auto update, class Expected>
void is_that_of_std(Expected expected) {
  constexpr stencils::takes in{.fields = 2};
  std::vector<T> u = updates::numbers<T>(7 * 37, 3), v = updates::numbers<T>(7 * 37, 4);
  for (const std::size_t i : {0u, 36u, 100u, 255u})
    u[i] = -T(0), u[i + 1] = T(0), v[i] = u[i + 1], v[i + 1] = u[i];
  for (std::size_t i = 3; i < u.size(); i += 9) v[i] = u[i];
  const auto check = [&](auto&& s) {
    s.load(u, 0), s.load(v, 1), s.run(1);
    const std::vector<T> found = s.values(0);
    bool same = true;  // but for the sign of a zero
    for (std::size_t i = 0; i < found.size(); ++i) same &= found[i] == expected(u[i], v[i]);
    CHECK(same);
  };
  check(stencils::simulation<update, in, T>({7, 37}, boundary::fixed, {2, 1, 1, 1}));
  check(stencils::serial<update, in, T>({7, 37}, boundary::fixed));
  if constexpr (std::is_same_v<T, f32>)
    check(stencils::wafer_simulation<update, stencils::per_pe{4, 20}, in>({7, 37}, boundary::fixed));
}

template <class T>
void functions_are_those_of_std() {
  constexpr auto inverse = [](auto u, auto v) { return std::tuple{1 / abs(u(0, 0)), v(0, 0)}; };
  is_that_of_std<T, inverse>([](T a, T) { return 1 / std::abs(a); });
  constexpr auto root = [](auto u, auto v) { return std::tuple{sqrt(abs(u(0, 0))), v(0, 0)}; };
  is_that_of_std<T, root>([](T a, T) { return std::sqrt(std::abs(a)); });
  constexpr auto least = [](auto u, auto v) { return std::tuple{min(u(0, 0), v(0, 0)), v(0, 0)}; };
  is_that_of_std<T, least>([](T a, T b) { return std::min(a, b); });
  constexpr auto most = [](auto u, auto v) { return std::tuple{max(u(0, 0), v(0, 0)), v(0, 0)}; };
  is_that_of_std<T, most>([](T a, T b) { return std::max(a, b); });
  constexpr auto chosen = [](auto u, auto v) {
    return std::tuple{select((u(0, 0) < v(0, 0)) | (u(0, 0) == 0), u(0, 0) * 2, 3 - v(0, 0)), v(0, 0)};
  };
  is_that_of_std<T, chosen>([](T a, T b) { return a < b || a == 0 ? a * 2 : 3 - b; });
}

}  // namespace

TEST_CASE("stencil: functions of a cell's value are those of std, in all forms") {
  functions_are_those_of_std<f32>();
  functions_are_those_of_std<f64>();
}
