// SPDX-License-Identifier: MIT
// BTLM and Jais of Cerebras: a GPT-2 with ALiBi, a gate in the feed-forward part, and muP's factors of the
// embedding, the scores and the logits (huggingface.co/cerebras/btlm-3b-8k-base, modeling_btlm.py). Early
// configurations of Jais have other names for the factors.
#pragma once
#include "gpt2.hpp"

namespace wsl::ml::hugging_face {

inline decoder read_btlm(const config_file& c) {
  decoder d = read_sizes(c, old_sizes, 1024);
  c.is("add_cross_attention", false), c.is("alibi_scaling", json());
  const std::string position = c.text("position_embedding_type", "learned");
  if (position != "alibi" && position != "learned")
    throw c.error("'position_embedding_type' is {}; alibi and learned are known here", printable(position));
  d.position = position == "alibi" ? positioning::alibi : positioning::learned;
  d.filter = c.whole("n_inner", 0), d.epsilon = c.number("layer_norm_epsilon", 1e-5f);
  d.between = c.text("activation_function", "gelu") == "swiglu" ? nonlinearity::swiglu
                                                                : c.activation("activation_function", "gelu");
  d.tied = c.flag("tie_word_embeddings", true);
  read_gpt2_scores(c, d);
  if (c.flag("mup_scale_qk_dot_by_d", c.flag("scale_qk_dot_by_d", false)))
    d.attention_scale = 1 / static_cast<f32>(d.width_of_head());
  d.embedding_scale = c.positive("mup_embeddings_scale", c.positive("embeddings_scale", 1.f));
  d.logit_scale = c.positive("width_scale", static_cast<f32>(c.positive("mup_output_alpha", 1.) *
                                                             c.positive("mup_width_scale", 1.)));
  return d;
}
inline json write_btlm(const decoder& d) {
  json c = write_sizes(d, old_sizes);
  c["n_inner"] = d.filter ? json(d.filter) : json(), c["layer_norm_epsilon"] = shortest(d.epsilon);
  c["activation_function"] = d.between == nonlinearity::swiglu ? json("swiglu") : name_of(d.between);
  c["position_embedding_type"] = d.position == positioning::alibi ? "alibi" : "learned";
  for (const char* dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) c[dropout] = 0.;
  write_gpt2_scores(c, d);
  c["mup_scale_qk_dot_by_d"] = d.attention_scale == 1 / static_cast<f32>(d.width_of_head());
  c["mup_embeddings_scale"] = shortest(d.embedding_scale), c["mup_output_alpha"] = shortest(d.logit_scale);
  c["mup_width_scale"] = 1.;
  return c;
}
inline std::vector<tensor_rule> btlm_tensors(const decoder& d) { return gpt2_tensors(d, true, {}); }

inline constexpr family btlm{"btlm",     "BTLMLMHeadModel", "transformer.", "lm_head.weight",
                             &read_btlm, &write_btlm,       &btlm_tensors};
inline constexpr family jais{"jais",     "JAISLMHeadModel", "transformer.", "lm_head.weight",
                             &read_btlm, &write_btlm,       &btlm_tensors};

}  // namespace wsl::ml::hugging_face
