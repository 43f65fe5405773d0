// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <params.hpp>
#include <wsl/ml/io/hugging_face/config.hpp>
#include <wsl/ml/model/mup.hpp>

#include "word_tables.hpp"

namespace t5_app {
namespace {

namespace ml = wsl::ml;
using ml::hugging_face::shortest;
using text_app::value_of, text_app::word_of, text_app::words_in;
using wsl::f32;

constexpr std::pair<const char*, ml::nonlinearity> nonlinearities[] = {
    {"relu", ml::nonlinearity::relu},          {"gelu", ml::nonlinearity::gelu},
    {"gelu_new", ml::nonlinearity::gelu_tanh}, {"silu", ml::nonlinearity::silu},
    {"geglu", ml::nonlinearity::geglu},        {"geglu_new", ml::nonlinearity::geglu_tanh},
    {"swiglu", ml::nonlinearity::swiglu},      {"reglu", ml::nonlinearity::reglu}};
constexpr std::pair<const char*, ml::position_encoding> encodings[] = {
    {"relative", ml::position_encoding::relative},
    {"fixed", ml::position_encoding::fixed},
    {"learned", ml::position_encoding::learned}};

bool flag_of(const std::string& word, bool usual) {
  return word.empty() ? usual : word == "true" || word == "True";
}

}  // namespace

void declare(train_app::fields& f, model_params& m) {
  f.section("model");
  f.add("name", m.name,
        "t5: relative positions, rms norms that begin branches, no biases; transformer: fixed positions, "
        "norms "
        "that end branches, biases; what is given is as given")
      .one_of({"t5", "transformer"});
  f.add("src_vocab_size", m.vocab_size, "null: the tokens of the vocabulary").at_least(1).at_most(1 << 24);
  f.add("d_model", m.d_model, "features of a token").at_least(1).at_most(1 << 20).once_called("hidden_size");
  f.add("d_kv", m.d_kv, "features of a head; null: d_model / num_heads").at_least(1);
  f.add("d_ff", m.d_ff, "features inside the feed-forward part; null: 4 times d_model")
      .at_least(1)
      .once_called("filter_size");
  f.add("encoder_num_hidden_layers", m.encoder_layers, "blocks that read").at_least(1).at_most(10'000);
  f.add("decoder_num_hidden_layers", m.decoder_layers, "blocks that write; null: as many")
      .at_least(1)
      .at_most(10'000);
  f.add("num_heads", m.heads, "of attention").at_least(1).at_most(1 << 16);
  f.add("encoder_nonlinearity", m.nonlinearity, "between the matrices of the feed-forward part; null: relu")
      .one_of(words_in(nonlinearities));
  f.add("norm_type", m.norm, "null: rmsnorm of t5, layernorm of transformer")
      .one_of({"rmsnorm", "layernorm"});
  f.add("use_pre_normalization", m.norm_first, "norms begin branches; null: those of t5 do")
      .one_of({"true", "false", "True", "False"})
      .once_called("use_pre_encoder_decoder_layer_norm");
  f.add("position_embedding_type", m.position, "null: relative of t5, fixed of transformer")
      .one_of(words_in(encodings));
  f.add("relative_attention_num_buckets", m.buckets, "numbers of each head for distances").at_least(4);
  f.add("relative_attention_max_distance", m.max_distance, "from here on distances have one number")
      .at_least(2);
  f.add("max_position_embeddings", m.max_position_embeddings,
        "tokens of the longest text, for fixed and learned positions; null: those of the data")
      .at_least(1);
  f.add("layer_norm_epsilon", m.epsilon, "added to the variance; null: 1e-6 of t5, 1e-5 of transformer")
      .above(0);
  f.add("initializer_range", m.deviation, "standard deviation of the initial weights").above(0);
  f.add("initializer_factor", m.initializer_factor,
        "weights begin as those of T5, whose deviations the widths say, times this; null: as "
        "initializer_range says")
      .above(0);
  f.in_the_zoo([&m](train_app::fields& all) {
    if (m.name == "t5" && !m.transformer_start && !m.has_mup() && !all.is_given("model.initializer_range"))
      train_app::set_default_of_zoo(all, "model.initializer_factor", "1");
    // losses/T5ForConditionalGenerationLoss.py: the weight counts with the scaling batch_size only.
    train_app::set_default_of_zoo(all, "model.mlm_loss_scaling", "batch_size");
    if (m.loss_scaling == "batch_size") train_app::set_default_of_zoo(all, "model.lm_loss_weight", "1");
  });
  f.add("dropout_rate", m.dropout, "of embeddings and of what blocks add").at_least(0).at_most(1);
  f.add("attention_dropout_rate", m.attention_dropout, "of the weights of attention; null: dropout_rate")
      .at_least(0)
      .at_most(1);
  f.add("label_smoothing", m.label_smoothing,
        "the part of a target that all tokens share; in training only, evaluations take none")
      .at_least(0)
      .at_most(1);
  f.add("share_encoder_decoder_embedding", m.share_embeddings, "both sides have one table of tokens");
  f.add("share_embedding_weights", m.tied, "the head is the decoder's table of tokens");
  f.add("use_ffn_bias", m.biases, "linear layers have biases; null: those of transformer")
      .one_of({"true", "false", "True", "False"});
  f.add("logit_bias", m.logit_bias, "the logits have a bias that is not trained; null: no")
      .one_of({"true", "false"});
  f.add("attention_scale", m.attention_scale, "factor of the scores; null: 1 of t5, or 1 / sqrt(d_kv)")
      .above(0);
  f.add("embedding_scale", m.embedding_scale,
        "factor of embeddings; null: sqrt(d_model) of transformer, 1 of t5")
      .above(0);
  f.add("logit_scale", m.logit_scale,
        "factor of what the head reads; null: 1 / sqrt(d_model) of a tied t5, or 1")
      .above(0);
  f.add("extra_ids", m.extra_ids, "tokens beside those of src_vocab_size").at_least(0).at_most(1 << 20);
  f.add("tgt_vocab_size", m.decoder_vocab_size, "that of src_vocab_size, for there is one vocabulary")
      .at_least(1);
  f.add("src_max_position_embeddings", m.src_positions, "as max_position_embeddings, of the encoder")
      .at_least(1);
  f.add("tgt_max_position_embeddings", m.tgt_positions, "the same of the decoder").at_least(1);
  f.add("decoder_nonlinearity", m.decoder_nonlinearity, "that of the encoder")
      .one_of(words_in(nonlinearities));
  f.add("use_projection_bias_in_attention", m.projection_bias,
        "queries, keys and values have biases; null: as use_ffn_bias")
      .one_of({"true", "false", "True", "False"});
  f.add("use_ffn_bias_in_attention", m.output_bias,
        "outputs of attention have biases; null: no with use_transformer_initialization, or else as queries")
      .one_of({"true", "false", "True", "False"});
  f.add("use_t5_layer_norm", m.t5_norm, "as norm_type rmsnorm; false: as layernorm, in older files")
      .one_of({"true", "false", "True", "False"});
  f.refuses([&m] {
    if (!m.norm.empty() && !m.t5_norm.empty() && (m.norm == "rmsnorm") != flag_of(m.t5_norm, false))
      throw std::invalid_argument(fmt::format(
          "model.use_t5_layer_norm {} and model.norm_type {} are two norms: leave use_t5_layer_norm "
          "out, the older name, or give it {}",
          m.t5_norm, m.norm, m.norm == "rmsnorm"));
  });
  f.add("lm_loss_weight", m.loss_weight,
        "factor of the sum of the losses of tokens, divided by the sequences, as in the Model Zoo; null: "
        "their "
        "mean")
      .above(0);
  f.add(
       "mlm_loss_scaling", m.loss_scaling,
       "what divides the sum of the losses: batch_size, the sequences; num_masked or precomputed_num_masked, "
       "the tokens that count; null: batch_size where lm_loss_weight is given")
      .one_of({"batch_size", "num_masked", "precomputed_num_masked"});
  f.add("use_transformer_initialization", m.transformer_start,
        "the Model Zoo's Transformer: weights begin as there, the embedding has no factor, a norm ends each "
        "side");
  f.add("use_pre_encoder_decoder_dropout", m.drops_embedding_twice, "embeddings are dropped once more");
  f.add("use_dropout_outside_residual_path", m.drops_last,
        "what a side gives is dropped, too; null: where norms begin branches")
      .one_of({"true", "false", "True", "False"});
  f.add("relu_dropout_rate", m.relu_dropout,
        "inside the feed-forward parts of the encoder; null: dropout_rate, as in the decoder")
      .at_least(0)
      .at_most(1);
  constexpr f64 largest = 1 << 20;
  f.add("mup_base_d_model", m.base_d_model,
        "muP: the d_model of the base model for which the settings were tuned; null: no muP")
      .at_least(1)
      .at_most(largest);
  f.add("mup_base_d_ff", m.base_d_ff, "muP: its d_ff").at_least(1).at_most(largest);
  f.add("mup_base_d_kv", m.base_d_kv, "muP: its d_kv, where that varies with the width; null: it does not")
      .at_least(1)
      .at_most(largest);
  f.add("embeddings_alpha", m.embeddings_alpha,
        "factor of embeddings, with muP beside sqrt(d_model); null: 1 with muP, or embedding_scale")
      .above(0);
  f.add("output_logits_alpha", m.logits_alpha, "muP: factor of the logits beside that of the widths; null: 1")
      .above(0);
  f.add("scale_output_logits_by_d", m.logits_by_d,
        "muP: mup_base_d_model / d_model is a factor of the logits; false: its root is");
  f.add("encoder_attention_logits_alpha", m.encoder_alpha,
        "factor of the encoder's scores beside their scale")
      .above(0);
  f.add("decoder_attention_logits_alpha", m.decoder_alpha, "the same of the decoder's").above(0);
  f.add("scale_encoder_qk_dot_by_d", m.encoder_by_d,
        "the encoder's scores are divided by d_kv, not by its root; null: with muP")
      .one_of({"true", "false", "True", "False"});
  f.add("scale_decoder_qk_dot_by_d", m.decoder_by_d, "the same of the decoder's")
      .one_of({"true", "false", "True", "False"});
  f.no_effect("true or false", {"attention_softmax_fp32"}, "softmaxes are of f32 in any case");
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.no_effect("a word", {"attention_kernel"}, "it chooses among ways to compute the same");
  f.no_effect("true or false", {"enable_vts"}, "padding is hidden, whether it is computed or not");
  f.add("pad_token_id", m.pad_token_id, "of padding, whose embedding is not learnt; null: it is").at_least(0);
}

model_params model_params::of(const ml::encoder_decoder& m, const std::string& name) {
  model_params p;
  p.name = name == "t5" ? "t5" : "transformer";
  p.vocab_size = m.vocabulary, p.d_model = m.width, p.d_kv = m.width_of_head(), p.d_ff = m.inner_width();
  p.encoder_layers = m.layers, p.decoder_layers = m.layers_of_decoder(), p.heads = m.heads;
  p.nonlinearity = word_of(nonlinearities, m.between), p.position = word_of(encodings, m.position);
  p.norm = m.norm == ml::normalization::rmsnorm ? "rmsnorm" : "layernorm";
  p.norm_first = m.norm_first ? "true" : "false", p.biases = m.biases ? "true" : "false";
  if (m.qkv_biases) p.projection_bias = *m.qkv_biases ? "true" : "false";
  if (m.projection_biases) p.output_bias = *m.projection_biases ? "true" : "false";
  p.logit_bias = m.logit_bias ? "true" : "false";
  p.buckets = m.buckets, p.max_distance = m.max_distance, p.max_position_embeddings = m.positions;
  p.epsilon = shortest(m.epsilon), p.deviation = shortest(m.deviation);
  p.share_embeddings = m.shared_embedding, p.tied = m.tied;
  p.attention_scale = shortest(m.attention_scale), p.embedding_scale = shortest(m.embedding_scale);
  p.logit_scale = shortest(m.logit_scale), p.pad_token_id = m.padding.value_or(-1);
  return p;
}

ml::encoder_decoder model_params::model() const {
  const auto needs = [](const char* what, int value) {
    if (value < 1) throw std::invalid_argument(fmt::format("model.{} is missing", what));
  };
  needs("d_model", d_model), needs("encoder_num_hidden_layers", encoder_layers), needs("num_heads", heads);
  needs("src_vocab_size", vocab_size);
  if (d_model % heads && !d_kv)
    throw std::invalid_argument(
        fmt::format("model.num_heads {} does not divide model.d_model {}: each head has an equal part of the "
                    "features, or "
                    "d_kv of them",
                    heads, d_model));
  const bool is_t5 = name == "t5";
  const f32 root = std::sqrt(static_cast<f32>(d_model));
  if (decoder_vocab_size && decoder_vocab_size != vocab_size)
    throw std::invalid_argument(
        fmt::format("model.tgt_vocab_size {} is not src_vocab_size {}: there is one vocabulary",
                    decoder_vocab_size, vocab_size));
  if (!decoder_nonlinearity.empty() && decoder_nonlinearity != (nonlinearity.empty() ? "relu" : nonlinearity))
    throw std::invalid_argument(
        fmt::format("model.decoder_nonlinearity {} is not encoder_nonlinearity {}: both "
                    "sides have one",
                    decoder_nonlinearity, nonlinearity.empty() ? "relu" : nonlinearity));
  ml::encoder_decoder m{.vocabulary = vocabulary(),
                        .layers = encoder_layers,
                        .heads = heads,
                        .width = d_model,
                        .decoder_layers = decoder_layers,
                        .positions = std::max({max_position_embeddings, src_positions, tgt_positions}),
                        .filter = d_ff,
                        .head_width = d_kv,
                        .between = value_of(nonlinearities, nonlinearity.empty() ? "relu" : nonlinearity),
                        .epsilon = static_cast<f32>(epsilon > 0 ? epsilon
                                                    : is_t5     ? 1e-6
                                                                : 1e-5),
                        .deviation = static_cast<f32>(deviation)};
  const bool has_rms = !norm.empty() ? norm == "rmsnorm" : flag_of(t5_norm, is_t5);
  m.norm = has_rms ? ml::normalization::rmsnorm : ml::normalization::layernorm;
  m.norm_first = flag_of(norm_first, is_t5), m.biases = flag_of(biases, !is_t5);
  const bool qkv_biases = flag_of(projection_bias, m.biases),
             output_biases = flag_of(output_bias, qkv_biases && !transformer_start);
  if (qkv_biases != m.biases) m.qkv_biases = qkv_biases;
  if (output_biases != m.biases) m.projection_biases = output_biases;
  m.logit_bias = flag_of(logit_bias, false);
  m.position = value_of(encodings, !position.empty() ? position : is_t5 ? "relative" : "fixed");
  m.buckets = buckets, m.max_distance = max_distance;
  if (embedding_scale > 0 && embeddings_alpha > 0)
    throw std::invalid_argument(
        "model has embeddings_alpha and embedding_scale, which both are factors of embeddings: give one of "
        "them");
  m.embedding_scale = static_cast<f32>(std::max(embedding_scale, embeddings_alpha));
  if (m.embedding_scale == 0) m.embedding_scale = is_t5 || transformer_start || has_mup() ? 1 : root;
  const bool has_root = (is_t5 || transformer_start) && tied;
  m.logit_scale = logit_scale > 0 ? static_cast<f32>(logit_scale) : has_root ? 1 / root : 1;
  m.shared_embedding = share_embeddings, m.tied = tied;
  check_mup();
  set_scores(m);
  if (pad_token_id >= 0) m.padding = pad_token_id;
  m.dropout = static_cast<f32>(dropout);
  m.attention_dropout = static_cast<f32>(attention_dropout < 0 ? dropout : attention_dropout);
  m.inner_dropout = static_cast<f32>(relu_dropout), m.drops_embedding_twice = drops_embedding_twice;
  if (!drops_last.empty()) m.drops_last = flag_of(drops_last, false);
  if (initializer_factor > 0) start_as_t5(m);
  if (transformer_start) start_as_transformer(m);
  if (has_mup())
    m = with_mup(std::move(m), {.width = base_d_model,
                                .filter = base_d_ff,
                                .logits = static_cast<f32>(logits_alpha > 0 ? logits_alpha : 1),
                                .logits_by_root = !logits_by_d,
                                .head = base_d_kv});
  m.label_smoothing = static_cast<f32>(label_smoothing);
  m.loss_by_sequences = loss_scaling.empty() ? loss_weight > 0 : loss_scaling == "batch_size";
  m.loss_factor = m.loss_by_sequences && loss_weight > 0 ? static_cast<f32>(loss_weight) : 1;
  return m;
}

void model_params::check_mup() const {
  if (has_mup() && !(base_d_model > 0 && base_d_ff > 0))
    throw std::invalid_argument(fmt::format(
        "model.{} is missing: muP needs mup_base_d_model and mup_base_d_ff, the sizes of the base "
        "model; give it, or leave all of them out",
        base_d_model > 0 ? "mup_base_d_ff" : "mup_base_d_model"));
  if (!has_mup() && (logits_alpha > 0 || logits_by_d))
    throw std::invalid_argument(
        fmt::format("model.{} is of muP, and does nothing without mup_base_d_model and mup_base_d_ff: give "
                    "both, or leave it "
                    "out; logit_scale is a factor of what the head reads",
                    logits_alpha > 0 ? "output_logits_alpha" : "scale_output_logits_by_d"));
  if (!has_mup()) return;
  if (transformer_start)
    throw std::invalid_argument(
        "model.use_transformer_initialization says how weights begin, and so does muP: leave it out, or "
        "mup_base_d_model and mup_base_d_ff");
  if (logit_scale > 0)
    throw std::invalid_argument(
        "model.logit_scale is given, and with muP the factor of the logits is output_logits_alpha beside "
        "that of "
        "the widths: give that");
}

void model_params::set_scores(ml::encoder_decoder& m) const {
  const bool is_scaled = name != "t5" || transformer_start || has_mup(), is_own = attention_scale > 0;
  const f32 head = static_cast<f32>(m.width_of_head());
  const auto scale = [&](const std::string& by_d, const char* side, f64 alpha) {
    const bool by_head = flag_of(by_d, has_mup() && !is_own);
    if (is_own && by_head)
      throw std::invalid_argument(
          fmt::format("model has scale_{}_qk_dot_by_d and attention_scale, which say the same of the scores: "
                      "give one of them",
                      side));
    if (by_head && !is_scaled)
      throw std::invalid_argument(
          fmt::format("model.scale_{}_qk_dot_by_d: scores of t5 are not divided, unless it has muP "
                      "(mup_base_d_model) or use_transformer_initialization",
                      side));
    const f32 usual = is_own       ? static_cast<f32>(attention_scale)
                      : !is_scaled ? 1
                      : by_head    ? 1 / head
                                   : 1 / std::sqrt(head);
    return static_cast<f32>(alpha) * usual;
  };
  const f32 of_encoder = scale(encoder_by_d, "encoder", encoder_alpha),
            of_decoder = scale(decoder_by_d, "decoder", decoder_alpha);
  // 0 is the usual one, but muP would take it for one that is not given.
  if (has_mup() || of_encoder != 1 / std::sqrt(head)) m.attention_scale = of_encoder;
  if (of_decoder != of_encoder) m.decoder_attention_scale = of_decoder;
}

/// Release_2.10.0, models/nlp/t5/t5_model.py, but for the relative positions, RelativePositionEmbeddingLayer.
void model_params::start_as_t5(ml::encoder_decoder& m) const {
  const auto other = transformer_start ? "use_transformer_initialization"
                     : has_mup()       ? "mup_base_d_model"
                                       : "";
  if (*other)
    throw std::invalid_argument(fmt::format(
        "model.initializer_factor says how weights begin, and so does model.{}: leave one of them out",
        other));
  const auto normal = [&](f32 times) {
    return ml::initial::normal(static_cast<f32>(initializer_factor) * times);
  };
  const f32 width = static_cast<f32>(m.width);
  const ml::side_starts both{.attention = normal(1 / std::sqrt(width)),
                             .queries = 1 / std::sqrt(static_cast<f32>(m.width_of_head())),
                             .projection = normal(1 / std::sqrt(width)),
                             .up = normal(1 / std::sqrt(width)),
                             .down = normal(1 / std::sqrt(static_cast<f32>(m.inner_width())))};
  m.encoder_starts = m.decoder_starts = both;
  m.embedding_start = m.head_start = normal(1);
  m.relative_start = ml::initial::uniform(std::sqrt(6 / static_cast<f32>(m.buckets + m.heads)));
}

/// Release_2.10.0, models/nlp/t5/t5_model.py.
void model_params::start_as_transformer(ml::encoder_decoder& m) const {
  const f32 width = static_cast<f32>(m.width), heads_together = static_cast<f32>(m.of_heads());
  const f32 of_attention = std::sqrt(2 / (3 * (width + heads_together))),  // variance scaling by 1 / 9
      of_filter = std::sqrt(6 / (width + static_cast<f32>(m.inner_width())));
  const ml::side_starts both{.attention = ml::initial::uniform(of_attention),
                             .queries = 1 / std::sqrt(static_cast<f32>(m.width_of_head())),
                             .projection = ml::initial::uniform(of_attention),
                             .up = ml::initial::uniform(of_filter),
                             .down = ml::initial::uniform(of_filter)};
  m.encoder_starts = m.decoder_starts = both;
  m.embedding_start = ml::initial::truncated_normal(1, -2, 2), m.head_start = ml::initial::normal(1);
  m.last_norm = true;
}

train_app::named_words model_params::architecture() const {
  const ml::encoder_decoder m = model();
  const auto word = [](bool x) { return std::string(x ? "true" : "false"); };
  train_app::named_words all{{"d_model", std::to_string(m.width)},
                             {"d_kv", std::to_string(m.width_of_head())},
                             {"d_ff", std::to_string(m.inner_width())},
                             {"encoder_num_hidden_layers", std::to_string(m.layers)},
                             {"decoder_num_hidden_layers", std::to_string(m.layers_of_decoder())},
                             {"num_heads", std::to_string(m.heads)},
                             {"src_vocab_size", std::to_string(m.vocabulary)},
                             {"encoder_nonlinearity", word_of(nonlinearities, m.between)},
                             {"norm_type", m.norm == ml::normalization::rmsnorm ? "rmsnorm" : "layernorm"},
                             {"use_pre_normalization", word(m.norm_first)},
                             {"position_embedding_type", word_of(encodings, m.position)},
                             {"relative_attention_num_buckets", std::to_string(m.buckets)},
                             {"relative_attention_max_distance", std::to_string(m.max_distance)},
                             {"layer_norm_epsilon", fmt::format("{}", shortest(m.epsilon))},
                             {"share_encoder_decoder_embedding", word(m.shared_embedding)},
                             {"share_embedding_weights", word(m.tied)},
                             {"use_ffn_bias", word(m.biases)},
                             {"attention_scale", fmt::format("{}", shortest(m.attention_scale))},
                             {"embedding_scale", fmt::format("{}", shortest(m.embedding_scale))},
                             {"logit_scale", fmt::format("{}", shortest(m.logit_scale))}};
  // What few models have; a checkpoint without these lines has none of it.
  if (m.decoder_attention_scale != 0)
    all.emplace_back("decoder's attention_scale", fmt::format("{}", shortest(m.decoder_attention_scale)));
  if (m.last_norm.value_or(m.norm_first) != m.norm_first) all.emplace_back("last norms", word(*m.last_norm));
  if (m.qkv_biases) all.emplace_back("use_projection_bias_in_attention", word(*m.qkv_biases));
  if (m.projection_biases) all.emplace_back("use_ffn_bias_in_attention", word(*m.projection_biases));
  if (m.scales_waves) all.emplace_back("embedding_scale of positions", "true");
  return all;
}

std::string model_params::words() const {
  return fmt::format("{}, {} + {} layers, {} heads, width {}", name, encoder_layers,
                     decoder_layers ? decoder_layers : encoder_layers, heads, d_model);
}

}  // namespace t5_app
