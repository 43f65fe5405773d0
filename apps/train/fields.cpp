// SPDX-License-Identifier: MIT
#include "fields.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "../nearest.hpp"
#include "trainer_form.hpp"
#include "yaml_text.hpp"
#include "zoo_models.hpp"

namespace train_app {
namespace {

/// The shortest digits that read back as the same number.
std::string text_of(f64 x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}
std::string text_of(i64 x) { return std::to_string(x); }

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// The parts of a text between commas, without blanks around them.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> all;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t first = part.find_first_not_of(' ');
    all.emplace_back(first == part.npos ? "" : part.substr(first, part.find_last_not_of(' ') + 1 - first));
    if (comma == text.npos) return all;
    text.remove_prefix(comma + 1);
  }
}

bool is_allowed(const field& f, f64 x) {
  return x >= f.least && x <= f.most && !(f.above_least && x == f.least);
}

std::string limits(const field& f) {
  if (f.least == f.most) return text_of(f.least);
  std::string words;
  if (f.least > -1e300) words += std::string(f.above_least ? "above " : "at least ") + text_of(f.least);
  if (f.most < 1e300) words += (words.empty() ? "" : " and ") + std::string("at most ") + text_of(f.most);
  return words;
}

void declare(fields& part, rate_part& p) {
  part.add("scheduler", p.scheduler, "")
      .one_of({"Constant", "Linear", "Polynomial", "Cosine", "CosineDecay", "Exponential",
               "InverseExponentialTimeDecay", "InverseSquareRootDecay", "MultiStep", "Step",
               "PiecewiseConstant", "Multiplicative", "CosineAnnealing", "CosineAnnealingWarmRestarts",
               "Cyclic", "OneCycle"});
  for (const auto& [name, to] : {std::pair("learning_rate", &p.learning_rate),
                                 {"initial_learning_rate", &p.initial_learning_rate},
                                 {"end_learning_rate", &p.end_learning_rate},
                                 {"base_lr", &p.base_lr},
                                 {"max_lr", &p.max_lr},
                                 {"eta_min", &p.eta_min}})
    part.add(name, *to, "").at_least(0);
  for (const auto& [name, to] : {std::pair("power", &p.power),
                                 {"decay_rate", &p.decay_rate},
                                 {"step_exponent", &p.step_exponent},
                                 {"scale", &p.scale},
                                 {"gamma", &p.gamma},
                                 {"coefficient", &p.coefficient},
                                 {"final_div_factor", &p.final_div_factor}})
    part.add(name, *to, "").above(0);
  part.add("total_iters", p.total_iters, "").at_least(1).once_called("steps").once_called("decay_steps");
  for (const auto& [name, to] : {std::pair("warmup_steps", &p.warmup_steps),
                                 {"step_size", &p.step_size},
                                 {"step_size_up", &p.step_size_up},
                                 {"step_size_down", &p.step_size_down},
                                 {"T_max", &p.t_max},
                                 {"T_0", &p.t_0},
                                 {"total_steps", &p.total_steps}})
    part.add(name, *to, "").at_least(1);
  part.add("T_mult", p.t_mult, "").at_least(1).at_most(1000);
  part.add("pct_start", p.pct_start, "").above(0).at_most(1);
  part.add("mode", p.mode, "").one_of({"triangular", "triangular2", "exp_range"});
  part.add("anneal_strategy", p.anneal_strategy, "").one_of({"cos", "linear"});
  part.add("staircase", p.staircase, "");
  part.add("three_phase", p.three_phase, "");
  part.add("milestones", p.milestones, "").at_least(0).once_called("boundaries");
  part.add("learning_rates", p.learning_rates, "").at_least(0).once_called("values");
  part.no_effect("a number", {"alpha"}, "end_learning_rate says where a CosineDecay ends");
}

/// What a scheduler has, beside total_iters.
std::vector<std::string> members_of_scheduler(const std::string& name) {
  static const std::map<std::string, std::vector<std::string>> all{
      {"Constant", {"learning_rate"}},
      {"Linear", {"initial_learning_rate", "end_learning_rate"}},
      {"Polynomial", {"initial_learning_rate", "end_learning_rate", "power"}},
      {"Cosine", {"initial_learning_rate", "end_learning_rate"}},
      {"CosineDecay", {"initial_learning_rate", "end_learning_rate"}},
      {"Exponential", {"initial_learning_rate", "decay_rate", "staircase"}},
      {"InverseExponentialTimeDecay", {"initial_learning_rate", "decay_rate", "step_exponent", "staircase"}},
      {"InverseSquareRootDecay", {"initial_learning_rate", "scale", "warmup_steps"}},
      {"MultiStep", {"initial_learning_rate", "gamma", "milestones"}},
      {"Step", {"initial_learning_rate", "gamma", "step_size"}},
      {"Multiplicative", {"initial_learning_rate", "coefficient"}},
      // Files of the Zoo have a first rate here, which the first of the list is.
      {"PiecewiseConstant", {"learning_rates", "milestones", "initial_learning_rate"}},
      {"CosineAnnealing", {"initial_learning_rate", "eta_min", "T_max"}},
      {"CosineAnnealingWarmRestarts", {"initial_learning_rate", "eta_min", "T_0", "T_mult"}},
      {"Cyclic", {"base_lr", "max_lr", "step_size_up", "step_size_down", "mode", "gamma"}},
      {"OneCycle",
       {"initial_learning_rate", "max_lr", "total_steps", "pct_start", "final_div_factor", "three_phase",
        "anneal_strategy"}}};
  const auto at = all.find(name);
  return at == all.end() ? std::vector<std::string>{} : at->second;
}

void declare(fields& part, group_part& p) {
  part.add("patterns", p.patterns, "");
  part.add("learning_rate_factor", p.learning_rate_factor, "").at_least(0);
  part.add("weight_decay", p.weight_decay, "").at_least(0);
  part.add("momentum", p.momentum, "").at_least(0).at_most(1);
  part.add("eps", p.eps, "").above(0);
  part.add("betas", p.betas, "").at_least(0).at_most(0.999999);
}

void declare(fields& part, mixture_source& p) {
  part.add("data_dir", p.data_dir, "").may_be_list = true;
  part.add("weight", p.weight, "").at_least(0);
  part.add("data_subset", p.data_subset, "");
}

void declare(fields& part, initializer_part& p) {
  part.add("name", p.name, "").one_of({"glorot_uniform"});
  part.add("gain", p.gain, "").above(0);
}

/// The members of a schedule that its type needs, and those that it may have.
struct members_of_schedule {
  const char* type;
  std::vector<std::string> needed, optional;
};
const members_of_schedule& members_of(const std::string& type) {
  static const std::vector<members_of_schedule> all{{"constant", {"value"}, {}},
                                                    {"linear", {"init", "slope"}, {}},
                                                    {"exp", {"init", "gamma"}, {"final"}},
                                                    {"power", {"init", "beta"}, {}},
                                                    {"cosine", {"init", "half_period"}, {"minimum"}},
                                                    {"cycling", {"values"}, {}}};
  return *std::find_if(all.begin(), all.end(), [&](const members_of_schedule& m) { return m.type == type; });
}

void declare(fields& part, schedule_part& p) {
  part.add("type", p.type, "").one_of({"constant", "linear", "exp", "power", "cosine", "cycling"});
  for (const auto& [name, to] : {std::pair("value", &p.value),
                                 {"init", &p.init},
                                 {"slope", &p.slope},
                                 {"gamma", &p.gamma},
                                 {"final", &p.final},
                                 {"beta", &p.beta},
                                 {"half_period", &p.half_period},
                                 {"minimum", &p.minimum}})
    part.add(name, *to, "");
  part.add("values", p.values, "");
}

void declare(fields& part, update_part& p) {
  part.add("freq", p.freq, "").at_least(1);
  part.add("start", p.start, "").at_least(0);
  part.add("stop", p.stop, "").at_least(1);
  part.add("steps", p.steps, "").at_least(0);
}

void declare(fields& part, sparsity_part& p) {
  part.add("sparsity", p.sparsity, "");
  part.add("algorithm", p.algorithm, "").one_of(sparsity_algorithms()).once_called("type");
  part.add("init_method", p.init_method, "").one_of(sparsity_init_methods());
  part.add("update", p.update, "");
  part.add("drop_fraction", p.drop_fraction, "");
  part.add("param_filter", p.param_filter, "");
  part.add("balance_in_groups", p.balance_in_groups, "").at_least(1);
  part.add("balance_out_groups", p.balance_out_groups, "").at_least(1);
  part.add("seed", p.seed, "").at_least(0);
}

void declare(fields& part, normal_part& p) {
  part.add("name", p.name, "").one_of({"normal", "truncated_normal"});
  part.add("mean", p.mean, "").at_least(0).at_most(0);
  part.add("std", p.std, "").above(0).at_most(1e6);
  part.add("a", p.a, "").at_most(-1e-30);
  part.add("b", p.b, "").above(0);
}

/// Reads nodes as the values of one field; reports mistakes in them.
struct reader {
  const field& f;
  const std::string& where;  // the file, or the option

  [[noreturn]] void wrong(const YAML::Node& n, const std::string& wanted) const {
    refuse(where, f.full_name() + " is " + wanted + ", not " + shown(n));
  }
  template <class T>
  T number(const YAML::Node& n, const char* wanted) const {
    T x{};
    if (!n.IsScalar()) wrong(n, wanted);
    const std::string& text = n.Scalar();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (error == std::errc::result_out_of_range && end == text.data() + text.size()) wrong(n, range<T>());
    if (error != std::errc{} || end != text.data() + text.size()) wrong(n, wanted);
    const f64 v = static_cast<f64>(x);
    if (!std::isfinite(v)) wrong(n, "a finite number");
    if (!is_allowed(f, v)) wrong(n, limits(f));
    return x;
  }
  /// The limits of a number that is beyond those of its type, too.
  template <class T>
  std::string range() const {
    if constexpr (std::is_floating_point_v<T>) return "a number that 64 bits can hold";
    else {
      const f64 most = std::min(f.most, static_cast<f64>(std::numeric_limits<T>::max()));
      return (f.least > -1e300
                  ? "a whole number of at least " + text_of(static_cast<i64>(f.least)) + " and at most "
                  : "a whole number of at most ") +
             (most == f.most ? text_of(static_cast<i64>(most))
                             : std::to_string(std::numeric_limits<T>::max()));
    }
  }
  void read(const YAML::Node& n, i64& to) const { to = number<i64>(n, "a whole number"); }
  void read(const YAML::Node& n, int& to) const { to = number<int>(n, "a whole number"); }
  void read(const YAML::Node& n, f64& to) const { to = number<f64>(n, "a number"); }
  void read(const YAML::Node& n, bool& to) const {
    const std::optional<bool> truth = truth_of(n);
    if (!truth) wrong(n, "true or false");
    to = *truth;
  }
  void read(const YAML::Node& n, std::string& to) const {
    if (f.may_be_list && n.IsSequence() && n.size()) {
      std::vector<std::string> words;
      read(n, words);
      YAML::Emitter list;
      list << YAML::Flow << words;
      to = list.c_str();
      return;
    }
    if (!n.IsScalar()) wrong(n, "a word");
    if (!f.choices.empty() && std::find(f.choices.begin(), f.choices.end(), n.Scalar()) == f.choices.end())
      wrong(n, "one of " + joined(f.choices));
    to = n.Scalar();
  }
  template <class T>
  void read(const YAML::Node& n, std::vector<T>& to) const {
    if constexpr (std::is_same_v<T, std::string>)
      if (f.may_be_list && n.IsScalar()) return to.assign(1, n.Scalar());
    if (!n.IsSequence())
      wrong(n, n.IsScalar() ? "a list, such as '[" + n.Scalar().substr(0, 60) + "]'" : "a list");
    to.assign(n.size(), T{});
    for (std::size_t i = 0; i < n.size(); ++i) read(n[i], to[i]);
  }
  void read(const YAML::Node& n, word_list& to) const {
    if (n.IsSequence()) read(n, to.words);
    else if (n.IsScalar()) to.words = parts_of(n.Scalar());
    if (to.words.empty() || std::find(to.words.begin(), to.words.end(), "") != to.words.end())
      wrong(n, "a list of words, or words with commas between them");
  }
  void read(const YAML::Node& n, one_or_more& to) const {
    if (n.IsSequence() && n.size()) return read(n, to.numbers);
    to.numbers.assign(1, number<f64>(n, "a number, or a list of numbers"));
  }
  void read(const YAML::Node& n, size_or_auto& to) const {
    const bool is_auto = n.IsScalar() && n.Scalar() == "auto";
    to = {is_auto ? 0 : number<int>(n, "a whole number, or auto"), is_auto};
  }
  template <class Part>
  void read_fields(const YAML::Node& n, Part& to) const {
    fields part;
    declare(part, to);
    read_part(n, part);
  }
  /// Reads the fields of a part; sentences about them name the field that has it, behind their place.
  void read_part(const YAML::Node& n, fields& part) const {
    mistakes found;
    found.of([&] { part.read_section(n, "", file()); });
    found.report([&](const std::string& sentence) {
      if (file().starts_with("--")) return sentence;  // the option is the name
      std::size_t at = 0;
      if (sentence.starts_with(file() + ":")) {
        at = sentence.find_first_not_of("0123456789", file().size() + 1);
        at = at != sentence.npos && sentence.compare(at, 2, ": ") == 0 ? at + 2 : 0;
      }
      const std::string_view rest = std::string_view(sentence).substr(at);
      return rest.starts_with(f.full_name())
                 ? sentence
                 : sentence.substr(0, at) + f.full_name() + ": " + std::string(rest);
    });
  }
  void read(const YAML::Node& n, group_part& to) const {
    if (!n.IsMap()) wrong(n, "a list of maps with patterns");
    read_fields(n, to);
    if (to.patterns.empty()) refuse(where, f.full_name() + ": a group has patterns, a list of names");
    if (to.learning_rate_factor < 0 && to.weight_decay < 0 && to.momentum < 0 && to.eps < 0 &&
        to.betas.empty())
      refuse(where, f.full_name() + ": the group of " + joined(to.patterns) +
                        " sets nothing: give it learning_rate_factor, weight_decay, betas, momentum or eps, "
                        "or leave it out");
  }
  void read(const YAML::Node& n, mixture_source& to) const {
    if (!n.IsMap()) wrong(n, "a list of maps with data_dir and weight");
    read_fields(n, to);
    if (to.data_dir.empty() || !n["weight"])
      refuse(where, f.full_name() + ": a part of a mixture has data_dir and weight");
  }
  void read(const YAML::Node& n, rate_part& to) const {
    if (!n.IsMap()) wrong(n, "a number, or a list of schedulers");
    fields part;
    declare(part, to);
    read_part(n, part);
    if (n.size() && !n["scheduler"])
      refuse(where, f.full_name() + ": a part of a schedule names its scheduler");
    const std::vector<std::string> members = members_of_scheduler(to.scheduler);
    for (const field& x : part.all())
      if (!x.given.empty() && x.name != "scheduler" && x.name != "total_iters" && x.name != "alpha" &&
          std::find(members.begin(), members.end(), x.name) == members.end())
        refuse(x.given, f.full_name() + ": " + x.name + " is of no " + to.scheduler +
                            " scheduler, which has " + joined(members) + ": leave it out");
    // The rate of the others would be 0 from the first step to the last.
    constexpr std::array rates{"learning_rate", "initial_learning_rate", "end_learning_rate",
                               "learning_rates", "max_lr"};
    if (to.scheduler != "InverseSquareRootDecay" &&
        std::none_of(rates.begin(), rates.end(),
                     [&](const char* x) { return !part.named(x).front()->given.empty(); }))
      refuse(where, f.full_name() + ": a " + to.scheduler + " scheduler has no rate here: give " +
                        (to.scheduler == "Constant" ? "learning_rate" : "its rates, of " + joined(members)));
  }
  void read(const YAML::Node& n, initializer_part& to) const {
    to = {};
    if (n.IsMap()) return read_fields(n, to);
    if (!n.IsScalar() || n.Scalar() != to.name) wrong(n, to.name + ", or a map with that name");
  }
  void read(const YAML::Node& n, normal_part& to) const {
    to = {};
    if (n.IsMap()) read_fields(n, to);
    else if (n.IsScalar() && (n.Scalar() == "normal" || n.Scalar() == "truncated_normal"))
      to.name = n.Scalar();
    if (to.name.empty())
      wrong(n,
            "normal or truncated_normal, or a map such as {name: truncated_normal, std: 0.02, a: -0.04, b: "
            "0.04}");
    if (to.name == "normal" && n.IsMap() && (n["a"] || n["b"]))
      refuse(where, f.full_name() +
                        ": a and b are bounds of truncated_normal, and the name is normal: leave them out");
  }
  void read(const YAML::Node& n, rate_parts& to) const {
    if (n.IsSequence() && n.size()) {
      to.assign(n.size(), {});
      for (std::size_t i = 0; i < n.size(); ++i) read(n[i], to[i]);
    } else if (n.IsMap()) {
      to.assign(1, {});
      read(n, to[0]);
    } else {
      to.assign(1, {});
      to[0].learning_rate = number<f64>(n, "a number, or a list of schedulers");
    }
  }
  void read(const YAML::Node& n, numbers_by_name& to) const {
    if (!n.IsMap()) wrong(n, "a map of names and numbers");
    to.clear();
    for (const auto& [name, value] : pairs_of(n, file(), f.full_name())) {
      if (constexpr std::size_t most = 200; name.size() > most)
        refuse(where, f.full_name() + ": a name has at most " + std::to_string(most) + " letters");
      to.emplace_back(name, number<f64>(value, "a map of names and numbers"));
    }
  }
  void read(const YAML::Node& n, schedule_part& to) const {
    to = {};
    if (n.IsSequence()) {
      to.type = "cycling";
      return read(n, to.values);
    }
    if (!n.IsMap()) {
      to.type = "constant", to.value = number<f64>(n, "a number, a list of numbers, or a map with a type");
      return;
    }
    read_fields(n, to);
    if (to.type.empty())
      refuse(where,
             f.full_name() + ": a schedule has a type: constant, linear, exp, power, cosine or cycling");
    const members_of_schedule& members = members_of(to.type);
    const auto is_among = [](const std::vector<std::string>& all, const std::string& name) {
      return std::find(all.begin(), all.end(), name) != all.end();
    };
    fields part;
    declare(part, to);
    for (const field& x : part.all()) {
      const bool is_there = x.text() != "null";
      if (x.name == "type") continue;
      if (is_there && !is_among(members.needed, x.name) && !is_among(members.optional, x.name))
        refuse(where, f.full_name() + ": " + x.name + " is of no schedule of the type " + to.type +
                          ", which has " + joined(together(members.needed, members.optional)) +
                          ": leave it out");
      if (!is_there && is_among(members.needed, x.name))
        refuse(where, f.full_name() + ": a schedule of the type " + to.type + " has " +
                          joined(members.needed) + ", and " + x.name + " is missing");
    }
  }
  void read(const YAML::Node& n, update_part& to) const {
    to = {};
    if (!n.IsMap()) wrong(n, "a map with freq, start and stop, or with steps");
    read_fields(n, to);
    if (to.steps.empty() && to.freq < 0)
      refuse(where, f.full_name() + " has freq, the steps between two updates, or steps, a list of them");
  }
  void read(const YAML::Node& n, sparsity_part& to) const {
    if (!n.IsMap()) wrong(n, "a list of maps with a sparsity");
    to.where = where.starts_with("--") ? where : place(file(), n);
    read_fields(n, to);
    if (!to.sparsity.is_given())
      refuse(to.where,
             f.full_name() + ": a part of a list has a sparsity, the share of weights that are zero");
  }
  void operator()(std::monostate) const {}

  static std::vector<std::string> together(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  std::string file() const { return where.starts_with("--") ? where : where.substr(0, where.rfind(':')); }
};

void read_value(field& f, const YAML::Node& value, const std::string& where) {
  if (value.IsNull()) return;  // as if the field were not there
  const reader r{f, where};
  std::visit(
      [&](auto to) {
        if constexpr (!std::is_same_v<decltype(to), std::monostate>) r.read(value, *to);
      },
      f.where);
  f.given = where;
}

bool is_number(const std::string& text, f64& x) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc{} && end == text.data() + text.size();
}
std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}
bool is_same(const std::string& a, const std::string& b) {
  f64 x = 0, y = 0;
  return lower(a) == lower(b) || (is_number(a, x) && is_number(b, y) && x == y);
}

/// Checks the value of a field without effect: refuses one of a wrong kind, and one that would have an
/// effect.
void check_without_effect(const field& f, const YAML::Node& value, const std::string& where) {
  const std::optional<bool> truth = truth_of(value);
  const std::string text = truth ? (*truth ? "true" : "false") : value.IsScalar() ? value.Scalar() : "";
  if (!f.choices.empty() || f.kind.empty()) {
    if (value.IsScalar() && std::any_of(f.choices.begin(), f.choices.end(),
                                        [&](const std::string& c) { return is_same(c, text); }))
      return;
    if (!f.kind.empty())
      refuse(where, f.full_name() + " is one of " + joined(f.choices) + ", not " + shown(value));
    refuse(where, f.full_name() + " " + shown(value) + " would change the result, and " +
                      (f.why.empty() ? "this program only knows " + joined(f.choices) : f.why));
  }
  f64 x = 0;
  const bool fits = f.kind == "anything"        ? true
                    : f.kind == "a list"        ? !value.IsMap()
                    : !value.IsScalar()         ? false
                    : f.kind == "a number"      ? is_number(text, x)
                    : f.kind == "true or false" ? truth.has_value()
                                                : true;
  if (!fits) refuse(where, f.full_name() + " is " + f.kind + ", not " + shown(value));
}

/// Members that have their default value are left out.
/// A field that is written even if it has its usual value, beside the first.
template <class Part>
std::string always_written(const Part&) {
  return "";
}
std::string always_written(const rate_part& p) {
  const std::vector<std::string> members = members_of_scheduler(p.scheduler);
  return members.empty() || p.scheduler == "InverseSquareRootDecay" ? "" : members.front();
}

template <class Part>
std::string text_of(const Part& p) {
  const std::string always = always_written(p);
  Part given = p, usual;
  fields of_given, of_usual;
  declare(of_given, given), declare(of_usual, usual);
  std::string out;
  for (std::size_t i = 0; i < of_given.all().size(); ++i) {
    const std::string text = of_given.all()[i].text();
    if (i == 0 || text != of_usual.all()[i].text() || of_given.all()[i].name == always)
      out += (i ? ", " : "{") + of_given.all()[i].name + ": " + text;
  }
  return out + "}";
}
std::string text_of(const std::string& word) {
  YAML::Emitter quoted;
  quoted << YAML::DoubleQuoted << word;
  return quoted.c_str();
}
std::string text_of(const std::pair<std::string, f64>& p) {
  return YAML::Dump(YAML::Node(p.first)) + ": " + text_of(p.second);
}

/// A number outside its limits stands for a value that was not given.
struct writer {
  const field& f;
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const bool* x) const { return *x ? "true" : "false"; }
  std::string operator()(const int* x) const { return operator()(i64{*x}); }
  std::string operator()(const i64* x) const { return operator()(*x); }
  std::string operator()(i64 x) const { return is_allowed(f, static_cast<f64>(x)) ? text_of(x) : "null"; }
  std::string operator()(const f64* x) const { return is_allowed(f, *x) ? text_of(*x) : "null"; }
  std::string operator()(const std::string* x) const {
    return x->empty() ? "null" : YAML::Dump(YAML::Node(*x));
  }
  std::string operator()(const size_or_auto* x) const { return x->is_auto ? "auto" : operator()(&x->size); }
  std::string operator()(const one_or_more* x) const {
    return x->numbers.size() == 1 ? text_of(x->numbers[0]) : operator()(&x->numbers);
  }
  std::string operator()(const word_list* x) const { return operator()(&x->words); }
  std::string operator()(const initializer_part* x) const { return text_of(*x); }
  std::string operator()(const schedule_part* x) const {
    return x->type.empty()         ? "null"
           : x->type == "constant" ? text_of(x->value)
           : x->type == "cycling"  ? operator()(&x->values)
                                   : text_of(*x);
  }
  std::string operator()(const update_part* x) const { return x->is_given() ? text_of(*x) : "null"; }
  std::string operator()(const normal_part* x) const { return x->name.empty() ? "null" : text_of(*x); }
  template <class T>
  std::string operator()(const std::vector<T>* x) const {
    if (x->empty()) return "null";
    constexpr bool is_map = std::is_same_v<T, numbers_by_name::value_type>;
    std::string out = is_map ? "{" : "[";
    for (const T& v : *x) out += (out.size() > 1 ? ", " : "") + text_of(v);
    return out + (is_map ? "}" : "]");
  }
};

}  // namespace

const std::vector<std::string>& sparsity_algorithms() {
  static const std::vector<std::string> all{"static", "rigl", "set", "gmp"};
  return all;
}
const std::vector<std::string>& sparsity_init_methods() {
  static const std::vector<std::string> all{"random", "topk", "balanced-topk", "checkerboard", "from_zeros"};
  return all;
}

std::vector<std::string> words_of_list(const std::string& text) {
  if (text.empty()) return {};
  if (text.front() != '[' || text.back() != ']') return {text};
  const YAML::Node list = parsed(text, text);
  std::vector<std::string> words;
  for (const YAML::Node& word : list) {
    if (!word.IsScalar()) refuse(text, "this is no list of words");
    words.push_back(word.Scalar());
  }
  return words;
}

std::string field::text() const { return std::visit(writer{*this}, where); }

void fields::no_effect(const std::string& kind, std::initializer_list<const char*> names,
                       const std::string& why) {
  for (const char* name : names)
    all_.push_back({.section = now_,
                    .name = name,
                    .help = "accepted, no effect",
                    .where = {},
                    .kind = kind,
                    .why = why});
}
void fields::no_effect_of_words(const char* name, std::vector<std::string> words, const std::string& why) {
  no_effect("a word", {name}, why);
  all_.back().choices = std::move(words);
}
void fields::honours(const char* name, std::vector<std::string> values, const std::string& why) {
  all_.push_back({.section = now_,
                  .name = name,
                  .help = "accepted, no effect",
                  .where = {},
                  .choices = std::move(values),
                  .why = why});
}
void fields::check() const {
  const words_of_file as = words();
  mistakes found;
  for (const auto& f : refusals_) found.of(f);
  found.report([&](const std::string& sentence) { return as.said(sentence); });
}

void fields::read(const std::string& text, const std::string& file) {
  const YAML::Node root = parsed_params(text, file);
  if (!root.IsMap()) refuse(file, "a params file is a map of sections, not " + shown(root));
  file_ = file, is_trainer_form_ = is_trainer_form(root);
  mistakes found;
  if (is_trainer_form_)
    read_sections(sections_of_trainer(root, file, found, notes_, &names_in_file_), file, found);
  else read_sections(root, file, found);
  if (const std::vector<field*> type = named("optimizer.optimizer_type"); !type.empty())
    optimizer_in_file_ = type.front()->text();
  const words_of_file as = words();
  found.report([&](const std::string& sentence) { return as.in_its_names(sentence); });
}

void fields::read_sections(const YAML::Node& root, const std::string& file, mistakes& found) {
  for (const auto& [name, content] : pairs_of(root, file, "", found)) {
    const auto is_called = [&, &called = name](const auto& x) { return x.first == called; };
    if (const auto ignored = std::find_if(ignored_sections_.begin(), ignored_sections_.end(), is_called);
        ignored != ignored_sections_.end()) {
      notes_.push_back(place(file, content) + ": " + name + " has no effect here: " + ignored->second);
      continue;
    }
    if (std::find(sections_.begin(), sections_.end(), name) == sections_.end()) {
      const auto same = std::find_if(all_.begin(), all_.end(), [&, &called = name](const field& f) {
        return f.name == called &&
               std::find(sections_.begin(), sections_.end(), f.section) != sections_.end();
      });
      std::vector<std::string> known;
      for (const std::string& section : sections_)
        if (std::any_of(all_.begin(), all_.end(), [&](const field& f) {
              return f.section == section && !std::holds_alternative<std::monostate>(f.where);
            }))
          known.push_back(section);
      const std::string near = app::nearest_words(name, known);
      found.add(place(file, content) + ": " + name + " is no section" +
                (same != all_.end() ? "; it is a field of " + same->section
                 : !near.empty()    ? near
                                    : "; there are " + joined(known)));
      continue;
    }
    found.of(
        [&, &section = name, &of_section = content] { read_value_of_section(of_section, section, file); });
  }
}

void fields::read_value_of_section(const YAML::Node& content, const std::string& section,
                                   const std::string& file) {
  if (content.IsNull()) return;
  if (content.IsSequence() && content.size() == 0)
    refuse(place(file, content), section + ": an empty list says nothing: leave the section out");
  const auto as = std::find_if(short_forms_.begin(), short_forms_.end(),
                               [&](const short_form& s) { return s.section == section; });
  if (content.IsMap() || as == short_forms_.end()) return read_section(content, section, file);
  field& f = *named(section + "." + (content.IsSequence() ? as->of_list : as->of_value)).front();
  read_value(f, content, place(file, content));
}

void fields::read_part(const std::string& text, const std::string& file, const std::string& section) {
  const YAML::Node root = parsed(text, file);
  if (!root.IsMap() || !root[section]) refuse(file, "there is no section " + section);
  read_value_of_section(root[section], section, file);
}

void fields::read_section(const YAML::Node& map, const std::string& section, const std::string& file) {
  read_maps_of(map, section, file, false, 0);
}

namespace {

std::string named_in(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + "." + name;
}
/// Whether two names are those of one field.
bool are_names_of_one(const std::vector<field>& all, const std::string& section, const std::string& a,
                      const std::string& b) {
  const auto is_called = [](const field& f, const std::string& name) {
    return f.name == name || std::find(f.old_names.begin(), f.old_names.end(), name) != f.old_names.end();
  };
  return std::any_of(all.begin(), all.end(), [&](const field& f) {
    return f.section == section && is_called(f, a) && is_called(f, b);
  });
}

/// Whether two values are the same, such as 0.1 and 1e-1.
bool say_the_same(const YAML::Node& a, const YAML::Node& b) {
  const std::optional<bool> x = truth_of(a), y = truth_of(b);
  return a.IsScalar() && b.IsScalar() ? (x && y ? x == y : is_same(a.Scalar(), b.Scalar()))
                                      : YAML::Dump(a) == YAML::Dump(b);
}

/// A remedy for the name of a field that another has here, where the names are not near each other.
std::string name_here(const std::string& full_name) {
  constexpr std::array<std::pair<const char*, const char*>, 2> names{
      {{"optimizer.lr", "learning_rate"}, {"optimizer.type", "optimizer_type"}}};
  for (const auto& [other, here] : names)
    if (full_name == other) return std::string("; here it is called ") + here;
  return "";
}

}  // namespace

void fields::read_maps_of(const YAML::Node& map, const std::string& section, const std::string& file,
                          bool overrides, int depth) {
  // An anchor may be part of what it names.
  if (constexpr int deepest = 8; depth > deepest)
    refuse(file.starts_with("--") ? file : place(file, map),
           section + " has maps inside of maps without end");
  mistakes found;
  std::vector<std::pair<const nested_map*, YAML::Node>> inside;
  const named_nodes all = pairs_of(map, file, section, found);
  for (auto x = all.begin(); x != all.end(); ++x) {
    const auto& [name, value] = *x;
    const auto as = std::find_if(nested_.begin(), nested_.end(), [&, &called = name](const nested_map& n) {
      return n.section == section && n.name == called;
    });
    if (as != nested_.end()) {
      inside.emplace_back(&*as, value);
      continue;
    }
    const auto is_same_field = [&, &called = name](const auto& before) {
      return !before.second.IsNull() && are_names_of_one(all_, section, before.first, called);
    };
    const auto before = std::find_if(all.begin(), x, is_same_field);
    if (before != x && !value.IsNull()) {
      if (!say_the_same(before->second, value))
        found.add((file.starts_with("--") ? file : place(file, value)) + ": " + named_in(section, name) +
                  " " + shown(value) + " is another name of " + named_in(section, before->first) +
                  ", which is " + shown(before->second) +
                  (file.starts_with("--") ? "" : " in " + place(file, before->second)) +
                  ": leave one of them out");
    } else
      found.of(
          [&, &called = name, &of_field = value] { read_named(called, of_field, section, file, overrides); });
  }
  for (const auto& [as, value] : inside) {
    if (value.IsNull()) continue;
    mistakes within;
    within.of([&, &of = as, &map_inside = value] {
      read_maps_of(map_inside, of->as, file, of->overrides, depth + 1);
    });
    // In the file they are called as the map that has them.
    for (std::string sentence : within.all()) {
      const std::string before = ": " + as->as + ".";
      if (const std::size_t at = sentence.find(before); at != sentence.npos && !as->as.empty())
        sentence.replace(at, before.size(), ": " + named_in(section, as->name) + ".");
      found.add(std::move(sentence));
    }
  }
  found.report();
}

void fields::read_named(const std::string& name, const YAML::Node& value, const std::string& section,
                        const std::string& file, bool overrides) {
  const auto is_called = [&](const field& f) {
    return f.section == section &&
           (f.name == name || std::find(f.old_names.begin(), f.old_names.end(), name) != f.old_names.end());
  };
  const auto found = std::find_if(all_.begin(), all_.end(), is_called);
  const std::string where = file.starts_with("--") ? file : place(file, value);
  if (found == all_.end()) {
    std::vector<std::string> known;
    for (const field& f : all_)
      if (f.section == section) known.push_back(f.name);
    const std::string own = name_here(named_in(section, name)),
                      near = own.empty() ? app::nearest_words(name, known) : own;
    refuse(where, (section.empty() ? name : section + "." + name) + " is no field" +
                      (section.empty() && near.empty() ? "; there are " + joined(known) : near));
  }
  const bool is_given = !found->given.empty() && found->given.starts_with(file + ":");
  if (is_given && found->name != name && !overrides)
    refuse(where, named_in(section, name) + " is another name of " + named_in(section, found->name) +
                      ", which " + found->given + " gives: leave one of them out");
  const std::string before = is_given ? found->text() : "", given_before = found->given;
  read_value(*found, value, where);
  found->null_at = value.IsNull() ? where : "";
  if (is_given && !overrides && found->text() != before)
    refuse(where, found->full_name() + " is " + found->text() + " here, and " + before + " in " +
                      given_before + ": this program has one for both");
  if (!std::holds_alternative<std::monostate>(found->where) || value.IsNull()) return;
  check_without_effect(*found, value, where);
  notes_.push_back(where + ": " + found->full_name() + " has no effect here" +
                   (found->kind.empty() ? ": it is so in any case" : ": " + found->why));
}

void fields::read_option(field& f, const std::string& value, const std::string& option) {
  // A path may look like anything, and so may a pattern; `null` is none where the help shows [null].
  const bool word = std::holds_alternative<std::string*>(f.where) ||
                    (std::holds_alternative<word_list*>(f.where) && !value.starts_with('['));
  const YAML::Node node = !word                              ? parsed(value, option)
                          : f.may_be_null && value == "null" ? YAML::Node(YAML::NodeType::Null)
                                                             : YAML::Node(value);
  if (!node.IsNull()) return read_value(f, node, option);
  f.reset();
  f.given = option;
}

std::vector<field*> fields::named(std::string_view name) {
  std::vector<field*> found;
  for (field& f : all_)
    if (f.full_name() == name || f.name == name) found.push_back(&f);
  return found;
}

std::vector<std::string> fields::notes() const {
  const words_of_file as = words();
  std::vector<std::string> all;
  for (const std::string& note : notes_) all.push_back(as.in_its_names(note));
  for (const auto& remark : remarks_)
    if (const std::string said = remark(); !said.empty()) all.push_back(as.said(said));
  return all;
}

words_of_file fields::words() const {
  words_of_file w{.file = file_,
                  .is_trainer_form = is_trainer_form_,
                  .names = names_in_file_,
                  .optimizer = optimizer_in_file_};
  for (const field& f : all_)
    if (std::find(sections_.begin(), sections_.end(), f.section) != sections_.end())
      w.places.try_emplace(f.full_name(), f.given);
  for (const field& f : all_) {
    const bool is_path = f.name.ends_with("_dir") || f.name.ends_with("_file") || f.name.ends_with("_path");
    if (!is_path || file_.empty() || !f.given.starts_with(file_ + ":")) continue;
    const auto add = [&](const std::string& path) {
      if (!path.empty()) w.paths.try_emplace(path, f.given, f.full_name());
    };
    if (const auto* one = std::get_if<std::string*>(&f.where))
      for (const std::string& path : words_of_list(**one)) add(path);
    else if (const auto* some = std::get_if<std::vector<std::string>*>(&f.where))
      for (const std::string& path : **some) add(path);
  }
  return w;
}
std::string fields::note_of_given(std::initializer_list<const char*> names, const std::string& what) const {
  std::string list, place;
  int count = 0;
  for (const char* name : names)
    for (const field& f : all_) {
      if (f.full_name() != name || f.given.empty()) continue;
      list += (count++ ? ", " : "") + f.full_name();
      if (place.empty() && f.given.starts_with(file_ + ":")) place = f.given + ": ";
    }
  return count ? place + list + (count > 1 ? " have " : " has ") + what : "";
}
bool fields::file_names_section(std::string_view section) const {
  return !file_.empty() && std::any_of(all_.begin(), all_.end(), [&](const field& f) {
    return f.section == section && (f.given.starts_with(file_ + ":") || f.null_at.starts_with(file_ + ":"));
  });
}
std::string fields::place_in_file(std::string_view full_name) const {
  for (const field& f : all_)
    if (f.full_name() == full_name)
      for (const std::string* at : {&f.null_at, &f.given})
        if (!file_.empty() && at->starts_with(file_ + ":")) return *at;
  return file_;
}

namespace {

/// A sentence of the library, which begins with the name of a field and not with its section, such as
/// "max_sequence_length 64 of train_input is ...", behind the place of that field, or else of the first
/// field that it names in full; empty if it is no such sentence.
std::string said_of_bare_name(const std::map<std::string, std::string>& places, const std::string& sentence,
                              const std::string& name) {
  const auto is_in_file = [](const std::string& place) {
    return !place.starts_with("--") && place.find(':') != place.npos;
  };
  // Words that are no names have no such sign.
  if (name.find('_') == name.npos || name.find_first_of("./") != name.npos) return "";
  const std::pair<const std::string, std::string>* found = nullptr;
  bool is_field = false;
  for (const auto& known : places) {
    if (!known.first.ends_with("." + name)) continue;
    is_field = true;
    const std::string section = known.first.substr(0, known.first.size() - name.size() - 1);
    const bool is_meant = sentence.find(" " + section + " ") != sentence.npos;
    if (is_in_file(known.second) && (is_meant || !found)) found = &known;
  }
  if (found) return found->second + ": " + found->first + sentence.substr(name.size());
  for (std::size_t at = 0; is_field && at < sentence.size();) {
    const std::size_t end = std::min(sentence.find_first_of(" :,;", at), sentence.size());
    if (const auto known = places.find(sentence.substr(at, end - at));
        known != places.end() && is_in_file(known->second))
      return known->second + ": " + sentence;
    at = end + 1;
  }
  return "";
}

}  // namespace

std::string words_of_file::said(const std::string& sentence) const {
  const std::string name = sentence.substr(0, sentence.find_first_of(" :"));
  const auto at = places.find(name);
  if (at == places.end())
    if (const std::string of_bare = said_of_bare_name(places, sentence, name); !of_bare.empty())
      return in_its_names(of_bare);
  if (at == places.end() || at->second.starts_with("--")) return in_its_names(sentence);
  // Also by the name of the model, or the Zoo's default, a field has its value in no file.
  const bool has_place = at->second.find(':') != at->second.npos;
  const bool is_missing = at->second.empty() && sentence.starts_with(name + " is missing") && !file.empty();
  return (has_place ? at->second + ": " : is_missing ? file + ": " : "") + in_its_names(sentence);
}

std::string words_of_file::said_of_file(const std::string& sentence) const {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '/';
  };
  const std::pair<const std::string, std::pair<std::string, std::string>>* longest = nullptr;
  for (const auto& known : paths) {
    const std::size_t at = sentence.find(known.first);
    if (at == sentence.npos || (at > 0 && is_part(sentence[at - 1]))) continue;
    const std::size_t end = at + known.first.size();
    const bool ends = end == sentence.size() || !is_part(sentence[end]) || sentence[end] == '/' ||
                      known.first.ends_with('/');
    if (ends && (!longest || known.first.size() > longest->first.size())) longest = &known;
  }
  if (!longest) return sentence;
  return sentence + "; " + longest->second.first + ": " + in_its_names(longest->second.second) + " names " +
         longest->first;
}

std::string words_of_file::in_its_names(const std::string& sentence) const {
  if (!is_trainer_form) return sentence;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '/';
  };
  std::string all;
  for (std::size_t at = 0; at < sentence.size();) {
    std::size_t end = at;
    while (end < sentence.size() && is_part(sentence[end])) ++end;
    std::string word = sentence.substr(at, end - at), rest;
    while (word.ends_with('.')) word.pop_back(), rest += '.';
    if (const auto known = names.find(word); known != names.end()) word = known->second;
    else if (places.contains(word)) word = name_in_trainer(word, optimizer);
    else if (const std::size_t dot = word.rfind('.'); dot != word.npos && word.find('.') != dot)
      // A member of a map of the file: "model.moe.top_k".
      if (const auto map = names.find(word.substr(0, dot)); map != names.end())
        word = map->second + word.substr(dot);
    all += word + rest;
    if (end == at && at < sentence.size()) all += sentence[end++];
    at = end;
  }
  return all;
}

std::string fields::text() const {
  return text_of([](const field&) { return true; });
}
std::string fields::kept_text() const {
  return text_of([](const field& f) { return f.is_kept; });
}

std::string fields::text_of(bool (*wanted)(const field&)) const {
  std::string out;
  for (const std::string& s : sections_) {
    std::string lines;
    for (const field& f : all_)
      if (f.section == s && wanted(f) && !std::holds_alternative<std::monostate>(f.where))
        lines += "  " + f.name + ": " + f.text() + "\n";
    if (!lines.empty()) out += s + ":\n" + lines;
  }
  return out;
}

}  // namespace train_app
