// SPDX-License-Identifier: MIT
// Compiled for this computer.
#include "bicgstab_loop.hpp"

#include <cmath>

namespace bench {

bicgstab_loop::bicgstab_loop(long n, bool all_weights) : n_(n), all_weights_(all_weights) {
  const numbers zeros(static_cast<std::size_t>((n + 2) * (n + 2) * (n + 2)));
  weights_.assign(all_weights ? 7 : 1, zeros);
  for (numbers* u : {&b_, &x_, &r_, &p_, &v_, &s_, &t_}) *u = zeros;
}

void bicgstab_loop::begin() {
  for (numbers* u : {&x_, &v_, &s_, &t_}) u->assign(u->size(), 0.f);
  r_ = p_ = b_;
  double sum = 0;
  for (float b : b_) sum += static_cast<double>(b) * b;
  rho_ = whole_ = left_ = sum;
}

double bicgstab_loop::residual() const { return std::sqrt(left_ / whole_); }

void bicgstab_loop::iterate(int iterations) {
  if (all_weights_) iterate_with<true>(iterations);
  else iterate_with<false>(iterations);
}

// v = A u for the n cells from the first one on.
template <bool all_weights>
void bicgstab_loop::weigh(const float* u, float* v, long first) const {
  const long sy = n_ + 2, sx = sy * sy, end = first + n_;
  const auto weights = [this](std::size_t k) { return weights_[all_weights ? k : 0].data(); };
  const float *centre = weights(0), *west = weights(1), *east = weights(2), *north = weights(3),
              *south = weights(4), *down = weights(5), *up = weights(6);
#pragma omp simd
  for (long i = first; i < end; ++i)
    if constexpr (all_weights)
      v[i] = centre[i] * u[i] + west[i] * u[i - sx] + east[i] * u[i + sx] + north[i] * u[i - sy] +
             south[i] * u[i + sy] + down[i] * u[i - 1] + up[i] * u[i + 1];
    else v[i] = centre[i] * u[i] - (u[i - sx] + u[i + sx] + u[i - sy] + u[i + sy] + u[i - 1] + u[i + 1]);
}

template <bool all_weights>
void bicgstab_loop::iterate_with(int iterations) {
  const long n = n_;
  const float* b = b_.data();
  float *x = x_.data(), *r = r_.data(), *p = p_.data(), *v = v_.data(), *s = s_.data(), *t = t_.data();
  for (int k = 0; k < iterations; ++k) {
    double bv = 0, ts = 0, tt = 0, rr = 0, br = 0;
#pragma omp parallel for reduction(+ : bv)
    for (long i = 0; i < n * n; ++i) {
      const long first = index(i / n, i % n, 0);
      float line = 0;
      weigh<all_weights>(p, v, first);
#pragma omp simd reduction(+ : line)
      for (long j = first; j < first + n; ++j) line += b[j] * v[j];
      bv += line;
    }
    const float alpha = static_cast<float>(rho_ / bv);
#pragma omp parallel for
    for (long i = 0; i < n * n; ++i) {
      const long first = index(i / n, i % n, 0);
#pragma omp simd
      for (long j = first; j < first + n; ++j) s[j] = r[j] - alpha * v[j];
    }
#pragma omp parallel for reduction(+ : ts, tt)
    for (long i = 0; i < n * n; ++i) {
      const long first = index(i / n, i % n, 0);
      float line_ts = 0, line_tt = 0;
      weigh<all_weights>(s, t, first);
#pragma omp simd reduction(+ : line_ts, line_tt)
      for (long j = first; j < first + n; ++j) {
        line_ts += t[j] * s[j];
        line_tt += t[j] * t[j];
      }
      ts += line_ts, tt += line_tt;
    }
    const float omega = static_cast<float>(ts / tt);
#pragma omp parallel for reduction(+ : rr, br)
    for (long i = 0; i < n * n; ++i) {
      const long first = index(i / n, i % n, 0);
      float line_rr = 0, line_br = 0;
#pragma omp simd reduction(+ : line_rr, line_br)
      for (long j = first; j < first + n; ++j) {
        x[j] += alpha * p[j] + omega * s[j];
        r[j] = s[j] - omega * t[j];
        line_rr += r[j] * r[j];
        line_br += b[j] * r[j];
      }
      rr += line_rr, br += line_br;
    }
    const float beta = static_cast<float>(br / rho_ * (static_cast<double>(alpha) / omega));
    rho_ = br, left_ = rr;
#pragma omp parallel for
    for (long i = 0; i < n * n; ++i) {
      const long first = index(i / n, i % n, 0);
#pragma omp simd
      for (long j = first; j < first + n; ++j) p[j] = r[j] + beta * (p[j] - omega * v[j]);
    }
  }
}

}  // namespace bench
