// SPDX-License-Identifier: MIT
// Teardown: one color serves two phases. First the PEs of a row send their values to the west edge, one PE
// after the other; then the same color carries the sum back to all of them. In between, a command tears the
// color down at every router, and each PE's program opens it again in phase 1.
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr color<f32> sum{0};

struct member {
  f32 value = 0, total = 0;
  int missing = 0;
  bool torn_down = false;

  void start(pe& me) {
    value = total = static_cast<f32>(me.x() + 1), missing = me.width() - 1;
    if (me.west_edge()) return;
    me.send(sum, value);
    // The switch lets the PEs to the east pass, one after the other; the last of them ends the phase.
    me.send_control(sum, me.east_edge() ? teardown : switch_adv);
  }
  void take(pe& me, f32 x) {
    if (me.west_edge()) total += x, --missing, tell(me);
    else total = x;
  }
  void torn(pe& me) {
    torn_down = true;
    me.west_edge() ? tell(me) : me.reopen(sum, phase{1});
  }
  void tell(pe& me) {
    if (missing > 0 || !torn_down) return;  // the last words may still lie in the queue
    me.reopen(sum, phase{1});
    me.send(sum, total);
  }

  using tasks = task_list<launch<&member::start>, on<sum, &member::take>, on_teardown<sum, &member::torn>,
                          sends<sum>, steers<sum, switch_adv, teardown>>;
};

constexpr layout team = layout{wse2, 12, 1}
  .place<member>(all)
  .path(sum, column(0),            east >> ramp)
  .path(sum, columns(1, edge - 1), ramp >> west, switches{.pos1 = {.from = east}, .pop = pop::on_advance})
  .path(sum, column(edge - 1),     ramp >> west)
  .path(sum, column(0),            ramp >> east,          phase{1})
  .path(sum, columns(1, edge - 1), west >> (ramp | east), phase{1})
  .path(sum, column(edge - 1),     west >> ramp,          phase{1});
static_assert(routed<team>());

int main() {
  fabric f{team};
  f.launch();
  for (int x = 0; x < 12; ++x)
    if (f.read(x, 0, &member::total) != 78)
      return std::printf("PE(%d, 0) heard %g\n", x, f.read(x, 0, &member::total)), 1;
  std::printf("every PE has the sum, 78\n");
}
