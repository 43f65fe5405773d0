// SPDX-License-Identifier: MIT
#include "sparsity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>

namespace train_app {
namespace {

namespace ml = wsl::ml;
namespace sp = wsl::ml::sparsity;

[[noreturn]] void refuse(const std::string& where, const std::string& sentence) {
  throw std::invalid_argument(where.empty() ? sentence : where + ": " + sentence);
}

std::size_t index_of(const std::vector<std::string>& words, const std::string& word) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

sp::schedule schedule_of(const schedule_part& p) {
  const auto or_else = [](f64 x, f64 usual) { return x == not_given ? usual : x; };
  if (p.type == "constant") return p.value;
  if (p.type == "linear") return sp::linear{p.init, p.slope};
  if (p.type == "exp") return sp::exponential{p.init, p.gamma, or_else(p.final, 1)};
  if (p.type == "power") return sp::power{p.init, p.beta};
  if (p.type == "cosine") return sp::cosine{p.init, p.half_period, or_else(p.minimum, 0)};
  if (p.type == "cycling") return sp::cycling{p.values};
  return {};
}

sp::updates updates_of(const update_part& p) {
  sp::updates u{.steps = p.steps};
  if (p.freq >= 0) u.freq = p.freq;
  if (p.start >= 0) u.start = p.start;
  if (p.stop >= 0) u.stop = p.stop;
  return u;
}

/// A group, with the line of its part in messages.
sp::group group_of(const sparsity_part& p) {
  sp::group g{.sparsity = schedule_of(p.sparsity),
              .algorithm = static_cast<sp::algorithm>(index_of(sparsity_algorithms(), p.algorithm)),
              .init_method = static_cast<sp::init_method>(index_of(sparsity_init_methods(), p.init_method)),
              .update = updates_of(p.update),
              .drop_fraction = schedule_of(p.drop_fraction),
              .param_filter = p.param_filter.words,
              .balance_in_groups = p.balance_in_groups,
              .balance_out_groups = p.balance_out_groups};
  if (p.seed >= 0) g.seed = static_cast<wsl::u64>(p.seed);
  try {
    g.check();
  } catch (const std::invalid_argument& e) {
    constexpr std::string_view prefix = "wsl: ";
    const std::string_view why = e.what();
    const std::string_view sentence = why.starts_with(prefix) ? why.substr(prefix.size()) : why;
    const bool is_named = p.where.starts_with("--sparsity") || sentence.starts_with("sparsity");
    refuse(p.where, fmt::format("{}{}", is_named ? "" : "sparsity: ", sentence));
  }
  return g;
}

bool is_match(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/// The names of a model's matrices, those of its first blocks if there are many.
std::vector<std::string> matrices_of(const ml::network& model) {
  constexpr std::size_t most = 12;
  std::vector<std::string> names;
  for (const ml::parameter& a : model.parameters())
    if (a.rows > 1 && a.columns > 1 && names.size() < most) names.push_back(a.name);
    else if (names.size() == most) return names.push_back("..."), names;
  return names;
}

/// Throws std::invalid_argument for options of a section without a sparsity.
void require_sparsity(fields& f, const sparsity_params& p) {
  const field& of_all = *f.named("sparsity.sparsity").front();
  if (p.all.sparsity.is_given() && !p.groups.empty())
    refuse(of_all.given,
           "sparsity: there are a list of groups, from " +
               f.named("sparsity.sparsity_groups").front()->given +
               ", and a sparsity for all: give one of them; --sparsity_groups null, or --sparsity "
               "null, takes the other back");
  const field &init_method = *f.named("sparsity.init_method").front(),
              &mask_seed = *f.named("sparsity.mask_seed").front();
  if (p.all.sparsity.is_given() && p.sparsify_checkpoint && init_method.given.empty())
    refuse(
        f.named("sparsity.sparsify_checkpoint").front()->given,
        "sparsity.sparsify_checkpoint makes masks by init_method, which is not given: take topk, which keeps "
        "the largest weights, from_zeros, or, if that is meant, random");
  if (p.all.sparsity.is_given() && p.all.seed >= 0 && p.all.init_method != "random" &&
      (p.all.algorithm == "static" || p.all.algorithm == "rigl"))
    refuse(mask_seed.given,
           fmt::format("sparsity.mask_seed is of random places, and {} with init_method {} takes "
                       "none: leave it out",
                       p.all.algorithm, p.all.init_method));
  if (p.all.sparsity.is_given()) return;
  if (of_all.given.starts_with("--"))
    for (field& x : f.all())  // `--sparsity null` takes back all that a file says of sparse weights
      if (x.section == "sparsity" && !x.given.starts_with("--")) x.reset(), x.given = {};
  const sparsity_part usual;
  for (const auto& [name, is_given] : {std::pair("algorithm", p.all.algorithm != usual.algorithm),
                                       {"init_method", p.all.init_method != usual.init_method},
                                       {"update", p.all.update.is_given()},
                                       {"drop_fraction", p.all.drop_fraction.is_given()},
                                       {"param_filter", !p.all.param_filter.words.empty()},
                                       {"balance_in_groups", p.all.balance_in_groups != 0},
                                       {"balance_out_groups", p.all.balance_out_groups != 0},
                                       {"mask_seed", p.all.seed >= 0},
                                       {"sparsify_checkpoint", p.sparsify_checkpoint && p.groups.empty()}})
    if (const field& x = *f.named(std::string("sparsity.") + name).front(); is_given)
      refuse(x.given,
             fmt::format("sparsity.{} {} {}", name, x.text(),
                         p.groups.empty() ? "is of sparse weights, and sparsity is missing: give the share "
                                            "of weights that are zero, such as --sparsity 0.75, or leave it "
                                            "out"
                                          : "stands beside a list of groups, each of which has its own: "
                                            "give it in them"));
}

}  // namespace

ml::sparsity_settings sparsity_params::settings() const {
  ml::sparsity_settings s;
  if (all.sparsity.is_given()) s.groups.push_back(group_of(all));
  for (const sparsity_part& p : groups) s.groups.push_back(group_of(p));
  return s;
}

void declare_sparsity(fields& f, sparsity_params& p) {
  f.section("sparsity");
  f.short_forms("sparsity", "sparsity_groups", "sparsity");
  f.add("sparsity", p.all.sparsity,
        "the share of weights that are zero, and are neither sent, multiplied nor updated; of gmp, and where "
        "wanted "
        "of rigl and set, a schedule: {type: exp, init: 0, gamma: -0.001, final: 0.9}; null: all are dense");
  f.add(
       "algorithm", p.all.algorithm,
       "how the pattern of the nonzeros changes: not at all, or by weights and gradients (rigl), weights and "
       "chance (set), or weights alone (gmp)")
      .one_of(sparsity_algorithms())
      .once_called("type");
  f.add("init_method", p.all.init_method, "the first pattern").one_of(sparsity_init_methods());
  f.add("update", p.all.update, "when it changes; null: after each step");
  f.add("drop_fraction", p.all.drop_fraction,
        "of rigl and set: the share of nonzeros that an update drops, a number or a schedule; null: 0.3");
  f.add("param_filter", p.all.param_filter,
        "which parameters are sparse: patterns of their names, here or in the Model Zoo, such as "
        "'*linear_layer.weight', or names of groups; null: all of linear layers but the head");
  f.add("balance_in_groups", p.all.balance_in_groups,
        "each of so many groups of inputs has the same number of nonzeros; null: they lie anywhere")
      .at_least(1);
  f.add("balance_out_groups", p.all.balance_out_groups, "the same of outputs").at_least(1);
  f.add("mask_seed", p.all.seed, "of random patterns; null: that of runconfig")
      .at_least(0)
      .once_called("seed");
  f.add("sparsity_groups", p.groups,
        "several groups of parameters, each with the fields above; the first that has a "
        "parameter counts")
      .once_called("groups");
  f.add("sparsify_checkpoint", p.sparsify_checkpoint,
        "take weights that come without masks, and make these by init_method; false: refuse such; a run does "
        "not keep it "
        "(of this program)")
      .of_one_command();
  f.no_effect("true or false", {"add_summaries"}, "it only reports");
  f.refuses([&p, &f] {
    p.all.where = f.named("sparsity.sparsity").front()->given;
    require_sparsity(f, p), p.settings();
  });
}

std::vector<std::string> names_in_zoo(const std::string& ours, const std::string& module) {
  int layer = 0, end = 0;
  if (std::sscanf(ours.c_str(), "layer %d %n", &layer, &end) != 1 || end == 0) return {};
  const std::string what = ours.substr(static_cast<std::size_t>(end)),
                    before = fmt::format("{}.layers.{}.", module, layer);
  const std::size_t dot = what.rfind('.');
  if (dot == what.npos) return {};
  const std::string of = what.substr(0, dot), kind = what.substr(dot);  // ".weight" or ".bias"
  const auto named = [&](std::initializer_list<const char*> modules) {
    std::vector<std::string> all;
    for (const char* m : modules) all.push_back(before + m + kind);
    return all;
  };
  if (of == "qkv")
    return named(
        {"self_attn.proj_q_dense_layer", "self_attn.proj_k_dense_layer", "self_attn.proj_v_dense_layer"});
  if (of == "projection") return named({"self_attn.proj_output_dense_layer"});
  if (of == "up") return named({"ffn.ffn.0.linear_layer"});
  if (of == "gate") return named({"ffn.ffn.0.linear_layer_for_glu"});
  if (of == "down") return named({"ffn.ffn.1.linear_layer"});
  return {};
}

ml::sparsity_settings sparsity_of(const sparsity_params& p, const ml::network& model,
                                  const std::vector<std::pair<std::string, std::vector<std::string>>>& groups,
                                  const zoo_names& names) {
  ml::sparsity_settings s = p.settings();
  for (sp::group& g : s.groups) {
    std::vector<std::string> chosen;
    for (const std::string& pattern : g.param_filter) {
      const auto named =
          std::find_if(groups.begin(), groups.end(), [&](const auto& x) { return x.first == pattern; });
      const std::vector<std::string> patterns = named == groups.end() ? std::vector{pattern} : named->second;
      bool has_some = false;
      for (const ml::parameter& a : model.parameters()) {
        bool is_chosen = std::any_of(patterns.begin(), patterns.end(),
                                     [&](const std::string& x) { return is_match(x, a.name); });
        const std::vector<std::string> there =
            is_chosen || !names ? std::vector<std::string>{} : names(a.name);
        const auto is_there = [&](const std::string& x) {
          return std::any_of(g.param_filter.begin(), g.param_filter.end(), [&](const std::string& of_filter) {
            return is_match(of_filter, x) || is_match(of_filter, "model." + x);
          });
        };
        if (std::any_of(there.begin(), there.end(), [&](const std::string& x) {
              return is_match(pattern, x) || is_match(pattern, "model." + x);
            })) {
          if (const auto other = std::find_if_not(there.begin(), there.end(), is_there); other != there.end())
            throw std::invalid_argument(
                fmt::format("sparsity.param_filter {} is of a part of {}, which is one parameter here: "
                            "choose {} as well, or "
                            "leave all of it dense",
                            pattern, a.name, *other));
          is_chosen = true;
        }
        if (!is_chosen) continue;
        has_some = true;
        if (std::find(chosen.begin(), chosen.end(), a.name) == chosen.end()) chosen.push_back(a.name);
      }
      if (!has_some)
        throw std::invalid_argument(fmt::format(
            "sparsity.param_filter {} is the name of no parameter: the matrices of this model are {}",
            pattern, fmt::join(matrices_of(model), ", ")));
    }
    g.param_filter = std::move(chosen);
  }
  return s;
}

}  // namespace train_app
