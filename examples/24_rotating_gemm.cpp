// SPDX-License-Identifier: MIT
// C = A B on a ring of PEs: PE j has column block j of A, B and C. The blocks of A rotate around the ring,
// and each PE multiplies the block of A that it holds with the matching rows of its block of B. A is
// double-buffered: one copy is used and sent while the next one arrives.
#include <wsl/collective/shift.hpp>
#include <wsl/host/device.hpp>
#include <cstdio>
using namespace wsl;

constexpr int P = 6, K = 3, N = P * K;  // P PEs with K columns each of (N, N) matrices, column by column
constexpr shift<f32> around{.first = 0, .by = 1, .cyclic = true};  // colors 0 to 2

struct part {
  f32 A[N * K]{}, coming[N * K]{}, B[N * K]{}, C[N * K]{};
  int round = 0;
  endpoint<around> rotating;

  void rotate(pe& me) {
    if (round++ < P) rotating.start(me, mem(A), mem(coming), then<&part::multiply>());
  }
  void multiply(pe& me) {
    const int block = (me.x() - round + 1 + P) % P;  // the column block of A that is here
    for (int j = 0; j < K; ++j)
      for (int k = 0; k < K; ++k)
        fmac(mem(C).part(j * N, N), mem(C).part(j * N, N), mem(A).part(k * N, N), B[j * N + block * K + k]);
    mov(mem(A), mem(coming));
    rotate(me);
  }
  using tasks = task_list<launch<&part::rotate>, use<&part::rotating>, local<&part::multiply>>;
};
constexpr layout ring = layout{wse2, P, 1}.place<part>(all).wire(around);
static_assert(routed<ring>());

int main() {
  const auto value = [](int i, int j, int seed) { return static_cast<f32>((5 * i + 3 * j + seed) % 7 - 3); };
  std::vector<f32> a, b;
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < N; ++i) a.push_back(value(i, j, 1)), b.push_back(value(i, j, 4));
  fabric f{ring};
  device d{f};
  d.copy_in(&part::A, all, a);
  d.copy_in(&part::B, all, b);
  d.launch();
  const std::vector<f32> c = d.copy_out(&part::C, all);
  int wrong = 0;
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < N; ++i) {
      f32 expected = 0;
      for (int k = 0; k < N; ++k) expected += value(i, k, 1) * value(k, j, 4);
      wrong += c[static_cast<std::size_t>(j * N + i)] != expected;
    }
  std::printf("%d x %d matrices on %d PEs: %d elements of the product are wrong\n", N, N, P, wrong);
  return wrong == 0 ? 0 : 1;
}
