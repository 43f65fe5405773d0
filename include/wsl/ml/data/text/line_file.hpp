// SPDX-License-Identifier: MIT
// A text of which each line is something: a sentence, a document, an object in JSON. The file stays on the
// disk; what is held in memory is the place of each line, eight bytes.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delimited.hpp"

namespace wsl::ml {

namespace detail {

/// The words of a line, between blanks.
inline std::vector<std::string> divided(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t\r\n", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace detail

class line_file {
 public:
  /// Throws file_error, with the line, if the text is not UTF-8.
  explicit line_file(std::string name) : name_(std::move(name)), in_(name_) {
    for (std::size_t at = 0; at < in_.text.size();) {
      begins_.push_back(at);
      at = std::min(in_.text.find('\n', at), in_.text.size() - 1) + 1;
    }
  }

  const std::string& name() const { return name_; }
  i64 count() const { return static_cast<i64>(begins_.size()); }
  /// Line i, from 0 on, without its end and the white space before it.
  std::string_view line(i64 i) const {
    const auto k = static_cast<std::size_t>(i);
    std::string_view text =
        in_.text.substr(begins_[k], (k + 1 < begins_.size() ? begins_[k + 1] : in_.text.size()) - begins_[k]);
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  }
  /// A mistake in line i, to be thrown; in messages lines count from 1.
  file_error error(i64 i, std::string_view why) const {
    return file_error(fmt::format("wsl: {}, line {}: {}", name_, i + 1, why));
  }

 private:
  std::string name_;
  detail::mapped_text in_;
  std::vector<std::size_t> begins_;
};

}  // namespace wsl::ml
