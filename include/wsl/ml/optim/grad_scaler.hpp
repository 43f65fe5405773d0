// SPDX-License-Identifier: MIT
// Dynamic loss scaling for gradients of 16 bits: the loss is multiplied by a scale, so that small gradients
// do not become 0, and the gradients are divided by it before the update. A step whose gradients are not
// finite is skipped, and the scale halved; after many steps without one it is doubled. The algorithm is that
// of cerebras.pytorch's amp.GradScaler.
//   ml::grad_scaler scaler(ml::grad_scaler_settings::float16());
//   ... gradients of the loss times scaler.scale(), and the sum of their squares ...
//   const bool finite = ml::grad_scaler::is_finite(sum_of_squares);
//   if (finite) ... update with the gradients divided by scaler.scale() ...
//   scaler.update(finite);
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../../core/fault.hpp"
#include "../../core/scalar.hpp"

namespace wsl::ml {

struct grad_scaler_settings {
  f64 initial = 0x1p15, largest = 0x1p15, smallest = 0x1p-14;
  i64 steps_per_increase = 2000;  ///< the scale is doubled after more than so many steps
  /// The part of the steps since the last change of the scale that may overflow before it is halved.
  f64 overflow_tolerance = 0;

  static constexpr grad_scaler_settings float16() { return {}; }
  static constexpr grad_scaler_settings cbfloat16() { return {.initial = 0x1p31, .largest = 0x1p31}; }
};

/// The state of a scaler, which a checkpoint carries under these names.
struct grad_scaler_state {
  f64 loss_scale = 0x1p15;
  i64 steps_since_rescale = 0, overflows_since_rescale = 0, num_skipped_steps = 0;
  friend bool operator==(const grad_scaler_state&, const grad_scaler_state&) = default;

  /// Calls f(name, member) for each, to write and to read it.
  template <class State, class F>
  static void each(State& s, F f) {
    f("loss_scale", s.loss_scale), f("steps_since_rescale", s.steps_since_rescale);
    f("overflows_since_rescale", s.overflows_since_rescale), f("num_skipped_steps", s.num_skipped_steps);
  }
};

class grad_scaler {
 public:
  /// Throws std::invalid_argument for scales that are not positive or not in order, and for negative counts.
  explicit grad_scaler(const grad_scaler_settings& how = {}) : how_(how), now_{.loss_scale = how.initial} {
    if (!(how.smallest > 0 && how.smallest <= how.initial && how.initial <= how.largest) ||
        std::isinf(how.largest))
      throw std::invalid_argument(fmt::format(
          "wsl: a loss scale begins between its smallest and its largest value, not with {} between "
          "{} and {}",
          how.initial, how.smallest, how.largest));
    if (how.steps_per_increase < 1 || !(how.overflow_tolerance >= 0 && how.overflow_tolerance < 1))
      throw std::invalid_argument(fmt::format(
          "wsl: a loss scale grows after 1 or more steps and tolerates a part of at least 0 and below "
          "1 of overflows, not {} and {}",
          how.steps_per_increase, how.overflow_tolerance));
  }

  /// The factor of the loss in the next step.
  f64 scale() const { return now_.loss_scale; }
  const grad_scaler_state& state() const { return now_; }
  const grad_scaler_settings& settings() const { return how_; }
  /// Goes on from a state. Throws what `require` throws.
  void resume(const grad_scaler_state& s) { require(s), now_ = s; }
  /// Throws std::invalid_argument for a state that cannot go on: its scale is beyond the limits, or its
  /// counts cannot be.
  void require(const grad_scaler_state& s) const {
    if (!has(s.loss_scale))
      throw std::invalid_argument(fmt::format(
          "wsl: a loss scale of {} cannot go on between its smallest and its largest value, {} and {}: give "
          "settings with limits that it keeps to",
          s.loss_scale, how_.smallest, how_.largest));
    if (s.steps_since_rescale < 0 || s.overflows_since_rescale < 0 ||
        s.overflows_since_rescale > s.steps_since_rescale || s.num_skipped_steps < 0)
      throw std::invalid_argument(fmt::format(
          "wsl: a loss scale cannot go on after {} steps, {} of which overflowed, and {} that were skipped: "
          "the state is damaged",
          s.steps_since_rescale, s.overflows_since_rescale, s.num_skipped_steps));
  }
  /// Whether a scale is within the limits.
  bool has(f64 scale) const { return scale >= how_.smallest && scale <= how_.largest; }

  /// Whether gradients with this sum of squares are finite: with an infinity or a NaN among them it is not.
  static bool is_finite(f64 sum_of_squares) { return std::isfinite(sum_of_squares); }

  /// Ends a step whose gradients were finite, or which was skipped because they were not. Throws fault if the
  /// scale would fall below the smallest: the gradients are not finite for another reason than their scale.
  void update(bool finite) {
    grad_scaler_state next = now_;
    ++next.steps_since_rescale;
    next.overflows_since_rescale += !finite, next.num_skipped_steps += !finite;
    const auto rescale = [&](f64 by) {
      next.loss_scale *= by, next.steps_since_rescale = next.overflows_since_rescale = 0;
    };
    if (static_cast<f64>(next.overflows_since_rescale) / static_cast<f64>(next.steps_since_rescale) >
        how_.overflow_tolerance)
      rescale(0.5);
    if (next.steps_since_rescale > how_.steps_per_increase) rescale(2);
    if (next.loss_scale < how_.smallest)
      throw fault(
          fmt::format("wsl: the loss scale would fall to {}, below its smallest value {}, after {} skipped "
                      "steps: check the data, try a smaller learning rate, or clip the gradients' norm",
                      next.loss_scale, how_.smallest, next.num_skipped_steps));
    next.loss_scale = std::min(next.loss_scale, how_.largest);
    now_ = next;
  }

 private:
  grad_scaler_settings how_;
  grad_scaler_state now_;
};

}  // namespace wsl::ml
