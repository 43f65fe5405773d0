// SPDX-License-Identifier: MIT
// A number that changes over a training run, such as the share of zeros or the share of weights that an
// update drops. The forms, their names and their f32 arithmetic are those of cerebras.pytorch
// (sparse/utils.py).
//   sparsity::schedule s = sparsity::cosine{.init = 0.3, .half_period = 1000};
//   s.at(500, 5)   // 0.15: step 500, before which there were 5 updates of the pattern
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml::sparsity {

/// init + step slope
struct linear {
  f64 init = 0, slope = 0;
  friend bool operator==(const linear&, const linear&) = default;
};
/// final + (init - final) e^(step gamma); gamma is negative, and `final` the value that it approaches.
struct exponential {
  f64 init = 0, gamma = 0, final = 1;
  friend bool operator==(const exponential&, const exponential&) = default;
};
/// init beta^step
struct power {
  f64 init = 0, beta = 1;
  friend bool operator==(const power&, const power&) = default;
};
/// From `init` to `minimum` in `half_period` steps along a cosine, and back in as many.
struct cosine {
  f64 init = 0, half_period = 0, minimum = 0;
  friend bool operator==(const cosine&, const cosine&) = default;
};
/// One value after the other, the next after each update of the pattern, and then from the first again.
struct cycling {
  std::vector<f64> values;
  friend bool operator==(const cycling&, const cycling&) = default;
};

class schedule {
  using form = std::variant<std::monostate, f64, linear, exponential, power, cosine, cycling>;

 public:
  /// Nothing: what it stands for keeps its default.
  schedule() = default;
  /// A constant, or one of the forms above.
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, schedule>)
  schedule(T&& how) : how_(of(std::forward<T>(how))) {}

  bool is_given() const { return !std::holds_alternative<std::monostate>(how_); }
  bool is_constant() const { return std::holds_alternative<f64>(how_); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&how_);
  }

  /// The value at a step, before which there were so many updates of the pattern. Between 0 and 1, whatever
  /// the form gives. Throws std::logic_error if nothing is given.
  f32 at(i64 step, i64 updates = 0) const {
    const f32 t = static_cast<f32>(step);
    const f32 value = std::visit(
        [&](const auto& s) -> f32 {
          using T = std::remove_cvref_t<decltype(s)>;
          const auto narrow = [](f64 x) { return static_cast<f32>(x); };
          if constexpr (std::is_same_v<T, std::monostate>)
            throw std::logic_error("wsl: a schedule that is not given has no value");
          else if constexpr (std::is_same_v<T, f64>) return narrow(s);
          else if constexpr (std::is_same_v<T, linear>) return narrow(s.init) + t * narrow(s.slope);
          else if constexpr (std::is_same_v<T, exponential>)
            return narrow(s.final) - (narrow(s.final) - narrow(s.init)) * std::exp(t * narrow(s.gamma));
          else if constexpr (std::is_same_v<T, power>) return narrow(s.init) * std::pow(narrow(s.beta), t);
          else if constexpr (std::is_same_v<T, cosine>) {
            const f64 middle = (s.minimum + s.init) / 2;
            return narrow(s.init - middle) * std::cos(t * narrow(M_PI / s.half_period)) + narrow(middle);
          } else {
            return narrow(s.values[static_cast<std::size_t>(updates % static_cast<i64>(s.values.size()))]);
          }
        },
        how_);
    return value < 0 ? 0.f : value > 1 ? 1.f : value;
  }

  /// Throws std::invalid_argument for a form whose numbers make no share between 0 and 1. `what` is the name
  /// of the setting, such as "drop_fraction".
  void check(const std::string& what) const {
    const auto share = [&](const char* name, f64 x) {
      if (!(x >= 0 && x <= 1))
        throw std::invalid_argument(fmt::format("wsl: {}{} is a share from 0 to 1, not {}", what, name, x));
    };
    const auto finite = [&](const char* name, f64 x) {
      if (!std::isfinite(x))
        throw std::invalid_argument(fmt::format("wsl: {}{} is a finite number, not {}", what, name, x));
    };
    std::visit(
        [&](const auto& s) {
          using T = std::remove_cvref_t<decltype(s)>;
          if constexpr (std::is_same_v<T, f64>) share("", s);
          else if constexpr (std::is_same_v<T, linear>) share(".init", s.init), finite(".slope", s.slope);
          else if constexpr (std::is_same_v<T, exponential>) {
            share(".init", s.init), share(".final", s.final), finite(".gamma", s.gamma);
            if (s.gamma > 0)
              throw std::invalid_argument(
                  fmt::format("wsl: {}.gamma {} grows without bound: an exponential approaches "
                              "its final value where gamma is negative, such as -0.001",
                              what, s.gamma));
          } else if constexpr (std::is_same_v<T, power>) {
            share(".init", s.init), finite(".beta", s.beta);
            if (s.beta <= 0)
              throw std::invalid_argument(
                  fmt::format("wsl: {}.beta is above 0, such as 0.999, not {}", what, s.beta));
          } else if constexpr (std::is_same_v<T, cosine>) {
            share(".init", s.init), share(".minimum", s.minimum), finite(".half_period", s.half_period);
            if (s.half_period <= 0)
              throw std::invalid_argument(
                  fmt::format("wsl: {}.half_period is a number of steps above 0, such as that "
                              "after which the pattern stays, not {}",
                              what, s.half_period));
          } else if constexpr (std::is_same_v<T, cycling>) {
            if (s.values.empty())
              throw std::invalid_argument(
                  fmt::format("wsl: {} is an empty list: give a number, or one for each update", what));
            for (f64 x : s.values) share("", x);
          }
        },
        how_);
  }

  /// "0.75", "cosine(init 0.3, half_period 1000)"
  std::string text() const {
    return std::visit(
        [](const auto& s) -> std::string {
          using T = std::remove_cvref_t<decltype(s)>;
          if constexpr (std::is_same_v<T, std::monostate>) return "";
          else if constexpr (std::is_same_v<T, f64>) return fmt::format("{}", s);
          else if constexpr (std::is_same_v<T, linear>)
            return fmt::format("linear(init {}, slope {})", s.init, s.slope);
          else if constexpr (std::is_same_v<T, exponential>)
            return fmt::format("exp(init {}, gamma {}, final {})", s.init, s.gamma, s.final);
          else if constexpr (std::is_same_v<T, power>)
            return fmt::format("power(init {}, beta {})", s.init, s.beta);
          else if constexpr (std::is_same_v<T, cosine>)
            return fmt::format("cosine(init {}, half_period {}{})", s.init, s.half_period,
                               s.minimum == 0 ? "" : fmt::format(", minimum {}", s.minimum));
          else return fmt::format("cycling({})", fmt::join(s.values, ", "));
        },
        how_);
  }
  friend bool operator==(const schedule&, const schedule&) = default;

 private:
  template <class T>
  static form of(T&& how) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<T>>) return static_cast<f64>(how);
    else return std::forward<T>(how);
  }

  form how_;
};

}  // namespace wsl::ml::sparsity
