// SPDX-License-Identifier: MIT
// The report of a run: a row of P PEs adds up arrays of n numbers as a chain. This takes n + 2 P steps of the
// engine's clock, not n P, because a PE adds and sends each number as soon as it arrives. (The reference
// engine's clock counts hops and tasks; it is not a model of the machine's timing.)
#include <wsl/collective/lane.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/host/report.hpp>

#include <cstdio>
using namespace wsl;

constexpr int P = 32, longest = 256;
constexpr lane<f32> right{0, east};

struct adder {
  f32 part[longest]{};

  void start(pe& me, int n) {
    mov(mem(part), 1);
    const memory<f32> numbers = mem(part).part(0, n);
    if (me.west_edge()) me.async(mov(right.fabout(me), numbers));
    else if (me.east_edge()) me.async(add(numbers, numbers, right.fabin(me)));
    else me.async(add(right.fabout(me), numbers, right.fabin(me)));
  }

  using tasks = task_list<launch<&adder::start>, sends<right>, reads<right>>;
};

constexpr layout chain = layout{wse2, P, 1}.place<adder>(all).wire(right);
static_assert(routed<chain>());

int main() {
  fabric f{chain, reference{}};  // the engine that counts cycles
  for (int n : {1, 16, 256}) {
    const outcome o = f.launch<&adder::start>(all, n);
    std::printf("%3d numbers: %llu cycles\n", n, static_cast<unsigned long long>(o.cycles));
    const f32 sum = f.program_at<adder>({P - 1, 0}).part[n - 1];
    if (sum != P) return std::printf("the sum is %g, not %d\n", sum, P), 1;
    if (n == longest) std::printf("\n%s", report(f, o).text().c_str());
  }
}
