// SPDX-License-Identifier: MIT
// The work of every PE in a low-rank product: y = A x with a tile of its own, by one fmac for each column.
// The timed engine counts the cycles, and from them follow the bytes that a wafer reads and writes a second.
#include <wsl/engine/timed.hpp>
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

#include <cmath>
#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int N = 32, W = 4, H = 3;  // tiles of N x N on W x H PEs

struct tile {
  f32 a[N * N]{}, x[N]{}, gap = 0, y[N]{};  // a is column after column; the gap keeps y from the banks of a
  u64 cycles = 0;

  void multiply(pe& me) {
    const u64 begin = me.now();
    mov(mem(y), 0);
    for (int j = 0; j < N; ++j) fmac(mem(y), mem(y), mem(a).part(j * N, N), x[j]);
    cycles = me.now() - begin;
  }
  using tasks = task_list<launch<&tile::multiply>>;
};
constexpr layout tiles = layout{wse2, W, H}.place<tile>(all);
static_assert(routed<tiles>());

int main() {
  fabric f{tiles, timed{}};
  device d{f};
  std::vector<f32> a, x;
  for (int i = 0; i < W * H * N * N; ++i) a.push_back(static_cast<f32>(i * 7919 % 1000) / 1000);
  for (int i = 0; i < W * H * N; ++i) x.push_back(static_cast<f32>(i * 104729 % 1009) / 1009);
  d.copy_in(&tile::a, all, a);
  d.copy_in(&tile::x, all, x);
  d.launch<&tile::multiply>(all);
  const std::vector<f32> y = d.copy_out(&tile::y, all);

  f64 error = 0;
  for (int p = 0; p < W * H; ++p)
    for (int i = 0; i < N; ++i) {
      f64 exact = 0;
      for (int j = 0; j < N; ++j)
        exact += static_cast<f64>(a[static_cast<std::size_t>((p * N + j) * N + i)]) *
                 static_cast<f64>(x[static_cast<std::size_t>(p * N + j)]);
      error = std::max(error, std::abs(static_cast<f64>(y[static_cast<std::size_t>(p * N + i)]) - exact));
    }
  const f64 cycles = static_cast<f64>(f.read(0, 0, &tile::cycles)), hertz = 850e6, pes = 750. * 994;
  // The bytes of a product if y is read and written for each column, and if it stays where it is.
  const f64 absolute = 4. * (3 * N * N + N), relative = 4. * (N * N + 2 * N);
  std::printf("%d tiles of %d x %d: the products are %s\n", W * H, N, N, error < 1e-4 ? "right" : "wrong");
  std::printf("%.0f cycles each; "
              "750 x 994 PEs at 850 MHz would move %.1f PB/s, %.1f PB/s not counting y again\n",
              cycles, pes * absolute * hertz / cycles / 1e15, pes * relative * hertz / cycles / 1e15);
  return error < 1e-4 ? 0 : 1;
}
