// SPDX-License-Identifier: MIT
// Families of causal models beside transformers: tiny models in their files, with what PyTorch computes for
// them in f64. A model must give the same logits, loss and gradients, learn as fast, and go back to the same
// file, byte by byte.
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

/// transformers' results for a model and a batch.
struct golden {
  std::vector<i32> ids, targets;
  std::vector<f32> mask, logits;
  f64 loss = 0;
  std::vector<f64> losses;  ///< before each of some steps of AdamW
  int sequences = 0, length = 0;

  explicit golden(safetensors_file& in) {
    const tensor_info& all = *in.find("input_ids");
    sequences = static_cast<int>(all.shape[0]), length = static_cast<int>(all.shape[1]);
    ids = small(in.read<i64>(all));
    // Labels are those of the tokens themselves: the model shifts them, and the last token has none.
    const std::vector<i32> labels = small(in.read<i64>(*in.find("labels")));
    for (std::size_t t = 0; t < labels.size(); ++t) {
      const bool counts = (t + 1) % static_cast<std::size_t>(length) && labels[t + 1] >= 0;
      targets.push_back(counts ? labels[t + 1] : 0), mask.push_back(counts ? 1.f : 0.f);
    }
    logits = in.numbers(*in.find("logits"));
    loss = static_cast<f64>(in.numbers(*in.find("loss"))[0]);
    for (f32 x : in.numbers(*in.find("losses_adamw"))) losses.push_back(static_cast<f64>(x));
  }
  batch all() const {
    return {.ids = ids, .targets = targets, .mask = mask, .sequences = sequences, .length = length};
  }

 private:
  static std::vector<i32> small(const std::vector<i64>& x) { return {x.begin(), x.end()}; }
};

f64 largest(std::span<const f32> x) {
  f64 size = 0;
  for (const f32 v : x) size = std::max(size, std::abs(static_cast<f64>(v)));
  return size;
}
/// The largest difference, for a size.
f64 error(std::span<const f32> x, std::span<const f32> right, f64 size) {
  REQUIRE(x.size() == right.size());
  f64 off = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    off = std::max(off, std::abs(static_cast<f64>(x[i]) - static_cast<f64>(right[i])));
  return off / size;
}
f64 error(std::span<const f32> x, std::span<const f32> right) { return error(x, right, largest(right)); }

/// Where the running library names a parameter in another way than the file.
std::string name_of_gradient(std::string name) {
  return "grad." + (name == "embed_out.weight" ? "lm_head.weight" : name);
}

void check_training(const std::string& folder, const streaming_settings& on) {
  pretrained p = read_hugging_face(folder);
  safetensors_file in(folder + "/golden.safetensors");
  const golden g(in);
  const network n = p.config.build();
  const weights w = p.to_weights(n);
  const auto start = [&](const optimizer& rule) {
    auto t = std::make_unique<trainer>(p.config.build(), rule, on);
    for (std::size_t k = 0; k < w.size(); ++k)
      std::copy(w[k].begin(), w[k].end(), t->parameters()[k].begin());
    return t;
  };
  const auto once = start(optimizer::sgd(0.9f));
  CHECK(error(once->predict(g.all()), g.logits) < 1e-5);
  CHECK(once->step(g.all(), 1) == Approx(g.loss).epsilon(1e-5));
  const auto kept = once->state();  // after its first step, what SGD keeps is the gradient
  weights gradients(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const std::span<const f32> of_k = kept[w.size() + k].numbers;
    gradients[k].assign(of_k.begin(), of_k.end());
  }
  const hugging_face::family& f = *hugging_face::find_family(p.model_type());
  for (const hugging_face::tensor& t : hugging_face::to_tensors(f, p.config, n, gradients)) {
    INFO("gradient of " << t.name);
    // A key's bias adds the same to all scores of a query, so its gradient is rounding alone. It is small
    // beside that of the queries' bias.
    std::string beside = t.name;
    if (t.name.ends_with("k_proj.bias")) beside.replace(beside.rfind('k'), 1, "q");
    const f64 size = largest(in.numbers(*in.find(name_of_gradient(beside))));
    CHECK(error(t.numbers, in.numbers(name_of_gradient(t.name), t.shape), size) < 1e-5);
  }
  const auto several = start(optimizer::adamw());
  for (const f64 loss : g.losses) CHECK(several->step(g.all(), 1e-3) == Approx(loss).epsilon(1e-4));
}

void check_round_trip(const std::string& folder) {
  pretrained p = read_hugging_face(folder);
  const network n = p.config.build();
  const weights w = p.to_weights(n);
  const files::folder here;
  const auto is_same = [&](const std::string& name, const decoder& d, const network& net, const weights& x) {
    write_hugging_face(here / name, d, net, x, {p.model_type()});
    const bool same =
        read_whole(here / name + "/model.safetensors") == read_whole(folder + "/model.safetensors");
    CHECK(same);
    CHECK(hugging_face::difference(p.config, read_hugging_face(here / name).config).empty());
    CHECK(hugging_face::difference(read_hugging_face(here / name).config, p.config).empty());
  };
  is_same("same", p.config, n, w);
  if (p.config.position != positioning::rotary) return;
  // With the other kind of pairs the model is the same, and its rows go back to their places.
  decoder& turned = p.config;
  turned.rotary_pairs = turned.rotary_pairs == pairs::halves ? pairs::neighbours : pairs::halves;
  const weights x = p.to_weights(turned.build());
  is_same("turned", turned, turned.build(), x);
  const golden g = [&] {
    safetensors_file in(folder + "/golden.safetensors");
    return golden(in);
  }();
  trainer t(turned.build(), optimizer::sgd(), {.workers = 1, .columns = 1, .threads = 1});
  for (std::size_t k = 0; k < x.size(); ++k) std::copy(x[k].begin(), x[k].end(), t.parameters()[k].begin());
  CHECK(error(t.predict(g.all()), g.logits) < 1e-5);
}

TEST_CASE("Models of each family compute, learn and are written as in transformers") {
  const char* name =
      GENERATE("gpt2", "gpt_neox", "gptj", "codegen", "llama", "llama3_rope", "mistral", "qwen2", "falcon_7b",
               "falcon_40b", "bloom", "mpt", "gpt_bigcode", "starcoder2", "phi", "opt");
  const auto folder = files::data_set(std::string("hf/") + name);
  if (!folder) return;
  INFO(name);
  for (const auto& [workers, columns] : {std::pair(1, 1), {4, 2}})
    check_training(*folder, {.workers = workers, .columns = columns, .threads = 1});
  check_round_trip(*folder);
}

}  // namespace
