// SPDX-License-Identifier: MIT
// GPT-2's first files: encoder.json (elsewhere vocab.json) numbers the tokens, vocab.bpe (merges.txt) lists
// the merges, one a line after a line with the version.
#pragma once
#include "../data/vocabulary.hpp"
#include "byte_level_document.hpp"

namespace wsl::ml::detail {

inline nlohmann::json vocabulary_of_gpt2(const std::string& name) {
  const auto error = [&](const std::string& why) {
    return file_error(fmt::format("wsl: {}: {}: it is no encoder.json of GPT-2", name, why));
  };
  nlohmann::json numbers = nlohmann::json::object();
  for (const std::string& token : read_vocabulary(name)) {
    if (!bytes_of_letters(token))
      throw error(fmt::format("token '{}' has a character that stands for no byte", token));
    numbers[token] = numbers.size();
  }
  for (std::size_t b = 0; b < 256; ++b) {
    std::string letter;
    append_utf8(letter, letters_of_all_bytes()[b]);
    if (!numbers.contains(letter)) throw error(fmt::format("byte {} has no token", b));
  }
  return numbers;
}

inline nlohmann::json merges_of_gpt2(const std::string& name, const nlohmann::json& numbers) {
  const std::string text = read_text(name);
  nlohmann::json merges = nlohmann::json::array();
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view words = std::string_view(text).substr(at, end - at);
    at = end + 1, ++line;
    if (words.ends_with('\r')) words.remove_suffix(1);
    if (words.empty() || (line == 1 && words.starts_with("#version"))) continue;
    const auto error = [&](const std::string& why) {
      return file_error(fmt::format("wsl: {}, line {}: {}", name, line, why));
    };
    const std::size_t space = words.find(' ');
    if (space == std::string_view::npos) throw error("a merge is two tokens with a space between them");
    const std::string first(words.substr(0, space)), second(words.substr(space + 1));
    if (!bytes_of_letters(first) || !bytes_of_letters(second)) throw error("a character stands for no byte");
    if (!numbers.contains(first) || !numbers.contains(second) || !numbers.contains(first + second))
      throw error(fmt::format(
          "'{}' or what it makes is no token: this list does not belong to the tokens of encoder.json",
          words));
    merges.push_back({first, second});
  }
  return merges;
}

inline nlohmann::json json_of_gpt2(const std::string& vocabulary_file, const std::string& merges_file) {
  nlohmann::json numbers = vocabulary_of_gpt2(vocabulary_file), merges = merges_of_gpt2(merges_file, numbers),
                 added = nlohmann::json::array();
  if (const auto end = numbers.find("<|endoftext|>"); end != numbers.end())
    added.push_back(added_entry("<|endoftext|>", end->get<i32>(), true));
  return byte_level_document(std::move(numbers), std::move(merges), std::move(added), word_style::gpt2);
}

}  // namespace wsl::ml::detail
