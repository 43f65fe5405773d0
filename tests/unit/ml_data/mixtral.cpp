// SPDX-License-Identifier: MIT
// A tiny Mixtral in the files of transformers, with what PyTorch computes for it in f64. Its loss there has a
// part that balances the experts and is left out here. That part does not reach what follows the last router,
// so the gradients of the last block's experts, the last norm and the head are compared.
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/mixtral.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

struct golden {
  std::vector<i32> ids, targets;
  std::vector<f32> mask, logits;
  f64 loss, balance;
  std::vector<f32> losses;
  int sequences, length;

  explicit golden(safetensors_file& in) : logits(in.numbers(*in.find("logits"))) {
    const tensor_info& all = *in.find("input_ids");
    sequences = static_cast<int>(all.shape[0]), length = static_cast<int>(all.shape[1]);
    const std::vector<i64> given = in.read<i64>(all), labels = in.read<i64>(*in.find("labels"));
    ids.assign(given.begin(), given.end());
    for (std::size_t t = 0; t < labels.size(); ++t) {
      const bool counts = (t + 1) % static_cast<std::size_t>(length) && labels[t + 1] >= 0;
      targets.push_back(counts ? static_cast<i32>(labels[t + 1]) : 0), mask.push_back(counts ? 1.f : 0.f);
    }
    loss = static_cast<f64>(in.numbers(*in.find("loss"))[0]), losses = in.numbers(*in.find("losses_adamw"));
    balance = static_cast<f64>(in.numbers(*in.find("aux_loss"))[0]);
  }
  batch all() const {
    return {.ids = ids, .targets = targets, .mask = mask, .sequences = sequences, .length = length};
  }
};

/// The largest difference, for the largest number.
f64 error(std::span<const f32> x, std::span<const f32> right) {
  REQUIRE(x.size() == right.size());
  f32 off = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    off = std::max(off, std::abs(x[i] - right[i])), size = std::max(size, std::abs(right[i]));
  return static_cast<f64>(off / size);
}

/// A part of an array of PyTorch's: the matrices of all experts are one array, those of w1 and w3 side by
/// side.
std::vector<f32> gradient_of(safetensors_file& in, const std::string& name) {
  const auto all = [&](const std::string& stacked) { return in.numbers(*in.find("grad." + stacked)); };
  const std::size_t at = name.find("block_sparse_moe.experts.");
  if (const std::size_t router = name.find("block_sparse_moe.gate"); router != std::string::npos)
    return all(std::string(name).replace(router, 16, "mlp"));
  if (at == std::string::npos) return all(name);
  const std::size_t e = static_cast<std::size_t>(name[at + 25] - '0');
  const bool is_down = name.ends_with("w2.weight");
  const std::vector<f32> stacked =
      all(name.substr(0, at) + (is_down ? "mlp.experts.down_proj" : "mlp.experts.gate_up_proj"));
  const std::size_t size = 80 * 32, first = is_down ? e * size : (2 * e + name.ends_with("w3.weight")) * size;
  return {stacked.begin() + static_cast<std::ptrdiff_t>(first),
          stacked.begin() + static_cast<std::ptrdiff_t>(first + size)};
}

template <class Make>
void check(const std::string& folder, Make make) {
  pretrained p = read_hugging_face(folder);
  safetensors_file in(folder + "/golden.safetensors");
  const golden g(in);
  const network n = p.config.build();
  const weights w = p.to_weights(n);
  auto t = make(p.config.build());
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
  CHECK(error(t.predict(g.all()), g.logits) < 1e-5);
  CHECK(t.step(g.all(), 1) == Approx(g.loss).epsilon(1e-5));
  const auto kept = t.state();  // after its first step, what SGD keeps is the gradient
  weights gradients(n);
  for (std::size_t k = 0; k < w.size(); ++k)
    gradients[k].assign(kept[w.size() + k].numbers.begin(), kept[w.size() + k].numbers.end());
  int compared = 0;
  for (const hugging_face::tensor& x :
       hugging_face::to_tensors(hugging_face::mixtral, p.config, n, gradients)) {
    INFO("gradient of " << x.name);
    CHECK(error(x.numbers, gradient_of(in, x.name)) < 1e-5);
    ++compared;
  }
  CHECK(compared == 3 + 2 * (2 + 4 + 1 + 4 * 3));
  CHECK(t.losses().at(1).name == "balance");
  CHECK(t.losses()[1].mean == Approx(g.balance).epsilon(1e-6));
  CHECK(t.losses()[0].mean + 0.02 * t.losses()[1].mean == Approx(g.loss).epsilon(1e-6));
}
/// The losses of some steps of AdamW, which the balance of the experts takes part in.
template <class Make>
void check_losses(const std::string& folder, Make make) {
  pretrained p = read_hugging_face(folder);
  safetensors_file in(folder + "/golden.safetensors");
  const golden g(in);
  const weights w = p.to_weights(p.config.build());
  auto t = make(p.config.build());
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
  CHECK(t.evaluate(g.all()) == Approx(g.losses[0]).epsilon(1e-6));
  for (const f32 loss : g.losses) CHECK(t.step(g.all(), 1e-3) == Approx(loss).epsilon(1e-5));
}

TEST_CASE("A tiny Mixtral computes and learns as in transformers, and is written as it was read") {
  const auto folder = files::data_set("hf/mixtral");
  if (!folder) return;
  const optimizer rule = optimizer::sgd({.momentum = 0.9f});
  for (const auto& [workers, columns] : {std::pair(1, 1), {4, 2}, {8, 8}})
    check(*folder, [&](network n) {
      return trainer(std::move(n), rule, {.workers = workers, .columns = columns, .threads = 1});
    });
  for (const auto& [strips, size] : {std::pair(3, 0), {2, 1}})
    check(*folder, [&](network n) {
      return pipelined_trainer(std::move(n), rule,
                               {.strips = strips, .micro_batch_size = size, .threads = 1});
    });
  // The sums of the experts' tokens are of the whole batch, however it is divided.
  check_losses(*folder, [&](network n) {
    return trainer(std::move(n), optimizer::adamw(),
                   {.workers = 2, .columns = 2, .threads = 1, .micro_batch_size = 1});
  });
  check_losses(*folder, [&](network n) {
    return trainer(std::move(n), optimizer::adamw(), {.workers = 2, .num_csx = 2, .threads = 1});
  });
  check_losses(*folder, [&](network n) {
    return pipelined_trainer(std::move(n), optimizer::adamw(),
                             {.strips = 2, .micro_batch_size = 1, .threads = 1});
  });
  pretrained p = read_hugging_face(*folder);
  CHECK((p.config.experts == 4 && p.config.experts_per_token == 2 && p.config.balance == 0.02f));
  const network n = p.config.build();
  const files::folder here;
  write_hugging_face(here / "m", p.config, n, p.to_weights(n));
  CHECK(read_whole(here / "m/model.safetensors") == read_whole(*folder + "/model.safetensors"));
  CHECK(std::string(read_hugging_face(here / "m").model_type()) == "mixtral");
  CHECK(read_hugging_face_config(here / "m/config.json").second.balance == 0.02f);
}

TEST_CASE("A configuration of Mixtral with more experts a token than it has is refused") {
  const files::folder here;
  files::write(
      here / "config.json",
      R"({"model_type":"mixtral","vocab_size":11,"hidden_size":32,"num_attention_heads":4,)"
      R"("num_key_value_heads":4,)"
      R"("num_hidden_layers":1,"intermediate_size":64,"num_local_experts":2,"num_experts_per_tok":3})");
  CHECK_THAT(files::refusal([&] { read_hugging_face_config(here / "config.json"); }),
             Contains("'num_experts_per_tok' is 3, more than the 2 of 'num_local_experts'"));
}

}  // namespace
