// SPDX-License-Identifier: MIT
// wave25 on 256^3 cells beside plain OpenMP loops. Both are bound by memory: 25 multiply-adds a cell are
// little, but 16 bytes a cell and step cross the memory bus (u, v and the velocity factor are read, v is
// written), unless several steps are done in cache.
#include <wsl/kernel/wave25.hpp>

#include <memory>

#include "part.hpp"
#include "predicted.hpp"
#include "wave_loop.hpp"

using namespace wsl;

namespace {

constexpr int n = 256, steps = 16;

/// Velocities differ from cell to cell, so that each needs its own factor.
f32 velocity(int x, int y, int z) { return 2000.f + static_cast<f32>((x * 7 + y * 13 + z * 29) % 1000); }

struct contest {
  wave25::problem p;
  wave25::simulation ours;
  bench::wave_loop loop{n}, plain{n};

  contest() : p(make_problem()), ours(p) {
    wave25::state start{0, std::vector<f32>(p.size.count()), std::vector<f32>(p.size.count()), {}, {}};
    const f64 scale = p.time_step() / p.spacing;
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z) {
          const f64 courant = p.velocity_at({x, y, z}) * scale;
          loop.factor(x, y, z) = plain.factor(x, y, z) = static_cast<f32>(courant * courant);
          loop.now(x, y, z) = plain.now(x, y, z) = start.now[p.size.index({x, y, z})] =
              static_cast<f32>((x * 31 + y * 17 + z * 5) % 64) - 31.5f;
        }
    ours.restore(start);
  }
  static wave25::problem make_problem() {
    wave25::problem p{.size = {n, n, n}};
    p.velocity.resize(p.size.count());
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z) p.velocity[p.size.index({x, y, z})] = velocity(x, y, z);
    return p;
  }

  double predicted() {
    scaling_profile profile({bench::predicted_threads});
    wave25::simulation s(p, {.threads = bench::predicted_threads},
                         threaded{.threads = 1, .observer = &profile});
    return bench::predicted_ratio(profile, [&] { s.run(steps); }, [&] { loop.run(steps, true); });
  }

  /// All have done the same number of steps.
  void check() { check(loop), check(plain); }
  void check(bench::wave_loop& peer) {
    const auto field = ours.field();
    f64 largest = 0, error = 0;
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z) {
          const f64 expected = peer.now(x, y, z);
          largest = std::max(largest, std::abs(expected));
          error = std::max(error, std::abs(static_cast<f64>(field[p.size.index({x, y, z})]) - expected));
        }
    if (!(error <= 1e-5 * largest))
      throw std::runtime_error("wave25 and the loop differ by " + std::to_string(error) + " of " +
                               std::to_string(largest));
  }
};

double rate(const std::function<void()>& run) {
  return steps * static_cast<double>(n) * n * n / bench::seconds(run) / 1e9;
}

const bool entered = bench::enter("wave", [] {
  const auto both = std::make_shared<contest>();
  const wave25::partition& cut = both->ours.cut();
  return bench::part{
      std::to_string(n) + "^3 cells, f32, a velocity in each cell; " + std::to_string(cut.wide) + " x " +
          std::to_string(cut.high) + " PEs, " + std::to_string(cut.depth) + " steps between exchanges",
      "Gcells/s",
      {{"wsl", [both] { return rate([&] { both->ours.run(steps); }); }},
       {"loop", [both] { return rate([&] { both->loop.run(steps, true); }); }},
       {"loop without #pragma omp simd", [both] { return rate([&] { both->plain.run(steps, false); }); }}},
      [both] { both->check(); },
      [both] { return both->predicted(); }};
});

}  // namespace
