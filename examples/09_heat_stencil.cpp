// SPDX-License-Identifier: MIT
// Heat spreads over a plate of 48 x 32 PEs, one cell each: a five-point stencil, with a library module for the neighbours.
#include <wsl/collective/neighbours.hpp>

#include <cstdio>
using namespace wsl;

constexpr neighbours<f32> halo{0};  // colors 0 to 7

struct cell {
  f32 u = 0;
  f32 around[5]{};  // by the side from which it came
  int heard = 0;

  void step(pe& me) { halo.send(me, u); }
  void hear(pe& me, f32 v, port from) {
    around[index_of(from)] = v;
    if (++heard < halo.degree(me)) return;
    f32 flow = 0;
    for (port side : every_side)
      if (!halo.edge(me, side)) flow += around[index_of(side)] - u;
    u += 0.2f * flow;
    heard = 0;
  }

  static consteval auto tasks() { return table(launch<&cell::step>(), on<halo, &cell::hear>(), sends<halo>()); }
};

constexpr layout plate = [] {
  layout l{wse2, 48, 32};
  l.place(all, program_v<cell>);
  halo.wire(l);
  return l;
}();
static_assert(routed<plate>());

int main() {
  fabric f{plate};
  f.write(24, 16, &cell::u, 1000);
  for (int t = 0; t < 100; ++t) f.launch();
  f32 total = 0;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 48; ++x) total += f.read(x, y, &cell::u);
  std::printf("after 100 steps the centre has %.3f, the plate %.2f\n", f.read(24, 16, &cell::u), total);
}
