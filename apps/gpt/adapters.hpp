// SPDX-License-Identifier: MIT
// Low-rank adapters of a language model: the section `lora`, with the names of peft, a model with them, and
// the model into which they have been folded.
#pragma once
#include <optional>
#include <string>
#include <wsl/ml/io/hugging_face/peft.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/stored_weights.hpp>
#include <wsl/ml/train/trainer_base.hpp>

#include "model.hpp"

namespace gpt_app {

struct lora_params {
  int rank = 0;  ///< 0: no adapters
  f64 alpha = 8, dropout = 0;
  bool rank_stabilized = false;
  train_app::word_list targets = {};
  train_app::numbers_by_name rank_pattern = {}, alpha_pattern = {};
  std::string base = {};
  std::string adapter = {};  ///< a folder of peft to begin with; empty: none

  bool are_given() const { return rank > 0; }
  wsl::ml::lora_settings settings() const;
  /// "adapters of rank 8 for q_proj and v_proj"
  std::string words() const;
  /// The part of a model's architecture that is beside its decoder's; empty without adapters.
  train_app::named_words architecture() const;
};

/// Declares the section `lora`.
void declare_lora(train_app::fields& f, lora_params& p);
/// Takes the settings of the folder of adapters, if one is given. Throws std::invalid_argument for an option
/// that says something else than the folder, and for settings of adapters without a rank; wsl::ml::file_error
/// for a folder that cannot be read.
void complete_lora(train_app::fields& f, lora_params& p);
/// Throws std::invalid_argument for options of adapters, where a folder of them alone is read.
void refuse_settings(train_app::fields& f, const lora_params& p, const std::string& mode);

/// A decoder with its adapters, or without any.
class adapted_model {
 public:
  /// Adapters are for the layers of a family of Hugging Face: that of the name, if it has such a decoder, or
  /// else the first that has. Throws std::invalid_argument if there is none, or for layers that it does not
  /// have.
  adapted_model(const wsl::ml::decoder& d, const std::string& name,
                std::optional<wsl::ml::lora_settings> lora);
  /// A `packed` one takes several documents in a sequence.
  adapted_model(const model_params& m, const lora_params& p, bool packed = false)
      : adapted_model(m.decoder(), m.name, p.are_given() ? std::optional(p.settings()) : std::nullopt) {
    config_.packed = packed;
  }

  const wsl::ml::decoder& config() const { return config_; }
  bool has_adapters() const { return lora_.has_value(); }
  /// The layers that have adapters; empty without any.
  const wsl::ml::adapter_settings& layers() const { return layers_; }
  wsl::ml::network network() const;
  wsl::ml::network plain() const;

  /// The weights of the model with adapters that change nothing yet, and back: the adapters are part of the
  /// layers. Both give the same weights where there are no adapters.
  wsl::ml::weights with_adapters(const wsl::ml::weights& of_plain, wsl::u64 seed) const;
  wsl::ml::weights folded(const wsl::ml::weights& w) const;
  /// Sets the adapters to those of a folder of peft. Throws wsl::ml::file_error.
  void read(const std::string& folder, wsl::ml::weights& w) const;
  /// Writes them to one. Throws std::invalid_argument if there are none.
  void write(const std::string& folder, const wsl::ml::weights& w) const;

 private:
  wsl::ml::decoder config_;
  std::string family_;
  std::optional<wsl::ml::lora_settings> lora_;
  wsl::ml::adapter_settings layers_ = {};
};

/// The weights of a decoder of that family after the adapters of a folder of peft have been folded into them.
/// Throws wsl::ml::file_error.
wsl::ml::weights folded(const std::string& adapter, const wsl::ml::decoder& d, const std::string& family,
                        const wsl::ml::weights& base);

wsl::ml::weights weights_of(wsl::ml::trainer_base& t);
void set_weights(wsl::ml::trainer_base& t, const wsl::ml::weights& w);

}  // namespace gpt_app
