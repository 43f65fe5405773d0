// SPDX-License-Identifier: MIT
// A fault is a diagnosed mistake in a layout or in a PE program. For a constant layout the compiler prints
// its sentence; at run time the same sentence is thrown as a wsl::fault, followed by details that are known
// only at run time.
#pragma once
#include <stdexcept>

namespace wsl {

class fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace wsl
