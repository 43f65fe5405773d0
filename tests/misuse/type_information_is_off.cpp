// SPDX-License-Identifier: MIT
// Exceptions of tasks keep their types.
// options: -fno-rtti
// says in 8 lines: wsl reports faults as exceptions and looks at their types: leave out
#include <wsl/wsl.hpp>
