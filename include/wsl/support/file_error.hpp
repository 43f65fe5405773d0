// SPDX-License-Identifier: MIT
// Thrown for a file that cannot be read or written, or that has not the expected format. The name of a file
// is an argument like others, so it is a std::invalid_argument; core/fault.hpp has the rule.
#pragma once
#include <stdexcept>

namespace wsl::support {

class file_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace wsl::support
