// SPDX-License-Identifier: MIT
// A vocabulary on disk: one object in JSON, from each token to its number, as GPT-2's encoder.json.
// Characters are kept so as well.
#pragma once
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "../../support/whole_file.hpp"
#include "characters.hpp"

namespace wsl::ml {

namespace detail {

// An object of names and numbers, nothing else.
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
    return numbers.emplace(key_, n).second || refuse("token '" + key_ + "' is there twice");
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return refuse("it is no JSON from byte " + std::to_string(at) + " on");
  }

 private:
  bool refuse(std::string sentence) {
    fault = std::move(sentence);
    return false;
  }
  bool unwanted() {
    return refuse("it should be one object of tokens and their numbers; what '" + key_ +
                  "' has is no number");
  }

  bool inside_ = false;
  std::string key_;
};

}  // namespace detail

/// The tokens in the order of their numbers, which are those from 0 on. Throws file_error.
inline std::vector<std::string> read_vocabulary(const std::string& name) {
  const std::string text = read_text(name);
  detail::vocabulary_events events;
  // by this type the parser is compiled once for all that listen
  nlohmann::json_sax<nlohmann::json>* const listener = &events;
  if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), listener))
    throw file_error("wsl: " + name + ": " + events.fault);
  std::vector<std::string> tokens(events.numbers.size());
  std::vector<bool> seen(tokens.size());
  for (const auto& [token, number] : events.numbers) {
    if (number >= tokens.size() || seen[number])
      throw file_error("wsl: " + name + ": its " + std::to_string(tokens.size()) +
                       " tokens should have the numbers from 0 on, each once; '" + token + "' has " +
                       std::to_string(number));
    seen[number] = true, tokens[number] = token;
  }
  return tokens;
}

/// Throws file_error if the tokens are not characters in the order of their code points.
inline characters read_characters(const std::string& name) {
  std::string letters;
  for (const std::string& token : read_vocabulary(name)) {
    if (token.empty() || detail::first_code_point(token).bytes != token.size())
      throw file_error("wsl: " + name + ": '" + token +
                       "' is not one character: this is a vocabulary of another kind");
    letters += token;
  }
  try {
    return characters::in_order(letters);
  } catch (const std::invalid_argument&) {
    throw file_error("wsl: " + name + ": the characters are not numbered in the order of their code points");
  }
}
/// Throws std::runtime_error if it cannot be written.
inline void write_characters(const std::string& name, const characters& x) {
  std::string text;
  for (i32 id = 0; id < x.size(); ++id)
    text += (id ? "," : "{") + nlohmann::json(x.decode({&id, 1})).dump() + ":" + std::to_string(id);
  support::write_whole_file(name, (text.empty() ? "{" : text) + "}\n");
}

}  // namespace wsl::ml
