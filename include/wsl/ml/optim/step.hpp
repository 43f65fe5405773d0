// SPDX-License-Identifier: MIT
// One step of an optimizer, as the PEs that own parameters carry it out: the learning rate of this step, its
// number, how gradients are clipped, and the rounds in which a part of a parameter is updated.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

#include "optimizer.hpp"

namespace wsl::ml {

/// Bounds of the gradients; 0 means no bound. `norm` bounds the norm of all gradients together, `value` the
/// absolute value of each.
struct clipping {
  f64 norm = 0, value = 0;

  /// Throws std::invalid_argument if both bounds are given, or if one is negative, infinite or NaN.
  static clipping checked(f64 norm, f64 value) {
    for (const f64 bound : {norm, value})
      if (!(bound >= 0) || std::isinf(bound))
        throw std::invalid_argument(fmt::format(
            "wsl: gradients are clipped by a positive norm or value, or by 0 for none, not by {}", bound));
    if (norm > 0 && value > 0)
      throw std::invalid_argument("wsl: gradients are clipped by their norm or by their values, not by both");
    return {norm, value};
  }
};

namespace detail {

struct clamp_loop {
  [[gnu::always_inline]] static void run(f32* g, f32 most, int n) {
    for (int i = 0; i < n; ++i) g[i] = g[i] < -most ? -most : g[i] > most ? most : g[i];
  }
};
struct average_loop {
  [[gnu::always_inline]] static void run(f32* average, const f32* w, f32 part, int n) {
    for (int i = 0; i < n; ++i) average[i] = part == 1 ? w[i] : average[i] + part * (w[i] - average[i]);
  }
};

}  // namespace detail

/// Bounds the absolute value of each of n gradients.
inline void clip_by_value(f32* gradient, f32 largest, int n) {
  run_vectorized<detail::clamp_loop>(gradient, largest, n);
}

/// The factor that bounds the norm of gradients by `largest`: largest / (norm + 1e-6), or 1 if that is
/// smaller, as in PyTorch.
inline f32 clip_by_norm(f64 sum_of_squares, f64 largest) {
  const f64 by = largest / (std::sqrt(sum_of_squares) + 1e-6);
  return static_cast<f32>(by < 1 ? by : 1);
}

/// Updates numbers that lie together, by a rule that needs no more of their parameter.
inline void update(const update_rule& rule, const number_run& x, const parameter_step& s) {
  std::visit(
      [&]<class Rule>(const Rule& r) {
        if constexpr (!rules::needs_whole_parameter<Rule>) r.update(x, s);
        else
          throw std::invalid_argument(
              fmt::format("wsl: {} needs sums over a whole parameter, not some of its numbers", Rule::name));
      },
      rule);
}

struct optimizer_step {
  f32 rate = 0;
  i64 number = 1;  ///< 1, 2, ...
  clipping clip = {};
  int rounds = 1;  ///< of the optimizer's rule
  weight_average average = {};
  f32 loss_scale = 1;           ///< the factor of the loss, with which the gradients come
  bool may_be_skipped = false;  ///< if a gradient is not finite, none may change anything

  /// Whether a parameter is updated as soon as its own gradient is complete. If the norm is clipped, every
  /// update waits for the norm of all gradients; if the rule needs sums over whole parameters, it waits for
  /// them; if the step may be skipped, it waits for the last gradient.
  bool updates_at_once() const { return clip.norm == 0 && rounds == 1 && !may_be_skipped; }
  /// The factor of all gradients that bounds their norm, given the sum of the squares of those that came.
  f32 clip_factor(f64 sum_of_squares) const {
    const f64 by = static_cast<f64>(loss_scale);
    return clip.norm > 0 ? clip_by_norm(sum_of_squares / (by * by), clip.norm) : 1;
  }

  /// One round of the update of a part of a parameter: 0, 1, ..., `rounds` - 1. The gradients are clipped by
  /// value first, in place, and multiplied by `clip_factor`. `whole` is what earlier rounds have found out
  /// about the parameter, `sums` those of the part's owner.
  void update(const parameter_update& of, const parameter_part& part, f32 clip_factor, int round,
              const parameter_sums& whole, parameter_sums& sums) const {
    if (clip.value > 0 && round == 0 && of.optimizes())
      part.each_row([&](const number_run& x, int i) {
        clip_by_value(part.gradients + i * part.gradient_stride, static_cast<f32>(clip.value) * loss_scale,
                      x.n);
      });
    const parameter_step s = of_parameter(of, clip_factor);
    std::visit(
        [&]<class Rule>(const Rule& r) {
          if constexpr (!rules::needs_whole_parameter<Rule>) {
            if (round + 1 == rounds) part.each_run([&](const number_run& x) { r.update(x, s); });
          } else if (round + 1 < rounds) r.measure(round, part, s, whole, sums);
          else r.update(part, s, whole);
        },
        of.rule);
    if (round + 1 == rounds && part.average) follow(part);
  }
  /// Between two rounds: `sums`, those of all owners together, become what the next round reads.
  void combine(const parameter_update& of, const whole_parameter& p, f32 clip_factor, int round,
               const parameter_sums& sums, parameter_sums& whole) const {
    std::visit(
        [&]<class Rule>(const Rule& r) {
          if constexpr (rules::needs_whole_parameter<Rule>)
            r.combine(round, p, of_parameter(of, clip_factor), sums, whole);
        },
        of.rule);
  }

 private:
  parameter_step of_parameter(const parameter_update& of, f32 clip_factor) const {
    return {.scale = clip_factor / loss_scale, .rate = rate * of.rate_factor, .number = number};
  }
  /// Lets the average of the weights follow them.
  void follow(const parameter_part& part) const {
    const f32 fresh = number <= average.start || number == 1 ? 1 : 1 - average.decay;
    part.each_run([&](const number_run& x) {
      run_vectorized<detail::average_loop>(part.average + (x.weights - part.weights),
                                           static_cast<const f32*>(x.weights), fresh, x.n);
    });
  }
};

}  // namespace wsl::ml
