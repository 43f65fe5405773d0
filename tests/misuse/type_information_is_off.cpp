// SPDX-License-Identifier: MIT
// Exceptions of tasks keep their types.
// options: -fno-rtti
// says in 8 lines: wsl reports faults as exceptions and looks at their types: leave out -fno-exceptions and -fno-rtti
#include <wsl/wsl.hpp>
