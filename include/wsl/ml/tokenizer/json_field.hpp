// SPDX-License-Identifier: MIT
// A value in a JSON file together with its place there, so that every mistake in a tokenizer.json is reported
// with the file and the path of the value, as in
//   wsl: tokenizer.json: model.vocab.hello: it should be a whole number, not "seven"
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../io/input_file.hpp"

namespace wsl::ml::detail {

class json_field {
 public:
  json_field(const nlohmann::json& value, std::string path, const std::string& file)
      : value_(&value), path_(std::move(path)), file_(&file) {}

  const nlohmann::json& value() const { return *value_; }
  file_error error(const std::string& why) const {
    return file_error(fmt::format("wsl: {}: {}: {}", *file_, path_.empty() ? "the document" : path_, why));
  }

  /// Whether an object has the key with a value other than null.
  bool has(const char* key) const {
    if (!value_->is_object()) return false;
    const auto found = value_->find(key);
    return found != value_->end() && !found->is_null();
  }
  json_field at(const char* key) const {
    if (!value_->is_object()) throw wrong("an object");
    const auto found = value_->find(key);
    if (found == value_->end()) throw error(fmt::format("it lacks '{}'", key));
    return child(*found, key);
  }
  std::vector<json_field> items() const {
    if (!value_->is_array()) throw wrong("an array");
    std::vector<json_field> all;
    all.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i)
      all.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i), *file_);
    return all;
  }
  json_field child(const nlohmann::json& value, const std::string& key) const {
    return {value, path_.empty() ? key : path_ + "." + key, *file_};
  }

  const std::string& text() const {
    if (!value_->is_string()) throw wrong("a text");
    return value_->get_ref<const std::string&>();
  }
  i32 id() const {
    // A negative number is larger than all as an unsigned one.
    if (!value_->is_number_integer() || value_->get<u64>() > largest_id)
      throw wrong(fmt::format("a whole number up to {}", largest_id).c_str());
    return value_->get<i32>();
  }
  f64 number() const {
    if (!value_->is_number()) throw wrong("a number");
    return value_->get<f64>();
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    const json_field f = at(key);
    if (!f.value_->is_boolean()) throw f.wrong("true or false");
    return f.value_->get<bool>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    return has(key) ? at(key).text() : otherwise;
  }
  file_error wrong(const char* wanted) const {
    std::string is = value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (is.size() > 60) is = is.substr(0, 57) + "...";
    return error(fmt::format("it should be {}, not {}", wanted, is));
  }

  /// A vocabulary in memory has a place for every id, so a single wrong one must not claim gigabytes.
  static constexpr u64 largest_id = (1u << 24) - 1;

 private:
  const nlohmann::json* value_;
  std::string path_;
  const std::string* file_;
};

}  // namespace wsl::ml::detail
