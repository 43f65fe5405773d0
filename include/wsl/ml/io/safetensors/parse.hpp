// SPDX-License-Identifier: MIT
// Parses the header of a safetensors file, for ../safetensors_header.hpp: a part of the library that can be
// compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "../safetensors_header.hpp"

namespace wsl::ml {

namespace detail {

// Receives the events of the JSON parser. The first that no header has ends the parsing with a sentence.
class header_events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  safetensors_header result;
  std::string fault;

  bool null() override { return unwanted("null"); }
  bool boolean(bool) override { return unwanted("a truth value"); }
  bool number_integer(std::int64_t) override { return unwanted("a negative number"); }
  bool number_float(double, const std::string&) override { return unwanted("a number that is not whole"); }
  bool binary(nlohmann::json::binary_t&) override { return unwanted("binary"); }

  bool number_unsigned(std::uint64_t n) override {
    if (!in_array_) return unwanted("a number");
    (key_ == "shape" ? shape_ : offsets_)->push_back(n);
    return true;
  }
  bool string(std::string& text) override {
    if (in_metadata_) result.metadata[key_] = text;
    else if (depth_ == 2 && key_ == "dtype") {
      const auto* found = std::find_if(tensor_types.begin(), tensor_types.end(),
                                       [&](const tensor_type& t) { return t.name == text; });
      if (found == tensor_types.end())
        return fail(fmt::format("tensor '{}' has the type '{}', which is none of safetensors", name_, text));
      type_ = *found;
    } else return unwanted("text");
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 2 || in_array_) return unwanted("an object");
    ++depth_;
    in_metadata_ = depth_ == 2 && name_ == "__metadata__";
    type_.reset(), shape_.reset(), offsets_.reset(), keys_.clear();
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2 && !std::exchange(in_metadata_, false)) return add_tensor();
    return true;
  }
  bool key(std::string& k) override {
    if (depth_ == 1) {
      name_ = k;
      return names_.insert(k).second || fail(fmt::format("'{}' is there twice", k));
    }
    key_ = k;
    if (!keys_.insert(k).second) return fail(fmt::format("'{}' of '{}' is there twice", k, name_));
    return in_metadata_ || k == "dtype" || k == "shape" || k == "data_offsets" ||
           fail(fmt::format("tensor '{}' has an unknown property '{}'", name_, k));
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_array_ || key_ == "dtype") return unwanted("a list");
    in_array_ = true;
    (key_ == "shape" ? shape_ : offsets_).emplace();
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("it is no JSON from byte {} of the header on", at));
  }

 private:
  /// Ends the parsing with a sentence that states the mistake.
  bool fail(std::string sentence) {
    fault = std::move(sentence);
    return false;
  }
  bool unwanted(const char* what) {
    if (depth_ == 0) return fail(fmt::format("it is {}, not an object", what));
    return fail(fmt::format("'{}' has {} where safetensors has none{}", name_, what,
                            depth_ == 2 ? ", at '" + key_ + "'" : ""));
  }
  bool add_tensor() {
    if (!type_ || !shape_ || !offsets_ || offsets_->size() != 2)
      return fail(fmt::format("tensor '{}' needs dtype, shape and data_offsets of two numbers", name_));
    tensor_info t{name_, *type_, std::move(*shape_), (*offsets_)[0], (*offsets_)[1]};
    u64 bits = static_cast<u64>(type_->bits);
    bool overflows = false;
    u64 count = 1;
    for (u64 d : t.shape) overflows |= __builtin_mul_overflow(count, d, &count);
    overflows |= __builtin_mul_overflow(count, bits, &bits);
    if (overflows)
      return fail(fmt::format("tensor '{}' has a shape with more numbers than 64 bits count", name_));
    if (bits % 8) return fail(fmt::format("tensor '{}' does not fill whole bytes", name_));
    if (t.end < t.begin || t.end - t.begin != bits / 8)
      return fail(
          fmt::format("tensor '{}' takes {} bytes by its type and shape, but its data_offsets are {} and {}",
                      name_, bits / 8, t.begin, t.end));
    result.tensors.push_back(std::move(t));
    return true;
  }

  int depth_ = 0;
  bool in_metadata_ = false, in_array_ = false;
  std::string name_, key_;
  std::set<std::string> names_, keys_;
  std::optional<tensor_type> type_;
  std::optional<std::vector<u64>> shape_, offsets_;
};

}  // namespace detail

WSL_ML_DATA_COMPILED_PART std::string parse_safetensors_header(std::string_view text, u64 data_bytes,
                                                               safetensors_header& to) {
  // The parser would take a zero for the end, and skip a byte order mark.
  if (text.find('\0') != std::string_view::npos) return "it has zeros; a header is filled up with spaces";
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return "it does not begin with {";
  detail::header_events events;
  // With this type the parser is compiled once for all receivers of events.
  nlohmann::json_sax<nlohmann::json>* const listener = &events;
  if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), listener)) return events.fault;
  to = std::move(events.result);
  std::sort(to.tensors.begin(), to.tensors.end(), [](const tensor_info& a, const tensor_info& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  u64 at = 0;
  for (const tensor_info& t : to.tensors) {
    if (t.begin != at)
      return fmt::format("the bytes of tensor '{}' begin at {}, not where those before end, at {}", t.name,
                         t.begin, at);
    at = t.end;
  }
  if (at != data_bytes)
    return fmt::format(
        "its tensors have {} bytes, the file has {}: it is cut short, or something was appended", at,
        data_bytes);
  return {};
}

}  // namespace wsl::ml
