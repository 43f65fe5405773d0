// SPDX-License-Identifier: MIT
// Stencils with a few cells a PE, within the limits of a wafer's machine, against the serial reference, bit
// for bit, on the three engines; and the cycles that the timed engine counts.
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>

#include <catch2/catch.hpp>

#include "stencil_updates.hpp"

using namespace wsl;
namespace boundary = stencils::boundary;
using stencils::boundaries, stencils::extents, stencils::per_pe, stencils::takes;

namespace {

template <auto update, per_pe cells, takes in = {}, class Engine = threaded>
u64 agrees(const extents& size, const boundaries& some, const machine& target = wse2,
           const Engine& engine = {}, int steps = 4) {
  const boundaries sides = updates::of_fields(some, in.fields);
  stencils::serial<update, in> expected(size, sides);
  stencils::wafer_simulation<update, cells, in> s(size, sides, target, engine);
  updates::fill<update, in, f32>(expected, size.count()), updates::fill<update, in, f32>(s, size.count());
  expected.run(steps);
  const u64 cycles = s.run(steps);
  INFO(size.text() << " cells on " << target.name);
  for (int f = 0; f < in.fields; ++f) {
    INFO("field " << f);
    CHECK(updates::first_difference(s.values(f), expected.values(f)) == -1);
  }
  return cycles;
}

const boundary::side tilted = boundary::mirrored_times({-1, 0.5});
const boundary::side warm = boundary::fixed_at({0.75, -0.25});
const boundary::side sponge = boundary::absorbing(2, 0.3, {0.125, 0.5}),
                     wet = boundary::absorbing(3, 0.2, {-0.75, 0.5});

constexpr takes with_coefficient{.coefficients = 1}, with_scalar{.scalars = 1};

template <auto update, per_pe cells, takes in = {}>
using program = typename stencils::wafer_simulation<update, cells, in>::program;

// The routes of a wafer's layouts are proven while compiling.
constexpr layout of_columns = stencils::plan<program<updates::heat_3d, per_pe{1, 1, 100}>>(wse2, 12, 9);
static_assert(routed<of_columns>());
constexpr layout of_plots = stencils::plan<program<updates::square, per_pe{16, 16}>>(wse3, 12, 9);
static_assert(routed<of_plots>());
// The 25-point wave equation with 500 cells along z fits into the memory of a PE.
static_assert(stencils::wafer_simulation<updates::wave, per_pe{1, 1, 500}, with_coefficient>::bytes <
              wse2.memory);

}  // namespace

TEST_CASE("stencil: columns of a wafer") {
  const boundaries some[] = {boundary::fixed,
                             boundary::periodic,
                             sponge,
                             {{warm, boundary::open}, {tilted, sponge}, {boundary::mirrored, warm}},
                             {boundary::periodic, {tilted, boundary::open}, boundary::periodic},
                             {{wet, sponge}, boundary::open, {sponge, wet}}};
  for (const boundaries& sides : some) {
    agrees<updates::heat_3d, per_pe{1, 1, 21}>({5, 4, 21}, sides);
    agrees<updates::wave, per_pe{1, 1, 18}, with_coefficient>({5, 6, 18}, sides);
    agrees<updates::cube, per_pe{1, 1, 9}, with_scalar>({4, 3, 9}, sides, wse3);
    agrees<updates::conduct_3d, per_pe{1, 1, 9}, with_coefficient>({4, 3, 9}, sides);
  }
}

TEST_CASE("stencil: rectangles and lines of a wafer") {
  const boundaries some[] = {boundary::fixed,
                             boundary::periodic,
                             {{warm, boundary::open}, {tilted, sponge}},
                             {{wet, sponge}, {wet, wet}}};
  for (const boundaries& sides : some) {
    agrees<updates::square, per_pe{4, 6}>({11, 17}, sides);
    agrees<updates::conduct, per_pe{5, 5}, takes{2, 1, 2}>({14, 10}, sides, wse3);
  }
  for (const boundary::side& side : {boundary::fixed, boundary::periodic, tilted, sponge})
    agrees<updates::line, per_pe{8}>({37}, side);
}

TEST_CASE("stencil: the reference and the timed engine compute the same bits") {
  const boundaries sides{boundary::periodic, {boundary::open, warm}, sponge};
  agrees<updates::heat_3d, per_pe{1, 1, 12}>({4, 3, 12}, sides, wse2, reference{});
  agrees<updates::heat_3d, per_pe{1, 1, 12}>({4, 3, 12}, sides, wse2, timed{});
  agrees<updates::square, per_pe{4, 5}>({8, 10}, boundary::periodic, wse3, timed{});
}

// A step of the 7-point operator: PEs handle 2 x 4 columns, one word a cycle, and charge seven operations.
TEST_CASE("stencil: the cycles of a step") {
  constexpr int nz = 100, steps = 10;
  const u64 cycles =
      agrees<updates::heat_3d, per_pe{1, 1, nz}>({6, 6, nz}, boundary::fixed, wse2, timed{}, steps);
  const u64 arithmetic = stencils::footprint_of<updates::heat_3d>.operations.cycles(wse2, nz);
  CHECK(cycles > steps * (arithmetic + 4 * nz));
  CHECK(cycles < steps * (arithmetic + 12 * nz));
  const u64 doubled =
      agrees<updates::heat_3d, per_pe{1, 1, nz}>({6, 6, nz}, boundary::fixed, wse2, timed{}, 2 * steps);
  CHECK(f64(doubled) == Approx(2. * f64(cycles)).epsilon(0.05));
}
