// SPDX-License-Identifier: MIT
// Learning from preferences beside what transformers compute, and what is refused.
#include <wsl/ml/run/golden_state.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

struct machine : trainer {
  using trainer::trainer;
  trainer_base& run() { return *this; }
};
auto on(const streaming_settings& how) {
  return
      [how](network n, const optimizer& rule) { return std::make_unique<machine>(std::move(n), rule, how); };
}

TEST_CASE("Preferences are learned as in PyTorch") {
  const auto folder = files::data_set("hf/dpo");
  if (!folder) return;
  for (const auto& [workers, columns, wafers] :
       {std::tuple(1, 1, 1), {4, 1, 1}, {4, 2, 1}, {6, 3, 1}, {2, 1, 3}}) {
    INFO(workers << " workers in " << columns << " columns on " << wafers << " wafers");
    pretrained policy = read_hugging_face(*folder + "/policy"),
               reference = read_hugging_face(*folder + "/reference");
    golden_state g = golden_state::of_preferences(*folder + "/golden.safetensors");
    const golden_comparison found =
        compare_with_golden(policy, reference, g, {.beta = 0.1f},
                            on({.workers = workers, .columns = columns, .num_csx = wafers, .threads = 1}));
    CHECK(found.all.size() == 2 + 1 + 21 + 11);  // log-probabilities of both, loss, gradients, steps
    CHECK(found.left_out.size() == 1);           // greedy
    for (const golden_difference& d : found.all) {
      INFO(d.name << ": " << d.error);
      CHECK(d.error <= d.tolerance);
    }
  }
}

TEST_CASE("Another loss, another beta or another reference is not the golden one") {
  const auto folder = files::data_set("hf/dpo");
  if (!folder) return;
  pretrained policy = read_hugging_face(*folder + "/policy");
  const auto fails = [&](const std::string& of_reference, const preference_loss_settings& how) {
    pretrained reference = read_hugging_face(*folder + of_reference);
    golden_state g = golden_state::of_preferences(*folder + "/golden.safetensors");
    const golden_comparison found = compare_with_golden(policy, reference, g, how, on({.workers = 1}));
    return std::count_if(found.all.begin(), found.all.end(),
                         [](const golden_difference& d) { return !d.holds(); });
  };
  CHECK(fails("/policy", {.beta = 0.1f}) > 20);
  CHECK(fails("/reference", {.beta = 0.11f}) > 20);
  CHECK(fails("/reference", {.kind = preference_kind::hinge, .beta = 0.1f}) > 20);
}

TEST_CASE("A golden state without pairs is refused") {
  const auto folder = files::data_set("hf/dpo");
  if (!folder) return;
  const std::string other = *folder + "/../lora/golden.safetensors";
  CHECK_THAT(files::refusal([&] { golden_state::of_preferences(other); }),
             Contains("there is no tensor 'chosen', so this is no golden state of this model"));
  CHECK_THAT(files::refusal([&] { golden_state(*folder + "/golden.safetensors"); }),
             Contains("there is no tensor 'ids'"));
}
}  // namespace
