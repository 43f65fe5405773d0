// SPDX-License-Identifier: MIT
// The commands of wsl-data.
#pragma once
#include <string>

#include <wsl/ml/data/token_file.hpp>

namespace data_app {

/// Prints the contents of a file or folder.
void inspect(const std::string& path, const std::string& model);

/// The settings of a tokenization.
struct tokenizing {
  std::string text, out;
  std::string gpt2;           ///< folder of encoder.json and vocab.bpe; empty: by characters
  bool sections = false;      ///< with <|endoftext|> before each, as llm.c
  double train = 0.9;         ///< the part of the text that is for training
  long long validation = -1;  ///< instead, the number of tokens at the beginning for validation
  wsl::ml::token_format form = wsl::ml::token_format::llmc;
};
void tokenize(const tokenizing&);
/// Prints tokens as text.
void say(const std::string& tokens, const std::string& vocabulary, long long from, long long count);

/// Writes MNIST's four files with drawn digits.
void draw(long long train, long long test, unsigned long long seed, const std::string& out);

/// Converts from the format of the file `in` to the format that the name `out` asks for.
void convert(const std::string& in, const std::string& out, wsl::ml::token_format form);

}  // namespace data_app
