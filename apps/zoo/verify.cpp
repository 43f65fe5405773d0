// SPDX-License-Identifier: MIT
#include "verify.hpp"

#include <algorithm>
#include <export.hpp>
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
                          {.workers = r.on.workers ? r.on.workers : 1,
                           .columns = r.on.workers ? r.on.columns : 1,
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

/// Throws wsl::ml::file_error for tokens that the model does not have.
void check_tokens(const ml::golden_state& golden, const ml::network& model) {
  const auto check = [&](const std::string& what, std::span<const wsl::i32> ids, wsl::i32 below,
                         bool may_lack) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if ((ids[i] < 0 && !(may_lack && ids[i] == -100)) || ids[i] >= below)
        throw ml::file_error(golden.name() + ": token " + std::to_string(i) + " of its " + what + " is " +
                             std::to_string(ids[i]) + ", and the model has those from 0 to " +
                             std::to_string(below - 1) + ": it is of another model");
  };
  const ml::batch b = golden.inputs();
  const wsl::i32 vocabulary = model.vocabulary();
  check("input", b.ids, vocabulary, false), check("labels", b.targets, vocabulary, false);
  check("greedy continuation", golden.greedy, vocabulary, false);
  for (const ml::value_info& v : model.values())
    for (const ml::named_numbers& x : b.named)
      if (x.name == v.name) check(v.name, x.ids, v.ids_below, v.ignored.has_value());
}

/// Throws wsl::ml::file_error for a model whose logits are NaN or infinite.
template <class Model>
void check_model(ml::basic_pretrained<Model>& model, const ml::golden_state& golden,
                 const std::string& folder, const train_app::run_params& on) {
  ml::network n = model.config.build();
  const ml::weights w = model.to_weights(n);
  const std::size_t each = static_cast<std::size_t>(n.width(n.logits()));
  const auto machine = machine_for(on, std::move(n), ml::optimizer::sgd());
  gpt_app::set_weights(machine->run(), w);
  const std::vector<wsl::f32> logits = machine->predict(golden.inputs());
  try {
    for (std::size_t at = 0; at < logits.size(); at += each)
      ml::check_logits(std::span(logits).subspan(at, each));
  } catch (const ml::not_finite& e) { throw ml::file_error(folder + ": " + std::string(e.what()).substr(5)); }
}

template <class Model>
std::pair<ml::golden_comparison, std::string> compared(const std::string& folder,
                                                       const train_app::run_params& on) {
  ml::basic_pretrained<Model> model = ml::read_hugging_face<Model>(folder);
  const ml::network n = model.config.build();
  ml::golden_state golden = ml::golden_state::of_folder(folder, n);
  check_tokens(golden, n);
  try {
    return {ml::compare_with_golden(model, golden,
                                    [&](ml::network of, const ml::optimizer& rule) {
                                      return machine_for(on, std::move(of), rule);
                                    }),
            golden.name()};
  } catch (const wsl::fault&) {
    check_model(model, golden, folder, on);  // a step of training knows nothing of files
    throw;
  }
}

}  // namespace

bool verify(const std::string& folder, const train_app::run_params& on) {
  const auto [found, golden] =
      with_kind(folder, [&]<class Model>(std::type_identity<Model>) { return compared<Model>(folder, on); });
  using enum difference::kind;
  print_kind("logits", logits, found.all), print_kind("loss", loss, found.all);
  print_kind("gradients", gradient, found.all), print_kind("losses_adamw", losses_adamw, found.all);
  print_kind("greedy", greedy, found.all);
  for (const std::string& what : found.left_out) std::printf("not compared: %s\n", what.c_str());
  if (found.all.empty())
    throw ml::file_error(golden + " has a batch, and nothing to compare with: give another golden state");
  std::vector<const difference*> all;
  for (const difference& d : found.all) all.push_back(&d);
  const auto holding = std::count_if(all.begin(), all.end(), [](const difference* d) { return d->holds(); });
  const difference& worst = worst_of(all);
  std::printf("verify: %td of %zu within %g, worst %.2e\n", holding, all.size(), worst.tolerance,
              worst.error);
  return holding == static_cast<std::ptrdiff_t>(all.size());
}

}  // namespace zoo_app
