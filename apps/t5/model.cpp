// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <wsl/ml/io/hugging_face/config.hpp>

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

bool flag_of(const std::string& word, bool usual) { return word.empty() ? usual : word == "true"; }

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
      .one_of({"true", "false"});
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
  f.add("dropout_rate", m.dropout, "of embeddings and of what blocks add").at_least(0).at_most(1);
  f.add("attention_dropout_rate", m.attention_dropout, "of the weights of attention; null: dropout_rate")
      .at_least(0)
      .at_most(1);
  f.add("label_smoothing", m.label_smoothing, "the part of a target that all tokens share")
      .at_least(0)
      .at_most(1);
  f.add("share_encoder_decoder_embedding", m.share_embeddings, "both sides have one table of tokens");
  f.add("share_embedding_weights", m.tied, "the head is the decoder's table of tokens");
  f.add("use_ffn_bias", m.biases, "linear layers have biases; null: those of transformer")
      .one_of({"true", "false"});
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
  ml::encoder_decoder m{.vocabulary = vocab_size,
                        .layers = encoder_layers,
                        .heads = heads,
                        .width = d_model,
                        .decoder_layers = decoder_layers,
                        .positions = max_position_embeddings,
                        .filter = d_ff,
                        .head_width = d_kv,
                        .between = value_of(nonlinearities, nonlinearity.empty() ? "relu" : nonlinearity),
                        .epsilon = static_cast<f32>(epsilon > 0 ? epsilon
                                                    : is_t5     ? 1e-6
                                                                : 1e-5),
                        .deviation = static_cast<f32>(deviation)};
  m.norm =
      (norm.empty() ? is_t5 : norm == "rmsnorm") ? ml::normalization::rmsnorm : ml::normalization::layernorm;
  m.norm_first = flag_of(norm_first, is_t5), m.biases = flag_of(biases, !is_t5);
  m.logit_bias = flag_of(logit_bias, false);
  m.position = value_of(encodings, !position.empty() ? position : is_t5 ? "relative" : "fixed");
  m.buckets = buckets, m.max_distance = max_distance;
  m.attention_scale = attention_scale > 0 ? static_cast<f32>(attention_scale) : is_t5 ? 1 : 0;
  m.embedding_scale = embedding_scale > 0 ? static_cast<f32>(embedding_scale) : is_t5 ? 1 : root;
  m.logit_scale = logit_scale > 0 ? static_cast<f32>(logit_scale) : is_t5 && tied ? 1 / root : 1;
  m.shared_embedding = share_embeddings, m.tied = tied;
  if (pad_token_id >= 0) m.padding = pad_token_id;
  m.dropout = static_cast<f32>(dropout);
  m.attention_dropout = static_cast<f32>(attention_dropout < 0 ? dropout : attention_dropout);
  m.label_smoothing = static_cast<f32>(label_smoothing);
  return m;
}

train_app::named_words model_params::architecture() const {
  const ml::encoder_decoder m = model();
  const auto word = [](bool x) { return std::string(x ? "true" : "false"); };
  return {{"d_model", std::to_string(m.width)},
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
}

std::string model_params::words() const {
  return fmt::format("{}, {} + {} layers, {} heads, width {}", name, encoder_layers,
                     decoder_layers ? decoder_layers : encoder_layers, heads, d_model);
}

}  // namespace t5_app
