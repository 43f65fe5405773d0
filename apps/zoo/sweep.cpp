// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <wsl/support/line_chart.hpp>

#include "../files.hpp"
#include "studies.hpp"

namespace zoo_app {
namespace {

/// The runs of a width and a learning rate; a mean over the seeds that have ended.
struct cell {
  f64 width, rate;
  std::vector<std::size_t> runs = {};

  f64 mean(const trials& of) const {
    f64 sum = 0;
    int n = 0;
    for (const std::size_t k : runs)
      if (const auto loss = of.loss(k)) sum += *loss, ++n;
    return n ? sum / n : std::numeric_limits<f64>::quiet_NaN();
  }
};

std::string shown(f64 loss) {
  return std::isnan(loss) ? "-" : loss == trials::diverged ? "diverged" : fmt::format("{:.4f}", loss);
}

/// Throws std::invalid_argument for a model that cannot be, whatever the data say of its vocabulary and
/// sequences.
void require_possible(gpt_app::model_params m) {
  m.vocab_size = std::max(1, m.vocab_size),
  m.max_position_embeddings = std::max(1, m.max_position_embeddings);
  m.decoder();
}

/// The cell of a width with the least loss; none if no run has ended with a finite one.
const cell* best_of(const std::vector<cell>& cells, f64 width, const trials& of) {
  const cell* best = nullptr;
  for (const cell& c : cells)
    if (c.width == width && std::isfinite(c.mean(of)) && (!best || c.mean(of) < best->mean(of))) best = &c;
  return best;
}

void print_table(const std::vector<cell>& cells, const std::vector<f64>& widths,
                 const std::vector<f64>& rates, const trials& of) {
  std::printf("%8s", "width");
  for (const f64 r : rates) std::printf(" %10s", fmt::format("{:.6g}", r).c_str());
  std::printf("   best\n");
  for (const f64 w : widths) {
    std::printf("%8g", w);
    for (const cell& c : cells)
      if (c.width == w) std::printf(" %10s", shown(c.mean(of)).c_str());
    const cell* best = best_of(cells, w, of);
    const bool is_last =
        best && rates.size() > 1 && (best->rate == rates.front() || best->rate == rates.back());
    std::printf("   %s%s\n", best ? fmt::format("{:.6g}", best->rate).c_str() : "-",
                is_last ? "  the end of the grid: a better one may lie beyond" : "");
  }
  if (widths.size() < 2 || rates.size() < 2) return;
  const cell *first = best_of(cells, widths.front(), of), *last = best_of(cells, widths.back(), of);
  if (!first || !last) return;
  const auto place = [&](f64 rate) { return std::find(rates.begin(), rates.end(), rate) - rates.begin(); };
  const auto apart = std::abs(place(first->rate) - place(last->rate));
  std::printf(
      "sweep: the best learning rates of width %g, %.6g, and of width %g, %.6g, are %td step%s of the grid "
      "apart\n",
      widths.front(), first->rate, widths.back(), last->rate, apart, apart == 1 ? "" : "s");
}

}  // namespace

int sweep(train_app::fields& f, options& o, const std::string& command) {
  const grid_options g = o.grid;
  require_grid_of_runs(f, o, "sweep");
  train_app::run_params& run = o.common.run;
  if (run.max_steps < 1 || run.num_epochs || run.early_stopping_patience)
    throw std::invalid_argument(
        "sweep compares runs of the same length: give --max_steps, and leave num_epochs and "
        "early_stopping_patience out");
  const std::string folder = run.model_dir;
  const std::vector<f64> asked_widths = numbers_of(g.widths, "widths", true),
                         asked_rates = numbers_of(g.learning_rates, "learning_rates", false),
                         asked_seeds = numbers_of(g.seeds, "seeds", true);
  if (asked_rates.empty() && asked_seeds.empty() && asked_widths.empty())
    throw std::invalid_argument("sweep needs --learning_rates, --seeds or --widths, of which it trains each");
  if (!asked_widths.empty()) require_any_width(o, "sweep --widths");
  if (!asked_seeds.empty())
    for (const char* name : {"seed", "shuffle_seed"})
      for (const train_app::field* x : f.named(name))
        if (x->given.starts_with("--"))
          throw std::invalid_argument(fmt::format(
              "{} is one seed, and --seeds gives those of all runs: leave one of the two out", x->given));
  const f64 peak = peak_rate(o.common.optimizer, run.max_steps);
  const std::vector<f64> widths = asked_widths.empty()
                                      ? std::vector<f64>{static_cast<f64>(o.model.hidden_size)}
                                      : asked_widths,
                         rates = asked_rates.empty() ? std::vector{peak} : asked_rates,
                         seeds = asked_seeds.empty() ? std::vector{static_cast<f64>(run.seed)} : asked_seeds;
  std::vector<trial> all;
  std::vector<cell> cells;
  const options before = o;
  for (const f64 w : widths)
    for (const f64 rate : rates) {
      cell& c = cells.emplace_back(cell{w, rate});
      for (const f64 seed : seeds) {
        std::string name;
        const auto add = [&](const char* what, f64 x) {
          name += fmt::format("{}{}_{}", name.empty() ? "" : "_", what, x);
        };
        if (!asked_widths.empty()) o.model = at_width(before.model, static_cast<int>(w)), add("width", w);
        if (!asked_rates.empty()) scale_rates(o.common.optimizer.learning_rate, rate / peak), add("lr", rate);
        if (!asked_seeds.empty()) {
          run.seed = o.common.train_input.shuffle_seed = static_cast<wsl::i64>(seed);
          add("seed", seed);
        }
        require_possible(o.model);
        run.model_dir = folder + "/" + name;
        c.runs.push_back(all.size());
        all.push_back({name, f.kept_text(), run.max_steps});
        o = before;
      }
    }
  trials runs(folder, f.kept_text(), std::move(all));
  const bool have_ended = runs.run(g.how, command);
  if (g.how == "slurm") return 0;
  std::string table = "width,learning_rate,seed,loss\n";
  wsl::support::line_chart chart;
  chart.title = fmt::format("held-out loss after {} steps", run.max_steps);
  chart.x = {"largest learning rate", true}, chart.y = {"loss"};
  for (const f64 w : widths) chart.lines.emplace_back().name = fmt::format("width {:g}", w);
  for (const cell& c : cells) {
    for (std::size_t k = 0; k < c.runs.size(); ++k)
      if (const auto loss = runs.loss(c.runs[k]))
        table += fmt::format("{},{},{},{}\n", c.width, c.rate, seeds[k], *loss);
    const auto line = std::find(widths.begin(), widths.end(), c.width) - widths.begin();
    chart.lines[static_cast<std::size_t>(line)].points.emplace_back(c.rate, c.mean(runs));
  }
  print_table(cells, widths, rates, runs);
  if (!have_ended && g.how == "table" && !std::filesystem::is_directory(folder)) return 1;
  app::write_file(folder + "/sweep.csv", table);
  app::write_file(folder + "/sweep.svg", chart.svg());
  return have_ended ? 0 : 1;
}

}  // namespace zoo_app
