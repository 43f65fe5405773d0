// SPDX-License-Identifier: MIT
// Descriptors beyond a line of elements. A window keeps its place in an array from one operation to the next:
// here a matrix-vector product column by column, without an address in sight. A box walks in up to four
// dimensions: here a transpose, and the sum of all columns. A circular buffer keeps the last values of a
// stream.
#include <wsl/program/descriptor/box.hpp>
#include <wsl/program/descriptor/circular.hpp>
#include <wsl/program/descriptor/window.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int R = 4, C = 3;

struct worker {
  f32 a[R * C]{};       // one column after the other
  f32 turned[R * C]{};  // one row after the other
  f32 x[C]{1, 10, 100}, y[R]{}, sums[R]{}, last[2]{};

  void work(pe&) {
    window column{mem(a)};
    for (f32 factor : x) fmac(mem(y), mem(y), column.next(R), factor);

    mov(mem(turned), box(mem(a), {R, C}, {1, R}));
    const auto repeated = box(mem(sums), {C, R}, {0, 1});
    add(repeated, repeated, mem(a));  // sums[r] += a[0][r] + a[1][r] + a[2][r]

    for (int r = 0; r < R; ++r) mov(circular(mem(last), r % 2, 1), y[r]);
  }

  using tasks = task_list<launch<&worker::work>>;
};

constexpr layout one = layout{wse2, 1, 1}.place<worker>(all);
static_assert(routed<one>());

int main() {
  fabric f{one};
  worker& w = f.program_at<worker>({0, 0});
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) w.a[c * R + r] = static_cast<f32>(r + c + 1);
  f.launch(0, 0);

  bool right = w.last[0] == w.y[2] && w.last[1] == w.y[3];
  for (int r = 0; r < R; ++r) {
    f32 product = 0, sum = 0;
    for (int c = 0; c < C; ++c) {
      product += w.a[c * R + r] * w.x[c], sum += w.a[c * R + r];
      right = right && w.turned[r * C + c] == w.a[c * R + r];
      std::printf("%g ", w.turned[r * C + c]);
    }
    right = right && w.y[r] == product && w.sums[r] == sum;
    std::printf(" y %g, sum %g\n", w.y[r], w.sums[r]);
  }
  return right ? 0 : 1;
}
