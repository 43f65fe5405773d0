// SPDX-License-Identifier: MIT
// Learning-rate schedules: functions of the step t = 0, 1, 2, ... The formulas are those of the Cerebras
// Model Zoo (1.9.1, optim/lr_scheduler.py), and for cycles those of PyTorch (torch.optim.lr_scheduler). Any
// other function of the step will do as well.
//   ml::rate::sequence({{1600, ml::rate::linear(0, 6e-4, 1600)}, {0, ml::rate::linear(6e-4, 0, 150000)}})
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml::rate {

using schedule = std::function<f64(i64)>;

/// Throws std::invalid_argument for the rate of a step, which counts from 1, that is negative or no finite
/// f32, in which the optimizers compute.
inline void check(f64 rate, i64 step) {
  constexpr f64 most = static_cast<f64>(std::numeric_limits<f32>::max());
  if (!(rate >= 0 && rate <= most))
    throw std::invalid_argument(fmt::format(
        "wsl: the learning rate of step {} is at least 0 and at most {:.3g}, the largest f32, not {}", step,
        most, rate));
}

namespace detail {

/// Throws std::invalid_argument for less than one step.
inline i64 at_least_one(const char* what, i64 steps) {
  if (steps < 1)
    throw std::invalid_argument(
        fmt::format("wsl: {} of a learning rate is at least one step, not {}", what, steps));
  return steps;
}

}  // namespace detail

inline schedule constant(f64 rate) {
  return [=](i64) { return rate; };
}
/// last + (first - last) (1 - t / steps)^power; `last` from step `steps` on.
inline schedule polynomial(f64 first, f64 last, i64 steps, f64 power) {
  return [=](i64 t) {
    return t >= steps
               ? last
               : last + (first - last) * std::pow(1 - static_cast<f64>(t) / static_cast<f64>(steps), power);
  };
}
inline schedule linear(f64 first, f64 last, i64 steps) { return polynomial(first, last, steps, 1); }
/// Half a cosine wave from the first rate to the last. Throws std::invalid_argument for less than one step,
/// as do those below.
inline schedule cosine(f64 first, f64 last, i64 steps) {
  detail::at_least_one("a half cosine wave", steps);
  return [=](i64 t) {
    return last +
           (first - last) * 0.5 *
               (1 + std::cos(M_PI * static_cast<f64>(t < steps ? t : steps) / static_cast<f64>(steps)));
  };
}
/// first * factor^(t / every); with `stairs` the power is rounded down.
inline schedule exponential_decay(f64 first, f64 factor, i64 every, bool stairs = false) {
  detail::at_least_one("the time of a decay", every);
  return [=](i64 t) {
    const f64 power = static_cast<f64>(t) / static_cast<f64>(every);
    return first * std::pow(factor, stairs ? std::floor(power) : power);
  };
}
/// first / (1 + factor t^power / every); with `stairs` t^power / every is rounded down.
inline schedule inverse_time(f64 first, f64 factor, i64 every, f64 power = 1, bool stairs = false) {
  detail::at_least_one("the time of a decay", every);
  return [=](i64 t) {
    const f64 passed = std::pow(static_cast<f64>(t), power) / static_cast<f64>(every);
    return first / (1 + factor * (stairs ? std::floor(passed) : passed));
  };
}
/// scale * first / sqrt(the larger of t and warmup)
inline schedule inverse_square_root(f64 first, f64 scale, i64 warmup) {
  detail::at_least_one("the warm-up", warmup);
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

/// A cosine wave between the first rate and the last, for ever; half a period takes `half` steps.
inline schedule cosine_annealing(f64 first, f64 last, i64 half) {
  detail::at_least_one("half a cosine wave", half);
  return [=](i64 t) {
    return last + (first - last) * 0.5 * (1 + std::cos(M_PI * static_cast<f64>(t) / static_cast<f64>(half)));
  };
}
/// Half a cosine wave from the first rate to the last, again and again, each `stretch` times as long as the
/// one before (Loshchilov and Hutter, arXiv 1608.03983). Throws std::invalid_argument for less than one step.
inline schedule warm_restarts(f64 first, f64 last, i64 steps, i64 stretch = 1) {
  if (steps < 1 || stretch < 1)
    throw std::invalid_argument(fmt::format(
        "wsl: a learning rate restarts after at least one step, not after {}", steps < 1 ? steps : stretch));
  return [=](i64 t) {
    i64 length = steps;
    if (stretch == 1) t %= length;
    else
      for (; t >= length; length *= stretch) t -= length;
    return cosine_annealing(first, last, length)(t);
  };
}

/// The height of the cycles of cyclic rates: always the same, halved each time, or shrinking by a factor each
/// step.
struct cycle_heights {
  enum class kind : u8 { even, halved, shrinking };
  kind how = kind::even;
  f64 factor = 1;  ///< of each step, for `shrinking`
};
/// From the lowest rate to the highest in `up` steps and back in `down` steps, again and again (L. N. Smith,
/// arXiv 1506.01186). Throws std::invalid_argument if either is less than one step.
inline schedule cyclic(f64 lowest, f64 highest, i64 up, i64 down, const cycle_heights& heights = {}) {
  if (up < 1 || down < 1)
    throw std::invalid_argument(fmt::format(
        "wsl: a cycle of learning rates goes up and down in at least one step each, not in {} and {}", up,
        down));
  return [=](i64 t) {
    const i64 at = t % (up + down), cycle = t / (up + down);
    const f64 height = at <= up ? static_cast<f64>(at) / static_cast<f64>(up)
                                : static_cast<f64>(up + down - at) / static_cast<f64>(down);
    const f64 scale = heights.how == cycle_heights::kind::halved      ? std::pow(0.5, cycle)
                      : heights.how == cycle_heights::kind::shrinking ? std::pow(heights.factor, t)
                                                                      : 1;
    return lowest + (highest - lowest) * height * scale;
  };
}

/// The shape of one cycle.
struct one_cycle_shape {
  f64 rise = 0.3;             ///< the part of all steps that it takes to the highest
  f64 last_divisor = 1e4;     ///< the last rate is the first one divided by this
  bool three_phases = false;  ///< back to the first as fast as up, and only then to the last
  bool straight = false;      ///< lines instead of half waves
};
/// From the first rate to the highest and then, over the rest of the steps, far below the first (L. N. Smith
/// and N. Topin, arXiv 1708.07120). Throws std::invalid_argument if there are too few steps for the shape.
inline schedule one_cycle(f64 first, f64 highest, i64 steps, const one_cycle_shape& shape = {}) {
  const f64 last_step = static_cast<f64>(steps) - 1, top = shape.rise * static_cast<f64>(steps) - 1,
            back = shape.three_phases ? 2 * top : last_step;
  if (!(top > 0 && back <= last_step))
    throw std::invalid_argument(fmt::format(
        "wsl: a cycle of {} learning rates is too short to rise for {} of it", steps, shape.rise));
  const auto between = [straight = shape.straight](f64 from, f64 to, f64 part) {
    return from + (to - from) * (straight ? part : 0.5 * (1 - std::cos(M_PI * part)));
  };
  const f64 last = first / shape.last_divisor, middle = shape.three_phases ? first : last;
  return [=](i64 step) {
    const f64 t = static_cast<f64>(step);
    if (t <= top) return between(first, highest, t / top);
    if (t <= back) return between(highest, middle, (t - top) / (back - top));
    return t < last_step ? between(middle, last, (t - back) / (last_step - back)) : last;
  };
}

/// first f(1) f(2) ... f(t), with a factor for each step.
inline schedule multiplicative(f64 first, schedule factor) {
  return [=, done = i64{0}, product = first](i64 t) mutable {
    if (t < done) done = 0, product = first;
    while (done < t) product *= factor(++done);
    return product;
  };
}

/// first times all factors, which are schedules that begin with 1.
inline schedule chained(f64 first, std::vector<schedule> factors) {
  return [=](i64 t) {
    f64 rate = first;
    for (const schedule& f : factors) rate *= f(t);
    return rate;
  };
}

/// A part of a sequence: a schedule that starts at its own step 0 and ends after `steps` steps.
struct phase {
  i64 steps;
  schedule rate;
};
/// One phase after the other; the last never ends, whatever its number of steps. Throws std::invalid_argument
/// if there is none.
inline schedule sequence(std::vector<phase> phases) {
  if (phases.empty()) throw std::invalid_argument("wsl: a sequence of learning rates has at least one phase");
  return [=](i64 t) {
    std::size_t k = 0;
    for (; k + 1 < phases.size() && t >= phases[k].steps; ++k) t -= phases[k].steps;
    return phases[k].rate(t);
  };
}

/// The first rate until the first milestone, the second until the second, and so on. Throws
/// std::invalid_argument unless there is one rate more than milestones, and the milestones ascend.
inline schedule piecewise_constant(const std::vector<f64>& rates, const std::vector<i64>& milestones) {
  if (rates.size() != milestones.size() + 1)
    throw std::invalid_argument(
        fmt::format("wsl: {} milestones lie between one learning rate more, not between {}",
                    milestones.size(), rates.size()));
  std::vector<phase> phases;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const i64 from = k ? milestones[k - 1] : 0, to = k < milestones.size() ? milestones[k] : from + 1;
    if (to <= from)
      throw std::invalid_argument(
          fmt::format("wsl: milestones of learning rates rise, but {} follows {}", to, from));
    phases.push_back({to - from, constant(rates[k])});
  }
  return sequence(std::move(phases));
}

}  // namespace wsl::ml::rate
