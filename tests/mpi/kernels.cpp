// SPDX-License-Identifier: MIT
// Kernels on several ranks: each rank has only its part of the problem, and the results are, bit by bit, those
// of one process.
#include <wsl/kernel/gemm.hpp>
#include <wsl/kernel/monte_carlo/lookups.hpp>
#include <wsl/kernel/monte_carlo/transport.hpp>
#include <wsl/kernel/monte_carlo/wafer.hpp>
#include <wsl/kernel/stencil.hpp>
#include <wsl/kernel/tlr/multiply.hpp>
#include <wsl/kernel/wave.hpp>
#include <wsl/kernel/wave25.hpp>
#include <wsl/mpi.hpp>
#include <wsl/support/file_reader.hpp>
#include <wsl/support/whole_file.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "../unit/kernel/stencil_updates.hpp"
#include "common_folder.hpp"
#include "memory_held.hpp"

using namespace wsl;

namespace {

wave25::problem some_waves(wave25::border sides) {
  wave25::problem p{.size = {40, 20, 24}, .spacing = 10, .edge = sides, .edge_width = 6};
  p.velocity.resize(p.size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 2000.f + static_cast<f32>(i * 7919 % 1000);
  p.sources = {{.at = {20, 10, 12}, .peak_hz = 12, .delay = 0.02},
               {.peak_hz = 9, .delay = 0.02, .place = wave25::point{202.5, 97, 111}}};
  p.receivers = {{3, 10, 5}, wave25::point{195, 101, 60}, {39, 19, 23}};
  return p;
}

template <class Simulation>
void write_together(Simulation& s, const std::string& name) {
  mpi::joint_file file(mpi::world().who, name, checkpoint_size(s));
  write_checkpoint(s, file), file.finish();
}

/// A file of the last rank that ends while it is read is the failure of all: in its beginning, in the part of
/// which it makes the checksum, and in its cells.
template <class Simulation>
void one_cannot_read(Simulation& s, const std::string& bytes, const common_folder& folder) {
  const auto who = mpi::world().who;
  if (who.size() == 1) return;
  const bool is_last = who.rank() == who.size() - 1;
  const std::string own = folder.file(is_last ? "last" : "others");
  const auto cut_to = [&](std::size_t size, auto read) {
    who.sum(0);
    if (is_last || who.root()) support::write_whole_file(own, bytes);
    who.sum(0);
    const support::file_reader from(own);
    if (is_last) std::filesystem::resize_file(own, size);
    INFO(size << " of " << bytes.size() << " bytes");
    CHECK_THROWS_WITH(read(from), Catch::Contains("wsl: cannot read " + folder.file("last") +
                                                  ": it ends too early: it was cut short while it was read "
                                                  "(on rank "));
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{24}, bytes.size() - 9})
    cut_to(size, [&](const support::file_reader& from) { read_checkpoint(s, from); });
  if constexpr (requires { s.of().receivers; }) {
    namespace checks = wave25::checks;
    const checks::bytes_reader whole(bytes);
    auto in = checks::opened(whole, bytes, checks::of_wave25, wave25::fingerprint_of(s.of()));
    checks::saved_state saved = checks::saved_in(in, s.of());
    cut_to(saved.before[0].at, [&](const support::file_reader& from) {
      checks::go_on(s, from, std::move(saved), checks::of_wave25);
    });
  }
}

/// What ranks write together are the bytes of one process; others go on from them, and so does one process.
template <class Simulation, class Other>
void goes_on_from_a_file(Simulation& spread, const std::string& bytes, Other other_of) {
  const common_folder folder;
  write_together(spread, folder.file("checkpoint"));
  const support::file_reader written(folder.file("checkpoint"));
  REQUIRE(written.size() == bytes.size());
  std::string found(bytes.size(), '\0');
  written.read(0, found.data(), found.size());
  CHECK(found == bytes);
  auto other = other_of();
  read_checkpoint(other, written);
  CHECK(other.time() == spread.time());
  CHECK(to_bytes(other.save(), other.of()) == bytes);
  // Damage is found on all ranks, whichever reads it.
  found[found.size() / 3] ^= 1;
  if (mpi::world().root()) support::write_whole_file(folder.file("damaged"), found);
  mpi::world().who.sum(0);
  CHECK_THROWS_WITH(read_checkpoint(other, support::file_reader(folder.file("damaged"))),
                    Catch::Contains(folder.file("damaged") + " has a wrong checksum: it was cut short"));
  one_cannot_read(other, bytes, folder);
}

/// Each cell takes the value of its neighbour in x.
constexpr auto from_the_west = [](auto u) { return 1.f * u(-1, 0, 0); };

}  // namespace

TEST_CASE("waves on ranks are those of one process") {
  for (const wave25::border sides :
       {wave25::border::reflects, wave25::border::sponge, wave25::border::pml, wave25::border::cpml}) {
    const wave25::problem p = some_waves(sides);
    const wave25::options how{.wide = 4, .high = 2, .depth = 2, .threads = 1};
    wave25::simulation alone{p, how}, spread{p, how, mpi::world()};
    alone.run(25), spread.run(25);
    CHECK(spread.field() == alone.field());
    for (std::size_t k = 0; k < p.receivers.size(); ++k) CHECK(spread.trace(k) == alone.trace(k));
    const wave25::state saved = spread.save(), expected = alone.save();
    CHECK(saved.before == expected.before);
    CHECK(saved.phi == expected.phi);
    goes_on_from_a_file(spread, to_bytes(expected, p), [&] {
      return wave25::simulation{p, {.wide = 3, .high = 3, .depth = 3, .threads = 1}, mpi::world()};
    });
    // and on from there, with another partition, whose borders drift
    wave25::simulation other{p, {.wide = 2, .high = 2, .depth = 2, .threads = 1}, mpi::world()};
    CHECK(other.cut().drifts());
    other.restore(saved);
    other.run(7), alone.run(7);
    CHECK(other.field() == alone.field());
    CHECK(other.trace(1) == alone.trace(1));
  }
}

TEST_CASE("what fails on one rank while a simulation is made fails on all of them") {
  const int rank = mpi::world().who.rank(), ranks = mpi::world().size();
  const auto says = [](auto make) -> std::string {
    try {
      make();
    } catch (const std::exception& e) { return e.what(); }
    return {};
  };
  // Only one of them has the last planes of a model that cannot be read.
  wave25::problem p = some_waves(wave25::border::reflects);
  p.velocity.clear();
  p.model = {2000, 2000, 1, [](const grid::lines& l, std::span<f32> to) {
               if (l.x.to > 36) throw std::runtime_error("the last planes are missing");
               std::fill(to.begin(), to.end(), 2000.f);
             }};
  p.sources.clear(), p.receivers.clear();
  const wave25::options how{.wide = 4, .depth = 1, .threads = 1};
  const std::string why = says([&] { wave25::simulation{p, how, mpi::world()}; }),
                    where = ranks == 1 ? "" : " (PE(3, 0) on rank " + std::to_string(ranks - 1) + ")";
  CHECK(why == "the last planes are missing" + where);
  // The last one has too little memory for its part, of the wave's grid and of a stencil's.
  const auto has_no_room = [&](auto make) {
    std::string text;
    {
      std::optional<data_limit> limit;
      if (rank == ranks - 1) limit.emplace(u64{16} << 20);
      text = says(make);
    }
    INFO(text);
    CHECK((ranks == 1 ? text == "std::bad_alloc" ||
                            text.find(" bytes for its PEs, and there is not enough") != text.npos
                      : (text.find("there is not enough memory") != text.npos &&
                         text.find(" rank " + std::to_string(ranks - 1)) != text.npos)));
  };
  if (ranks > 1) {
    // Arguments that only one of them has, and a file that it cannot open.
    wave25::problem even{.size = {40, 20, 24}};
    wave25::options sharing{.wide = 4, .depth = 1, .threads = 1};
    wave25::simulation s{even, sharing, mpi::world()};
    common_folder folder;
    if (rank == 0) support::write_whole_file(folder.file("damaged"), "damaged");
    const std::string missing = folder.file(rank == 1 ? "missing" : "damaged");
    mpi::world().who.sum(0);
    CHECK_THROWS_WITH(read_checkpoint(s, missing),
                      Catch::Contains("missing: No such file or directory (on rank 1)"));
    CHECK_THROWS_WITH(
        s.slice(0, rank == 1 ? 3 : 30),
        Catch::Contains("call of a wave25 simulation than rank 0: slice(0, 3) instead of slice(0, 30);"));
    if (rank == 1) even.velocity = {-5};
    CHECK_THROWS_WITH((wave25::simulation{even, sharing, mpi::world()}),
                      Catch::Contains(rank == 1 ? "velocit" : "another problem or partition"));
    stencils::options parts{.threads = 1};
    if (rank == 1) parts.depth = -1;
    CHECK_THROWS(
        (stencils::simulation<from_the_west>({40, 20, 24}, stencils::boundary::fixed, parts, mpi::world())));
    s.run(1);  // all go on
  }
  if (has_sanitizer) return;
  const wave25::problem large{.size = {128, 512, 256}};
  has_no_room([&] { wave25::simulation{large, {.wide = 4, .depth = 1, .threads = 1}, mpi::world()}; });
  has_no_room([&] {
    stencils::simulation<from_the_west>({128, 512, 256}, stencils::boundary::fixed,
                                        {.wide = 4, .depth = 1, .threads = 1}, mpi::world());
  });
}

TEST_CASE("waves in other media on ranks are those of one process") {
  const auto is_one = [](const auto& medium, wave25::border sides) {
    const seismic::problem p{some_waves(sides), medium};
    const seismic::options how{.wide = 4, .high = 2, .depth = 2, .threads = 1};
    seismic::simulation alone{p, how}, spread{p, how, mpi::world()};
    alone.run(75), spread.run(75);
    CHECK(spread.field() == alone.field());
    CHECK(spread.slice(2, 12) == alone.slice(2, 12));
    for (std::size_t k = 0; k < p.shot.receivers.size(); ++k) CHECK(spread.trace(k) == alone.trace(k));
    const seismic::state saved = spread.save();
    CHECK(to_bytes(saved, p) == to_bytes(alone.save(), p));
    goes_on_from_a_file(spread, to_bytes(alone.save(), p), [&] {
      return seismic::simulation{p, {.wide = 3, .high = 3, .depth = 3, .threads = 1}, mpi::world()};
    });
    seismic::simulation other{p, {.wide = 3, .depth = 3, .threads = 1}, mpi::world()};
    other.restore(saved);
    other.run(7), alone.run(7);
    CHECK(other.field() == alone.field());
    CHECK(other.trace(1) == alone.trace(1));
  };
  for (const wave25::border sides : {wave25::border::sponge, wave25::border::cpml}) {
    std::vector<f32> rho;
    for (std::size_t i = 0; i < some_waves(sides).size.count(); ++i)
      rho.push_back(1.f + static_cast<f32>(i * 6007 % 10));
    is_one(seismic::variable_density{rho}, sides);
    is_one(seismic::vti{0.2f, 0.1f}, sides);
  }
  if (mpi::world().size() == 1) return;
  const seismic::problem other{some_waves(wave25::border::sponge),
                               seismic::variable_density{mpi::world().rank() == 1 ? 2.f : 1.f}};
  CHECK_THROWS_WITH((seismic::simulation{other, {.wide = 4}, mpi::world()}),
                    Catch::Contains("rank 1 has another problem than rank 0"));
}

TEST_CASE("an image on ranks is that of one process") {
  const auto is_one = [](const auto& p, f64 memory) {
    const auto rest = [](const wave25::traces& synthetic) { return synthetic; };
    const wave25::imaging_options how{
        .memory = memory, .every = 2, .how = {.wide = 4, .high = 2, .depth = 2, .threads = 1}};
    const wave25::image expected = wave25::migrate(p, 41, rest, how);
    const wave25::spread_image found = wave25::migrate_on_pes(p, 41, rest, how, mpi::world());
    CHECK(found.misfit == expected.misfit);
    CHECK(expected.misfit > 0);
    const auto are_same = [&](const grid::line_array<const f32>& own, const std::vector<f32>& whole) {
      bool same = true;
      grid::each_own_line(found.blocks, own, [&](int x, int y, std::span<const f32> line) {
        same &= std::equal(line.begin(), line.end(), &whole[found.size.index({x, y, 0})]);
      });
      return same;
    };
    CHECK(are_same(found.gradient, expected.gradient));
    CHECK(are_same(found.illumination, expected.illumination));
    CHECK_THROWS_WITH(wave25::migrate_on_pes(p, 41, rest, {.memory = 1e4, .how = how.how}, mpi::world()),
                      Catch::Contains("imaging needs memory for at least"));
  };
  const f64 field = 4. * static_cast<f64>(some_waves(wave25::border::cpml).size.count());
  for (const wave25::border sides : {wave25::border::pml, wave25::border::cpml})
    is_one(some_waves(sides), 9 * field);
  is_one(seismic::problem{some_waves(wave25::border::cpml), seismic::variable_density{2.f}}, 9 * field);
  is_one(seismic::problem{some_waves(wave25::border::sponge), seismic::vti{0.2f, 0.1f}}, 1e9);
}

TEST_CASE("another problem on another rank is refused") {
  if (mpi::world().size() == 1) return;
  wave25::problem p = some_waves(wave25::border::reflects);
  if (mpi::world().rank() == 1) p.sources[0].peak_hz = 13;
  CHECK_THROWS_WITH((wave25::simulation{p, {.wide = 4}, mpi::world()}),
                    Catch::Contains("rank 1 has another problem or partition than rank 0"));
  CHECK_THROWS_WITH(
      (stencils::simulation<updates::square>({20, 11 + mpi::world().rank() % 2}, stencils::boundary::periodic,
                                             {.wide = 2, .depth = 1}, mpi::world())),
      Catch::Contains("rank 1 has another grid of a stencil than rank 0: 20 x 12 instead of 20 x 11;"));
}

TEST_CASE("ranks that ask for other steps, or whose sources differ, are refused on all of them") {
  if (mpi::world().size() == 1) return;
  const bool other = mpi::world().rank() == 1;
  wave25::simulation waves{some_waves(wave25::border::reflects), {.wide = 4}, mpi::world()};
  CHECK_THROWS_WITH(
      waves.run(other ? 100 : 10),
      Catch::Contains(
          "rank 1 has another call of a wave25 simulation than rank 0: run(100) instead of run(10);"));
  stencils::simulation<updates::heat> s({20, 12}, {}, {.wide = 2}, mpi::world());
  const auto differs = [](const std::string& what) { return Catch::Contains("rank 1 has another " + what); };
  CHECK_THROWS_WITH(
      s.run(other ? 100 : 10),
      differs("call of a stencil's simulation than rank 0: run(100) instead of run(10); start the same"));
  s.source({3, 4}, [=](i64 n) { return n == 70 && other ? std::numeric_limits<f32>::quiet_NaN() : 1.f; });
  s.run(70);  // what they emit is the same so far
  CHECK_THROWS_WITH(s.run(1),
                    differs("sample of source 0 of a stencil in step 70 than rank 0: nan instead of 1;"));
  s.receiver({other ? 5 : 6, 7});
  CHECK_THROWS_WITH(s.run(1),
                    differs("cell of receiver 0 of a stencil than rank 0: (5, 7) of field 0 with the "
                            "weight 1 instead of (6, 7) of field 0 with the weight 1;"));
  if (other) s.source({1, 1}, [](i64) { return 1.f; });
  CHECK_THROWS_WITH(s.run(1), differs("number of sources of a stencil than rank 0: 2 instead of 1;"));
}

TEST_CASE("ranks that make other stencils are told what differs") {
  if (mpi::world().size() == 1) return;
  const bool other = mpi::world().rank() == 1;
  const auto differs = [](const std::string& what) { return Catch::Contains("rank 1 has another " + what); };
  static constexpr auto half = [](auto u) { return 0.5f * u(0, 1); };
  static constexpr auto third = [](auto u) { return 0.25f * u(0, 1); };
  const stencils::options how{.wide = 2, .threads = 1};
  const auto make = [&]<auto update>(const stencils::boundaries& sides) {
    stencils::simulation<update>({20, 12}, sides, how, mpi::world());
  };
  // The footprints are the same.
  const auto updates = [&] {
    other ? make.template operator()<third>({}) : make.template operator()<half>({});
  };
  CHECK_THROWS_WITH(updates(), differs("update of a stencil than rank 0: one with the fingerprint "));
  CHECK_THROWS_WITH(
      make.template operator()<half>({{}, {{}, stencils::boundary::fixed_at({other ? 0.1 : 1})}}),
      differs("high side of axis 1 of a stencil than rank 0: fixed, 0.1 instead of fixed, 1;"));
  CHECK_THROWS_WITH((stencils::simulation<half>({20, 12}, {}, {.wide = other ? 3 : 2}, mpi::world())),
                    differs("number of PEs of a stencil than rank 0: 3 x 1 instead of 2 x 1;"));
  const auto numbers = [&] {
    if (other) make.template operator()<half>({});
    else stencils::simulation<half, stencils::takes{}, f64>({20, 12}, {}, how, mpi::world());
  };
  CHECK_THROWS_WITH(numbers(), differs("number type of a stencil than rank 0: f32 instead of f64;"));
  const auto refused = [&] {
    stencils::wafer_simulation<half, stencils::per_pe{10, 12}>({20, other ? 0 : 12}, {}, wse2, mpi::world());
  };
  CHECK_THROWS_WITH(refused(), Catch::Contains("axis 1 of a grid of 20 x 0 has 0 cells"));
}

TEST_CASE("ranks that give other fields, coefficients or states are refused on all of them") {
  if (mpi::world().size() == 1) return;
  const bool other = mpi::world().rank() == 1;
  const auto array = [&](std::size_t n, std::size_t at, f32 there) {
    std::vector<f32> u(n, 1.f);
    u[at] = other ? there : 1.f;
    return u;
  };
  constexpr stencils::takes in{.fields = 2, .coefficients = 1, .scalars = 2};
  stencils::simulation<updates::conduct, in> s({20, 12}, {}, {.wide = 2}, mpi::world());
  // one number of 240, also where this rank has no cell; its sign; a number that is none, on one rank alone
  for (const std::size_t at : {0u, 100u, 239u})
    for (const f32 there : {2.f, -1.f, std::numeric_limits<f32>::quiet_NaN()}) {
      CHECK_THROWS_WITH(s.load(array(240, at, there)),
                        Catch::Contains("rank 1 has another field 0 of a stencil than rank 0"));
      CHECK_THROWS_WITH(
          s.load_before(array(240, at, there), 1),
          Catch::Contains("rank 1 has another step before of field 1 of a stencil than rank 0"));
      CHECK_THROWS_WITH(s.coefficient(0, array(240, at, there)),
                        Catch::Contains("rank 1 has another coefficient 0 of a stencil than rank 0"));
    }
  CHECK_THROWS_WITH(s.load(array(other ? 239 : 240, 3, 1)), Catch::Contains("rank 1 has another field 0"));
  std::vector<f32> signs(240, 1.f);
  if (other)
    for (const std::size_t i : {17u, 33u, 49u, 65u}) signs[i] = -1;
  CHECK_THROWS_WITH(s.load(signs), Catch::Contains("rank 1 has another field 0"));
  // all ranks lack the same, or learn which one has what others have not
  CHECK_THROWS_WITH(s.run(1), Catch::Contains("coefficient 0 was never given"));
  const auto ones = [](int, int) { return 1.f; };
  if (other) CHECK_THROWS_WITH(s.coefficient(0, ones), Catch::Contains("coefficient(0) instead of run(1)"));
  else CHECK_THROWS_WITH(s.run(1), Catch::Contains("coefficient(0) instead of run(1)"));
  s.coefficient(0, ones), s.scalar(0, 0.1f), s.scalar(1, other ? 0.3f : 0.2f);
  CHECK_THROWS_WITH(
      s.run(1), Catch::Contains("rank 1 has another scalar 1 of a stencil than rank 0: 0.3 instead of 0.2;"));
  s.scalar(1, 0.1f);
  // a function gives each rank its own cells
  s.load([&](int x, int) { return other && x < 10 ? 7.f : 1.f; });
  s.load(array(240, 0, 1)), s.run(2);
  stencils::state<f32> saved = s.save();
  if (other) saved.now[0][7] += 1;
  CHECK_THROWS_WITH(s.restore(saved),
                    Catch::Contains("rank 1 has another field 0 of a stencil's state than rank 0"));
  CHECK(s.time() == 2);
  CHECK_THROWS_WITH(s.run(other ? -1 : 1), Catch::Contains("run(-1) instead of run(1)"));

  const wave25::problem p = some_waves(wave25::border::cpml);
  const auto refuses = [&](auto&& waves, auto change, const char* what) {
    waves.run(3);
    auto state = waves.save();
    if (other) change(state);
    const std::string of = std::string(" of a ") + what;
    CHECK_THROWS_WITH(waves.restore(state), Catch::Contains("rank 1 has another ") && Catch::Contains(of));
    auto traces = state.traces;
    if (other) traces[0].clear();
    CHECK_THROWS_WITH(waves.restore(3, traces, [](const auto&) {}), Catch::Contains("rank 1 has another ") &&
                                                                        Catch::Contains("trace") &&
                                                                        Catch::Contains(of));
  };
  refuses(
      wave25::simulation{p, {.wide = 4}, mpi::world()}, [](wave25::state& w) { w.phi.back() = 1; },
      "wave25 simulation");
  refuses(
      seismic::simulation{seismic::problem{p, seismic::variable_density{2.f}}, {.wide = 4}, mpi::world()},
      [](seismic::state& w) { w.before[0].pop_back(); }, "stencil");
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
    const auto emits = [](i64 n) { return static_cast<f32>(n % 7); };
    for (auto* s : {&alone, &spread})
      s->source({3, 20}, emits), s->receiver({3, 20}), s->receiver({32, 0}), s->run(100);
    CHECK(spread.values() == alone.values());
    for (int i : {0, 1}) CHECK(spread.trace(i) == alone.trace(i));
    CHECK(spread.slice(0, 20) == alone.slice(0, 20));
    CHECK(spread.slice(1, 20) == alone.slice(1, 20));
    CHECK_THROWS_WITH(spread.slice(1, 21), Catch::Contains("no slice 21 along axis 1 of a grid of 33 x 21"));
  }
}

TEST_CASE("a rank has its part of a problem only") {
  if (has_sanitizer) return;
  const wave25::problem p{.size = {512, 64, 240}};
  const int ranks = mpi::world().size();
  const u64 before = memory_held();
  wave25::simulation s{p, {.wide = 8, .depth = 1, .threads = 1}, mpi::world()};
  s.run(2);
  // Two fields. A PE has 64 x 64 lines of its own, 4 planes of each neighbour, and 4 lines of zeros around all;
  // and a field begins and ends in pages of 2 MiB.
  const u64 fields = 2 * sizeof(f32) * p.size.count(),
            of_a_pe = fields / 8 * (80 * 72) / (64 * 64) + (u64{8} << 20);
  const u64 pes = static_cast<u64>((8 + ranks - 1) / ranks), mine = memory_held() - before;
  CHECK(mine < pes * of_a_pe + (u64{4} << 20));
  if (ranks <= 8) CHECK(mine > fields / static_cast<u64>(ranks) / 2);
}

TEST_CASE("a problem of four times a rank's memory runs on four ranks") {
  if (has_sanitizer) return;  // whose own memory the limit would count
  constexpr int nx = 512, ny = 128, nz = 240, steps = 6;
  const u64 fields = 2 * sizeof(f32) * u64{nx} * ny * nz;  // 126 MB
  const auto start = [](int x, int y, int z) { return static_cast<f32>(x % 37 + 40 * (y % 29) + z % 13); };
  const int ranks = mpi::world().size();  // MPI has its own memory before there is a limit
  const data_limit limit(fields / 3);
  const auto run = [&] {
    stencils::simulation<from_the_west> s({nx, ny, nz}, stencils::boundary::periodic,
                                          {.wide = 8, .depth = 1, .threads = 1}, mpi::world());
    s.load(start);
    s.run(steps);
    const std::vector<f32> across = s.slice(1, 77), face = s.slice(0, steps + 3), layer = s.slice(2, 239);
    bool right = across.size() == nx * nz && face.size() == ny * nz && layer.size() == nx * ny;
    for (int x = 0; x < nx && right; ++x)
      for (int z = 0; z < nz; ++z)
        right &= across[static_cast<std::size_t>(x * nz + z)] == start((x + nx - steps) % nx, 77, z);
    for (int y = 0; y < ny && right; ++y) {
      for (int z = 0; z < nz; ++z) right &= face[static_cast<std::size_t>(y * nz + z)] == start(3, y, z);
      right &= layer[static_cast<std::size_t>(500 * ny + y)] == start(500 - steps, y, 239);
    }
    return right;
  };
  if (ranks == 1)
    CHECK_THROWS_WITH(run(), Catch::Contains(" bytes for its PEs, and there is not enough memory"));
  if (ranks >= 4) CHECK(run());
}

TEST_CASE("a run of more than a rank's memory is read, run, saved, resumed and written by four ranks") {
  if (has_sanitizer) return;  // whose own memory the limit would count
  constexpr grid::cells size{512, 160, 200};
  constexpr u64 bytes = sizeof(f32) * u64{512} * 160 * 200;  // 66 MB of velocities, and as many of each field
  const mpi::ranks who = mpi::world().who;
  const int ranks = who.size();
  if (ranks == 2 || ranks == 3) return;
  const common_folder folder;
  const std::string model = folder.file("model"), field = folder.file("field"),
                    checkpoint = folder.file("checkpoint");
  const auto velocity = [](int x, int y, int z) {
    return 1500.f + static_cast<f32>((x + 3 * y + 7 * z) % 500);
  };
  const auto planes = [&](const std::string& file, auto number) {  // by all ranks, each some of the planes
    mpi::joint_file f(who, file, bytes);
    std::vector<f32> plane(std::size_t{160} * 200);
    for (int x = 0; x < size.x; ++x) {
      support::file_run run{static_cast<u64>(x) * plane.size() * sizeof(f32), 0};
      if (x % who.size() == who.rank()) {
        run.size = plane.size() * sizeof(f32);
        for (int y = 0; y < size.y; ++y)
          for (int z = 0; z < size.z; ++z) plane[static_cast<std::size_t>(y * size.z + z)] = number(x, y, z);
      }
      f.write({&run, 1}, plane.data());
    }
    f.finish();
  };
  planes(model, velocity);
  const support::file_reader in(model);
  wave25::problem p{.size = size, .spacing = 10};
  p.velocity = {};
  p.model = {1500, 1999, 1, [&](const grid::lines& some, std::span<f32> to) {
               const std::size_t n = static_cast<std::size_t>(some.y.size()) * 200;
               for (int x = some.x.from; x < some.x.to; ++x)
                 in.read(4 * size.index({x, some.y.from, 0}),
                         &to[static_cast<std::size_t>(x - some.x.from) * n], 4 * n);
             }};
  p.sources = {{.at = {255, 80, 100}, .peak_hz = 12, .delay = 0.01}};
  const auto run = [&] {
    {
      wave25::simulation s{p, {.wide = 8, .depth = 1, .threads = 1}, mpi::world()};
      s.run(4);
      write_together(s, checkpoint);
    }
    wave25::simulation s{p, {.wide = 4, .high = 2, .depth = 1, .threads = 1}, mpi::world()};
    read_checkpoint(s, support::file_reader(checkpoint));
    s.run(2);
    mpi::joint_file f(who, field, bytes);
    const grid::state_on_pes<f32> where = s.on_pes();
    grid::write(f, 0, where.blocks, where.field), f.finish();
  };
  {
    // A rank of four has a quarter of velocities and two fields, and halos; MPI has buffers for the files. One
    // that had a whole state would have two fields of all cells, as numbers and as bytes of their file.
    const data_limit limit(4 * bytes);
    if (ranks == 1) CHECK_THROWS_AS(run(), std::bad_alloc);
    else run();
  }
  if (ranks >= 4 && who.root()) {
    // the same as of one process, whose model is in memory
    wave25::problem whole = p;
    whole.model = {};
    whole.velocity.resize(size.count());
    for (int x = 0; x < size.x; ++x)
      for (int y = 0; y < size.y; ++y)
        for (int z = 0; z < size.z; ++z) whole.velocity[size.index({x, y, z})] = velocity(x, y, z);
    wave25::simulation alone{whole, {.wide = 3, .depth = 2, .threads = 1}};
    alone.run(6);
    const std::vector<f32> expected = alone.field();
    const support::file_reader written(field);
    REQUIRE(written.size() == bytes);
    std::vector<f32> found(size.count());
    written.read(0, found.data(), bytes);
    CHECK(std::memcmp(found.data(), expected.data(), bytes) == 0);
    CHECK(expected[size.index({258, 80, 100})] != 0);
  }
}

TEST_CASE("neutrons and lookups on ranks are those of one process") {
  using namespace monte_carlo;
  const medium plutonium(
      macroscopic{.total = 0.3264, .absorption = 0.101184, .fission = 0.0816, .nu_fission = 0.264384});
  const body ball{shape::sphere, 6.082547};
  const transport_grid row{.columns = 5, .threads = 1};
  transport_fabric alone{plutonium, ball, row}, spread{plutonium, ball, row, mpi::world()};
  const transport_settings s{.batches = 6, .inactive = 3, .particles = 1'000, .bins = 3};
  const criticality_result one = alone.criticality(s), several = spread.criticality(s);
  CHECK(several.history == one.history);
  CHECK(several.k.mean == one.k.mean);
  CHECK(several.tallies.flux[2].mean == one.tallies.flux[2].mean);
  CHECK(several.tallies.leaked_far.error == one.tallies.leaked_far.error);

  const reactor core = xsbench_reactor(68, 300);
  const lookup_grid grid{.columns = 3, .rows = 2, .threads = 1, .batch = 5'000};
  lookup_fabric here{core, grid}, there{core, grid, mpi::world()};
  CHECK(there.events(0, 12'000).largest == here.events(0, 12'000).largest);
  CHECK(there.histories(0, 300, 5).largest == here.histories(0, 300, 5).largest);
  CHECK(there.lookups_a_pe().max == here.lookups_a_pe().max);

  const fuel_problem p = make_fuel_problem(3'000, 20, 200);
  const wafer_grid band{.columns = 3, .rows = 4, .threads = 1};
  wafer_fabric<> a{p.material, band}, b{p.material, band, host, mpi::world()};
  const wafer_result expected = a.look_up(p.energies), found = b.look_up(p.energies);
  CHECK(found.found == expected.found);
  CHECK(found.sorted.max == expected.sorted.max);

  if (mpi::world().size() == 1) return;
  // What is another on rank 1 would be computed of a mixture.
  const int other = mpi::world().rank() == 1 ? 1 : 0;
  transport_settings seeded = s;
  seeded.seed += static_cast<u64>(other);
  const std::string settings = support::joined(
      {"rank 1 has another seed of a transport run than rank 0: ", s.seed + 1, " instead of ", s.seed, ";"});
  CHECK_THROWS_WITH(spread.criticality(seeded), Catch::Contains(settings));
  CHECK_THROWS_WITH(spread.fixed_source(seeded), Catch::Contains(settings));
  CHECK_THROWS_WITH(
      there.events(0, static_cast<u64>(100 + other)),
      Catch::Contains(
          "rank 1 has another range of lookups than rank 0: events(0, 101) instead of events(0, 100);"));
  CHECK_THROWS_WITH(there.histories(0, 100, 5 + other), Catch::Contains("range of lookups"));
  CHECK_THROWS_WITH((lookup_fabric{core, spectrum::by_lethargy(0.1 + 0.01 * other, 0.5), grid, mpi::world()}),
                    Catch::Contains("rank 1 has another reactor, spectrum or grid than rank 0"));
  CHECK_THROWS_WITH(b.look_up(p.energies, static_cast<u32>(3 + other)),
                    Catch::Contains("rank 1 has another seed or energy of lookups than rank 0"));
  wafer_grid rounds = band;
  rounds.diffusion_rounds += other;
  CHECK_THROWS_WITH((wafer_fabric<>{p.material, rounds, host, mpi::world()}),
                    Catch::Contains("rank 1 has another material or grid than rank 0"));
}

TEST_CASE("low-rank products on ranks are those of one process") {
  tlr::low_rank<f32> a(300, 220, 64);
  std::vector<f32> x(300);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<f32>(k % 17) - 8;
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      const int rank = 1 + (i + j) % 3;
      std::vector<f32> u(static_cast<std::size_t>(rank * a.rows_of(i).size())),
          v(static_cast<std::size_t>(rank * a.columns_of(j).size()));
      for (std::size_t k = 0; k < u.size(); ++k) u[k] = static_cast<f32>(k % 11) / 3;
      for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<f32>(k % 7) / 5;
      a.set(i, j, {rank, u, v});
    }
  for (const tlr::schedule how : {tlr::schedule::exchange, tlr::schedule::stacked}) {
    const tlr::options o{.pes = 3, .threads = 1, .how = how};
    tlr::multiplier<f32> alone{a, o}, spread{a, o, mpi::world()};
    std::vector<f32> y(300), z(300), s(220), t(220);
    alone(y, std::span<const f32>(x).first(220)), spread(z, std::span<const f32>(x).first(220));
    CHECK(y == z);
    alone(s, x, tlr::operation::transposed), spread(t, x, tlr::operation::transposed);
    CHECK(s == t);
  }
  if (mpi::world().size() == 1) return;
  const int other = mpi::world().rank() == 1 ? 1 : 0;
  tlr::factors<f32> changed = a.at(1, 0);
  changed.v[3] += static_cast<f32>(other);
  a.set(1, 0, changed);
  CHECK_THROWS_WITH((tlr::multiplier<f32>{a, {.pes = 3, .threads = 1}, mpi::world()}),
                    Catch::Contains("rank 1 has another low-rank matrix than rank 0"));
}

TEST_CASE("matrix products on ranks are those of one process") {
  constexpr int m = 150, k = 90, n = 70;
  const auto fill = [](auto& numbers, int seed) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<std::remove_reference_t<decltype(numbers[0])>>(
                       static_cast<int>(i * 7919 % 1000) - seed) /
                   64;
  };
  std::vector<f32> a(m * k), b(k * n), c(m * n), d(m * n);
  fill(a, 300), fill(b, 700);
  for (const gemm_method how : {gemm_method::rows, gemm_method::cannon, gemm_method::summa}) {
    const gemm_options o{.method = how, .side = 3, .threads = 1, .alpha = 0.5, .beta = 2};
    fill(c, 100), fill(d, 100);
    gemm(matrix(c.data(), m, n), matrix(a.data(), m, k), matrix(b.data(), k, n), o);
    gemm(matrix(d.data(), m, n), matrix(a.data(), m, k), matrix(b.data(), k, n), o, mpi::world());
    CHECK(c == d);
    // a C that lies by columns
    fill(c, 100), fill(d, 100);
    gemm(matrix(c.data(), n, m).transposed(), matrix(a.data(), m, k), matrix(b.data(), k, n), o);
    gemm(matrix(d.data(), n, m).transposed(), matrix(a.data(), m, k), matrix(b.data(), k, n), o,
         mpi::world());
    CHECK(c == d);
  }
  if (mpi::world().size() == 1) return;
  const f64 half = mpi::world().rank() == 1 ? 0.25 : 0.5;
  CHECK_THROWS_WITH(gemm(matrix(d.data(), m, n), matrix(a.data(), m, k), matrix(b.data(), k, n),
                         {.side = 3, .threads = 1, .alpha = half}, mpi::world()),
                    Catch::Contains("rank 1 has another shape or factor of a matrix product than rank 0"));
}
