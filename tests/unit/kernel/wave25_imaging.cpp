// SPDX-License-Identifier: MIT
// The adjoint of wave25 and what is made with it: the dot-product test, the gradient beside differences of
// the misfit, checkpoints that change nothing, and reflectors that appear where they are.
#include <wsl/kernel/wave25/imaging.hpp>

#include "wave_traces.hpp"

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::wave25;

namespace {

problem heterogeneous(border kind, bool free_surface) {
  problem p{.size = {25, 21, 23}, .spacing = 10, .edge = kind, .edge_width = 5, .free_surface = free_surface};
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
traces recorded(const problem& p, int steps) {
  simulation s{p};
  s.run(steps);
  traces t;
  for (std::size_t i = 0; i < p.receivers.size(); ++i) t.push_back(s.trace(i));
  return t;
}
traces difference(traces a, const traces& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t n = 0; n < a[i].size(); ++n) a[i][n] -= b[i][n];
  return a;
}

/// A shot over two layers, the receivers in a square near the surface; the residuals are those of the upper
/// layer alone.
struct survey {
  problem model{.size = {49, 49, 44}, .spacing = 10, .edge = border::pml, .edge_width = 10};
  traces data;
  int interface = 27, steps = 300;

  survey() {
    model.velocity.assign(44, 2000);
    model.sources = {
        {.peak_hz = 25, .delay = 0.05, .place = point{243, 238, 124}, .kind = wave25::source_term::point}};
    for (int x = 11; x < 38; x += 2)
      for (int y = 11; y < 38; y += 2) model.receivers.push_back({x, y, 12});
    problem truth = model;
    for (int z = interface; z < 44; ++z) truth.velocity[static_cast<std::size_t>(z)] = 2300;
    model.step = truth.step = truth.time_step();
    data = recorded(truth, steps);
  }
  image migrated(const imaging_options& o) const {
    return migrate(model, steps, [&](const traces& synthetic) { return difference(synthetic, data); }, o);
  }
};

}  // namespace

TEST_CASE("wave25: the adjoint passes the dot-product test") {
  const border kind = GENERATE(border::reflects, border::sponge, border::pml);
  const bool free_surface = GENERATE(false, true);
  problem p = heterogeneous(kind, free_surface);
  constexpr int steps = 160;
  for (std::size_t i = 0; i < p.sources.size(); ++i) p.sources[i].wavelet = noise(steps, 1 + unsigned(i));
  traces data;
  for (std::size_t i = 0; i < p.receivers.size(); ++i) data.push_back(noise(steps, 7 + unsigned(i)));
  const traces forward = recorded(p, steps), backward = recorded(adjoint_of(p, data, steps), steps);
  f64 there = 0, back = 0, size = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    there += dot(forward[i], data[i]), size += std::sqrt(dot(forward[i], forward[i]) * dot(data[i], data[i]));
  for (std::size_t i = 0; i < p.sources.size(); ++i)
    back += dot(p.sources[i].wavelet, std::vector<f32>(backward[i].rbegin(), backward[i].rend()));
  INFO("border " << static_cast<int>(kind) << ": " << there << " and " << back << " of " << size);
  CHECK(std::abs(there - back) < (kind == border::pml ? 1e-3 : 5e-6) * size);
}

TEST_CASE("wave25: the gradient is that of the misfit") {
  const bool free_surface = GENERATE(false, true);
  problem p = heterogeneous(border::reflects, free_surface);
  p.step = 0.9 * p.time_step();
  constexpr int steps = 120;
  for (source& s : p.sources) s.peak_hz = 35, s.delay = 0.03, s.amplitude = 100;
  const traces zero(p.receivers.size(), std::vector<f32>(steps));
  const auto misfit = [&](const problem& q) {
    f64 sum = 0;
    for (const auto& t : recorded(q, steps)) sum += dot(t, t) / 2;
    return sum;
  };
  const image i = migrate(p, steps, [](const traces& synthetic) { return synthetic; });
  CHECK(i.misfit == Approx(misfit(p)));
  // A change of 1 / c^2 in a ball.
  f64 expected = 0;
  problem faster = p, slower = p;
  for (int x = 0; x < 25; ++x)
    for (int y = 0; y < 21; ++y)
      for (int z = 0; z < 23; ++z) {
        const std::size_t k = p.size.index({x, y, z});
        const f64 share = std::exp(-(std::pow(x - 12., 2) + std::pow(y - 11., 2) + std::pow(z - 9., 2)) / 8),
                  m = 1 / (f64{p.velocity[k]} * f64{p.velocity[k]}), change = -2e-3 * share * m;
        faster.velocity[k] = f32(1 / std::sqrt(m + change)),
        slower.velocity[k] = f32(1 / std::sqrt(m - change));
        const f64 fast = f64{faster.velocity[k]}, slow = f64{slower.velocity[k]};
        expected += f64{i.gradient[k]} * (1 / (fast * fast) - 1 / (slow * slow));
      }
  CHECK(misfit(faster) - misfit(slower) == Approx(expected).epsilon(1e-2));
}

TEST_CASE("wave25: how much memory the checkpoints have changes steps but no bit") {
  problem p = heterogeneous(border::pml, true);
  for (source& s : p.sources) s.peak_hz = 35, s.delay = 0.03;
  const auto with = [&](f64 fields, int every) {
    return migrate(p, 50, [](const traces& synthetic) { return synthetic; },
                   {.memory = 4 * fields * static_cast<f64>(p.size.count()), .every = every});
  };
  const image whole = with(1000, 1);
  CHECK(whole.forward_steps == 100);
  i64 before = 0;
  for (const f64 fields : {60., 30., 12., 8., 4.}) {
    const image i = with(fields, 1);
    CHECK(i.gradient == whole.gradient);
    CHECK(i.illumination == whole.illumination);
    CHECK(i.forward_steps >= before);
    before = i.forward_steps;
  }
  CHECK(before > 400);
  CHECK(with(9, 3).gradient == with(500, 3).gradient);
  CHECK_THROWS_WITH(with(3.9, 1), Catch::Contains("at least 4 fields of 25 x 21 x 23 cells"));
  CHECK_THROWS_WITH(with(9, 0), Catch::Contains("at least 1 step"));
  CHECK_THROWS_AS(migrate(p, 10, {}), std::invalid_argument);
  CHECK_THROWS_WITH(migrate(p, 10, {}), Catch::Contains("wave25: the residual of migrate is an empty func"));
}

TEST_CASE("wave25: a reflector is imaged where it is, within a cell") {
  const survey s;
  const image i = s.migrated({.every = 4});
  // Below the source, away from the direct wave.
  int peak = 0;
  std::vector<f64> profile(44);
  for (int z = 18; z < 34; ++z) {
    f64& sum = profile[static_cast<std::size_t>(z)];
    for (int x = 21; x < 28; ++x)
      for (int y = 21; y < 28; ++y) sum += f64{i.gradient[s.model.size.index({x, y, z})]};
    if (std::abs(sum) > std::abs(profile[static_cast<std::size_t>(peak)])) peak = z;
  }
  // The interface lies between the cells 26 and 27.
  INFO("peak in cell " << peak);
  CHECK(std::abs(peak - (s.interface - 0.5)) <= 1);
  CHECK(profile[static_cast<std::size_t>(peak)] < 0);  // the velocity grows there
}

TEST_CASE("wave25: traces that the adjoint cannot take are named") {
  using Catch::Contains;
  const problem p = heterogeneous(border::reflects, false);
  CHECK_THROWS_WITH(adjoint_of(p, traces(2), 5), Contains("a trace for each of 3 receivers, not 2"));
  CHECK_THROWS_WITH(adjoint_of(p, traces(3, std::vector<f32>(6)), 5),
                    Contains("trace 0 has 6 samples, and there are 5 steps"));
}
