// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <charconv>
#include <stdexcept>

namespace gpt_app {
namespace {

namespace ml = wsl::ml;

constexpr std::pair<const char*, ml::nonlinearity> nonlinearities[] = {
    {"gelu", ml::nonlinearity::gelu},
    {"gelu_new", ml::nonlinearity::gelu_tanh},
    {"quick_gelu", ml::nonlinearity::quick_gelu},
    {"relu", ml::nonlinearity::relu},
    {"silu", ml::nonlinearity::silu},
    {"swish", ml::nonlinearity::silu},
    {"swiglu", ml::nonlinearity::swiglu},
    {"geglu", ml::nonlinearity::geglu},
    {"reglu", ml::nonlinearity::reglu}};
ml::nonlinearity nonlinearity_of(const std::string& word) {
  for (const auto& [name, what] : nonlinearities)
    if (word == name) return what;
  throw std::invalid_argument("model.nonlinearity: " + word);
}
ml::positioning positioning_of(const std::string& word) {
  using enum ml::positioning;
  return word == "learned"  ? learned
         : word == "fixed"  ? fixed
         : word == "rotary" ? rotary
         : word == "alibi"  ? alibi
                            : none;
}

}  // namespace

std::string word_of(ml::nonlinearity between) {
  for (const auto& [name, what] : nonlinearities)
    if (between == what) return name;
  return "?";
}

ml::decoder model_params::decoder() const {
  const auto needs = [](const char* what, int value) {
    if (value < 1) throw std::invalid_argument(std::string("model.") + what + " is missing");
  };
  needs("hidden_size", hidden_size), needs("num_hidden_layers", layers), needs("num_heads", heads);
  needs("max_position_embeddings", max_position_embeddings), needs("vocab_size", vocab_size);
  if (hidden_size % heads)
    throw std::invalid_argument("model.num_heads " + std::to_string(heads) +
                                " does not divide model.hidden_size " + std::to_string(hidden_size) +
                                ": each head has an equal part of the features");
  if (embedding_dropout >= 0 && embedding_dropout != dropout)
    throw std::invalid_argument(
        "model.embedding_dropout_rate must be that of dropout_rate: the embedding and what blocks add are "
        "dropped with the same probability");
  if (output_bias && share_embedding_weights)
    throw std::invalid_argument(
        "model.use_bias_in_output must be false with share_embedding_weights: that table has no bias");
  ml::decoder_biases biases = ffn_bias;
  biases.qkv = projection_bias, biases.projection = attention_output_bias, biases.head = output_bias;
  if (kv_groups && heads % kv_groups)
    throw std::invalid_argument("model.num_kv_groups " + std::to_string(kv_groups) +
                                " does not divide model.num_heads " + std::to_string(heads) +
                                ": each group of keys and values has an equal number of heads");
  const model_params usual;
  for (const auto& [field, is_given] : {std::pair("rotary_dim", rotary_dim != usual.rotary_dim),
                                        {"rope_theta", rope_theta != usual.rope_theta}})
    if (is_given && positions != "rotary")
      throw std::invalid_argument("model." + std::string(field) +
                                  " is of position_embedding_type rotary, not of " + positions +
                                  ": leave it out, or --" + field + " null");
  if (experts ? experts_of_token > experts : experts_of_token != usual.experts_of_token)
    throw std::invalid_argument("model.num_experts_per_token " + std::to_string(experts_of_token) +
                                " must be at most num_experts, which is " +
                                (experts ? std::to_string(experts) : "not given"));
  if (attention == "multiquery_attention" && !kv_groups)
    throw std::invalid_argument("model: multiquery_attention needs num_kv_groups");
  return {.vocabulary = vocab_size,
          .positions = max_position_embeddings,
          .layers = layers,
          .heads = heads,
          .width = hidden_size,
          .filter = filter_size,
          .bias = biases,
          .between = nonlinearity_of(nonlinearity),
          .epsilon = static_cast<wsl::f32>(epsilon),
          .deviation = static_cast<wsl::f32>(deviation),
          .kv_heads = kv_groups,
          .norm = norm == "rmsnorm" ? ml::normalization::rmsnorm : ml::normalization::layernorm,
          .position = positioning_of(positions),
          .rotary_features = rotary_dim,
          .rotary_base = rope_theta,
          .tied = share_embedding_weights,
          .dropout = static_cast<wsl::f32>(dropout),
          .attention_dropout = static_cast<wsl::f32>(attention_dropout < 0 ? dropout : attention_dropout),
          .experts = experts,
          .experts_per_token = experts_of_token};
}

train_app::named_words model_params::architecture() const {
  const ml::decoder d = decoder();
  const auto number = [](f64 x) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  };
  const auto yes = [](bool b) { return std::string(b ? "true" : "false"); };
  const bool turns = d.position == ml::positioning::rotary;
  train_app::named_words all{
      {"vocab_size", std::to_string(d.vocabulary)},
      {"hidden_size", std::to_string(d.width)},
      {"num_hidden_layers", std::to_string(d.layers)},
      {"num_heads", std::to_string(d.heads)},
      {"num_kv_groups", d.kv_heads && d.kv_heads != d.heads ? std::to_string(d.kv_heads) : "null"},
      {"max_position_embeddings", std::to_string(d.positions)},
      {"filter_size", std::to_string(d.filter ? d.filter : 4 * d.width)},
      {"nonlinearity", word_of(d.between)},
      {"norm_type", norm},
      {"layer_norm_epsilon", number(epsilon)},
      {"position_embedding_type", positions},
      {"rotary_dim",
       turns ? std::to_string(d.rotary_features ? d.rotary_features : d.width / d.heads) : "null"},
      {"rope_theta", turns ? number(rope_theta) : "null"},
      {"share_embedding_weights", yes(d.tied)},
      {"use_ffn_bias", yes(d.bias.feed_forward)}};
  // These are written only where they are not the usual ones, which are those of checkpoints without the
  // field.
  const auto unless = [&](const char* field, bool is_usual, const std::string& word) {
    if (!is_usual) all.emplace_back(field, word);
  };
  unless("use_projection_bias_in_attention", d.bias.qkv == d.bias.feed_forward, yes(d.bias.qkv));
  unless("use_ffn_bias_in_attention", d.bias.projection == d.bias.feed_forward, yes(d.bias.projection));
  unless("use_bias_in_output", !d.bias.head, "true");
  unless("num_experts", !d.experts, std::to_string(d.experts));
  unless("num_experts_per_token", !d.experts, std::to_string(d.experts_per_token));
  return all;
}

std::string model_params::words() const {
  return std::to_string(layers) + " layers, " + std::to_string(heads) + " heads, width " +
         std::to_string(hidden_size) + ", vocabulary of " + std::to_string(vocab_size);
}

ml::network network_of(const ml::decoder& d) { return d.build(); }

void declare(train_app::fields& f, model_params& m) {
  constexpr int largest = 1 << 20;
  f.section("model");
  f.add("name", m.name, "of the model; what it is the other fields say")
      .one_of({"gpt", "gpt2", "gpt3", "llama"});
  f.add("vocab_size", m.vocab_size, "tokens there are; null: as many as the data have")
      .at_least(1)
      .at_most(1 << 24);
  f.add("hidden_size", m.hidden_size, "features of a token").at_least(1).at_most(largest);
  f.add("num_hidden_layers", m.layers, "blocks").at_least(1).at_most(1000);
  f.add("num_heads", m.heads, "of attention, in a block").at_least(1).at_most(largest);
  f.add("max_position_embeddings", m.max_position_embeddings, "the longest sequence")
      .at_least(1)
      .at_most(largest);
  f.add("filter_size", m.filter_size, "features inside the feed-forward part; null: 4 hidden_size")
      .at_least(1)
      .at_most(largest);
  f.add("nonlinearity", m.nonlinearity, "inside the feed-forward part")
      .one_of({"gelu", "gelu_new", "quick_gelu", "relu", "silu", "swish", "swiglu", "geglu", "reglu"});
  f.add("norm_type", m.norm, "of the norms").one_of({"layernorm", "rmsnorm"});
  f.add("layer_norm_epsilon", m.epsilon, "of the norms").above(0).at_most(1);
  f.add("position_embedding_type", m.positions, "how a token knows its place")
      .one_of({"learned", "fixed", "rotary", "alibi", "none"});
  f.add("rotary_dim", m.rotary_dim, "features of a head that turn; null: all").at_least(2).at_most(largest);
  f.add("rope_theta", m.rope_theta, "base of the rotary frequencies").above(1);
  f.add("attention_module", m.attention, "heads with keys of their own, or shared ones")
      .one_of({"aiayn_attention", "multiquery_attention"});
  f.add("num_kv_groups", m.kv_groups, "heads of keys and values; null: as many as heads")
      .at_least(1)
      .at_most(largest);
  f.add("share_embedding_weights", m.share_embedding_weights, "the table of tokens is the head, too");
  f.add("use_projection_bias_in_attention", m.projection_bias, "queries, keys and values have a bias");
  f.add("use_ffn_bias_in_attention", m.attention_output_bias, "what attention gives has a bias");
  f.add("use_ffn_bias", m.ffn_bias, "the feed-forward part and the norms have biases");
  f.add("use_bias_in_output", m.output_bias, "of the head, unless it is the table of tokens");
  f.add("num_experts", m.experts,
        "feed-forward parts of a block, among which a router divides the tokens; null: one")
      .at_least(1)
      .at_most(1024);
  f.add("num_experts_per_token", m.experts_of_token, "experts that a token goes to, of num_experts")
      .at_least(1)
      .at_most(1024);
  f.add("initializer_range", m.deviation, "standard deviation of the initial weights").above(0).at_most(10);
  f.add("dropout_rate", m.dropout, "of the embedding and of what blocks add")
      .at_least(0)
      .at_most(0.99)
      .once_called("residual_dropout_rate");
  f.add("attention_dropout_rate", m.attention_dropout,
        "of the weights of attention; as dropout_rate if not given")
      .at_least(0)
      .at_most(0.99);
  f.add("embedding_dropout_rate", m.embedding_dropout, "of the embedding; must be that of dropout_rate")
      .at_least(0)
      .at_most(0.99);
  f.honours("attention_type", {"scaled_dot_product"});
  f.honours("loss_scaling", {"num_tokens"});
  f.honours("loss_weight", {"1"});
  f.honours("use_position_embedding", {"true"});
  f.no_effect("true or false", {"attention_softmax_fp32"});
}

}  // namespace gpt_app
