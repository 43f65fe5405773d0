// SPDX-License-Identifier: MIT
// Streams of the host into and out of the ports of a region, which lies anywhere on the wafer.
#include <wsl/host/device.hpp>
#include <wsl/plan/floor_plan.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

struct increment {
  static constexpr auto in = symbolic<i32>(0), out = symbolic<i32>(1);
  void take(pe& me, i32 x) { me.send(out, x + 1); }
  using tasks = task_list<on<in, &increment::take>, sends<out>>;
};

constexpr layout plan = [] {
  floor_plan p{wse2, 10, 6};
  const auto r = p.region<increment>("increment", 1, 1);
  p.place(r, {5, 3});
  return p.stream_in(r.input(increment::in, north), west)
      .stream_out(r.output(increment::out, east), south)
      .connected();
}();
static_assert(routed<plan>() && live<plan>());

int main() {
  fabric f{plan};
  device d{f};
  const std::vector<i32> x{1, 2, 3, 5, 8, 13};
  std::vector<i32> y(x.size());
  d.stream_in(plan.color_at({5, 3}, increment::in), x);
  d.stream_out(plan.color_at({5, 3}, increment::out), y);
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::printf("%d ", y[i]);
    right = right && y[i] == x[i] + 1;
  }
  std::printf("\n");
  return right ? 0 : 1;
}
