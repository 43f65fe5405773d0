// SPDX-License-Identifier: MIT
// Conway's Game of Life as a stencil: eight neighbours with diagonals, and a condition instead of a branch,
// because the update is called on many cells at a time. The plane is a torus, so a glider that moves by one
// cell in each direction every four generations comes back.
#include <wsl/kernel/stencil.hpp>

#include <cstdio>
using namespace wsl;

constexpr auto life = [](auto cell) {
  const auto alive = (cell(-1, -1) + cell(-1, 0) + cell(-1, 1)) + (cell(0, -1) + cell(0, 1)) +
                     (cell(1, -1) + cell(1, 0) + cell(1, 1));
  return select(alive == 3, 1, select(alive == 2, cell(0, 0), 0));
};
static_assert(stencils::footprint_of<life>.diagonal);

constexpr int torus_size = 12;

void draw(const std::vector<f32>& cells) {
  for (int y = 0; y < torus_size; ++y, std::putchar('\n'))
    for (int x = 0; x < torus_size; ++x) std::putchar(cells[std::size_t(y * torus_size + x)] > 0 ? '#' : '.');
}

int main() {
  std::vector<f32> glider(torus_size * torus_size);
  for (auto [y, x] : {std::pair{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}})
    glider[std::size_t(y * torus_size + x)] = 1;

  stencils::simulation<life> torus({torus_size, torus_size}, stencils::boundary::periodic,
                                   {.wide = 2, .high = 2, .depth = 3});
  torus.load(glider);
  torus.run(22);
  std::printf("after 22 generations:\n");
  draw(torus.values());
  torus.run(4 * torus_size - 22);
  const bool is_back = torus.values() == glider;
  std::printf("after %d generations the glider %s\n", 4 * torus_size, is_back ? "is back" : "is NOT back");
  return is_back ? 0 : 1;
}
