// SPDX-License-Identifier: MIT
// The optimizers: an update rule with its coefficients (rules/*.hpp), which parameters decay, what differs
// for groups of parameters, and a running average of the weights. Everything an optimizer keeps is stored
// beside the parameters, off the wafer.
//   ml::trainer t{net, ml::optimizer::adamw({.beta2 = 0.95f}).with_average({.decay = 0.999f})};
//   ml::trainer u{net, ml::optimizer::rmsprop({.momentum = 0.9f, .centered = true})};
// docs/guide/optimizers.md lists them with their formulas' sources.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <variant>

#include "../layer/stage.hpp"
#include "groups.hpp"
#include "rules/adafactor.hpp"
#include "rules/adam.hpp"
#include "rules/adaptive.hpp"
#include "rules/following.hpp"
#include "rules/frozen.hpp"
#include "rules/lamb.hpp"
#include "rules/sgd.hpp"
#include "rules/signs.hpp"

namespace wsl::ml {

/// Which parameters have weight decay: all; matrices but not vectors, which have one row; all but biases and
/// the gains of norms, which are those whose names end in .bias or .gain, and the numbers that relative
/// positions add to scores, .relative (as in the Cerebras Model Zoo, which names them a bias).
enum class decays : u8 { all, matrices, not_bias_or_norm };

inline bool does_decay(decays rule, const parameter& p) {
  if (rule == decays::all) return true;
  if (rule == decays::matrices) return p.rows > 1;
  const std::string_view name = p.name;
  return !name.ends_with(".bias") && !name.ends_with(".gain") && !name.ends_with(".relative");
}

/// An exponential moving average of the weights (EMA), kept beside them: after step t it is
/// decay * average + (1 - decay) * weights, and up to step `start`, and after the first, the weights
/// themselves. With decay 0 there is none.
struct weight_average {
  f32 decay = 0;
  i64 start = 0;
  bool is_on() const { return decay != 0; }
};

using update_rule =
    std::variant<rules::adamw, rules::adam, rules::sgd, rules::adamax, rules::nadam, rules::radam,
                 rules::rmsprop, rules::adagrad, rules::adadelta, rules::asgd, rules::rprop, rules::lion,
                 rules::lamb, rules::adafactor, rules::following, rules::frozen>;

struct optimizer {
  update_rule rule = rules::adamw{.decay = 0};
  decays decaying = decays::all;
  std::vector<parameter_group> groups = {};
  weight_average average = {};

  // Coefficients are given by name: a number alone would be taken for a learning rate, which is of a step.
  static optimizer sgd(const rules::sgd& r = {}) { return {r}; }
  static optimizer adam(const rules::adam& r = {}) { return {r}; }
  static optimizer adamw(const rules::adamw& r = {}) { return {r}; }
  static optimizer adamax(const rules::adamax& r = {}) { return {r}; }
  static optimizer nadam(const rules::nadam& r = {}) { return {r}; }
  static optimizer radam(const rules::radam& r = {}) { return {r}; }
  static optimizer rmsprop(const rules::rmsprop& r = {}) { return {r}; }
  static optimizer adagrad(const rules::adagrad& r = {}) { return {r}; }
  static optimizer adadelta(const rules::adadelta& r = {}) { return {r}; }
  static optimizer asgd(const rules::asgd& r = {}) { return {r}; }
  static optimizer rprop(const rules::rprop& r = {}) { return {r}; }
  static optimizer lion(const rules::lion& r = {}) { return {r}; }
  static optimizer lamb(const rules::lamb& r = {}) { return {r}; }
  static optimizer adafactor(const rules::adafactor& r = {}) { return {r}; }

  /// The same optimizer with other settings for the parameters whose names match one of the patterns.
  optimizer with_group(std::vector<std::string> patterns, const group_settings& settings) const {
    optimizer o = *this;
    o.groups.push_back({std::move(patterns), settings});
    return o;
  }
  /// The same optimizer, whose weight decay is that of these parameters only.
  optimizer with_decay_of(decays parameters) const {
    optimizer o = *this;
    o.decaying = parameters;
    return o;
  }
  /// The same optimizer, with an average of the weights; trainer_base::with_average evaluates it.
  optimizer with_average(const weight_average& a) const {
    optimizer o = *this;
    o.average = a;
    return o;
  }

  std::string_view name() const {
    return std::visit([](const auto& r) { return std::string_view(r.name); }, rule);
  }
};

/// The update of one parameter: the rule with the coefficients of its groups.
struct parameter_update {
  update_rule rule;
  f32 rate_factor = 1;

  /// Whether it is an optimizer's, and not that of a parameter that is frozen or follows statistics.
  bool optimizes() const { return !is_frozen() && !std::holds_alternative<rules::following>(rule); }
  bool is_frozen() const { return std::holds_alternative<rules::frozen>(rule); }
  kept_arrays kept(const parameter& p) const {
    return std::visit([&](const auto& r) { return r.kept(p.rows > 1); }, rule);
  }
  /// How often the parts of a parameter are passed over in a step.
  int rounds() const {
    return std::visit(
        []<class Rule>(const Rule&) {
          if constexpr (rules::needs_whole_parameter<Rule>) return Rule::rounds;
          else return 1;
        },
        rule);
  }
};

namespace detail {

/// Sets a coefficient of a rule. Throws std::invalid_argument if it is given and the rule has none.
template <class Rule>
void set_coefficients(Rule& r, const group_settings& s, const std::string& parameter) {
  const auto set = [&](const char* coefficient, const std::optional<f32>& value, f32* member) {
    if (!value) return;
    if (!member)
      throw std::invalid_argument(fmt::format("wsl: a group gives {} a {}, and the optimizer {} has none",
                                              parameter, coefficient, Rule::name));
    *member = *value;
  };
  f32 *decay = nullptr, *beta1 = nullptr, *beta2 = nullptr, *momentum = nullptr, *epsilon = nullptr;
  if constexpr (requires { r.decay; }) decay = &r.decay;
  if constexpr (requires { r.beta1; }) beta1 = &r.beta1;
  if constexpr (requires { r.beta2; }) beta2 = &r.beta2;
  if constexpr (requires { r.momentum; }) momentum = &r.momentum;
  if constexpr (requires { r.epsilon; }) epsilon = &r.epsilon;
  set("weight decay", s.decay, decay), set("beta1", s.beta1, beta1), set("beta2", s.beta2, beta2);
  set("momentum", s.momentum, momentum), set("epsilon", s.epsilon, epsilon);
}

}  // namespace detail

/// The update of each parameter of a model. Throws std::invalid_argument for coefficients that make no sense,
/// for a pattern without a parameter, and for a parameter in two groups that contradict each other.
inline std::vector<parameter_update> updates_of(const optimizer& o,
                                                const std::vector<parameter>& parameters) {
  if (!(o.average.decay >= 0 && o.average.decay < 1) || o.average.start < 0)
    throw std::invalid_argument(fmt::format(
        "wsl: an average of the weights has a decay of at least 0 and below 1 and starts after 0 or "
        "more steps, not {} and {}",
        o.average.decay, o.average.start));
  check_groups(o.groups, parameters);
  std::vector<parameter_update> all;
  for (const parameter& p : parameters) {
    if (p.frozen) {
      all.push_back({rules::frozen{}});
      continue;
    }
    if (p.follows > 0) {
      all.push_back({rules::following{p.follows}});
      continue;
    }
    const group_settings s = settings_of(p, o.groups);
    parameter_update u{o.rule, s.rate_factor.value_or(1)};
    std::visit(
        [&](auto& r) {
          if constexpr (requires { r.decay; })
            if (!does_decay(o.decaying, p)) r.decay = 0;
          detail::set_coefficients(r, s, p.name);
          r.check();
          if constexpr (requires { r.decay; })
            rules::detail::require_not_negative(r.name, "weight decay", r.decay);
        },
        u.rule);
    all.push_back(std::move(u));
  }
  return all;
}

/// The rounds of a step that updates all of these parameters: the most that one takes.
inline int rounds_of(const std::vector<parameter_update>& all) {
  int most = 1;
  for (const parameter_update& u : all) most = std::max(most, u.rounds());
  return most;
}

/// The numbers that an optimizer keeps for a model, with the averages of the weights.
inline i64 kept_numbers(const optimizer& o, const std::vector<parameter>& parameters) {
  const std::vector<parameter_update> updates = updates_of(o, parameters);
  i64 all = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    for (const kept_array& a : updates[k].kept(parameters[k]))
      all += a.size(parameters[k].rows, parameters[k].columns);
    all += o.average.is_on() && !parameters[k].frozen ? parameters[k].size() : 0;
  }
  return all;
}

}  // namespace wsl::ml
