// SPDX-License-Identifier: MIT
// y = A x + b on each PE of a row, independently of the others: with loops, and with descriptors. The sizes
// are template parameters.
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>
#include <cstdio>
#include <numeric>
using namespace wsl;

template <std::size_t M, std::size_t N>
struct gemv {
  f32 A[M * N]{}, x[N]{}, b[M]{}, y[M]{};  // A is (M, N), row by row

  void with_loops(pe&) {
    for (std::size_t i = 0; i < M; ++i) {
      y[i] = b[i];
      for (std::size_t j = 0; j < N; ++j) y[i] += A[i * N + j] * x[j];
    }
  }
  void with_descriptors(pe&) {
    mov(mem(y), mem(b));
    for (int j = 0; j < int{N}; ++j) fmac(mem(y), mem(y), mem(A).from(j).every(N), x[j]);
  }
  using tasks = task_list<launch<&gemv::with_loops>, launch<&gemv::with_descriptors>>;
};

template <std::size_t M, std::size_t N, int width>
bool right() {
  fabric f{layout{wse2, width, 1}.place<gemv<M, N>>(all)};
  device d{f};
  std::vector<f32> A(M * N * width), x(N, 1), b(M, 2), expected;
  std::iota(A.begin(), A.end(), 0.f);
  for (auto row = A.begin(); row != A.end(); row += N)
    expected.push_back(std::inner_product(x.begin(), x.end(), row, 2.f));
  d.copy_in(&gemv<M, N>::A, all, A), d.broadcast(&gemv<M, N>::x, all, x), d.broadcast(&gemv<M, N>::b, all, b);
  d.launch<&gemv<M, N>::with_loops>(all);
  const bool loops = d.copy_out(&gemv<M, N>::y, all) == expected;
  d.launch<&gemv<M, N>::with_descriptors>(all);
  return loops && d.copy_out(&gemv<M, N>::y, all) == expected;
}
int main() { std::puts(right<4, 6, 1>() && right<7, 3, 5>() ? "y = A x + b on 1 and on 5 PEs" : "wrong"); }
