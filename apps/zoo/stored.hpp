// SPDX-License-Identifier: MIT
// Models in files: a folder of Hugging Face, or a checkpoint of this project's trainers.
#pragma once
#include <string>
#include <wsl/ml/io/hugging_face.hpp>

namespace zoo_app {

/// A model that has been read, with all its weights.
struct stored_model {
  wsl::ml::decoder config;  ///< its rotary pairs are neighbours
  wsl::ml::network network;
  wsl::ml::weights numbers;
  std::string model_type = {};       ///< of Hugging Face; empty: a checkpoint does not say
  bool has_optimizer_state = false;  ///< beside the weights
};

/// Whether a path is a folder with a config.json.
bool is_hugging_face(const std::string& path);
/// Throws wsl::ml::file_error for a pickle.
void refuse_pickle(const std::string& path);

/// Throws wsl::ml::file_error for a path that is no folder with a config.json, and for a model of another
/// kind, such as an encoder.
void require_decoder(const std::string& folder);
/// Reads a folder of Hugging Face. Throws wsl::ml::file_error, also for an encoder.
wsl::ml::pretrained read_folder(const std::string& folder);
/// The same with its weights.
stored_model read_hugging_face_model(const std::string& folder);

/// The file of a checkpoint: the path itself, or the newest checkpoint of a run's folder that is whole; later
/// ones are named on stderr. Throws wsl::ml::file_error if there is none.
std::string checkpoint_file(const std::string& path);
/// Reads the weights of a checkpoint, and of its params the model. Throws wsl::ml::file_error.
stored_model read_checkpoint(const std::string& path);
/// Writes the weights as the checkpoint of step 0 in a folder, with params.yaml, so that `fit`, `eval` and
/// `sample` take it, and the tokenizer of another folder, if there is one. Returns the name of the file.
/// Throws wsl::ml::file_error if the folder has files.
std::string write_checkpoint(const std::string& folder, stored_model& m, const std::string& companions);

}  // namespace zoo_app
