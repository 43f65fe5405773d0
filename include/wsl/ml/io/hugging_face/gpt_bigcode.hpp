// SPDX-License-Identifier: MIT
// GPT-BigCode: SantaCoder, StarCoder and their relatives (transformers, models/gpt_bigcode), a GPT-2 of
// linear layers whose queries may share one head of keys and values.
#pragma once
#include "gpt2.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family gpt_bigcode{
    "gpt_bigcode",
    "GPTBigCodeForCausalLM",
    "transformer.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d = read_sizes(c, old_sizes, 1024);
      c.is("add_cross_attention", false);
      d.kv_heads = c.flag("multi_query", true) ? 1 : 0;
      d.filter = c.whole("n_inner", 0), d.between = c.activation("activation_function", "gelu_pytorch_tanh");
      d.epsilon = c.number("layer_norm_epsilon", 1e-5f), d.tied = c.flag("tie_word_embeddings", true);
      read_gpt2_scores(c, d);
      c.is("scale_attn_by_inverse_layer_idx", false);
      return d;
    },
    [](const decoder& d) {
      json c = write_sizes(d, old_sizes);
      c["multi_query"] = d.kv_heads == 1, c["n_inner"] = d.filter ? json(d.filter) : json();
      c["activation_function"] = name_of(d.between), c["layer_norm_epsilon"] = shortest(d.epsilon);
      for (const char* dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) c[dropout] = 0.;
      c["scale_attn_weights"] = d.attention_scale != 1;
      return c;
    },
    [](const decoder& d) { return gpt2_tensors(d, false, qkv_rows(d, pairs::halves).by_group()); }};

}  // namespace wsl::ml::hugging_face
