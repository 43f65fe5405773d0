// SPDX-License-Identifier: MIT
// The adjoint of waves in other media and migration with it: the dot-product test, the gradient beside
// differences of the misfit, checkpoints that change nothing, and reflectors that appear where they are.

#include "wave_media.hpp"
#include "wave_traces.hpp"

using namespace wave_media;
using Catch::Contains;
using seismic::variable_density, seismic::vti;
using wave25::traces;

namespace {

wave25::problem heterogeneous(wave25::border kind, bool free_surface) {
  wave25::problem p{
      .size = {25, 21, 23}, .spacing = 10, .edge = kind, .edge_width = 5, .free_surface = free_surface};
  p.velocity.resize(p.size.count());
  for (int x = 0; x < 25; ++x)
    for (int y = 0; y < 21; ++y)
      for (int z = 0; z < 23; ++z)
        p.velocity[p.size.index({x, y, z})] = 1800 + 25 * f32(z) + 60 * f32(std::sin(0.7 * x + 0.5 * y * z));
  p.sources = {{.place = point{91.3, 107.7, 62.1}, .kind = wave25::source_term::point},
               {.at = {15, 10, 9}, .kind = wave25::source_term::point}};
  p.receivers = {{8, 8, 8}, point{161.5, 92.2, 120.8}, point{122.2, 133.7, 66}};
  return p;
}
/// Densities between 1000 and 3000.
variable_density any_density(const grid::cells& size) {
  std::vector<f32> rho;
  for (std::size_t i = 0; i < size.count(); ++i)
    rho.push_back(1000 + 100 * static_cast<f32>(scattered(i, 20)));
  return {rho};
}
/// Rock that is anisotropic in some cells, elliptically in others, and isotropic in the rest.
vti any_rock(const grid::cells& size) {
  std::vector<f32> epsilon, delta;
  for (std::size_t i = 0; i < size.count(); ++i) {
    const int kind = static_cast<int>(i / 3 % 3);
    delta.push_back(kind == 2 ? 0 : 0.02f * static_cast<f32>(scattered(3 * i, 10)) - 0.05f);
    epsilon.push_back(delta.back() + (kind == 0 ? 0.05f + 0.02f * static_cast<f32>(scattered(i, 8)) : 0));
  }
  return {epsilon, delta};
}
template <class Medium>
traces recorded(const seismic::problem<Medium>& p, int steps) {
  seismic::simulation s{p};
  s.run(steps);
  traces t;
  for (std::size_t i = 0; i < p.shot.receivers.size(); ++i) t.push_back(s.trace(i));
  return t;
}

template <class Medium>
void passes_dot_product_test(const Medium& medium, wave25::border kind, bool free_surface) {
  constexpr int steps = 160;
  seismic::problem p{heterogeneous(kind, free_surface), medium};
  std::vector<wave25::source>& sources = p.shot.sources;
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i].wavelet = noise(steps, 1 + unsigned(i));
  traces data;
  for (std::size_t i = 0; i < p.shot.receivers.size(); ++i) data.push_back(noise(steps, 7 + unsigned(i)));
  const traces forward = recorded(p, steps), backward = recorded(adjoint_of(p, data, steps), steps);
  f64 there = 0, back = 0, size = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    there += dot(forward[i], data[i]), size += std::sqrt(dot(forward[i], forward[i]) * dot(data[i], data[i]));
  for (std::size_t i = 0; i < sources.size(); ++i)
    back += dot(sources[i].wavelet, std::vector<f32>(backward[i].rbegin(), backward[i].rend()));
  INFO("border " << static_cast<int>(kind) << ", free surface " << free_surface << ": " << there << " and "
                 << back << " of " << size);
  CHECK(std::abs(there - back) < 5e-6 * size);
}

/// The gradient beside the difference of the misfits of two models around one.
template <class Medium>
void has_gradient_of_misfit(const Medium& medium, bool free_surface) {
  constexpr int steps = 120;
  seismic::problem p{heterogeneous(wave25::border::reflects, free_surface), medium};
  for (wave25::source& s : p.shot.sources) s.peak_hz = 35, s.delay = 0.03, s.amplitude = 100;
  p.shot.step = 0.9 * p.time_step();
  const traces zero(p.shot.receivers.size(), std::vector<f32>(steps));
  const auto misfit = [&](const auto& q) {
    f64 sum = 0;
    for (const auto& t : recorded(q, steps)) sum += dot(t, t) / 2;
    return sum;
  };
  const wave25::image i = migrate(p, steps, [](const traces& synthetic) { return synthetic; });
  CHECK(i.misfit == Approx(misfit(p)));
  CHECK(i.forward_steps == 2 * steps);
  f64 expected = 0;
  seismic::problem faster = p, slower = p;
  const grid::cells& size = p.shot.size;
  for (int x = 0; x < size.x; ++x)
    for (int y = 0; y < size.y; ++y)
      for (int z = 0; z < size.z; ++z) {
        const std::size_t k = size.index({x, y, z});
        const f64 share = std::exp(-(std::pow(x - 12., 2) + std::pow(y - 11., 2) + std::pow(z - 9., 2)) / 8),
                  v = f64{p.shot.velocity[k]}, m = 1 / (v * v), change = -2e-3 * share * m;
        faster.shot.velocity[k] = f32(1 / std::sqrt(m + change)),
        slower.shot.velocity[k] = f32(1 / std::sqrt(m - change));
        const f64 fast = f64{faster.shot.velocity[k]}, slow = f64{slower.shot.velocity[k]};
        expected += f64{i.gradient[k]} * (1 / (fast * fast) - 1 / (slow * slow));
      }
  INFO("free surface " << free_surface);
  CHECK(misfit(faster) - misfit(slower) == Approx(expected).epsilon(1e-2));
}

/// A shot over a reflector, the receivers in a square near the surface; what the medium above it explains is
/// taken away. The image below the source, away from the direct wave, by cells along z.
template <class Medium>
std::vector<f64> image_of_reflector(const std::vector<f32>& velocity, const Medium& truth,
                                    const Medium& model) {
  wave25::problem p{.size = {49, 49, 44}, .spacing = 10, .edge = wave25::border::sponge, .edge_width = 10};
  p.velocity = {2000};
  p.step = 1.2e-3;
  p.sources = {
      {.peak_hz = 25, .delay = 0.05, .place = point{243, 238, 124}, .kind = wave25::source_term::point}};
  for (int x = 11; x < 38; x += 2)
    for (int y = 11; y < 38; y += 2) p.receivers.push_back({x, y, 12});
  constexpr int steps = 300;
  seismic::problem whole{p, truth};
  whole.shot.velocity = velocity;
  const traces data = recorded(whole, steps);
  const auto residual = [&](traces synthetic) {
    for (std::size_t i = 0; i < data.size(); ++i)
      for (std::size_t n = 0; n < data[i].size(); ++n) synthetic[i][n] -= data[i][n];
    return synthetic;
  };
  const wave25::image i = migrate(seismic::problem{p, model}, steps, residual, {.every = 4});
  std::vector<f64> profile(44);
  for (int z = 18; z < 34; ++z)
    for (int x = 21; x < 28; ++x)
      for (int y = 21; y < 28; ++y)
        profile[static_cast<std::size_t>(z)] -= f64{i.gradient[p.size.index({x, y, z})]};
  return profile;
}
int peak_of(const std::vector<f64>& profile) {
  const auto most = std::max_element(profile.begin(), profile.end(),
                                     [](f64 a, f64 b) { return std::abs(a) < std::abs(b); });
  return static_cast<int>(most - profile.begin());
}
std::vector<f32> layers(int interface, f32 above, f32 below) {
  std::vector<f32> v(44, above);
  for (int z = interface; z < 44; ++z) v[static_cast<std::size_t>(z)] = below;
  return v;
}

}  // namespace

TEST_CASE("seismic: the adjoint passes the dot-product test") {
  const grid::cells size{25, 21, 23};
  for (const auto kind : {wave25::border::reflects, wave25::border::sponge})
    for (const bool free_surface : {false, true}) {
      passes_dot_product_test(any_density(size), kind, free_surface);
      passes_dot_product_test(any_rock(size), kind, free_surface);
    }
}

TEST_CASE("seismic: the gradient is that of the misfit") {
  const grid::cells size{25, 21, 23};
  for (const bool free_surface : {false, true}) {
    has_gradient_of_misfit(any_density(size), free_surface);
    has_gradient_of_misfit(any_rock(size), free_surface);
  }
}

TEST_CASE("seismic: without densities and anisotropy the image is that of wave25") {
  wave25::problem p = heterogeneous(wave25::border::sponge, true);
  p.step = 0.9 * p.time_step();
  for (wave25::source& s : p.sources) s.peak_hz = 35, s.delay = 0.03;
  const auto same = [](const traces& synthetic) { return synthetic; };
  const wave25::image expected = wave25::migrate(p, 80, same, {.every = 2});
  const auto is_expected = [&](const auto& medium) {
    const wave25::image i = migrate(seismic::problem{p, medium}, 80, same, {.every = 2});
    CHECK(relative_error(i.gradient, expected.gradient) < 1e-4);
    CHECK(relative_error(i.illumination, expected.illumination) < 1e-4);
    CHECK(i.misfit == Approx(expected.misfit).epsilon(1e-4));
  };
  is_expected(variable_density{1900});
  is_expected(vti{});
}

TEST_CASE("seismic: how much memory the checkpoints have changes steps but no bit") {
  seismic::problem p{heterogeneous(wave25::border::sponge, true), any_rock({25, 21, 23})};
  for (wave25::source& s : p.shot.sources) s.peak_hz = 35, s.delay = 0.03;
  const auto with = [&](f64 fields, int every) {
    return migrate(p, 50, [](const traces& synthetic) { return synthetic; },
                   {.memory = 8 * fields * static_cast<f64>(p.shot.size.count()), .every = every});
  };
  const wave25::image whole = with(1000, 1);
  CHECK(whole.forward_steps == 100);
  for (const f64 fields : {30., 8., 4.}) {
    const wave25::image i = with(fields, 1);
    CHECK(i.gradient == whole.gradient);
    CHECK(i.illumination == whole.illumination);
    CHECK(i.forward_steps > 100);
  }
  CHECK_THROWS_WITH(with(3.9, 1), Contains("seismic: imaging needs memory for at least 8 fields of 25 x 21 x "
                                           "23 cells, which are 386400 bytes"));
  CHECK_THROWS_WITH(with(9, 0), Contains("seismic: imaging takes at least 1 step"));
  CHECK_THROWS_WITH(migrate(p, 10, {}), Contains("seismic: the residual of migrate is an empty function"));
}

TEST_CASE("seismic: a reflector is imaged where it is, within a cell") {
  constexpr int interface = 27;  // between the cells 26 and 27
  const auto is_there = [&](const std::vector<f64>& profile) {
    INFO("peak in cell " << peak_of(profile));
    CHECK(std::abs(peak_of(profile) - (interface - 0.5)) <= 1);
    CHECK(profile[static_cast<std::size_t>(peak_of(profile))] > 0);  // as where the velocity grows
  };
  const std::vector<f32> one{2000}, two = layers(interface, 2000, 2300);
  is_there(image_of_reflector(one, variable_density{layers(interface, 1000, 1500)}, variable_density{1000}));
  is_there(image_of_reflector(two, variable_density{layers(15, 1000, 1200)},
                              variable_density{layers(15, 1000, 1200)}));
  is_there(image_of_reflector(two, vti{0.15f, 0.05f}, vti{0.15f, 0.05f}));
  is_there(image_of_reflector(two, vti{0.2f, 0.2f}, vti{0.2f, 0.2f}));
}
