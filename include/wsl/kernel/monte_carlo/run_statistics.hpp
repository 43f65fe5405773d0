// SPDX-License-Identifier: MIT
// Statistics of a run on the fabric: the time of its phases, and how evenly its PEs are loaded.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>

#include "../../core/scalar.hpp"

namespace wsl::monte_carlo {

/// Calls f() and adds the seconds that it took.
template <class F>
auto timed(f64& seconds, F f) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = f();
  seconds += std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
  return result;
}

/// The smallest, the largest and the mean amount of something that PEs have, or have done.
struct load {
  u64 min = ~u64{0}, max = 0, total = 0, pes = 0;

  void add(u64 amount) {
    min = std::min(min, amount), max = std::max(max, amount);
    total += amount, ++pes;
  }
  f64 mean() const { return pes ? static_cast<f64>(total) / static_cast<f64>(pes) : 0; }
  /// The largest amount over the mean: 1 is perfect balance.
  f64 imbalance() const { return total ? static_cast<f64>(max) / mean() : 1; }
};

}  // namespace wsl::monte_carlo
