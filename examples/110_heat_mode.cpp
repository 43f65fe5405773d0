// SPDX-License-Identifier: MIT
// A stencil of one's own: the update of a cell is a lambda that reads neighbours at offsets, and the library
// makes the PE programs, their layout and the exchange of halos. Heat that is distributed like a mode of a
// plate with cold edges keeps its shape, and each step multiplies it by the same factor.
#include <wsl/kernel/stencil.hpp>

#include <cstdio>
using namespace wsl;

constexpr f64 rate = 0.1;
constexpr auto heat = [](auto u) {
  return u(0, 0) + rate * ((u(1, 0) + u(-1, 0)) + (u(0, 1) + u(0, -1)) - 4 * u(0, 0));
};
// What it reads is found while compiling.
static_assert(stencils::footprint_of<heat>.dimensions == 2 && stencils::footprint_of<heat>.radius[0] == 1);

int main() {
  constexpr int rows = 96, columns = 160, steps = 500, waves_y = 2, waves_x = 3;
  const auto half_angle = [](int waves, int n) { return 3.14159265358979323846 * waves / (n + 1) / 2; };
  std::vector<f64> mode;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      mode.push_back(std::sin(2 * half_angle(waves_y, rows) * (y + 1)) *
                     std::sin(2 * half_angle(waves_x, columns) * (x + 1)));

  stencils::simulation<heat, stencils::takes{}, f64> plate({rows, columns}, stencils::boundary::fixed);
  plate.load(mode);
  plate.run(steps);
  const std::vector<f64> warm = plate.values();

  const auto squared_sine = [](f64 x) { return std::sin(x) * std::sin(x); };
  const f64 factor =
      1 - 4 * rate * (squared_sine(half_angle(waves_y, rows)) + squared_sine(half_angle(waves_x, columns)));
  const f64 left = std::pow(factor, steps);
  f64 error = 0;
  for (std::size_t i = 0; i < mode.size(); ++i) error = std::max(error, std::abs(warm[i] - left * mode[i]));
  std::printf("after %d steps %.4f of the heat is left, and every cell %s what the formula says\n", steps,
              left, error < 1e-12 ? "has" : "has NOT");

  // The number of PEs and threads, and the steps between two exchanges, change no bit.
  stencils::simulation<heat, stencils::takes{}, f64> other({rows, columns}, stencils::boundary::fixed,
                                                           {.wide = 3, .high = 2, .depth = 5, .threads = 3});
  other.load(mode);
  other.run(steps);
  const bool same = other.values() == warm;
  std::printf("3 x 2 PEs that exchange after 5 steps compute %s\n", same ? "the same bits" : "OTHER bits");
  return error < 1e-12 && same ? 0 : 1;
}
