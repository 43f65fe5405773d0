// SPDX-License-Identifier: MIT
// Compiling is passing: the limits of a PE count the colors that reach that PE. The programs here name more
// colors than a PE has queues, and no PE uses more than it has.
#include <wsl/collective.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;
using wsl::detail::binding, wsl::detail::payload_type_of, wsl::detail::role;

namespace {

constexpr shift<f32> to_east{.first = 0, .among = each_row, .by = 1, .cyclic = true},
    to_west{.first = 3, .among = each_row, .by = -1, .cyclic = true},
    to_south{.first = 6, .among = each_column, .by = 1, .cyclic = true},
    to_north{.first = 9, .among = each_column, .by = -1, .cyclic = true};

struct rotating {
  f32 tile[4]{}, from_west[4]{}, from_east[4]{}, from_north[4]{}, from_south[4]{};
  endpoint<to_east> east_going;
  endpoint<to_west> west_going;
  endpoint<to_south> south_going;
  endpoint<to_north> north_going;

  void start(pe& me) {
    east_going.start(me, mem(tile), mem(from_west));
    west_going.start(me, mem(tile), mem(from_east));
    south_going.start(me, mem(tile), mem(from_north));
    north_going.start(me, mem(tile), mem(from_south));
  }
  using tasks = task_list<launch<&rotating::start>, use<&rotating::east_going>, use<&rotating::west_going>,
                          use<&rotating::south_going>, use<&rotating::north_going>>;
};

constexpr layout torus(const machine& target, int width, int height) {
  layout l{target, width, height};
  l.place<rotating>(all);
  to_east.wire(l), to_west.wire(l), to_south.wire(l), to_north.wire(l);
  return l;
}
constexpr layout torus_on_wse2 = torus(wse2, 750, 994), torus_on_wse3 = torus(wse3, 7, 5);
static_assert(std::popcount(program_v<rotating>.colors_of(role::read)) == 12 && wse2.input_queues == 8);
static_assert(routed<torus_on_wse2>() && routed<torus_on_wse3>());

constexpr neighbours<f32> halo{0};
constexpr collective::reduce<f32> sum{.first = 8, .among = everyone, .words = 4};

struct cell {
  f32 field[4]{}, side[4]{};
  endpoint<sum> adding;

  void start(pe& me) { adding.start(me, mem(field)); }
  using tasks = task_list<launch<&cell::start>, reads<halo>, sends<halo>, use<&cell::adding>>;
};

constexpr layout plate(const machine& target) {
  layout l{target, 64, 64};
  l.place<cell>(all);
  halo.wire(l), sum.wire(l);
  return l;
}
constexpr layout plate_on_wse2 = plate(wse2), plate_on_wse3 = plate(wse3);
static_assert(std::popcount(program_v<cell>.colors_of(role::read)) > wse2.input_queues);
static_assert(routed<plate_on_wse2>() && routed<plate_on_wse3>());

// One PE in the middle hears more than the others, and that one is named.
constexpr binding crowd_table[] = {{.what = role::read, .id = 0, .type = &payload_type_of<f32>},
                                   {.what = role::read, .id = 1, .type = &payload_type_of<f32>},
                                   {.what = role::read, .id = 2, .type = &payload_type_of<f32>}};
constexpr program crowd{.name = "crowd", .bytes = 4, .table = crowd_table, .entries = 3};
constexpr layout crossing = [] {
  machine two = wse2;
  two.input_queues = 2;
  return layout{two, 9, 9}
      .place(all, crowd)
      .path(color<f32>{0}, row(4), ramp >> ramp)
      .path(color<f32>{1}, column(3), ramp >> ramp)
      .path(color<f32>{2}, columns(0, edge, 3).rows(0, edge, 4), ramp >> ramp);
}();
constexpr diagnostic crowded = rules::ask_all(crossing, rules::family::budget);
static_assert(crowded.kind == fault_kind::the_program_needs_too_many_input_queues &&
              crowded.at == coord{3, 4} && crowded.have == 3 && crowded.limit == 2);

}  // namespace
