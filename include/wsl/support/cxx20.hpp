// SPDX-License-Identifier: MIT
// Stops a compiler of an older standard, or one without exceptions or type information, with one sentence
// instead of thousands of lines. wsl.hpp,
// core/scalar.hpp, support/text.hpp and support/type_name.hpp include it first, and the other headers include
// one of these.
#pragma once

#if __cplusplus < 202002L
#error "wsl is written in C++20: compile with -std=c++20 or a later standard"
// Compilers go on after an #error, but stop at a header that does not exist.
#include <compile with -std=c++20>
#endif
#if !defined(__cpp_exceptions) || !defined(__cpp_rtti)
#error "wsl reports faults as exceptions and looks at their types: leave out -fno-exceptions and -fno-rtti"
#include <compile without -fno-exceptions and without -fno-rtti>
#endif
