// SPDX-License-Identifier: MIT
// Text of which only the beginning is shown.
#pragma once
#include <fmt/format.h>

#include <string>

#include "../core/scalar.hpp"

namespace wsl::debug {

/// Lines of text of which only the first are shown.
class limited_text {
 public:
  template <class Line>
  void add(Line line) {
    if (++count_ <= most) text_ += line();
  }
  bool empty() const { return count_ == 0; }
  std::string text(const char* more) const {
    return count_ <= most ? text_ : text_ + fmt::format("and {} {}\n", count_ - most, more);
  }

 private:
  static constexpr u64 most = 40;
  u64 count_ = 0;
  std::string text_;
};

}  // namespace wsl::debug
