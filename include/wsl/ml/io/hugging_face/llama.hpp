// SPDX-License-Identifier: MIT
// Llama 1 to 3 and Code Llama, Mistral with its sliding window, and Qwen2 with biases of queries, keys and
// values (transformers, models/llama, models/mistral, models/qwen2). Their feed-forward parts have a gate.
#pragma once
#include "family.hpp"

namespace wsl::ml::hugging_face {

/// The values of fields that a configuration leaves out, where the families differ.
struct llama_defaults {
  int positions = 2048, kv_heads = 0;  ///< 0: as many as heads of queries
  f32 epsilon = 1e-6f;
  f64 rotary_base = 10000;
};
inline decoder read_llama(const config_file& c, const llama_defaults& otherwise = {}) {
  decoder d = read_sizes(c, new_sizes, otherwise.positions);
  d.filter = c.whole("intermediate_size");
  d.head_width = c.whole("head_dim", d.head_width);
  d.kv_heads = read_kv_heads(c, d, "num_key_value_heads", otherwise.kv_heads);
  d.norm = normalization::rmsnorm, d.epsilon = c.number("rms_norm_eps", otherwise.epsilon);
  d.between = gated_by(c.activation("hidden_act", "silu"));
  if (!d.is_gated()) throw c.error("'hidden_act' should be silu, gelu, gelu_new or relu");
  d.bias = false, d.tied = c.flag("tie_word_embeddings", false);
  read_rotary(c, d, "partial_rotary_factor", 1, otherwise.rotary_base);
  return d;
}
inline json write_llama(const decoder& d) {
  json c = write_sizes(d, new_sizes);
  c["intermediate_size"] = d.inner_width(), c["head_dim"] = d.width_of_head();
  c["num_key_value_heads"] = d.kv_heads ? d.kv_heads : d.heads;
  c["rms_norm_eps"] = shortest(d.epsilon), c["hidden_act"] = name_of(gate_of(d.between));
  c["attention_dropout"] = 0.;
  write_rotary(c, d);
  return c;
}
/// The tensors, of which those of a block's feed-forward part are added by `feed_forward`, which takes the
/// beginnings of their names and of ours.
template <class F>
std::vector<tensor_rule> llama_tensors(const decoder& d, F feed_forward) {
  tensor_rules r;
  const qkv_rows rows(d, pairs::halves);
  r.table("model.embed_tokens", "embedding.tokens");
  for (int l = 0; l < d.layers; ++l) {
    const std::string h = fmt::format("model.layers.{}.", l), o = fmt::format("layer {} ", l);
    r.norm(h + "input_layernorm", o + "norm 1", false);
    r.norm(h + "post_attention_layernorm", o + "norm 2", false);
    r.linear(h + "self_attn.q_proj", o + "qkv", d.bias.qkv, rows.queries());
    r.linear(h + "self_attn.k_proj", o + "qkv", d.bias.qkv, rows.keys());
    r.linear(h + "self_attn.v_proj", o + "qkv", d.bias.qkv, rows.values());
    r.linear(h + "self_attn.o_proj", o + "projection", d.bias.projection);
    feed_forward(r, h, o);
  }
  r.norm("model.norm", "last norm", false);
  if (!d.tied) r.linear("lm_head", "head", false);
  return r.all;
}
inline std::vector<tensor_rule> llama_tensors(const decoder& d) {
  return llama_tensors(d, [&](tensor_rules& r, const std::string& theirs, const std::string& ours) {
    for (const char* part : {"gate", "up", "down"})
      r.linear(theirs + "mlp." + part + "_proj", ours + part, d.bias.feed_forward);
  });
}

inline constexpr family llama{"llama",
                              "LlamaForCausalLM",
                              "model.",
                              "lm_head.weight",
                              [](const config_file& c) {
                                decoder d = read_llama(c);
                                d.bias.qkv = d.bias.projection = c.flag("attention_bias", false);
                                d.bias.feed_forward = c.flag("mlp_bias", false);
                                return d;
                              },
                              [](const decoder& d) {
                                json c = write_llama(d);
                                c["attention_bias"] = d.bias.qkv || d.bias.projection;
                                c["mlp_bias"] = d.bias.feed_forward;
                                return c;
                              },
                              [](const decoder& d) { return llama_tensors(d); }};

inline constexpr family mistral{"mistral",
                                "MistralForCausalLM",
                                "model.",
                                "lm_head.weight",
                                [](const config_file& c) {
                                  decoder d = read_llama(c, {.positions = 131072, .kv_heads = 8});
                                  d.window = c.whole("sliding_window", 4096, 0);
                                  return d;
                                },
                                [](const decoder& d) {
                                  json c = write_llama(d);
                                  c["sliding_window"] = d.window ? json(d.window) : json();
                                  return c;
                                },
                                [](const decoder& d) { return llama_tensors(d); }};

inline constexpr family qwen2{"qwen2",
                              "Qwen2ForCausalLM",
                              "model.",
                              "lm_head.weight",
                              [](const config_file& c) {
                                decoder d = read_llama(c, {.positions = 32768, .kv_heads = 32});
                                d.bias.qkv = true;
                                c.is("use_sliding_window", false);
                                return d;
                              },
                              [](const decoder& d) {
                                json c = write_llama(d);
                                c["use_sliding_window"] = false;
                                return c;
                              },
                              [](const decoder& d) { return llama_tensors(d); }};

}  // namespace wsl::ml::hugging_face
