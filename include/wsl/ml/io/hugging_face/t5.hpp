// SPDX-License-Identifier: MIT
// T5, Flan-T5 and UL2 (transformers, models/t5): relative positions, rms norms that begin branches, scores
// without a factor. Where the head is the table of tokens, it reads numbers divided by the root of the width.
#pragma once
#include <cmath>

#include "family.hpp"

namespace wsl::ml::hugging_face {

/// `feed_forward_proj` is the name of a function, with "gated-" before it if it has a gate; "gated-gelu"
/// means the approximation by tanh.
inline nonlinearity read_feed_forward(const config_file& c) {
  const std::string all = c.text("feed_forward_proj", "relu"), gated = "gated-";
  if (all == "gated-gelu") return nonlinearity::geglu_tanh;
  const bool has_gate = all.starts_with(gated);
  const std::string name = has_gate ? all.substr(gated.size()) : all;
  for (const activation_name& a : activation_names)
    if (name == a.name && (!has_gate || gated_by(a.what) != a.what))
      return has_gate ? gated_by(a.what) : a.what;
  throw c.error("'feed_forward_proj' is {}, which is not known here", printable(all));
}
/// Null for a function that has no name there, such as gelu itself as a gate.
inline json write_feed_forward(nonlinearity f) {
  if (f == nonlinearity::geglu_tanh) return "gated-gelu";
  const json name = name_of(gate_of(f));
  if (f == nonlinearity::geglu || !name.is_string()) return {};
  return (is_gated(f) ? "gated-" : "") + name.get<std::string>();
}

/// The branches of a block of one side.
inline void add_t5_block(tensor_rules& r, const encoder_decoder& m, bool is_decoder, int l) {
  const std::string h = fmt::format("{}.block.{}.layer.", is_decoder ? "decoder" : "encoder", l),
                    o = fmt::format("{} layer {} ", is_decoder ? "decoder" : "encoder", l);
  const int all = m.of_heads();
  const std::string self = h + "0.SelfAttention.";
  r.three(self + "q", self + "k", self + "v", o + "qkv", all, false);
  r.linear(self + "o", o + "projection", false), r.norm(h + "0.layer_norm", o + "norm 1", false);
  if (l == 0) r.all.push_back({self + "relative_attention_bias.weight", o + "attention.relative"});
  if (is_decoder) {
    const std::string cross = h + "1.EncDecAttention.";
    r.linear(cross + "q", o + "cross queries", false);
    r.linear(cross + "k", o + "cross keys", false, tensor_rules::run(0, all));
    r.linear(cross + "v", o + "cross keys", false, tensor_rules::run(all, all));
    r.linear(cross + "o", o + "cross projection", false), r.norm(h + "1.layer_norm", o + "norm 2", false);
  }
  const std::string last = h + (is_decoder ? "2." : "1."), dense = last + "DenseReluDense.";
  if (m.is_gated()) r.linear(dense + "wi_0", o + "gate", false), r.linear(dense + "wi_1", o + "up", false);
  else r.linear(dense + "wi", o + "up", false);
  r.linear(dense + "wo", o + "down", false);
  r.norm(last + "layer_norm", o + (is_decoder ? "norm 3" : "norm 2"), false);
}

inline constexpr basic_family<encoder_decoder> t5{
    "t5",
    "T5ForConditionalGeneration",
    "",
    nullptr,
    [](const config_file& c) {
      encoder_decoder m{.vocabulary = c.whole("vocab_size", 32128),
                        .layers = c.whole("num_layers", 6),
                        .heads = c.whole("num_heads", 8),
                        .width = c.whole("d_model", 512)};
      m.decoder_layers = c.whole("num_decoder_layers", m.layers);
      m.filter = c.whole("d_ff", 2048), m.head_width = c.whole("d_kv", 64);
      m.buckets = c.whole("relative_attention_num_buckets", 32);
      m.max_distance = c.whole("relative_attention_max_distance", 128);
      m.between = read_feed_forward(c), m.epsilon = c.number("layer_norm_epsilon", 1e-6f);
      m.attention_scale = 1, m.tied = c.flag("tie_word_embeddings", true);
      // Version 5 of transformers has a field for what was so wherever the head is the table.
      if (c.flag("scale_decoder_outputs", m.tied)) m.logit_scale = 1 / std::sqrt(static_cast<f32>(m.width));
      c.is("is_encoder_decoder", true);
      return m;
    },
    [](const encoder_decoder& m) {
      return json{{"vocab_size", m.vocabulary},
                  {"num_layers", m.layers},
                  {"num_decoder_layers", m.layers_of_decoder()},
                  {"num_heads", m.heads},
                  {"d_model", m.width},
                  {"d_ff", m.inner_width()},
                  {"d_kv", m.width_of_head()},
                  {"relative_attention_num_buckets", m.buckets},
                  {"relative_attention_max_distance", m.max_distance},
                  {"feed_forward_proj", write_feed_forward(m.between)},
                  {"layer_norm_epsilon", shortest(m.epsilon)},
                  {"dropout_rate", 0.},
                  {"tie_word_embeddings", m.tied},
                  {"scale_decoder_outputs", m.logit_scale != 1},
                  {"is_encoder_decoder", true},
                  {"pad_token_id", 0},
                  {"eos_token_id", 1},
                  {"decoder_start_token_id", 0}};
    },
    [](const encoder_decoder& m) {
      tensor_rules r;
      r.table("shared", "encoder embedding.tokens");
      for (const bool is_decoder : {false, true}) {
        const std::string side = is_decoder ? "decoder" : "encoder";
        r.copy(side + ".embed_tokens.weight", "encoder embedding.tokens");
        for (int l = 0; l < (is_decoder ? m.layers_of_decoder() : m.layers); ++l)
          add_t5_block(r, m, is_decoder, l);
        r.norm(side + ".final_layer_norm", side + " last norm", false);
      }
      if (m.tied) r.copy("lm_head.weight", "encoder embedding.tokens");
      else r.linear("lm_head", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
