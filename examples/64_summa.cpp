// SPDX-License-Identifier: MIT
// C = A B as a sum of outer products (SUMMA). In step k the PEs of column k send their tiles of A along their
// rows, those of row k their tiles of B along their columns, and all multiply the tiles that have come. Each
// step has broadcasts of its own, so no two senders meet.
#include <wsl/collective/broadcast.hpp>
#include <wsl/host/device.hpp>

#include <cstdio>
#include <utility>
#include <vector>
using namespace wsl;

constexpr broadcast<f32> a_in_step(int k) { return {.first = k, .among = each_row, .root = {k, 0}}; }
constexpr broadcast<f32> b_in_step(int k) { return {.first = 12 + k, .among = each_column, .root = {0, k}}; }

// P x P tiles of (M, K) of A, (K, N) of B and (M, N) of C, all column by column.
template <int P, int M, int K, int N>
struct tile {
  template <int n>
  using words = f32[static_cast<std::size_t>(n)];

  words<M * K> a{}, a_here{};
  words<K * N> b{}, b_here{};
  words<M * N> c{};
  int k = 0;

  void start(pe& me) {
    mov(mem(c), 0);
    k = 0;
    exchange(me);
  }
  void exchange(pe& me) {  // `multiply` starts when both A and B have come, or gone
    const color<f32> as = a_in_step(k).line(), bs = b_in_step(k).line();
    if (me.x() == k) mov(mem(a_here), mem(a)), me.async(mov(fabout(as), mem(a)), then<&tile::multiply>());
    else me.async(mov(mem(a_here), fabin(as)), then<&tile::multiply>());
    if (me.y() == k) mov(mem(b_here), mem(b)), me.async(mov(fabout(bs), mem(b)), then<&tile::multiply>());
    else me.async(mov(mem(b_here), fabin(bs)), then<&tile::multiply>());
  }
  void multiply(pe& me) {
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < N; ++j)
        fmac(mem(c).part(j * M, M), mem(c).part(j * M, M), mem(a_here).part(i * M, M), b_here[j * K + i]);
    if (++k < P) exchange(me);
  }

  template <int step>
  using broadcasts = task_list<reads<a_in_step(step).line(), b_in_step(step).line()>,
                               sends<a_in_step(step).line(), b_in_step(step).line()>>;
  using tasks = task_list<launch<&tile::start>, joins<2, &tile::multiply>, numbered<P, broadcasts>>;
};

template <int P, int M, int K, int N>
int wrong() {
  using program = tile<P, M, K, N>;
  layout l{wse2, P, P};
  l.place<program>(all);
  for (int k = 0; k < P; ++k) l.wire(a_in_step(k), b_in_step(k));
  const auto a = [](int i, int j) { return static_cast<f32>((7 * i + 3 * j) % 11 - 5); };
  const auto b = [](int i, int j) { return static_cast<f32>((5 * i + 2 * j) % 7 - 3); };
  std::vector<f32> as, bs;
  for (int p = 0; p < P * P; ++p) {
    for (int w = 0; w < M * K; ++w) as.push_back(a(p / P * M + w % M, p % P * K + w / M));
    for (int w = 0; w < K * N; ++w) bs.push_back(b(p / P * K + w % K, p % P * N + w / K));
  }
  fabric f{l};
  device d{f};
  d.copy_in(&program::a, all, as), d.copy_in(&program::b, all, bs);
  d.launch();

  int differ = 0, at = 0;
  for (f32 found : d.copy_out(&program::c, all)) {
    const int p = at / (M * N), w = at++ % (M * N), row = p / P * M + w % M, column = p % P * N + w / M;
    f32 sum = 0;
    for (int i = 0; i < P * K; ++i) sum += a(row, i) * b(i, column);
    differ += found != sum;
  }
  return differ;
}

int main() {
  const int differ = wrong<4, 7, 5, 6>() + wrong<3, 2, 8, 3>();
  std::printf("A B on 4 x 4 and 3 x 3 PEs: %d elements are wrong\n", differ);
  return differ == 0 ? 0 : 1;
}
