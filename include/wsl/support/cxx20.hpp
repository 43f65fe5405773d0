// SPDX-License-Identifier: MIT
// Stops a compiler of an older standard with one sentence instead of thousands of lines. Every header of the
// library includes this one before anything that needs C++20.
#pragma once

#if __cplusplus < 202002L
#error "wsl is written in C++20: compile with -std=c++20 or a later standard"
// Compilers go on after an #error, but stop at a header that does not exist.
#include <compile with -std=c++20>
#endif
