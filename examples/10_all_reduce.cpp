// SPDX-License-Identifier: MIT
// An all-reduce: every PE contributes a number and learns the sum. The library module brings its own state
// and tasks.
#include <wsl/collective/all_reduce.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
using namespace wsl;

constexpr all_reduce<f32> sum{0};  // colors 0 to 3

struct worker {
  f32 total = 0;
  reducer<sum> reduce;

  void begin(pe& me) { reduce.contribute(me, static_cast<f32>(me.x() + 1)); }
  void done(pe&, f32 t) { total = t; }
  using tasks = task_list<launch<&worker::begin>, use<&worker::reduce>, on<sum.total(), &worker::done>>;
};

constexpr layout grid = layout{wse2, 6, 4}.place<worker>(all).wire(sum);
static_assert(routed<grid>());

int main() {
  fabric f{grid};
  f.launch();
  int wrong = 0;
  for (f32 total : device{f}.copy_out(&worker::total, all)) wrong += total != 4 * (1 + 2 + 3 + 4 + 5 + 6);
  std::printf("the sum is %g; %d PEs know something else\n", f.read(5, 3, &worker::total), wrong);
  return wrong == 0 ? 0 : 1;
}
