// SPDX-License-Identifier: MIT
// How long would the machine take? A row of P PEs adds up arrays in two ways. Store and forward: each PE
// stores the array that it receives, adds its own and sends the sum on. At once: it does all three word by
// word. The timed engine counts the cycles of both ways and reports where they went.
#include <wsl/collective/lane.hpp>
#include <wsl/fabric/time_report.hpp>

#include <cstdio>
using namespace wsl;

constexpr int P = 16, numbers = 128;
constexpr lane<f32> right{0, east};

struct adder {
  f32 mine[numbers]{}, heard[numbers]{};
  u64 begin = 0, end = 0;  // cycles of the PE's clock

  void start(pe& me, bool at_once) {
    mov(mem(mine), 1);
    begin = me.now();
    if (me.west_edge()) me.async(mov(right.fabout(me), mem(mine)));
    else if (!at_once) me.async(mov(mem(heard), right.fabin(me)), then<&adder::store_and_forward>());
    else if (me.east_edge()) me.async(add(mem(heard), mem(mine), right.fabin(me)), then<&adder::done>());
    else me.async(add(right.fabout(me), mem(mine), right.fabin(me)));
  }
  void store_and_forward(pe& me) {
    add(mem(heard), mem(heard), mem(mine));
    if (me.east_edge()) me.activate<&adder::done>();
    else me.async(mov(right.fabout(me), mem(heard)));
  }
  void done(pe& me) { end = me.now(); }

  using tasks = task_list<launch<&adder::start>, local<&adder::store_and_forward>, local<&adder::done>,
                          sends<right>, reads<right>>;
};

constexpr layout chain(const machine& m) { return layout{m, P, 1}.place<adder>(all).wire(right); }
constexpr layout on_wse2 = chain(wse2), on_wse3 = chain(wse3);
static_assert(routed<on_wse2>() && routed<on_wse3>());

int main() {
  std::string where;
  std::printf("%d PEs add up arrays of %d numbers\n", P, numbers);
  for (const layout* plan : {&on_wse2, &on_wse3})
    for (bool at_once : {false, true}) {
      fabric f{*plan, timed{}};  // the engine that counts the machine's cycles
      f.launch<&adder::start>(all, at_once);
      const adder& last = f.program_at<adder>({P - 1, 0});
      if (last.heard[numbers - 1] != P)
        return std::printf("the sum is %g, not %d\n", last.heard[numbers - 1], P), 1;
      const u64 cycles = last.end - last.begin;
      std::printf("%s, %-18s %5llu cycles, %5.2f us\n", plan->machine().name,
                  at_once ? "at once:" : "store and forward:", static_cast<unsigned long long>(cycles),
                  1e6 * static_cast<f64>(cycles) / plan->machine().clock_hz);
      where = time_report{f}.text();
    }
  std::printf("\nthe last of them: %s", where.c_str());
}
