// SPDX-License-Identifier: MIT
// The routes of collectives, drawn: a broadcast in a rectangle; a reduce in two phases, whose two colors
// serve first the chains within groups and then the chain of the groups' leaders; the levels of a tree; a
// star, whose routes are switched from PE to PE; a star of chains of three PEs; blocks that pass from PE to
// PE, toward the root of a gather, and both ways in an all-to-all; a cyclic shift; and the first two of the
// eight colors of a halo exchange. An all-reduce is a reduce followed by a broadcast.
#include <wsl/collective.hpp>
#include <wsl/layout/draw.hpp>
#include <cstdio>
using namespace wsl;

template <auto net>
struct member {
  f32 x[9]{}, y[9]{};
  endpoint<net> here;
  void start(pe& me) {
    if constexpr (requires { here.start(me, mem(x), mem(y)); }) here.start(me, mem(x), mem(y));
    else here.start(me, mem(x));
  }
  using tasks = task_list<launch<&member::start>, use<&member::here>>;
};

template <auto net>
void draw_colors(const char* what, int width, int height, int colors) {
  layout l{wse2, width, height};
  l.place<member<net>>(all);
  net.wire(l);
  std::printf("%s\n\n", what);
  for (int c = 0; c < colors; ++c) std::printf("%s\n", draw(l, color<f32>{c}).c_str());
}

int main() {
  draw_colors<broadcast<f32>{.first = 0, .root = {2, 1}}>("broadcast", 6, 3, 1);
  draw_colors<collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::two_phase}>(
    "reduce, two phases", 12, 1, 2);
  draw_colors<collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::tree, .colors = 3}>(
    "reduce, a tree", 8, 1, 3);
  draw_colors<collective::reduce<f32>{.first = 0, .among = each_row, .root = {2}, .how = tactic::star}>(
    "reduce, a star from both sides", 6, 1, 2);
  draw_colors<collective::reduce<f32>{
    .first = 0, .among = each_row, .words = 2, .how = tactic::grouped_star}>(
    "reduce, a grouped star", 12, 1, 2);
  draw_colors<gather<f32>{.first = 0, .among = each_row, .root = {2}}>("gather", 6, 1, 2);
  draw_colors<all_to_all<f32>{.first = 0}>("all-to-all", 5, 1, 4);
  draw_colors<shift<f32>{.first = 0, .cyclic = true}>("shift, cyclic", 7, 1, 3);
  draw_colors<halo_exchange<f32>{.first = 0}>("halo exchange, to the east", 5, 2, 2);
}
