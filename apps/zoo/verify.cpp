// SPDX-License-Identifier: MIT
#include "verify.hpp"

#include <algorithm>
#include <ranks.hpp>
#include <wsl/ml/run/golden_state.hpp>

#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
namespace ranks = train_app::ranks;
using difference = ml::golden_difference;
using wsl::f64;

std::unique_ptr<train_app::machine> machine_for(const train_app::run_params& r, ml::network model,
                                                const ml::optimizer& rule) {
  if (r.execution_strategy == "pipeline")
    return train_app::pipeline(std::move(model), rule, {.strips = r.strips, .threads = r.threads});
  return ranks::streaming(std::move(model), rule,
                          {.workers = r.workers ? r.workers : 1,
                           .columns = r.workers ? r.columns : 1,
                           .num_csx = r.num_csx,
                           .threads = r.threads});
}

/// How near a comparison is to failing: 1 is its tolerance. A NaN is farthest.
f64 severity(const difference& d) {
  if (std::isnan(d.error)) return HUGE_VAL;
  return d.tolerance > 0 ? d.error / d.tolerance : d.error > 0 ? HUGE_VAL : 0;
}
const difference& worst_of(const std::vector<const difference*>& some) {
  return **std::max_element(some.begin(), some.end(), [](const difference* a, const difference* b) {
    return severity(*a) < severity(*b);
  });
}

/// Prints the line of a kind, if something of it was compared.
void print_kind(const char* name, difference::kind what, const std::vector<difference>& all) {
  std::vector<const difference*> some;
  for (const difference& d : all)
    if (d.what == what) some.push_back(&d);
  if (some.empty()) return;
  const auto holding =
      std::count_if(some.begin(), some.end(), [](const difference* d) { return d->holds(); });
  const difference& worst = worst_of(some);
  if (what == difference::kind::greedy)
    std::printf("%-12s %3td of %3zu equal%s%s\n", name, holding, some.size(),
                worst.holds() ? "" : ", the first that differs is ", worst.holds() ? "" : worst.name.c_str());
  else
    std::printf("%-12s %3td of %3zu within %g, worst %.2e (%s)\n", name, holding, some.size(),
                worst.tolerance, worst.error, worst.name.c_str());
}

}  // namespace

bool verify(const std::string& folder, const train_app::run_params& on) {
  ml::pretrained model = read_folder(folder);
  ml::golden_state golden = ml::golden_state::of_folder(folder);
  const ml::golden_comparison found = ml::compare_with_golden(
      model, golden,
      [&](ml::network n, const ml::optimizer& rule) { return machine_for(on, std::move(n), rule); });
  using enum difference::kind;
  print_kind("logits", logits, found.all), print_kind("loss", loss, found.all);
  print_kind("gradients", gradient, found.all), print_kind("losses_adamw", losses_adamw, found.all);
  print_kind("greedy", greedy, found.all);
  for (const std::string& what : found.left_out) std::printf("not compared: %s\n", what.c_str());
  if (found.all.empty())
    throw ml::file_error(golden.name() +
                         " has a batch, and nothing to compare with: give another golden state");
  std::vector<const difference*> all;
  for (const difference& d : found.all) all.push_back(&d);
  const auto holding = std::count_if(all.begin(), all.end(), [](const difference* d) { return d->holds(); });
  const difference& worst = worst_of(all);
  std::printf("verify: %td of %zu within %g, worst %.2e\n", holding, all.size(), worst.tolerance,
              worst.error);
  return holding == static_cast<std::ptrdiff_t>(all.size());
}

}  // namespace zoo_app
