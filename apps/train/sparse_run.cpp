// SPDX-License-Identifier: MIT
#include "sparse_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/sparsity/algorithms.hpp>
#include <wsl/ml/train/sparse_parameters.hpp>
#include <wsl/ml/train/streaming/sparse_tile.hpp>

#include "../memory.hpp"

namespace train_app {

namespace ml = wsl::ml;
namespace sp = wsl::ml::sparsity;
using wsl::f32, wsl::f64, wsl::i64;

sparse_run::sparse_run(ml::network model, const ml::optimizer& rule, ml::sparsity_settings how)
    : model_(std::move(model)), how_(std::move(how)) {
  const auto groups = ml::sparse_groups(model_, ml::updates_of(rule, model_.parameters()), how_);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (!groups[k]) continue;
    const ml::parameter& p = model_.parameters()[k];
    const auto blocks = sp::blocks_of(*groups[k], p.name, p.rows, p.columns);
    all_.push_back({p, *groups[k], static_cast<i64>(blocks.size()), blocks.front().size()});
  }
}

i64 sparse_run::parameter::first_count() const {
  return group.starts_sparse() ? blocks * sp::kept_of(group.sparsity.at(0), size_of_block) : of.size();
}
i64 sparse_run::parameter::after(i64 step, i64 count) const {
  const f32 of_block = static_cast<f32>(count) / static_cast<f32>(blocks);
  return blocks * sp::counts_of_update(group, step, size_of_block, of_block).after();
}

template <class F>
void sparse_run::each_update(const sp::group& g, i64 after, i64 last, F f) {
  const i64 end = g.update.stop ? std::min(last, *g.update.stop) : last;
  for (i64 step = std::max(after + 1, g.update.first()); step <= end; ++step)
    if (sp::updates_at(g, step)) f(step);
}

std::vector<std::string> sparse_run::names() const {
  std::vector<std::string> names;
  for (const parameter& p : all_) names.push_back(p.of.name);
  return names;
}

void sparse_run::require_weights(i64 last) const {
  for (const parameter& p : all_) {
    i64 count = p.first_count();
    each_update(p.group, 0, last, [&](i64 step) {
      if (count = p.after(step, count); count == 0)
        throw std::invalid_argument(fmt::format(
            "sparsity {} leaves none of the {} weights of {} after step {}: have it end below 1{}",
            p.group.sparsity.text(), p.of.size(), p.of.name, step,
            p.group.sparsity.as<sp::exponential>() ? ", such as final: 0.9, which is 1 if nothing is said"
                                                   : ""));
    });
  }
}

void sparse_run::require_same_share(ml::checkpoint& c, i64 step, bool remade) const {
  constexpr f64 off = 0.01;
  const auto there = ml::patterns_in(c, model_);
  for (const parameter& p : all_) {
    const auto pattern = there.find(p.of.name);
    if (pattern == there.end() || !p.group.sparsity.is_constant() ||
        p.group.init_method == sp::init_method::from_zeros)
      continue;
    const f64 is = 1 - pattern->second.density(),
              made = 1 - static_cast<f64>(p.first_count()) / static_cast<f64>(p.of.size());
    bool changes = false;
    each_update(p.group, step, step + 1'000'000, [&](i64) { changes = true; });
    if (changes ||
        std::min(std::abs(is - static_cast<f64>(p.group.sparsity.at(0))), std::abs(is - made)) <= off)
      continue;
    throw std::invalid_argument(
        remade ? fmt::format(
                     "{}: of {} {:.4g} are zero, and sparsify_checkpoint makes masks of weights that have "
                     "none: take a checkpoint of a dense run, or prune this one by --algorithm gmp",
                     c.name(), p.of.name, is)
               : fmt::format(
                     "{}: of {} {:.4g} are zero, and these params want {}, with no update of the pattern "
                     "from step {} on: give --sparsity {:.4g}, or an algorithm with updates",
                     c.name(), p.of.name, is, p.group.sparsity.text(), step, is));
  }
}

std::string sparse_run::words(ml::precision as, i64 first, i64 last, const std::string& checkpoint) const {
  std::map<std::string, wsl::sparse_pattern> there;
  if (!checkpoint.empty()) {
    ml::checkpoint c(checkpoint);
    there = ml::patterns_in(c, model_);
  }
  const auto percent = [](i64 some, i64 of_all) {
    return fmt::format("{:.3g} %", 100 * static_cast<f64>(some) / static_cast<f64>(of_all));
  };
  std::vector<std::string> lines;
  for (const sp::group& g : how_.groups) {
    i64 parameters = 0, weights = 0, kept = 0, left = 0;
    std::size_t words = 0, of_all = 0;
    for (const parameter& p : all_) {
      if (&p.group != &g) continue;
      const auto pattern = there.find(p.of.name);
      const i64 here = pattern == there.end() ? p.first_count() : pattern->second.count();
      words += ml::sparse_tile_form{p.of.rows, p.of.columns, static_cast<std::size_t>(here), true}.words(as);
      of_all += ml::words_of(as, static_cast<std::size_t>(p.of.size()));
      ++parameters, weights += p.of.size(), kept += here;
      i64 count = here;
      each_update(g, first, last, [&](i64 step) { count = p.after(step, count); });
      left += count;
    }
    std::string line = fmt::format(
        "sparsity {} ({}, {}{}): of {} weights in {} parameters ", g.sparsity.text(), name_of(g.algorithm),
        name_of(g.init_method),
        g.starts_sparse() ? "" : fmt::format(", dense until step {}", g.update.first()), weights, parameters);
    if (g.init_method == sp::init_method::from_zeros && g.starts_sparse() && there.empty())
      line += "those that are not zero are there at first";
    else
      line += fmt::format("{} are there {}, {}; a pass sends {} of them, not {}", kept,
                          there.empty() ? "at first" : "in " + checkpoint, percent(kept, weights),
                          app::size_text(4 * static_cast<f64>(words)),
                          app::size_text(4 * static_cast<f64>(of_all)));
    if (g.changes()) {
      i64 updates = 0, from = 0, until = 0;
      each_update(g, first, last, [&](i64 step) { from = updates++ ? from : step, until = step; });
      line += updates ? fmt::format("; {} updates, after the steps {} to {}, leave {}", updates, from, until,
                                    percent(left, weights))
                      : fmt::format("; no update comes until step {}", last);
    }
    lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string sparse_run::makers() const {
  std::vector<std::string> all;
  for (const sp::group& g : how_.groups) {
    std::string one =
        fmt::format("--init_method {} --mask_seed {}", name_of(g.init_method), g.seed.value_or(0));
    if (g.balance_in_groups) one += fmt::format(" --balance_in_groups {}", g.balance_in_groups);
    if (g.balance_out_groups) one += fmt::format(" --balance_out_groups {}", g.balance_out_groups);
    all.push_back(std::move(one));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string sparse_run::text() const {
  std::string all = makers();
  for (const sp::group& g : how_.groups) {
    const sp::updates& u = g.update;
    all += fmt::format("; {} {} drop {} every {} from {} until {} at [{}] of [{}]", name_of(g.algorithm),
                       g.sparsity.text(), g.drop_fraction.text(), u.freq, u.start, u.stop.value_or(-1),
                       fmt::join(u.steps, ", "), fmt::join(g.param_filter, ", "));
  }
  return all;
}

}  // namespace train_app
