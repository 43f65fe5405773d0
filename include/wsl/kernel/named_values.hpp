// SPDX-License-Identifier: MIT
// What processes compare, in words: names and values, so that a sentence tells which of them differs. Nothing
// is written down before fingerprints of them have been found to differ.
#pragma once
#include <algorithm>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "../core/scalar.hpp"
#include "../support/number_text.hpp"
#include "../support/text.hpp"

namespace wsl::kernel {

inline std::string text_of_hash(u64 hash) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof digits, hash, 16).ptr};
}

class named_values {
 public:
  named_values& add(std::string_view name, std::string_view value) {
    const std::size_t begin = lines_.size() + name.size() + 1;
    lines_ += name, lines_ += '\t', lines_ += value;
    std::replace_if(
        lines_.begin() + static_cast<std::ptrdiff_t>(begin), lines_.end(),
        [](char c) { return c == '\n' || c == '\t'; }, ' ');
    lines_ += '\n';
    return *this;
  }
  named_values& add(std::string_view name, std::integral auto value) {
    return add(name, support::joined({value}));
  }
  named_values& add(std::string_view name, std::floating_point auto value) {
    return add(name, support::number_text(value));
  }
  /// An array, which is too long for a sentence.
  named_values& add_array(std::string_view name, std::size_t count, u64 fingerprint) {
    return add(name, support::joined({support::counted(count, "number"), " with the fingerprint ",
                                      text_of_hash(fingerprint)}));
  }

  /// A line for each, with a tab behind the name.
  const std::string& lines() const { return lines_; }

 private:
  std::string lines_;
};

}  // namespace wsl::kernel
