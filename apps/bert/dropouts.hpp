// SPDX-License-Identifier: MIT
// The fields that say how much encoders drop while they are trained.
#pragma once
#include <fields.hpp>

namespace bert_app {

/// Declares them in the section at hand.
inline void declare_dropouts(train_app::fields& f, wsl::f64& everywhere, wsl::f64& of_attention,
                             wsl::f64& inside) {
  f.add("dropout_rate", everywhere, "of embeddings and of what blocks add").at_least(0).at_most(1);
  f.add("attention_dropout_rate", of_attention, "of the weights of attention; null: dropout_rate")
      .at_least(0)
      .at_most(1);
  f.add("ffn_dropout_rate", inside,
        "inside the feed-forward part, between its matrices; null: dropout_rate, as in the Model Zoo; 0 with "
        "hf "
        "(of this program)")
      .at_least(0)
      .at_most(1);
}

}  // namespace bert_app
