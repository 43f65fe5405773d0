// SPDX-License-Identifier: MIT
// Encoders beside Hugging Face's transformers: the golden states of BERT with the layers of four tasks, and
// of RoBERTa, in WSL_DATA_DIR/hf. They were computed in f64 and rounded once.
#include <map>
#include <wsl/ml/io/safetensors.hpp>
#include <wsl/ml/model/encoder.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;

/// The tensors that are the parts of a parameter, one below the other.
std::vector<std::string> tensors_of(const std::string& parameter, bool is_roberta) {
  const std::string base = is_roberta ? "roberta." : "bert.",
                    kind = parameter.ends_with(".bias") ? ".bias" : ".weight";
  const std::size_t dot = parameter.rfind('.');
  const std::string layer = parameter.substr(0, dot);
  const std::map<std::string, std::string> others{
      {"embedding norm", base + "embeddings.LayerNorm"},
      {"pooler", base + "pooler.dense"},
      {"words", is_roberta ? "lm_head.dense" : "cls.predictions.transform.dense"},
      {"words norm", is_roberta ? "lm_head.layer_norm" : "cls.predictions.transform.LayerNorm"},
      {"next sentence", "cls.seq_relationship"},
      {"classifier", "classifier"},
      {"span", "qa_outputs"}};
  if (parameter == "embedding.tokens") return {base + "embeddings.word_embeddings.weight"};
  if (parameter == "embedding.positions") return {base + "embeddings.position_embeddings.weight"};
  if (parameter == "types.tokens") return {base + "embeddings.token_type_embeddings.weight"};
  if (parameter == "head.bias") return {is_roberta ? "lm_head.bias" : "cls.predictions.bias"};
  if (const auto found = others.find(layer); found != others.end()) return {found->second + kind};
  const std::size_t space = layer.find(' ', 6);
  const std::string in = base + "encoder.layer." + layer.substr(6, space - 6) + ".",
                    what = layer.substr(space + 1);
  if (what == "qkv")
    return {in + "attention.self.query" + kind, in + "attention.self.key" + kind,
            in + "attention.self.value" + kind};
  const std::map<std::string, std::string> of_layer{{"projection", "attention.output.dense"},
                                                    {"norm 1", "attention.output.LayerNorm"},
                                                    {"up", "intermediate.dense"},
                                                    {"down", "output.dense"},
                                                    {"norm 2", "output.LayerNorm"}};
  return {in + of_layer.at(what) + kind};
}
/// The parameters of a network, or with the prefix "grad." their gradients.
weights read_parameters(const network& n, safetensors_file& in, const std::string& prefix, bool is_roberta) {
  weights w(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    std::vector<f32> all;
    for (const std::string& name : tensors_of(n.parameters()[k].name, is_roberta)) {
      INFO(name);
      const tensor_info* t = in.find(prefix + name);
      REQUIRE(t);
      const std::vector<f32> part = in.numbers(*t);
      all.insert(all.end(), part.begin(), part.end());
    }
    REQUIRE(all.size() == w[k].size());
    w[k] = all;
  }
  return w;
}
std::vector<i32> read_ids(safetensors_file& in, const char* name) {
  const std::vector<i64> wide = in.read<i64>(*in.find(name));
  return {wide.begin(), wide.end()};
}
/// The largest difference, for the largest number.
f64 off(std::span<const f32> x, std::span<const f32> right) {
  REQUIRE(x.size() == right.size());
  f64 most = 0, largest = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(static_cast<f64>(x[i]) - static_cast<f64>(right[i])));
    largest = std::max(largest, std::abs(static_cast<f64>(right[i])));
  }
  return most / largest;
}

void check_golden(const char* folder, encoder_task task, int classes, const char* logits) {
  INFO(folder);
  const auto path = files::data_set(std::string("hf/") + folder);
  if (!path) return;
  const bool is_roberta = std::string_view(folder).starts_with("roberta");
  encoder e{.vocabulary = 101,
            .positions = 64,
            .layers = 2,
            .heads = 4,
            .width = 32,
            .filter = 80,
            .task = task,
            .classes = classes};
  if (is_roberta) e.unused_positions = 2, e.padding = 1, e.token_types = 1;
  const network n = e.build();
  safetensors_file golden(*path + "/golden.safetensors"), model(*path + "/model.safetensors");
  weights w = read_parameters(n, model, "", is_roberta);
  const weights right = read_parameters(n, golden, "grad.", is_roberta);
  std::map<std::string, std::vector<i32>> numbers;
  batch b{.sequences = 2, .length = 16};
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids", "labels", "next_sentence_label",
                           "start_positions", "end_positions"})
    if (golden.find(name))
      b.named.emplace_back(name, std::span<const i32>(numbers[name] = read_ids(golden, name)));

  const f64 counts = check(n, b);
  activation_store store = store_of(n, b);
  const f64 loss = serial_forward(n, w, store) / counts;
  weights gradients(n);
  serial_backward(n, w, gradients, store);
  if (logits) {
    store.enter(n.logits());
    const matrix<f32> y = store.value(n.logits());
    CHECK(off({y.first(), static_cast<std::size_t>(i64{y.rows()} * y.columns())},
              golden.numbers(*golden.find(logits))) < 1e-5);
  }
  CHECK(loss == Approx(static_cast<f64>(golden.numbers(*golden.find("loss"))[0])).epsilon(1e-5));
  for (std::size_t k = 0; k < w.size(); ++k) {
    INFO(n.parameters()[k].name);
    // What shifts the scores of all tokens has no gradient but rounding.
    const bool shifts_all = task == encoder_task::span && (n.parameters()[k].name == "span.bias" ||
                                                           n.parameters()[k].name == "layer 1 norm 2.bias");
    if (!shifts_all) CHECK(off(gradients[k], right[k]) < 1e-5);
  }

  trainer t(e.build(), optimizer::adamw(), {.workers = 4, .columns = 2});
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
  for (const f32 of_step : golden.numbers(*golden.find("losses_adamw")))
    CHECK(t.step(b, 1e-3) == Approx(static_cast<f64>(of_step)).epsilon(1e-4));
}

TEST_CASE("Encoders of each task have the logits, losses and gradients of Hugging Face's") {
  check_golden("bert_mlm", encoder_task::next_sentence, 2, "prediction_logits");
  check_golden("bert_cls", encoder_task::sequence_classes, 3, "logits");
  check_golden("bert_ner", encoder_task::token_classes, 5, "logits");
  check_golden("bert_qa", encoder_task::span, 2, nullptr);
  check_golden("roberta_mlm", encoder_task::masked_words, 2, "logits");
}

}  // namespace
