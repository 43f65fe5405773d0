// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <wsl/ml/run/power_law.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/support/line_chart.hpp>

#include "../files.hpp"
#include "studies.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::i64;

/// A model of the ladder, and what its training costs.
struct rung {
  int width, layers;
  i64 parameters = 0, steps = 0, tokens = 0;

  /// The operations of training: 6 for each parameter and token, two of them forward and four backward.
  f64 cost() const { return 6 * static_cast<f64>(parameters) * static_cast<f64>(tokens); }
};

rung rung_of(const std::string& word) {
  int width = 0, layers = 0;
  const char *const end = word.data() + word.size(), *at = std::from_chars(word.data(), end, width).ptr;
  if (at != end && *at == 'x') at = std::from_chars(at + 1, end, layers).ptr;
  if (at != end || width < 1 || layers < 1 || layers > 1000)
    throw std::invalid_argument(
        fmt::format("--sizes has '{}': a size is hidden_size x num_hidden_layers, such as 64x4", word));
  return {width, layers};
}

/// The weights of a model that there are: of sparse layers the nonzeros. Throws std::invalid_argument if they
/// are not as many in all steps.
i64 weights_of(const ml::network& n, const train_app::sparsity_params& sparse, const train_app::task& t) {
  if (!sparse.are_given()) return n.parameter_count();
  const ml::sparsity_settings how = train_app::sparsity_of(sparse, n, t.groups, t.names_in_zoo);
  for (const ml::sparsity::group& g : how.groups)
    if (!g.sparsity.is_constant() || !g.starts_sparse())
      throw std::invalid_argument(
          "sparsity: scaling counts the weights of a model, and here they change in training: give one "
          "number, "
          "from the first step on");
  f64 all = 0;
  for (const ml::parameter& p : n.parameters()) all += ml::density_of(p, how) * static_cast<f64>(p.size());
  return std::llround(all);
}

/// A prediction is above the loss by this part of it, in percent.
f64 percent(f64 predicted, f64 loss) { return 100 * (predicted / loss - 1); }

}  // namespace

int fit_scaling_law(train_app::fields& f, options& o, const std::string& command) {
  const grid_options g = o.grid;
  require_grid_of_runs(f, o, "scaling");
  train_app::run_params& run = o.common.run;
  if (g.sizes.words.size() < 4)
    throw std::invalid_argument(
        "scaling needs --sizes of at least 4 models, such as 32x2,48x2,64x3,96x4: the law has three numbers, "
        "and the "
        "largest model is predicted");
  if (run.max_steps < 1 || run.num_epochs || run.early_stopping_patience)
    throw std::invalid_argument(
        "scaling stretches the schedule of --max_steps to the steps of each model: give that, and leave "
        "num_epochs and "
        "early_stopping_patience out");
  const std::string folder = run.model_dir;
  // The vocabulary, and with it the parameters, are those of the data.
  const train_app::task data = gpt_app::task_of("wsl-zoo", o, true);
  const int length = o.train.max_sequence_length;
  const options before = o;
  std::vector<rung> ladder;
  for (const std::string& word : g.sizes.words) {
    rung r = rung_of(word);
    gpt_app::model_params m = at_width(before.model, r.width);
    m.layers = r.layers;
    r.parameters = weights_of(m.decoder().build(), o.common.sparsity, data);
    const f64 of_step = static_cast<f64>(before.common.train_input.batch_size) * length;
    r.steps = static_cast<i64>(std::ceil(g.tokens_per_parameter * static_cast<f64>(r.parameters) / of_step));
    r.tokens = r.steps * before.common.train_input.batch_size * length;
    ladder.push_back(r);
  }
  std::sort(ladder.begin(), ladder.end(), [](const rung& a, const rung& b) { return a.cost() < b.cost(); });
  std::vector<trial> all;
  for (const rung& r : ladder) {
    o.model = at_width(before.model, r.width), o.model.layers = r.layers;
    stretch(o.common.optimizer.learning_rate, before.common.run.max_steps, r.steps);
    run.max_steps = r.steps;
    const std::string name = fmt::format("size_{}x{}", r.width, r.layers);
    if (std::any_of(all.begin(), all.end(), [&](const trial& t) { return t.name == name; }))
      throw std::invalid_argument(
          fmt::format("--sizes has {}x{} twice: leave one of them out", r.width, r.layers));
    run.model_dir = folder + "/" + name;
    all.push_back({name, f.kept_text(), r.steps});
    o = before;
  }
  std::printf("%s\n", data.data_words.c_str());
  trials runs(folder, f.kept_text(), std::move(all));
  const bool have_ended = runs.run(g.how, command);
  if (g.how == "slurm") return 0;
  if (!have_ended) return 1;

  std::vector<f64> costs, losses;
  for (std::size_t k = 0; k < ladder.size(); ++k) {
    costs.push_back(ladder[k].cost()), losses.push_back(*runs.loss(k));
    if (losses.back() == trials::diverged)
      throw std::invalid_argument(fmt::format(
          "the run {} diverged: give a smaller learning rate, and another --model_dir", runs.all()[k].name));
  }
  const std::size_t fitted = costs.size() - 1;
  const ml::power_law law =
                          ml::fit_power_law(std::span(costs).first(fitted), std::span(losses).first(fitted)),
                      of_all = ml::fit_power_law(costs, losses);
  std::string table = "width,layers,parameters,tokens,operations,loss,law\n";
  std::printf("%8s %7s %11s %12s %11s %8s %8s\n", "width", "layers", "parameters", "tokens", "operations",
              "loss", "law");
  for (std::size_t k = 0; k < ladder.size(); ++k) {
    const rung& r = ladder[k];
    table += fmt::format("{},{},{},{},{},{},{}\n", r.width, r.layers, r.parameters, r.tokens, costs[k],
                         losses[k], law(costs[k]));
    std::printf("%8d %7d %11lld %12lld %11.3g %8.4f %8.4f%s\n", r.width, r.layers,
                static_cast<long long>(r.parameters), static_cast<long long>(r.tokens), costs[k], losses[k],
                law(costs[k]), k == fitted ? "  predicted" : "");
  }
  wsl::support::line_chart chart;
  chart.title = "held-out loss of models of several sizes";
  chart.x = {"operations of training", true}, chart.y = {"loss", true};
  auto points = std::vector<std::pair<f64, f64>>();
  for (std::size_t k = 0; k < costs.size(); ++k) points.emplace_back(costs[k], losses[k]);
  chart.lines.push_back({"runs", points});
  for (const auto& [x, name, dashes] :
       {std::tuple(law, "law of all but the largest", false), {of_all, "law of all", true}}) {
    auto& line = chart.lines.emplace_back();
    line.name = name, line.is_dashed = dashes, line.has_dots = false;
    constexpr int parts = 60;
    for (int i = 0; i <= parts; ++i) {
      const f64 at = costs.front() * std::pow(2 * costs.back() / costs.front(), static_cast<f64>(i) / parts);
      line.points.emplace_back(at, x(at));
    }
  }
  app::write_file(folder + "/scaling.csv", table);
  app::write_file(folder + "/scaling.svg", chart.svg());
  std::printf(
      "the law of the %zu smaller models: loss = %.4g C^%.4f + %.4f, which misses them by %.4f (root of the "
      "mean square%s)\n",
      fitted, law.a, law.b, law.c, law.error,
      fitted == 3 ? "; its three numbers fit any three models, so give more to see how well it holds" : "");
  std::printf("the law of all: loss = %.4g C^%.4f + %.4f\n", of_all.a, of_all.b, of_all.c);
  std::printf("scaling: the largest model has a loss of %.4f, and the smaller ones predict %.4f, %+.2f %%\n",
              losses.back(), law(costs.back()), percent(law(costs.back()), losses.back()));
  return 0;
}

}  // namespace zoo_app
