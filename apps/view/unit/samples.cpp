// SPDX-License-Identifier: MIT
// Writes the files that the test of wsl-view shows: samples plate|wafer|relay|deadlock|large|heat <file> [<size>]
//   plate     a layout of 12 x 8 PEs with all that a layout can have
//   wafer     a layout of 750 x 994 PEs
//   relay     a trace of a row of PEs, each of which computes on a word before it sends it on
//   deadlock  a trace of two PEs that wait for each other, and of others that wait for them
//   large     a trace of <size> x <size> PEs that all relay words for a while
//   heat      a dump of <size> x <size> PEs, of which PE(2, 1) has no number
// With WSL_DUMP=<file>, deadlock also writes a dump.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <wsl/debug/dump.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/layout_file.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

namespace samples {

using namespace wsl;

constexpr color<f32> red{0}, green{1}, blue{2}, gray{3};

struct cell {
  f32 u[40]{}, next[40]{};
  i32 steps = 0;
  void begin(pe& me) { me.send(red, 1.f); }
  void hear(pe&, f32 x) { u[0] = x; }
  using tasks = task_list<launch<&cell::begin>, on<red, &cell::hear>, sends<red>>;
  using exports = export_list<&cell::u, &cell::next, &cell::steps>;
};
struct border {
  f32 edge_values[16]{};
  void hear(pe&, f32 x) { edge_values[0] = x; }
  using tasks = task_list<on<green, &border::hear>, sends<green>>;
  using exports = export_list<&border::edge_values>;
};

struct plate_cell {
  f32 heat = 0;
  i32 steps[3]{};
  void begin(pe&) {}
  using tasks = task_list<launch<&plate_cell::begin>>;
  using exports = export_list<&plate_cell::heat, &plate_cell::steps>;
};

layout plate() {
  layout l{wse2, 12, 8};
  l.place<border>(column(0)).place<border>(column(edge - 1)).place<cell>(columns(1, edge - 1));
  l.path(red, column(1), ramp >> (ramp | east)).path(red, columns(2, edge - 2), west >> (ramp | east));
  l.path(red, column(edge - 2), west >> ramp);
  l.path(green, column(0).row(0), ramp >> east,
         switches{.pos1 = {.to = south}, .ring = true, .pop = pop::always});
  l.path(green, columns(1, edge - 1).row(0), west >> east).path(green, column(edge - 1).row(0), west >> ramp);
  l.path(blue, row(edge - 1), west >> (ramp | east),
         counter_filter{.keep = 1, .period = 12, .per_column = 1});
  l.stream_in(blue, at(0, edge - 1), west).stream_out(blue, at(edge - 1, edge - 1), east);
  l.path(gray, column(0), south >> ramp).path(gray, column(0), north >> ramp, phase{1});
  return l;
}

layout wafer() {
  layout l{wse2, 750, 994};
  l.place<border>(column(0)).place<border>(column(edge - 1)).place<cell>(columns(1, edge - 1));
  l.path(red, column(1), ramp >> (ramp | east)).path(red, columns(2, edge - 2), west >> (ramp | east));
  l.path(red, column(edge - 2), west >> ramp);
  for (int id = 4; id < 20; id += 2) {
    l.path(color<f32>{id}, columns(0, edge - 1, 2), ramp >> east)
        .path(color<f32>{id}, columns(1, edge, 2), west >> ramp);
    l.path(color<f32>{id + 1}, rows(0, edge - 1, 2), ramp >> south)
        .path(color<f32>{id + 1}, rows(1, edge, 2), north >> ramp);
  }
  return l;
}

/// Hears a word, computes, and sends it on, by the color of the next PE.
template <color<f32> in, color<f32> out>
struct relaying {
  f32 heard = 0;
  void begin(pe& me, f32 x) { me.send(out, x); }
  void hear(pe& me, f32 x) {
    heard = x;
    me.spend(20);
    if (!me.east_edge()) me.send(out, x + 1);
  }
  using tasks = task_list<launch<&relaying::begin>, on<in, &relaying::hear>, sends<out>>;
};
using even = relaying<green, red>;
using odd = relaying<red, green>;

layout relay(int width, int height) {
  layout l{wse2, width, height};
  l.place<even>(columns(0, edge, 2)).place<odd>(columns(1, edge, 2));
  l.path(red, columns(0, edge - 1, 2), ramp >> east).path(red, columns(1, edge, 2), west >> ramp);
  l.path(green, columns(1, edge - 1, 2), ramp >> east).path(green, columns(2, edge, 2), west >> ramp);
  return l;
}

/// Words go round for ever less one: each PE hears `left` of them and sends them to the next one.
void run_relay(const char* file, int width, int height, int words) {
  fabric f{relay(width, height), timed{.trace = file}};
  for (int k = 0; k < words; ++k) f.start<&even::begin>(column(0), static_cast<f32>(k));
  f.run();
}

/// The two in the middle wait for each other, and those at the ends for them.
struct partner {
  f32 x[4]{};
  void begin(pe& me) { me.activate<&partner::exchange>(); }
  task exchange(pe& me) {
    const bool is_west = me.x() % 2 == 0;
    if (is_west) {
      co_await mov(mem(x), fabin(green));
      co_await mov(fabout(red), mem(x));
    } else {
      co_await mov(mem(x), fabin(red));
      co_await mov(fabout(green), mem(x));
    }
  }
  using tasks =
      task_list<launch<&partner::begin>, local<&partner::exchange>, sends<red, green>, reads<red, green>>;
};
layout partners(int width) {
  layout l{wse2, width, 1};
  l.place<partner>(all);
  l.path(red, columns(0, edge, 2), ramp >> east).path(red, columns(1, edge, 2), west >> ramp);
  l.path(green, columns(1, edge, 2), ramp >> west).path(green, columns(0, edge, 2), east >> ramp);
  return l;
}

int run(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const char* const file = argc > 2 ? argv[2] : "";
  const int size = argc > 3 ? std::atoi(argv[3]) : 0;
  if (what == "plate") save_layout(plate(), file);
  else if (what == "wafer") save_layout(wafer(), file);
  else if (what == "relay") run_relay(file, size ? size : 8, 1, 3);
  else if (what == "large") run_relay(file, size, size, size);
  else if (what == "heat") {
    const layout grid = layout{wse2, size, size}.place<plate_cell>(all);
    fabric f{grid, reference{}};
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        plate_cell& c = f.program_at<plate_cell>({x, y});
        c.heat = static_cast<f32>(x + y), c.steps[1] = x;
      }
    f.program_at<plate_cell>({2, 1}).heat = std::nanf("");
    f.dump(file);
  } else if (what == "deadlock") {
    fabric f{partners(4), timed{.trace = file}};
    try {
      f.launch();
    } catch (const deadlock& d) {
      std::puts(d.what());
      return 0;
    }
    throw std::runtime_error("there is no deadlock");
  } else {
    throw std::invalid_argument("samples plate|wafer|relay|deadlock|large|heat <file> [<size>]");
  }
  return 0;
}

}  // namespace samples

int main(int argc, char** argv) {
  try {
    return samples::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
