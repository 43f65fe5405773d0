// SPDX-License-Identifier: MIT
// y = A x + b on 2 x 2 PEs: x flows down the columns, and each of its elements triggers a task; the partial
// results are added up from west to east.
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>
#include <cstdio>
using namespace wsl;

constexpr int M = 3, N = 2;  // A is (2 M, 2 N); each PE has a tile of (M, N), row-major
constexpr color<f32> xs{0}, ys{1};

struct tile {
  f32 A[M * N]{}, x[N]{}, y[M]{};
  int j = 0;
  void start(pe& me) { if (me.north_edge()) me.async(mov(fabout(xs), mem(x))); }
  void column(pe& me, f32 xj) {
    fmac(mem(y), mem(y), mem(A).from(j).every(N), xj);  // y += column j of A * x[j]
    if (++j == N) me.activate<&tile::reduce>();
  }
  void reduce(pe& me) {
    if (me.west_edge()) me.async(mov(fabout(ys), mem(y)));
    else me.async(add(mem(y), mem(y), fabin(ys)));
  }
  using tasks = task_list<launch<&tile::start>, on<xs, &tile::column>, local<&tile::reduce>, sends<xs, ys>,
                          reads<ys>>;
};
constexpr layout grid = layout{wse2, 2, 2}
  .place<tile>(all)
  .path(xs, row(0), ramp >> (ramp | south)).path(xs, row(1), north >> ramp)
  .path(ys, column(0), ramp >> east).path(ys, column(1), west >> ramp);
static_assert(routed<grid>());

int main() {
  fabric f{grid};
  device d{f};
  d.copy_in(&tile::A, all, std::array{0,  1,  4,  5,  8,  9,     2,  3,  6,  7,  10, 11,
                                      12, 13, 16, 17, 20, 21,    14, 15, 18, 19, 22, 23});
  d.copy_in(&tile::x, row(0), std::array{1, 1, 1, 1});
  d.copy_in(&tile::y, column(0), std::array{2, 2, 2, 2, 2, 2});  // b
  d.launch();
  for (int i = 0; f32 y : d.copy_out(&tile::y, column(1))) {
    f32 expected = 2;  // b[i], and then A[i][j] * x[j] with A[i][j] = 4 i + j
    for (int j = 0; j < 2 * N; ++j) expected += static_cast<f32>(4 * i + j);
    std::printf("y[%d] = %g\n", i++, y);
    if (y != expected) return 1;
  }
}
