// SPDX-License-Identifier: MIT
// GPT-2, and GPT-3 and Cerebras-GPT in its form (transformers, models/gpt2). Its matrices are those of
// Conv1D, (inputs, outputs).
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

/// The settings of scores that GPT-2 and its relatives share.
inline void read_gpt2_scores(const config_file& c, decoder& d) {
  if (!c.flag("scale_attn_weights", true)) d.attention_scale = 1;
  d.scale_by_layer = c.flag("scale_attn_by_inverse_layer_idx", false);
}
inline void write_gpt2_scores(json& to, const decoder& d) {
  to["scale_attn_weights"] = d.attention_scale != 1;
  to["scale_attn_by_inverse_layer_idx"] = d.scale_by_layer;
}

/// GPT-2's tensors, with its Conv1D or with linear layers, and with queries, keys and values in such an
/// order.
inline std::vector<tensor_rule> gpt2_tensors(const decoder& d, bool is_conv1d, const std::vector<i32>& qkv) {
  tensor_rules r;
  const auto layer = [&](const std::string& theirs, const std::string& ours, const std::vector<i32>& rows) {
    if (is_conv1d) r.conv1d(theirs, ours, true, rows);
    else r.linear(theirs, ours, true, rows);
  };
  r.table("transformer.wte", "embedding.tokens");
  if (d.position == positioning::learned) r.table("transformer.wpe", "embedding.positions");
  for (int l = 0; l < d.layers; ++l) {
    const std::string h = fmt::format("transformer.h.{}.", l), o = fmt::format("layer {} ", l);
    r.norm(h + "ln_1", o + "norm 1", true), r.norm(h + "ln_2", o + "norm 2", true);
    layer(h + "attn.c_attn", o + "qkv", qkv), layer(h + "attn.c_proj", o + "projection", {});
    layer(h + "mlp.c_fc", o + "up", {});
    if (d.is_gated()) layer(h + "mlp.c_fc2", o + "gate", {});
    layer(h + "mlp.c_proj", o + "down", {});
  }
  r.norm("transformer.ln_f", "last norm", true);
  if (!d.tied) r.linear("lm_head", "head", false);
  return r.all;
}

inline constexpr family gpt2{
    "gpt2",
    "GPT2LMHeadModel",
    "transformer.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d{.vocabulary = c.whole("vocab_size", 50257),
                .positions = c.whole("n_positions", 1024),
                .layers = c.whole("n_layer", 12),
                .heads = c.whole("n_head", 12),
                .width = c.whole("n_embd", 768)};
      if (d.width % d.heads) throw c.error("'n_head' {} does not divide 'n_embd' {}", d.heads, d.width);
      c.is("add_cross_attention", false);
      d.filter = c.whole("n_inner", 0), d.between = c.activation("activation_function", "gelu_new");
      d.epsilon = c.number("layer_norm_epsilon", 1e-5f), d.deviation = c.number("initializer_range", 0.02f);
      d.tied = c.flag("tie_word_embeddings", true);
      read_gpt2_scores(c, d);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, old_sizes);
      c["n_ctx"] = d.positions, c["n_inner"] = d.filter ? json(d.filter) : json();
      c["activation_function"] = name_of(d.between), c["layer_norm_epsilon"] = shortest(d.epsilon);
      for (const char* dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) c[dropout] = 0.;
      write_gpt2_scores(c, d);
      return c;
    },
    [](const decoder& d) { return gpt2_tensors(d, true, {}); }};

}  // namespace wsl::ml::hugging_face
