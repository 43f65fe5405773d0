// SPDX-License-Identifier: MIT
// y = A x on grids whose sizes are known only at run time: 08_gemv <columns> <rows>... The same builder makes
// each layout, and the fabric checks it with the same rules. x is multicast down the columns; y is added up
// from west to east along the rows, element by element, so that all PEs of a row work at once.
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>
using namespace wsl;

constexpr int M = 4, N = 3;  // each PE has a tile of (M, N) of A
constexpr color<f32> xs{0};
constexpr lane<f32> sums{1, east};  // colors 1 and 2

struct tile {
  f32 A[M * N]{}, x[N]{}, y[M]{};
  int j = 0;

  void start(pe& me) {
    mov(mem(y), 0);
    j = 0;
    if (me.north_edge()) me.async(mov(fabout(xs), mem(x)));
  }
  void column(pe& me, f32 xj) {
    fmac(mem(y), mem(y), mem(A).from(j).every(N), xj);
    if (++j == N) me.activate<&tile::reduce>();
  }
  void reduce(pe& me) {
    if (me.west_edge() && me.east_edge()) return;
    if (me.west_edge()) me.async(mov(sums.fabout(me), mem(y)));
    else if (me.east_edge()) me.async(add(mem(y), mem(y), sums.fabin(me)));
    else me.async(add(sums.fabout(me), mem(y), sums.fabin(me)));
  }

  using tasks = task_list<launch<&tile::start>, on<xs, &tile::column>, local<&tile::reduce>, sends<xs, sums>,
                          reads<sums>>;
};

layout gemv_grid(int width, int height) {
  layout l{wse2, width, height};
  l.place<tile>(all);
  l.path(xs, row(0), ramp >> (height > 1 ? ramp | south : ramp));
  l.path(xs, rows(1, edge - 1), north >> (ramp | south));
  if (height > 1) l.path(xs, row(edge - 1), north >> ramp);
  return l.wire(sums);
}

/// The number of elements of y that differ from those of a serial product.
int wrong(int width, int height) {
  const auto a = [](int i, int j) { return static_cast<f32>((7 * i + 3 * j) % 11 - 5); };
  const auto x = [](int j) { return static_cast<f32>(j % 5 - 2); };

  // A is (height M, width N) in tiles: PE by PE along the rows, each tile row-major.
  std::vector<f32> tiles, xs_of_columns;
  for (int py = 0; py < height; ++py)
    for (int px = 0; px < width; ++px)
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) tiles.push_back(a(py * M + i, px * N + j));
  for (int j = 0; j < width * N; ++j) xs_of_columns.push_back(x(j));

  fabric f{gemv_grid(width, height)};
  device d{f};
  d.copy_in(&tile::A, all, tiles);
  d.copy_in(&tile::x, row(0), xs_of_columns);
  d.launch();
  const std::vector<f32> y = d.copy_out(&tile::y, column(edge - 1));

  int differ = 0, i = 0;
  for (f32 result : y) {
    f32 expected = 0;
    for (int j = 0; j < width * N; ++j) expected += a(i, j) * x(j);
    differ += result != expected;
    std::printf("%g%s", result, ++i % 8 ? " " : "\n");
  }
  std::printf("%s%d x %d PEs, A is %d x %d, %d of %d elements wrong\n", i % 8 ? "\n" : "", width, height,
              height * M, width * N, differ, i);
  return differ;
}

int main(int argc, char** argv) try {
  int differ = 0;
  for (int k = 2; k < argc; k += 2) differ += wrong(std::atoi(argv[k - 1]), std::atoi(argv[k]));
  return differ == 0 ? 0 : 1;
} catch (const fault& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
