// SPDX-License-Identifier: MIT
// y = A x + b where x, b and y stream. x enters over the north edge and runs down the columns; a task
// multiplies with each element. b enters over the west edge and passes along the rows, where each PE adds its
// part; the words that leave in the east are y. The numbers are f32 or f16.
#include <wsl/collective/lane.hpp>
#include <wsl/host/device.hpp>

#include <cstdio>
#include <vector>
using namespace wsl;

template <payload T> constexpr color<T> xs{0};
template <payload T> constexpr lane<T> sums{.first = 1, .toward = east, .ends = lane_ends::host};

template <payload T, std::size_t M, std::size_t N>
struct tile {
  T A[M * N]{}, y[M]{};  // column by column
  int j = 0;

  void multiply(pe& me, T x) {
    fmac(mem(y), mem(y), mem(A).part(j * int{M}, M), x);
    if (++j == int{N}) me.async(add(sums<T>.fabout(me), mem(y), sums<T>.fabin(me)));
  }
  using tasks = task_list<on<xs<T>, &tile::multiply>, reads<sums<T>>, sends<sums<T>>>;
};

template <payload T>
layout gemv_layout(int width, int height, const program& what) {
  layout l{wse2, width, height};
  l.place(all, what);
  l.path(xs<T>, rows(0, edge - 1), north >> (ramp | south))
    .path(xs<T>, row(edge - 1), north >> ramp)
    .stream_in(xs<T>, row(0), north);
  return l.wire(sums<T>);
}

/// The numbers are small and whole, so that every order of the sums is exact.
template <payload T, std::size_t M, std::size_t N, int width, int height>
int wrong() {
  const auto a = [](int i, int j) { return (7 * i + 3 * j) % 11 - 5; };
  using program = tile<T, M, N>;
  const layout l = gemv_layout<T>(width, height, program_v<program>);
  fabric f{l};
  device d{f};
  std::vector<T> A, x, b, y(M * height);
  for (int p = 0; p < width * height; ++p)
    for (int k = 0; k < int{M * N}; ++k)
      A.push_back(T(a(p / width * int{M} + k % int{M}, p % width * int{N} + k / int{M})));
  for (int j = 0; j < width * int{N}; ++j) x.push_back(T(j % 5 - 2));
  for (int i = 0; i < height * int{M}; ++i) b.push_back(T(i % 7));
  d.copy_in(&program::A, all, A);
  d.stream_in(xs<T>, x), d.stream_in(sums<T>.entrance(l), b), d.stream_out(sums<T>.exit(l), y);

  int differ = 0;
  for (int i = 0; i < height * int{M}; ++i) {
    int expected = i % 7;
    for (int j = 0; j < width * int{N}; ++j) expected += a(i, j) * (j % 5 - 2);
    differ += y[static_cast<std::size_t>(i)] != T(expected);
  }
  return differ;
}

int main() {
  const int differ = wrong<f32, 8, 4, 4, 4>() + wrong<f16, 8, 4, 4, 4>() + wrong<f16, 3, 5, 7, 2>();
  std::printf("y = A x + b on 4 x 4 and 7 x 2 PEs: %d elements are wrong\n", differ);
  return differ == 0 ? 0 : 1;
}
