// SPDX-License-Identifier: MIT
// Marian's translators (transformers, models/marian): the Transformer as published, with norms at the ends of
// branches, fixed positions, one table of tokens for all, and a bias of the logits that is not trained.
#pragma once
#include <cmath>

#include "family.hpp"

namespace wsl::ml::hugging_face {

inline void add_marian_layer(tensor_rules& r, const encoder_decoder& m, bool is_decoder, int l) {
  const std::string side = is_decoder ? "decoder" : "encoder",
                    h = fmt::format("model.{}.layers.{}.", side, l), o = fmt::format("{} layer {} ", side, l),
                    self = h + "self_attn.";
  r.three(self + "q_proj", self + "k_proj", self + "v_proj", o + "qkv", m.width, true);
  r.linear(self + "out_proj", o + "projection", true), r.norm(h + "self_attn_layer_norm", o + "norm 1", true);
  if (is_decoder) {
    const std::string cross = h + "encoder_attn.";
    r.linear(cross + "q_proj", o + "cross queries", true);
    r.linear(cross + "k_proj", o + "cross keys", true, tensor_rules::run(0, m.width));
    r.linear(cross + "v_proj", o + "cross keys", true, tensor_rules::run(m.width, m.width));
    r.linear(cross + "out_proj", o + "cross projection", true);
    r.norm(h + "encoder_attn_layer_norm", o + "norm 2", true);
  }
  r.linear(h + "fc1", o + "up", true), r.linear(h + "fc2", o + "down", true);
  r.norm(h + "final_layer_norm", o + (is_decoder ? "norm 3" : "norm 2"), true);
}

inline constexpr basic_family<encoder_decoder> marian{
    "marian",
    "MarianMTModel",
    "",
    nullptr,
    [](const config_file& c) {
      encoder_decoder m{.vocabulary = c.whole("vocab_size", 58101),
                        .layers = c.whole("encoder_layers", 12),
                        .heads = c.whole("encoder_attention_heads", 16),
                        .width = c.whole("d_model", 1024)};
      m.decoder_layers = c.whole("decoder_layers", 12),
      m.positions = c.whole("max_position_embeddings", 1024);
      m.filter = c.whole("encoder_ffn_dim", 4096);
      c.is("decoder_attention_heads", m.heads), c.is("decoder_ffn_dim", m.filter);
      c.is("decoder_vocab_size", m.vocabulary), c.is("share_encoder_decoder_embeddings", true);
      c.is("tie_word_embeddings", true), c.is("is_encoder_decoder", true);
      if (m.width % m.heads)
        throw c.error("'encoder_attention_heads' {} does not divide 'd_model' {}", m.heads, m.width);
      m.between = c.activation("activation_function", "gelu"), m.epsilon = 1e-5f;
      m.deviation = c.number("init_std", 0.02f);
      m.norm = normalization::layernorm, m.norm_first = false, m.biases = true, m.logit_bias = true;
      m.position = position_encoding::fixed;
      m.padding = c.token("pad_token_id", 58100);
      if (c.flag("scale_embedding", false)) m.embedding_scale = std::sqrt(static_cast<f32>(m.width));
      return m;
    },
    [](const encoder_decoder& m) {
      json c{{"vocab_size", m.vocabulary},
             {"decoder_vocab_size", m.vocabulary},
             {"d_model", m.width},
             {"max_position_embeddings", m.positions},
             {"activation_function", name_of(m.between)},
             {"init_std", shortest(m.deviation)},
             {"scale_embedding", m.embedding_scale != 1},
             {"share_encoder_decoder_embeddings", true},
             {"tie_word_embeddings", true},
             {"is_encoder_decoder", true}};
      if (m.padding) c["pad_token_id"] = c["decoder_start_token_id"] = *m.padding;
      for (const char* dropout : {"dropout", "attention_dropout", "activation_dropout"}) c[dropout] = 0.;
      for (const std::string side : {"encoder", "decoder"}) {
        c[side + "_layers"] = side == "encoder" ? m.layers : m.layers_of_decoder();
        c[side + "_attention_heads"] = m.heads, c[side + "_ffn_dim"] = m.inner_width();
      }
      return c;
    },
    [](const encoder_decoder& m) {
      tensor_rules r;
      r.table("model.shared", "encoder embedding.tokens");
      for (const bool is_decoder : {false, true}) {
        r.copy(is_decoder ? "model.decoder.embed_tokens.weight" : "model.encoder.embed_tokens.weight",
               "encoder embedding.tokens");
        for (int l = 0; l < (is_decoder ? m.layers_of_decoder() : m.layers); ++l)
          add_marian_layer(r, m, is_decoder, l);
      }
      r.copy("lm_head.weight", "encoder embedding.tokens");
      r.all.push_back({.theirs = "final_logits_bias", .ours = "head.bias", .is_row = true});
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
