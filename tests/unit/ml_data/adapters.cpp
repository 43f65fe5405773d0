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

/// A tensor by its name.
const hugging_face::tensor& named(const std::vector<hugging_face::tensor>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

/// The largest difference, in proportion to the largest number that is right.
f64 error_of(const std::vector<f32>& x, const std::vector<f64>& right) {
  REQUIRE(x.size() == right.size());
  f64 off = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    off = std::max(off, std::abs(static_cast<f64>(x[i]) - right[i])),
    size = std::max(size, std::abs(right[i]));
  return off / size;
}

/// What peft says of one layer's adapter, told without patterns.
struct expected_adapter {
  const char* layer;
  int rank;
  f64 alpha;
};

// The merged weights are W + s B A, and with G, the gradient of W, those of A and B are s B^T G and s G A^T:
// computed here in f64, from tensors in the names and shapes of peft.
TEST_CASE("Adapters have ranks and alphas that differ from layer to layer") {
  const decoder d{.vocabulary = 20,
                  .positions = 8,
                  .layers = 2,
                  .heads = 4,
                  .width = 16,
                  .filter = 24,
                  .bias = false,
                  .between = nonlinearity::swiglu,
                  .kv_heads = 2,
                  .norm = normalization::rmsnorm,
                  .position = positioning::rotary,
                  .tied = false};
  const std::string family = "llama";
  lora_settings lora{.rank = 2, .alpha = 4, .targets = {"down_proj", "k_proj", "q_proj", "v_proj"}};
  // The first that fits is taken: in alphabetical order it would be the other one.
  lora.rank_pattern = {{"layers.1.self_attn.q_proj", 3}, {"(k|q)_proj", 1}};
  lora.alpha_pattern = {{"v_proj", 6.f}, {R"(^model\.layers\.\d\.mlp\.down_proj)", 1.5f}};
  const expected_adapter all[]{{"0.self_attn.q_proj", 1, 4}, {"0.self_attn.k_proj", 1, 4},
                               {"0.self_attn.v_proj", 2, 6}, {"0.mlp.down_proj", 2, 1.5},
                               {"1.self_attn.q_proj", 3, 4}, {"1.self_attn.k_proj", 1, 4},
                               {"1.self_attn.v_proj", 2, 6}, {"1.mlp.down_proj", 2, 1.5}};
  const network plain = d.build();
  const weights base(plain, 5);
  const std::vector<hugging_face::tensor> of_base = hugging_face_tensors(family, d, plain, base);
  const std::vector<i32> ids{1, 2, 3, 4, 5, 6, 7, 8, 8, 1, 8, 2, 8, 3, 8, 4},
      targets{2, 3, 4, 5, 6, 7, 8, 9, 1, 8, 2, 8, 3, 8, 4, 8};
  const batch b{.ids = ids, .targets = targets, .sequences = 2, .length = 8};
  for (const bool stabilized : {false, true}) {
    lora.rank_stabilized = stabilized;
    const auto build = [&] { return d.build(adapters_of(lora, family, d)); };
    const network n = build();
    weights w = with_adapters(plain, base, n, 3);
    for (const adapter& a : n.adapters())  // which would begin as 0
      initialize(w[static_cast<std::size_t>(a.b)], initial::normal(0.5f), static_cast<u64>(a.b));
    const std::vector<hugging_face::tensor> of_adapters = adapter_tensors_of(lora, family, d, n, w);
    CHECK(of_adapters.size() == 2 * std::size(all));

    std::vector<hugging_face::tensor> merged = of_base;
    std::vector<std::vector<f64>> deltas;
    for (const expected_adapter& x : all) {
      const std::string name = fmt::format("model.layers.{}", x.layer), of = "base_model.model." + name;
      const hugging_face::tensor &a = named(of_adapters, of + ".lora_A.weight"),
                                 &bt = named(of_adapters, of + ".lora_B.weight");
      auto& to = const_cast<hugging_face::tensor&>(named(merged, name + ".weight"));
      const auto rank = static_cast<std::size_t>(x.rank), outputs = to.shape[0], inputs = to.shape[1];
      REQUIRE((a.shape == std::vector<u64>{rank, inputs} && bt.shape == std::vector<u64>{outputs, rank}));
      const f64 s = x.alpha / (stabilized ? std::sqrt(static_cast<f64>(rank)) : static_cast<f64>(rank));
      for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) {
          f64 sum = static_cast<f64>(to.numbers[o * inputs + i]);
          for (std::size_t k = 0; k < rank; ++k)
            sum +=
                s * static_cast<f64>(bt.numbers[o * rank + k]) * static_cast<f64>(a.numbers[k * inputs + i]);
          to.numbers[o * inputs + i] = static_cast<f32>(sum);
        }
    }
    const files::folder here;
    write_hugging_face(here / "merged", d, plain, base);
    std::vector<tensor_view> views;
    for (const hugging_face::tensor& t : merged) views.emplace_back(t.name, t.shape, t.numbers);
    write_safetensors(here / "merged/model.safetensors", views);
    pretrained p = read_hugging_face(here / "merged");
    p.config.rotary_pairs = d.rotary_pairs;
    const weights folded = p.to_weights(plain);
    const weights ours = without_adapters(n, w, plain);
    for (std::size_t k = 0; k < folded.size(); ++k) CHECK(relative_error(ours[k], folded[k]) < 1e-6);

    trainer full(d.build(), optimizer::sgd({.momentum = 0.9f}), {.workers = 1});
    full.parameters() = folded;
    const std::vector<f32> logits = full.predict(b);
    full.step(b, 1);
    const auto full_gradients =
        hugging_face_tensors(family, d, full.model(), ml::detail::gradients_after_first_step(full));
    const auto check = [&](auto&& tuned) {
      tuned.parameters() = w;
      CHECK(relative_error(tuned.predict(b), logits) < 1e-5);
      tuned.step(b, 1);
      const auto gradients =
          adapter_tensors_of(lora, family, d, tuned.model(), ml::detail::gradients_after_first_step(tuned));
      for (const expected_adapter& x : all) {
        const std::string name = fmt::format("model.layers.{}", x.layer), of = "base_model.model." + name;
        INFO(name);
        const hugging_face::tensor &a = named(of_adapters, of + ".lora_A.weight"),
                                   &bt = named(of_adapters, of + ".lora_B.weight"),
                                   &g = named(full_gradients, name + ".weight");
        const auto rank = static_cast<std::size_t>(x.rank), outputs = g.shape[0], inputs = g.shape[1];
        const f64 s = x.alpha / (stabilized ? std::sqrt(static_cast<f64>(rank)) : static_cast<f64>(rank));
        std::vector<f64> da(rank * inputs), db(outputs * rank);
        for (std::size_t o = 0; o < outputs; ++o)
          for (std::size_t i = 0; i < inputs; ++i)
            for (std::size_t k = 0; k < rank; ++k) {
              const f64 dw = static_cast<f64>(g.numbers[o * inputs + i]);
              da[k * inputs + i] += s * static_cast<f64>(bt.numbers[o * rank + k]) * dw;
              db[o * rank + k] += s * dw * static_cast<f64>(a.numbers[k * inputs + i]);
            }
        CHECK(error_of(named(gradients, of + ".lora_A.weight").numbers, da) < 2e-5);
        CHECK(error_of(named(gradients, of + ".lora_B.weight").numbers, db) < 2e-5);
      }
    };
    for (const auto& [workers, columns] : {std::pair(1, 1), {4, 2}, {6, 3}})
      check(trainer(build(), optimizer::sgd({.momentum = 0.9f}),
                    {.workers = workers, .columns = columns, .threads = 1}));
    check(pipelined_trainer(build(), optimizer::sgd({.momentum = 0.9f}), {.strips = 3, .threads = 1}));

    write_adapters(here / "adapter", lora, family, d, n, w);
    const lora_settings again = read_lora_settings(here / "adapter");
    CHECK(again.rank_pattern == lora.rank_pattern);
    CHECK(again.alpha_pattern == lora.alpha_pattern);
    CHECK(again.rank_stabilized == stabilized);
    weights read(n);
    read_adapters(here / "adapter", again, family, d, n, read);
    const std::vector<hugging_face::tensor> as_read = adapter_tensors_of(again, family, d, n, read);
    for (std::size_t k = 0; k < as_read.size(); ++k) {
      INFO(as_read[k].name);
      CHECK((as_read[k].name == of_adapters[k].name && as_read[k].numbers == of_adapters[k].numbers));
    }
  }
  const auto refused = [&](auto change) {
    lora_settings other = lora;
    change(other);
    return files::refusal<std::invalid_argument>([&] { adapters_of(other, family, d); });
  };
  CHECK_THAT(refused([](lora_settings& x) { x.rank_pattern = {{"o_proj", 3}}; }),
             Contains("rank_pattern has o_proj, and no layer with an adapter is called so"));
  CHECK_THAT(refused([](lora_settings& x) { x.alpha_pattern = {{"proj", 3.f}}; }),
             Contains("alpha_pattern has proj, and no layer with an adapter is called so"));
  CHECK_THAT(refused([](lora_settings& x) { x.rank_pattern = {{"(?i)Q_PROJ", 3}}; }),
             Contains("has (?, which is not known here"));
  CHECK_THAT(refused([](lora_settings& x) { x.rank_pattern = {{"(q", 3}}; }),
             Contains("'(q' is neither the end of a layer's name nor a regular expression"));
  CHECK_THAT(files::refusal<std::invalid_argument>([&] {
               d.build(adapters_of(
                   [&] {
                     lora_settings other = lora;
                     other.rank_pattern = {{"q_proj", 0}};
                     return other;
                   }(),
                   family, d));
             }),
             Contains("adapters have a rank of at least 1 and a finite alpha, not 0 and"));
  CHECK_THAT(files::refusal<std::invalid_argument>([&] {
               d.build({.rank = 2, .layers = {{"layer * qkv", {{0, 4}}}, {"layer 1 qkv", {{2, 4}}, 1}}});
             }),
             Contains("output 2 of layer 1 qkv has two adapters"));
}

TEST_CASE("Adapters are for layers by expressions and by numbers") {
  const files::folder here;
  const decoder d{.vocabulary = 11,
                  .positions = 8,
                  .layers = 12,
                  .heads = 2,
                  .width = 8,
                  .bias = false,
                  .between = nonlinearity::swiglu,
                  .norm = normalization::rmsnorm,
                  .position = positioning::rotary,
                  .tied = false};
  const auto names = [&](const std::string& fields) {
    std::vector<std::string> all;
    for (const auto& x : hugging_face::adapted_modules(with_fields(here, fields), "llama", d))
      all.push_back(x.name);
    std::sort(all.begin(), all.end());
    return all;
  };
  using list = std::vector<std::string>;
  const list of_1_and_11{"model.layers.1.self_attn.q_proj", "model.layers.11.self_attn.q_proj"};
  CHECK(names(R"("target_modules": "model\\.layers\\.(1|11)\\.self_attn\\.q_proj")") == of_1_and_11);
  CHECK(names(R"("target_modules": ["q_proj"], "layers_to_transform": [1, 11])") == of_1_and_11);
  CHECK(names(R"("target_modules": ["self_attn.q_proj"], "layers_to_transform": [1, 11],
                 "layers_pattern": "layers")") == of_1_and_11);
  CHECK(names(R"("target_modules": ["q_proj", "up_proj"], "layers_to_transform": 2)") ==
        list{"model.layers.2.mlp.up_proj", "model.layers.2.self_attn.q_proj"});
  CHECK(names(R"("target_modules": "all-linear", "layers_to_transform": [0])").size() == 7);
  CHECK_THAT(files::refusal<std::invalid_argument>(
                 [&] { names(R"("target_modules": ["q_proj"], "layers_to_transform": [12])"); }),
             Contains("which llama has not"));

  // peft takes every word of a list for a name, so expressions are written as the names that they fit.
  const lora_settings how = with_fields(here, R"("target_modules": ".*\\.1\\..*[qv]_proj")");
  const network n = d.build(adapters_of(how, "llama", d));
  write_adapters(here / "out", how, "llama", d, n, weights(n));
  CHECK(read_lora_settings(here / "out").targets ==
        list{"model.layers.1.self_attn.q_proj", "model.layers.1.self_attn.v_proj"});
}

TEST_CASE("Adapters that are something else are refused") {
  const files::folder here;
  const std::string targets = R"("target_modules": ["q_proj"])";
  CHECK(with_fields(here, targets).targets == std::vector<std::string>{"q_proj"});
  CHECK(with_fields(here, R"("target_modules": "all-linear")").targets.front() == "all-linear");
  const std::pair<const char*, const char*> all[]{
      {R"("use_dora": true)", "'use_dora' is true; only false is known here"},
      {R"("bias": "all")", "'bias' is \"all\", so biases have been trained beside the adapters"},
      {R"("bias": "lora_only")", "merge them into the model with peft"},
      {R"("rank_pattern": {"q": 0})", "'rank_pattern': 'q' should be a whole number from 1 to 2^24, not 0"},
      {R"("rank_pattern": {"q": 1.5})", "'rank_pattern': 'q' should be a whole number"},
      {R"("rank_pattern": [4])", "'rank_pattern' should be an object, not [4]"},
      {R"("alpha_pattern": {"q": -1})", "'alpha_pattern': 'q' should be a number above 0"},
      {R"("rank_pattern": {"[q": 1})", "'[q' is neither the end of a layer's name nor a regular expression"},
      {R"("lora_dropout": 1)", "'lora_dropout' should be below 1, not 1"},
      {R"("modules_to_save": ["lm_head"])",
       "'modules_to_save' is [\"lm_head\"], so these layers have been trained as a whole"}};
  for (const auto& [field, sentence] : all)
    CHECK_THAT(files::refusal([&] { with_fields(here, targets + ", " + field); }), Contains(sentence));
  CHECK_THAT(files::refusal([&] { with_fields(here, R"("target_modules": "q_proj")"); }),
             Contains("known are a list of names, a regular expression"));
  CHECK_THAT(files::refusal([&] { with_fields(here, targets + R"(, "layers_to_transform": ["a"])"); }),
             Contains("'layers_to_transform' is [\"a\"], and should be the numbers of layers"));
  CHECK_THAT(files::refusal([&] { with_fields(here, targets + R"(, "layers_pattern": "layers")"); }),
             Contains("'layers_pattern' is \"layers\" without layers_to_transform"));
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
