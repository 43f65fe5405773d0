// SPDX-License-Identifier: MIT
// Settings for groups of parameters: a list of name patterns with the coefficients that differ for the
// parameters of these names. A pattern is one of file names, as in network::scale_rates.
//   ml::optimizer::adamw()
//       .with_group({"*.bias", "*norm*"}, {.decay = 0})
//       .with_group({"head.*"}, {.rate_factor = 0.5f})
#pragma once
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../layer/stage.hpp"

namespace wsl::ml {

/// Coefficients of a group; what is not given is the optimizer's. `rate_factor` multiplies the learning rate.
/// `decay` holds for all parameters of the group, whatever the optimizer says of `decaying` ones.
struct group_settings {
  std::optional<f32> rate_factor = {}, decay = {}, beta1 = {}, beta2 = {}, momentum = {}, epsilon = {};

  /// Calls f(name, member) for each coefficient.
  template <class F>
  static void each(F f) {
    f("learning rate factor", &group_settings::rate_factor), f("weight decay", &group_settings::decay);
    f("beta1", &group_settings::beta1), f("beta2", &group_settings::beta2);
    f("momentum", &group_settings::momentum), f("epsilon", &group_settings::epsilon);
  }
  /// Whether no coefficient is given.
  bool empty() const {
    bool none = true;
    each([&](const char*, auto member) { none &= !(this->*member).has_value(); });
    return none;
  }
};

struct parameter_group {
  std::vector<std::string> patterns;
  group_settings settings;

  bool has(const parameter& p) const {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& x) { return is_match(x, p); });
  }
  static bool is_match(const std::string& pattern, const parameter& p) {
    return ::fnmatch(pattern.c_str(), p.name.c_str(), 0) == 0;
  }
};

/// Throws std::invalid_argument for a group without patterns or without coefficients, for a pattern that is
/// the name of no parameter, and for a learning-rate factor that is negative, infinite or NaN.
inline void check_groups(const std::vector<parameter_group>& groups,
                         const std::vector<parameter>& parameters) {
  for (const parameter_group& g : groups) {
    if (g.patterns.empty())
      throw std::invalid_argument("wsl: a group of parameters has at least one pattern of their names");
    for (const std::string& x : g.patterns)
      if (std::none_of(parameters.begin(), parameters.end(),
                       [&](const parameter& p) { return parameter_group::is_match(x, p); }))
        throw std::invalid_argument(fmt::format(
            "wsl: a group of the optimizer is for {}, and no parameter is called so; the first is {}", x,
            parameters.empty() ? "missing, too" : parameters.front().name));
    if (g.settings.empty())
      throw std::invalid_argument(fmt::format(
          "wsl: the group of {} gives no coefficient: set one of group_settings, or leave the group out",
          g.patterns.front()));
    if (const f32 factor = g.settings.rate_factor.value_or(1); !(factor >= 0) || std::isinf(factor))
      throw std::invalid_argument(
          fmt::format("wsl: a factor of a learning rate is a number of at least 0, not {}", factor));
  }
}

/// The settings of all groups that a parameter is in. Throws std::invalid_argument if two of them give one
/// coefficient different values; the factor of network::scale_rates counts as that of a group.
inline group_settings settings_of(const parameter& p, const std::vector<parameter_group>& groups) {
  group_settings all;
  if (p.rate_factor != 1) all.rate_factor = p.rate_factor;
  for (const parameter_group& g : groups) {
    if (!g.has(p)) continue;
    group_settings::each([&](const char* name, auto member) {
      const std::optional<f32>& given = g.settings.*member;
      std::optional<f32>& so_far = all.*member;
      if (given && so_far && *given != *so_far)
        throw std::invalid_argument(
            fmt::format("wsl: the {} of {} has two values, {} and {}: the parameter is in "
                        "two groups of the optimizer",
                        name, p.name, *so_far, *given));
      if (given) so_far = given;
    });
  }
  return all;
}

}  // namespace wsl::ml
