// SPDX-License-Identifier: MIT
// Models in the files of other programs: GPT-2 as llm.c has it, and the families of Hugging Face's
// transformers.
#pragma once
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/weights.hpp>

namespace gpt_app {

/// Why llm.c, or each family of transformers, has no such model; empty if it has.
std::string why_no_llmc(const wsl::ml::decoder& d);
std::string why_no_hugging_face(const wsl::ml::decoder& d);

/// Writes model.bin for llm.c. Throws std::invalid_argument if it has no such model.
void export_llmc(const std::string& folder, const wsl::ml::decoder& d, const wsl::ml::weights& w);
/// Writes model.safetensors and config.json for transformers. Throws std::invalid_argument if they have no
/// such model.
void export_hugging_face(const std::string& folder, const wsl::ml::decoder& d, const wsl::ml::weights& w);
/// The weights of a model.bin, or of a folder with model.safetensors and config.json. Throws
/// wsl::ml::file_error if it is another model than d.
wsl::ml::weights import_weights(const std::string& from, const wsl::ml::decoder& d);

}  // namespace gpt_app
