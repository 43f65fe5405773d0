// SPDX-License-Identifier: MIT
// A PE of a WSE-2 keeps a line of some 500 cells with its neighbours' lines, not one of 800.
// says: the_program_is_larger_than_the_memory
// says: the members of the program need more bytes than a PE has
#include <wsl/kernel/wave25.hpp>

#ifdef WSL_MISUSE
constexpr int nz = 800;
#else
constexpr int nz = 500;
#endif
constexpr wsl::layout wafer = wsl::wave25::plan<wsl::wave25::one_line<nz>>(wsl::wse2, 750, 994);
static_assert(wsl::routed<wafer>());
