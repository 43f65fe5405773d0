// SPDX-License-Identifier: MIT
// Poisson's equation on a periodic box, by Fourier transforms: where Lap u = f, every wave of u is the same
// wave of f divided by -|k|^2.
#include <wsl/kernel/fft.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
using namespace wsl;

constexpr int N0 = 24, N1 = 30, N2 = 32;  // a box of 2 pi each way

/// The wave number of line k of n: 0, 1, 2, ..., -2, -1.
f32 wave(int k, int n) { return static_cast<f32>(k <= n / 2 ? k : k - n); }

int main() {
  std::vector<f32> f, exact;
  for (int i = 0; i < N0; ++i)
    for (int j = 0; j < N1; ++j)
      for (int k = 0; k < N2; ++k) {
        const f64 step = 2 * std::numbers::pi, x = step * i / N0, y = step * j / N1, z = step * k / N2;
        exact.push_back(static_cast<f32>(std::sin(3 * x) * std::cos(2 * y) * std::sin(5 * z)));
        f.push_back(-38 * exact.back());  // Lap = -(9 + 4 + 25)
      }

  fft::real_transform t({N0, N1, N2});
  std::vector<fft::number> spectrum(t.spectrum_size());  // (N0, N1, N2 / 2 + 1)
  std::vector<f32> u(t.size());
  t.forward(spectrum, f);
  std::size_t at = 0;
  for (int i = 0; i < N0; ++i)
    for (int j = 0; j < N1; ++j)
      for (int k = 0; k <= N2 / 2; ++k, ++at) {
        const f32 x = wave(i, N0), y = wave(j, N1), z = wave(k, N2), square = x * x + y * y + z * z;
        spectrum[at] *= square > 0 ? -1 / square : 0;
      }
  t.inverse(u, spectrum);

  f32 error = 0;
  for (std::size_t i = 0; i < u.size(); ++i) error = std::max(error, std::abs(u[i] - exact[i]));
  std::printf("Poisson's equation on %d x %d x %d points: the solution is %s\n", N0, N1, N2,
              error < 1e-6f ? "right to 1e-6" : "wrong");
  return error < 1e-6f ? 0 : 1;
}
