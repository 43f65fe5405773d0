// SPDX-License-Identifier: MIT
// What wsl-data does.
#pragma once
#include <string>

#include <wsl/ml/data/token_file.hpp>

namespace data_app {

/// Prints what is in a file or folder.
void inspect(const std::string& path, const std::string& model);

/// How a text becomes tokens.
struct tokenizing {
  std::string text, out;
  std::string gpt2;           ///< folder of encoder.json and vocab.bpe; empty: by characters
  bool sections = false;      ///< with <|endoftext|> before each, as llm.c
  double train = 0.9;         ///< the part of the text that is for training
  long long validation = -1;  ///< instead: so many tokens at the beginning are for validation
  wsl::ml::token_format form = wsl::ml::token_format::llmc;
};
void tokenize(const tokenizing&);
/// Prints tokens as text.
void say(const std::string& tokens, const std::string& vocabulary, long long from, long long count);

/// Writes MNIST's four files with drawn digits.
void draw(long long train, long long test, unsigned long long seed, const std::string& out);

/// From what `in` is to what `out` is called.
void convert(const std::string& in, const std::string& out, wsl::ml::token_format form);

}  // namespace data_app
