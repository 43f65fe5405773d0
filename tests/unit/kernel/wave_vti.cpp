// SPDX-License-Identifier: MIT
// Waves in a medium with vertical transverse isotropy: against wave25, exact solutions and velocities, and
// laws of physics.
#include "wave_media.hpp"

using namespace wave_media;
using Catch::Contains;
using seismic::vti;

namespace {

/// The exact phase velocity over that along z, of pseudo-acoustic waves at an angle with z (Alkhalifah,
/// Geophysics 63, 1998).
f64 phase_velocity(f64 epsilon, f64 delta, f64 angle) {
  const f64 s = std::pow(std::sin(angle), 2), c = std::pow(std::cos(angle), 2),
            sum = (1 + 2 * epsilon) * s + c;
  return std::sqrt(0.5 * (sum + std::sqrt(sum * sum - 8 * (epsilon - delta) * s * c)));
}

/// The frequency, over that of an isotropic medium, of a plane wave with so many waves along x and z of a
/// grid that goes around.
f64 found_velocity(f64 epsilon, f64 delta, int waves_x, int waves_z) {
  constexpr int n = 64, thin = 4, steps = 150;
  constexpr f64 courant = 0.1;
  const f64 kx = 2 * pi * waves_x / n, kz = 2 * pi * waves_z / n, k = std::hypot(kx, kz),
            v = phase_velocity(epsilon, delta, std::atan2(kx, kz)), omega = courant * v * k;
  // h and n of a plane wave: omega^2 h = (1 + 2 epsilon) kx^2 h + s kz^2 n, and n alike
  const f64 s = std::sqrt(1 + 2 * delta), share_h = v * v * k * k - kz * kz, share_n = s * kx * kx;
  const f64 h_of = waves_x == 0 ? s : share_h, n_of = waves_x == 0 ? 1 : share_n;
  const auto mode = [&](f64 amplitude, f64 phase) {
    std::vector<f32> u;
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < thin; ++y)
        for (int z = 0; z < n; ++z)
          u.push_back(static_cast<f32>(amplitude * std::cos(kx * x + kz * z - phase)));
    return u;
  };
  stencils::simulation<vti::update, vti::takes> g({n, thin, n}, stencils::boundary::periodic);
  const f64 k2 = courant * courant;
  const std::size_t count = std::size_t{n} * thin * n;
  g.coefficient(0, std::vector<f32>(count, f32(k2 * (1 + 2 * epsilon))));
  g.coefficient(1, std::vector<f32>(count, f32(k2 * s))), g.coefficient(2, std::vector<f32>(count, f32(k2)));
  // the frequency of the scheme in time
  const f64 a_step = 2 * std::asin(omega / 2);
  g.load(mode(h_of, 0), 0), g.load_before(mode(h_of, -a_step), 0);
  g.load(mode(n_of, 0), 1), g.load_before(mode(n_of, -a_step), 1);
  g.run(steps);
  // the phase after all steps, from the products with cosine and sine
  const std::vector<f32> u = g.values(0), cosine = mode(1, 0), sine = mode(1, pi / 2);
  f64 c = 0, d = 0;
  for (std::size_t i = 0; i < u.size(); ++i) c += f64{u[i]} * f64{cosine[i]}, d += f64{u[i]} * f64{sine[i]};
  const f64 expected = a_step * steps,
            phase = std::atan2(d, c) + 2 * pi * std::round((expected - std::atan2(d, c)) / (2 * pi));
  return 2 * std::sin(phase / steps / 2) / (courant * k);
}

/// Properties in each cell, with epsilon >= delta.
vti any_rock(const grid::cells& size) {
  std::vector<f32> epsilon, delta;
  for (std::size_t i = 0; i < size.count(); ++i) {
    delta.push_back(0.02f * static_cast<f32>(scattered(3 * i, 20)) - 0.15f);
    epsilon.push_back(delta.back() + 0.02f * static_cast<f32>(scattered(5 * i + 1, 15)));
  }
  return {epsilon, delta};
}

}  // namespace

TEST_CASE("seismic: without anisotropy the field is that of wave25") { is_wave25(vti{}); }

TEST_CASE("seismic: phase velocities of anisotropic media are the exact ones at all angles") {
  const f64 media[][2] = {{0, 0}, {0.2, 0.2}, {0.24, 0.1}, {0.1, -0.1}, {0.5, 0.3}};
  const int directions[][2] = {{0, 4}, {4, 0}, {3, 3}, {2, 4}, {4, 1}};
  for (const auto& [epsilon, delta] : media)
    for (const auto& [x, z] : directions) {
      INFO("epsilon " << epsilon << ", delta " << delta << ", direction " << x << ", " << z);
      CHECK(found_velocity(epsilon, delta, x, z) ==
            Approx(phase_velocity(epsilon, delta, std::atan2(x, z))).epsilon(3e-4));
    }
  // those that Thomsen's parameters are defined by
  CHECK(phase_velocity(0.24, 0.1, pi / 2) == Approx(std::sqrt(1.48)));
  CHECK(phase_velocity(0.24, 0.1, 0) == Approx(1));
}

TEST_CASE("seismic: where epsilon equals delta the field is that of a point source in stretched space") {
  constexpr f64 epsilon = 0.2, v = 2000, h = 10;
  const f64 s = std::sqrt(1 + 2 * epsilon);
  wave25::problem p{.size = {84, 60, 60}, .spacing = h, .step = 5e-4, .velocity = {v}};
  const point at{400, 297, 301};
  p.sources = {{.peak_hz = 20, .delay = 0.055, .place = at, .kind = wave25::source_term::point}};
  p.receivers = {point{560, 297, 301}, point{400, 297, 432}, point{500, 330, 390}};
  seismic::simulation whole{seismic::problem{p, vti{f32(epsilon), f32(epsilon)}}};
  const f64 dt = whole.of().time_step();
  whole.run(static_cast<i64>(0.18 / dt));
  for (std::size_t i = 0; i < p.receivers.size(); ++i) {
    const point r = *p.receivers[i].place;
    const f64 away = std::hypot((r.x - at.x) / s, (r.y - at.y) / s, r.z - at.z),
              scale = std::pow((2 * s + 1) / 3, 2) / (s * s) / (4 * pi * away);
    INFO("receiver " << i);
    CHECK(off(whole.trace(i), dt, [&](f64 t) { return scale * p.sources[0].value(t - away / v); }) < 0.015);
  }
}

TEST_CASE("seismic: where epsilon equals delta, a wavelet that is added leaves nothing behind") {
  wave25::problem p{.size = {28, 28, 28}, .edge = wave25::border::sponge, .edge_width = 10};
  p.sources = {{.at = {14, 13, 12}, .wavelet = {1, 2, 1}}};
  p.receivers = {{14, 13, 12}};
  seismic::simulation s{seismic::problem{p, vti{0.2f, 0.2f}}};
  s.run(1);
  CHECK(s.trace(0)[0] == Approx(1));
  s.run(600);
  CHECK(largest(s.field()) < 1e-3);
}

TEST_CASE("seismic: times of arrival along and across the layers are those of the two velocities") {
  constexpr f64 epsilon = 0.24, delta = 0.1, v = 2000;
  const auto arrivals = [&](const auto& make, f64 velocity, i64 steps) {
    wave25::problem p{
        .size = {90, 64, 64}, .spacing = 10, .step = 1e-3, .velocity = {static_cast<f32>(velocity)}};
    p.sources = {
        {.peak_hz = 18, .delay = 0.06, .place = point{320, 315, 315}, .kind = wave25::source_term::point}};
    p.receivers = {point{570, 315, 315}, point{320, 315, 515}};
    auto s = make(p);
    s.run(steps);
    return std::pair{crest_of(s.trace(0)).at, crest_of(s.trace(1)).at};
  };
  const auto in_rock = [&](const wave25::problem& p) {
    return seismic::simulation{seismic::problem{p, vti{f32(epsilon), f32(delta)}}};
  };
  const auto in_water = [](const wave25::problem& p) {
    return seismic::simulation{seismic::problem{p, vti{}}};
  };
  const auto rock = arrivals(in_rock, v, 210);
  CHECK(rock.first == Approx(arrivals(in_water, v * std::sqrt(1 + 2 * epsilon), 210).first).margin(1.5));
  CHECK(rock.second == Approx(arrivals(in_water, v, 210).second).margin(1.5));
}

TEST_CASE("seismic: in any rock source and receiver may be exchanged") {
  wave25::problem p = mixture({30, 22, 26}, wave25::border::sponge, true);
  const vti rock = any_rock(p.size);
  const auto heard = [&](const point& from, const point& to) {
    p.sources = {{.peak_hz = 20, .delay = 0.04, .place = from, .kind = wave25::source_term::point}};
    p.receivers = {to};
    seismic::simulation s{seismic::problem{p, rock}};
    s.run(220);
    return s.trace(0);
  };
  const point here{82.5, 90, 21}, there{221, 133.7, 188};
  CHECK(relative_error(heard(here, there), heard(there, here)) < 1e-4);
}

TEST_CASE("seismic: below the largest stable step no rock is unstable, and above it is refused") {
  wave25::problem p = mixture({14, 12, 13}, wave25::border::reflects, false);
  seismic::problem whole{p, any_rock(p.size)};
  whole.shot.step = 0.999 * whole.largest_stable_step();
  seismic::simulation s{whole};
  s.run(100);
  const f64 early = largest(s.field());
  s.run(1500);
  CHECK(largest(s.field()) < 100 * early);
  whole.shot.step = 1.001 * whole.largest_stable_step();
  CHECK_THROWS_WITH(seismic::simulation{whole}, Contains("is unstable"));
  const wave25::problem even{.size = {9, 9, 9}, .velocity = {2000}};
  CHECK(seismic::problem{even, vti{}}.largest_stable_step() == Approx(wave25::largest_stable_step(2000, 20)));
}

TEST_CASE("seismic: with anisotropy the result depends neither on PEs, threads nor where it went on") {
  for (const auto border : {wave25::border::sponge, wave25::border::cpml})
    has_one_result(any_rock({20, 11, 13}), border);
}

TEST_CASE("seismic: with anisotropy a cpml reflects less than a sponge of the same width, and stays stable") {
  for (const f32 delta : {0.2f, 0.1f}) {
    const auto rock = [&](int) { return vti{0.2f, delta}; };
    const auto [sponge, cpml] = reflected_in(rock);
    INFO("delta " << delta << ": sponge " << sponge[0] << " and " << sponge[1] << ", cpml " << cpml[0]
                  << " and " << cpml[1]);
    CHECK(cpml[0] < 0.3 * sponge[0]);
    CHECK(cpml[1] < 0.3 * sponge[1]);
    CHECK(cpml[1] < 0.1);
  }
  dies_away(vti{0.2f, 0.2f});
  dies_away(vti{0.24f, 0.1f});
  dies_away(any_rock(dying_waves));
}

TEST_CASE("seismic: anisotropy that is unstable or none is refused with its place") {
  const wave25::problem p{.size = {10, 11, 12}};
  const auto says = [&](const vti& m, const std::string& words) {
    CHECK_THROWS_WITH((seismic::simulation{seismic::problem{p, m}}), Contains(words));
  };
  says({0.1f, 0.2f},
       "seismic: epsilon is 0.100000 and delta 0.200000 in the cells of z = 0; where epsilon is less "
       "than delta the equations are unstable");
  std::vector<f32> delta(p.size.count(), 0.1f);
  delta[p.size.index({7, 2, 3})] = 0.15f;
  says({0.1f, delta}, "delta 0.150000 in cell (7, 2, 3); where epsilon is less than delta");
  says({3, 0}, "seismic: epsilon is 3.000000 in all cells; Thomsen's epsilon is above -0.5, and at most 2");
  says({0, -0.5f}, "seismic: delta is -0.500000 in all cells; Thomsen's delta is above -0.5");
  says({std::vector<f32>(5), 0}, "seismic: epsilon has 1 number, 12 (one for each z) or 1320");
}
