// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <params.hpp>
#include <synthetic.hpp>
#include <wsl/ml/io/hugging_face/config.hpp>
#include <wsl/ml/model/mup.hpp>

#include "dropouts.hpp"
#include "word_tables.hpp"

namespace bert_app {
namespace {

namespace ml = wsl::ml;
using text_app::value_of, text_app::word_of;

constexpr std::pair<const char*, ml::nonlinearity> nonlinearities[] = {
    {"gelu", ml::nonlinearity::gelu},
    {"gelu_new", ml::nonlinearity::gelu_tanh},
    {"relu", ml::nonlinearity::relu},
    {"silu", ml::nonlinearity::silu}};
constexpr std::pair<const char*, ml::encoder_task> tasks[] = {
    {"masked_words", ml::encoder_task::masked_words},
    {"next_sentence", ml::encoder_task::next_sentence},
    {"sequence_classes", ml::encoder_task::sequence_classes},
    {"token_classes", ml::encoder_task::token_classes},
    {"span", ml::encoder_task::span}};
constexpr const char *shared_heads = "linformer-shared-heads", *shared_kv = "linformer-shared-kv";

}  // namespace

void declare(train_app::fields& f, model_params& m) {
  f.section("model");
  f.add("name", m.name, "of the family, whose fields are set unless they are given")
      .one_of({"bert", "roberta", "linformer", "bert/classifier", "bert/token_classifier",
               "bert/extractive_summarization", "bert/qa"});
  f.add("vocab_size", m.vocab_size, "null: the tokens of the vocabulary").at_least(1).at_most(1 << 24);
  f.add("hidden_size", m.hidden_size, "features of a token").at_least(1).at_most(1 << 20);
  f.add("num_hidden_layers", m.layers, "blocks").at_least(1).at_most(10'000);
  f.add("num_heads", m.heads, "of attention").at_least(1).at_most(1 << 16);
  f.add("filter_size", m.filter_size, "features inside the feed-forward part; null: 4 times hidden_size")
      .at_least(1)
      .at_most(1 << 24);
  f.add("max_position_embeddings", m.max_position_embeddings,
        "tokens of the longest sequence; null: max_sequence_length")
      .at_least(1)
      .at_most(1 << 24);
  f.add("num_segments", m.num_segments, "token types, such as first and second text; 0: none").at_least(0);
  f.add("encoder_nonlinearity", m.nonlinearity, "between the matrices of the feed-forward part")
      .one_of({"gelu", "gelu_new", "relu", "silu"});
  f.add("layer_norm_epsilon", m.epsilon, "added to the variance").above(0);
  f.add("initializer_range", m.deviation, "standard deviation of the initial weights").above(0);
  f.add("initializer", m.initializer,
        "how matrices and tables start: normal, truncated_normal, or a map with std, a and b; null: normal, "
        "as initializer_range says (of this program)");
  declare_dropouts(f, m.dropout, m.attention_dropout, m.ffn_dropout);
  f.add("disable_nsp", m.disable_nsp, "pre-training guesses hidden words only, not next sentences");
  f.add("mlm_loss_weight", m.mlm_loss_weight, "factor of the loss of hidden words; null: 1").above(0);
  f.add(
       "mlm_loss_scaling", m.mlm_loss_scaling,
       "what divides the sum of the losses of hidden words: num_masked, their number, or batch_size, that of "
       "the sequences; null: batch_size where mlm_loss_weight is given, as in the Model Zoo, or else "
       "num_masked")
      .one_of({"num_masked", "precomputed_num_masked", "batch_size"});
  f.add(
       "loss_weight", m.loss_weight,
       "factor of the sum of the losses of tokens or sentences with classes, divided by the sequences, as in "
       "the Model Zoo; null: their mean")
      .above(0);
  f.add("num_classes", m.num_classes, "of a task with classes; null: those of the data")
      .at_least(2)
      .once_called("num_labels");
  f.add("task_dropout", m.task_dropout, "of what the layer of the classes reads; null: dropout_rate")
      .at_least(0)
      .at_most(1)
      .once_called("encoder_output_dropout_rate");
  f.add("projected_dims", m.projected_dims,
        "tokens to which linformer projects keys and values; null: attention to all tokens")
      .at_least(1);
  f.add("attention_style", m.attention_style, "whether keys and values of linformer share their projection")
      .one_of({shared_heads, shared_kv});
  f.add("unused_positions", m.unused_positions,
        "rows before that of the first position; with some, padding has no position (RoBERTa)")
      .at_least(0);
  f.add("pad_token_id", m.pad_token_id, "of padding, whose embedding is not learnt").at_least(0);
  f.honours("position_embedding_type", {"learned"});
  f.honours("attention_type", {"scaled_dot_product"});
  f.add("pooler_nonlinearity", m.pooler_nonlinearity, "of the summary of a text from its first token")
      .one_of({"tanh", "gelu", "gelu_new", "relu", "silu"});
  f.honours("problem_type", {"single_label_classification"}, "a text has one class");
  f.add("include_padding_in_loss", m.include_padding, "of tags: padding has the tag labels_pad_id, too");
  f.honours("use_cls_bias", {"true"});
  f.honours("boundary_casting", {"false"});
  constexpr f64 largest = 1 << 20;
  f.add("mup_base_hidden_size", m.base_hidden_size,
        "muP: the hidden_size of the base model for which the settings were tuned; null: no muP")
      .at_least(1)
      .at_most(largest);
  f.add("mup_base_filter_size", m.base_filter_size, "muP: its filter_size").at_least(1).at_most(largest);
  f.add("embeddings_scale", m.embeddings_scale, "factor of the embedding, before its norm").above(0);
  f.add("output_logits_alpha", m.logits_alpha,
        "muP: factor of the logits, beside mup_base_hidden_size / hidden_size; null: 1")
      .above(0);
  f.add("scale_output_logits_by_d", m.logits_by_d,
        "muP: that ratio is a factor of the logits; false: its root is");
  f.add("scale_qk_dot_by_d", m.scale_by_d,
        "scores are divided by a head's features, not by their root; null: with muP")
      .one_of({"true", "false", "True", "False"});
  f.add("attention_logits_alpha", m.attention_alpha, "factor of the scores, beside that").above(0);
  f.no_effect("true or false", {"attention_softmax_fp32"}, "softmaxes are of f32 in any case");
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.no_effect("a word", {"attention_kernel"}, "it chooses among ways to compute the same");
  f.no_effect("true or false", {"enable_vts"}, "padding is hidden, whether it is computed or not");
  f.no_effect("a number", {"precision_opt_level"}, "precision is what model.fp16_type says");
  f.no_effect("a word", {"label_vocab_file", "vocab_file"}, "those of train_input count");
  f.no_effect("true or false", {"mask_padding_in_positional_embed"},
              "padding is hidden from attention, and no loss counts it");
  for (const char* yes :
       {"use_position_embedding", "share_embedding_weights", "use_projection_bias_in_attention",
        "use_ffn_bias_in_attention", "use_ffn_bias", "use_ffn_bias_in_mlm", "use_output_bias_in_mlm"})
    f.honours(yes, {"true"});
  f.in_the_zoo([&m](train_app::fields& all) {
    using train_app::set_default_of_zoo;
    // An encoder that does not guess next sentences, such as RoBERTa, does not tell sentences apart.
    if (m.disable_nsp) set_default_of_zoo(all, "model.num_segments", "0");
    const std::vector<train_app::field*> data = all.named("train_input.data_processor");
    const std::string of_data = data.empty() ? "" : data.front()->text();
    const bool of_words = of_data == "BertCSVDynamicMaskDataProcessor" || of_data == "BertCSVDataProcessor" ||
                          of_data == "BertHDF5DataProcessor" || of_data == train_app::synthetic_processor,
               of_texts = of_data == "BertClassifierDataProcessor" || of_data == "SST2DataProcessor" ||
                          of_data == "MNLIDataProcessor";
    // losses/BertPretrainModelLoss.py: the sum, divided by the sequences, times 1.
    if (of_words && !all.is_given("model.mlm_loss_scaling"))
      set_default_of_zoo(all, "model.mlm_loss_weight", "1");
    if (of_texts || (of_words && !m.disable_nsp))
      set_default_of_zoo(all, "model.pooler_nonlinearity", m.nonlinearity);
    if (of_data == "BertTokenClassifierDataProcessor") {
      set_default_of_zoo(all, "model.dropout_rate", "0");
      const std::vector<train_app::field*> length = all.named("train_input.max_sequence_length");
      if (!m.include_padding) set_default_of_zoo(all, "model.loss_weight", "1");
      else if (!length.empty() && length.front()->text() != "null")
        set_default_of_zoo(all, "model.loss_weight",
                           fmt::format("{}", 1 / std::stod(length.front()->text())));
    }
    set_default_of_zoo(all, "model.initializer", train_app::cut_normal_of_zoo(m.deviation));
  });
}

model_params model_params::of(const ml::encoder& e, const std::string& name) {
  using ml::hugging_face::shortest;
  model_params m;
  m.name = name;
  m.vocab_size = e.vocabulary, m.hidden_size = e.width, m.layers = e.layers, m.heads = e.heads;
  m.filter_size = e.filter, m.max_position_embeddings = e.positions, m.num_segments = e.token_types;
  m.nonlinearity = word_of(nonlinearities, e.between);
  m.epsilon = shortest(e.epsilon), m.deviation = shortest(e.deviation);
  m.unused_positions = e.unused_positions, m.pad_token_id = e.padding.value_or(0);
  return m;
}

ml::encoder model_params::encoder(ml::encoder_task task) const {
  const auto needs = [](const char* what, int value) {
    if (value < 1) throw std::invalid_argument(fmt::format("model.{} is missing", what));
  };
  needs("hidden_size", hidden_size), needs("num_hidden_layers", layers), needs("num_heads", heads);
  needs("max_position_embeddings", max_position_embeddings), needs("vocab_size", vocab_size);
  if (hidden_size % heads)
    throw std::invalid_argument(
        fmt::format("model.num_heads {} does not divide model.hidden_size {}: each head has an equal part of "
                    "the features",
                    heads, hidden_size));
  if (!projected_dims && !attention_style.empty())
    throw std::invalid_argument(
        "model.attention_style is of projected_dims, which is not given: give it, or leave both out");
  if (name == "linformer" && !projected_dims)
    throw std::invalid_argument("model.name linformer needs projected_dims, such as 64");
  const bool of_words = task == ml::encoder_task::masked_words || task == ml::encoder_task::next_sentence,
             of_texts = task == ml::encoder_task::sequence_classes;
  const f64 factor = of_words ? mlm_loss_weight : loss_weight;
  if (!of_words && mlm_loss_weight > 0)
    throw std::invalid_argument(
        "model.mlm_loss_weight is of hidden words, and this task has none: leave it out");
  if (include_padding && task != ml::encoder_task::token_classes)
    throw std::invalid_argument(
        "model.include_padding_in_loss is of words with tags, and this task has none: leave it out");
  if (loss_weight > 0 && (of_words || of_texts || task == ml::encoder_task::span))
    throw std::invalid_argument(
        "model.loss_weight is of tokens or sentences with classes, and this task has none: leave it out");
  return with_factors(
      {.vocabulary = vocab_size,
       .positions = max_position_embeddings,
       .layers = layers,
       .heads = heads,
       .width = hidden_size,
       .filter = filter_size,
       .token_types = num_segments,
       .between = value_of(nonlinearities, nonlinearity),
       .of_pooler = pooler_nonlinearity == "tanh"
                        ? std::nullopt
                        : std::optional(value_of(nonlinearities, pooler_nonlinearity)),
       .epsilon = static_cast<wsl::f32>(epsilon),
       .deviation = static_cast<wsl::f32>(deviation),
       .unused_positions = unused_positions,
       .padding = pad_token_id,
       .projected = projected_dims,
       .shared_projection = attention_style == shared_kv,
       .dropout = static_cast<wsl::f32>(dropout),
       .attention_dropout = static_cast<wsl::f32>(attention_dropout < 0 ? dropout : attention_dropout),
       .inner_dropout = static_cast<wsl::f32>(ffn_dropout < 0 ? dropout : ffn_dropout),
       .usual = train_app::start_of(initializer),
       .task = task,
       .classes = num_classes ? num_classes : 2,
       .loss_factor = static_cast<wsl::f32>(factor > 0 ? factor : 1),
       .loss_by_sequences = of_words
                                ? mlm_loss_scaling == "batch_size" || (mlm_loss_scaling.empty() && factor > 0)
                                : factor > 0,
       .task_dropout = static_cast<wsl::f32>(task_dropout)});
}

ml::encoder model_params::with_factors(ml::encoder e) const {
  if (has_mup() && !(base_hidden_size > 0 && base_filter_size > 0))
    throw std::invalid_argument(fmt::format(
        "model.{} is missing: muP needs mup_base_hidden_size and mup_base_filter_size, the sizes of the base "
        "model; give it, or leave both out",
        base_hidden_size > 0 ? "mup_base_filter_size" : "mup_base_hidden_size"));
  if (!has_mup() && (logits_alpha > 0 || !logits_by_d))
    throw std::invalid_argument(
        fmt::format("model.{} is of muP, and does nothing without mup_base_hidden_size and "
                    "mup_base_filter_size: give both, or leave it out",
                    logits_alpha > 0 ? "output_logits_alpha" : "scale_output_logits_by_d"));
  const bool by_d = scale_by_d.empty() ? has_mup() : scale_by_d == "true" || scale_by_d == "True";
  const wsl::f32 head = static_cast<wsl::f32>(e.width / e.heads);
  if (by_d || attention_alpha != 1 || has_mup())
    e.attention_scale = static_cast<wsl::f32>(attention_alpha) / (by_d ? head : std::sqrt(head));
  e.embedding_scale = static_cast<wsl::f32>(embeddings_scale);
  if (!has_mup()) return e;
  if (logits_alpha > 0 && e.task != ml::encoder_task::masked_words &&
      e.task != ml::encoder_task::next_sentence)
    throw std::invalid_argument(
        "model.output_logits_alpha is of hidden words and next sentences, and this task has neither: leave "
        "it "
        "out");
  return with_mup(std::move(e), {.width = base_hidden_size,
                                 .filter = base_filter_size,
                                 .logits = static_cast<wsl::f32>(logits_alpha > 0 ? logits_alpha : 1),
                                 .logits_by_root = !logits_by_d});
}

train_app::named_words model_params::architecture(ml::encoder_task task) const {
  const ml::encoder e = encoder(task);
  train_app::named_words all{{"task", word_of(tasks, task)},
                             {"hidden_size", std::to_string(e.width)},
                             {"num_hidden_layers", std::to_string(e.layers)},
                             {"num_heads", std::to_string(e.heads)},
                             {"filter_size", std::to_string(e.inner_width())},
                             {"vocab_size", std::to_string(e.vocabulary)},
                             {"max_position_embeddings", std::to_string(e.positions)},
                             {"num_segments", std::to_string(e.token_types)},
                             {"encoder_nonlinearity", nonlinearity},
                             {"layer_norm_epsilon", fmt::format("{}", epsilon)},
                             {"unused_positions", std::to_string(e.unused_positions)},
                             {"pad_token_id", std::to_string(pad_token_id)}};
  if (e.projected) {
    all.emplace_back("projected_dims", std::to_string(e.projected));
    all.emplace_back("attention_style", e.shared_projection ? shared_kv : shared_heads);
  }
  // What few models have; a checkpoint without these lines has none of it.
  const auto factor = [&](const char* what, wsl::f32 x, wsl::f32 usual) {
    if (x != usual) all.emplace_back(what, fmt::format("{}", ml::hugging_face::shortest(x)));
  };
  factor("factor of scores", e.attention_scale, 0), factor("embeddings_scale", e.embedding_scale, 1);
  factor("factor of logits", e.logit_scale, 1);
  if (has_pooler_of_its_own(task)) all.emplace_back("pooler_nonlinearity", pooler_nonlinearity);
  if (task == ml::encoder_task::sequence_classes || task == ml::encoder_task::token_classes)
    all.emplace_back("num_classes", std::to_string(e.classes));
  return all;
}

bool model_params::has_pooler_of_its_own(ml::encoder_task task) const {
  const bool has_pooler =
      task == ml::encoder_task::next_sentence || task == ml::encoder_task::sequence_classes;
  return has_pooler && pooler_nonlinearity != "tanh";
}

std::string model_params::words() const {
  return fmt::format("{}, {} layers, {} heads, width {}{}", name, layers, heads, hidden_size,
                     projected_dims ? fmt::format(", {} projected tokens", projected_dims) : "");
}

}  // namespace bert_app
