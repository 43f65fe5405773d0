// SPDX-License-Identifier: MIT
// Heat spreads over a plate, one cell a PE: a five-point stencil, with a library module for the neighbours.
#include <wsl/collective/neighbours.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
using namespace wsl;

constexpr int W = 48, H = 32, steps = 100;
constexpr neighbours<f32> halo{0};  // colors 0 to 7

struct cell {
  f32 u = 0, around[5]{};  // around: the neighbours' values, by the side from which they came
  int heard = 0;
  void heat(pe&, f32 x) { u = x; }
  void step(pe& me) { halo.send(me, u); }
  void hear(pe& me, f32 v, port from) {
    around[index_of(from)] = v;
    if (++heard < halo.degree(me)) return;
    f32 flow = 0;
    for (port side : every_side) if (!halo.edge(me, side)) flow += around[index_of(side)] - u;
    u += 0.2f * flow;
    heard = 0;
  }
  using tasks = task_list<launch<&cell::heat>, launch<&cell::step>, on<halo, &cell::hear>, sends<halo>>;
};
constexpr layout plate = layout{wse2, W, H}.place<cell>(all).wire(halo);
static_assert(routed<plate>());

int main() {
  fabric f{plate};
  f.launch<&cell::heat>(at(24, 16), 1000.f);
  for (int t = 0; t < steps; ++t) f.launch<&cell::step>(all);
  const auto u = device{f}.copy_out(&cell::u, all);

  std::vector<f32> v(W * H), next = v;  // the same, serially
  v[16 * W + 24] = 1000;
  const auto flow = [&](bool there, std::size_t from, std::size_t to) { return there ? v[from] - v[to] : 0; };
  for (int t = 0; t < steps; ++t, v = next)
    for (std::size_t i = 0; i < W * H; ++i)
      next[i] = v[i] + 0.2f * (flow(i % W + 1 < W, i + 1, i) + flow(i % W > 0, i - 1, i) +
                               flow(i >= W, i - W, i) + flow(i + W < W * H, i + W, i));
  int wrong = 0;
  for (std::size_t i = 0; i < W * H; ++i) wrong += (u[i] - v[i]) * (u[i] - v[i]) > 1e-6f;
  std::printf("after %d steps the centre has %.3f; %d cells differ from the serial run\n", steps,
              u[16 * W + 24], wrong);
  return wrong == 0 ? 0 : 1;
}
