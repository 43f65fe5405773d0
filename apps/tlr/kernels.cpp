// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <cmath>
#include <numbers>

namespace tlr_app {
namespace {

struct point {
  double x, y;
};

/// The first n points of a Z curve through a grid of 2^k x 2^k.
std::vector<point> points(int n) {
  int side = 1;
  while (side * side < n) side *= 2;
  std::vector<point> some;
  for (int i = 0; i < n; ++i) {
    int x = 0, y = 0;
    for (int bit = 0; i >> 2 * bit; ++bit)
      x |= (i >> 2 * bit & 1) << bit, y |= (i >> (2 * bit + 1) & 1) << bit;
    some.push_back({(x + 0.5) / side, (y + 0.5) / side});
  }
  return some;
}

template <class T, class F>
std::vector<T> fill(const shape& s, F f) {
  const std::vector<point> to = points(s.rows), from = points(s.columns);
  std::vector<T> a;
  a.reserve(to.size() * from.size());
  for (const point& p : to)
    for (const point& q : from) a.push_back(static_cast<T>(f(std::hypot(p.x - q.x, p.y - q.y, s.apart))));
  return a;
}

}  // namespace

std::vector<float> exponential(const shape& s) {
  return fill<float>(s, [&](double r) { return std::exp(-r / s.length); });
}
std::vector<float> inverse(const shape& s) {
  return fill<float>(s, [](double r) { return 1 / r; });
}
std::vector<std::complex<float>> wave(const shape& s) {
  return fill<std::complex<float>>(
      s, [&](double r) { return std::polar(1 / r, 2 * std::numbers::pi * r / s.length); });
}

}  // namespace tlr_app
