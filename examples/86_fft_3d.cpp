// SPDX-License-Identifier: MIT
// A Fourier transform as it runs on a wafer: N x N x N numbers on N x N PEs, one line a PE. The layout is
// checked at compile time; the program is that of example 85, with room for one line.
#include <wsl/kernel/fft.hpp>

#include <cstdio>
using namespace wsl;

constexpr int N = 8;
constexpr layout wafer = fft::pencil<fft::one_line(N)>::plan(wse2, N, N);
static_assert(routed<wafer>());

int main() {
  std::vector<fft::number> x, y(N * N * N), back(N * N * N);
  for (int i = 0; i < N * N * N; ++i)
    x.emplace_back(static_cast<f32>(i * 37 % 64) / 32 - 1, static_cast<f32>(i * 23 % 64) / 32 - 1);

  fft::wafer_transform<N> t;
  t.forward(y, x);
  t.inverse(back, y);

  const std::vector<std::complex<f64>> exact = fft::serial({N, N, N}, {x.begin(), x.end()});
  f64 error = 0, round_trip = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += std::norm(std::complex<f64>(y[i]) - exact[i]), size += std::norm(exact[i]);
    round_trip = std::max(round_trip, static_cast<f64>(std::abs(back[i] - x[i])));
  }
  const bool right = std::sqrt(error / size) < 1e-6 && round_trip < 1e-6;
  std::printf("%d x %d x %d numbers on %d x %d PEs: the spectrum and the way back are %s\n", N, N, N, N, N,
              right ? "right to 1e-6" : "wrong");
  return right ? 0 : 1;
}
