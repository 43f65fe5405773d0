// SPDX-License-Identifier: MIT
#include "example_words.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "writing.hpp"

namespace gpt_app {

namespace ml = wsl::ml;
using wsl::i32;

bool are_characters(const example_words& asked) {
  const bool are = asked.kind.empty() ? asked.tokenizer_dir.empty() : asked.kind == "characters";
  if (are && !asked.of_model.empty() && asked.kind.empty())
    throw std::invalid_argument(
        fmt::format("{} has no tokenizer to make its tokens: give --tokenizer_dir; --vocabulary characters "
                    "takes a text by "
                    "its characters",
                    asked.of_model));
  if (are && !asked.tokenizer_dir.empty())
    throw std::invalid_argument(
        "train_input.vocabulary is characters, and tokenizer_dir is for gpt2: give one of them");
  if (!are && asked.tokenizer_dir.empty())
    throw std::invalid_argument(
        "train_input.vocabulary is gpt2: give train_input.tokenizer_dir, a folder with a tokenizer, or take "
        "--vocabulary characters");
  return are;
}

vocabulary words_for(const example_words& asked, bool of_characters, std::string_view text) {
  if (!of_characters) return vocabulary::gpt2(asked.tokenizer_dir);
  if (asked.has_saved()) return vocabulary::from_saved(asked.saved, "");
  return vocabulary(ml::characters::of(text));
}

i32 end_of(const example_words& asked, bool of_characters, const vocabulary& words, std::optional<i32> kept) {
  const std::string& token = asked.end_token;
  if (of_characters) {
    if (!token.empty())
      throw std::invalid_argument(
          "train_input.end_token is of a tokenizer; of characters a text ends with its line: leave it out");
    return words.encode("\n").front();
  }
  if (!token.empty()) {
    if (const auto id = words.id(token)) return *id;
    throw std::invalid_argument(fmt::format("train_input.end_token: the tokenizer has no token '{}'", token));
  }
  if (kept) return *kept;
  if (const std::vector<i32> ends =
          asked.of_model.empty() ? std::vector<i32>() : tokens_in(asked.of_model, "eos_token_id");
      !ends.empty())
    return ends.front();
  if (const auto id = words.end_of_text()) return *id;
  throw std::invalid_argument(fmt::format(
      "the tokenizer in {} has no token that ends a text: name one with --end_token", asked.tokenizer_dir));
}

std::string lacks(const ml::unknown_character& e, const vocabulary& words, const example_words& asked,
                  std::string_view examples) {
  const bool is_kept = asked.has_saved();
  return fmt::format(
      "the character '{}' is none of the {} of the vocabulary, which is that of {}: leave it "
      "out, or {}",
      e.character, words.size(), is_kept ? "the checkpoint" : fmt::format("the {} to train with", examples),
      is_kept ? fmt::format("begin a run of its own with these {}", examples)
              : fmt::format("train with {} that have it", examples));
}

}  // namespace gpt_app
