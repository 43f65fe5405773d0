// SPDX-License-Identifier: MIT
#include "text_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranks.hpp>
#include <wsl/ml/train/trainer_base.hpp>

namespace text_app {

namespace ml = wsl::ml;
using namespace train_app;

std::string require_checkpoint(const common_params& p) {
  const std::string from = checkpoint_to_look_at(p.run);
  if (from.empty())
    throw std::invalid_argument(
        fmt::format("there is no checkpoint in {}: train first, or give --checkpoint_path", p.run.model_dir));
  return from;
}

std::unique_ptr<machine> trained(const common_params& p, const task& t) {
  const std::string from = require_checkpoint(p);
  require_same_model(from, t.architecture, p.run.override_model);
  ml::network model = t.model();
  const ml::optimizer rule = optimizer_for(p.optimizer, model, t.groups);
  auto m = ranks::streaming(
      std::move(model), rule,
      {.workers = 1, .threads = p.run.threads, .precision = p.precision.format(), .loss_scaling = 1.});
  train_app::load(from, *m);
  return m;
}

ml::weights weights_of(ml::trainer_base& t) {
  ml::weights w(t.model());
  for (std::size_t k = 0; k < w.size(); ++k) w[k].assign(t.parameters()[k].begin(), t.parameters()[k].end());
  return w;
}
void set_weights(ml::trainer_base& t, const ml::weights& w) {
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
}

void take_model(fields& f, const std::string& folder, const std::function<void()>& set) {
  std::vector<std::pair<field*, std::string>> given;
  for (field& x : f.all())
    if (x.section == "model" && x.given.starts_with("--")) given.emplace_back(&x, x.text());
  set();
  for (const auto& [field, text] : given)
    if (field->text() != text)
      throw std::invalid_argument(
          fmt::format("{} {} is not that of {}, {}: leave it out, or take another folder", field->given, text,
                      folder, field->text()));
}

}  // namespace text_app
