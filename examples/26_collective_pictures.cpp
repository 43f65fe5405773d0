// SPDX-License-Identifier: MIT
// What collectives make of a layout: a broadcast in a rectangle; the four colors of a reduce in two phases, groups of three and then their
// leaders; a star, whose routes are switched from PE to PE; and a cyclic shift.
#include <wsl/collective.hpp>
#include <wsl/layout/draw.hpp>
#include <cstdio>
using namespace wsl;

template <auto net>
struct member {
  f32 x[4]{}, y[4]{};
  endpoint<net> here;
  void start(pe& me) {
    if constexpr (requires { here.start(me, mem(x), mem(y)); }) here.start(me, mem(x), mem(y));
    else here.start(me, mem(x));
  }
  static consteval auto tasks() { return table(launch<&member::start>(), use<&member::here>()); }
};

template <auto net>
void draw_colors(const char* what, int width, int height, int colors) {
  layout l{wse2, width, height};
  l.place(all, program_v<member<net>>);
  net.wire(l);
  std::printf("%s\n\n", what);
  for (int c = 0; c < colors; ++c) std::printf("%s\n", draw(l, color<f32>{c}).c_str());
}

int main() {
  draw_colors<broadcast<f32>{.first = 0, .root = {2, 1}}>("broadcast", 6, 3, 1);
  draw_colors<reduce<f32>{.first = 0, .among = each_row, .how = tactic::two_phase}>("reduce, two phases", 9, 1, 4);
  draw_colors<reduce<f32>{.first = 0, .among = each_row, .root = {2}, .how = tactic::star}>("reduce, a star from both sides", 6, 1, 2);
  draw_colors<shift<f32>{.first = 0, .cyclic = true}>("shift, cyclic", 7, 1, 3);
}
