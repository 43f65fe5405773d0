// SPDX-License-Identifier: MIT
// Compiled for this computer. The first loop carries the pragma that lets compilers vectorise it; the
// second is the first draft of most programmers, which GCC 12 does not vectorise.
#include "wave_loop.hpp"

namespace bench {

void wave_loop::step_vectorised(const float* u, float* v, const float* k) const {
  constexpr float c[] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
  const long n = n_, sy = n + 8, sx = sy * sy;
#pragma omp parallel for
  for (long x = 4; x < n + 4; ++x)
    for (long y = 4; y < n + 4; ++y)
#pragma omp simd
      for (long z = 4; z < n + 4; ++z) {
        const long i = x * sx + y * sy + z;
        float sum = 3 * c[0] * u[i];
        for (long r = 1; r <= 4; ++r)
          sum += c[r] * (u[i - r] + u[i + r] + u[i - r * sy] + u[i + r * sy] + u[i - r * sx] + u[i + r * sx]);
        v[i] = 2 * u[i] - v[i] + k[i] * sum;
      }
}

void wave_loop::step_plain(const float* u, float* v, const float* k) const {
  constexpr float c0 = -205.f / 72, c1 = 8.f / 5, c2 = -1.f / 5, c3 = 8.f / 315, c4 = -1.f / 560;
  const long n = n_, sy = n + 8, sx = sy * sy;
#pragma omp parallel for
  for (long x = 4; x < n + 4; ++x)
    for (long y = 4; y < n + 4; ++y)
      for (long z = 4; z < n + 4; ++z) {
        const long i = x * sx + y * sy + z;
        v[i] =
            2 * u[i] - v[i] +
            k[i] *
                (3 * c0 * u[i] + c1 * (u[i - 1] + u[i + 1] + u[i - sy] + u[i + sy] + u[i - sx] + u[i + sx]) +
                 c2 * (u[i - 2] + u[i + 2] + u[i - 2 * sy] + u[i + 2 * sy] + u[i - 2 * sx] + u[i + 2 * sx]) +
                 c3 * (u[i - 3] + u[i + 3] + u[i - 3 * sy] + u[i + 3 * sy] + u[i - 3 * sx] + u[i + 3 * sx]) +
                 c4 * (u[i - 4] + u[i + 4] + u[i - 4 * sy] + u[i + 4 * sy] + u[i - 4 * sx] + u[i + 4 * sx]));
      }
}

}  // namespace bench
