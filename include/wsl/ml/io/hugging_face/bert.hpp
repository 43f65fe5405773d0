// SPDX-License-Identifier: MIT
// BERT and RoBERTa (transformers, models/bert and models/roberta), with the layers of a task. Which task they
// have learnt, the class in `architectures` says; without one they have the layers that guess hidden words.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

struct task_class {
  encoder_task task;
  const char* name;  ///< of the class of transformers, after the family's
};
inline constexpr task_class task_classes[]{{encoder_task::masked_words, "ForMaskedLM"},
                                           {encoder_task::next_sentence, "ForPreTraining"},
                                           {encoder_task::sequence_classes, "ForSequenceClassification"},
                                           {encoder_task::token_classes, "ForTokenClassification"},
                                           {encoder_task::span, "ForQuestionAnswering"}};

inline encoder_task read_task(const config_file& c, const std::string& prefix) {
  const json& all = c.fields().value("architectures", json::array());
  if (!all.is_array() || all.empty()) return encoder_task::masked_words;
  const std::string name = all[0].is_string() ? all[0].get<std::string>() : "";
  for (const task_class& t : task_classes)
    if (name == prefix + t.name) return t.task;
  if (name == prefix + "Model") return encoder_task::masked_words;
  std::string known;
  for (const task_class& t : task_classes) known += (known.empty() ? "" : ", ") + prefix + t.name;
  throw c.error("'architectures' is {}; known are {} and {}Model", printable(all), known, prefix);
}
inline json class_of_task(encoder_task task, const std::string& prefix) {
  for (const task_class& t : task_classes)
    if (task == t.task) return {prefix + t.name};
  return {};
}

inline encoder read_bert(const config_file& c, const std::string& prefix) {
  encoder e{.vocabulary = c.whole("vocab_size", 30522),
            .positions = c.whole("max_position_embeddings", 512),
            .layers = c.whole("num_hidden_layers", 12),
            .heads = c.whole("num_attention_heads", 12),
            .width = c.whole("hidden_size", 768),
            .filter = c.whole("intermediate_size", 3072),
            .token_types = c.whole("type_vocab_size", 2),
            .between = c.activation("hidden_act", "gelu"),
            .epsilon = c.number("layer_norm_eps", 1e-12f),
            .deviation = c.number("initializer_range", 0.02f),
            .task = read_task(c, prefix)};
  if (e.width % e.heads)
    throw c.error("'num_attention_heads' {} does not divide 'hidden_size' {}", e.heads, e.width);
  c.is("position_embedding_type", "absolute"), c.is("tie_word_embeddings", true);
  c.is("is_decoder", false), c.is("add_cross_attention", false);
  c.is("problem_type", "single_label_classification");
  const config_file labels = c.object("id2label");
  e.classes = labels.fields().empty() ? c.whole("num_labels", 2) : static_cast<int>(labels.fields().size());
  if (e.task == encoder_task::span && e.classes != 2)
    throw c.error("a part of a text has 2 scores, its first and its last token, not {}", e.classes);
  return e;
}
inline json write_bert(const encoder& e, const char* prefix) {
  json c{{"architectures", class_of_task(e.task, prefix)},
         {"vocab_size", e.vocabulary},
         {"max_position_embeddings", e.positions + e.unused_positions},
         {"num_hidden_layers", e.layers},
         {"num_attention_heads", e.heads},
         {"hidden_size", e.width},
         {"intermediate_size", e.inner_width()},
         {"type_vocab_size", e.token_types},
         {"hidden_act", name_of(e.between)},
         {"layer_norm_eps", shortest(e.epsilon)},
         {"initializer_range", shortest(e.deviation)},
         {"hidden_dropout_prob", 0.},
         {"attention_probs_dropout_prob", 0.},
         {"tie_word_embeddings", true},
         {"pad_token_id", e.padding ? json(*e.padding) : json()}};
  if (e.task == encoder_task::sequence_classes || e.task == encoder_task::token_classes)
    for (int k = 0; k < e.classes; ++k) {
      const std::string label = fmt::format("LABEL_{}", k);
      c["id2label"][std::to_string(k)] = label, c["label2id"][label] = k;
    }
  return c;
}

/// The tensors of an encoder without its task, which begin with such a word.
inline tensor_rules encoder_tensors(const encoder& e, const std::string& base) {
  tensor_rules r;
  r.table(base + "embeddings.word_embeddings", "embedding.tokens");
  r.table(base + "embeddings.position_embeddings", "embedding.positions");
  if (e.token_types) r.table(base + "embeddings.token_type_embeddings", "types.tokens");
  r.norm(base + "embeddings.LayerNorm", "embedding norm", true);
  for (int l = 0; l < e.layers; ++l) {
    const std::string h = fmt::format("{}encoder.layer.{}.", base, l), o = fmt::format("layer {} ", l);
    const std::string self = h + "attention.self.";
    r.three(self + "query", self + "key", self + "value", o + "qkv", e.width, true);
    r.linear(h + "attention.output.dense", o + "projection", true);
    r.norm(h + "attention.output.LayerNorm", o + "norm 1", true);
    r.linear(h + "intermediate.dense", o + "up", true), r.linear(h + "output.dense", o + "down", true);
    r.norm(h + "output.LayerNorm", o + "norm 2", true);
  }
  return r;
}
/// The layers that guess words: a linear layer, a norm, and the table of tokens with a bias, where a file may
/// have a second name of the table and of the bias.
inline void add_word_tensors(tensor_rules& r, const std::string& dense, const std::string& norm,
                             const std::string& head) {
  r.linear(dense, "words", true), r.norm(norm, "words norm", true);
  r.all.push_back({head + ".bias", "head.bias"});
  r.copy(head + ".decoder.weight", "embedding.tokens"), r.copy(head + ".decoder.bias", "head.bias");
}
/// Marks what has been added since there were `body` rules.
inline std::vector<tensor_rule> with_task(tensor_rules r, std::size_t body) {
  for (std::size_t k = body; k < r.all.size(); ++k) r.all[k].is_of_task = true;
  return std::move(r.all);
}

inline std::vector<tensor_rule> bert_tensors(const encoder& e) {
  tensor_rules r = encoder_tensors(e, "bert.");
  const std::size_t body = r.all.size();
  if (e.task == encoder_task::next_sentence || e.task == encoder_task::sequence_classes)
    r.linear("bert.pooler.dense", "pooler", true);
  switch (e.task) {
    case encoder_task::next_sentence:
      r.linear("cls.seq_relationship", "next sentence", true);
      [[fallthrough]];
    case encoder_task::masked_words:
      add_word_tensors(r, "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                       "cls.predictions");
      break;
    case encoder_task::sequence_classes:
    case encoder_task::token_classes: r.linear("classifier", "classifier", true); break;
    case encoder_task::span: r.linear("qa_outputs", "span", true); break;
  }
  return with_task(std::move(r), body);
}
inline std::vector<tensor_rule> roberta_tensors(const encoder& e) {
  tensor_rules r = encoder_tensors(e, "roberta.");
  const std::size_t body = r.all.size();
  switch (e.task) {
    case encoder_task::next_sentence: break;  // RoBERTa has no such task
    case encoder_task::masked_words:
      add_word_tensors(r, "lm_head.dense", "lm_head.layer_norm", "lm_head");
      break;
    case encoder_task::sequence_classes:
      r.linear("classifier.dense", "pooler", true), r.linear("classifier.out_proj", "classifier", true);
      break;
    case encoder_task::token_classes: r.linear("classifier", "classifier", true); break;
    case encoder_task::span: r.linear("qa_outputs", "span", true); break;
  }
  return with_task(std::move(r), body);
}

inline constexpr basic_family<encoder> bert{"bert",
                                            "BertForMaskedLM",
                                            "bert.",
                                            nullptr,
                                            [](const config_file& c) {
                                              encoder e = read_bert(c, "Bert");
                                              e.padding = c.token("pad_token_id", 0);
                                              return e;
                                            },
                                            [](const encoder& e) { return write_bert(e, "Bert"); },
                                            bert_tensors};

inline constexpr basic_family<encoder> roberta{
    "roberta",
    "RobertaForMaskedLM",
    "roberta.",
    nullptr,
    [](const config_file& c) {
      encoder e = read_bert(c, "Roberta");
      e.padding = c.token("pad_token_id", 1).value_or(1);
      e.unused_positions = *e.padding + 1, e.positions -= e.unused_positions;
      if (e.positions < 1)
        throw c.error("'max_position_embeddings' {} leaves no position after that of 'pad_token_id' {}",
                      e.positions + e.unused_positions, *e.padding);
      if (e.task == encoder_task::next_sentence)
        throw c.error("RoBERTa does not guess whether a sentence follows: it has no RobertaForPreTraining");
      return e;
    },
    [](const encoder& e) { return write_bert(e, "Roberta"); },
    roberta_tensors};

}  // namespace wsl::ml::hugging_face
