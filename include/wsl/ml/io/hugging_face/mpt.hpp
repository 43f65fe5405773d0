// SPDX-License-Identifier: MIT
// MPT (transformers, models/mpt): ALiBi, and no biases, not even in its norms.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family mpt{
    "mpt",
    "MptForCausalLM",
    "transformer.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, {"max_seq_len", "n_layers", "n_heads", "d_model"});
      const config_file attention = c.object("attn_config");
      attention.is("alibi", true), attention.is("alibi_bias_max", 8),
          attention.is("attn_type", "multihead_attention");
      attention.is("prefix_lm", false), attention.is("qk_ln", false), attention.is("clip_qkv", 0);
      c.is("no_bias", true), c.is("logit_scale", 1);
      d.attention_scale = attention.positive("softmax_scale", 0.f);
      d.filter = d.width * c.whole("expansion_ratio", 4);
      d.bias = false, d.epsilon = c.number("layer_norm_epsilon", 1e-5f);
      d.position = positioning::alibi, d.tied = c.flag("tie_word_embeddings", true);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, {"max_seq_len", "n_layers", "n_heads", "d_model"});
      c["attn_config"] = {
          {"alibi", true},
          {"alibi_bias_max", 8},
          {"attn_type", "multihead_attention"},
          {"attn_pdrop", 0.},
          {"softmax_scale", d.attention_scale != 0 ? json(shortest(d.attention_scale)) : json()}};
      c["no_bias"] = true, c["expansion_ratio"] = std::max(1, d.inner_width() / d.width);
      c["layer_norm_epsilon"] = shortest(d.epsilon), c["resid_pdrop"] = c["emb_pdrop"] = 0.;
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      r.table("transformer.wte", "embedding.tokens");
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("transformer.blocks.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + "norm_1", o + "norm 1", false), r.norm(h + "norm_2", o + "norm 2", false);
        r.linear(h + "attn.Wqkv", o + "qkv", false), r.linear(h + "attn.out_proj", o + "projection", false);
        r.linear(h + "ffn.up_proj", o + "up", false), r.linear(h + "ffn.down_proj", o + "down", false);
      }
      r.norm("transformer.norm_f", "last norm", false);
      if (!d.tied) r.linear("lm_head", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
