// SPDX-License-Identifier: MIT
// Sources and receivers between cells, the free surface, and wavelets of one's own: against exact solutions
// of the wave equation, the serial reference, and laws of physics.
#include <wsl/kernel/wave25.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::wave25;

namespace {

constexpr f64 pi = 3.14159265358979323846;

template <class Numbers>
f64 largest(const Numbers& u) {
  f64 most = 0;
  for (auto x : u) most = std::max(most, std::abs(static_cast<f64>(x)));
  return most;
}
template <class Numbers, class Others>
f64 relative_error(const Numbers& u, const Others& v) {
  REQUIRE(u.size() == v.size());
  f64 error = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    error = std::max(error, std::abs(static_cast<f64>(u[i]) - static_cast<f64>(v[i])));
  return error / largest(v);
}

/// A velocity in each cell, sources of all kinds, and receivers near every side.
problem mixture(const cells& size, border kind, bool free_surface) {
  problem p{.size = size, .spacing = 10, .edge = kind, .free_surface = free_surface};
  p.edge_width = std::max(1, (std::min({size.x, size.y, size.z}) - 1) / 3);
  p.velocity.resize(size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 1500 + static_cast<f32>(i * 7919 % 2000);
  const f64 wide = (size.x - 1) * 10., deep = (size.y - 1) * 10., low = (size.z - 1) * 10.;
  p.sources = {
      {.peak_hz = 30, .amplitude = 2, .delay = 0.03, .place = point{0.43 * wide, 0.61 * deep, 0.2 * low}},
      {.peak_hz = 20,
       .amplitude = 900,
       .delay = 0.02,
       .place = point{0.9 * wide, 3.5, 4},
       .kind = wave25::source_term::point},
      {.at = {1, 1, size.z / 2}, .wavelet = {1, -2, 3.5f, 0, 1}}};
  p.receivers = {point{0.5 * wide, 0.45 * deep, 0.21 * low},
                 point{0, deep, 13},
                 point{wide - 1, 1, low},
                 {size.x / 2, size.y / 3, size.z - 1}};
  return p;
}

/// The root of the mean square of what a trace is off an exact solution, over that of the solution.
template <class Exact>
f64 off(const std::vector<f32>& trace, f64 dt, Exact exact) {
  f64 wrong = 0, whole = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const f64 right = exact(static_cast<f64>(i + 1) * dt), difference = f64{trace[i]} - right;
    wrong += difference * difference, whole += right * right;
  }
  return std::sqrt(wrong / whole);
}
f64 distance(const point& a, const point& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

}  // namespace

TEST_CASE("wave25: a place on the grid is one cell, and one between cells gives a wave of five cells") {
  const taps one = taps_of(7, 20, false);
  CHECK((one.first == 7 && one.count == 1 && one.weight[0] == 1));
  for (f64 at : {9.5, 9.1, 10.77, 12.25}) {
    const taps t = taps_of(at, 30, false);
    CHECK(t.count == 8);
    for (f64 phase : {0., 0.7, 2.}) {
      f64 sum = 0;
      for (int k = 0; k < t.count; ++k)
        sum += t.weight[static_cast<std::size_t>(k)] * std::cos(2 * pi / 5 * (t.first + k) + phase);
      CHECK(sum == Approx(std::cos(2 * pi / 5 * at + phase)).margin(2e-3));
    }
  }
}

TEST_CASE("wave25: near a free surface a place is spread as if the negative mirror image were there") {
  for (f64 at : {0.3, 1.5, 2.9}) {
    const taps t = taps_of(at, 30, true);
    f64 sum = 0;  // of a field that is odd around the surface
    for (int k = 0; k < t.count; ++k)
      sum += t.weight[static_cast<std::size_t>(k)] * std::sin(2 * pi / 6 * (t.first + k));
    CHECK(sum == Approx(std::sin(2 * pi / 6 * at)).margin(2e-3));
  }
}

TEST_CASE("wave25: places and a free surface are those of the serial reference") {
  const cells size = GENERATE(cells{9, 8, 7}, cells{23, 19, 33}, cells{12, 3, 4});
  const border kind = GENERATE(border::reflects, border::sponge, border::pml, border::cpml);
  const bool free_surface = GENERATE(false, true);
  if (kind == border::cpml && free_surface && size.z < 5) return;
  const problem p = mixture(size, kind, free_surface);
  serial reference{p};
  reference.run(40);
  simulation s{p, {.wide = 3, .high = 2, .depth = 2}};
  s.run(40);
  INFO(text(size) << ", border " << static_cast<int>(kind) << ", free surface " << free_surface);
  CHECK(relative_error(s.field(), reference.field()) < 5e-5);
  for (std::size_t i = 0; i < p.receivers.size(); ++i) {
    const auto& t = reference.trace(i);
    REQUIRE(s.trace(i).size() == t.size());
    for (std::size_t n = 0; n < t.size(); ++n)
      CHECK(std::abs(f64{s.trace(i)[n]} - t[n]) < 5e-5 * (largest(reference.field()) + largest(t)));
  }
}

TEST_CASE("wave25: how the grid is shared out changes no bit of places between cells") {
  const border kind = GENERATE(border::reflects, border::sponge, border::pml, border::cpml);
  const problem p = mixture({23, 19, 37}, kind, true);
  simulation one{p, {.wide = 1, .high = 1, .depth = 1}};
  one.run(25);
  for (const options& how : {options{1, 1, 7, 1}, options{2, 1, 3, 2}, options{3, 2, 2, 3},
                             options{5, 4, 3, 8}, options{23, 19, 1, 2}}) {
    simulation s{p, how};
    s.run(25);
    CHECK(s.field() == one.field());
    for (std::size_t i = 0; i < p.receivers.size(); ++i) CHECK(s.trace(i) == one.trace(i));
  }
}

TEST_CASE("wave25: a free surface on a wafer, with one line a PE") {
  problem p = mixture({12, 9, 21}, border::pml, true);
  p.sources.resize(1), p.receivers = {{3, 3, 3}, {5, 2, 20}};
  p.sources[0].place.reset(), p.sources[0].at = {6, 4, 1};
  simulation blocks{p};
  wafer_simulation<21> wafer{p};
  blocks.run(20), wafer.run(20);
  CHECK(wafer.field() == blocks.field());
  CHECK(wafer.trace(1) == blocks.trace(1));
}

// A point source in a homogeneous medium: u = s(t - r / c) / (4 pi r). The same sizes in metres on a grid of
// half the spacing.
TEST_CASE("wave25: a point source between cells has the amplitude and the time of the exact solution") {
  const auto error = [](int finer) {
    problem p{.size = {53 * finer, 53 * finer, 53 * finer}, .spacing = 20. / finer};
    const point from{517, 523, 511}, to{689, 611, 587};
    p.sources = {
        {.peak_hz = 9, .amplitude = 1, .delay = 0.13, .place = from, .kind = wave25::source_term::point}};
    p.receivers = {to};
    p.step = 0.5 * p.time_step();
    simulation s{p};
    const int steps = static_cast<int>(0.34 / p.step);
    s.run(steps);
    const f64 r = distance(from, to);
    return off(s.trace(0), p.step, [&](f64 t) { return ricker(t - r / 2000, 9, 0.13) / (4 * pi * r); });
  };
  const f64 coarse = error(1), fine = error(2);
  INFO("errors " << coarse << " and " << fine);
  CHECK(coarse < 1e-2);
  CHECK(fine < coarse / 3);
}

// Below a free surface the exact solution is that of the source and of its negative mirror image.
TEST_CASE("wave25: a free surface reflects as the mirror image of the source") {
  problem p{.size = {73, 73, 60}, .spacing = 10, .free_surface = true};
  const point from{363, 357, 28}, to{441, 389, 103}, image{363, 357, -28};
  p.sources = {
      {.peak_hz = 18, .amplitude = 1, .delay = 0.07, .place = from, .kind = wave25::source_term::point}};
  p.receivers = {to};
  p.step = 0.5 * p.time_step();
  simulation s{p};
  s.run(static_cast<int>(0.28 / p.step));
  const auto from_source = [&](f64 t, f64 r) { return ricker(t - r / 2000, 18, 0.07) / (4 * pi * r); };
  const auto exact = [&](f64 t) {
    return from_source(t, distance(from, to)) - from_source(t, distance(image, to));
  };
  CHECK(off(s.trace(0), p.step, exact) < 1.5e-2);
  CHECK(off(s.trace(0), p.step, [&](f64 t) { return from_source(t, distance(from, to)); }) > 0.2);
}

TEST_CASE("wave25: point sources and receivers may be exchanged, whatever the model") {
  const bool free_surface = GENERATE(false, true);
  problem there = mixture({25, 21, 29}, border::reflects, free_surface), back = there;
  const point a{61.7, 97.1, 14.2}, b{186.3, 88.8, 233};
  there.sources = {
      {.peak_hz = 25, .amplitude = 1, .delay = 0.05, .place = a, .kind = wave25::source_term::point}};
  there.receivers = {b};
  back.sources = there.sources, back.sources[0].place = b, back.receivers = {a};
  simulation s{there}, t{back};
  s.run(250), t.run(250);
  CHECK(largest(s.trace(0)) > 0);
  CHECK(relative_error(s.trace(0), t.trace(0)) < 1e-5);
}

TEST_CASE("wave25: a wavelet of one's own is that of the numbers") {
  problem p = mixture({15, 14, 16}, border::pml, false), q = p;
  p.sources.resize(1), q.sources.resize(1);
  source& own = q.sources[0];
  own.amplitude = 1;
  for (int n = 0; n < 60; ++n) own.wavelet.push_back(f32(p.sources[0].value(n * p.time_step())));
  simulation s{p}, t{q};
  s.run(60), t.run(60);
  CHECK(s.field() == t.field());
  own.wavelet.resize(10);
  own.amplitude = 0.5;
  CHECK(own.sample(9, 1) == 0.5 * f64{own.wavelet[9]});
  CHECK(own.sample(10, 1) == 0);
}

TEST_CASE("wave25: a place that cannot be is named") {
  using Catch::Contains;
  const auto says = [](auto change, const std::string& words) {
    problem p = mixture({12, 12, 12}, border::pml, true);
    change(p);
    CHECK_THROWS_WITH(simulation{p}, Contains(words));
    CHECK_THROWS_AS(simulation{p}, std::invalid_argument);
  };
  says([](problem& p) { p.sources[0].place->x = 110.5; },
       "source 0 is at x = 110.500000 m, outside the grid, which goes from 0 to 110.000000 m");
  says([](problem& p) { p.receivers[0].place->y = NAN; }, "receiver 0 is at y = nan m");
  says([](problem& p) { p.receivers[1].place->z = 0; },
       "receiver 1 is at a depth of 0.000000 m, in the free surface");
  says([](problem& p) { p.edge = border::cpml, p.size.z = 4, p.velocity = {2000}, p.edge_width = 1; },
       "a cpml of 1 cells reaches up to the free surface of 12 x 12 x 4 cells; leave 4 cells");
  says([](problem& p) { p.receivers[3].at.z = 0; }, "receiver 3 is in cell (6, 4, 0), in the free surface");
  says([](problem& p) { p.sources[2].wavelet[3] = INFINITY; },
       "number 3 of the wavelet of source 2 is not finite");
}

TEST_CASE("wave25: a cpml goes on from a checkpoint, in any partition, and is not for wafers") {
  const problem p = mixture({19, 17, 37}, border::cpml, true);
  simulation whole{p}, first{p, {.wide = 3, .depth = 4}}, second{p, {.wide = 2, .high = 2, .depth = 3}};
  whole.run(33), first.run(13);
  second.restore(state_from_bytes(to_bytes(first.save(), p), p));
  second.run(20);
  CHECK(second.field() == whole.field());
  CHECK_THROWS_WITH(wafer_simulation<37>{p}, Catch::Contains("no memory for a cpml"));
}

// A source near a long side: most of its waves meet the frame at grazing angles. What comes back is compared
// with the same on a grid so large that nothing does.
TEST_CASE("wave25: a cpml reflects less than a pml of the same width, also at grazing angles") {
  const auto trace_of = [](border kind, int beyond) {
    problem p{.size = {100 + 2 * beyond, 28 + 2 * beyond, 28 + 2 * beyond}, .edge = kind, .edge_width = 8};
    p.sources = {{.at = {14 + beyond, 11 + beyond, 11 + beyond}, .peak_hz = 12, .delay = 0.1}};
    p.receivers = {{86 + beyond, 11 + beyond, 11 + beyond}, {50 + beyond, 14 + beyond, 11 + beyond}};
    simulation s{p};
    s.run(270);
    return std::pair(s.trace(0), s.trace(1));
  };
  const auto exact = trace_of(border::reflects, 40), pml = trace_of(border::pml, 0),
             cpml = trace_of(border::cpml, 0);
  INFO("pml " << relative_error(pml.first, exact.first) << " and " << relative_error(pml.second, exact.second)
              << ", cpml " << relative_error(cpml.first, exact.first) << " and "
              << relative_error(cpml.second, exact.second));
  CHECK(relative_error(cpml.first, exact.first) < 0.5 * relative_error(pml.first, exact.first));
  CHECK(relative_error(cpml.second, exact.second) < 0.5 * relative_error(pml.second, exact.second));
  CHECK(relative_error(cpml.first, exact.first) < 0.15);
}

TEST_CASE("wave25: a cpml stays stable for thousands of steps") {
  problem p{.size = {27, 25, 29}, .spacing = 10, .edge = border::cpml, .edge_width = 8};
  p.sources = {{.at = {13, 12, 14}, .peak_hz = 20, .delay = 0.06}};
  simulation s{p};
  s.run(300);
  const f64 early = largest(s.field());
  s.run(2700);
  CHECK(largest(s.field()) < 1e-2 * early);
}
