// SPDX-License-Identifier: MIT
// Training beside PyTorch: the tiny models of tests/golden, which are there in every clone. ../../golden/make
// says how they were made; all their numbers were computed in f64 and rounded once, so what differs is the
// rounding of the trainers, which compute in f32.
#include <nlohmann/json.hpp>
#include <wsl/ml/io/llmc.hpp>
#include <wsl/ml/io/safetensors.hpp>
#include <wsl/ml/run/golden_state.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

/// PyTorch's results for a model and a batch.
struct golden {
  decoder config;
  weights parameters, gradients, after;  ///< after: ten steps of AdamW
  std::vector<i32> ids, targets;
  int sequences = 0, length = 0;
  std::vector<f32> logits;
  std::vector<f64> losses;  ///< before each of these steps

  batch all() const { return {.ids = ids, .targets = targets, .sequences = sequences, .length = length}; }
};

std::string path_of(const std::string& name) { return std::string(golden_folder) + "/" + name; }

golden gpt2() {
  const llmc_model m = read_llmc_model(path_of("gpt2/model.bin")),
                   after = read_llmc_model(path_of("gpt2/after.bin"));
  const llmc_state s = read_llmc_state(path_of("gpt2/state.bin"), m);
  const network n = m.config.build();
  std::vector<f64> losses;
  std::ifstream in(path_of("gpt2/losses.txt"));
  for (f64 loss = 0; in >> loss;) losses.push_back(loss);
  return {m.config,
          m.to_weights(n),
          llmc_model{m.config, m.padded, s.gradients}.to_weights(n),
          after.to_weights(n),
          s.ids,
          s.targets,
          s.sequences,
          s.length,
          s.logits,
          losses};
}

/// The names by which transformers know a parameter of ours; the matrices of queries, keys and values lie one
/// below the other in ours.
std::vector<std::string> llama_names(const std::string& ours) {
  if (ours == "embedding.tokens") return {"model.embed_tokens.weight"};
  if (ours == "last norm.gain") return {"model.norm.weight"};
  if (ours == "head.weight") return {"lm_head.weight"};
  const std::size_t space = ours.find(' ', 6);  // "layer <number> <what>"
  const std::string h = "model.layers." + ours.substr(6, space - 6) + ".", what = ours.substr(space + 1);
  if (what == "norm 1.gain") return {h + "input_layernorm.weight"};
  if (what == "norm 2.gain") return {h + "post_attention_layernorm.weight"};
  if (what == "projection.weight") return {h + "self_attn.o_proj.weight"};
  if (what == "qkv.weight")
    return {h + "self_attn.q_proj.weight", h + "self_attn.k_proj.weight", h + "self_attn.v_proj.weight"};
  return {h + "mlp." + what.substr(0, what.find('.')) + "_proj.weight"};  // up, gate, down
}

weights llama_weights(safetensors_file& in, const network& n, const std::string& prefix) {
  weights w(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    w[k].clear();
    for (const std::string& name : llama_names(n.parameters()[k].name)) {
      INFO(name);
      const tensor_info* t = in.find(prefix + name);
      REQUIRE(t);
      const std::vector<f32> part = in.numbers(*t);
      w[k].insert(w[k].end(), part.begin(), part.end());
    }
    REQUIRE(static_cast<i64>(w[k].size()) == n.parameters()[k].size());
  }
  return w;
}

golden llama() {
  const auto json = nlohmann::json::parse(std::ifstream(path_of("llama/config.json")));
  decoder d{.vocabulary = json["vocab_size"],
            .positions = json["max_position_embeddings"],
            .layers = json["num_hidden_layers"],
            .heads = json["num_attention_heads"],
            .width = json["hidden_size"],
            .filter = json["intermediate_size"],
            .bias = false,
            .between = nonlinearity::swiglu,
            .epsilon = json["rms_norm_eps"],
            .kv_heads = json["num_key_value_heads"],
            .norm = normalization::rmsnorm,
            .position = positioning::rotary,
            .rotary_base = json["rope_theta"],
            .rotary_pairs = pairs::halves,
            .tied = false};
  const network n = d.build();
  safetensors_file model(path_of("llama/model.safetensors")), expected(path_of("llama/expected.safetensors"));
  const tensor_info& ids = *expected.find("ids");
  const std::vector<f32> losses = expected.numbers(*expected.find("losses"));
  return {d,
          llama_weights(model, n, ""),
          llama_weights(expected, n, "gradient."),
          llama_weights(expected, n, "after."),
          expected.read<i32>(ids),
          expected.read<i32>(*expected.find("targets")),
          static_cast<int>(ids.shape[0]),
          static_cast<int>(ids.shape[1]),
          expected.numbers(*expected.find("logits")),
          std::vector<f64>(losses.begin(), losses.end())};
}

/// The norm of the difference for the norm of what is right; numbers `from` to `end` are left out.
f64 error(std::span<const f32> x, std::span<const f32> right, std::size_t from = 0, std::size_t end = 0) {
  REQUIRE(x.size() == right.size());
  f64 size = 0, off = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (i >= from && i < end) continue;
    const f64 r = static_cast<f64>(right[i]), d = static_cast<f64>(x[i]) - r;
    size += r * r, off += d * d;
  }
  return std::sqrt(off / size);
}

// A rounding to f32 is off by 6e-8 at most, relative to its number. Logits go through some ten sums of up to
// 48 products whose roundings add up like a random walk: 1e-7 to 3e-7 of their norm was measured. The way
// back is twice as long, and gradients are sums of products with both signs: up to 1.1e-6. Adam's step is a
// gradient for its own size, so a parameter is off by that part of the 10 x 1e-3 that it has moved at most:
// up to 3e-7. Each bound is about four times what was measured.
constexpr f64 of_logits = 1e-6, of_loss = 1e-6, of_gradients = 5e-6, after_ten_steps = 1e-6;

template <class Make>
void check(const golden& g, Make make) {
  auto once = make(optimizer::sgd({.momentum = 0.9f}));
  once.parameters() = g.parameters;
  CHECK(error(once.predict(g.all()), g.logits) < of_logits);
  CHECK(once.step(g.all(), 1) == Approx(g.losses[0]).epsilon(of_loss));
  const auto kept = once.state();  // after its first step, what SGD keeps is the gradient
  const auto& parameters = once.model().parameters();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    INFO("gradient of " << parameters[k].name);
    CHECK(error(kept[parameters.size() + k].numbers, g.gradients[k]) < of_gradients);
  }
  auto several = make(optimizer::adamw());
  several.parameters() = g.parameters;
  for (const f64 loss : g.losses) CHECK(several.step(g.all(), 1e-3) == Approx(loss).epsilon(of_loss));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    INFO("after ten steps " << parameters[k].name);
    // A key's bias adds the same to all logits of a query: its gradient is rounding alone, and Adam makes
    // steps of full length of that.
    const std::size_t third = parameters[k].name.ends_with("qkv.bias") ? g.after[k].size() / 3 : 0;
    CHECK(error(several.parameters()[k], g.after[k], third, 2 * third) < after_ten_steps);
  }
}

void check_all_trainers(const golden& g) {
  REQUIRE(g.losses.size() == 10);
  for (const int wafers : {1, 2})
    check(g, [&](const optimizer& rule) {
      return trainer(g.config.build(), rule, {.workers = 2, .num_csx = wafers, .threads = 1});
    });
  check(g, [&](const optimizer& rule) {
    return pipelined_trainer(g.config.build(), rule, {.strips = 3, .threads = 1});
  });
}

TEST_CASE("A tiny GPT-2 in the files of llm.c trains as in PyTorch") { check_all_trainers(gpt2()); }

struct machine : trainer {
  using trainer::trainer;
  trainer_base& run() { return *this; }
};

TEST_CASE("Tensors of a golden state that are not compared are named, and a mask is refused") {
  const files::folder here;
  safetensors_file in(path_of("llama/expected.safetensors"));
  const std::vector<i32> ids = in.read<i32>(*in.find("ids")), targets = in.read<i32>(*in.find("targets"));
  const std::vector<u64> shape = in.find("ids")->shape;
  const std::vector<f32> one(1), norm = in.numbers(*in.find("gradient.model.norm.weight"));
  std::vector<i64> mask(ids.size(), 1);
  const auto state = [&] {
    write_safetensors(here / "g", {{"ids", shape, ids},
                                   {"targets", shape, targets},
                                   {"attention_mask", shape, mask},
                                   {"gradient.model.norm.weight", {norm.size()}, norm},
                                   {"gradient.model.norm.wieght", {1}, one}});
    return golden_state(here / "g");
  };
  pretrained p = read_hugging_face(path_of("llama"));
  golden_state g = state();
  const golden_comparison found = compare_with_golden(p, g, [](network n, const optimizer& rule) {
    return std::make_unique<machine>(std::move(n), rule,
                                     streaming_settings{.workers = 1, .columns = 1, .threads = 1});
  });
  CHECK(found.all.size() == 1);
  CHECK(std::count(found.left_out.begin(), found.left_out.end(),
                   "gradient.model.norm.wieght: the model has no such tensor") == 1);
  mask.back() = 0;
  CHECK_THAT(files::refusal(state), Contains("'attention_mask' hides tokens"));
}

TEST_CASE("A tiny Llama in the form of Hugging Face trains as in PyTorch") { check_all_trainers(llama()); }

}  // namespace
