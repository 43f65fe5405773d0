// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <params.hpp>
#include <stdexcept>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/ml/model/mup.hpp>

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
    {"reglu", ml::nonlinearity::reglu},
    {"geglu_new", ml::nonlinearity::geglu_tanh}};
ml::nonlinearity nonlinearity_of(const std::string& word) {
  for (const auto& [name, what] : nonlinearities)
    if (word == name) return what;
  throw std::invalid_argument("model.nonlinearity: " + word);
}
constexpr std::pair<const char*, ml::positioning> positionings[] = {{"learned", ml::positioning::learned},
                                                                    {"fixed", ml::positioning::fixed},
                                                                    {"rotary", ml::positioning::rotary},
                                                                    {"alibi", ml::positioning::alibi},
                                                                    {"none", ml::positioning::none}};
ml::positioning positioning_of(const std::string& word) {
  for (const auto& [name, what] : positionings)
    if (word == name) return what;
  throw std::invalid_argument("model.position_embedding_type: " + word);
}

ml::block_order order_of(const model_params& m) {
  if (m.untied_norms && !m.parallel_block)
    throw std::invalid_argument(
        "model.use_untied_layer_norm is of parallel blocks: take --parallel_block true, or "
        "--use_untied_layer_norm false");
  return !m.parallel_block ? ml::block_order::sequential
         : m.untied_norms  ? ml::block_order::parallel_two_norms
                           : ml::block_order::parallel;
}
ml::rotary_scaling scaling_of(const model_params& m) {
  ml::rotary_scaling s;
  if (m.scaling().empty()) return s;
  if (m.positions != "rotary")
    throw std::invalid_argument(
        fmt::format("model.{0} is of position_embedding_type rotary, not of {1}: leave it out, or --{0} {2}",
                    m.scaling_type.empty() ? "pos_scaling_factor" : "pos_scaling_type", m.positions,
                    m.scaling_type.empty() ? "1" : "null"));
  s.how = m.scaling() == "linear" ? ml::rotary_scaling::kind::linear : ml::rotary_scaling::kind::llama3;
  s.factor = m.scaling_factor;
  if (s.how == ml::rotary_scaling::kind::linear) return s;
  if (!m.scaling_positions)
    throw std::invalid_argument("model.pos_scaling_type llama3 needs original_max_position_embeddings");
  if (!(m.high_frequency > m.low_frequency))
    throw std::invalid_argument("model.high_freq_factor must be above low_freq_factor");
  s.low = m.low_frequency, s.high = m.high_frequency, s.positions = m.scaling_positions;
  return s;
}
wsl::f32 scale_of(const model_params& m) {
  if (m.scale_by_d && m.attention_scale > 0)
    throw std::invalid_argument(
        "model has scale_qk_dot_by_d and attention_scale, which say the same of the scores: give one of "
        "them");
  const auto head = static_cast<wsl::f32>(m.width_of_head() ? m.width_of_head() : m.hidden_size / m.heads),
             alpha = static_cast<wsl::f32>(m.mup.attention_alpha);
  if (m.scale_by_d) return alpha / head;
  if (m.attention_scale > 0) return alpha * static_cast<wsl::f32>(m.attention_scale);
  // 0 stands for the root, but with_mup would take it for one that is not given.
  return m.mup.is_given() || alpha != 1 ? alpha / std::sqrt(head) : 0;
}

/// The starts of the Zoo's initializers: where one is not given, another takes its place or the usual one.
ml::decoder_starts starts_of(const mup_params& m) {
  using train_app::start_of;
  const auto or_else = [](std::optional<ml::initial> a, const std::optional<ml::initial>& b) {
    return a ? a : b;
  };
  const auto all = start_of(m.initializer);
  ml::decoder_starts s{.embedding = start_of(m.embedding),
                       .qkv = all,
                       .projection = start_of(m.output),
                       .up = or_else(start_of(m.ffn), all),
                       .down = start_of(m.ffn_output),
                       .router = all};
  if (m.is_given()) return s;  // the outputs that are not given start as initializer_range says
  s.down = or_else(or_else(s.down, s.projection), all ? s.up : all);
  s.projection = or_else(s.projection, all);
  return s;
}
ml::decoder with_mup_of(ml::decoder d, const mup_params& m) {
  d.starts = starts_of(m);
  if (!m.is_given()) return d;
  d = with_mup(std::move(d), {.width = m.base_hidden_size,
                              .filter = m.base_filter_size,
                              .logits = static_cast<wsl::f32>(m.logits_alpha > 0 ? m.logits_alpha : 1),
                              .logits_by_root = !m.logits_by_d});
  for (const std::string& group : m.own_rates) {
    const bool all = group == "decoder_kernel";
    if (all || group == "decoder_attention") d.rates.attention = 1;
    if (all || group == "decoder_input_ffn") d.rates.up = 1;
    if (all || group == "decoder_output_ffn") d.rates.down = 1;
  }
  return d;
}

/// Those of Hugging Face's families and of the Model Zoo.
std::vector<std::string> names_of_models() {
  std::vector<std::string> all{"gpt", "gpt3", "gpt-neox", "santacoder", "starcoder", "dpo"};
  for (const ml::hugging_face::family* f : ml::hugging_face::families) all.push_back(f->model_type);
  return all;
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
  if (hidden_size % heads && !width_of_head())
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
  if (norm == "biasless-layernorm") {
    if (norm_bias == "true")
      throw std::invalid_argument("model.norm_type biasless-layernorm has no bias: leave use_norm_bias out");
    biases.norms = false;
  } else if (!norm_bias.empty()) biases.norms = norm_bias == "true";
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
  if (balance > 0 && !experts)
    throw std::invalid_argument(
        "model.load_balancing_loss_coef is of num_experts, which is not given: leave it out");
  if (attention == "multiquery_attention" && !kv_groups)
    throw std::invalid_argument("model.attention_module multiquery_attention needs model.num_kv_groups");
  ml::decoder d{
      .vocabulary = vocab_size,
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
      .norm = norm == "rmsnorm" || rms_norm ? ml::normalization::rmsnorm : ml::normalization::layernorm,
      .position = positioning_of(positions),
      .rotary_features = rotary_dim,
      .rotary_base = rope_theta,
      .order = order_of(*this),
      .tied = share_embedding_weights,
      .dropout = static_cast<wsl::f32>(dropout),
      .attention_dropout = static_cast<wsl::f32>(attention_dropout < 0 ? dropout : attention_dropout),
      .rotary_scale = scaling_of(*this),
      .head_width = width_of_head(),
      .window = window,
      .attention_scale = scale_of(*this),
      .scale_by_layer = scale_by_layer,
      .embedding_norm = embedding_norm,
      .unused_positions = unused_positions,
      .embedding_scale = static_cast<wsl::f32>(embeddings_scale),
      .logit_scale = static_cast<wsl::f32>(logits_scale),
      .experts = experts,
      .experts_per_token = experts_of_token,
      .balance = static_cast<wsl::f32>(balance < 0 ? (experts ? 0.01 : 0) : balance),
      .loss_factor = loss_by_sequences ? static_cast<wsl::f32>(loss_weight) : 1,
      .loss_by_sequences = loss_by_sequences};
  return with_mup_of(std::move(d), mup);
}

int model_params::width_of_head() const {
  if (!attention_inner_dim) return head_dim;
  if (head_dim)
    throw std::invalid_argument(
        "model has head_dim and attention_inner_dim, which say the same: give one of them");
  if (heads && attention_inner_dim % heads)
    throw std::invalid_argument(
        "model.num_heads " + std::to_string(heads) + " does not divide model.attention_inner_dim " +
        std::to_string(attention_inner_dim) + ": each head has an equal part of the features");
  return heads ? attention_inner_dim / heads : 0;
}

model_params model_params::of(const ml::decoder& d) {
  using ml::hugging_face::shortest;
  model_params m;
  m.vocab_size = d.vocabulary, m.hidden_size = d.width, m.layers = d.layers, m.heads = d.heads;
  m.filter_size = d.filter, m.max_position_embeddings = d.positions, m.head_dim = d.head_width;
  if (d.kv_heads && d.kv_heads != d.heads) m.attention = "multiquery_attention", m.kv_groups = d.kv_heads;
  m.nonlinearity = word_of(d.between);
  m.norm = d.norm == ml::normalization::rmsnorm ? "rmsnorm" : "layernorm", m.epsilon = shortest(d.epsilon);
  m.deviation = shortest(d.deviation);
  for (const auto& [word, what] : positionings)
    if (d.position == what) m.positions = word;
  if (d.position == ml::positioning::rotary) m.rotary_dim = d.rotary_features, m.rope_theta = d.rotary_base;
  const ml::rotary_scaling& s = d.rotary_scale;
  if (s.how != ml::rotary_scaling::kind::none) {
    const bool is_linear = s.how == ml::rotary_scaling::kind::linear;
    m.scaling_type = is_linear ? "linear" : "llama3", m.scaling_factor = s.factor;
    if (!is_linear) m.low_frequency = s.low, m.high_frequency = s.high, m.scaling_positions = s.positions;
  }
  m.share_embedding_weights = d.tied;
  m.projection_bias = d.bias.qkv, m.attention_output_bias = d.bias.projection,
  m.ffn_bias = d.bias.feed_forward;
  m.output_bias = d.bias.head;
  if (d.bias.norms != d.bias.feed_forward) m.norm_bias = d.bias.norms ? "true" : "false";
  m.dropout = shortest(d.dropout), m.attention_dropout = shortest(d.attention_dropout);
  m.parallel_block = d.order != ml::block_order::sequential;
  m.untied_norms = d.order == ml::block_order::parallel_two_norms;
  m.window = d.window, m.unused_positions = d.unused_positions;
  m.attention_scale = shortest(d.attention_scale), m.scale_by_layer = d.scale_by_layer;
  m.embedding_norm = d.embedding_norm;
  if (d.experts)
    m.experts = d.experts, m.experts_of_token = d.experts_per_token, m.balance = shortest(d.balance);
  m.embeddings_scale = shortest(d.embedding_scale), m.logits_scale = shortest(d.logit_scale);
  return m;
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
      {"norm_type", rms_norm ? "rmsnorm" : norm},
      {"layer_norm_epsilon", number(epsilon)},
      {"position_embedding_type", positions},
      {"rotary_dim",
       turns ? std::to_string(d.rotary_features ? d.rotary_features : d.width / d.heads) : "null"},
      {"rope_theta", turns ? number(rope_theta) : "null"},
      {"share_embedding_weights", yes(d.tied)},
      {"use_ffn_bias", yes(d.bias.feed_forward)}};
  // These are written only where they are not the usual ones, which are those of checkpoints without the
  // field.
  const ml::decoder usual;
  const auto unless = [&](const char* field, bool is_usual, const std::string& word) {
    if (!is_usual) all.emplace_back(field, word);
  };
  unless("use_projection_bias_in_attention", d.bias.qkv == d.bias.feed_forward, yes(d.bias.qkv));
  unless("use_ffn_bias_in_attention", d.bias.projection == d.bias.feed_forward, yes(d.bias.projection));
  unless("use_bias_in_output", !d.bias.head, "true");
  unless("reward_head", !reward_head, "true");
  unless("num_experts", !d.experts, std::to_string(d.experts));
  unless("num_experts_per_token", !d.experts, std::to_string(d.experts_per_token));
  unless("use_norm_bias", d.bias.norms == d.bias.feed_forward, yes(d.bias.norms));
  unless("parallel_block", !parallel_block, "true"), unless("use_untied_layer_norm", !untied_norms, "true");
  unless("head_dim", !d.head_width || d.head_width * d.heads == d.width, std::to_string(d.head_width));
  unless("attention_sliding_window_length", !d.window, std::to_string(d.window));
  unless("unused_positions", !d.unused_positions, std::to_string(d.unused_positions));
  unless("embedding_layer_norm", !d.embedding_norm, "true");
  unless("attention_scale", d.attention_scale == usual.attention_scale,
         number(ml::hugging_face::shortest(d.attention_scale)));
  unless("scale_qk_dot_by_layer_idx", !d.scale_by_layer, "true");
  unless("embeddings_scale", d.embedding_scale == 1, number(embeddings_scale));
  unless("output_logits_scale", d.logit_scale == 1,
         number(mup.is_given() ? ml::hugging_face::shortest(d.logit_scale) : logits_scale));
  unless("pos_scaling_type", scaling().empty(), scaling());
  unless("pos_scaling_factor", scaling().empty(), number(scaling_factor));
  if (scaling_type == "llama3")
    all.insert(all.end(), {{"low_freq_factor", number(low_frequency)},
                           {"high_freq_factor", number(high_frequency)},
                           {"original_max_position_embeddings", std::to_string(scaling_positions)}});
  return all;
}

std::string model_params::words() const {
  return std::to_string(layers) + " layers, " + std::to_string(heads) + " heads, width " +
         std::to_string(hidden_size) + ", vocabulary of " + std::to_string(vocab_size) +
         (reward_head ? ", with a score in place of the head" : "");
}

ml::network network_of(const ml::decoder& d) { return d.build(); }

namespace {

/// What the Zoo's language models have where a file does not say it: utils.py of models/nlp/gpt2 and gptj (of
/// transformers/pytorch in older releases) has the format, gpt2_model.py and gptj_model.py how weights begin.
void take_defaults_of_zoo(train_app::fields& f, model_params& m) {
  using train_app::cut_normal_of_zoo, train_app::set_default_of_zoo;
  const std::vector<train_app::field*> mixed = f.named("model.mixed_precision"),
                                       half = f.named("model.fp16_type");
  if (!mixed.empty() && mixed.front()->text() == "true") {
    if (!f.is_given("model.use_bfloat16")) set_default_of_zoo(f, "model.fp16_type", "bfloat16");
    // There the factor of the loss is 1 unless the file says another, and what a dynamic one begins with is not read.
    if (!f.is_given("optimizer.loss_scaling_factor")) {
      bool is_asked = false;  // for a dynamic factor, on the command line
      for (const char* name :
           {"initial_loss_scale", "min_loss_scale", "max_loss_scale", "steps_per_increase"})
        for (train_app::field* x : f.named(std::string("optimizer.") + name)) {
          if (x->given.starts_with("--")) is_asked = true;
          else if (!x->given.empty())
            f.read_option(*x, "null", "the file"), m.without_effect.emplace_back(name);
        }
      if (!is_asked && half.front()->text() == "float16" &&
          f.named("model.use_bfloat16").front()->text() != "true")
        set_default_of_zoo(f, "optimizer.loss_scaling_factor", "1");
    }
  }
  const bool is_of_gptj =
      m.name == "gptj" || m.name == "gpt-neox" || m.name == "gpt_neox" || m.name == "falcon";
  set_default_of_zoo(f, "model.dropout_rate", "0.1");
  // Of gpt2_model.py so it is since Release_2.4.0, which reads the trainer form; before, it is dropout_rate.
  if (is_of_gptj || f.words().is_trainer_form) set_default_of_zoo(f, "model.attention_dropout_rate", "0.1");
  if (m.experts > 0) {
    set_default_of_zoo(f, "model.num_experts_per_token", "1");
    set_default_of_zoo(f, "model.load_balancing_loss_coef", "0");
  }
  // The name of a model would say another one later.
  for (const char* name : {"gpt2", "gpt3", "gptj", "bloom", "santacoder", "starcoder"})
    if (m.name == name && !f.is_given("model.nonlinearity"))
      f.read_option(*f.named("model.nonlinearity").front(), "gelu", train_app::default_of_zoo);
  const std::string usual = cut_normal_of_zoo(m.deviation);
  set_default_of_zoo(f, "model.embedding_initializer", usual);
  if (is_of_gptj) {
    // `initializer` is of queries, keys and values alone; all other matrices begin as the outputs.
    const bool are_alike = !m.mup.is_given() && !f.is_given("model.initializer") &&
                           !f.is_given("model.output_layer_initializer") &&
                           !f.is_given("model.ffn_initializer");
    set_default_of_zoo(f, "model.initializer", usual);
    if (are_alike) return;  // then that says it of all
    set_default_of_zoo(f, "model.output_layer_initializer", usual);
    const std::string outputs = f.named("model.output_layer_initializer").front()->text();
    set_default_of_zoo(f, "model.ffn_initializer", outputs);
    set_default_of_zoo(f, "model.ffn_output_layer_initializer", outputs);
    return;
  }
  if (f.is_given("model.initializer")) return;
  set_default_of_zoo(f, "model.initializer", usual);
  // With muP the library has the factor for the depth.
  const f64 of_depth = m.mup.is_given() ? 1 : std::sqrt(2. * m.layers);
  if (m.layers > 0)
    set_default_of_zoo(f, "model.output_layer_initializer", cut_normal_of_zoo(m.deviation / of_depth));
  if (m.mup.is_given()) set_default_of_zoo(f, "model.ffn_output_layer_initializer", usual);
}

/// The fields of muP and the initializers.
void declare_mup(train_app::fields& f, model_params& m) {
  f.add("embedding_initializer", m.mup.embedding,
        "how the tables of tokens and positions start: normal, truncated_normal, or a map with std, a and b; "
        "null: as "
        "initializer_range says");
  f.add("initializer", m.mup.initializer,
        "how the matrices of blocks start; null: as initializer_range says, and those that add to the "
        "residual with "
        "that / sqrt(2 num_hidden_layers)");
  f.add("output_layer_initializer", m.mup.output,
        "how those start that add to the residual; null: as initializer, without muP");
  f.add("ffn_initializer", m.mup.ffn,
        "how the first matrices of the feed-forward part start; null: as initializer");
  f.add("ffn_output_layer_initializer", m.mup.ffn_output,
        "how its last starts; null: as output_layer_initializer, with muP as initializer_range says");
  constexpr f64 largest = 1 << 20;
  f.add("mup_base_hidden_size", m.mup.base_hidden_size,
        "muP: the hidden_size of the base model for which the settings were tuned; null: no muP")
      .at_least(1)
      .at_most(largest);
  f.add("mup_base_filter_size", m.mup.base_filter_size, "muP: its filter_size").at_least(1).at_most(largest);
  f.add("embeddings_scale", m.embeddings_scale, "factor of the embedding").above(0);
  f.add("output_logits_alpha", m.mup.logits_alpha,
        "muP: factor of the logits, beside mup_base_hidden_size / hidden_size; null: 1")
      .above(0);
  f.add("scale_output_logits_by_d", m.mup.logits_by_d,
        "muP: that ratio is a factor of the logits; false: its root is");
  f.add("output_logits_scale", m.logits_scale, "factor of the logits, without mup_base_hidden_size").above(0);
  f.add("scale_qk_dot_by_d", m.scale_by_d,
        "scores are divided by a head's features, not by their root; with muP true unless it is given");
  f.add("attention_logits_alpha", m.mup.attention_alpha, "factor of the scores, beside that").above(0);
  f.in_the_zoo([&m](train_app::fields& all) { take_defaults_of_zoo(all, m); });
  f.remark([&m] {
    if (m.without_effect.empty()) return std::string();
    return fmt::format(
        "optimizer.{} has no effect here: the factor of the loss is 1 where no loss_scaling_factor is given, "
        "as "
        "in the Model Zoo",
        fmt::join(m.without_effect, ", "));
  });
  f.remark([&m] {
    const mup_params& p = m.mup;
    if (!p.is_given() || !p.ffn_output.name.empty() || (p.output.name.empty() && p.initializer.name.empty()))
      return std::string();
    return fmt::format(
        "model.ffn_output_layer_initializer is not given: with muP the last matrices of the feed-forward "
        "part start "
        "with initializer_range {}, as in the Model Zoo",
        m.deviation);
  });
}

}  // namespace

void complete_mup(train_app::fields& f, model_params& m, const train_app::optimizer_params& by) {
  const auto given = [&](const char* name) -> const std::string& {
    return f.named(std::string("model.") + name).front()->given;
  };
  const auto refuse = [&](const char* name, const std::string& why) {
    const std::string& place = given(name);
    throw std::invalid_argument((place.empty() || place.starts_with("--") ? "" : place + ": ") + "model." +
                                name + " " + why);
  };
  const bool is_mup = m.mup.base_hidden_size > 0 || m.mup.base_filter_size > 0;
  if (is_mup && !m.mup.is_given())
    refuse("mup_base_filter_size",
           "is given without mup_base_hidden_size: muP needs both; give --mup_base_hidden_size, the "
           "hidden_size of "
           "the base model, or leave both out");
  if (is_mup && !(m.mup.base_filter_size > 0))
    refuse("mup_base_hidden_size",
           "is given without mup_base_filter_size: muP needs both; give --mup_base_filter_size, the "
           "filter_size of "
           "the base model, or leave both out");
  if (!is_mup) {
    for (const auto& [name, is_set] : {std::pair("output_logits_alpha", m.mup.logits_alpha > 0),
                                       {"scale_output_logits_by_d", !m.mup.logits_by_d}})
      if (is_set)
        refuse(name,
               "is of muP, and does nothing without mup_base_hidden_size and mup_base_filter_size: give "
               "both, or "
               "leave it out; output_logits_scale is a factor of the logits without them");
    return;
  }
  if (m.logits_scale != 1)
    refuse("output_logits_scale",
           "is of the older form of muP, and with mup_base_hidden_size the factor of the logits is "
           "output_logits_alpha * mup_base_hidden_size / hidden_size: leave it out, or give "
           "output_logits_alpha");
  if (given("scale_qk_dot_by_d").empty() && m.attention_scale == 0) m.scale_by_d = true;
  m.mup.own_rates.clear();
  for (const auto& [name, factor] : by.adjust_learning_rate) m.mup.own_rates.push_back(name);
  train_app::require_rule_for_mup(by);
}

void declare(train_app::fields& f, model_params& m) {
  constexpr int largest = 1 << 20;
  f.section("model");
  f.add("name", m.name, "of the model; what it is the other fields say")
      .one_of({"gpt", "gpt2", "gpt3", "llama"})
      .once_called("model_name");
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
  f.add("use_rms_norm", m.rms_norm, "as norm_type rmsnorm, in older files");
  f.add("norm_type", m.norm, "of the norms").one_of({"layernorm", "rmsnorm", "biasless-layernorm"});
  f.refuses([&f, &m] {
    const train_app::field &older = *f.named("model.use_rms_norm").front(),
                           &newer = *f.named("model.norm_type").front();
    // The params of a run give both, of which one alone may have been said.
    const bool are_said = f.is_of_user() || older.given.starts_with("--") || newer.given.starts_with("--");
    if (are_said && !older.given.empty() && !newer.given.empty() && m.rms_norm != (m.norm == "rmsnorm"))
      throw std::invalid_argument(
          fmt::format("model.use_rms_norm {} and model.norm_type {} are two norms: leave use_rms_norm out, "
                      "the older name, or "
                      "give it {}",
                      m.rms_norm, m.norm, !m.rms_norm));
    if (m.rms_norm) m.norm = "rmsnorm";
  });
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
      .at_most(1024)
      .once_called("top_k");
  f.remark([&f, &m] {
    // A mixtral has experts by its name.
    return f.is_of_user() && !m.experts && m.name != "mixtral" && f.is_given("model.num_experts_per_token")
               ? fmt::format("model.num_experts_per_token (top_k) {} has no effect without model.num_experts",
                             m.experts_of_token)
               : std::string();
  });
  f.add("load_balancing_loss_coef", m.balance,
        "factor of the loss that keeps experts equally busy; null: 0.01 if there are experts")
      .at_least(0)
      .at_most(1000);
  f.add("initializer_range", m.deviation, "standard deviation of the initial weights").above(0).at_most(10);
  declare_mup(f, m);
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
  f.add("loss_scaling", m.loss_scaling,
        "what divides the sum of the losses of tokens: num_tokens, those that count; batch_size, the "
        "sequences, "
        "before loss_weight multiplies it; null: num_tokens")
      .one_of({"num_tokens", "batch_size"});
  f.add("loss_weight", m.loss_weight, "factor of the loss, with loss_scaling batch_size").above(0);
  f.remark([&m] {
    return m.loss_scaling.empty() && m.loss_weight != 1 ? fmt::format(
                                                              "model.loss_weight {} has no effect without "
                                                              "loss_scaling batch_size, as in the Model Zoo: "
                                                              "the loss is the mean over tokens",
                                                              m.loss_weight)
                                                        : std::string();
  });
  f.honours("use_position_embedding", {"true"});
  for (const char* of_zoo : {"extra_attention_params", "pos_scaling_extra_args", "moe"})
    f.nested("model", of_zoo, "model");
  f.honours("routing_algorithm", {"learned"}, "a router learns where tokens go");
  f.honours("num_shared_experts", {"0"}, "experts that all tokens go to are not supported");
  f.honours("null_expert_bias", {"0"}, "a router has no null expert here");
  f.no_effect("true or false", {"router_fp32"}, "routers compute in f32 in any case");
  f.honours("alibi_trainable_slopes", {"false"});
  f.honours("attention_sink_tokens", {"0"}, "attention sinks are not supported");
  f.honours("boundary_casting", {"false"});
  const char* const same_numbers = "it chooses among ways to compute the same";
  f.no_effect("a word", {"attention_kernel", "alibi_implementation"}, same_numbers);
  f.no_effect("true or false", {"fold_rope_consts"}, same_numbers);
  f.no_effect("true or false", {"tf_summary"}, "it only reports");
  f.no_effect("true or false", {"allow_multireplica"}, "runconfig.multireplica says it");
  f.no_effect("a number", {"precision_opt_level"}, "precision is what model.fp16_type says");
  f.no_effect("true or false", {"attention_softmax_fp32"}, "softmaxes are of f32 in any case");
}

void declare_all_families(train_app::fields& f, model_params& m) {
  constexpr int largest = 1 << 20;
  declare(f, m);
  f.named("model.name").front()->choices = names_of_models();
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.add("parallel_block", m.parallel_block,
        "attention and the feed-forward part side by side, as in GPT-J (of this program)");
  f.add("reward_head", m.reward_head,
        "a reward model: in place of the head a score of the last token, which learns from preferences (of "
        "this "
        "program)");
  f.add("use_untied_layer_norm", m.untied_norms, "each of the two has a norm of its own, as in GPT-NeoX");
  f.add("use_norm_bias", m.norm_bias, "norms have a bias; null: as use_ffn_bias (of this program)")
      .one_of({"true", "false"});
  f.add("head_dim", m.head_dim, "features of a head; null: hidden_size / num_heads (of this program)")
      .at_least(1)
      .at_most(largest);
  f.add("attention_inner_dim", m.attention_inner_dim, "num_heads times head_dim; null: that, or hidden_size")
      .at_least(1)
      .at_most(1 << 24);
  f.add("attention_sliding_window_length", m.window, "attention to so many last tokens; null: to all")
      .at_least(1)
      .at_most(1 << 24);
  f.add("attention_scale", m.attention_scale,
        "factor of the scores; null: 1 / the root of a head's features (of this program)")
      .above(0);
  f.add("scale_qk_dot_by_layer_idx", m.scale_by_layer, "the scores of layer l are divided by l + 1");
  f.add("pos_scaling_type", m.scaling_type,
        "slower rotary positions, for longer sequences; null: linear where pos_scaling_factor is not 1")
      .one_of({"linear", "llama3"});
  f.add("pos_scaling_factor", m.scaling_factor, "by which they are slower").above(0);
  f.add("low_freq_factor", m.low_frequency, "of pos_scaling_type llama3").above(0);
  f.add("high_freq_factor", m.high_frequency, "of pos_scaling_type llama3").above(0);
  f.add("original_max_position_embeddings", m.scaling_positions, "of pos_scaling_type llama3")
      .at_least(1)
      .at_most(1 << 24);
  f.remark([&f, &m] {
    if (!f.is_of_user() || m.scaling_type == "llama3") return std::string();
    return f.note_of_given(
        {"model.low_freq_factor", "model.high_freq_factor", "model.original_max_position_embeddings"},
        "no effect without model.pos_scaling_type llama3");
  });
  f.add("unused_positions", m.unused_positions,
        "rows before the first of the table, as in OPT (of this program)")
      .at_least(1)
      .at_most(largest);
  f.add("embedding_layer_norm", m.embedding_norm, "a norm after the embedding, as in Bloom");
}

}  // namespace gpt_app
