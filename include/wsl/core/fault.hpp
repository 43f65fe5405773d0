// SPDX-License-Identifier: MIT
// A fault is a diagnosed mistake in a layout or in a PE program. For a constant layout the compiler prints
// its sentence; at run time the same sentence is thrown as a wsl::fault, followed by details that are known
// only at run time.
//
// What the library throws:
//   fault                  a layout, a program, or a call of fabric or host that does not fit them
//   deadlock               waiting for ever (engine/diagnose/deadlock.hpp)
//   std::invalid_argument  sizes, values and files given to kernels, engines' settings, and training
// fault and deadlock have no common base but std::exception: a fault is a mistake in a program's text, a
// deadlock is how a run ended, with its open waits as data. A common base could offer what() only.
#pragma once
#include <stdexcept>

namespace wsl {

class fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace wsl
