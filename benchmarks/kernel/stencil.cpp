// SPDX-License-Identifier: MIT
// Stencils that are written as the update of a cell, beside plain OpenMP loops: the 25-point wave equation of
// wave.cpp, also beside wave25, which is written by hand; and heat on a plane, which moves 8 bytes a cell and
// step for six operations and so depends on memory even more.
#include <wsl/kernel/stencil.hpp>
#include <wsl/kernel/wave25.hpp>

#include <memory>

#include "heat_loop.hpp"
#include "part.hpp"
#include "wave_loop.hpp"

using namespace wsl;

namespace {

constexpr auto wave = [](auto u, auto k) {
  constexpr f32 w[] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
  auto sum = 3 * w[0] * u(0, 0, 0);
  for (int r = 1; r <= 4; ++r)
    sum += w[r] * ((u(0, 0, -r) + u(0, 0, r)) + (u(0, -r, 0) + u(0, r, 0)) + (u(-r, 0, 0) + u(r, 0, 0)));
  return 2 * u(0, 0, 0) - u.before(0, 0, 0) + k(0, 0, 0) * sum;
};
constexpr auto heat = [](auto u) {
  return u(0, 0) + 0.1f * ((u(1, 0) + u(-1, 0)) + (u(0, 1) + u(0, -1)) - 4 * u(0, 0));
};

/// Throws unless all cells agree to 1e-5 of the largest.
template <class Field, class Peer>
void compare(const char* what, const Field& field, const Peer& peer) {
  f64 largest = 0, error = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const f64 expected = peer(i);
    largest = std::max(largest, std::abs(expected));
    error = std::max(error, std::abs(static_cast<f64>(field[i]) - expected));
  }
  if (!(error <= 1e-5 * largest))
    throw std::runtime_error(std::string("the stencil and ") + what + " differ by " + std::to_string(error) +
                             " of " + std::to_string(largest));
}

std::string sharing(const stencils::tile_plan& p) {
  return std::to_string(p.cut.axis[p.cut.first].parts) + " x " +
         std::to_string(p.cut.axis[p.cut.second].parts) + " PEs, " + std::to_string(p.cut.depth) +
         " steps between exchanges, tiles of " + std::to_string(p.tile[0]) + " x " +
         std::to_string(p.tile[1]) + " x " + std::to_string(p.tile[2]);
}

struct waves {
  static constexpr int n = 256, steps = 16;
  stencils::simulation<wave, stencils::takes{.coefficients = 1}> ours{{n, n, n}};
  wave25::problem p{.size = {n, n, n}};
  std::unique_ptr<wave25::simulation> by_hand;
  bench::wave_loop loop{n};

  waves() {
    p.velocity.resize(p.size.count());
    for (std::size_t i = 0; i < p.velocity.size(); ++i)
      p.velocity[i] = 2000.f + static_cast<f32>(i * 7919 % 1000);
    by_hand = std::make_unique<wave25::simulation>(p);
    wave25::state start{0, std::vector<f32>(p.size.count()), std::vector<f32>(p.size.count()), {}, {}};
    std::vector<f32> factors(p.size.count());
    const f64 scale = p.time_step() / p.spacing;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto [x, y, z] = place(i);
      const f64 courant = f64{p.velocity[i]} * scale;
      loop.factor(x, y, z) = factors[i] = static_cast<f32>(courant * courant);
      loop.now(x, y, z) = start.now[i] = static_cast<f32>((x * 31 + y * 17 + z * 5) % 64) - 31.5f;
    }
    by_hand->restore(start);
    ours.load(start.now), ours.load_before(start.before), ours.coefficient(0, factors);
  }
  static std::array<int, 3> place(std::size_t i) {
    const int cell = static_cast<int>(i);
    return {cell / (n * n), cell / n % n, cell % n};
  }
  void check() {
    const std::vector<f32> field = ours.values(), hand = by_hand->field();
    compare("wave25", field, [&](std::size_t i) { return f64{hand[i]}; });
    compare("the loop", field, [&](std::size_t i) {
      const auto [x, y, z] = place(i);
      return f64{loop.now(x, y, z)};
    });
  }
  static double rate(const std::function<void()>& run) {
    return steps * static_cast<double>(n) * n * n / bench::seconds(run) / 1e9;
  }
};

struct plates {
  static constexpr int n = 4096, steps = 32;
  stencils::simulation<heat> ours{{n, n}};
  bench::heat_loop loop{n};

  plates() {
    std::vector<f32> start(std::size_t{n} * n);
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        loop.now(x, y) = start[static_cast<std::size_t>(x * n + y)] =
            static_cast<f32>((x * 31 + y * 17) % 64);
    ours.load(start);
  }
  void check() {
    compare("the loop", ours.values(),
            [&](std::size_t i) { return f64{loop.now(static_cast<int>(i) / n, static_cast<int>(i) % n)}; });
  }
  static double rate(const std::function<void()>& run) {
    return steps * static_cast<double>(n) * n / bench::seconds(run) / 1e9;
  }
};

const bool wave_entered = bench::enter("stencil-wave", [] {
  const auto all = std::make_shared<waves>();
  return bench::part{
      "256^3 cells, f32, 25 points, a velocity in each cell; " + sharing(all->ours.plan()),
      "Gcells/s",
      {{"wsl", [all] { return waves::rate([&] { all->ours.run(waves::steps); }); }},
       {"loop", [all] { return waves::rate([&] { all->loop.run(waves::steps, true); }); }},
       {"wave25, by hand", [all] { return waves::rate([&] { all->by_hand->run(waves::steps); }); }}},
      [all] { all->check(); }};
});

const bool heat_entered = bench::enter("stencil-heat", [] {
  const auto both = std::make_shared<plates>();
  return bench::part{"4096^2 cells, f32, 5 points; " + sharing(both->ours.plan()),
                     "Gcells/s",
                     {{"wsl", [both] { return plates::rate([&] { both->ours.run(plates::steps); }); }},
                      {"loop", [both] { return plates::rate([&] { both->loop.run(plates::steps); }); }}},
                     [both] { both->check(); }};
});

}  // namespace
