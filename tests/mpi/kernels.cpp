// SPDX-License-Identifier: MIT
// Kernels on several ranks: each rank has only its part of the problem, and the results are, bit by bit, those
// of one process.
#include <wsl/kernel/stencil.hpp>
#include <wsl/kernel/wave25.hpp>
#include <wsl/mpi.hpp>

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "../unit/kernel/stencil_updates.hpp"

using namespace wsl;

namespace {

wave25::problem waves(wave25::border sides) {
  wave25::problem p{.size = {40, 20, 24}, .spacing = 10, .edge = sides, .edge_width = 6};
  p.velocity.resize(p.size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 2000.f + static_cast<f32>(i * 7919 % 1000);
  p.sources = {{.at = {20, 10, 12}, .peak_hz = 12, .delay = 0.02},
               {.peak_hz = 9, .delay = 0.02, .place = wave25::point{202.5, 97, 111}}};
  p.receivers = {{3, 10, 5}, wave25::point{195, 101, 60}, {39, 19, 23}};
  return p;
}

/// Bytes of memory that this process has.
u64 resident() {
  std::ifstream of("/proc/self/statm");
  u64 all = 0, in_memory = 0;
  of >> all >> in_memory;
  return in_memory * static_cast<u64>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("waves on ranks are those of one process") {
  for (const wave25::border sides :
       {wave25::border::reflects, wave25::border::sponge, wave25::border::pml, wave25::border::cpml}) {
    const wave25::problem p = waves(sides);
    const wave25::options how{.wide = 4, .high = 2, .depth = 2, .threads = 1};
    wave25::simulation alone{p, how}, spread{p, how, mpi::world()};
    alone.run(25), spread.run(25);
    CHECK(spread.field() == alone.field());
    for (std::size_t k = 0; k < p.receivers.size(); ++k) CHECK(spread.trace(k) == alone.trace(k));
    const wave25::state saved = spread.save(), expected = alone.save();
    CHECK(saved.before == expected.before);
    CHECK(saved.phi == expected.phi);
    // and on from there, with another partition
    wave25::simulation other{p, {.wide = 3, .depth = 3, .threads = 1}, mpi::world()};
    other.restore(saved);
    other.run(7), alone.run(7);
    CHECK(other.field() == alone.field());
    CHECK(other.trace(1) == alone.trace(1));
  }
}

TEST_CASE("another problem on another rank is refused") {
  if (mpi::world().size() == 1) return;
  wave25::problem p = waves(wave25::border::reflects);
  if (mpi::world().rank() == 1) p.sources[0].peak_hz = 13;
  CHECK_THROWS_WITH((wave25::simulation{p, {.wide = 4}, mpi::world()}),
                    Catch::Contains("rank 1 has another problem or partition than rank 0"));
  CHECK_THROWS_WITH(
      (stencils::simulation<updates::square>({20, 11 + mpi::world().rank() % 2}, stencils::boundary::periodic,
                                             {.wide = 2, .depth = 1}, mpi::world())),
      Catch::Contains("rank 1 has another grid, sides or sharing of a stencil than rank 0"));
}

TEST_CASE("stencils on ranks are those of one process") {
  std::vector<f32> start(33 * 21);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<f32>(i * 7919 % 100);
  for (const stencils::boundaries& sides : {stencils::boundaries(stencils::boundary::periodic),
                                            stencils::boundaries(stencils::boundary::fixed)}) {
    const stencils::options how{.wide = 4, .high = 2, .depth = 2, .threads = 1};
    stencils::simulation<updates::square> alone({33, 21}, sides, how),
        spread({33, 21}, sides, how, mpi::world());
    for (auto* s : {&alone, &spread}) s->load(start), s->run(9);
    CHECK(spread.values() == alone.values());
  }
}

TEST_CASE("a rank has its part of a problem only") {
  wave25::problem p{.size = {512, 64, 240}};  // fields and model: 3 words for each of 7.9 million cells
  const int ranks = mpi::world().size();
  const u64 before = resident();
  wave25::simulation s{p, {.wide = 8, .depth = 1, .threads = 1}, mpi::world()};
  s.run(2);
  const u64 fields = 2 * sizeof(f32) * p.size.count(), halos = fields / 8;  // 8 lines beside each 64
  const u64 mine = resident() - before;
  CHECK(mine < (fields + halos) / static_cast<u64>(ranks) * 3 / 2 + (u64{24} << 20));
  if (ranks <= 8) CHECK(mine > fields / static_cast<u64>(ranks) / 2);
}
