// SPDX-License-Identifier: MIT
// A family of models in the files of Hugging Face's transformers: how its config.json describes a decoder,
// and which tensors have its parameters. Nothing else knows of families: a model that has been read is a
// decoder like any other.
#pragma once
#include "config.hpp"
#include "rules.hpp"

namespace wsl::ml::hugging_face {

struct family {
  const char* model_type;    ///< of config.json
  const char* architecture;  ///< the class of transformers
  const char* prefix;        ///< with which tensors' names may begin or not
  const char* head;          ///< the tensor of the head, which files of tied models may have or not
  decoder (*read)(const config_file&);
  /// The configuration of a decoder, which reads as that decoder if the family has it.
  json (*write)(const decoder&);
  std::vector<tensor_rule> (*tensors)(const decoder&);
};

}  // namespace wsl::ml::hugging_face
