// SPDX-License-Identifier: MIT
// OPT (transformers, models/opt): a GPT-2 with relu, whose table of positions begins with two rows that
// belong to no token.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family opt{
    "opt",
    "OPTForCausalLM",
    "model.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, new_sizes);
      d.deviation = c.number("init_std", 0.02f);
      d.filter = c.whole("ffn_dim"), d.between = c.activation("activation_function", "relu");
      d.unused_positions = 2;
      d.bias.qkv = d.bias.projection = d.bias.feed_forward = c.flag("enable_bias", true);
      d.tied = c.flag("tie_word_embeddings", true);
      c.is("do_layer_norm_before", true), c.is("_remove_final_layer_norm", false);
      c.is("layer_norm_elementwise_affine", true), c.is("word_embed_proj_dim", d.width);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, new_sizes);
      c.erase("initializer_range");
      c["init_std"] = shortest(d.deviation), c["ffn_dim"] = d.inner_width();
      c["activation_function"] = name_of(d.between), c["word_embed_proj_dim"] = d.width;
      c["enable_bias"] = d.bias.qkv || d.bias.projection || d.bias.feed_forward;
      c["do_layer_norm_before"] = true, c["_remove_final_layer_norm"] = false;
      c["layer_norm_elementwise_affine"] = true, c["dropout"] = c["attention_dropout"] = 0.;
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      const qkv_rows rows(d, pairs::halves);
      r.table("model.decoder.embed_tokens", "embedding.tokens");
      r.table("model.decoder.embed_positions", "embedding.positions");
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("model.decoder.layers.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + "self_attn_layer_norm", o + "norm 1", true),
            r.norm(h + "final_layer_norm", o + "norm 2", true);
        r.linear(h + "self_attn.q_proj", o + "qkv", d.bias.qkv, rows.queries());
        r.linear(h + "self_attn.k_proj", o + "qkv", d.bias.qkv, rows.keys());
        r.linear(h + "self_attn.v_proj", o + "qkv", d.bias.qkv, rows.values());
        r.linear(h + "self_attn.out_proj", o + "projection", d.bias.projection);
        r.linear(h + "fc1", o + "up", d.bias.feed_forward),
            r.linear(h + "fc2", o + "down", d.bias.feed_forward);
      }
      r.norm("model.decoder.final_layer_norm", "last norm", true);
      if (!d.tied) r.linear("lm_head", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
