// SPDX-License-Identifier: MIT
// The first of four PEs sends one wavelet; every PE of the row hears it, each through the ramp between its
// router and itself.
//
//      PE 0       PE 1       PE 2       PE 3
//      | ^         ^          ^          ^       ramps
//      v |         |          |          |
//      [ ] -----> [ ] -----> [ ] -----> [ ]      routers, and the color red
#include <wsl/wsl.hpp>
#include <cstdio>
using namespace wsl;

constexpr color<f32> red{0};  // a virtual channel of the fabric: its wavelets carry an f32

struct greeter {  // a PE program: its members are the PE's memory, its functions are the PE's tasks
  f32 heard = 0;
  void greet(pe& me, f32 x) { me.send(red, x); }
  void hear(pe&, f32 x) { heard = x; }
  using tasks = task_list<launch<&greeter::greet>, on<red, &greeter::hear>, sends<red>>;
};

constexpr layout line = layout{wse2, 4, 1}  // which program runs where, and where the color flows
  .place<greeter>(all)
  .path(red, column(0),            ramp >> (ramp | east))
  .path(red, columns(1, edge - 1), west >> (ramp | east))
  .path(red, column(edge - 1),     west >> ramp);
static_assert(routed<line>());

int main() {
  fabric f{line};
  f.launch<&greeter::greet>(column(0), 42.f);
  for (int x = 0; x < 4; ++x) std::printf("PE %d heard %g\n", x, f.read(x, 0, &greeter::heard));
}
