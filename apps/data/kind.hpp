// SPDX-License-Identifier: MIT
// The kind of a path, recognised by its first bytes or by the files in it, not by its name.
#pragma once
#include <string>

namespace data_app {

enum class kind {
  idx,
  safetensors,
  hdf5,
  llmc_model,
  llmc_state,
  llmc_tokens,
  hugging_face,
  tokenized,  ///< a folder with train.bin or val.bin
  tokenizer,
  mnist,
  text,
  raw_tokens
};

/// Throws file_error if it cannot be read, or is a folder of nothing that is known.
kind kind_of(const std::string& path);

}  // namespace data_app
