// SPDX-License-Identifier: MIT
// A model that is ready to compute, and its tokens: one of Hugging Face, or one that has been trained here.
#pragma once
#include <optional>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "options.hpp"

namespace zoo_app {

struct loaded_model {
  std::unique_ptr<train_app::machine> on;
  std::optional<wsl::ml::tokenizer> words;  ///< of a folder of Hugging Face
  gpt_app::vocabulary letters;              ///< of a run
  int positions = 0;                        ///< of the longest sequence
  std::string name = {};                    ///< of its folder, or of the run's
  /// those with which a text begins and ends by the folder's configuration
  std::vector<wsl::i32> begins = {}, ends = {};

  /// The number of tokens that the model has.
  int tokens() const;
  /// The tokens of a text; numbers, where there is no tokenizer. `specials` adds those that the tokenizer
  /// puts around a text. Throws std::invalid_argument for a text that has other tokens than the model.
  std::vector<wsl::i32> encode(const std::string& text, bool specials = false) const;
  /// The token before a text that has no other: that which begins a text, or else that which ends one. The
  /// first if neither is known.
  wsl::i32 first_token() const;
};

/// Calls f, with the averages of the weights in place of a run's parameters if it keeps them.
template <class F>
void with_average(const options& o, const loaded_model& m, F f) {
  if (o.hf.empty()) train_app::with_average(o.common.optimizer, *m.on, f);
  else f();
}

/// Loads the model of --hf, or of the run in model_dir. Throws std::invalid_argument or wsl::ml::file_error.
loaded_model load_model(options& o);

}  // namespace zoo_app
