// SPDX-License-Identifier: MIT
// A folder of Hugging Face, with a sentence for each that has no causal decoder.
#pragma once
#include <string>
#include <wsl/ml/io/hugging_face.hpp>

namespace zoo_app {

/// Reads a model of a folder. Throws wsl::ml::file_error, also for an encoder.
wsl::ml::pretrained read_folder(const std::string& folder);

}  // namespace zoo_app
