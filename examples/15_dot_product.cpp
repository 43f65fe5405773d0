// SPDX-License-Identifier: MIT
// A dot product: every PE of a row multiplies its parts of two vectors, and the partial sums are added up
// from west to east.
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int P = 6, N = 4;  // P PEs with N elements of each vector
constexpr color<f32> red{0}, blue{1};

template <color<f32> in, color<f32> out>
struct part {
  f32 a[N]{}, b[N]{}, sum = 0;

  void start(pe& me) {
    map_each([](f32 total, f32 x, f32 y) { return total + x * y; }, &sum, 0, mem(a), mem(b));
    if (me.west_edge()) me.send(out, sum);
  }
  void pass(pe& me, f32 before) {
    sum += before;
    if (!me.east_edge()) me.send(out, sum);
  }

  using tasks = task_list<launch<&part::start>, on<in, &part::pass>, sends<out>>;
};
using even_part = part<blue, red>;
using odd_part = part<red, blue>;

constexpr layout row_of_parts = layout{wse2, P, 1}
  .place<even_part>(columns(0, edge, 2))
  .place<odd_part>(columns(1, edge, 2))
  .path(red,  columns(0, edge - 1, 2), ramp >> east)
  .path(red,  columns(1, edge, 2),     west >> ramp)
  .path(blue, columns(1, edge - 1, 2), ramp >> east)
  .path(blue, columns(2, edge, 2),     west >> ramp);
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
  d.copy_in(symbol{&even_part::a, &odd_part::a}, all, a);
  d.copy_in(symbol{&even_part::b, &odd_part::b}, all, b);
  d.launch();
  const f32 sum = f.read(P - 1, 0, &odd_part::sum);
  std::printf("a . b = %g, serially %g\n", sum, expected);
  return sum == expected ? 0 : 1;
}
