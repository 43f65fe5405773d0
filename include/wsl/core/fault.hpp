// SPDX-License-Identifier: MIT
// What a mistake in a layout or in a PE program throws at run time. The text is the sentence that the
// compiler prints for the same mistake in a constant layout, followed by what only the run knows.
#pragma once
#include <stdexcept>

namespace wsl {

class fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace wsl
