// SPDX-License-Identifier: MIT
// The section `model` of an encoder with a decoder, with the names of the Cerebras Model Zoo, and the model
// that it describes.
#pragma once
#include <fields.hpp>
#include <session.hpp>
#include <wsl/ml/model/encoder_decoder.hpp>

namespace t5_app {

using train_app::f64;

struct model_params {
  std::string name = "t5", nonlinearity, norm, position, norm_first;
  int vocab_size = 0, d_model = 0, d_kv = 0, d_ff = 0, encoder_layers = 0, decoder_layers = 0, heads = 0,
      buckets = 32, max_distance = 128, max_position_embeddings = 0, pad_token_id = -1;
  f64 epsilon = 0, deviation = 0.02, dropout = 0.1, attention_dropout = -1, label_smoothing = 0,
      attention_scale = 0, embedding_scale = 0, logit_scale = 0;
  bool share_embeddings = true, tied = true;
  std::string biases, logit_bias;
  // Names of the Model Zoo for parts of these, or for the same once more; empty and 0: not given.
  std::string projection_bias, output_bias, t5_norm, decoder_nonlinearity, loss_scaling;
  int extra_ids = 0, decoder_vocab_size = 0, src_positions = 0, tgt_positions = 0;
  f64 loss_weight = -1;
  f64 initializer_factor = 0;  ///< 0: weights begin as initializer_range says
  // What the Model Zoo's Transformer has beside.
  bool transformer_start = false, drops_embedding_twice = false;
  std::string drops_last;
  f64 relu_dropout = -1;
  // muP, see docs/guide/mup.md; 0 and empty: not given.
  f64 base_d_model = 0, base_d_ff = 0, base_d_kv = 0, embeddings_alpha = 0, logits_alpha = 0,
      encoder_alpha = 1, decoder_alpha = 1;
  std::string encoder_by_d, decoder_by_d;
  bool logits_by_d = false;

  bool has_mup() const { return base_d_model > 0 || base_d_ff > 0 || base_d_kv > 0; }
  /// The tokens of the model: src_vocab_size and extra_ids.
  int vocabulary() const { return vocab_size + extra_ids; }

  /// The fields that describe a model of this kind.
  static model_params of(const wsl::ml::encoder_decoder& m, const std::string& name);
  /// Fields that were not given are as models of that name have them. Throws std::invalid_argument for
  /// values that no model can have.
  wsl::ml::encoder_decoder model() const;
  /// The architecture of the model, without settings of the training alone.
  train_app::named_words architecture() const;
  /// "t5, 2 + 2 layers, 4 heads, width 64"
  std::string words() const;

 private:
  void set_scores(wsl::ml::encoder_decoder& m) const;
  void start_as_transformer(wsl::ml::encoder_decoder& m) const;
  void start_as_t5(wsl::ml::encoder_decoder& m) const;
  /// Requires that what is given for muP goes together.
  void check_mup() const;
};

void declare(train_app::fields& f, model_params& m);

}  // namespace t5_app
