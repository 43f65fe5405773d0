// SPDX-License-Identifier: MIT
// How far is A x from b? The largest element of b - A x, computed with three functions that every program may
// use: a matrix-vector product, a sum of vectors, and a norm. x goes down the columns, the residuals are
// added up along the rows, and the last column finds the largest.
#include <wsl/collective/broadcast.hpp>
#include <wsl/collective/reduce.hpp>
#include <wsl/host/device.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
using namespace wsl;

/// y = A x for a matrix of (y.length(), x.length()), column by column.
inline void gemv(memory<f32> y, memory<f32> a, memory<f32> x) {
  mov(y, 0);
  for (int j = 0; j < x.length(); ++j) fmac(y, y, a.part(j * y.length(), y.length()), x[j]);
}
/// y += alpha x
inline void axpy(memory<f32> y, f32 alpha, memory<f32> x) { fmac(y, y, x, alpha); }
/// The largest magnitude of an element of x.
inline f32 infinity_norm(memory<f32> x) {
  f32 norm = 0;
  map_each([](f32 largest, f32 v) { return std::max(largest, std::abs(v)); }, &norm, 0, x);
  return norm;
}

constexpr broadcast<f32> xs{.first = 0, .among = each_column};  // from the first row
constexpr collective::reduce<f32> residuals{
  .first = 1, .among = each_row, .root = {edge - 1}, .how = tactic::chain, .colors = 2};
constexpr collective::reduce<f32, larger> norms{
  .first = 3, .where = column(edge - 1), .among = each_column, .how = tactic::chain, .colors = 2};

template <int n>
using words = f32[static_cast<std::size_t>(n)];

template <int M, int N>
struct tile {
  words<M * N> a{};
  words<N> x{};
  words<M> ax{}, b{};  // b only in the first column, elsewhere zero
  f32 norm[1]{};
  endpoint<xs> spreading;
  endpoint<residuals> adding;
  endpoint<norms> comparing;

  void start(pe& me) { spreading.start(me, mem(x), then<&tile::multiply>()); }
  void multiply(pe& me) {
    gemv(mem(ax), mem(a), mem(x));
    axpy(mem(b), -1, mem(ax));
    adding.start(me, mem(b), then<&tile::compare>());
  }
  void compare(pe& me) {
    if (!me.east_edge()) return;
    norm[0] = infinity_norm(mem(b));
    comparing.start(me, mem(norm));
  }
  using tasks = task_list<launch<&tile::start>, use<&tile::spreading>, use<&tile::adding>,
                          use<&tile::comparing>, local<&tile::multiply>, local<&tile::compare>>;
};

layout grid(int width, int height, const program& what) {
  return layout{wse2, width, height}.place(all, what).wire(xs, residuals, norms);
}

/// The numbers are small and whole, so that every order of the sums gives the same result.
template <int W, int H, int M, int N>
bool right() {
  const auto a = [](int i, int j) { return static_cast<f32>((7 * i + 3 * j) % 11 - 5); };
  std::vector<f32> tiles, x, b;
  for (int p = 0; p < W * H; ++p)
    for (int k = 0; k < M * N; ++k) tiles.push_back(a(p / W * M + k % M, p % W * N + k / M));
  for (int j = 0; j < W * N; ++j) x.push_back(static_cast<f32>(j % 5 - 2));
  for (int i = 0; i < H * M; ++i) b.push_back(static_cast<f32>(i * i % 31));

  fabric f{grid(W, H, program_v<tile<M, N>>)};
  device d{f};
  d.copy_in(&tile<M, N>::a, all, tiles);
  d.copy_in(&tile<M, N>::x, row(0), x);
  d.copy_in(&tile<M, N>::b, column(0), b);
  d.launch();

  f32 expected = 0;
  for (int i = 0; i < H * M; ++i) {
    f32 residual = b[static_cast<std::size_t>(i)];
    for (int j = 0; j < W * N; ++j) residual -= a(i, j) * x[static_cast<std::size_t>(j)];
    expected = std::max(expected, std::abs(residual));
  }
  const f32 norm = f.read(W - 1, 0, &tile<M, N>::norm)[0];
  std::printf("A is (%d, %d) on %d x %d PEs: |b - A x| = %g, serially %g\n", H * M, W * N, W, H, norm,
              expected);
  return norm == expected;
}

int main() { return right<2, 2, 3, 2>() && right<5, 4, 4, 3>() ? 0 : 1; }
