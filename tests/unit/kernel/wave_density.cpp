// SPDX-License-Identifier: MIT
// Waves in a medium of variable density: against wave25, exact solutions of reflection at a contrast, and
// laws of physics.
#include <wsl/kernel/stencil/serial.hpp>

#include "wave_media.hpp"

using namespace wave_media;
using Catch::Contains;
using seismic::variable_density;

namespace {

using column = stencils::simulation<variable_density::update, variable_density::takes>;
constexpr int around = 4;  ///< cells along x and y, which go around: all is the same there

std::vector<f32> lines_of(const std::vector<f32>& along_z) {
  std::vector<f32> all;
  for (int i = 0; i < around * around; ++i) all.insert(all.end(), along_z.begin(), along_z.end());
  return all;
}
std::vector<f32> line_of(column& c, int n) {
  std::vector<f32> u = c.values();
  u.resize(static_cast<std::size_t>(n));
  return u;
}

/// A plane wave that comes to a contrast between two half spaces at normal incidence: the amplitudes of what
/// is reflected and of what goes on, over its own.
struct amplitudes {
  f64 reflected, transmitted;
};
amplitudes of_contrast(f64 v1, f64 rho1, f64 v2, f64 rho2) {
  constexpr int n = 900, contrast = 400, start = 250;
  constexpr f64 width = 12;  // cells of the pulse: 1 / sqrt(2) of the standard deviation
  const f64 fastest = std::max(v1, v2), step = 0.4 / fastest;  // the spacing is 1
  const auto pulse = [&](f64 z) { return std::exp(-(z - start) * (z - start) / (width * width)); };
  std::vector<f32> now, before, courant, rho;
  for (int z = 0; z < n; ++z) {
    const f64 v = z < contrast ? v1 : v2, r = z < contrast ? rho1 : rho2;
    now.push_back(static_cast<f32>(pulse(z))), before.push_back(static_cast<f32>(pulse(z + v1 * step)));
    courant.push_back(static_cast<f32>(r * v * v * step * step)), rho.push_back(static_cast<f32>(r));
  }
  column c({around, around, n},
           {stencils::boundary::periodic, stencils::boundary::periodic, stencils::boundary::fixed});
  c.coefficient(0, lines_of(courant)), c.coefficient(1, lines_of(rho));
  c.load(lines_of(now)), c.load_before(lines_of(before));
  // until what is reflected is 100 cells above the contrast
  c.run(std::lround((contrast - start + 100) / (v1 * step)));
  const std::vector<f32> u = line_of(c, n);
  const auto strongest = [&](int from, int to) {
    f64 most = 0;
    for (int z = from; z < to; ++z)
      if (const f64 x = f64{u[static_cast<std::size_t>(z)]}; std::abs(x) > std::abs(most)) most = x;
    return most;
  };
  return {strongest(0, contrast - 20), strongest(contrast + 20, n)};
}

}  // namespace

TEST_CASE("seismic: with one density everywhere the field is that of wave25") {
  is_wave25(variable_density{});
  is_wave25(variable_density{2200});
}

TEST_CASE("seismic: a plane wave is reflected by the contrast of impedances") {
  // v and rho above and below: water over sediment, sediment over salt, only a density, a lighter medium, and
  // water over air at its own velocity
  const f64 media[][4] = {{1500, 1000, 1800, 2000}, {2000, 2000, 3000, 2200}, {2000, 1000, 2000, 3000},
                          {2500, 2600, 1800, 1900}, {1500, 1000, 1500, 1.2},  {1500, 1, 1500, 800}};
  for (const auto& [v1, rho1, v2, rho2] : media) {
    const f64 expected = (rho2 * v2 - rho1 * v1) / (rho2 * v2 + rho1 * v1);
    const amplitudes found = of_contrast(v1, rho1, v2, rho2);
    INFO("from " << v1 << " m/s and " << rho1 << " kg/m3 to " << v2 << " and " << rho2);
    CHECK(found.reflected == Approx(expected).epsilon(0.004));
    CHECK(found.transmitted == Approx(1 + expected).epsilon(0.004));
  }
}

TEST_CASE("seismic: a contrast of densities alone is a mirror of the source, at any angle") {
  // With one velocity the reflection coefficient does not depend on the angle, and the field is that of the
  // source and of its mirror image.
  constexpr f64 h = 10, v = 2000, rho1 = 1000, rho2 = 2500, reflection = (rho2 - rho1) / (rho2 + rho1);
  constexpr int nz = 64, contrast = 34;
  wave25::problem p{.size = {90, 64, nz}, .spacing = h, .step = 6e-4, .velocity = {v}};
  const point at{420, 317, 230};
  p.sources = {{.peak_hz = 20, .delay = 0.055, .place = at, .kind = wave25::source_term::point}};
  p.receivers = {point{480, 300, 210}, point{555, 317, 282}, point{420, 317, 440}};
  std::vector<f32> rho(nz, f32(rho1));
  for (int z = contrast; z < nz; ++z) rho[static_cast<std::size_t>(z)] = f32(rho2);
  seismic::simulation s{seismic::problem{p, variable_density{rho}}};
  const f64 dt = s.of().time_step(), mirror = (contrast - 0.5) * h;
  s.run(static_cast<i64>(0.21 / dt));
  const wave25::source& source = p.sources[0];
  const auto from = [&](f64 t, const point& r, f64 depth) {
    const f64 away = std::hypot(r.x - at.x, r.y - at.y, r.z - depth);
    return source.value(t - away / v) / (4 * pi * away);
  };
  const auto exact = [&](std::size_t i) {
    return [&, i](f64 t) {
      const point r = *p.receivers[i].place;
      if (r.z > mirror) return (1 + reflection) * from(t, r, at.z);
      return from(t, r, at.z) + reflection * from(t, r, 2 * mirror - at.z);
    };
  };
  for (std::size_t i = 0; i < p.receivers.size(); ++i) {
    INFO("receiver " << i);
    CHECK(off(s.trace(i), dt, exact(i)) < 0.015);
  }
}

TEST_CASE("seismic: in a density that changes smoothly the error falls with the square of the spacing") {
  // rho = exp(a z): p = exp(a z / 2) cos(k z) changes by -(k^2 + a^2 / 4) p
  constexpr f64 length = 64, a = 0.05, k = 2 * pi / 16;
  const auto error = [&](int n) {
    const f64 h = length / n, courant = 1e-2;
    std::vector<f32> u, rho, factors;
    for (int z = 0; z < n; ++z) {
      const f64 r = std::exp(a * z * h);
      u.push_back(static_cast<f32>(std::exp(0.5 * a * z * h) * std::cos(k * z * h)));
      rho.push_back(static_cast<f32>(r)), factors.push_back(static_cast<f32>(r * courant));
    }
    stencils::serial<variable_density::update, variable_density::takes, f64> one(
        {around, around, n},
        {stencils::boundary::periodic, stencils::boundary::periodic, stencils::boundary::fixed});
    const auto wide = [&](const std::vector<f32>& line) {
      const std::vector<f32> wide_line = lines_of(line);
      return std::vector<f64>(wide_line.begin(), wide_line.end());
    };
    one.load(wide(u)), one.coefficient(0, wide(factors)), one.coefficient(1, wide(rho));
    one.run(1);
    f64 most = 0;
    for (int z = n / 4; z < 3 * n / 4; ++z) {
      const auto i = static_cast<std::size_t>(z);
      const f64 found = (one.values()[i] - f64{u[i]}) / (courant * h * h),
                exact = -(k * k + a * a / 4) * f64{u[i]};
      most = std::max(most, std::abs(found - exact));
    }
    return most;
  };
  const f64 coarse = error(32), fine = error(64);
  CHECK(fine < coarse / 3.5);
  CHECK(fine < 1e-3 * k * k * std::exp(0.5 * a * length));
}

TEST_CASE("seismic: source and receiver may be exchanged, with their densities") {
  wave25::problem p = mixture({30, 22, 26}, wave25::border::sponge, true);
  const point here{82.5, 90, 61}, there{221, 133.7, 188};
  std::vector<f32> rho;
  for (std::size_t i = 0; i < p.size.count(); ++i)
    rho.push_back(900 + 100 * static_cast<f32>(scattered(i, 20)));
  // where places are spread over cells, these have one density
  const auto even = [&](const point& at, f32 value) {
    for (int x = 0; x < p.size.x; ++x)
      for (int y = 0; y < p.size.y; ++y)
        for (int z = 0; z < p.size.z; ++z)
          if (std::max({std::abs(x * 10 - at.x), std::abs(y * 10 - at.y), std::abs(z * 10 - at.z)}) < 50)
            rho[p.size.index({x, y, z})] = value;
  };
  even(here, 1100), even(there, 2700);
  const auto heard = [&](const point& from, const point& to) {
    p.sources = {{.peak_hz = 20, .delay = 0.04, .place = from, .kind = wave25::source_term::point}};
    p.receivers = {to};
    seismic::simulation s{seismic::problem{p, variable_density{rho}}};
    s.run(220);
    return s.trace(0);
  };
  std::vector<f32> one = heard(here, there), other = heard(there, here);
  for (f32& x : one) x *= 1100;
  for (f32& x : other) x *= 2700;
  CHECK(relative_error(one, other) < 1e-4);
}

TEST_CASE(
    "seismic: below the largest stable step no contrast of densities is unstable, and above it is refused") {
  for (const int worst : {2, 10, 1000}) {
    wave25::problem p = mixture({14, 12, 13}, wave25::border::reflects, false);
    std::vector<f32> rho;
    for (std::size_t i = 0; i < p.size.count(); ++i)
      rho.push_back(scattered(i, 3) == 0 ? static_cast<f32>(worst) : 1.f);
    seismic::problem whole{p, variable_density{rho}};
    whole.shot.step = 0.999 * whole.largest_stable_step();
    seismic::simulation s{whole};
    s.run(100);
    const f64 early = largest(s.field());
    s.run(1500);
    CHECK(largest(s.field()) < 100 * early);
    whole.shot.step = 1.001 * whole.largest_stable_step();
    CHECK_THROWS_WITH(seismic::simulation{whole}, Contains("is unstable"));
  }
  // a heavy cell among light ones takes a smaller step
  wave25::problem p{.size = {9, 9, 9}, .velocity = {2000}};
  std::vector<f32> rho(p.size.count(), 1.f);
  rho[p.size.index({4, 4, 4})] = 500;
  const seismic::problem even{p, variable_density{}}, heavy{p, variable_density{rho}};
  CHECK(even.largest_stable_step() == Approx(wave25::largest_stable_step(2000, 20)));
  CHECK(heavy.largest_stable_step() < 0.8 * even.largest_stable_step());
  seismic::problem wrong = heavy;
  wrong.shot.step = even.largest_stable_step() * 0.99;
  CHECK_THROWS_WITH(seismic::simulation{wrong},
                    Contains("seismic: a time step of") && Contains("it must not exceed"));
}

TEST_CASE("seismic: with densities the result depends neither on PEs, threads nor where it went on") {
  std::vector<f32> rho;
  for (std::size_t i = 0; i < grid::cells{20, 11, 13}.count(); ++i)
    rho.push_back(1 + 0.1f * static_cast<f32>(scattered(i, 20)));
  for (const auto border : {wave25::border::sponge, wave25::border::cpml})
    has_one_result(variable_density{rho}, border);
}

TEST_CASE("seismic: with densities a cpml reflects less than a sponge of the same width, and stays stable") {
  const auto layers = [](int beyond) {
    std::vector<f32> rho(std::size_t(28 + 2 * beyond), 1000.f);
    for (std::size_t z = std::size_t(15 + beyond); z < rho.size(); ++z) rho[z] = 1800;
    return variable_density{rho};
  };
  const auto [sponge, cpml] = reflected_in(layers);
  INFO("sponge " << sponge[0] << " and " << sponge[1] << ", cpml " << cpml[0] << " and " << cpml[1]);
  CHECK(cpml[0] < 0.3 * sponge[0]);
  CHECK(cpml[1] < 0.3 * sponge[1]);
  CHECK(cpml[1] < 0.1);
  std::vector<f32> rho;
  for (std::size_t i = 0; i < dying_waves.count(); ++i)
    rho.push_back(1 + 0.1f * static_cast<f32>(scattered(i, 20)));
  dies_away(variable_density{rho});
}

TEST_CASE("seismic: a mistake in a problem, a state or a checkpoint is named") {
  const wave25::problem p{.size = {10, 11, 12}, .edge = wave25::border::sponge, .edge_width = 2};
  const auto says = [&](const wave25::problem& shot, const variable_density& d, const std::string& words) {
    CHECK_THROWS_WITH((seismic::simulation{seismic::problem{shot, d}}), Contains(words));
  };
  says(
      p, {std::vector<f32>(7, 1.f)},
      "seismic: a density has 1 number, 12 (one for each z) or 1320 (one for each cell of 10 x 11 x 12), not "
      "7");
  std::vector<f32> rho(p.size.count(), 1000.f);
  rho[p.size.index({3, 4, 5})] = -1;
  says(p, {rho}, "seismic: a density is -1.000000 in cell (3, 4, 5); densities are positive");
  std::vector<f32> layers(12, 1.f);
  layers[7] = std::numeric_limits<f32>::quiet_NaN();
  says(p, {layers}, "in the cells of z = 7; densities are positive");
  says(p, {0}, "a density is 0.000000 in all cells");
  wave25::problem q = p;
  q.edge = wave25::border::pml;
  says(q, {},
       "seismic: a pml absorbs waves of constant density without anisotropy only: take the border `cpml`");
  q = p, q.size.z = 3, q.edge = wave25::border::reflects;
  says(q, {}, "the radius of the update is 4");
  CHECK_THROWS_WITH((seismic::simulation{seismic::problem{p, variable_density{}}}.run(-1)),
                    Contains("run(-1) asks for fewer than 0 steps"));

  const seismic::problem whole{p, variable_density{}}, other{p, variable_density{2}};
  seismic::simulation s{whole};
  seismic::state cut = s.save();
  cut.now[0].pop_back();
  CHECK_THROWS_WITH(s.restore(cut), Contains("seismic: the state is not one of this problem: its field "
                                             "`now[0]` has 1319 numbers, and that of the problem has 1320"));
  cut = s.save(), cut.before.clear();
  CHECK_THROWS_WITH(s.restore(cut), Contains("it has 0 fields `before`, and the problem has 1"));
  cut = s.save(), cut.time = -1;
  CHECK_THROWS_WITH(s.restore(cut), Contains("seismic: the state is after -1 steps"));
  cut = s.save(), cut.traces.resize(2);
  CHECK_THROWS_WITH(s.restore(cut), Contains("has 2 traces; the problem has 0 receivers"));
  const std::string bytes = to_bytes(s.save(), whole);
  const auto refuses = [](const std::string& b, const auto& of, const std::string& words) {
    CHECK_THROWS_WITH(seismic::state_from_bytes(b, of), Contains(words));
  };
  refuses(bytes, other, "seismic: the checkpoint belongs to another problem: the medium with its densities");
  refuses(bytes, seismic::problem{p, seismic::vti{}}, "the checkpoint belongs to another problem");
  refuses(bytes.substr(0, bytes.size() - 9), whole, "cut short or damaged");
  refuses("wsl seismic state 2\n", whole, "cut short");
  refuses("something else", whole, "seismic: this is not a checkpoint of seismic");
  wave25::simulation plain{p};
  refuses(wave25::to_bytes(plain.save(), p), whole, "this is not a checkpoint of seismic");
  CHECK_THROWS_WITH(wave25::state_from_bytes(bytes, p), Contains("this is not a checkpoint of wave25"));
  seismic::state more = s.save();
  more.now.push_back(more.now[0]);
  refuses(to_bytes(more, whole), whole, "seismic: the checkpoint is damaged: it has 2 arrays where 1 belong");
  seismic::state untimely = s.save();
  untimely.traces.push_back({1, 2, 3});
  refuses(to_bytes(untimely, whole), whole, "it has 1 arrays where 0 belong");
}
