// SPDX-License-Identifier: MIT
// The marks of an axis of a diagram: round numbers (1, 2 or 5 times a power of ten) and their labels.
// apps/wave and ml/run/loss_curve.hpp draw their axes with them.
#pragma once
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

namespace wsl::support {

/// Round numbers from `from` to `to`, two to eight of them.
inline std::vector<double> ticks(double from, double to) {
  const double raw = (to - from) / 6, power = std::pow(10, std::floor(std::log10(raw)));
  const double every = power * (raw / power > 5 ? 10 : raw / power > 2 ? 5 : raw / power > 1 ? 2 : 1);
  std::vector<double> all;
  // A range that is tiny beside its numbers could make `every` vanish in the sum: eight marks are enough.
  for (int i = 0; i < 8; ++i)
    if (const double v = (std::ceil(from / every) + i) * every; v <= to + every * 1e-6) all.push_back(v);
  return all;
}

/// A number with at most six digits, for a label.
inline std::string short_number(double x) {
  char text[32];
  const double rounded = std::abs(x) < 1e9 ? std::round(x * 1e6) / 1e6 + 0.0 : x;  // + 0.0: no "-0"
  return {text, std::to_chars(text, text + sizeof text, rounded, std::chars_format::general, 6).ptr};
}

}  // namespace wsl::support
