// SPDX-License-Identifier: MIT
// A debugger in the program itself: it stops a run before a task, where a member changes, and where one becomes
// larger than it should be, and goes back. What a run is made of stands in a function, so that it can be made
// again.
#include <wsl/debug/debugger.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr color<f32> values{0};

struct adder {
  f32 sum = 0;
  void begin(pe& me, int n) {
    if (me.west_edge())
      for (int i = 1; i <= n; ++i) me.send(values, static_cast<f32>(i));
  }
  void add(pe&, f32 x) { sum += x; }

  using tasks = task_list<launch<&adder::begin>, on<values, &adder::add>, sends<values>>;
  using exports = export_list<&adder::sum>;
};

constexpr layout row_of_adders = layout{wse2, 3, 1}
  .place<adder>(all)
  .path(values, column(0),            ramp >> (ramp | east))
  .path(values, columns(1, edge - 1), west >> (ramp | east))
  .path(values, column(edge - 1),     west >> ramp);
static_assert(routed<row_of_adders>());

int main() {
  debugger d{[] {
    fabric f{row_of_adders, reference{}};
    f.start<&adder::begin>(all, 3);
    return f;
  }};
  d.stop_at<&adder::add>(at(1, 0));
  const int second = d.watch(2, 0, &adder::sum);
  d.watch(all, &adder::sum, "> 5");
  d.ignore_hits(second, 1);
  while (!d.run().has_ended()) std::printf("%s\n", d.where().text.c_str());

  std::printf("\n");
  for (int i = 0; i < 4; ++i) std::printf("back: %s\n", d.back().text.c_str());
  std::printf("PE 1 has %g of 6\n\n", d.read(1, 0, &adder::sum));

  for (const char* command : {"pe 1,0", "print all sum", "history 0", "stops"})  // as at d.prompt()
    std::printf("(wsl) %s\n%s", command, d.command(command).c_str());
}
