// SPDX-License-Identifier: MIT
// A fault is an exception.
// options: -fno-exceptions
// says in 8 lines: wsl reports faults as exceptions and looks at their types: leave out
#include <wsl/wsl.hpp>
