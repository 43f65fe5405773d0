// SPDX-License-Identifier: MIT
// Phi 1 to 2 (transformers, models/phi): attention and the feed-forward part side by side on one norm, some
// features of each head rotated, biases everywhere, in the head as well.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family phi{
    "phi",
    "PhiForCausalLM",
    "model.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, new_sizes);
      d.filter = c.whole("intermediate_size"), d.kv_heads = read_kv_heads(c, d);
      d.between = c.activation("hidden_act", "gelu_new"), d.epsilon = c.number("layer_norm_eps", 1e-5f);
      d.order = block_order::parallel, d.bias.head = true;
      c.is("qk_layernorm", false), c.is("tie_word_embeddings", false);
      d.tied = false;
      read_rotary(c, d, "partial_rotary_factor", 0.5);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, new_sizes);
      c["intermediate_size"] = d.inner_width(), c["num_key_value_heads"] = d.kv_heads ? d.kv_heads : d.heads;
      c["hidden_act"] = name_of(d.between), c["layer_norm_eps"] = shortest(d.epsilon);
      c["qk_layernorm"] = false, c["embd_pdrop"] = c["resid_pdrop"] = c["attention_dropout"] = 0.;
      write_rotary(c, d, "partial_rotary_factor");
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      const qkv_rows rows(d, pairs::halves);
      r.table("model.embed_tokens", "embedding.tokens");
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("model.layers.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + "input_layernorm", o + "norm 1", true);
        r.linear(h + "self_attn.q_proj", o + "qkv", true, rows.queries());
        r.linear(h + "self_attn.k_proj", o + "qkv", true, rows.keys());
        r.linear(h + "self_attn.v_proj", o + "qkv", true, rows.values());
        r.linear(h + "self_attn.dense", o + "projection", true);
        r.linear(h + "mlp.fc1", o + "up", true), r.linear(h + "mlp.fc2", o + "down", true);
      }
      r.norm("model.final_layernorm", "last norm", true), r.linear("lm_head", "head", true);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
