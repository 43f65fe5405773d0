// SPDX-License-Identifier: MIT
// Tables of words, as fields have them, and the values that they stand for.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace text_app {

/// The value of a word. Throws std::invalid_argument for one that is not in the table; fields take no others.
template <class T, std::size_t n>
T value_of(const std::pair<const char*, T> (&all)[n], const std::string& word) {
  for (const auto& [name, what] : all)
    if (word == name) return what;
  throw std::invalid_argument("there is no " + word);
}
/// The word of a value.
template <class T, std::size_t n>
std::string word_of(const std::pair<const char*, T> (&all)[n], T what) {
  for (const auto& [name, x] : all)
    if (x == what) return name;
  return "?";
}
template <class T, std::size_t n>
std::vector<std::string> words_in(const std::pair<const char*, T> (&all)[n]) {
  std::vector<std::string> words;
  for (const auto& [name, x] : all) words.push_back(name);
  return words;
}

}  // namespace text_app
