// SPDX-License-Identifier: MIT
// options: -std=c++17
// says in 5 lines: wsl is written in C.+20: compile with -std=c.+20
// lines: 15
#include <wsl/wsl.hpp>
