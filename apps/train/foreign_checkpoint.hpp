// SPDX-License-Identifier: MIT
// Checkpoints that other programs have written, by what their files begin with: those of the Model Zoo (.mdl) are
// HDF5 or zip, those of PyTorch zip or a pickle. A safetensors file begins with the length of its header, which
// is never as large as these words would be.
#pragma once
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace train_app {

/// The form of a checkpoint of another program; empty for other files, and for one that cannot be read.
inline std::string form_of_foreign_checkpoint(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 8> first{};
  if (!in.read(first.data(), first.size())) return "";
  const std::string_view begin(first.data(), first.size());
  if (begin.starts_with("\x89HDF")) return "HDF5";
  if (begin.starts_with("PK\x03\x04")) return "zip";
  const bool has_length = begin.substr(4) == std::string_view("\0\0\0\0", 4);
  return begin.front() == '\x80' && begin[1] >= 2 && begin[1] <= 5 && !has_length ? "pickle" : "";
}

/// What a trainer says of such a file.
inline std::string words_of_foreign_checkpoint(const std::string& form, bool is_of_decoder,
                                               const std::string& program) {
  return "is a file of the form " + form +
         ", as checkpoints of the Model Zoo and of PyTorch are, and is not read here: " +
         (is_of_decoder
              ? "let the Model Zoo's converter write it in the form of Hugging Face (--tgt-fmt hf), and "
                "give its folder to wsl-zoo fit --hf, or to wsl-zoo checkpoint convert --src-fmt hf "
                "--tgt-fmt wsl"
              : "take one that " + program + " has written, or leave it out");
}

}  // namespace train_app
