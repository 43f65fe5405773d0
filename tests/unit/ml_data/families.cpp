// SPDX-License-Identifier: MIT
// Families of causal models beside transformers: tiny models in their files, with what PyTorch computes for
// them in f64. A model must give the same logits, loss and gradients, learn as fast, and go back to the same
// file, byte by byte.
#include <wsl/ml/io/hugging_face/match.hpp>
#include <wsl/ml/run/golden_state.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

/// A trainer as a comparison takes it.
struct machine : trainer {
  using trainer::trainer;
  trainer_base& run() { return *this; }
};

void check_training(const std::string& folder, const streaming_settings& on) {
  pretrained p = read_hugging_face(folder);
  golden_state g = golden_state::of_folder(folder);
  const golden_comparison found = compare_with_golden(p, g, [&](network n, const optimizer& rule) {
    return std::make_unique<machine>(std::move(n), rule, on);
  });
  CHECK(found.left_out.empty());
  const std::size_t tensors = safetensors_file(folder + "/model.safetensors").tensors().size();
  CHECK(found.all.size() == 2 + tensors + 11 + 12);  // logits and loss, gradients, steps, tokens
  for (const golden_difference& d : found.all) {
    INFO(d.name);
    CHECK(d.error <= d.tolerance);
  }
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
  const golden_state g = golden_state::of_folder(folder);
  trainer t(turned.build(), optimizer::sgd(), {.workers = 1, .columns = 1, .threads = 1});
  for (std::size_t k = 0; k < x.size(); ++k) std::copy(x[k].begin(), x[k].end(), t.parameters()[k].begin());
  CHECK(relative_error(t.predict(g.inputs()), g.logits) < 1e-5);
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
