// SPDX-License-Identifier: MIT
// Shallow water in a basin, by the scheme of Lax and Friedrichs: three fields, the depth of the water and its
// momentum in two directions. Walls are mirrors, in which the momentum across them changes its sign; so no
// water is lost.
#include <wsl/kernel/stencil.hpp>
#include <cstdio>
using namespace wsl;
namespace boundary = stencils::boundary;

constexpr f64 ratio = 0.1;  // of a step's time and a cell's length, in s/m
constexpr f64 gravity = 9.81;

constexpr auto water = [](auto h, auto p, auto q) {
  // what flows from the cell at (i, j) down, and what flows to the right
  const auto down = [&](int i, int j) {
    const auto speed = p(i, j) / h(i, j);
    return std::tuple{p(i, j), p(i, j) * speed + 0.5 * gravity * h(i, j) * h(i, j), q(i, j) * speed};
  };
  const auto right = [&](int i, int j) {
    const auto speed = q(i, j) / h(i, j);
    return std::tuple{q(i, j), p(i, j) * speed, q(i, j) * speed + 0.5 * gravity * h(i, j) * h(i, j)};
  };
  const auto [d0, d1, d2] = down(1, 0);
  const auto [u0, u1, u2] = down(-1, 0);
  const auto [r0, r1, r2] = right(0, 1);
  const auto [l0, l1, l2] = right(0, -1);
  const auto mean = [](auto u) { return 0.25 * ((u(1, 0) + u(-1, 0)) + (u(0, 1) + u(0, -1))); };
  return std::tuple{mean(h) - 0.5 * ratio * ((d0 - u0) + (r0 - l0)),
                    mean(p) - 0.5 * ratio * ((d1 - u1) + (r1 - l1)),
                    mean(q) - 0.5 * ratio * ((d2 - u2) + (r2 - l2))};
};
constexpr stencils::takes fields{.fields = 3};

int main() {
  constexpr int n = 60;
  const stencils::boundaries basin{boundary::mirrored_times({1, -1, 1}),
                                   boundary::mirrored_times({1, 1, -1})};
  stencils::simulation<water, fields, f64> s({n, n}, basin, {.wide = 2, .depth = 4});
  stencils::serial<water, fields, f64> reference({n, n}, basin);
  std::vector<f64> depth;  // m: a heap of water beside the middle
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      depth.push_back(1 + std::exp(-0.02 * ((y - 20) * (y - 20) + (x - 35) * (x - 35))));
  s.load(depth), reference.load(depth);

  const auto total = [](const std::vector<f64>& h) {
    f64 sum = 0;
    for (f64 x : h) sum += x;
    return sum;
  };
  s.run(200), reference.run(200);
  const std::vector<f64> h = s.values(0);
  const f64 change = std::abs(total(h) / total(depth) - 1);
  const bool same = h == reference.values(0) && s.values(1) == reference.values(1);
  std::printf("%.1f m3 of water, %.3f to %.3f m deep\n", total(h), *std::min_element(h.begin(), h.end()),
              *std::max_element(h.begin(), h.end()));
  std::printf("the amount %s, and there are %s bits as in the serial reference\n",
              change < 1e-13 ? "has not changed" : "HAS CHANGED", same ? "the same" : "OTHER");
  return change < 1e-13 && same ? 0 : 1;
}
