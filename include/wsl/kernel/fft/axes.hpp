// SPDX-License-Identifier: MIT
// The axes of an array that is transformed, checked and named in messages.
#pragma once
#include <string>
#include <vector>

#include "../../support/bad_argument.hpp"

namespace wsl::fft {

namespace checks {

/// Throws std::invalid_argument unless there are one to three axes of one number or more.
inline void axes(const std::vector<int>& lengths) {
  if (lengths.empty() || lengths.size() > 3)
    support::bad_argument({"a transform has one to three axes, not ", lengths.size()});
  for (int n : lengths)
    if (n < 1) support::bad_argument({"an axis of a transform has at least 1 number, not ", n});
}

}  // namespace checks

/// "(3, 4)", as messages name the axes.
inline std::string text(const std::vector<int>& axes) {
  std::string s = "(";
  for (std::size_t i = 0; i < axes.size(); ++i) s += support::joined({i ? ", " : "", axes[i]});
  return s + ")";
}

}  // namespace wsl::fft
