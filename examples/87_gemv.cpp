// SPDX-License-Identifier: MIT
// y = A x for host matrices of any size, on a grid of PEs that keep their tiles: the largest eigenvalue of a
// symmetric matrix by repeated products, and one product of 16-bit numbers.
#include <wsl/kernel/gemv.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

constexpr int N = 50;

int main() {
  std::vector<f32> a(N * N);  // 2 on the diagonal, -1 beside it: eigenvalues 2 - 2 cos(k pi / (N + 1))
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      a[static_cast<std::size_t>(i * N + j)] = i == j ? 2.f : std::abs(i - j) == 1 ? -1.f : 0.f;

  gemv_fabric<f32> product(matrix<const f32>(a.data(), N, N), {.wide = 3, .high = 2});
  std::vector<f32> x, y(N);
  for (int i = 0; i < N; ++i) x.push_back(i % 2 ? 1.f : -1.f);
  f64 largest = 0;
  for (int step = 0; step < 1000; ++step) {
    product(y, x);
    f64 square = 0;
    for (f32 v : y) square += static_cast<f64>(v) * static_cast<f64>(v);
    largest = std::sqrt(square);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(static_cast<f64>(y[i]) / largest);
  }
  const f64 exact = 2 - 2 * std::cos(N * 3.14159265358979 / (N + 1));

  std::vector<f16> narrow_a(a.begin(), a.end());
  std::vector<f16> ones(N, f16{1});
  // The sums of the rows: 1 at both ends, else 0.
  gemv(std::span(y), matrix<const f16>(narrow_a.data(), N, N), std::span<const f16>(ones));
  f32 sum = 0;
  for (f32 v : y) sum += v;

  const bool right = std::abs(largest - exact) < 1e-4 && y.front() == 1 && y.back() == 1 && sum == 2;
  std::printf("the largest eigenvalue is %.3f, %s\n", largest, right ? "right to 1e-4" : "wrong");
  return right ? 0 : 1;
}
