// SPDX-License-Identifier: MIT
// Learning from preferences beside what transformers compute, and what is refused.
#include <wsl/ml/io/hugging_face/reward.hpp>
#include <wsl/ml/model/preference.hpp>
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

const decoder of_gpt2{.vocabulary = 11,
                      .positions = 6,
                      .layers = 2,
                      .heads = 2,
                      .width = 8,
                      .between = nonlinearity::gelu_tanh};
decoder of_llama() {
  decoder d{
      .vocabulary = 11, .positions = 6, .layers = 2, .heads = 2, .width = 8, .between = nonlinearity::swiglu};
  d.filter = 12, d.kv_heads = 1, d.norm = normalization::rmsnorm, d.bias = false, d.tied = false;
  d.position = positioning::rotary, d.rotary_pairs = pairs::neighbours;
  return d;
}

TEST_CASE("Reward models go through the files of transformers and back") {
  for (const auto& [d, type, name, last_norm] :
       {std::tuple(of_gpt2, "gpt2", "GPT2ForSequenceClassification", "transformer.ln_f.weight"),
        {of_llama(), "llama", "LlamaForSequenceClassification", "model.norm.weight"}}) {
    INFO(type);
    const files::folder here;
    const network n = reward_model{d}.build();
    const weights w(n, 7);
    write_reward_model(here / "a", d, n, w, 3, {.model_type = type});
    const hugging_face::config_file config(here / "a/config.json");
    CHECK(config.fields()["architectures"][0] == name);
    CHECK(config.fields()["id2label"].size() == 1);
    CHECK(config.fields()["pad_token_id"] == 3);
    const safetensors_file tensors(here / "a/model.safetensors");
    CHECK(tensors.find("score.weight")->shape == std::vector<u64>{1, 8});
    CHECK(tensors.find(last_norm));
    CHECK(!tensors.find("lm_head.weight"));
    CHECK(is_reward_model(here / "a"));
    pretrained_reward_model p = read_reward_model(here / "a");
    CHECK(p.padding == 3);
    p.config.rotary_pairs = d.rotary_pairs;
    CHECK(hugging_face::difference(p.config, d).empty());
    const weights back = p.to_weights(reward_model{p.config}.build());
    for (std::size_t k = 0; k < w.size(); ++k) {
      INFO(n.parameters()[k].name);
      const bool same = back[k] == w[k];
      CHECK(same);
    }
  }
}

TEST_CASE("What is no reward model is refused") {
  const files::folder here;
  const network n = reward_model{of_llama()}.build();
  const weights w(n, 7);
  const auto with = [&](const char* what, const char* other) {
    write_reward_model(here / "a", of_llama(), n, w, 3, {.model_type = "llama"});
    std::string text = read_whole(here / "a/config.json");
    text.replace(text.find(what), std::string(what).size(), other);
    files::write(here / "a/config.json", text);
  };
  with("\"0\": \"LABEL_0\"", "\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"");
  CHECK_THAT(files::refusal([&] { read_reward_model(here / "a"); }), Contains("the model has 2 classes"));
  with("\"hidden_size\": 8", "\"hidden_size\": 16");
  CHECK_THAT(files::refusal([&] {
               const pretrained_reward_model p = read_reward_model(here / "a");
               p.to_weights(reward_model{p.config}.build());
             }),
             Contains("(11, 8)"));
  with("LlamaForSequenceClassification", "LlamaForCausalLM");
  CHECK(!is_reward_model(here / "a"));
  CHECK_THAT(files::refusal([&] { read_hugging_face(here / "a").to_weights(of_llama().build()); }),
             Contains("lm_head.weight"));
  decoder codegen = of_llama();
  CHECK_THROWS_WITH(write_reward_model(here / "b", codegen, n, w, 3, {.model_type = "codegen"}),
                    Contains("does not have this model"));
  CHECK(hugging_face::class_of_scores(hugging_face::codegen).empty());
  CHECK(hugging_face::class_of_scores(hugging_face::opt) == "OPTForSequenceClassification");
}
}  // namespace
