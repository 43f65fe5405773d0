// SPDX-License-Identifier: MIT
// A relay: a wavelet runs along a row of eight PEs, and each PE adds one and passes it on. A router has one
// route for a color, so it cannot both end color 0 at its ramp and begin it there. Therefore neighbours
// alternate between two colors, and that is what a lane is:
//
//      PE 0            PE 1            PE 2            PE 3
//      [ ] --color 0-> [ ] --color 1-> [ ] --color 0-> [ ] --color 1-> ...
#include <wsl/collective/lane.hpp>
#include <cstdio>
using namespace wsl;

constexpr lane<f32> right{0, east};  // from each PE to the one east of it, on colors 0 and 1

struct runner {
  f32 seen = 0;
  void start(pe& me) { right.send(me, 1); }
  void pass(pe& me, f32 x) { seen = x; if (right.has_next(me)) right.send(me, x + 1); }
  using tasks = task_list<launch<&runner::start>, on<right, &runner::pass>, sends<right>>;
};
constexpr layout chain = layout{wse2, 8, 1}.place<runner>(all).wire(right);
static_assert(routed<chain>());

int main() {
  fabric f{chain};
  f.launch(0, 0);
  const f32 last = f.read(7, 0, &runner::seen);
  std::printf("the last PE saw %g\n", last);
  return last == 7 ? 0 : 1;
}
