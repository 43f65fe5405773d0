// SPDX-License-Identifier: MIT
// Families of models beside transformers: tiny models in their files, with what PyTorch computes for
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

struct expected_count {
  std::size_t greedy = 12;     ///< tokens
  std::size_t not_learnt = 0;  ///< tensors without a gradient
};

template <class Model>
void check_training(const std::string& folder, const streaming_settings& on,
                    const expected_count& count = {}) {
  basic_pretrained<Model> p = read_hugging_face<Model>(folder);
  golden_state g = golden_state::of_folder(folder, p.config.build());
  const golden_comparison found = compare_with_golden(p, g, [&](network n, const optimizer& rule) {
    return std::make_unique<machine>(std::move(n), rule, on);
  });
  CHECK(found.left_out.size() == count.not_learnt + (count.greedy == 0));
  const std::size_t tensors = safetensors_file(folder + "/model.safetensors").tensors().size();
  // Logits and loss, gradients, steps, tokens.
  CHECK(found.all.size() == 2 + tensors - count.not_learnt + 11 + count.greedy);
  for (const golden_difference& d : found.all) {
    INFO(d.name);
    CHECK(d.error <= d.tolerance);
  }
}

/// Writes a model that has been read and reads it again.
template <class Model>
void check_written(const std::string& folder, const std::string& out, basic_pretrained<Model>& p,
                   const Model& m, const network& n, const weights& w) {
  write_hugging_face(out, m, n, w, {p.model_type()});
  const bool same = read_whole(out + "/model.safetensors") == read_whole(folder + "/model.safetensors");
  CHECK(same);
  CHECK(hugging_face::difference(p.config, read_hugging_face<Model>(out).config).empty());
  CHECK(hugging_face::difference(read_hugging_face<Model>(out).config, p.config).empty());
}

void check_round_trip(const std::string& folder) {
  pretrained p = read_hugging_face(folder);
  const network n = p.config.build();
  const weights w = p.to_weights(n);
  const files::folder here;
  check_written(folder, here / "same", p, p.config, n, w);
  if (p.config.position != positioning::rotary) return;
  // With the other kind of pairs the model is the same, and its rows go back to their places.
  decoder& turned = p.config;
  turned.rotary_pairs = turned.rotary_pairs == pairs::halves ? pairs::neighbours : pairs::halves;
  const weights x = p.to_weights(turned.build());
  check_written(folder, here / "turned", p, turned, turned.build(), x);
  const golden_state g = golden_state::of_folder(folder, n);
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
    check_training<decoder>(*folder, {.workers = workers, .columns = columns, .threads = 1});
  check_round_trip(*folder);
}

template <class Model>
void check_family(const char* name, const expected_count& count) {
  const auto folder = files::data_set(std::string("hf/") + name);
  if (!folder) return;
  INFO(name);
  for (const auto& [workers, columns] : {std::pair(1, 1), {4, 1}, {4, 2}, {6, 3}})
    check_training<Model>(*folder, {.workers = workers, .columns = columns, .threads = 1}, count);
  basic_pretrained<Model> p = read_hugging_face<Model>(*folder);
  const network n = p.config.build();
  const files::folder here;
  check_written(*folder, here / "same", p, p.config, n, p.to_weights(n));
}

TEST_CASE("Encoders of each task compute, learn and are written as in transformers") {
  for (const char* name : {"bert_mlm", "bert_cls", "bert_ner", "bert_qa", "roberta_mlm"})
    check_family<encoder>(name, {.greedy = 0});
}

TEST_CASE("Encoders with decoders compute, learn and are written as in transformers") {
  check_family<encoder_decoder>("t5", {}), check_family<encoder_decoder>("flan_t5", {});
  check_family<encoder_decoder>("transformer", {.not_learnt = 1});  // the bias of the logits
}

TEST_CASE("An encoder that has learnt one task begins another with new layers for it") {
  const auto folder = files::data_set("hf/bert_mlm");
  if (!folder) return;
  pretrained_encoder p = read_hugging_face<encoder>(*folder);
  CHECK(p.config.task == encoder_task::next_sentence);
  const network pretraining = p.config.build();
  const weights learnt = p.to_weights(pretraining);
  p.config.task = encoder_task::token_classes, p.config.classes = 5;
  const network n = p.config.build();
  CHECK_THAT(files::refusal([&] { p.to_weights(n); }), Contains("classifier.weight"));
  const weights otherwise(n, 7), w = p.to_weights(n, otherwise);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const parameter* const before = hugging_face::find_parameter(pretraining, n.parameters()[k].name);
    if (before) CHECK(w[k] == learnt[static_cast<std::size_t>(before - pretraining.parameters().data())]);
    else CHECK((n.parameters()[k].name.starts_with("classifier") && w[k] == otherwise[k]));
  }
  // The classifier of another task, or of other classes, is none for this one.
  if (const auto classes = files::data_set("hf/bert_cls")) {
    pretrained_encoder q = read_hugging_face<encoder>(*classes);
    const auto takes = [&](encoder_task task, int count) {
      q.config.task = task, q.config.classes = count;
      const network of = q.config.build();
      const weights fresh(of, 7), found = q.to_weights(of, fresh);
      return found[found.size() - 1] != fresh[fresh.size() - 1];
    };
    CHECK(takes(encoder_task::sequence_classes, 3));
    CHECK_FALSE(takes(encoder_task::sequence_classes, 2));
    CHECK_FALSE(takes(encoder_task::token_classes, 3));
  }
  CHECK_THAT(files::refusal([&] { read_hugging_face(*folder); }),
             Contains("'model_type' is \"bert\", an encoder, and here it should be a causal decoder"));
}

}  // namespace
