// SPDX-License-Identifier: MIT
// A relay: a wavelet runs along a row of eight PEs, and each PE adds one and passes it on. A router has one
// route for a color, so it cannot both end red at its ramp and begin it there. Therefore the PEs take one of
// two colors and send the other, alternately.
//
//      PE 0        PE 1         PE 2        PE 3
//      [ ] --red-> [ ] --blue-> [ ] --red-> [ ] --blue-> ...
#include <wsl/wsl.hpp>
#include <cstdio>
using namespace wsl;

template <color<f32> in, color<f32> out>
struct runner {  // A PE program: its members are the PE's memory, its functions are the PE's tasks.
  f32 seen = 0;
  void start(pe& me) { me.send(out, 1.f); }
  void pass(pe& me, f32 x) { seen = x; if (!me.east_edge()) me.send(out, x + 1); }
  using tasks = task_list<launch<&runner::start>, on<in, &runner::pass>, sends<out>>;
};

constexpr color<f32> red{0}, blue{1};
constexpr layout chain = layout{wse2, 8, 1}  // which program runs where, and where each color flows
  .place<runner<blue, red>>(columns(0, edge, 2))
  .place<runner<red, blue>>(columns(1, edge, 2))
  .path(red,  columns(0, edge, 2),      ramp >> east)
  .path(red,  columns(1, edge, 2),      west >> ramp)
  .path(blue, columns(1, edge - 1, 2),  ramp >> east)
  .path(blue, columns(2, edge, 2),      west >> ramp);
static_assert(routed<chain>());

int main() {
  fabric f{chain};
  f.launch(0, 0);
  const f32 last = f.read(7, 0, &runner<red, blue>::seen);
  std::printf("the last PE saw %g\n", last);
  return last == 7 ? 0 : 1;
}
