// SPDX-License-Identifier: MIT
// Color swaps: every PE has the same two paths, and a word that leaves to the east enters the next PE with
// the other color of the pair. So red and blue alternate along the row, and with them the tasks: PEs in even
// columns double the words that they add up.
#include <wsl/host/device.hpp>
#include <wsl/layout/swaps.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int W = 5;
constexpr color<u32> red{0}, blue{1}, from_host{2};

struct adder {
  u32 sum = 0;
  void forward(pe& me, u32 x) { me.send(blue, x); }
  void take_red(pe&, u32 x) { sum += x; }
  void take_blue(pe&, u32 x) { sum += 2 * x; }
  using tasks = task_list<on<from_host, &adder::forward>, on<red, &adder::take_red>,
                          on<blue, &adder::take_blue>, sends<red, blue>>;
};

constexpr layout row_of_adders = [] {
  layout l{wse2, W, 1};
  l.place<adder>(all);
  l.path(from_host, column(0), west >> ramp).stream_in(from_host, column(0), west);
  for (const auto c : {red, blue}) {
    l.path(c, column(0),            ramp >> (ramp | east), swap_x);
    l.path(c, columns(1, edge - 1), west >> (ramp | east), swap_x);
    l.path(c, column(edge - 1),     west >> ramp);
  }
  return l;
}();
static_assert(routed<row_of_adders>());

int main() {
  const std::vector<u32> x{0, 1, 2, 3, 4};
  fabric f{row_of_adders};
  device d{f};
  d.stream_in(from_host, x);
  f.run();

  bool right = true;
  for (int i = 0; i < W; ++i) {
    const u32 sum = f.read(i, 0, &adder::sum);
    right = right && sum == (i % 2 ? 10u : 20u);
    std::printf("%u%s", sum, i == W - 1 ? "\n" : " ");
  }
  return right ? 0 : 1;
}
