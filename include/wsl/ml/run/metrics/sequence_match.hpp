// SPDX-License-Identifier: MIT
// How many sequences of tokens are right from the first to the last, and how many of their tokens. Labels of
// -100, as padding has, do not count.
#pragma once
#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

class sequence_match {
 public:
  static constexpr i32 ignored = -100;

  /// Adds a sequence. Throws std::invalid_argument if both are not of the same length.
  void add(std::span<const i32> said, std::span<const i32> right) {
    if (said.size() != right.size())
      throw std::invalid_argument(fmt::format("wsl: {} tokens are said of {}", said.size(), right.size()));
    bool all = true;
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (right[i] == ignored) continue;
      ++tokens_, right_tokens_ += said[i] == right[i];
      all = all && said[i] == right[i];
    }
    ++sequences_, right_sequences_ += all;
  }
  i64 count() const { return sequences_; }
  f64 exact_match() const { return ratio(right_sequences_, sequences_); }
  f64 accuracy() const { return ratio(right_tokens_, tokens_); }  ///< of tokens

 private:
  static f64 ratio(i64 part, i64 of) { return of ? static_cast<f64>(part) / static_cast<f64>(of) : 0; }
  i64 sequences_ = 0, right_sequences_ = 0, tokens_ = 0, right_tokens_ = 0;
};

}  // namespace wsl::ml
