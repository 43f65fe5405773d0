// SPDX-License-Identifier: MIT
// Models in files: a folder of Hugging Face, or a checkpoint of this project's trainers.
#pragma once
#include <string>
#include <type_traits>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>

#include "adapters.hpp"

namespace zoo_app {

/// A model that has been read, with all its weights.
struct stored_model {
  wsl::ml::decoder config;  ///< its rotary pairs are neighbours
  wsl::ml::network network;
  wsl::ml::weights numbers;
  std::string model_type = {};       ///< of Hugging Face; empty: a checkpoint does not say
  bool has_optimizer_state = false;  ///< beside the weights
  /// of a checkpoint: whose adapters the network and the numbers have, if there are any
  std::optional<gpt_app::adapted_model> adapted = {};
  bool is_reward = false;  ///< in place of a head it has a score (ml::reward_model)
  /// of a reward model the token of the padding, if the files say it
  std::optional<wsl::i32> padding = {};
};

/// Whether a path is a folder with a config.json.
bool is_hugging_face(const std::string& path);
/// Throws wsl::ml::file_error for a pickle.
void refuse_pickle(const std::string& path);

/// Throws wsl::ml::file_error for a path that is no folder with a config.json, and for a model of another
/// kind, such as an encoder.
void require_decoder(const std::string& folder);
/// The content of a folder with a golden state: a model, a base and an adapter of peft, or a policy and the
/// reference with which it is compared where it learns from preferences.
enum class golden_form : wsl::u8 { model, adapter, preferences };
golden_form form_of(const std::string& folder);
/// The folder of the model that learns: the folder itself, its base or its policy.
std::string learning_folder(const std::string& folder);
/// Whether a folder has a decoder, or a model of a family that is not known.
bool is_decoder(const std::string& folder);
/// Reads a folder of Hugging Face. Throws wsl::ml::file_error, also for an encoder.
wsl::ml::pretrained read_folder(const std::string& folder);
/// The `model_type` of a folder's config.json. Throws wsl::ml::file_error for a path that is no folder with
/// one.
std::string model_type_of(const std::string& folder);
/// Calls f(std::type_identity<Model>) for the kind of model in a folder: a decoder, an encoder, or one with
/// the other. A family that is not known is taken for a decoder's, whose reader refuses it.
template <class F>
auto with_kind(const std::string& folder, F f) {
  namespace ml = wsl::ml;
  const std::string type = model_type_of(folder);
  if (ml::hugging_face::find_family<ml::encoder>(type)) return f(std::type_identity<ml::encoder>());
  if (ml::hugging_face::find_family<ml::encoder_decoder>(type))
    return f(std::type_identity<ml::encoder_decoder>());
  return f(std::type_identity<ml::decoder>());
}
/// A decoder or a reward model, with its weights.
stored_model read_hugging_face_model(const std::string& folder);
/// A folder of Hugging Face, or a checkpoint or the folder of a run, whose adapters are folded.
stored_model read_model(const std::string& path);

/// The file of a checkpoint: the path itself, or the newest checkpoint of a run's folder that is whole; later
/// ones are named on stderr. Throws wsl::ml::file_error if there is none.
std::string checkpoint_file(const std::string& path);
/// Reads the weights of a checkpoint, and of its params the model. Throws wsl::ml::file_error.
stored_model read_checkpoint(const std::string& path);
/// Whether a checkpoint has a reward model, as its params say. Throws wsl::ml::file_error.
bool is_reward_checkpoint(const std::string& file);
/// Folds the adapters of a model into their layers.
void fold(stored_model& m);
/// Writes the weights as the checkpoint of step 0 in a folder, with params.yaml, so that `fit`, `eval` and
/// `sample` take it, and the tokenizer of another folder, if there is one. Returns the name of the file.
/// Throws wsl::ml::file_error if the folder has files.
std::string write_checkpoint(const std::string& folder, stored_model& m, const std::string& companions);

}  // namespace zoo_app
