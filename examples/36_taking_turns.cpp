// SPDX-License-Identifier: MIT
// Where do the cycles go? Every PE of a row sends an array to the west end, in two ways: the words of all PEs
// merge in the routers, or switches give the line to one PE after the other, each turned by a command that
// follows a PE's last word. The timed engine counts the cycles of both. With a name as its argument, as in
// `36_taking_turns turns`, the program writes a heat map, turns.svg, and a trace for ui.perfetto.dev,
// turns.json.
#include <wsl/fabric/time_report.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int P = 16, numbers = 64;
constexpr color<f32> mixed{0}, ordered{1};

struct member {
  f32 mine[numbers]{}, heard[(P - 1) * numbers]{};

  void mix(pe& me) {
    if (me.west_edge()) me.async(mov(mem(heard), fabin(mixed)));
    else me.async(mov(fabout(mixed), mem(mine)));
  }
  void take_turns(pe& me) {
    if (me.west_edge()) me.async(mov(mem(heard), fabin(ordered)));
    else if (me.east_edge()) me.async(mov(fabout(ordered), mem(mine)));
    else me.async(mov(fabout(ordered), mem(mine)), then_advance(ordered));
  }
  using tasks = task_list<launch<&member::mix>, launch<&member::take_turns>, sends<mixed, ordered>,
                          reads<mixed, ordered>, advances<ordered>>;
};

constexpr layout row_of_pes = layout{wse2, P, 1}
  .place<member>(all)
  .path(mixed,   column(0),           east >> ramp)
  .path(mixed,   columns(1, edge - 1), (ramp | east) >> west, merges)
  .path(mixed,   column(edge - 1),     ramp >> west)
  .path(ordered, column(0),           east >> ramp)
  .path(ordered, columns(1, edge - 1), ramp >> west, switches{.pos1 = {.from = east}, .pop = pop::on_advance})
  .path(ordered, column(edge - 1),     ramp >> west);
static_assert(routed<row_of_pes>());

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "", trace = name + ".json";
  fabric f{row_of_pes, timed{.trace = name.empty() ? nullptr : trace.c_str()}};
  for (int i = 0; i < P; ++i)
    for (f32& x : f.program_at<member>({i, 0}).mine) x = static_cast<f32>(i);

  const outcome mixing = f.launch<&member::mix>(all), in_turn = f.launch<&member::take_turns>(all);
  const auto cycles = [](const outcome& o) { return static_cast<unsigned long long>(o.cycles); };
  std::printf("%d PEs send %d numbers each to the west end\n", P - 1, numbers);
  std::printf("mixed as they come: %5llu cycles\n", cycles(mixing));
  std::printf("one after another:  %5llu cycles\n", cycles(in_turn));

  bool right = true;
  const auto& heard = f.program_at<member>({0, 0}).heard;
  for (int i = 0; i < (P - 1) * numbers; ++i) right = right && heard[i] == static_cast<f32>(1 + i / numbers);
  std::printf("the last arrays came %s\n\n", right ? "in order" : "OUT OF ORDER");

  const time_report where{f};
  std::printf("%s", where.text().c_str());
  if (!name.empty()) where.write_heat_map(name + ".svg");
  return right ? 0 : 1;
}
