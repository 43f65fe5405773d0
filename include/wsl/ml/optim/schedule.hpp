// SPDX-License-Identifier: MIT
// Learning rates as functions of the step t = 0, 1, 2, ...: the formulas of the Cerebras Model Zoo (1.9.1, optim/lr_scheduler.py).
//   ml::rate::sequence({{1600, ml::rate::linear(0, 6e-4, 1600)}, {0, ml::rate::linear(6e-4, 0, 150000)}})
#pragma once
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml::rate {

using schedule = std::function<f64(i64)>;

inline schedule constant(f64 rate) {
  return [=](i64) { return rate; };
}
/// last + (first - last) (1 - t / steps)^power, from `steps` on the last.
inline schedule polynomial(f64 first, f64 last, i64 steps, f64 power) {
  return [=](i64 t) {
    return t >= steps ? last : last + (first - last) * std::pow(1 - static_cast<f64>(t) / static_cast<f64>(steps), power);
  };
}
inline schedule linear(f64 first, f64 last, i64 steps) { return polynomial(first, last, steps, 1); }
/// Half a wave from the first to the last.
inline schedule cosine(f64 first, f64 last, i64 steps) {
  return [=](i64 t) { return last + (first - last) * 0.5 * (1 + std::cos(M_PI * static_cast<f64>(t < steps ? t : steps) / static_cast<f64>(steps))); };
}
/// first * factor^(t / every); in stairs the power is a whole number.
inline schedule exponential_decay(f64 first, f64 factor, i64 every, bool stairs = false) {
  return [=](i64 t) {
    const f64 power = static_cast<f64>(t) / static_cast<f64>(every);
    return first * std::pow(factor, stairs ? std::floor(power) : power);
  };
}
/// scale * first / sqrt(the larger of t and warmup)
inline schedule inverse_square_root(f64 first, f64 scale, i64 warmup) {
  return [=](i64 t) { return scale * first / std::sqrt(static_cast<f64>(t > warmup ? t : warmup)); };
}
/// The rate is multiplied by `factor` at each of the milestones.
inline schedule multi_step(f64 first, f64 factor, std::vector<i64> milestones) {
  return [=](i64 t) {
    f64 rate = first;
    for (i64 m : milestones) rate *= t >= m ? factor : 1;
    return rate;
  };
}

/// A part of a sequence: a schedule that begins anew at 0 and ends after some steps.
struct phase {
  i64 steps;
  schedule rate;
};
/// One after the other; the last never ends, whatever its steps. Throws std::invalid_argument if there is none.
inline schedule sequence(std::vector<phase> phases) {
  if (phases.empty()) throw std::invalid_argument("wsl: a sequence of learning rates has at least one phase");
  return [=](i64 t) {
    std::size_t k = 0;
    for (; k + 1 < phases.size() && t >= phases[k].steps; ++k) t -= phases[k].steps;
    return phases[k].rate(t);
  };
}

}  // namespace wsl::ml::rate
