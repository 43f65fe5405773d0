// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <fmt/format.h>

#include <params.hpp>
#include <wsl/ml/io/hugging_face/config.hpp>

#include "../bert/dropouts.hpp"

namespace dpr_app {
namespace {

namespace ml = wsl::ml;

constexpr std::pair<const char*, ml::nonlinearity> nonlinearities[] = {
    {"gelu", ml::nonlinearity::gelu},
    {"gelu_new", ml::nonlinearity::gelu_tanh},
    {"relu", ml::nonlinearity::relu},
    {"silu", ml::nonlinearity::silu}};

ml::nonlinearity nonlinearity_of(const std::string& word) {
  for (const auto& [name, what] : nonlinearities)
    if (word == name) return what;
  throw std::invalid_argument(
      fmt::format("there is no {}", word));  // fields take the words of the table only
}
std::string word_of(ml::nonlinearity what) {
  for (const auto& [name, x] : nonlinearities)
    if (x == what) return name;
  return "?";
}

}  // namespace

void declare(train_app::fields& f, model_params& m) {
  f.section("model");
  f.add("vocab_size", m.vocab_size, "null: the tokens of the vocabulary").at_least(1).at_most(1 << 24);
  f.add("hidden_size", m.hidden_size, "features of a token").at_least(1).at_most(1 << 20);
  f.add("num_hidden_layers", m.layers, "blocks of each encoder").at_least(1).at_most(10'000);
  f.add("num_heads", m.heads, "of attention").at_least(1).at_most(1 << 16);
  f.add("filter_size", m.filter_size, "features inside the feed-forward part; null: 4 times hidden_size")
      .at_least(1)
      .at_most(1 << 24);
  f.add("max_position_embeddings", m.max_position_embeddings,
        "tokens of the longest sequence; null: that of the data")
      .at_least(1)
      .at_most(1 << 24);
  f.add("num_segments", m.num_segments, "token types, those of a title and of its text; 0: none").at_least(0);
  f.add("encoder_nonlinearity", m.nonlinearity, "between the matrices of the feed-forward part")
      .one_of({"gelu", "gelu_new", "relu", "silu"});
  f.add("layer_norm_epsilon", m.epsilon, "added to the variance").above(0);
  f.add("initializer_range", m.deviation, "standard deviation of the initial weights").above(0);
  f.add("initializer", m.initializer,
        "how matrices and tables start: normal, truncated_normal, or a map with std, a and b; null: normal, "
        "as initializer_range says (of this program)");
  f.in_the_zoo([&m](train_app::fields& all) {
    train_app::set_default_of_zoo(all, "model.initializer", train_app::cut_normal_of_zoo(m.deviation));
  });
  bert_app::declare_dropouts(f, m.dropout, m.attention_dropout, m.ffn_dropout);
  f.add("pad_token_id", m.pad_token_id, "of padding, whose embedding is not learnt").at_least(0);
  f.add("projection_dim", m.projection_dim,
        "features to which the state of the first token is projected; 0: it is the vector itself")
      .at_least(0)
      .at_most(1 << 20);
  f.add("use_biencoder", m.use_biencoder,
        "questions and passages have an encoder each; false: they share one");
  f.add("softmax_temperature", m.temperature, "by which scores are divided").above(0);
  f.add("mutual_information", m.mutual_information, "passages choose among questions, too");
  f.nested("model", "q_encoder", "model"), f.nested("model", "ctx_encoder", "model");
  f.honours("name", {"dpr"});
  f.honours("scale_similarity", {"false"}, "scores are divided by softmax_temperature");
  f.no_effect("a word", {"pooler_nonlinearity"}, "the vector is that of the first token, without a pooler");
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.no_effect("true or false", {"attention_softmax_fp32"}, "softmaxes are of f32 in any case");
  f.honours("pooler_type", {"cls"});
  f.honours("position_embedding_type", {"learned"});
  f.honours("attention_type", {"scaled_dot_product"});
}

model_params model_params::of(const ml::dual_encoder& d, const std::string& from) {
  using ml::hugging_face::shortest;
  const ml::encoder& e = d.questions;
  if (!(e == d.passages))
    throw std::invalid_argument(fmt::format(
        "the encoders of {} have two forms, and here both have one: take two of equal sizes", from));
  model_params m;
  m.vocab_size = e.vocabulary, m.hidden_size = e.width, m.layers = e.layers, m.heads = e.heads;
  m.filter_size = e.filter, m.max_position_embeddings = e.positions, m.num_segments = e.token_types;
  m.nonlinearity = word_of(e.between), m.projection_dim = d.projection;
  m.epsilon = shortest(e.epsilon), m.deviation = shortest(e.deviation);
  m.pad_token_id = e.padding.value_or(0);
  return m;
}

ml::dual_encoder model_params::pair(int passages_of_question) const {
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
  const ml::encoder e{
      .vocabulary = vocab_size,
      .positions = max_position_embeddings,
      .layers = layers,
      .heads = heads,
      .width = hidden_size,
      .filter = filter_size,
      .token_types = num_segments,
      .between = nonlinearity_of(nonlinearity),
      .epsilon = static_cast<wsl::f32>(epsilon),
      .deviation = static_cast<wsl::f32>(deviation),
      .padding = pad_token_id,
      .dropout = static_cast<wsl::f32>(dropout),
      .attention_dropout = static_cast<wsl::f32>(attention_dropout < 0 ? dropout : attention_dropout),
      .inner_dropout = static_cast<wsl::f32>(ffn_dropout < 0 ? dropout : ffn_dropout),
      .usual = train_app::start_of(initializer)};
  return {.questions = e,
          .passages = e,
          .projection = projection_dim,
          .shared = !use_biencoder,
          .passages_of_question = passages_of_question,
          .temperature = static_cast<wsl::f32>(temperature),
          .mutual = mutual_information};
}

train_app::named_words model_params::architecture() const {
  const ml::encoder e = pair(1).questions;
  return {{"use_biencoder", use_biencoder ? "true" : "false"},
          {"projection_dim", std::to_string(projection_dim)},
          {"hidden_size", std::to_string(e.width)},
          {"num_hidden_layers", std::to_string(e.layers)},
          {"num_heads", std::to_string(e.heads)},
          {"filter_size", std::to_string(e.inner_width())},
          {"vocab_size", std::to_string(e.vocabulary)},
          {"max_position_embeddings", std::to_string(e.positions)},
          {"num_segments", std::to_string(e.token_types)},
          {"encoder_nonlinearity", nonlinearity},
          {"layer_norm_epsilon", fmt::format("{}", epsilon)},
          {"pad_token_id", std::to_string(pad_token_id)}};
}

std::string model_params::words() const {
  return fmt::format("{} of {} layers, {} heads, width {}{}",
                     use_biencoder ? "two encoders" : "one encoder of questions and passages", layers, heads,
                     hidden_size, projection_dim ? fmt::format(", projected to {}", projection_dim) : "");
}

}  // namespace dpr_app
