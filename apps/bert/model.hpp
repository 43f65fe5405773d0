// SPDX-License-Identifier: MIT
// The section `model` of an encoder, with the names of the Cerebras Model Zoo, and the encoder that it
// describes.
#pragma once
#include <fields.hpp>
#include <session.hpp>
#include <wsl/ml/model/encoder.hpp>

namespace bert_app {

using train_app::f64;
using train_app::i64;

struct model_params {
  std::string name = "bert", nonlinearity = "gelu", pooler_nonlinearity = "tanh", attention_style;
  int vocab_size = 0, hidden_size = 0, layers = 0, heads = 0, filter_size = 0, max_position_embeddings = 0,
      num_segments = 2, projected_dims = 0, num_classes = 0;
  f64 epsilon = 1e-12, deviation = 0.02, dropout = 0.1, attention_dropout = -1, mlm_loss_weight = -1,
      loss_weight = -1, task_dropout = -1, ffn_dropout = -1;
  train_app::normal_part initializer = {};
  std::string mlm_loss_scaling;  ///< empty: batch_size if mlm_loss_weight is given, or else num_masked
  bool disable_nsp = false, include_padding = false;
  // muP, see docs/guide/mup.md; 0 and empty: not given.
  f64 base_hidden_size = 0, base_filter_size = 0, embeddings_scale = 1, logits_alpha = 0, attention_alpha = 1;
  std::string scale_by_d;
  bool logits_by_d = true;
  // Of RoBERTa's positions; a folder of Hugging Face says them.
  int unused_positions = 0, pad_token_id = 0;

  /// The fields that describe an encoder without its task.
  static model_params of(const wsl::ml::encoder& e, const std::string& name);
  /// Throws std::invalid_argument for values that no encoder can have.
  wsl::ml::encoder encoder(wsl::ml::encoder_task task) const;
  /// The architecture of the model, without settings of the training alone.
  train_app::named_words architecture(wsl::ml::encoder_task task) const;
  /// Whether a pooler counts that is not BERT's as published, whose nonlinearity is tanh.
  bool has_pooler_of_its_own(wsl::ml::encoder_task task) const;
  /// "bert, 4 layers, 4 heads, width 128"
  std::string words() const;

  bool has_mup() const { return base_hidden_size > 0 || base_filter_size > 0; }

 private:
  /// With the factors of muP, and those of embedding and scores that need none.
  wsl::ml::encoder with_factors(wsl::ml::encoder e) const;
};

void declare(train_app::fields& f, model_params& m);

}  // namespace bert_app
