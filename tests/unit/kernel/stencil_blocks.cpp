// SPDX-License-Identifier: MIT
// Stencils in blocks of cells on this computer against the serial reference, bit for bit: all numbers of
// axes, radii, kinds of sides, and ways to share the grid out.
#include <wsl/engine/reference.hpp>

#include <catch2/catch.hpp>

#include "stencil_updates.hpp"

using namespace wsl;
namespace boundary = stencils::boundary;
using stencils::boundaries, stencils::extents, stencils::options;

namespace {

constexpr int steps = 9;

template <auto update, stencils::takes in = {}, class T = f32>
void agrees(const extents& size, const boundaries& sides, std::initializer_list<options> ways) {
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
const boundary::side sponge = boundary::absorbing(3, 0.3, {0.125, 0.5});

/// Every kind of side meets every other one along another axis.
const boundaries plane_sides[] = {boundary::fixed,
                                  boundary::open,
                                  boundary::mirrored,
                                  boundary::periodic,
                                  sponge,
                                  {{warm, boundary::open}, {tilted, sponge}},
                                  {{tilted, boundary::open}, {boundary::open, tilted}},
                                  {boundary::periodic, {warm, tilted}},
                                  {{boundary::mirrored, sponge}, boundary::periodic}};

const auto plane_ways = {
    options{1, 1, 1, 1},       options{1, 1, 4, 1},          options{1, 1, 3, 1, 3, 0, 5},
    options{3, 1, 2, 2},       options{1, 2, 1, 2},          options{3, 2, 1, 3},
    options{3, 2, 4, 4, 2, 0}, options{5, 3, 2, 2, 4, 0, 6}, options{}};

}  // namespace

TEST_CASE("stencil: a line of cells") {
  for (const boundaries& sides :
       {boundaries{boundary::fixed}, boundaries{boundary::open}, boundaries{tilted},
        boundaries{boundary::periodic}, boundaries{sponge}, boundaries{{warm, tilted}}})
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
  const boundaries space_sides[] = {boundary::fixed,
                                    boundary::periodic,
                                    sponge,
                                    {{warm, boundary::open}, {tilted, sponge}, {boundary::mirrored, warm}},
                                    {boundary::periodic, {tilted, boundary::open}, boundary::periodic},
                                    {{boundary::open, tilted}, boundary::periodic, {sponge, tilted}}};
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
  const boundaries sides{boundary::periodic, {boundary::open, warm}};
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
