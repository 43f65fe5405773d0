// SPDX-License-Identifier: MIT
// Adapters in the files of peft, beside what peft and transformers compute with them, and what is refused.
#include <wsl/ml/io/hugging_face/peft.hpp>
#include <wsl/ml/io/mapped_weights.hpp>
#include <wsl/ml/model/adapters.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/run/golden_state.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

template <class Trainer>
struct machine : Trainer {
  using Trainer::Trainer;
  trainer_base& run() { return *this; }
};

template <class Trainer, class Settings>
void check_adapter(const std::string& folder, const Settings& on) {
  pretrained p = read_hugging_face(folder + "/base");
  golden_state g(folder + "/golden.safetensors");
  const golden_comparison found =
      compare_with_golden(p, folder + "/adapter", g, [&](network n, const optimizer& rule) {
        return std::make_unique<machine<Trainer>>(std::move(n), rule, on);
      });
  CHECK(found.all.size() == 2 + 8 + 11);  // logits and loss, gradients, steps
  CHECK(found.left_out.size() == 1);      // greedy
  for (const golden_difference& d : found.all) {
    INFO(d.name);
    CHECK(d.error <= d.tolerance);
  }
}

TEST_CASE("Adapters compute and learn as in peft") {
  const auto folder = files::data_set("hf/lora");
  if (!folder) return;
  for (const auto& [workers, columns] : {std::pair(1, 1), {4, 1}, {4, 2}, {6, 3}})
    check_adapter<trainer>(*folder, streaming_settings{.workers = workers, .columns = columns, .threads = 1});
  check_adapter<pipelined_trainer>(*folder, pipeline_settings{.strips = 4, .threads = 1});
}

TEST_CASE("Adapters are written as peft reads them") {
  const auto folder = files::data_set("hf/lora");
  if (!folder) return;
  pretrained p = read_hugging_face(*folder + "/base");
  const lora_settings lora = read_lora_settings(*folder + "/adapter");
  CHECK(lora.rank == 4);
  CHECK(lora.alpha == 8);
  CHECK(lora.targets == std::vector<std::string>{"q_proj", "v_proj"});
  const network n = p.config.build(adapters_of(lora, p.model_type(), p.config)), plain = p.config.build();
  weights w = p.to_weights(n, weights(n));
  read_adapters(*folder + "/adapter", lora, p.model_type(), p.config, n, w);
  const files::folder here;
  write_adapters(here / "same", lora, p.model_type(), p.config, n, w);
  CHECK(read_whole(here / "same" + "/adapter_model.safetensors") ==
        read_whole(*folder + "/adapter/adapter_model.safetensors"));
  const lora_settings again = read_lora_settings(here / "same");
  CHECK((again.rank == lora.rank && again.alpha == lora.alpha && again.targets == lora.targets));
  // Folded, the model is one of transformers without peft, and computes the same.
  const golden_state g(*folder + "/golden.safetensors");
  trainer t(p.config.build(), optimizer::sgd(), {.workers = 1});
  t.parameters() = without_adapters(n, w, plain);
  CHECK(relative_error(t.predict(g.inputs()), g.logits) < 1e-5);
}

/// Settings in a file, with some fields in place of others.
lora_settings with_fields(const files::folder& here, const std::string& fields) {
  files::write(here / "adapter_config.json", R"({"peft_type": "LORA", "r": 2, )" + fields + "}");
  return read_lora_settings(here / ".");
}

TEST_CASE("Adapters of every family are for its own layers") {
  decoder d{.vocabulary = 20, .positions = 8, .layers = 2, .heads = 4, .width = 8};
  const auto layers = [&](const std::string& type, std::vector<std::string> targets) {
    return adapters_of({.rank = 2, .targets = std::move(targets)}, type, d);
  };
  const adapter_settings whole = layers("gpt2", {"c_attn", "h.1.mlp.c_fc"});
  CHECK(whole.layers.size() == 3);
  const network n = d.build(whole);
  CHECK(n.adapters().size() == 3);
  const files::folder here;
  weights w(n, 3);
  write_adapters(here / "a", {.rank = 2, .targets = {"c_attn", "h.1.mlp.c_fc"}}, "gpt2", d, n, w);
  weights x(n);
  read_adapters(here / "a", {.rank = 2, .targets = {"c_attn", "h.1.mlp.c_fc"}}, "gpt2", d, n, x);
  for (const adapter& a : n.adapters())
    for (const int k : {a.a, a.b}) CHECK(x[static_cast<std::size_t>(k)] == w[static_cast<std::size_t>(k)]);
  CHECK(layers("gpt2", {"all-linear"}).layers.size() == 4 * 2);
  CHECK_THAT(
      files::refusal<std::invalid_argument>([&] { layers("gpt2", {"q_proj"}); }),
      Contains("adapters are for q_proj, which gpt2 has not: its linear layers are c_attn, c_fc, c_proj"));
  CHECK_THAT(files::refusal<std::invalid_argument>([&] { layers("gpt2", {}); }),
             Contains("adapters are for no layer"));
}

TEST_CASE(
    "Adapters begin with the checkpoint of their model, and frozen parameters have no averages in one") {
  const decoder d{.vocabulary = 20, .positions = 8, .layers = 1, .heads = 2, .width = 8};
  const adapter_settings with{.rank = 2, .layers = {{"layer * qkv"}}};
  const files::folder here;
  const checkpoints saved(here / "run");
  trainer base(d.build(), optimizer::adam(), {.workers = 1, .seed = 7});
  const std::string of_base = save_checkpoint(saved, base);
  const optimizer rule = optimizer::adam().with_average({.decay = 0.5f});
  trainer t(d.build(with), rule, {.workers = 1, .seed = 3});
  const weights drawn = t.parameters();
  load_weights(of_base, t);
  CHECK(checkpoint(of_base).tensors().size() > base.model().parameters().size());  // with what Adam keeps
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    const std::string& name = t.model().parameters()[k].name;
    INFO(name);
    const auto now = t.parameter_named(name);
    if (name.find("lora_") != name.npos) CHECK(std::equal(now.begin(), now.end(), drawn[k].begin()));
    else {
      const auto from = base.parameter_named(name);
      CHECK(std::equal(now.begin(), now.end(), from.begin(), from.end()));
    }
  }
  // The adapters of a checkpoint are taken, too; a model without them is another one.
  const std::vector<i32> ids{1, 2, 3, 4, 5, 6, 7, 8}, targets{2, 3, 4, 5, 6, 7, 8, 9};
  // After the first step the average is the weights.
  for (int k = 0; k < 2; ++k) t.step({.ids = ids, .targets = targets, .sequences = 1, .length = 8}, 0.1);
  const std::string of_adapters = save_checkpoint(saved, t);
  trainer again(d.build(with), optimizer::sgd(), {.workers = 1});
  load_weights(of_adapters, again);
  const adapter& a = t.model().adapters().front();
  for (const int k : {a.a, a.b}) {
    const auto theirs = t.parameters()[static_cast<std::size_t>(k)],
               ours = again.parameters()[static_cast<std::size_t>(k)];
    CHECK(std::equal(ours.begin(), ours.end(), theirs.begin()));
  }
  CHECK_THAT(files::refusal([&] { load_weights(of_adapters, base); }), Contains("lora_A.weight"));
  const stored_weights averages = mapped_weights(of_adapters, t.model(), "/ema");
  for (std::size_t k = 0; k < averages.size(); ++k) {
    const bool is_average = !t.model().parameters()[k].frozen;
    const auto now = t.parameters()[k];
    const auto* const there = static_cast<const f32*>(averages[k].runs.front().first);
    INFO(averages[k].name);
    CHECK(std::equal(now.begin(), now.end(), there) == !is_average);
  }
}

TEST_CASE("Adapters that are something else are refused") {
  const files::folder here;
  const std::string targets = R"("target_modules": ["q_proj"])";
  CHECK(with_fields(here, targets).targets == std::vector<std::string>{"q_proj"});
  CHECK(with_fields(here, R"("target_modules": "all-linear")").targets.front() == "all-linear");
  const std::pair<const char*, const char*> all[]{
      {R"("use_dora": true)", "'use_dora' is true; only false is known here"},
      {R"("bias": "all")", "'bias' is \"all\"; only \"none\" is known here"},
      {R"("rank_pattern": {"q": 4})", "'rank_pattern' is"},
      {R"("lora_dropout": 1)", "'lora_dropout' should be below 1, not 1"},
      {R"("modules_to_save": ["lm_head"])", "'modules_to_save' is"}};
  for (const auto& [field, sentence] : all)
    CHECK_THAT(files::refusal([&] { with_fields(here, targets + ", " + field); }), Contains(sentence));
  CHECK_THAT(files::refusal([&] { with_fields(here, R"("target_modules": ".*q_proj")"); }),
             Contains("known are a list of names"));
  const auto folder = files::data_set("hf/lora");
  if (!folder) return;
  pretrained p = read_hugging_face(*folder + "/base");
  const lora_settings other{.rank = 4, .alpha = 8, .targets = {"q_proj"}};
  const network n = p.config.build(adapters_of(other, p.model_type(), p.config));
  weights w(n);
  CHECK_THAT(
      files::refusal([&] { read_adapters(*folder + "/adapter", other, p.model_type(), p.config, n, w); }),
      Contains("self_attn.v_proj.lora_A.weight' for which there is no place"));
}
}  // namespace
