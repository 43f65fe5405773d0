// SPDX-License-Identifier: MIT
// Acoustic waves in layered rock, which are faster along the layers than across them (vertical transverse
// isotropy): two fields at two time steps, Thomsen's parameters epsilon and delta as coefficients, and sides
// that absorb. Where epsilon equals delta, wave fronts are ellipses. Scheme: Duveneck et al., SEG 2008.
#include <wsl/kernel/stencil.hpp>

#include <cstdio>
using namespace wsl;

constexpr auto anisotropic = [](auto p, auto q, auto courant, auto epsilon, auto delta) {
  constexpr f32 w[] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
  auto along = w[0] * p(0, 0), across = w[0] * q(0, 0);
  for (int r = 1; r <= 4; ++r) along += w[r] * (p(-r, 0) + p(r, 0)), across += w[r] * (q(0, -r) + q(0, r));
  const auto k = courant(0, 0);
  return std::tuple{2 * p(0, 0) - p.before(0, 0) + k * ((1 + 2 * epsilon(0, 0)) * along + across),
                    2 * q(0, 0) - q.before(0, 0) + k * ((1 + 2 * delta(0, 0)) * along + across)};
};
constexpr stencils::takes media{.fields = 2, .coefficients = 3};

constexpr int plane_size = 241, middle = plane_size / 2;

/// The distance in cells of the crest of the wave from the middle, along a line of cells.
f64 crest(const std::vector<f32>& u, int stride) {
  int best = 5;
  const auto at = [&](int i) { return f64(u[std::size_t(middle * plane_size + middle + i * stride)]); };
  for (int i = 5; i < middle - 20; ++i)
    if (at(i) > at(best)) best = i;
  const f64 left = at(best - 1), right = at(best + 1);
  return best + 0.5 * (left - right) / (left - 2 * at(best) + right);  // of the parabola through three cells
}

int main() {
  constexpr f32 epsilon = 0.22f;
  std::vector<f32> start;
  for (int x = 0; x < plane_size; ++x)
    for (int z = 0; z < plane_size; ++z)
      start.push_back(
          f32(std::exp(-0.02 * (std::pow(x - middle, 2) / (1 + 2 * epsilon) + std::pow(z - middle, 2)))));
  stencils::simulation<anisotropic, media> s({plane_size, plane_size}, stencils::boundary::absorbing(20),
                                             {.wide = 2});
  s.load(start, 0), s.load(start, 1);
  s.coefficient(0, std::vector<f32>(start.size(), 0.16f));  // (0.4 cells a step)^2
  s.coefficient(1, std::vector<f32>(start.size(), epsilon)),
      s.coefficient(2, std::vector<f32>(start.size(), epsilon));
  s.run(180);
  const std::vector<f32> u = s.values();
  const f64 along = crest(u, plane_size), upright = crest(u, 1), ratio = along / upright,
            expected = std::sqrt(1 + 2 * epsilon);
  std::printf("crests %.1f cells along the layers and %.1f across: %.3f times as far, expected %.3f\n", along,
              upright, ratio, expected);

  s.run(1200);
  f32 left = 0;
  for (f32 x : s.values()) left = std::max(left, std::abs(x));
  std::printf("later the sides %s all but 2 %% of it\n", left < 0.02 ? "have absorbed" : "have NOT absorbed");
  return std::abs(ratio / expected - 1) < 0.005 && left < 0.02 ? 0 : 1;
}
