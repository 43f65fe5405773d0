// SPDX-License-Identifier: MIT
// A family of models in the files of Hugging Face's transformers: how its config.json describes a decoder, an
// encoder, or one with the other, and which tensors have its parameters. Nothing else knows of families: a
// model that has been read is a decoder or an encoder like any other.
#pragma once
#include "config.hpp"
#include "rules.hpp"

namespace wsl::ml::hugging_face {

template <class Model>
struct basic_family {
  const char* model_type;    ///< of config.json
  const char* architecture;  ///< the class of transformers, unless `write` names another
  const char* prefix;        ///< with which tensors' names may begin or not
  const char* head;  ///< the tensor of the head, which files of a tied decoder may have or not; or null
  Model (*read)(const config_file&);
  /// The configuration of a model, which reads as that model if the family has it.
  json (*write)(const Model&);
  std::vector<tensor_rule> (*tensors)(const Model&);
};
using family = basic_family<decoder>;

}  // namespace wsl::ml::hugging_face
