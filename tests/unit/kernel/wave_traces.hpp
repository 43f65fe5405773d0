// SPDX-License-Identifier: MIT
// What tests of imaging do with traces.
#pragma once
#include <random>
#include <vector>
#include <wsl/core/scalar.hpp>

inline std::vector<wsl::f32> noise(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<wsl::f32> v;
  for (int i = 0; i < n; ++i)
    v.push_back(static_cast<wsl::f32>(static_cast<wsl::f64>(random()) / 4294967296. - 0.5));
  return v;
}
inline wsl::f64 dot(const std::vector<wsl::f32>& a, const std::vector<wsl::f32>& b) {
  wsl::f64 sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += wsl::f64{a[i]} * wsl::f64{b[i]};
  return sum;
}
