// SPDX-License-Identifier: MIT
// A sea floor in which sound is as fast as in water is silent for an equation that knows velocities only.
// Here it is three times as dense, and half of the wave comes back: (3 - 1) / (3 + 1).
#include <wsl/kernel/wave.hpp>

#include <cstdio>
using namespace wsl;

int main() {
  constexpr grid::cells size{52, 38, 44};
  constexpr int floor_at = 24;  // the first cell of rock
  constexpr f64 spacing = 10, speed = 1500, depth = (floor_at - 0.5) * spacing;
  wave25::problem shot{.size = size, .spacing = spacing, .step = 1e-3, .velocity = {speed}};
  const wave25::point source{185, 185, 150}, receiver{325, 185, 150};
  shot.sources = {{.peak_hz = 15, .delay = 0.08, .place = source, .kind = wave25::source_term::point}};
  shot.receivers = {receiver};

  std::vector<f32> density(size.z, 1000.f);  // kg/m3, one for each z
  for (int z = floor_at; z < size.z; ++z) density[std::size_t(z)] = 3000;
  seismic::simulation water{seismic::problem{shot, seismic::variable_density{1000}}};
  seismic::simulation sea{seismic::problem{shot, seismic::variable_density{density}}};
  water.run(290), sea.run(290);

  // What the floor adds, beside half of the wave of a source as far below the floor as the shot is above it.
  const f64 away = std::hypot(receiver.x - source.x, 2 * (depth - source.z));
  f64 wrong = 0, whole = 0;
  for (std::size_t i = 0; i < sea.trace(0).size(); ++i) {
    const f64 echo = f64{sea.trace(0)[i]} - f64{water.trace(0)[i]}, t = f64(i + 1) * shot.step,
              expected = 0.5 * shot.sources[0].value(t - away / speed) / (4 * 3.14159265358979 * away);
    wrong += (echo - expected) * (echo - expected), whole += expected * expected;
  }
  const bool same = std::sqrt(wrong / whole) < 0.03;
  std::printf("the echo of the floor is %s within 3 %%\n", same ? "the expected one" : "ANOTHER");
  return same ? 0 : 1;
}
