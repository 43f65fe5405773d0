// SPDX-License-Identifier: MIT
// y = A x with two collectives: x is broadcast down the columns, and the partial results of each row are
// added up in its last PE.
#include <wsl/collective/broadcast.hpp>
#include <wsl/collective/reduce.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
using namespace wsl;

constexpr int M = 4, N = 3, W = 6, H = 5;  // each PE has a tile of (M, N) of A, column by column
// x comes from the first row, y is collected in the last column.
constexpr broadcast<f32> xs{.first = 0, .among = each_column};
constexpr collective::reduce<f32> ys{.first = 1, .among = each_row, .root = {edge - 1}, .words = M};

struct tile {
  f32 A[M * N]{}, x[N]{}, y[M]{};
  endpoint<xs> spreading;
  endpoint<ys> adding;

  void start(pe& me) { spreading.start(me, mem(x), then<&tile::multiply>()); }
  void multiply(pe& me) {
    mov(mem(y), 0);
    for (int j = 0; j < N; ++j) fmac(mem(y), mem(y), mem(A).part(j * M, M), x[j]);
    adding.start(me, mem(y));
  }
  using tasks = task_list<launch<&tile::start>, use<&tile::spreading>, use<&tile::adding>,
                          local<&tile::multiply>>;
};
constexpr layout grid = layout{wse2, W, H}.place<tile>(all).wire(xs, ys);
static_assert(routed<grid>());

int main() {
  const auto a = [](int i, int j) { return static_cast<f32>((7 * i + 3 * j) % 11 - 5); };
  std::vector<f32> tiles, x;
  for (int p = 0; p < W * H; ++p)
    for (int k = 0; k < M * N; ++k) tiles.push_back(a(p / W * M + k % M, p % W * N + k / M));
  for (int j = 0; j < W * N; ++j) x.push_back(static_cast<f32>(j % 5 - 2));

  fabric f{grid};
  device d{f};
  d.copy_in(&tile::A, all, tiles);
  d.copy_in(&tile::x, row(0), x);
  d.launch();
  int wrong = 0, i = 0;
  for (f32 y : d.copy_out(&tile::y, column(edge - 1))) {
    f32 expected = 0;
    for (int j = 0; j < W * N; ++j) expected += a(i, j) * x[static_cast<std::size_t>(j)];
    wrong += y != expected, ++i;
  }
  std::printf("A is %d x %d on %d x %d PEs; %d of %d elements of A x are wrong\n", H * M, W * N, W, H,
              wrong, i);
  return wrong == 0 ? 0 : 1;
}
