// SPDX-License-Identifier: MIT
// A vocabulary on disk: one JSON object from each token to its number, as GPT-2's encoder.json. Vocabularies
// of characters are kept in the same form.
#pragma once
#include <string>
#include <vector>

#include "../../support/compiled.hpp"
#include "characters.hpp"

namespace wsl::ml {

/// The tokens of a file in the order of their numbers, which count from 0. Throws file_error.
std::vector<std::string> read_vocabulary(const std::string& name);

/// Reads a vocabulary of characters. Throws file_error if the tokens are not characters in the order of their
/// code points.
characters read_characters(const std::string& name);
/// Writes a vocabulary of characters. Throws file_error if it cannot be written.
void write_characters(const std::string& name, const characters& x);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "vocabulary/file.hpp"
#endif
