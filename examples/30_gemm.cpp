// SPDX-License-Identifier: MIT
// C = A B on a square of PEs, for host matrices of any size, in three ways: with tiles that rotate, with
// tiles that are broadcast (SUMMA), and with 16-bit numbers whose products are summed in 32 bits.
#include <wsl/kernel/gemm.hpp>

#include <cmath>
#include <cstdio>
#include <vector>
using namespace wsl;

constexpr int M = 200, K = 130, N = 170;

template <class T>
std::vector<T> waves(int count, f32 length) {
  std::vector<T> x;
  for (int i = 0; i < count; ++i) x.push_back(static_cast<T>(std::sin(static_cast<f32>(i) / length)));
  return x;
}

/// The largest difference from the exact product, relative to the sum of |a| |b|.
template <class T>
f64 distance(const std::vector<f32>& c, const std::vector<T>& a, const std::vector<T>& b) {
  f64 largest = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      f64 exact = 0, size = 0;
      for (int p = 0; p < K; ++p) {
        const f64 term = static_cast<f64>(static_cast<f32>(a[static_cast<std::size_t>(i * K + p)])) *
                         static_cast<f64>(static_cast<f32>(b[static_cast<std::size_t>(p * N + j)]));
        exact += term, size += std::abs(term);
      }
      largest = std::max(largest,
                         std::abs(static_cast<f64>(c[static_cast<std::size_t>(i * N + j)]) - exact) / size);
    }
  return largest;
}

int main() {
  const std::vector<f32> a = waves<f32>(M * K, 7), b = waves<f32>(K * N, 11);
  std::vector<f32> c(M * N);

  gemm(matrix(c.data(), M, N), matrix(a.data(), M, K), matrix(b.data(), K, N));
  const bool rotated = distance(c, a, b) < 1e-6;
  gemm(matrix(c.data(), M, N), matrix(a.data(), M, K), matrix(b.data(), K, N),
       {.method = gemm_method::summa, .side = 3});
  const bool broadcast = distance(c, a, b) < 1e-6;

  const std::vector<bf16> short_a = waves<bf16>(M * K, 7), short_b = waves<bf16>(K * N, 11);
  gemm_fabric<bf16> product(4);  // a grid of 4 x 4 PEs for many products
  product(matrix(c.data(), M, N), matrix(short_a.data(), M, K), matrix(short_b.data(), K, N));
  const bool short_numbers = distance(c, short_a, short_b) < 1e-6;

  std::printf("rotating %s, broadcast %s, 16 bits %s\n", rotated ? "right" : "wrong",
              broadcast ? "right" : "wrong", short_numbers ? "right" : "wrong");
  return rotated && broadcast && short_numbers ? 0 : 1;
}
