// SPDX-License-Identifier: MIT
// Compiled for this computer, with the pragma that lets compilers vectorise the inner loop: without it they do not.
#include "wave_loop.hpp"

namespace bench {

void wave_loop::step(const float* u, float* v, const float* k) const {
  constexpr float c[] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
  const long n = n_, sy = n + 8, sx = sy * sy;
#pragma omp parallel for
  for (long x = 4; x < n + 4; ++x)
    for (long y = 4; y < n + 4; ++y)
#pragma omp simd
      for (long z = 4; z < n + 4; ++z) {
        const long i = x * sx + y * sy + z;
        float sum = 3 * c[0] * u[i];
        for (long r = 1; r <= 4; ++r) sum += c[r] * (u[i - r] + u[i + r] + u[i - r * sy] + u[i + r * sy] + u[i - r * sx] + u[i + r * sx]);
        v[i] = 2 * u[i] - v[i] + k[i] * sum;
      }
}

}  // namespace bench
