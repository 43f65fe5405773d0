// SPDX-License-Identifier: MIT
// GPT-NeoX and Pythia (transformers, models/gpt_neox): attention and the feed-forward part side by side, each
// on a norm of its own, and some features of each head rotated. Queries, keys and values lie head by head.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family gpt_neox{
    "gpt_neox",
    "GPTNeoXForCausalLM",
    "gpt_neox.",
    "embed_out.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, new_sizes);
      d.filter = c.whole("intermediate_size"), d.between = c.activation("hidden_act", "gelu");
      d.epsilon = c.number("layer_norm_eps", 1e-5f), d.tied = c.flag("tie_word_embeddings", false);
      d.bias.qkv = d.bias.projection = c.flag("attention_bias", true);
      d.order =
          c.flag("use_parallel_residual", true) ? block_order::parallel_two_norms : block_order::sequential;
      read_rotary(c, d, "rotary_pct", 0.25);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, new_sizes);
      c["intermediate_size"] = d.inner_width(), c["hidden_act"] = name_of(d.between);
      c["layer_norm_eps"] = shortest(d.epsilon), c["attention_bias"] = d.bias.qkv || d.bias.projection;
      c["use_parallel_residual"] = d.order == block_order::parallel_two_norms;
      c["hidden_dropout"] = c["attention_dropout"] = 0.;
      write_rotary(c, d, "rotary_pct");
      c["rotary_emb_base"] = d.rotary_base;
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      const std::vector<i32> rows = qkv_rows(d, pairs::halves).by_group();
      r.table("gpt_neox.embed_in", "embedding.tokens");
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("gpt_neox.layers.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + "input_layernorm", o + "norm 1", true);
        r.norm(h + "post_attention_layernorm", o + "norm 2", true);
        r.linear(h + "attention.query_key_value", o + "qkv", d.bias.qkv, rows);
        r.linear(h + "attention.dense", o + "projection", d.bias.projection);
        r.linear(h + "mlp.dense_h_to_4h", o + "up", true),
            r.linear(h + "mlp.dense_4h_to_h", o + "down", true);
      }
      r.norm("gpt_neox.final_layer_norm", "last norm", true);
      if (!d.tied) r.linear("embed_out", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
