// SPDX-License-Identifier: MIT
// Falcon (transformers, models/falcon): attention and the feed-forward part side by side, on one norm with
// one head of keys (7B) or on two norms with a head of keys for each group of queries (40B, 180B).
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

/// The architecture of 40B, which alone has groups of heads of keys, and two norms.
inline bool is_new_falcon(const decoder& d) {
  const int keys = d.kv_heads ? d.kv_heads : d.heads;
  return d.order == block_order::parallel_two_norms || (keys != 1 && keys != d.heads);
}

inline constexpr family falcon{
    "falcon",
    "FalconForCausalLM",
    "transformer.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, new_sizes);
      const bool is_new = c.flag("new_decoder_architecture", false);
      d.kv_heads = is_new ? read_kv_heads(c, d, "num_kv_heads") : c.flag("multi_query", true) ? 1 : d.heads;
      d.filter = c.whole("ffn_hidden_size", 0), d.between = c.activation("activation", "gelu");
      d.epsilon = c.number("layer_norm_epsilon", 1e-5f), d.tied = c.flag("tie_word_embeddings", true);
      d.bias.qkv = d.bias.projection = d.bias.feed_forward = c.flag("bias", false);
      const bool two_norms = is_new && c.whole("num_ln_in_parallel_attn", 2) == 2;
      d.order = two_norms                                 ? block_order::parallel_two_norms
                : is_new || c.flag("parallel_attn", true) ? block_order::parallel
                                                          : block_order::sequential;
      c.is("alibi", false);
      read_rotary(c, d, "partial_rotary_factor", 1);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, new_sizes);
      const bool is_new = is_new_falcon(d);
      c["new_decoder_architecture"] = is_new, c["multi_query"] = is_new || d.kv_heads == 1;
      c["num_kv_heads"] = is_new && d.kv_heads ? d.kv_heads : d.heads;
      c["num_ln_in_parallel_attn"] = is_new ? json(d.order == block_order::parallel ? 1 : 2) : json();
      c["parallel_attn"] = d.order != block_order::sequential;
      c["ffn_hidden_size"] = d.inner_width(), c["activation"] = name_of(d.between);
      c["layer_norm_epsilon"] = shortest(d.epsilon), c["alibi"] = false;
      c["bias"] = d.bias.qkv || d.bias.projection || d.bias.feed_forward;
      c["hidden_dropout"] = c["attention_dropout"] = 0.;
      write_rotary(c, d);
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      const std::vector<i32> rows = qkv_rows(d, pairs::halves).by_group();
      const bool two_norms = d.order == block_order::parallel_two_norms;
      r.table("transformer.word_embeddings", "embedding.tokens");
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("transformer.h.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + (two_norms ? "ln_attn" : "input_layernorm"), o + "norm 1", true);
        if (two_norms) r.norm(h + "ln_mlp", o + "norm 2", true);
        if (d.order == block_order::sequential) r.norm(h + "post_attention_layernorm", o + "norm 2", true);
        r.linear(h + "self_attention.query_key_value", o + "qkv", d.bias.qkv, rows);
        r.linear(h + "self_attention.dense", o + "projection", d.bias.projection);
        r.linear(h + "mlp.dense_h_to_4h", o + "up", d.bias.feed_forward);
        r.linear(h + "mlp.dense_4h_to_h", o + "down", d.bias.feed_forward);
      }
      r.norm("transformer.ln_f", "last norm", true);
      if (!d.tied) r.linear("lm_head", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
