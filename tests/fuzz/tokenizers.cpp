// SPDX-License-Identifier: MIT
// The readers of tokenizers: tokenizer.json, SentencePiece models, and GPT-2's first files.
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "fuzz.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace fuzz;

// A tokenizer that has been read encodes and decodes, or says that an expression takes too long.
void works(const tokenizer& t) {
  try {
    const std::vector<i32> ids = t.encode("Hello  \xc3\xa9 <s> 123 \xf0\x9f\x98\x80\n\n abcabc 'll</s>");
    for (i32 id : ids) holds(id >= 0 && id < t.size());
    t.decode(ids);
  } catch (const std::invalid_argument& e) { holds(std::string_view(e.what()).starts_with("wsl: ")); }
}
void tokenizers(std::string_view bytes) {
  const memory_file f(bytes);
  works(tokenizer::from_file(f.name()));
}
std::string bytes_in_json() {
  nlohmann::json numbers;
  for (char32_t c : letters_of_all_bytes()) {
    std::string token;
    append_utf8(token, c);
    numbers[token] = numbers.size();
  }
  for (const char* token : {"ab", "abc", "bc", "aa", "aaaa", "<|endoftext|>"})
    numbers[token] = numbers.size();
  return numbers.dump();
}
void merges(std::string_view bytes) {
  static const memory_file numbers(bytes_in_json());
  const memory_file f(bytes);
  const tokenizer b = tokenizer::from_gpt2(numbers.name(), f.name());
  const std::string sample = "abcabc aaaaaaa bc 'll \n\n x";
  holds(b.decode(b.encode(sample)) == sample);
}
void vocabulary_file(std::string_view bytes) {
  static const memory_file no_merges("");
  const memory_file f(bytes);
  const tokenizer b = tokenizer::from_gpt2(f.name(), no_merges.name());
  holds(b.decode(b.encode("any text\n")) == "any text\n");
}

const enter table{{"tokenizer", tokenizers}, {"merges", merges}, {"vocabulary", vocabulary_file}};
}  // namespace
