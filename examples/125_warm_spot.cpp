// SPDX-License-Identifier: MIT
// A burner heats one cell of a plate of 201 x 201 cells, and two thermometers record. The plate marches many
// steps between two exchanges of its PEs all the same: each serves its own cells.
#include <wsl/kernel/stencil.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

constexpr f64 rate = 0.2;  // of diffusion, in cells squared a step
constexpr auto heat = [](auto u) {
  return u(0, 0) + f32(rate) * ((u(1, 0) + u(-1, 0)) + (u(0, 1) + u(0, -1)) - 4 * u(0, 0));
};

int main() {
  constexpr int n = 201, steps = 1000;
  stencils::simulation<heat> plate({n, n}, stencils::boundary::fixed);
  plate.source({n / 2, n / 2}, [](i64 step) { return step == 0 ? 1000.f : 0.f; });
  const int near = plate.receiver({n / 2, n / 2 + 10}), far = plate.receiver({n / 2 + 18, n / 2 + 24});
  plate.run(steps);

  // The heat of one moment spreads as a bell: exp(-r^2 / 4 D t) / 4 pi D t. At a distance r it is largest at
  // t = r^2 / 4 D.
  const auto off = [&](int receiver, f64 away) {
    f64 wrong = 0, most = 0;
    for (int step = 0; step < steps; ++step) {
      const f64 spread = 4 * rate * step,
                bell = step ? 1000 * std::exp(-away * away / spread) / (3.14159265358979 * spread) : 0;
      wrong = std::fmax(wrong, std::fabs(f64{plate.trace(receiver)[std::size_t(step)]} - bell));
      most = std::fmax(most, bell);
    }
    return wrong / most;
  };
  const bool right = off(near, 10) < 0.02 && off(far, 30) < 0.02;
  std::printf("both thermometers show %s within 2 %%\n", right ? "the bell" : "SOMETHING ELSE");
  return right ? 0 : 1;
}
