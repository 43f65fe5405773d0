// SPDX-License-Identifier: MIT
// Reads and writes vocabularies, for ../vocabulary.hpp: a part of the library that can be compiled once, see
// ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "../../../support/whole_file.hpp"
#include "../vocabulary.hpp"

namespace wsl::ml {

namespace detail {

// Receives the events of the JSON parser: one object of names and numbers, nothing else.
class vocabulary_events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::unordered_map<std::string, u64> numbers;
  std::string fault;

  bool null() override { return unwanted(); }
  bool boolean(bool) override { return unwanted(); }
  bool number_integer(std::int64_t) override { return unwanted(); }
  bool number_float(double, const std::string&) override { return unwanted(); }
  bool string(std::string&) override { return unwanted(); }
  bool binary(nlohmann::json::binary_t&) override { return unwanted(); }
  bool start_array(std::size_t) override { return unwanted(); }
  bool end_array() override { return unwanted(); }
  bool start_object(std::size_t) override { return !std::exchange(inside_, true) || unwanted(); }
  bool end_object() override { return true; }
  bool key(std::string& k) override {
    key_ = k;
    return true;
  }
  bool number_unsigned(std::uint64_t n) override {
    if (!inside_) return unwanted();
    return numbers.emplace(key_, n).second || fail(fmt::format("token '{}' is there twice", key_));
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("it is no JSON from byte {} on", at));
  }

 private:
  bool fail(std::string sentence) {
    fault = std::move(sentence);
    return false;
  }
  bool unwanted() {
    return fail(
        fmt::format("it should be one object of tokens and their numbers; what '{}' has is no number", key_));
  }

  bool inside_ = false;
  std::string key_;
};

}  // namespace detail

WSL_ML_DATA_COMPILED_PART std::vector<std::string> read_vocabulary(const std::string& name) {
  const std::string text = read_text(name);
  detail::vocabulary_events events;
  // With this type the parser is compiled once for all receivers of events.
  nlohmann::json_sax<nlohmann::json>* const listener = &events;
  if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), listener))
    throw file_error(fmt::format("wsl: {}: {}", name, events.fault));
  std::vector<std::string> tokens(events.numbers.size());
  std::vector<bool> seen(tokens.size());
  for (const auto& [token, number] : events.numbers) {
    if (number >= tokens.size() || seen[number])
      throw file_error(
          fmt::format("wsl: {}: its {} tokens should have the numbers from 0 on, each once; '{}' has {}",
                      name, tokens.size(), token, number));
    seen[number] = true, tokens[number] = token;
  }
  return tokens;
}

WSL_ML_DATA_COMPILED_PART characters read_characters(const std::string& name) {
  std::string letters;
  for (const std::string& token : read_vocabulary(name)) {
    if (token.empty() || detail::first_code_point(token).bytes != token.size())
      throw file_error(fmt::format("wsl: {}: '{}' is not one character: this is a vocabulary of another kind",
                                   name, token));
    letters += token;
  }
  try {
    return characters::in_order(letters);
  } catch (const std::invalid_argument&) {
    throw file_error(
        fmt::format("wsl: {}: the characters are not numbered in the order of their code points", name));
  }
}

WSL_ML_DATA_COMPILED_PART void write_characters(const std::string& name, const characters& x) {
  std::vector<std::string> entries;
  for (i32 id = 0; id < x.size(); ++id)
    entries.push_back(fmt::format("{}:{}", nlohmann::json(x.decode({&id, 1})).dump(), id));
  support::write_whole_file(name, fmt::format("{{{}}}\n", fmt::join(entries, ",")));
}

}  // namespace wsl::ml
