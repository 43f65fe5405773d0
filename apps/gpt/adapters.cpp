// SPDX-License-Identifier: MIT
#include "adapters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <type_traits>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/ml/model/adapters.hpp>

namespace gpt_app {

namespace ml = wsl::ml;
using ml::hugging_face::shortest;

namespace {

/// The names of the section's fields that say what adapters there are.
constexpr const char* names_of_settings[] = {"lora_rank",    "lora_alpha",    "lora_dropout",  "use_rslora",
                                             "rank_pattern", "alpha_pattern", "target_modules"};
constexpr const char* section = "lora";

std::string lora_field(const char* name) { return fmt::format("{}.{}", section, name); }

template <class From, class To>
void copy_patterns(const From& from, To& to) {
  to.clear();
  for (const auto& [pattern, value] : from)
    if constexpr (std::is_same_v<decltype(value), const wsl::f32>) to.emplace_back(pattern, shortest(value));
    else to.emplace_back(pattern, static_cast<decltype(to.back().second)>(value));
}
/// "q_proj: 4, k_proj: 2"
std::string pattern_words(const train_app::numbers_by_name& patterns) {
  std::string all;
  for (const auto& [pattern, value] : patterns)
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", pattern, value);
  return all;
}

lora_params params_of(const ml::lora_settings& s) {
  lora_params p{.rank = s.rank,
                .alpha = shortest(s.alpha),
                .dropout = shortest(s.dropout),
                .rank_stabilized = s.rank_stabilized,
                .targets = {s.targets},
                .base = s.base};
  copy_patterns(s.rank_pattern, p.rank_pattern), copy_patterns(s.alpha_pattern, p.alpha_pattern);
  return p;
}

/// Throws std::invalid_argument for settings of adapters where there are none.
void require_rank(train_app::fields& f, const lora_params& p) {
  const lora_params usual;
  const train_app::field& rank = *f.named(lora_field("lora_rank")).front();
  for (const auto& [name, is_given] : {std::pair("lora_alpha", p.alpha != usual.alpha),
                                       {"lora_dropout", p.dropout != usual.dropout},
                                       {"use_rslora", p.rank_stabilized},
                                       {"rank_pattern", !p.rank_pattern.empty()},
                                       {"alpha_pattern", !p.alpha_pattern.empty()},
                                       {"target_modules", !p.targets.words.empty()}})
    if (const train_app::field& x = *f.named(lora_field(name)).front();
        is_given && rank.given.starts_with("--") && !x.given.starts_with("--"))
      throw std::invalid_argument(
          fmt::format("{} null: these params have adapters, with {} {}, and a run keeps those that it has: "
                      "leave it out, or take "
                      "another --model_dir",
                      rank.given, name, x.text()));
    else if (is_given)
      throw std::invalid_argument(fmt::format(
          "lora.{} {} is of low-rank adapters, and lora_rank is missing: give --lora_rank, or leave "
          "it out",
          name, x.text()));
}

/// Throws ml::file_error for a folder of something else than adapters.
void require_adapters(const std::string& folder) {
  const auto has = [&](const char* file) { return ml::file_exists(folder + "/" + file); };
  const char* const settings = ml::hugging_face::adapter_config;
  if (has(settings)) {
    if (!has(ml::hugging_face::adapter_tensors) && has("adapter_model.bin"))
      throw ml::file_error(
          fmt::format("--adapter: {}/adapter_model.bin is a pickle, which can run any program when it is "
                      "loaded: save the "
                      "adapters with safe_serialization=True of peft, as adapter_model.safetensors",
                      folder));
    return;
  }
  const char* const what =
      !std::filesystem::is_directory(folder) ? "is no folder"
      : has("config.json")                   ? "has a model and no adapters, which --hf takes"
      : !ml::checkpoints(folder).steps().empty()
          ? "is the folder of a run, whose adapters `wsl-zoo checkpoint convert --adapter-only` "
            "writes"
          : "has no adapters";
  throw ml::file_error(fmt::format("--adapter: {} {}: give a folder of peft, with {} and {}", folder, what,
                                   settings, ml::hugging_face::adapter_tensors));
}

}  // namespace

ml::lora_settings lora_params::settings() const {
  ml::lora_settings s{.rank = rank,
                      .alpha = static_cast<wsl::f32>(alpha),
                      .dropout = static_cast<wsl::f32>(dropout),
                      .rank_stabilized = rank_stabilized,
                      .targets = targets.words,
                      .base = base};
  std::sort(s.targets.begin(), s.targets.end());
  copy_patterns(rank_pattern, s.rank_pattern), copy_patterns(alpha_pattern, s.alpha_pattern);
  return s;
}

std::string lora_params::words() const {
  return fmt::format("adapters of rank {}{} for {}", rank,
                     rank_pattern.empty() ? "" : fmt::format(" ({})", pattern_words(rank_pattern)),
                     fmt::join(settings().targets, ", "));
}

train_app::named_words lora_params::architecture() const {
  if (!are_given()) return {};
  train_app::named_words all{{"lora_rank", std::to_string(rank)},
                             {"lora_alpha", fmt::format("{}", alpha)},
                             {"target_modules", fmt::format("{}", fmt::join(settings().targets, ","))}};
  if (rank_stabilized) all.emplace_back("use_rslora", "true");
  if (!rank_pattern.empty()) all.emplace_back("rank_pattern", pattern_words(rank_pattern));
  if (!alpha_pattern.empty()) all.emplace_back("alpha_pattern", pattern_words(alpha_pattern));
  return all;
}

void declare_lora(train_app::fields& f, lora_params& p) {
  f.section(section);
  f.add("lora_rank", p.rank,
        "features inside of the low-rank adapters that alone are trained, beside the layers of "
        "target_modules; "
        "null: no adapters, and all is trained")
      .at_least(1)
      .at_most(1 << 16)
      .once_called("r");
  f.add("lora_alpha", p.alpha, "adapters have the factor lora_alpha / lora_rank")
      .above(0)
      .once_called("alpha");
  f.add("lora_dropout", p.dropout, "of what adapters read").at_least(0).at_most(0.99).once_called("dropout");
  f.add("use_rslora", p.rank_stabilized, "the factor is lora_alpha / the root of lora_rank");
  f.add("target_modules", p.targets,
        "which layers have adapters: the ends of their names in transformers, such as q_proj,v_proj, or "
        "regular expressions for these, such as 'layers\\.[01]\\..*_proj'; or all-linear, all but the head");
  f.add("rank_pattern", p.rank_pattern,
        "ranks of layers that have another: {q_proj: 4}, by ends of their names or regular expressions for "
        "these, of which the first that fits is taken")
      .at_least(1)
      .at_most(1 << 16);
  f.add("alpha_pattern", p.alpha_pattern, "the same of lora_alpha").above(0);
  f.add("base_model_name_or_path", p.base, "the model that adapters are for, as their export says it");
  f.add("adapter", p.adapter,
        "a folder of peft, with adapter_config.json and adapter_model.safetensors, whose adapters a run "
        "begins "
        "with, or a model of Hugging Face is used with")
      .of_one_command();
  f.honours("bias", {"none"});
  f.honours("use_dora", {"false"});
}

void complete_lora(train_app::fields& f, lora_params& p) {
  if (!p.adapter.empty()) {
    require_adapters(p.adapter);
    const lora_params theirs = params_of(ml::read_lora_settings(p.adapter));
    std::vector<std::pair<train_app::field*, std::string>> given;
    for (const char* name : names_of_settings)
      if (train_app::field* x = f.named(lora_field(name)).front(); x->given.starts_with("--"))
        given.emplace_back(x, x->text());
    lora_params now = theirs;
    now.adapter = p.adapter;
    if (now.base.empty()) now.base = p.base;
    std::sort(p.targets.words.begin(), p.targets.words.end());
    const bool same_targets = p.targets.words == theirs.targets.words;
    p = now;
    for (const auto& [field, text] : given)
      if (field->text() != text && !(field->name == "target_modules" && same_targets))
        throw std::invalid_argument(
            fmt::format("{} {} is not that of {}, {}: leave it out, or take other adapters", field->given,
                        text, p.adapter, field->text()));
  }
  if (!p.are_given()) return require_rank(f, p);
  for (const auto& [pattern, rank] : p.rank_pattern)
    if (rank != std::floor(rank))
      throw std::invalid_argument(
          fmt::format("lora.rank_pattern: {} is {}, and a rank is a whole number", pattern, rank));
  if (p.targets.words.empty())
    throw std::invalid_argument(
        "lora.target_modules is missing: name the layers that have adapters, such as q_proj,v_proj, or "
        "all-linear");
}

void refuse_settings(train_app::fields& f, const lora_params& p, const std::string& mode) {
  if (!p.adapter.empty()) return;
  for (const char* name : names_of_settings)
    if (const std::string given = f.named(lora_field(name)).front()->given; given.starts_with("--"))
      throw std::invalid_argument(fmt::format(
          "{}: {} has no adapters without --adapter, a folder of peft that says this: leave it out", given,
          mode));
}

adapted_model::adapted_model(const ml::decoder& d, const std::string& name,
                             std::optional<ml::lora_settings> lora)
    : config_(d), lora_(std::move(lora)) {
  if (!lora_) return;
  const ml::hugging_face::family* f = ml::hugging_face::find_family(name);
  if (!f || !ml::hugging_face::lacks(*f, d).empty()) f = ml::hugging_face::family_of(d);
  if (!f)
    throw std::invalid_argument(
        "lora: adapters are for layers by their names in transformers, and no family of these has such a "
        "model: " +
        ml::why_no_hugging_face(d));
  family_ = f->model_type;
  layers_ = ml::adapters_of(*lora_, family_, config_);
}

ml::network adapted_model::network() const { return config_.build(layers_); }
ml::network adapted_model::plain() const { return network_of(config_); }

ml::weights adapted_model::with_adapters(const ml::weights& of_plain, wsl::u64 seed) const {
  return has_adapters() ? ml::with_adapters(plain(), of_plain, network(), seed) : of_plain;
}

ml::weights adapted_model::folded(const ml::weights& w) const {
  return has_adapters() ? ml::without_adapters(network(), w, plain()) : w;
}

void adapted_model::read(const std::string& folder, ml::weights& w) const {
  ml::read_adapters(folder, lora_.value(), family_, config_, network(), w);
}

void adapted_model::write(const std::string& folder, const ml::weights& w) const {
  if (!has_adapters())
    throw std::invalid_argument(
        "this model has no adapters, which alone were to be written: it has been trained without "
        "--lora_rank");
  ml::write_adapters(folder, *lora_, family_, config_, network(), w);
}

ml::weights folded(const std::string& adapter, const ml::decoder& d, const std::string& family,
                   const ml::weights& base) {
  const adapted_model m(d, family, ml::read_lora_settings(adapter));
  ml::weights w = m.with_adapters(base, 1);
  m.read(adapter, w);
  return m.folded(w);
}

ml::weights weights_of(ml::trainer_base& t) {
  ml::weights w(t.model());
  for (std::size_t k = 0; k < w.size(); ++k)
    std::copy(t.parameters()[k].begin(), t.parameters()[k].end(), w[k].begin());
  return w;
}

void set_weights(ml::trainer_base& t, const ml::weights& w) { t.parameters() = w; }

}  // namespace gpt_app
