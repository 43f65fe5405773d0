// SPDX-License-Identifier: MIT
// Models in the files of other programs: GPT-2 as llm.c has it, and the families of Hugging Face's
// transformers.
#pragma once
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/train/trainer_base.hpp>

namespace gpt_app {

void set_weights(wsl::ml::trainer_base& t, const wsl::ml::weights& w);

/// Why llm.c, or each family of transformers, has no such model; empty if it has.
std::string why_no_llmc(const wsl::ml::decoder& d);
std::string why_no_hugging_face(const wsl::ml::decoder& d);

/// Writes model.bin for llm.c. Throws std::invalid_argument if it has no such model.
void export_llmc(const std::string& folder, const wsl::ml::decoder& d, wsl::ml::trainer_base& t);
/// Writes model.safetensors and config.json for transformers. Throws std::invalid_argument if they have no
/// such model.
void export_hugging_face(const std::string& folder, const wsl::ml::decoder& d, wsl::ml::trainer_base& t);
/// Sets the weights to those of a model.bin, or of a folder with model.safetensors and config.json. Throws
/// wsl::ml::file_error if it is another model than d.
void import_weights(const std::string& from, const wsl::ml::decoder& d, wsl::ml::trainer_base& t);

}  // namespace gpt_app
