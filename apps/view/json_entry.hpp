// SPDX-License-Identifier: MIT
// A value in a JSON file from elsewhere, with its place in the file: everything that is read from it is
// checked, and what is wrong is named as "plate.json: paths[3].color is 99; it is a whole number from 0 to
// 23".
#pragma once
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace view {

class json_entry {
 public:
  /// Both must outlive the entry. `remedy` ends each sentence.
  json_entry(const nlohmann::json& value, const std::string& file, const char* remedy)
      : value_(value), file_(file), remedy_(remedy) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument(file_ + ": " + (place_.empty() ? "" : place_ + " ") + what + remedy_);
  }

  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  json_entry operator[](const char* key) const {
    if (!value_.is_object()) refuse("is no object");
    const auto found = value_.find(key);
    if (found == value_.end()) refuse(std::string("has no \"") + key + "\"");
    return {*found, *this, place_.empty() ? key : place_ + "." + key};
  }
  json_entry operator[](std::size_t k) const {
    return {value_[k], *this, place_ + "[" + std::to_string(k) + "]"};
  }

  /// The number of entries of a list of at most so many.
  std::size_t list(std::size_t most) const {
    if (!value_.is_array()) refuse("is no list");
    if (value_.size() > most)
      refuse("has " + std::to_string(value_.size()) + " entries, and there is room for " +
             std::to_string(most));
    return value_.size();
  }
  std::size_t list_of(std::size_t size) const {
    if (list(size) != size)
      refuse("has " + std::to_string(value_.size()) + " entries, not " + std::to_string(size));
    return size;
  }
  int number(long long least, long long most) const {
    // a number beyond 64 bits is read as one with a fraction
    const bool whole = value_.is_number_integer();
    const bool large = whole && value_.is_number_unsigned() && value_.get<unsigned long long>() > 1ull << 62;
    const long long n = whole && !large ? value_.get<long long>() : 0;
    if (!whole || large || n < least || n > most)
      refuse("is " + shown() + "; it is a whole number from " + std::to_string(least) + " to " +
             std::to_string(most));
    return static_cast<int>(n);
  }
  bool flag() const {
    if (!value_.is_boolean()) refuse("is " + shown() + "; it is true or false");
    return value_.get<bool>();
  }
  const std::string& text(std::size_t longest = 1000) const {
    if (!value_.is_string()) refuse("is " + shown() + "; it is a text");
    const auto& t = value_.get_ref<const std::string&>();
    if (t.size() > longest) refuse("is a text of more than " + std::to_string(longest) + " bytes");
    return t;
  }
  /// The place of a text among some words.
  template <std::size_t n>
  int word(const char* const (&among)[n]) const {
    std::string known;
    for (std::size_t k = 0; k < n; ++k) {
      if (text() == among[k]) return static_cast<int>(k);
      known += (k ? ", " : "") + std::string(among[k]);
    }
    refuse("is " + shown() + "; it is one of " + known);
  }
  /// Calls use(key, entry) for each field of an object.
  template <class Use>
  void each_field(Use use) const {
    if (!value_.is_object()) refuse("is no object");
    for (const auto& field : value_.items())
      use(field.key(), json_entry(field.value(), *this, place_ + "." + field.key()));
  }

 private:
  json_entry(const nlohmann::json& value, const json_entry& of, std::string place)
      : value_(value), file_(of.file_), remedy_(of.remedy_), place_(std::move(place)) {}

  /// Its beginning, if it is long.
  std::string shown() const {
    const std::string all = value_.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    return all.size() <= 60 ? all : all.substr(0, 57) + "...";
  }

  const nlohmann::json& value_;
  const std::string& file_;
  const char* remedy_;
  std::string place_;
};

}  // namespace view
