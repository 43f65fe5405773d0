// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/run/coordinate_check.hpp>
#include <wsl/support/line_chart.hpp>

#include "../files.hpp"
#include "studies.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
using wsl::i64;

/// The largest exponent with which sizes may grow with the width: it is near 0 with muP, and without from
/// 0.5, of logits, to 2, of the outputs of blocks.
constexpr f64 bound = 0.25;
constexpr ml::coordinate::kind kinds[] = {ml::coordinate::kind::block, ml::coordinate::kind::scores,
                                          ml::coordinate::kind::logits};

/// The sizes at each width, before the first step and after each.
ml::coordinate_check sizes_of(const options& o, const train_app::task& t,
                              const std::vector<gpt_app::model_params>& models, i64 steps, f64 rate) {
  const train_app::common_params& p = o.common;
  ml::coordinate_check sizes;
  for (const gpt_app::model_params& m : models) {
    ml::decoder d = m.decoder();
    d.packed = o.train.pack_sequences;
    ml::network n = d.build();
    train_app::freeze(n, p.optimizer, t.groups);
    const ml::optimizer rule = train_app::optimizer_for(p.optimizer, n, t.groups);
    const std::unique_ptr<train_app::machine> wafer =
        train_app::ranks::streaming(std::move(n), rule,
                                    {.workers = 1,
                                     .clip_norm = p.optimizer.max_gradient_norm,
                                     .clip_value = p.optimizer.max_gradient_value,
                                     .seed = static_cast<wsl::u64>(p.run.seed),
                                     .threads = p.run.threads,
                                     .precision = p.precision.format(),
                                     .loss_scaling = p.optimizer.loss_scaling(p.precision.format())});
    ml::batches data(t.train, {.size = p.train_input.batch_size,
                               .shuffle = p.train_input.shuffle,
                               .seed = static_cast<wsl::u64>(p.train_input.shuffle_seed)});
    // Sizes are always those of the same batch, so that they change by the weights alone.
    const ml::loaded_batch first = data.next();
    for (i64 step = 0; step <= steps; ++step) {
      if (step > 0) wafer->step(step == 1 ? first.view() : data.next().view(), rate);
      ml::weights w = wafer->run().parameters();
      sizes.add(m.hidden_size, step, coordinates_of(d, wafer->run().model(), w, first.view()));
    }
  }
  return sizes;
}

/// The step of a row with its sizes and its slope.
void print_rows(const char* title, const ml::coordinate_check& sizes, const std::vector<f64>& widths) {
  std::printf("%s\n%-18s %4s", title, "mean |x| of", "step");
  for (const f64 w : widths) std::printf(" %10g", w);
  std::printf("   slope\n");
  std::vector<std::string> names;
  for (const auto& r : sizes.rows())
    if (std::find(names.begin(), names.end(), r.name) == names.end()) names.push_back(r.name);
  for (const std::string& name : names)
    for (const auto& r : sizes.rows()) {
      if (r.name != name) continue;
      std::printf("%-18s %4lld", name.c_str(), static_cast<long long>(r.step));
      for (const f64 x : r.sizes) std::printf(" %10.4g", x);
      std::printf(" %7.2f\n", r.slope());
    }
}

void add_lines(wsl::support::line_chart& chart, const ml::coordinate_check& sizes, i64 step,
               const char* words, bool is_dashed) {
  for (const auto& r : sizes.rows()) {
    if (r.step != step) continue;
    auto& line = chart.lines.emplace_back();
    line.name = r.name + words, line.is_dashed = is_dashed;
    for (std::size_t k = 0; k < r.widths.size(); ++k) line.points.emplace_back(r.widths[k], r.sizes[k]);
  }
}

}  // namespace

int check_coordinates(train_app::fields& f, options& o) {
  const grid_options g = o.grid;
  require_grid_of_runs(f, o, "coord_check");
  require_any_width(o, "coord_check");
  if (o.common.sparsity.are_given())
    throw std::invalid_argument(
        "sparsity: coord_check trains dense weights: leave this section of the params out, and check the "
        "dense model");
  const std::string folder = o.common.run.model_dir;
  if (const std::string table = folder + "/coord_check.csv"; std::filesystem::exists(table))
    throw std::invalid_argument(
        table + " is there already, and nothing is written over it: give another --model_dir");
  const gpt_app::model_params asked = o.model;
  std::vector<f64> widths = numbers_of(g.widths, "widths", true);
  if (widths.empty()) widths = {64, 128, 256, 512};
  if (widths.size() < 2)
    throw std::invalid_argument("--widths has one width, and coord_check compares several: give more");
  const f64 peak = peak_rate(o.common.optimizer, std::max<i64>(o.common.run.max_steps, g.check_steps));
  const train_app::task t = gpt_app::task_of("wsl-zoo", o, true);
  gpt_app::model_params m = o.model;
  m.hidden_size = asked.hidden_size;
  const int base =
      asked.mup.is_given() ? static_cast<int>(asked.mup.base_hidden_size) : static_cast<int>(widths.front());
  std::vector<gpt_app::model_params> with, without;
  for (const f64 w : widths) {
    const gpt_app::model_params at = at_width(m, static_cast<int>(w));
    with.push_back(with_mup_from(at, base)), without.push_back(without_mup(at));
  }
  std::printf("%s; widths from %g to %g, %lld steps at a learning rate of %g\n", t.data_words.c_str(),
              widths.front(), widths.back(), static_cast<long long>(g.check_steps), peak);
  const ml::coordinate_check mup = sizes_of(o, t, with, g.check_steps, peak),
                             standard = sizes_of(o, t, without, g.check_steps, peak);
  print_rows(fmt::format("with muP, base width {}", base).c_str(), mup, widths);
  print_rows("without muP", standard, widths);

  app::make_folder(folder);
  std::string table = "parametrization,name,step,width,size\n";
  for (const auto& [name, of] : {std::pair("mup", &mup), {"standard", &standard}})
    for (const auto& r : of->rows())
      for (std::size_t k = 0; k < r.widths.size(); ++k)
        table += fmt::format("{},{},{},{},{}\n", name, r.name, r.step, r.widths[k], r.sizes[k]);
  app::write_file(folder + "/coord_check.csv", table);
  wsl::support::line_chart chart;
  chart.title = fmt::format("mean |x| after {} steps; dashed: without muP", g.check_steps);
  chart.x = {"width", true}, chart.y = {"mean |x|", true};
  add_lines(chart, mup, g.check_steps, "", false),
      add_lines(chart, standard, g.check_steps, ", without", true);
  app::write_file(folder + "/coord_check.svg", chart.svg());

  const auto is_stable = [](const ml::coordinate_check& of) {
    return std::ranges::all_of(kinds, [&](ml::coordinate::kind k) { return of.growth(k, 1) <= bound; });
  };
  const auto in_words = [&](const ml::coordinate_check& of) {
    return fmt::format(
        "{}stable (outputs of blocks grow with the power {:.2f} of the width, scores {:.2f}, logits {:.2f})",
        is_stable(of) ? "" : "not ", of.growth(kinds[0], 1), of.growth(kinds[1], 1), of.growth(kinds[2], 1));
  };
  std::printf("coord_check: with muP sizes are %s, without %s; the bound is %g\n", in_words(mup).c_str(),
              in_words(standard).c_str(), bound);
  return is_stable(mup) ? 0 : 1;
}

}  // namespace zoo_app
