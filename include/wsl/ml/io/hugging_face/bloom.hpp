// SPDX-License-Identifier: MIT
// Bloom (transformers, models/bloom): ALiBi, and a norm after the embedding. Queries, keys and values lie
// head by head.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family bloom{
    "bloom",
    "BloomForCausalLM",
    "transformer.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, {"seq_length", c.has("n_layer") ? "n_layer" : "num_hidden_layers",
                                 c.has("n_head") ? "n_head" : "num_attention_heads",
                                 c.has("n_embed") ? "n_embed" : "hidden_size"});
      c.is("apply_residual_connection_post_layernorm", false);
      d.between = nonlinearity::gelu_tanh, d.epsilon = c.number("layer_norm_epsilon", 1e-5f);
      d.position = positioning::alibi, d.embedding_norm = true;
      d.tied = c.flag("tie_word_embeddings", true);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, {"seq_length", "n_layer", "n_head", "hidden_size"});
      c["layer_norm_epsilon"] = shortest(d.epsilon), c["apply_residual_connection_post_layernorm"] = false;
      c["hidden_dropout"] = c["attention_dropout"] = 0.;
      return c;
    },
    [](const decoder& d) {
      tensor_rules r;
      const std::vector<i32> rows = qkv_rows(d, pairs::halves).by_group();
      r.table("transformer.word_embeddings", "embedding.tokens");
      r.norm("transformer.word_embeddings_layernorm", "embedding norm", true);
      for (int l = 0; l < d.layers; ++l) {
        const std::string h = fmt::format("transformer.h.{}.", l), o = fmt::format("layer {} ", l);
        r.norm(h + "input_layernorm", o + "norm 1", true);
        r.norm(h + "post_attention_layernorm", o + "norm 2", true);
        r.linear(h + "self_attention.query_key_value", o + "qkv", true, rows);
        r.linear(h + "self_attention.dense", o + "projection", true);
        r.linear(h + "mlp.dense_h_to_4h", o + "up", true),
            r.linear(h + "mlp.dense_4h_to_h", o + "down", true);
      }
      r.norm("transformer.ln_f", "last norm", true);
      if (!d.tied) r.linear("lm_head", "head", false);
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
