// SPDX-License-Identifier: MIT
// The exception for a mistake of the user in a command of wsl-debug or of the debugger.
#pragma once
#include <stdexcept>

namespace wsl::debug {

class command_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace wsl::debug
