// SPDX-License-Identifier: MIT
// BiCGStab on 128^3 cells beside plain OpenMP loops. Both are bound by memory: wsl moves 16 words of its
// vectors for each cell and iteration, and a word twice for each weight that differs from cell to cell; the
// loops move 25 and as many. With one such weight 18 words are 151 MB.
#include <wsl/kernel/solver.hpp>

#include <memory>

#include "bicgstab_loop.hpp"
#include "part.hpp"
#include "predicted.hpp"

using namespace wsl;

namespace {

constexpr int n = 128, iterations = 20;

/// The test system of the SDK's bicgstab, 6 + y and -1, or one that convects and diffuses differently from
/// cell to cell.
solver::stencil make_system(bool all_weights) {
  solver::stencil a{.size = {n, n, n}};
  for (int k = 0; k < (all_weights ? solver::stencil_points : 1); ++k) {
    std::vector<f32>& w = a.*solver::stencil_sides[k].weights;
    w.clear();
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z)
          w.push_back(k == 0 ? 6.f + (all_weights ? 0.5f : static_cast<f32>(y))
                             : -1 - static_cast<f32>((x * 7 + y * 13 + z * 29 + k) % 8) / 64);
  }
  return a;
}

struct contest {
  solver::stencil a;
  bench::bicgstab_loop loop;
  solver::solver_on<solver::bicgstab_method> ours;
  std::vector<f32> b;

  explicit contest(bool all_weights)
      : a(make_system(all_weights)), loop(n, all_weights), ours(a), b(a.size.count()) {
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z) {
          const grid::cells at{x, y, z};
          loop.right_side(x, y, z) = b[a.size.index(at)] =
              1 + static_cast<f32>((x * 31 + y * 17 + z * 5) % 64);
          for (int k = 0; k < (all_weights ? solver::stencil_points : 1); ++k)
            loop.weight(k, x, y, z) = solver::weight_at(a, a.*solver::stencil_sides[k].weights, at);
        }
  }

  // A turn begins anew, as iterations beyond convergence would divide rounding errors.
  double rate_of_ours() {
    ours.load(b, {.tolerance = 0});
    ours.iterate(1);
    return (iterations - 1) / bench::seconds([&] { ours.iterate(iterations - 1); });
  }
  double rate_of_loop() {
    loop.begin();
    loop.iterate(1);
    return (iterations - 1) / bench::seconds([&] { loop.iterate(iterations - 1); });
  }
  double predicted() {
    scaling_profile profile({bench::predicted_threads});
    solver::solver_on<solver::bicgstab_method> s(a, {.threads = bench::predicted_threads},
                                                 threaded{.threads = 1, .observer = &profile});
    s.load(b, {.tolerance = 0});
    loop.begin();
    return bench::predicted_ratio(
        profile, [&] { s.iterate(3); }, [&] { loop.iterate(3); });  // 18 in all: as many as do not converge
  }
  // After few iterations: rounding errors, which differ, grow from each to the next.
  void check() {
    constexpr int few = 5;
    ours.load(b, {.tolerance = 0}), loop.begin();
    ours.iterate(few), loop.iterate(few);
    ours.close();
    const std::vector<f32> x = ours.result();
    f64 largest = 0, error = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) {
          const f64 expected = loop.solution(i, j, k);
          largest = std::max(largest, std::abs(expected));
          error = std::max(error, std::abs(static_cast<f64>(x[a.size.index({i, j, k})]) - expected));
        }
    const f64 left = solver::serial::relative_residual(a, x, b);
    if (!(error <= 1e-4 * largest) || !(std::abs(left - loop.residual()) < 1e-2 * left))
      throw std::runtime_error("bicgstab and the loop differ by " + std::to_string(error) + " of " +
                               std::to_string(largest) + ", the residuals are " + std::to_string(left) +
                               " and " + std::to_string(loop.residual()));
  }
};

const bool entered = bench::enter("bicgstab", [] {
  const auto one = std::make_shared<contest>(false), seven = std::make_shared<contest>(true);
  return bench::part{
      std::to_string(n) + "^3 cells, f32, one weight of its own in each cell; " +
          std::to_string(one->ours.wide()) + " x " + std::to_string(one->ours.high()) + " PEs",
      "iterations/s",
      {{"wsl", [one] { return one->rate_of_ours(); }},
       {"loop", [one] { return one->rate_of_loop(); }},
       {"wsl, seven weights of its own in each cell", [seven] { return seven->rate_of_ours(); }},
       {"loop, seven weights of its own in each cell", [seven] { return seven->rate_of_loop(); }}},
      [one, seven] { one->check(), seven->check(); },
      [one] { return one->predicted(); }};
});

}  // namespace
