// SPDX-License-Identifier: MIT
#include "params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>

#include "yaml_text.hpp"

namespace train_app {
namespace {

namespace rate = wsl::ml::rate;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

i64 needed(const rate_part& p, i64 steps, const char* name) {
  if (steps < 1)
    refuse("optimizer.learning_rate: a " + p.scheduler + " scheduler needs " + name + ", a number of steps");
  return steps;
}
i64 steps_of(const rate_part& p) { return needed(p, p.total_iters, "total_iters"); }

rate::schedule cycle_of(const rate_part& p) {
  using kind = rate::cycle_heights::kind;
  const kind how = p.mode == "triangular2" ? kind::halved
                   : p.mode == "exp_range" ? kind::shrinking
                                           : kind::even;
  return rate::cyclic(p.base_lr, p.max_lr, p.step_size_up,
                      p.step_size_down ? p.step_size_down : p.step_size_up, {how, p.gamma});
}

rate::schedule schedule_of(const rate_part& p) {
  const f64 first = p.initial_learning_rate, last = p.end_learning_rate;
  if (p.scheduler == "Constant") return rate::constant(p.learning_rate);
  if (p.scheduler == "Linear") return rate::linear(first, last, steps_of(p));
  if (p.scheduler == "Polynomial") return rate::polynomial(first, last, steps_of(p), p.power);
  if (p.scheduler == "Exponential")
    return rate::exponential_decay(first, p.decay_rate, steps_of(p), p.staircase);
  if (p.scheduler == "InverseSquareRootDecay")
    return rate::inverse_square_root(first > 0 ? first : 1, p.scale, std::max<i64>(p.warmup_steps, 1));
  if (p.scheduler == "InverseExponentialTimeDecay")
    return rate::inverse_time(first, p.decay_rate, steps_of(p), p.step_exponent, p.staircase);
  if (p.scheduler == "MultiStep") return rate::multi_step(first, p.gamma, p.milestones);
  if (p.scheduler == "Step")
    return rate::exponential_decay(first, p.gamma, needed(p, p.step_size, "step_size"), true);
  if (p.scheduler == "Multiplicative") return rate::exponential_decay(first, p.coefficient, 1);
  if (p.scheduler == "PiecewiseConstant") return rate::piecewise_constant(p.learning_rates, p.milestones);
  if (p.scheduler == "CosineAnnealing")
    return rate::cosine_annealing(first, p.eta_min, needed(p, p.t_max, "T_max"));
  if (p.scheduler == "CosineAnnealingWarmRestarts")
    return rate::warm_restarts(first, p.eta_min, needed(p, p.t_0, "T_0"), p.t_mult);
  if (p.scheduler == "Cyclic") return cycle_of(p);
  if (p.scheduler == "OneCycle")
    return rate::one_cycle(first, p.max_lr, p.total_steps,
                           {.rise = p.pct_start,
                            .last_divisor = p.final_div_factor,
                            .three_phases = p.three_phase,
                            .straight = p.anneal_strategy == "linear"});
  return rate::cosine(first, last, steps_of(p));
}

}  // namespace

precision precision_params::format() const {
  if (bfloat16 && half == "cbfloat16")
    throw std::invalid_argument(
        "model.use_bfloat16 true and fp16_type cbfloat16 are two formats: leave one of them out");
  if (!mixed) return precision::f32;
  return bfloat16 || half == "bfloat16" ? precision::bfloat16
         : half == "cbfloat16"          ? precision::cbfloat16
                                        : precision::float16;
}

namespace {

using wsl::f32;

/// The name of an optimizer in small letters: SGD and sgd are the same.
std::string kind_of(const std::string& type) {
  std::string kind = type;
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
  return kind;
}

/// That of the Zoo's Adam, AdamW, Adamax, RAdam and Adagrad.
constexpr f64 eps_of_zoo = 1e-6;

/// An option of some optimizers, and whether it has another value than the others have.
struct optimizer_option {
  const char* name;
  bool is_given;
  std::vector<std::string> of;
};
std::vector<optimizer_option> options_of(const optimizer_params& o) {
  const optimizer_params usual;
  // Older files say these of every optimizer.
  const bool no_betas = o.betas.empty() || o.betas == std::vector{0.9, 0.999},
             no_eps = o.eps.numbers.empty() || o.eps.numbers == std::vector{1e-8} ||
                      o.eps.numbers == std::vector{eps_of_zoo};
  return {
      {"momentum", o.momentum != usual.momentum, {"sgd", "rmsprop"}},
      {"dampening", o.dampening != usual.dampening, {"sgd"}},
      {"nesterov", o.nesterov, {"sgd"}},
      {"beta2", o.beta2 >= 0, {"adam", "adamw", "adamax", "nadam", "radam", "lion", "lamb"}},
      {"betas", !no_betas, {"adam", "adamw", "adamax", "nadam", "radam", "lion", "lamb"}},
      {"eps",
       !no_eps,
       {"adam", "adamw", "adamax", "nadam", "radam", "rmsprop", "adagrad", "adadelta", "lamb", "adafactor"}},
      {"amsgrad", o.amsgrad, {"adam", "adamw"}},
      {"momentum_decay", o.momentum_decay != usual.momentum_decay, {"nadam"}},
      {"alpha", o.alpha != usual.alpha, {"rmsprop", "asgd"}},
      {"centered", o.centered, {"rmsprop"}},
      {"lr_decay", o.lr_decay != usual.lr_decay, {"adagrad"}},
      {"initial_accumulator_value", o.initial_accumulator_value != 0, {"adagrad"}},
      {"rho", o.rho != usual.rho, {"adadelta"}},
      {"lambd", o.lambd != usual.lambd, {"asgd"}},
      {"t0", o.t0 != usual.t0, {"asgd"}},
      {"etas", !o.etas.empty(), {"rprop"}},
      {"step_sizes", !o.step_sizes.empty(), {"rprop"}},
      {"clip_threshold", o.clip_threshold != usual.clip_threshold, {"adafactor"}},
      {"decay_rate", o.decay_rate != usual.decay_rate, {"adafactor"}},
      {"beta1",
       o.beta1 != usual.beta1,
       {"adafactor", "adam", "adamw", "adamax", "nadam", "radam", "lion", "lamb"}},
      {"scale_parameter", !o.scale_parameter, {"adafactor"}},
      {"relative_step", o.relative_step, {"adafactor"}},
      {"warmup_init", o.warmup_init, {"adafactor"}}};
}
void check_options(const optimizer_params& o, const std::string& kind) {
  mistakes found;
  for (const optimizer_option& x : options_of(o)) {
    if (!x.is_given || std::find(x.of.begin(), x.of.end(), kind) != x.of.end()) continue;
    std::string owners;
    for (std::size_t k = 0; k < x.of.size(); ++k)
      owners += (k == 0 ? "" : k + 1 == x.of.size() ? " and " : ", ") + x.of[k];
    found.add("optimizer." + std::string(x.name) + " is of " + owners + ", not of " + o.type +
              ": leave it out, or --" + x.name + " null");
  }
  if (kind == "rprop" && o.weight_decay != 0)
    found.add("optimizer.weight_decay is not of rprop, which has none: leave it out, or --weight_decay null");
  found.report();
}

/// A number, or if it is below 0 the usual one.
f32 or_usual(f64 x, f32 usual) { return x < 0 ? usual : static_cast<f32>(x); }
/// The numbers of a list of two, if it was given.
void set_pair(const char* name, const std::vector<f64>& given, f32& first, f32& second) {
  if (given.empty()) return;
  if (given.size() != 2)
    refuse("optimizer." + std::string(name) + " are two numbers, not " + std::to_string(given.size()));
  first = static_cast<f32>(given[0]), second = static_cast<f32>(given[1]);
}

/// Sets the coefficients that several rules have.
template <class Rule>
wsl::ml::update_rule with_common(const optimizer_params& o, Rule r) {
  if constexpr (requires { r.decay; }) r.decay = static_cast<f32>(o.weight_decay);
  if constexpr (requires { r.momentum; }) r.momentum = static_cast<f32>(o.momentum);
  if constexpr (requires { r.beta2; }) {
    if (!o.betas.empty() && (o.beta1 > 0 || o.beta2 >= 0))
      refuse("optimizer.betas is given, and so is beta1 or beta2: give one of them");
    set_pair("betas", o.betas, r.beta1, r.beta2);
    if (o.beta1 > 0) r.beta1 = static_cast<f32>(o.beta1);
    if (o.beta2 >= 0) r.beta2 = static_cast<f32>(o.beta2);
  }
  if constexpr (requires { r.amsgrad; }) r.amsgrad = o.amsgrad;
  if constexpr (requires { r.smallest_scale; }) set_pair("eps", o.eps.numbers, r.epsilon, r.smallest_scale);
  else if constexpr (requires { r.epsilon; }) {
    if (o.eps.numbers.size() > 1) refuse("optimizer.eps is one number of " + o.type + ", two of adafactor");
    if (!o.eps.numbers.empty()) r.epsilon = static_cast<f32>(o.eps.numbers[0]);
  }
  return r;
}

wsl::ml::update_rule rule_of(const optimizer_params& o, const std::string& kind) {
  namespace rules = wsl::ml::rules;
  const auto single = [](f64 x) { return static_cast<f32>(x); };
  if (kind == "sgd")
    return with_common(o, rules::sgd{.dampening = single(o.dampening), .nesterov = o.nesterov});
  if (kind == "adam") return with_common(o, rules::adam{});
  if (kind == "adamax") return with_common(o, rules::adamax{});
  if (kind == "nadam") {
    rules::nadam r;
    r.momentum_decay = or_usual(o.momentum_decay, r.momentum_decay);
    return with_common(o, r);
  }
  if (kind == "radam") return with_common(o, rules::radam{});
  if (kind == "rmsprop") {
    rules::rmsprop r{.centered = o.centered};
    r.alpha = or_usual(o.alpha, r.alpha);
    return with_common(o, r);
  }
  if (kind == "adagrad")
    return with_common(
        o, rules::adagrad{.rate_decay = single(o.lr_decay), .initial = single(o.initial_accumulator_value)});
  if (kind == "adadelta") {
    rules::adadelta r;
    r.rho = or_usual(o.rho, r.rho);
    return with_common(o, r);
  }
  if (kind == "asgd") {
    rules::asgd r;
    r.lambda = or_usual(o.lambd, r.lambda), r.alpha = or_usual(o.alpha, r.alpha), r.t0 = or_usual(o.t0, r.t0);
    return with_common(o, r);
  }
  if (kind == "rprop") {
    rules::rprop r;
    set_pair("etas", o.etas, r.shrink, r.grow);
    set_pair("step_sizes", o.step_sizes, r.smallest, r.largest);
    return with_common(o, r);
  }
  if (kind == "lion") return with_common(o, rules::lion{});
  if (kind == "lamb")  // that of the Model Zoo
    return with_common(o, rules::lamb{.correct_bias = false, .largest_norm = 10});
  if (kind == "adafactor") {
    rules::adafactor r{.beta1 = single(o.beta1),
                       .scale_parameter = o.scale_parameter,
                       .relative_step = o.relative_step,
                       .warmup_init = o.warmup_init};
    r.clip_threshold = or_usual(o.clip_threshold, r.clip_threshold);
    if (o.decay_rate < 0) r.decay_rate = single(o.decay_rate);
    return with_common(o, r);
  }
  return with_common(o, rules::adamw{});
}

wsl::ml::parameter_group group_of(const group_part& p) {
  if (!p.betas.empty() && p.betas.size() != 2)
    refuse("optimizer.groups: betas are two numbers, not " + std::to_string(p.betas.size()));
  const auto given = [](f64 x) { return x < 0 ? std::nullopt : std::optional(static_cast<f32>(x)); };
  return {p.patterns,
          {.rate_factor = given(p.learning_rate_factor),
           .decay = given(p.weight_decay),
           .beta1 = p.betas.empty() ? std::nullopt : given(p.betas[0]),
           .beta2 = p.betas.empty() ? std::nullopt : given(p.betas[1]),
           .momentum = given(p.momentum),
           .epsilon = given(p.eps)}};
}

}  // namespace

wsl::ml::optimizer optimizer_params::rule() const {
  const std::string kind = kind_of(type);
  check_options(*this, kind);
  if (ema_start > 0 && ema_decay == 0)
    refuse("optimizer.ema_start says when an average of the weights begins, and ema_decay is missing");
  wsl::ml::optimizer o{.rule = rule_of(*this, kind),
                       .decaying = decays == "all"        ? wsl::ml::decays::all
                                   : decays == "matrices" ? wsl::ml::decays::matrices
                                                          : wsl::ml::decays::not_bias_or_norm,
                       .average = {.decay = static_cast<f32>(ema_decay), .start = ema_start}};
  for (const group_part& p : groups) o.groups.push_back(group_of(p));
  return o;
}

rate::schedule optimizer_params::rate() const {
  if (relative_step) {
    const rate_part usual = optimizer_params().learning_rate.front();
    if (learning_rate.size() != 1 || learning_rate[0].scheduler != usual.scheduler ||
        learning_rate[0].learning_rate != usual.learning_rate)
      refuse(
          "optimizer.learning_rate has no effect with relative_step: leave it out, or --learning_rate null");
    return rate::constant(1);
  }
  std::vector<rate::phase> phases;
  for (std::size_t k = 0; k < learning_rate.size(); ++k) {
    const rate_part& p = learning_rate[k];
    const bool is_last = k + 1 == learning_rate.size();
    phases.push_back({is_last ? 0 : steps_of(p), schedule_of(p)});
  }
  return rate::sequence(std::move(phases));
}

namespace {

/// The eps of this program for the optimizers whose eps is 1e-6 in the Zoo; null for others.
const char* eps_beside_zoo(fields& f) {
  const std::string kind = kind_of(f.named("optimizer.optimizer_type").front()->text());
  if (kind == "adagrad") return "1e-10";
  return kind == "adam" || kind == "adamw" || kind == "adamax" || kind == "radam" ? "1e-08" : nullptr;
}

/// The word of a field; empty where there is no such field, or nothing gives it.
std::string word_of(fields& f, const std::string& name) {
  const std::string word = f.is_given(name) ? f.named(name).front()->text() : "";
  return word == "null" ? "" : word;
}

/// How the Zoo's data processors read what a file says nothing of: data of HDF5, and BERT's of CSV with masks
/// (of the releases since 2.4), in the order of the files, and no evaluation has a smaller last batch. Files of
/// other forms, which name no processor, are not the Zoo's; nor are the data of random numbers read.
void take_reading_of_zoo(fields& f) {
  const std::string to_train = word_of(f, "train_input.data_processor"),
                    own = word_of(f, "eval_input.data_processor");
  const auto is_read = [](const std::string& processor) {
    return !processor.empty() && processor.find("Synthetic") == processor.npos;
  };
  if (to_train.find("HDF5") != to_train.npos || to_train == "BertCSVDataProcessor")
    set_default_of_zoo(f, "train_input.shuffle", "false");
  if (is_read(own.empty() ? to_train : own) && f.file_names_section("eval_input"))
    set_default_of_zoo(f, "eval_input.drop_last", "true");
}
}  // namespace

void set_default_of_zoo(fields& f, const std::string& name, const std::string& value) {
  for (field* x : f.named(name))
    if (x->given.empty() && x->text() != value) f.read_option(*x, value, default_of_zoo);
}

std::string note_of_default(const field& x, fields& f) {
  const bool is_by_name = x.given.starts_with("model.name ");
  if (!is_by_name && x.given != default_of_zoo) return "";
  if (x.name == "parallel_block" || x.name == "use_norm_bias" || x.name == "unused_positions") return "";
  if (x.name == "norm_type" && !f.named("model.use_rms_norm").front()->given.empty()) return "";
  return fmt::format("{} is not given, and is {}, {}{}{}", x.full_name(), x.text(), is_by_name ? "by " : "",
                     x.given, is_by_name ? ": give it if the model has another" : "");
}

std::string cut_normal_of_zoo(f64 deviation) {
  return fmt::format("{{name: truncated_normal, std: {}}}", deviation);
}

std::optional<wsl::ml::initial> start_of(const normal_part& p) {
  if (p.name.empty()) return {};
  const auto number = [](f64 x) { return static_cast<f32>(x); };
  if (p.name == "normal") return wsl::ml::initial::normal(number(p.std));
  return wsl::ml::initial::truncated_normal(number(p.std), number(p.a < 0 ? p.a : -2 * p.std),
                                            number(p.b > 0 ? p.b : 2 * p.std));
}

void require_rate(const fields& f) {
  const auto field_of = [&](std::string_view name) {
    return *std::find_if(f.all().begin(), f.all().end(),
                         [&](const field& x) { return x.full_name() == name; });
  };
  if (!f.is_of_user() || !f.file_names_section("optimizer")) return;
  if (!field_of("optimizer.learning_rate").given.empty() ||
      field_of("optimizer.relative_step").text() == "true")
    return;
  const words_of_file as = f.words();
  refuse(
      f.place_in_file("optimizer.optimizer_type") + ": " +
      as.in_its_names(fmt::format(
          "{} has no learning rate, for which the Model Zoo, where it takes one at all, has 0.1: give {}, or "
          "--learning_rate",
          as.is_trainer_form ? "trainer.init.optimizer" : "optimizer",
          as.is_trainer_form ? "trainer.init.schedulers or a learning_rate of the optimizer"
                             : "optimizer.learning_rate")));
}

void take_defaults_of_zoo(fields& f) {
  f.set_of_user();
  if (eps_beside_zoo(f)) set_default_of_zoo(f, "optimizer.eps", fmt::format("{}", eps_of_zoo));
  take_reading_of_zoo(f);
  const std::vector<field*> folder = f.named("runconfig.hf");  // of Hugging Face, whose model says it
  if (!folder.empty() && folder.front()->text() != "null") return;
  set_default_of_zoo(f, "model.layer_norm_epsilon", "1e-05");
  for (const auto& set : f.in_the_zoo()) set(f);
}

void say_own_defaults(fields& f) {
  if (const char* const eps = eps_beside_zoo(f); eps && f.named("optimizer.eps").front()->text() == "null")
    f.read_option(*f.named("optimizer.eps").front(), eps, "the default");
  // The older name of a norm and the newer one say the same, and a file has both.
  if (const std::vector<field*> rms = f.named("model.use_rms_norm");
      !rms.empty() && rms.front()->text() == "true" && !f.is_given("model.norm_type"))
    f.read_option(*f.named("model.norm_type").front(), "rmsnorm", "use_rms_norm");
}

void declare_input(fields& f, input_params& p, bool trains) {
  f.add("data_dir", p.data_dir, "where the data is");
  f.add("batch_size", p.batch_size, "samples of a step, on all systems together").at_least(1);
  f.add("micro_batch_size", p.micro_batch_size,
        "samples of a step that pass together, at most, on each system; their gradients are added up before "
        "the "
        "update; auto: as many as fit in the memory; null: all, in a pipeline as many as keep it busy")
      .at_least(1);
  f.add("shuffle", p.shuffle, "draw the samples of an epoch in another order each time");
  f.add("shuffle_seed", p.shuffle_seed, "of that order").at_least(0);
  f.add("drop_last", p.drop_last, "leave out the samples that do not fill a batch")
      .once_called("drop_last_batch");
  const char* const of_workers = "the threads of the program read the data";
  f.no_effect("a number", {"num_workers", "prefetch_factor"}, of_workers);
  f.no_effect("a number", {"shuffle_buffer"}, "the samples of a whole epoch are shuffled");
  f.no_effect("true or false", {"persistent_workers", "use_worker_cache", "use_multiple_workers"},
              of_workers);
  f.no_effect("true or false", {"to_float16", "mixed_precision"},
              "the model's precision says how samples travel");
  if (trains) f.honours("repeat", {"true"});
  else {
    f.no_effect("true or false", {"repeat"}, "an evaluation passes once through its data");
    f.remark([&f] {
      const field& x = *f.named("eval_input.shuffle").front();
      return f.is_of_user() && !x.given.empty() && x.text() == "true"
                 ? std::string(
                       "eval_input.shuffle true has no effect here: an evaluation reads its data in order")
                 : std::string();
    });
  }
}

namespace {

/// A dynamic loss scale with the settings that were given.
wsl::ml::grad_scaler_settings dynamic_scale(const optimizer_params& o, precision p) {
  using settings = wsl::ml::grad_scaler_settings;
  settings s = p == precision::cbfloat16 ? settings::cbfloat16() : settings::float16();
  if (o.max_loss_scale > 0) s.largest = o.max_loss_scale;
  s.initial = o.initial_loss_scale > 0 ? o.initial_loss_scale : std::min(s.initial, s.largest);
  if (s.initial > s.largest)
    refuse(
        fmt::format("optimizer.initial_loss_scale {} is above max_loss_scale, which is {}: give a "
                    "--max_loss_scale of at least {}, or a smaller initial one",
                    s.initial, s.largest, s.initial));
  if (o.min_loss_scale > 0) s.smallest = o.min_loss_scale;
  if (o.steps_per_increase > 0) s.steps_per_increase = o.steps_per_increase;
  wsl::ml::grad_scaler{s};  // throws for a scale that cannot be
  return s;
}

}  // namespace

wsl::ml::loss_scaling_factor optimizer_params::loss_scaling(precision p) const {
  wsl::ml::loss_scaling_factor by = wsl::ml::loss_scaling_for(p);
  const std::string& asked = loss_scaling_factor;
  if (asked == "dynamic") by = wsl::ml::grad_scaler_settings{};
  else if (!asked.empty()) {
    f64 factor = 0;
    const auto [stopped, error] = std::from_chars(asked.data(), asked.data() + asked.size(), factor);
    if (error != std::errc{} || stopped != asked.data() + asked.size() || !(factor > 0) || factor > 1e38)
      refuse("optimizer.loss_scaling_factor is a positive number or dynamic, not '" + asked + "'");
    by = factor;
  }
  if (p == precision::f32) return 1.;
  if (std::holds_alternative<wsl::ml::grad_scaler_settings>(by)) return dynamic_scale(*this, p);
  for (const auto& [name, value] : {std::pair("initial_loss_scale", initial_loss_scale),
                                    {"min_loss_scale", min_loss_scale},
                                    {"max_loss_scale", max_loss_scale},
                                    {"steps_per_increase", static_cast<f64>(steps_per_increase)}})
    if (value > 0)
      refuse(std::string("optimizer.") + name +
             " is for loss_scaling_factor dynamic, and here the factor is " + (asked.empty() ? "1" : asked));
  return by;
}

void declare_precision(fields& f, precision_params& p) {
  f.add(
      "mixed_precision", p.mixed,
      "weights travel, products take their operands, and layers read each other's numbers in 16 bits; sums, "
      "norms, losses and the memory's weights are f32");
  f.add("fp16_type", p.half, "the 16-bit format of mixed_precision")
      .one_of({"float16", "bfloat16", "cbfloat16"});
  f.add("use_bfloat16", p.bfloat16, "as fp16_type bfloat16, in older files");
  f.remark([&f, &p] {
    if (p.mixed) return std::string();
    const bool is_older = p.bfloat16,
               is_named = f.is_given(is_older ? "model.use_bfloat16" : "model.fp16_type");
    // Configurations, and the params of a run, give all fields.
    if (!is_named || (!f.is_of_user() && !is_older && p.half == precision_params().half))
      return std::string();
    return is_older ? "model.use_bfloat16 true has no effect without model.mixed_precision true"
                    : "model.fp16_type " + p.half + " has no effect without model.mixed_precision true";
  });
  f.refuses([&f, &p] {
    if (p.bfloat16 && p.half == "float16" && f.is_given("model.fp16_type"))
      throw std::invalid_argument(
          "model.use_bfloat16 true and fp16_type float16 are two formats: leave one of them out");
  });
}

void declare_optimizer(fields& f, optimizer_params& p) {
  f.section("optimizer");
  f.add("optimizer_type", p.type, "the rule by which parameters change")
      .one_of({"sgd",      "adam",   "adamw", "adamax",    "nadam",    "radam",     "rmsprop",  "adagrad",
               "adadelta", "asgd",   "rprop", "lion",      "lamb",     "adafactor", "SGD",      "Adam",
               "AdamW",    "Adamax", "NAdam", "RAdam",     "RMSprop",  "Adagrad",   "Adadelta", "ASGD",
               "Rprop",    "Lion",   "Lamb",  "Adafactor", "AdaFactor"});
  f.add("learning_rate", p.learning_rate, "a number, or a list of schedulers one after the other")
      .at_least(0);
  f.add("adjust_learning_rate", p.adjust_learning_rate,
        "factors of it for groups of parameters, or for parameters by a pattern of their names: "
        "{\"*qkv.weight\": 0.5}")
      .at_least(0);
  f.add("groups", p.groups,
        "settings for groups of parameters: a list of {patterns: [...], learning_rate_factor, weight_decay, "
        "betas, momentum, eps} (of this program)");
  f.add("ema_decay", p.ema_decay,
        "of a moving average of the weights, with which evaluations, samples and exports are made; 0: none "
        "(of this program)")
      .at_least(0)
      .at_most(0.999999);
  f.add("ema_start", p.ema_start, "the step up to which the average is the weights themselves").at_least(0);
  f.add("momentum", p.momentum, "of sgd and rmsprop").at_least(0).at_most(1);
  f.add("dampening", p.dampening, "of the momentum of sgd").at_least(0).at_most(1);
  f.add("nesterov", p.nesterov, "Nesterov's form of the momentum of sgd");
  f.add("betas", p.betas, "of adam and its relatives, lion and lamb; null: 0.9, 0.999, of lion 0.9, 0.99")
      .at_least(0)
      .at_most(0.999999);
  f.add("eps", p.eps,
        "added to a denominator; of adafactor two numbers; null: the optimizer's own, of adam 1e-8")
      .above(0)
      .once_called("epsilon");
  f.add("amsgrad", p.amsgrad, "of adam and adamw: the largest second moment so far divides");
  f.add("momentum_decay", p.momentum_decay, "of nadam; null: 0.004").at_least(0);
  f.add("alpha", p.alpha, "of rmsprop, null: 0.99; of asgd, null: 0.75").at_least(0).at_most(0.999999);
  f.add("centered", p.centered, "of rmsprop: a variance divides");
  f.add("lr_decay", p.lr_decay, "of adagrad").at_least(0);
  f.add("initial_accumulator_value", p.initial_accumulator_value, "of adagrad").at_least(0);
  f.add("rho", p.rho, "of adadelta; null: 0.9").at_least(0).at_most(0.999999);
  f.add("lambd", p.lambd, "of asgd; null: 1e-4").at_least(0);
  f.add("t0", p.t0, "of asgd: the step after which weights are averaged; null: 1e6").at_least(0);
  f.add("etas", p.etas, "of rprop: factors of a step that shrinks and grows; null: 0.5, 1.2").above(0);
  f.add("step_sizes", p.step_sizes, "of rprop: the smallest step and the largest; null: 1e-6, 50")
      .at_least(0);
  f.add("clip_threshold", p.clip_threshold, "of adafactor: the largest change; null: 1").above(0);
  f.add("decay_rate", p.decay_rate, "of adafactor, an exponent of the step; null: -0.8").at_most(0);
  f.add("beta1", p.beta1, "of adafactor, 0: no first moment; of adam and its relatives the first of betas")
      .at_least(0)
      .at_most(0.999999);
  f.add("beta2", p.beta2, "of adam and its relatives the second of betas; null: that of betas")
      .at_least(0)
      .at_most(0.999999);
  f.add("scale_parameter", p.scale_parameter, "of adafactor: larger parameters change more");
  f.add("relative_step", p.relative_step, "of adafactor: its own learning rate");
  f.add("warmup_init", p.warmup_init, "of adafactor: that rate begins with 1e-6");
  f.add("weight_decay", p.weight_decay,
        "of adamw, lion, lamb and adafactor apart from the gradient, of the others added to it")
      .at_least(0)
      .once_called("weight_decay_rate");
  f.add("decays", p.decays, "which parameters decay").one_of({"not_bias_or_norm", "matrices", "all"});
  f.add("max_gradient_norm", p.max_gradient_norm, "longer gradients are shortened to it").above(0);
  f.add("max_gradient_value", p.max_gradient_value,
        "what is larger of a gradient, or smaller than its negative, is set to it")
      .above(0);
  f.add("log_summaries", p.log_summaries,
        "write the norms of each parameter and of its gradient to the events");
  f.add(
      "frozen_parameters", p.frozen,
      "parameters that training leaves as they are: patterns of names, such as 'layer * norm*', or names of "
      "groups; null: none (of the Zoo's callback FreezeParameters)");
  f.honours("correct_bias", {"true"});
  f.honours("use_bias_correction", {"true"});
  f.honours("grad_accum_steps", {"1"}, "a batch is one update; train_input.micro_batch_size divides it");
  f.no_effect("true or false", {"disable_lr_steps_reset"},
              "no schedule of the Zoo's public sources reads it");
  f.no_effect("true or false", {"ws_summary"}, "it only reports");
  f.add("loss_scaling_factor", p.loss_scaling_factor,
        "in mixed precision the factor of the loss from which gradients start: a number, or dynamic; null: "
        "dynamic with float16, otherwise 1");
  f.add("initial_loss_scale", p.initial_loss_scale,
        "of a dynamic factor, at the start; null: 2^15, with cbfloat16 2^31, or max_loss_scale if that is "
        "less")
      .above(0);
  f.add("steps_per_increase", p.steps_per_increase,
        "the steps after which a dynamic factor is doubled; null: 2000")
      .at_least(1);
  f.add("min_loss_scale", p.min_loss_scale, "the least dynamic factor; null: 2^-14").above(0);
  f.add("max_loss_scale", p.max_loss_scale, "the largest; null: 2^15, with cbfloat16 2^31").above(0);
  f.remark([&f, &p] {
    if (!f.is_of_user() || p.relative_step || f.is_given("optimizer.learning_rate")) return std::string();
    return fmt::format("optimizer.learning_rate is not given, and is {}, as of this program",
                       p.learning_rate.front().learning_rate);
  });
  // Of a user's file: those of a run, and of programs, give all fields.
  f.remark([&f] {
    if (!f.is_of_user() || f.named("model.mixed_precision").front()->text() == "true") return std::string();
    return f.note_of_given(
        {"optimizer.loss_scaling_factor", "optimizer.initial_loss_scale", "optimizer.steps_per_increase",
         "optimizer.min_loss_scale", "optimizer.max_loss_scale"},
        "no effect without model.mixed_precision true: the factor of the loss is 1");
  });
}

namespace {

void declare_reports(fields& f, reporting_params& p) {
  f.section("wandb");
  f.add("project", p.project,
        "write the scalars as lines of JSON, too, in the folder of an offline run of Weights & Biases in "
        "model_dir; null: no");
  f.add("group", p.group, "the group of the run");
  f.add("run_name", p.run_name, "its name");
  f.add("job_type", p.job_type, "its kind");
  f.add("run_id", p.run_id, "its id; null: a random one for each command");
  f.add("tags", p.tags, "words for it").may_be_list = true;
  f.no_effect("a word", {"resume"}, "each command has a run of its own");
  f.section("dump_activations");
  f.add("outputs", p.activation_outputs,
        "the layers, by their names or patterns of these, whose activations are written; null: all")
      .may_be_list = true;
  f.add("every_steps", p.activation_steps,
        "write the activations of every so many steps to model_dir/activations; null: none")
      .at_least(1);
  f.no_effect("a number", {"buffer_steps"}, "each step has a file of its own");
  f.refuses([&p] {
    if (!p.activation_outputs.empty() && p.activation_steps == 0)
      refuse(
          "dump_activations.outputs are of activations that are written every so many steps: give "
          "every_steps, or leave outputs out");
    if (!std::all_of(p.run_id.begin(), p.run_id.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; }))
      refuse("wandb.run_id is a part of a folder's name, of letters, digits, - and _, not '" + p.run_id +
             "'");
    if (p.project.empty() && !p.tags.empty())
      refuse("wandb.tags are of a run whose lines are written: give project, too");
    if (p.project.empty())
      for (const auto& [name, word] : {std::pair("group", &p.group),
                                       {"run_name", &p.run_name},
                                       {"job_type", &p.job_type},
                                       {"run_id", &p.run_id}})
        if (!word->empty())
          refuse(std::string("wandb.") + name + " is of a run whose lines are written: give project, too");
  });
}

}  // namespace

void declare_run(fields& f, run_params& p, reporting_params& reports) {
  declare_reports(f, reports);
  f.nested("runconfig", "op_profiler_config", "op_profiler");
  f.section("op_profiler");
  f.add("start_step", p.profile_from,
        "the first step whose time is told module by module, and drawn in chrome_trace.json; null: none")
      .at_least(1);
  f.add("end_step", p.profile_until, "the last of them").at_least(1);
  f.no_effect("a list", {"host_activities"}, "all that the host does is in the profile");
  f.section("csconfig");
  f.honours("use_cbfloat16", {"false"}, "the section model says the precision");
  f.section("runconfig");
  f.add("log_histograms", reports.log_histograms, "write histograms of all parameters to the events");
  f.add("log_images", reports.log_images,
        "write so many images of each evaluation, with their truth and prediction, to the events (wsl-unet)")
      .at_least(0)
      .at_most(1000);
  f.add("mode", p.mode, "what to do if the command line does not say it")
      .one_of({"train", "eval", "train_and_eval", "eval_all"});
  f.add("model_dir", p.model_dir, "folder for all that is written");
  f.add("checkpoint_path", p.checkpoint_path, "go on from this checkpoint");
  f.add(
       "load_checkpoint_states", p.load_checkpoint_states,
       "what to take from checkpoint_path: all, and its run goes on; or model, its weights, with which a new "
       "run begins at step 0, on other data if need be")
      .one_of({"all", "model"});
  f.add("autoload_last_checkpoint", p.autoload_last_checkpoint,
        "go on from the last checkpoint in model_dir; false: begin anew, and set the run that is there aside "
        "in a folder earlier_<n>; a run does not keep it")
      .of_one_command();
  f.add("max_steps", p.max_steps, "steps in all, with those before a checkpoint").at_least(0);
  f.add("num_steps", p.num_steps, "steps of this command alone; a run does not keep it")
      .at_least(1)
      .of_one_command();
  f.add("num_epochs", p.num_epochs,
        "times through the data; the first limit of num_epochs, max_steps and num_steps ends a run")
      .at_least(1);
  f.add("steps_per_epoch", p.steps_per_epoch, "a shorter epoch than the whole data").at_least(1);
  f.remark([&p] {
    return p.steps_per_epoch && !p.num_epochs
               ? std::string("runconfig.steps_per_epoch has no effect without runconfig.num_epochs")
               : std::string();
  });
  f.add("log_steps", p.log_steps, "steps between two lines").at_least(1);
  f.add("checkpoint_steps", p.checkpoint_steps, "steps between two checkpoints; 0: only the last")
      .at_least(0);
  f.add("save_initial_checkpoint", p.save_initial_checkpoint, "before the first step");
  f.add("max_checkpoints", p.max_checkpoints, "how many are kept, the newest; 0: all")
      .at_least(0)
      .once_called("keep_checkpoint_max");
  f.add("eval_steps", p.eval_steps, "batches of an evaluation; 0: all").at_least(0);
  f.add("eval_frequency", p.eval_frequency,
        "steps between two evaluations of train_and_eval; 0: only after the last")
      .at_least(0);
  f.add("keep_best_checkpoint", p.keep_best_checkpoint,
        "keep the checkpoint of the evaluation with the lowest loss, in the folder best (of this program)");
  f.add("early_stopping_patience", p.early_stopping_patience,
        "end the run when so many evaluations in a row have no lower loss than one before them; 0: never (of "
        "this program)")
      .at_least(0);
  f.add("peak_gflops", p.peak_gflops,
        "what the computers can do together, in 10^9 operations a second, for flops_utilization; 0: measured "
        "before the first step (of this program)")
      .at_least(0);
  f.add("seed", p.seed, "of the initial weights").at_least(0);
  f.add("num_csx", p.num_csx, "wafers that share out a batch").at_least(1).at_most(256);
  f.add("execution_strategy", p.execution_strategy,
        "weights stream past the data, or layers stand side by side")
      .one_of({"weight_streaming", "pipeline"});
  f.add("workers", p.workers,
        "PEs of a wafer that compute; null: one for each core of this computer, or fewer (of this program)")
      .at_least(1);
  f.add("grid", p.grid,
        "rows x columns of the workers, such as 4x2: rows share out the sequences of a batch, or parts of "
        "them, columns the features and weights; null: as a prediction of the step's time says (of this "
        "program)");
  f.add(
      "memory_folder", p.memory_folder,
      "folder in whose files the parameters, gradients and what the optimizer keeps lie, if they are larger "
      "than the memory; null: main memory (of this program)");
  f.add("recompute", p.recompute,
        "compute the activations of a block of layers again in the backward pass, to keep less of them (of "
        "this program)");
  f.add("memory_gi", p.memory_gi,
        "GiB that training may take on a computer; null: all that this one has (of this program)")
      .above(0);
  f.add("strips", p.strips, "PEs at most that a pipeline's layers lie on (of this program)")
      .at_least(1)
      .at_most(64);
  f.add("multireplica", p.multireplica,
        "copies of a pipeline's model train on even shares of each batch; only to train, not to evaluate");
  f.add("replicas", p.replicas,
        "those copies, with multireplica true; null: as many as have a core for each strip, and divide the "
        "batch (of this program)")
      .at_least(1)
      .at_most(64);
  f.add("threads", p.threads, "of this computer; 0: one a core, or WSL_THREADS (of this program)")
      .at_least(0)
      .at_most(1024);
  const char *const of_machine = "it is of the wafer's compiler and cluster", *const only_says =
                                                                                  "it only reports";
  f.no_effect("true or false", {"check_loss_values"}, "a loss that is no number ends a run in any case");
  f.no_effect("true or false",
              {"log_summaries", "save_losses", "show_debug_metrics", "log_input_summaries",
               "log_initialization", "dump_activations", "legacy_event_dirs", "enable_act_frequency"},
              only_says);
  f.no_effect("true or false",
              {"enable_distributed", "sync_batchnorm", "use_appliance_data", "use_cs_grad_accum", "drop_data",
               "lazy_initialization", "retrace_every_iteration", "disable_version_check"},
              of_machine);
  f.no_effect("a number", {"precision_opt_level"}, "precision is what model.fp16_type says");
  f.no_effect("a number",
              {"num_workers_per_csx", "num_wgt_servers", "num_act_servers", "compile_crd_memory_gi",
               "execute_crd_memory_gi", "wrk_memory_gi", "act_memory_gi", "cmd_memory_gi", "wgt_memory_gi",
               "chf_memory_gi", "transfer_processes", "job_time_sec", "main_process_id"},
              of_machine);
  f.no_effect("a word",
              {"compile_dir", "job_priority", "mgmt_address", "mgmt_namespace", "credentials_path",
               "debug_args_path", "dist_backend", "dist_addr", "init_method", "cs_ip", "cbcore_image"},
              of_machine);
  f.no_effect_of_words("target_device", {"CSX", "CPU", "GPU"}, "all is computed on this computer");
  f.no_effect("a word", {"logging", "summary_dir"}, only_says);
  f.no_effect("a number", {"save_summary_steps", "log_step_count_steps", "throttle_secs"}, only_says);
  f.no_effect_of_section("predict_input", "predict reads eval_input");
  f.no_effect("a list", {"job_labels", "mount_dirs", "python_paths", "fabric_type_blacklist"}, of_machine);
  f.no_effect("anything", {"ini", "debug_args"}, of_machine);
  f.no_effect("anything", {"wsc_log_level", "experimental"}, only_says);
  f.no_effect("a word", {"hf_cache_dir"}, "nothing is loaded from Hugging Face's servers");
  f.no_effect("true or false", {"compile_only", "validate_only"}, "the modes compile and validate do that");
  f.no_effect("true or false", {"disable_strict_checkpoint_loading"},
              "a checkpoint with other arrays than the model's is refused");
  f.honours("steps_per_update", {"1"});
  f.honours("is_pretrained_checkpoint", {"false"},
            "load_checkpoint_states model takes the weights of a checkpoint alone");
}

namespace {

/// An option of the other strategy is a mistake; in a file it may be that of both.
void check_strategy_options(fields& f, const run_params& r) {
  const bool pipelined = r.execution_strategy == "pipeline";
  struct option {
    const char* name;
    bool of_pipeline;
  };
  for (const auto& [name, of_pipeline] : {option{"workers", false},
                                          {"grid", false},
                                          {"memory_folder", false},
                                          {"recompute", false},
                                          {"report", false},
                                          {"roles", false},
                                          {"strips", true},
                                          {"multireplica", true},
                                          {"replicas", true}})
    if (const std::string given = f.named(name).front()->text();
        pipelined != of_pipeline && f.is_asked(name) && given != "null" && given != "false")
      refuse("--" + std::string(name) + " is of execution_strategy " +
             (pipelined ? "weight_streaming" : "pipeline") + ", not of " + r.execution_strategy +
             ": leave it out, or take that strategy");
}

}  // namespace

void declare_checkpoint_options(fields& f, common_params& p) {
  f.options_of("checkpoint");
  f.add("override_model", p.run.override_model,
        "take the weights of a checkpoint even if its model section differs");
  f.options_of("step");
  f.add("report", p.run.report,
        "of train: the rows of the table of the last step; layers, or blocks of them (weight streaming)")
      .one_of({"blocks", "layers"})
      .of_one_command();
  f.options_of("prediction");
  f.add("predict_threads", p.run.predict_threads,
        "of train and validate: print how long a step would take on so many threads, such as 4,16,64, by a "
        "few steps on one thread")
      .of_one_command();
  f.options_of("processes");
  f.add(
       "roles", p.run.roles,
       "of the processes that mpirun starts, one for each in order: memoryx, swarmx, wafer or input, such as "
       "memoryx,wafer*2,input; null: each has wafers and reads its data, and the first has the memory")
      .of_one_command();
  f.refuses([&p, &f] { check_strategy_options(f, p.run), p.run.threads_to_predict(); });
  // Of a file it is that of another machine.
  const auto left_out = std::make_shared<std::string>();
  f.refuses([&p, &f, left_out] {
    const field& of_eval = *f.named("eval_input.micro_batch_size").front();
    if (of_eval.given.starts_with("--") ||
        of_eval.text() == f.named("train_input.micro_batch_size").front()->text() || of_eval.text() == "null")
      return;
    *left_out = of_eval.given + ": eval_input.micro_batch_size " + of_eval.text() +
                " has no effect here: those of train_input count";
    p.eval_input.micro_batch_size = {};
  });
  f.remark([left_out] { return *left_out; });
}

std::vector<int> run_params::threads_to_predict() const {
  std::vector<int> all;
  std::string_view rest = predict_threads;
  while (!rest.empty()) {
    int n = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const bool ends = rest.empty() || (rest.front() == ',' && rest.size() > 1);
    if (error != std::errc{} || n < 1 || n > 1024 || !ends)
      refuse("--predict_threads is a list of numbers of threads from 1 to 1024, such as 4,16,64, not '" +
             predict_threads + "'");
    all.push_back(n);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return all;
}

/// The workers that were asked for; a grid reads "4x2", rows x columns.
void take_workers(run_params& r) {
  r.on.workers = r.workers;
  if (r.grid.empty()) return;
  int rows = 0, columns = 0, end = 0;
  if (std::sscanf(r.grid.c_str(), "%dx%d%n", &rows, &columns, &end) != 2 ||
      static_cast<std::size_t>(end) != r.grid.size() || rows < 1 || columns < 1 || rows > 1000 ||
      columns > 1000)
    refuse("runconfig.grid is rows x columns of workers, such as 4x2, not '" + r.grid + "'");
  if (r.workers && r.workers != rows * columns)
    refuse("runconfig.grid " + r.grid + " has " + std::to_string(rows * columns) +
           " workers, and workers says " + std::to_string(r.workers) + ": leave one of them out");
  r.on.workers = rows * columns, r.on.columns = columns;
}

/// The replicas of a pipeline for which this computer has cores.
int replicas_for(const common_params& p, int cores) {
  int replicas = std::clamp(cores / std::max(1, p.run.strips), 1, 64);
  while (p.train_input.batch_size % replicas) --replicas;
  return replicas;
}

void complete(common_params& p, int cores, f64 memory) {
  p.run.on = {.cores = cores};
  p.run.on.memory = p.run.memory_gi > 0 ? p.run.memory_gi * 0x1p30 : memory;
  if (!p.eval_input.batch_size) p.eval_input.batch_size = p.train_input.batch_size;
  if (p.run.execution_strategy == "pipeline") {
    if (p.run.replicas > 1 && !p.run.multireplica)
      refuse(
          fmt::format("runconfig.replicas {} needs multireplica true: give --multireplica true, or leave "
                      "replicas out (--replicas null)",
                      p.run.replicas));
    p.run.on.replicas = p.run.replicas ? p.run.replicas : p.run.multireplica ? replicas_for(p, cores) : 1;
    return;
  }
  take_workers(p.run);
}

void require_rule_for_mup(const optimizer_params& p) {
  if (p.type == "sgd")
    throw std::invalid_argument(
        "optimizer.optimizer_type sgd: muP lowers the rates of hidden layers with the width for optimizers "
        "whose "
        "steps do not depend on the size of the gradient, and those of sgd do: take adamw, or leave the "
        "sizes of "
        "muP's base model out");
}

void check_strategy(const run_params& r) {
  if (r.execution_strategy == "pipeline" && r.num_csx > 1)
    refuse("runconfig.num_csx must be 1 in a pipeline: its layers lie on one wafer");
}

namespace {

/// A trainer has one size of micro-batches, which each wafer's part of a batch holds.
void check_micro_batches(const common_params& p) {
  const auto text_of = [](const size_or_auto& x) {
    return x.is_auto ? "auto" : x.size ? std::to_string(x.size) : "null";
  };
  const int replicas = p.run.on.replicas;
  if (replicas > 1 && p.train_input.batch_size % replicas)
    refuse("train_input.batch_size " + std::to_string(p.train_input.batch_size) +
           " must be divisible by runconfig.replicas " + std::to_string(replicas) +
           ": each replica has an equal part of the batch");
  const bool is_replicated = p.run.execution_strategy == "pipeline" && replicas > 1;
  const size_or_auto &micro = p.train_input.micro_batch_size, &of_eval = p.eval_input.micro_batch_size;
  const int parts = is_replicated ? replicas : p.run.num_csx, most = p.train_input.batch_size / parts;
  if (micro.size > most)
    refuse("train_input.micro_batch_size " + text_of(micro) + " is more than batch_size " +
           std::to_string(p.train_input.batch_size) +
           (parts > 1 ? (is_replicated ? " / replicas " : " / num_csx ") + std::to_string(parts) : "") +
           ": a micro-batch is a part of a batch; take at most " + std::to_string(most) + ", or auto");
  if (of_eval.is_given() && text_of(of_eval) != text_of(micro))
    refuse("eval_input.micro_batch_size " + text_of(of_eval) + " must be that of train_input, " +
           text_of(micro) + ": a trainer has one size of micro-batches");
}

}  // namespace

void check(const common_params& p) {
  const run_params& r = p.run;
  mistakes found;
  const auto refuse_if = [&](bool is_wrong, const std::string& sentence) {
    if (is_wrong) found.add(sentence);
  };
  refuse_if(r.model_dir.empty(), "runconfig.model_dir is the name of a folder, not nothing");
  refuse_if(p.train_input.batch_size < 1, "train_input.batch_size is missing");
  refuse_if(p.train_input.batch_size % r.num_csx,
            "train_input.batch_size " + std::to_string(p.train_input.batch_size) +
                " must be divisible by num_csx " + std::to_string(r.num_csx) +
                ": each system has an equal part of the batch");
  found.of([&] { check_strategy(r); });
  refuse_if(r.eval_frequency == 0 && (r.keep_best_checkpoint || r.early_stopping_patience),
            std::string("runconfig.") +
                (r.keep_best_checkpoint ? "keep_best_checkpoint" : "early_stopping_patience") +
                " needs evaluations on the way: give --eval_frequency, the steps between two of them");
  refuse_if(
      (r.profile_from > 0) != (r.profile_until > 0) || r.profile_until < r.profile_from,
      "op_profiler has start_step and end_step, which is not before it: " + std::to_string(r.profile_from) +
          " and " + std::to_string(r.profile_until) + " (0: not given)");
  refuse_if(
      r.profile_from > 0 && r.execution_strategy == "pipeline",
      "op_profiler is of weight streaming; the report of a pipeline tells the time of its strips: leave "
      "start_step and end_step out");
  refuse_if(r.load_checkpoint_states == "model" && r.checkpoint_path.empty(),
            "runconfig.load_checkpoint_states model needs --checkpoint_path, whose weights are taken");
  found.of([&] { p.optimizer.loss_scaling(p.precision.format()); });
  if (p.train_input.batch_size > 0) found.of([&] { check_micro_batches(p); });
  refuse_if(!p.train_input.drop_last,
            "train_input.drop_last false is of evaluations only: all batches of training have the same size, "
            "so a smaller last one is dropped; leave it out");
  refuse_if(p.optimizer.max_gradient_norm > 0 && p.optimizer.max_gradient_value > 0,
            "optimizer.max_gradient_norm is given, and so is max_gradient_value: give one of them");
  found.of([&] { p.optimizer.rule(); });
  found.of([&] { p.optimizer.rate(); });
  found.report();
}

}  // namespace train_app
