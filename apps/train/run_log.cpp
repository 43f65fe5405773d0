// SPDX-License-Identifier: MIT
#include "run_log.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <wsl/ml/run/activation_dump.hpp>
#include <wsl/ml/sparsity/algorithms.hpp>

#include "../files.hpp"
#include "session.hpp"

namespace train_app {

namespace ml = wsl::ml;
using wsl::f64;

namespace {

f64 norm_of(std::span<const wsl::f32> numbers) {
  f64 sum = 0;
  for (const wsl::f32 x : numbers) sum += static_cast<f64>(x) * static_cast<f64>(x);
  return std::sqrt(sum);
}

std::unique_ptr<ml::offline_run> lines_of(const reporting_params& r, const std::filesystem::path& folder,
                                          const std::string& params) {
  if (r.project.empty()) return nullptr;
  return std::make_unique<ml::offline_run>(folder,
                                           ml::offline_run_names{.project = r.project,
                                                                 .group = r.group,
                                                                 .name = r.run_name,
                                                                 .job_type = r.job_type,
                                                                 .id = r.run_id,
                                                                 .tags = r.tags},
                                           params);
}

}  // namespace

bool has_perplexity(const ml::network& n) {
  return n.losses().size() == 1 && !n.losses().front()->targets.empty() && n.vocabulary() > 0 &&
         n.losses().front()->factor == 1 && !n.losses().front()->by_sequences &&
         n.width(n.logits()) == n.vocabulary();
}

std::vector<std::pair<const char*, f64>> named(const ml::preference_metrics& m) {
  return {{"rewards_chosen", m.chosen()},
          {"rewards_rejected", m.rejected()},
          {"rewards_margins", m.margin()},
          {"rewards_accuracies", m.accuracy()},
          {"logps_chosen", m.log_probability_of_chosen()},
          {"logps_rejected", m.log_probability_of_rejected()}};
}

run_log::run_log(const common_params& p, const std::filesystem::path& folder, const std::string& params,
                 bool and_eval)
    : params_(p),
      folder_(folder),
      train_(folder / "train"),
      eval_(and_eval ? std::make_unique<ml::event_file>(folder / "eval") : nullptr),
      lines_(lines_of(p.reports, folder, params)) {
  if (p.reports.activation_steps > 0) app::make_folder(folder_ / "activations");
}

void run_log::scalar(ml::event_file& to, const char* part, const std::string& name, i64 step, f64 value) {
  to.scalar(name, step, value);
  if (lines_) lines_->scalar(fmt::format("{}/{}", part, name), step, value);
}

void run_log::training(const ml::training_loop::progress& x, machine& t,
                       const ml::preference_metrics* pairs) {
  const auto say = [&](const std::string& name, f64 value) { scalar(train_, "train", name, x.step, value); };
  if (pairs)
    for (const auto& [name, value] : named(*pairs)) say(name, value);
  say("loss", x.loss), say("mean_loss", x.mean_loss);
  if (has_perplexity(t.run().model())) say("perplexity", std::exp(x.mean_loss));
  say("lr", x.rate);
  if (t.run().loss_scale_state()) say("loss_scale", t.run().loss_scale());
  say("local_samples_per_sec", x.speed.rate()), say("avg_samples_per_sec", x.speed.global_rate());
  if (params_.sparsity.are_given()) {
    const auto patterns = t.run().patterns();
    for (const auto& [name, group] : t.run().sparse_parameters()) {
      say("sparsity/" + name + "/target",
          static_cast<f64>(ml::sparsity::target_sparsity(group, t.run().updates())));
      say("sparsity/" + name + "/actual", 1 - patterns.at(name).density());
    }
  }
  if (!params_.optimizer.log_summaries && !params_.reports.log_histograms) return;
  const std::vector<ml::parameter>& parameters = t.run().model().parameters();
  const std::vector<f64>& norms = t.run().gradient_norms();
  f64 squares = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const std::span<const wsl::f32> numbers = t.run().parameter_named(parameters[k].name);
    if (params_.reports.log_histograms) train_.histogram("parameters/" + parameters[k].name, x.step, numbers);
    if (!params_.optimizer.log_summaries) continue;
    say("param_norm/" + parameters[k].name, norm_of(numbers));
    if (k >= norms.size() || parameters[k].frozen) continue;
    say("grad_norm/" + parameters[k].name, norms[k]), squares += norms[k] * norms[k];
  }
  if (!norms.empty()) say("grad_norm", std::sqrt(squares));
}

void run_log::evaluation_of(i64 step, const evaluation& e, const ml::network& n) {
  const auto say = [&](const std::string& name, f64 value) { scalar(*eval_, "eval", name, step, value); };
  say("loss", e.loss);
  if (e.accuracy) say("accuracy", *e.accuracy);
  if (e.pairs)
    for (const auto& [name, value] : named(*e.pairs)) say(name, value);
  if (has_perplexity(n)) say("perplexity", std::exp(e.loss));
  if (e.pixels)
    say("mIOU", e.pixels->mean_iou()), say("DSC", e.pixels->dice()),
        say("MPCA", e.pixels->mean_class_accuracy());
  for (std::size_t k = 0; k < e.pictures.size(); ++k) {
    const picture& p = e.pictures[k];
    eval_->image(fmt::format("image, truth and prediction/{}", k), step, p.width, p.height, 1, p.png);
  }
}

bool run_log::keeps_activations(i64 step) const {
  const i64 every = params_.reports.activation_steps;
  return every > 0 && step % every == 0;
}

void run_log::activations(i64 steps, machine& t, const ml::batch& b) const {
  ml::dump_activations((folder_ / "activations" / fmt::format("step_{}.safetensors", steps + 1)).string(),
                       t.run(), b, params_.reports.activation_outputs, {{"step", std::to_string(steps + 1)}});
}

}  // namespace train_app
