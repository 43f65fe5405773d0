// SPDX-License-Identifier: MIT
// GPT-J and CodeGen (transformers, models/gptj and models/codegen): attention and the feed-forward part side
// by side on one norm, some features of each head rotated in neighbouring pairs, a bias in the head and none
// in attention.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

inline decoder read_gptj(const config_file& c) {
  decoder d = read_sizes(c, old_sizes);
  d.filter = c.whole("n_inner", 0), d.between = c.activation("activation_function", "gelu_new");
  d.epsilon = c.number("layer_norm_epsilon", 1e-5f);
  d.position = positioning::rotary, d.rotary_pairs = pairs::neighbours;
  d.rotary_features = c.whole("rotary_dim", 64, 0);
  if (d.rotary_features > d.width_of_head() || d.rotary_features % 2)
    throw c.error("'rotary_dim' is {}{}; it should be even, and at most the {} features of a head",
                  d.rotary_features, c.has("rotary_dim") ? "" : ", as it is not there", d.width_of_head());
  d.order = block_order::parallel;
  d.bias.qkv = d.bias.projection = false, d.bias.head = true;
  c.is("tie_word_embeddings", false);
  d.tied = false;
  return d;
}
inline json write_gptj(const decoder& d) {
  json c = write_sizes(d, old_sizes);
  c["n_inner"] = d.filter ? json(d.filter) : json();
  c["activation_function"] = name_of(d.between), c["layer_norm_epsilon"] = shortest(d.epsilon);
  c["rotary_dim"] = d.rotary_features ? d.rotary_features : d.width_of_head();
  for (const char* dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) c[dropout] = 0.;
  return c;
}
/// The tensors without queries, keys and values, which `attention` adds to the rules of a layer.
template <class F>
std::vector<tensor_rule> gptj_tensors(const decoder& d, F attention) {
  tensor_rules r;
  r.table("transformer.wte", "embedding.tokens");
  for (int l = 0; l < d.layers; ++l) {
    const std::string h = fmt::format("transformer.h.{}.", l), o = fmt::format("layer {} ", l);
    r.norm(h + "ln_1", o + "norm 1", true);
    attention(r, h + "attn.", o + "qkv");
    r.linear(h + "attn.out_proj", o + "projection", false);
    r.linear(h + "mlp.fc_in", o + "up", true), r.linear(h + "mlp.fc_out", o + "down", true);
  }
  r.norm("transformer.ln_f", "last norm", true), r.linear("lm_head", "head", true);
  return r.all;
}

inline constexpr family gptj{
    "gptj",
    "GPTJForCausalLM",
    "transformer.",
    "lm_head.weight",
    &read_gptj,
    &write_gptj,
    [](const decoder& d) {
      const qkv_rows rows(d, pairs::neighbours);
      return gptj_tensors(d, [&](tensor_rules& r, const std::string& theirs, const std::string& ours) {
        r.linear(theirs + "q_proj", ours, false, rows.queries());
        r.linear(theirs + "k_proj", ours, false, rows.keys());
        r.linear(theirs + "v_proj", ours, false, rows.values());
      });
    }};

/// CodeGen's queries, values and keys lie as they did on the four computers (mp_num) of its training.
inline constexpr family codegen{
    "codegen",
    "CodeGenForCausalLM",
    "transformer.",
    "lm_head.weight",
    [](const config_file& c) {
      const decoder d = read_gptj(c);
      if (d.heads % 4) throw c.error("'n_head' is {}; CodeGen has a multiple of 4", d.heads);
      return d;
    },
    [](const decoder& d) {
      json c = write_gptj(d);
      c["n_ctx"] = d.positions;
      return c;
    },
    [](const decoder& d) {
      const std::vector<i32> rows = qkv_rows(d, pairs::neighbours).by_part(4);
      return gptj_tensors(d, [&](tensor_rules& r, const std::string& theirs, const std::string& ours) {
        r.linear(theirs + "qkv_proj", ours, false, rows);
      });
    }};

}  // namespace wsl::ml::hugging_face
