// SPDX-License-Identifier: MIT
// A dot product: every PE of a row multiplies its parts of two vectors, and the partial sums are added up
// from west to east.
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int P = 6, N = 4;  // P PEs with N elements of each vector
constexpr lane<f32> right{0, east};  // colors 0 and 1

struct part {
  f32 a[N]{}, b[N]{}, sum = 0;

  void start(pe& me) {
    map_each([](f32 total, f32 x, f32 y) { return total + x * y; }, &sum, 0, mem(a), mem(b));
    if (me.west_edge()) right.send(me, sum);
  }
  void pass(pe& me, f32 before) {
    sum += before;
    if (right.has_next(me)) right.send(me, sum);
  }

  using tasks = task_list<launch<&part::start>, on<right, &part::pass>, sends<right>>;
};
constexpr layout row_of_parts = layout{wse2, P, 1}.place<part>(all).wire(right);
static_assert(routed<row_of_parts>());

int main() {
  std::vector<f32> a, b;
  f32 expected = 0;
  for (int i = 0; i < P * N; ++i) {
    a.push_back(static_cast<f32>(i));
    b.push_back(2);
    expected += a.back() * b.back();
  }

  fabric f{row_of_parts};
  device d{f};
  d.copy_in(&part::a, all, a);
  d.copy_in(&part::b, all, b);
  d.launch();
  const f32 sum = f.read(P - 1, 0, &part::sum);
  std::printf("a . b = %g, serially %g\n", sum, expected);
  return sum == expected ? 0 : 1;
}
