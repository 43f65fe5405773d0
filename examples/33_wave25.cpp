// SPDX-License-Identifier: MIT
// A seismic shot: a source shakes soft ground above hard rock, and receivers along the surface record the
// waves that come back. The grid's lines along z lie in the memories of PEs; the 25-point stencil of the
// acoustic wave equation runs on a fabric.
#include <wsl/kernel/wave25.hpp>

#include <cstdio>
using namespace wsl;

constexpr wave25::cells size{121, 45, 81};        // x, y, and z down into the earth
constexpr int surface = 12, rock = 50;            // above `surface` and at the sides lies the absorbing frame

wave25::problem shot() {
  wave25::problem p{.size = size, .spacing = 10, .edge = wave25::border::pml, .edge_width = 10};
  p.velocity.assign(size.z, 1500);                // m/s, one for each z
  for (std::size_t z = rock; z < p.velocity.size(); ++z) p.velocity[z] = 3000;
  p.sources = {{.at = {30, 22, surface}, .peak_hz = 20, .delay = 0.06}};
  for (int x = 30; x < 110; x += 5) p.receivers.push_back({x, 22, surface});
  return p;
}

/// A vertical cut through the source: crests and troughs as characters.
void draw(const std::vector<f32>& u, f32 scale) {
  for (int z = 0; z < size.z; z += 5) {
    for (int x = 0; x < size.x; x += 2) {
      const f32 v = u[size.index({x, 22, z})] / scale;
      std::putchar(v > 0.3f ? '#' : v > 0.05f ? '+' : v < -0.3f ? '=' : v < -0.05f ? '-' :
                   z < rock ? ' ' : '.');
    }
    std::putchar('\n');
  }
}

int main() {
  const wave25::problem p = shot();
  wave25::simulation s{p};
  s.run(320);
  draw(s.field(), 0.004f);
  s.run(100);

  int wrong = 0;
  for (std::size_t i = 4; i < p.receivers.size(); i += 4) {
    const std::vector<f32>& heard = s.trace(i);
    const f64 dt = p.time_step(), distance = (p.receivers[i].at.x - 30) * p.spacing,
              expected = 0.06 + distance / 1500;
    const auto direct =
      std::max_element(heard.begin(), heard.begin() + static_cast<int>((expected + 0.04) / dt)) -
      heard.begin();
    wrong += std::abs(static_cast<f64>(direct + 1) * dt - expected) > 0.005;
    std::printf("%3.0f m away the direct wave comes after %.2f s, expected %.2f s\n", distance,
                static_cast<f64>(direct + 1) * dt, expected);
  }

  wave25::serial reference{p};  // the same in f64, one cell after the other
  reference.run(20);
  wave25::simulation again{p};
  again.run(20);
  const auto u = again.field();
  f64 error = 0, largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    error = std::max(error, std::abs(u[i] - reference.field()[i])),
    largest = std::max(largest, std::abs(reference.field()[i]));
  std::printf("after 20 steps it %s the serial reference to 1e-5\n",
              error < 1e-5 * largest ? "agrees with" : "DIFFERS from");
  return wrong == 0 && error < 1e-5 * largest ? 0 : 1;
}
