// SPDX-License-Identifier: MIT
// wave25 against its oracles: published numbers, the serial reference, exact solutions of the difference and
// of the differential equation, and laws of physics.
#include <wsl/engine/reference.hpp>
#include <wsl/kernel/wave25.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::wave25;

namespace {

constexpr f64 pi = 3.14159265358979323846;

template <class Cells>
f64 largest(const Cells& u) {
  f64 most = 0;
  for (auto x : u) most = std::max(most, std::abs(static_cast<f64>(x)));
  return most;
}
template <class Cells, class Reference>
f64 largest_error(const Cells& u, const Reference& v) {
  REQUIRE(u.size() == v.size());
  f64 error = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    error = std::max(error, std::abs(static_cast<f64>(u[i]) - static_cast<f64>(v[i])));
  return error;
}
template <class Cells, class Reference>
f64 relative_error(const Cells& u, const Reference& v) {
  return largest_error(u, v) / largest(v);
}

/// A general problem: no symmetry, a velocity in each cell, a source and receivers away from the axes.
problem mixture(const cells& size, border kind) {
  problem p{.size = size, .edge = kind};
  p.edge_width = std::max(1, (std::min({size.x, size.y, size.z}) - 1) / 3);
  p.velocity.resize(size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 1500 + static_cast<f32>(i * 7919 % 2000);
  p.sources = {minimod_source({size.x / 2, size.y / 3, size.z / 2}, 25),
               {.at = {size.x - 1, 0, size.z - 1}, .peak_hz = 12, .amplitude = 3000, .delay = 0.02}};
  p.receivers = {{size.x / 2, size.y / 3, size.z - 1}, {0, size.y - 1, 0}};
  return p;
}

}  // namespace

// Cerebras' csl-examples, 25-pt-stencil: 10 x 10 x 10 cells, two iterations, source in the first cell;
// tolerance 0.01.
TEST_CASE("wave25: the published minimum and maximum") {
  const problem p{.size = {10, 10, 10}, .step = 0.00161015297, .sources = {minimod_source({0, 0, 0}, 25)}};
  wafer_simulation<10> wafer{p};
  simulation blocks{p, {.wide = 2, .high = 2, .depth = 2}};
  wafer.run(2), blocks.run(2);
  for (const auto& u : {wafer.field(), blocks.field()}) {
    CHECK(*std::min_element(u.begin(), u.end()) == Approx(-0.0939295).margin(1e-5));
    CHECK(*std::max_element(u.begin(), u.end()) == Approx(57.403816).margin(1e-3));
  }
}

// Minimod's parameters without a border: what 400^3 cells hold after 100 steps is still within 36 cells
// around the source.
TEST_CASE("wave25: a hundred steps in free space") {
  const problem p{.size = {73, 72, 74}, .step = 0.00161015297, .sources = {minimod_source({36, 36, 37}, 25)}};
  simulation s{p, {.wide = 2, .depth = 4}};
  s.run(100);
  const auto u = s.field();
  CHECK(*std::min_element(u.begin(), u.end()) == Approx(-1178.403).epsilon(1e-5));
  CHECK(*std::max_element(u.begin(), u.end()) == Approx(757.766).epsilon(1e-5));
}

TEST_CASE("wave25: blocks compute what the serial reference does") {
  const cells size = GENERATE(cells{1, 1, 1}, cells{1, 1, 37}, cells{17, 1, 5}, cells{1, 23, 16},
                              cells{9, 8, 7}, cells{23, 19, 33});
  const border kind = GENERATE(border::reflects, border::sponge, border::pml);
  if (kind != border::reflects && std::min({size.x, size.y, size.z}) < 3) return;
  const problem p = mixture(size, kind);
  serial reference{p};
  reference.run(30);
  simulation s{p, {.wide = std::min(3, size.x), .high = std::min(2, size.y), .depth = 2}};
  s.run(30);
  INFO(text(size) << ", border " << static_cast<int>(kind));
  CHECK(relative_error(s.field(), reference.field()) < 1e-5);
  for (std::size_t i = 0; i < p.receivers.size(); ++i)
    CHECK(largest_error(s.trace(i), reference.trace(i)) <
          1e-5 * std::max(largest(reference.field()), largest(reference.trace(0))));
}

TEST_CASE("wave25: a velocity for each z is the same as one for each cell") {
  problem p = mixture({11, 9, 20}, border::pml), q = p;
  p.velocity.resize(20);
  for (std::size_t i = 0; i < q.velocity.size(); ++i) q.velocity[i] = p.velocity[i % 20];
  p.step = q.step = 0.001;
  simulation layered{p}, full{q};
  layered.run(20), full.run(20);
  CHECK(layered.field() == full.field());
}

TEST_CASE("wave25: how the grid is shared out changes no bit") {
  const border kind = GENERATE(border::reflects, border::sponge, border::pml);
  const problem p = mixture({23, 19, 37}, kind);
  simulation one{p, {.wide = 1, .high = 1, .depth = 1}};
  one.run(25);
  const auto field = one.field();
  for (const options& how : {options{1, 1, 7, 1}, options{2, 1, 3, 2}, options{3, 2, 2, 3},
                             options{5, 4, 3, 8}, options{23, 19, 1, 2}, options{1, 19, 4, 2}}) {
    simulation s{p, how};
    s.run(25);
    INFO(how.wide << " x " << how.high << " PEs, depth " << how.depth << ", " << how.threads << " threads");
    CHECK(s.field() == field);
    CHECK(s.trace(0) == one.trace(0));
    CHECK(s.trace(1) == one.trace(1));
  }
}

TEST_CASE("wave25: borders between blocks that drift change no bit, wherever a run ends") {
  const border kind = GENERATE(border::reflects, border::sponge, border::pml, border::cpml);
  problem p = mixture({50, 9, 11}, kind);
  p.free_surface = kind == border::cpml || kind == border::sponge;
  p.receivers.clear();
  for (int x = 14; x < 34; ++x) p.receivers.push_back({x, 4, 5});  // on both sides of each border, and on it
  p.receivers.push_back(point{24.3 * p.spacing, 4.6 * p.spacing, 5.2 * p.spacing});
  const auto march = [&](const options& how) {
    simulation s{p, how};
    s.run(7), s.run(1), s.run(4), s.run(2);
    return s.save();
  };
  const state one = march({1, 1, 1, 1});
  for (const options& how :
       {options{2, 1, 3, 2}, options{3, 1, 2, 1}, options{2, 2, 2, 3}, options{2, 1, 2, 2}}) {
    INFO(how.wide << " x " << how.high << " PEs, depth " << how.depth << ", border " << int(kind));
    CHECK(partition{p.size, how.wide, how.high, how.depth}.drifts());
    const state found = march(how);
    CHECK((found.now == one.now && found.before == one.before && found.phi == one.phi));
    CHECK((found.traces == one.traces));
  }
}

TEST_CASE("wave25: blocks whose borders drift share the work, and none computes a plane twice") {
  const partition cut{{256, 64, 1}, 8, 2, 4};
  REQUIRE(cut.drifts());
  for (const int drifted : {0, 16}) {
    int planes[2][8];  // that a PE computes, before and after the exchange
    for (int done = 1; done <= 4; ++done) {
      std::vector<int> times(256);
      for (int x = 0; x < 8; ++x) {
        const drift d(cut, {x, 0}, drifted, 4);
        for (const auto& [k, part] : {std::pair{0, d.shrinking()}, std::pair{1, d.growing()}}) {
          const range r = part.after(done);
          planes[k][x] = (done == 1 ? 0 : planes[k][x]) + r.size();
          for (int i = r.from; i < r.to; ++i) ++times[static_cast<std::size_t>(i)];
        }
      }
      CHECK((times == std::vector<int>(256, 1)));
    }
    for (int x = 0; x < 8; ++x) {
      CHECK(std::abs(planes[0][x] + planes[1][x] - 4 * 256 / 8) <= 8);
      CHECK(std::abs(planes[1][x] - planes[1][3]) <= 8);
    }
  }
}

TEST_CASE("wave25: each thread gets a block, and what options give is kept") {
  const problem p{.size = {128, 128, 1}};
  for (const int threads : {1, 2, 3, 4, 8, 16}) {
    const partition cut = simulation{p, {.threads = threads}}.cut();
    INFO(threads << " threads: " << cut.wide << " x " << cut.high << " PEs");
    CHECK(cut.wide * cut.high == threads);
    CHECK(cut.depth >= 1);
    CHECK(cut.wide >= cut.high);  // halos along x are in one piece
  }
  const partition given = simulation{p, {.high = 5, .depth = 3, .threads = 4}}.cut();
  CHECK(given.high == 5);
  CHECK(given.wide == 1);
  CHECK(given.depth == 3);
  const partition wide = simulation{p, {.wide = 2, .threads = 4}}.cut();
  CHECK(wide.wide == 2);
  CHECK(wide.high == 2);
  CHECK(simulation{p, {.wide = 4, .threads = 2}}.cut().high == 1);
  CHECK(simulation{problem{.size = {20, 20, 4}}, {.threads = 16}}.cut().wide == 1);
}

TEST_CASE("wave25: a wafer with one line a PE computes the same bits as blocks") {
  const border kind = GENERATE(border::reflects, border::sponge, border::pml);
  const cells size = GENERATE(cells{12, 9, 21}, cells{1, 9, 21}, cells{7, 1, 21});
  if (kind != border::reflects && std::min(size.x, size.y) < 3) return;
  const problem p = mixture(size, kind);
  simulation blocks{p};
  blocks.run(20);
  for (int threads : {1, 2, 3, 8}) {
    wafer_simulation<21> wafer{p, wse2, {.threads = threads, .pes_per_partition = 5}};
    wafer.run(20);
    CHECK(wafer.field() == blocks.field());
    CHECK(wafer.trace(1) == blocks.trace(1));
  }
}

TEST_CASE("wave25: with queues of the machine's depth and on the reference engine") {
  const problem p = mixture({6, 5, 9}, border::pml);
  simulation blocks{p};
  blocks.run(6);
  simulation_on<one_line<9>> slow{p, {p.size, 6, 5, 1}, wse2, reference{}};
  wafer_simulation<9> shallow{p, wse3, {.queues = depth::machine}};
  slow.run(6), shallow.run(6);
  CHECK(slow.field() == blocks.field());
  CHECK(shallow.field() == blocks.field());
}

// A plane wave of the difference equation itself: cos(kx) cos(ky) cos(kz) cos(wt) with the discrete
// dispersion relation. It must stay exact where no wave from the border has arrived yet.
TEST_CASE("wave25: an eigenmode of the difference equation") {
  const int n = 96, steps = 60;
  const problem p{.size = {n, n, n}};
  const f64 k = 2 * pi * 3 / 32, courant = 2000 * p.time_step() / p.spacing;
  f64 symbol = weights[0];
  for (int r = 1; r <= reach; ++r) symbol += 2 * weights[r] * std::cos(k * r);
  const f64 w = std::acos(1 + courant * courant * 3 * symbol / 2);
  const auto mode = [&](int x, int y, int z) { return std::cos(k * x) * std::cos(k * y) * std::cos(k * z); };
  state start{0, std::vector<f32>(p.size.count()), std::vector<f32>(p.size.count()), {}, {}};
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) {
        start.now[p.size.index({x, y, z})] = static_cast<f32>(mode(x, y, z));
        start.before[p.size.index({x, y, z})] = static_cast<f32>(mode(x, y, z) * std::cos(w));
      }
  simulation s{p};
  s.restore(start);
  s.run(steps);
  const auto u = s.field();
  f64 error = 0;
  for (int x = 32; x < 64; ++x)
    for (int y = 32; y < 64; ++y)
      for (int z = 32; z < 64; ++z)
        error = std::max(error, std::abs(u[p.size.index({x, y, z})] - mode(x, y, z) * std::cos(w * steps)));
  CHECK(error < 1e-5);
}

// In a homogeneous medium a source s(t) in one cell is received at distance r as h^3 s(t - r / c) / (4 pi
// c^2 dt^2 r).
TEST_CASE("wave25: the Green function, with second order in time") {
  const auto error = [](f64 share) {
    problem p{.size = {89, 89, 91}, .sources = {{{44, 44, 45}, 10, 1, 0.15}}, .receivers = {{64, 64, 55}}};
    p.step = share * p.time_step();
    simulation s{p};
    const int steps = static_cast<int>(0.6 / p.step);
    s.run(steps);
    const f64 r = 30 * p.spacing, c = 2000, volume = p.spacing * p.spacing * p.spacing;
    f64 off = 0, whole = 0;
    for (int i = 0; i < steps; ++i) {
      const f64 exact =
          volume / (4 * pi * c * c * p.step * p.step * r) * ricker((i + 1) * p.step - r / c, 10, 0.15);
      const f64 difference = s.trace(0)[static_cast<std::size_t>(i)] - exact;
      off += difference * difference, whole += exact * exact;
    }
    return std::sqrt(off / whole);
  };
  const f64 coarse = error(0.5), fine = error(0.25);
  CHECK(coarse < 2.5e-2);
  CHECK(coarse / fine == Approx(4).epsilon(0.1));
}

TEST_CASE("wave25: source and receiver may be exchanged where they have the same velocity") {
  problem there = mixture({21, 17, 25}, border::reflects);
  const cells a{5, 8, 12}, b{16, 9, 17};
  there.velocity[there.size.index(a)] = there.velocity[there.size.index(b)] = 1800;
  there.sources = {{a, 15, 1, 0.08}}, there.receivers = {b};
  problem back = there;
  back.sources[0].at = b, back.receivers = {a};
  simulation s{there}, t{back};
  s.run(150), t.run(150);
  CHECK(relative_error(s.trace(0), t.trace(0)) < 1e-4);
}

TEST_CASE("wave25: axes may be exchanged") {
  problem p{
      .size = {20, 16, 24}, .edge = border::pml, .edge_width = 4, .sources = {{{7, 9, 11}, 15, 1, 0.05}}};
  problem q = p;
  q.size = {24, 20, 16}, q.sources[0].at = {11, 7, 9};
  simulation s{p}, t{q};
  s.run(60), t.run(60);
  const auto u = s.field(), v = t.field();
  std::vector<f32> turned(u.size());
  for (int x = 0; x < 20; ++x)
    for (int y = 0; y < 16; ++y)
      for (int z = 0; z < 24; ++z) turned[q.size.index({z, x, y})] = u[p.size.index({x, y, z})];
  CHECK(relative_error(turned, v) < 1e-5);
}

TEST_CASE("wave25: a layer absorbs more than 99.9 %, a sponge more than 99 %") {
  const auto left = [](border kind) {
    const problem p{
        .size = {60, 60, 60}, .edge = kind, .edge_width = 20, .sources = {{{30, 30, 30}, 10, 1, 0.12}}};
    simulation s{p};
    s.run(350);
    return largest(s.field());
  };
  const f64 reflected = left(border::reflects);
  CHECK(left(border::pml) < 1e-3 * reflected);
  CHECK(left(border::sponge) < 1e-2 * reflected);
}

TEST_CASE("wave25: a state goes on bit by bit, in any partition") {
  const problem p = mixture({14, 11, 19}, border::pml);
  simulation whole{p};
  whole.run(33);
  simulation first{p, {.wide = 3, .depth = 4}}, second{p, {.wide = 2, .high = 2, .depth = 3}};
  first.run(13);
  second.restore(first.save());
  CHECK(second.time() == 13);
  second.run(20);
  CHECK(second.field() == whole.field());
  CHECK(second.trace(0) == whole.trace(0));
}

TEST_CASE("wave25: an invalid problem is named in a sentence") {
  using Catch::Contains;
  const problem good = mixture({12, 12, 12}, border::pml);
  const auto says = [&](auto change, const std::string& words) {
    problem p = good;
    change(p);
    CHECK_THROWS_WITH(simulation{p}, Contains(words));
    CHECK_THROWS_AS(simulation{p}, std::invalid_argument);
  };
  says([](problem& p) { p.size.y = 0; }, "at least one cell along each axis");
  says([](problem& p) { p.velocity.resize(5); }, "has 1 number, 12 (one for each z) or 1728");
  says([](problem& p) { p.velocity[3] = -1; }, "velocity 3 is -1");
  says([](problem& p) { p.velocity[0] = NAN; }, "velocities are positive");
  says([](problem& p) { p.step = 0.1; }, "is unstable");
  says([](problem& p) { p.spacing = 0; }, "spacing");
  says([](problem& p) { p.edge_width = 6; }, "leaves nothing of 12 x 12 x 12");
  says([](problem& p) { p.sources[1].at.x = 12; }, "source 1 is in cell (12, 0, 11), outside the grid");
  says([](problem& p) { p.sources[0].peak_hz = 0; }, "peak frequency");
  says([](problem& p) { p.sources[0].peak_hz = INFINITY; }, "peak frequency");
  says([](problem& p) { p.sources[0].amplitude = NAN; }, "both are finite");
  says([](problem& p) { p.receivers[1] = {0, 0, -1}; }, "receiver 1 is in cell (0, 0, -1)");
  CHECK_THROWS_WITH((simulation{good, {.wide = 13}}),
                    Contains("no block for each of 13 x 1 PEs; take at most 12 x "));
  CHECK_THROWS_WITH((simulation{good, {.depth = 65}}), Contains("1 to 64 steps"));
  CHECK_THROWS_WITH(wafer_simulation<10>{good},
                    Contains("compiled for lines of 10 cells along z, and the problem has 12 along z: take "
                             "wafer_simulation<12>"));
  CHECK_THROWS_WITH((simulation_on<one_line<12>>{good, {good.size, 6, 12, 1}, wse2, threaded{}}),
                    Contains("each PE has one line"));
  simulation s{good};
  CHECK_THROWS_WITH(s.restore({}), Contains("not one of this problem"));
}

TEST_CASE("wave25: a program without lines for a border computes the same bits") {
  using lean = wafer_simulation<21, wave_pe<one_line<21, false>>>;
  const problem p = mixture({12, 9, 21}, border::reflects);
  simulation blocks{p};
  lean wafer{p};
  blocks.run(20), wafer.run(20);
  CHECK(wafer.field() == blocks.field());
  CHECK(sizeof(lean::program) < sizeof(wafer_simulation<21>::program));
  for (border kind : {border::sponge, border::pml})
    CHECK_THROWS_WITH(lean{mixture({12, 9, 21}, kind)}, Catch::Contains("the PEs' program has no frame"));
}

TEST_CASE("wave25: blocks of lines of any shape have the bits of single lines, in vectors of any width") {
  using code =
      vector_code<wave25::loops::plain, const wave25::line&, int, int, int, int, const wave25::upcoming&>;
  constexpr int nx = 5, ny = 7, nz = 48, stride = line_stride(nz), plane = stride * (ny + 2 * wave25::reach);
  const auto at = [](int x, int y) {
    return static_cast<std::size_t>((x + wave25::reach) * plane + (y + wave25::reach) * stride + line_front);
  };
  std::vector<f32> u(static_cast<std::size_t>(plane) * (nx + 2 * wave25::reach) + line_front),
      before(u.size()), k(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = static_cast<f32>((i * 37 + i / 11) % 101) - 50.f;
    before[i] = static_cast<f32>((i * 53 + i / 7) % 97) - 48.f, k[i] = 0.001f * static_cast<f32>(i % 89);
  }
  const auto line_at = [&](std::vector<f32>& v, int x, int y) {
    const std::size_t i = at(x, y);
    return wave25::line{&u[i], &u[i], &u[i], plane, stride, &v[i], &k[i], stride, plane};
  };
  for (const int lanes : {4, 8, 16}) {
    if (lanes > processor_lanes()) continue;
    INFO("vectors of " << lanes);
    const auto step = code::with(lanes);
    std::vector<f32> one_by_one = before, in_blocks = before, with_prefetches = before;
    for (int x = 0; x < nx; ++x)
      for (int y = 0; y < ny; ++y) step(line_at(one_by_one, x, y), 1, 1, 0, nz, {});
    for (int z = 0; z < nz; z += 16)
      for (int x = 0; x < nx; x += 2) {
        const int planes = x + 1 < nx ? 2 : 1;
        step(line_at(in_blocks, x, 0), planes, ny, z, z + 16, {});
        step(line_at(with_prefetches, x, 0), planes, ny, z, z + 16,
             {&u[at(0, 0)], &u[at(0, 0)], &k[at(0, 0)], &u[at(0, 0)], &before[at(0, 0)], &k[at(0, 0)]});
      }
    CHECK(in_blocks == one_by_one);
    CHECK(with_prefetches == one_by_one);
    f64 worst = 0;
    for (int x = 0; x < nx; ++x)
      for (int y = 0; y < ny; ++y)
        for (int z = 0; z < nz; ++z) {
          const std::size_t i = at(x, y) + static_cast<std::size_t>(z);
          f64 sum = 3 * wave25::weights[0] * f64{u[i]};
          for (int r = 1; r <= wave25::reach; ++r)
            for (const int step_of : {1, stride, plane})
              sum += wave25::weights[r] * (f64{u[i + static_cast<std::size_t>(r * step_of)]} +
                                           f64{u[i - static_cast<std::size_t>(r * step_of)]});
          const f64 expected = 2 * f64{u[i]} - f64{before[i]} + f64{k[i]} * sum;
          worst = std::max(worst, std::abs(f64{one_by_one[i]} - expected));
        }
    CHECK(worst < 1e-4);
  }
}
