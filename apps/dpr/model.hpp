// SPDX-License-Identifier: MIT
// The section `model` of a pair of encoders, with the names of the Cerebras Model Zoo, and the pair that it
// describes. Both encoders have one form.
#pragma once
#include <fields.hpp>
#include <session.hpp>
#include <wsl/ml/model/dual_encoder.hpp>

namespace dpr_app {

using train_app::f64;
using train_app::i64;

struct model_params {
  std::string nonlinearity = "gelu";
  int vocab_size = 0, hidden_size = 0, layers = 0, heads = 0, filter_size = 0, max_position_embeddings = 0,
      num_segments = 2, projection_dim = 0, pad_token_id = 0;
  f64 epsilon = 1e-12, deviation = 0.02, dropout = 0.1, attention_dropout = -1, ffn_dropout = -1,
      temperature = 1;
  train_app::normal_part initializer = {};
  bool use_biencoder = true, mutual_information = false;

  /// The fields that describe the encoders, and the projection. Throws std::invalid_argument for two forms.
  static model_params of(const wsl::ml::dual_encoder& d, const std::string& from);
  /// The pair for so many passages of a question. Throws std::invalid_argument for values that no encoder can
  /// have.
  wsl::ml::dual_encoder pair(int passages_of_question) const;
  /// The architecture of the model, without settings of the training alone.
  train_app::named_words architecture() const;
  /// "two encoders of 2 layers, 4 heads, width 64"
  std::string words() const;
};

void declare(train_app::fields& f, model_params& m);

}  // namespace dpr_app
