// SPDX-License-Identifier: MIT
// A whole algorithm in one task: the power method for the largest eigenvalue of a symmetric tridiagonal
// matrix. The task awaits the words of its neighbours, and collectives over all PEs, in the middle of its
// loop; other tasks run meanwhile.
#include <wsl/collective/all_reduce.hpp>
#include <wsl/collective/awaited.hpp>
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <cmath>
#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int P = 8, N = 4, steps = 60;  // P PEs with N elements of the vector each
constexpr lane<f32> right{0, east}, left{2, west};
constexpr all_reduce<f32> sum{4};  // colors 4 to 7

struct part {
  f32 x[N + 2]{}, y[N]{}, eigenvalue = 0;  // x with one element of either neighbour
  awaited<sum> total;

  task iterate(pe& me, f32 diagonal, f32 beside) {
    mov(mem(x), 0);
    mov(mem(x).part(1, N), 1);
    for (int step = 0; step < steps; ++step) {
      if (right.has_next(me)) right.send(me, x[N]);
      if (left.has_next(me)) left.send(me, x[1]);
      if (right.has_previous(me)) co_await mov(&x[0], right.fabin(me, 1));
      if (left.has_previous(me)) co_await mov(&x[N + 1], left.fabin(me, 1));

      f32 square = 0;
      for (int i = 0; i < N; ++i) {
        y[i] = diagonal * x[i + 1] + beside * (x[i] + x[i + 2]);
        square += y[i] * y[i];
      }
      eigenvalue = std::sqrt(co_await total(me, square));
      mul(mem(x).part(1, N), mem(y), 1 / eigenvalue);
    }
  }
  using tasks = task_list<launch<&part::iterate>, use<&part::total>, sends<right, left>, reads<right, left>>;
};
constexpr layout line = layout{wse2, P, 1}.place<part>(all).wire(right, left, sum);
static_assert(routed<line>());

int main() {
  fabric f{line};
  f.launch<&part::iterate>(all, 2.f, 1.f);
  const f32 found = f.read(0, 0, &part::eigenvalue);

  std::vector<f64> x(P * N + 2), y = x;  // the same, serially
  for (std::size_t i = 1; i <= P * N; ++i) x[i] = 1;
  f64 expected = 0;
  for (int step = 0; step < steps; ++step) {
    f64 square = 0;
    for (std::size_t i = 1; i <= P * N; ++i) y[i] = 2 * x[i] + x[i - 1] + x[i + 1], square += y[i] * y[i];
    expected = std::sqrt(square);
    for (std::size_t i = 1; i <= P * N; ++i) x[i] = y[i] / expected;
  }
  std::printf("after %d steps the eigenvalue is %.4f, serially %.4f\n", steps, found, expected);
  return std::abs(found - expected) < 1e-4 ? 0 : 1;
}
