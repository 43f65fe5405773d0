// SPDX-License-Identifier: MIT
// StarCoder2 (transformers, models/starcoder2): rotary positions, groups of heads of keys, a sliding window,
// and biases in all layers or in the norms alone.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family starcoder2{
    "starcoder2",
    "Starcoder2ForCausalLM",
    "model.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, new_sizes, 4096);
      d.deviation = c.number("initializer_range", 0.018042f);
      d.filter = c.whole("intermediate_size"), d.kv_heads = read_kv_heads(c, d, "num_key_value_heads", 2);
      d.between = c.activation("hidden_act", "gelu_pytorch_tanh"),
      d.epsilon = c.number("norm_epsilon", 1e-5f);
      d.bias.qkv = d.bias.projection = d.bias.feed_forward = c.flag("use_bias", true);
      d.window = c.whole("sliding_window", 0), d.tied = c.flag("tie_word_embeddings", true);
      read_rotary(c, d, "partial_rotary_factor", 1);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, new_sizes);
      c["intermediate_size"] = d.inner_width(), c["num_key_value_heads"] = d.kv_heads ? d.kv_heads : d.heads;
      c["hidden_act"] = name_of(d.between), c["norm_epsilon"] = shortest(d.epsilon);
      c["use_bias"] = d.bias.qkv || d.bias.projection || d.bias.feed_forward;
      c["sliding_window"] = d.window ? json(d.window) : json();
      c["embedding_dropout"] = c["residual_dropout"] = c["attention_dropout"] = 0.;
      write_rotary(c, d);
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      const qkv_rows rows(d, pairs::halves);
      r.table("model.embed_tokens", "embedding.tokens");
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("model.layers.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + "input_layernorm", o + "norm 1", true);
        r.norm(h + "post_attention_layernorm", o + "norm 2", true);
        r.linear(h + "self_attn.q_proj", o + "qkv", d.bias.qkv, rows.queries());
        r.linear(h + "self_attn.k_proj", o + "qkv", d.bias.qkv, rows.keys());
        r.linear(h + "self_attn.v_proj", o + "qkv", d.bias.qkv, rows.values());
        r.linear(h + "self_attn.o_proj", o + "projection", d.bias.projection);
        r.linear(h + "mlp.c_fc", o + "up", d.bias.feed_forward);
        r.linear(h + "mlp.c_proj", o + "down", d.bias.feed_forward);
      }
      r.norm("model.norm", "last norm", true);
      if (!d.tied) r.linear("lm_head", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
