// SPDX-License-Identifier: MIT
// A PE of a WSE-2 keeps a line of some 650 cells of BiCGStab's six vectors, of seven weights and of four neighbours, not one of 700.
// says: the_program_is_larger_than_the_memory
// says: the members of the program need more bytes than a PE has
#include <wsl/kernel/solver.hpp>

#ifdef WSL_MISUSE
constexpr int nz = 700;
#else
constexpr int nz = 640;
#endif
constexpr wsl::layout wafer = wsl::solver::plan<wsl::solver::bicgstab_method, wsl::solver::one_line<nz>>(wsl::wse2, 750, 994);
static_assert(wsl::routed<wafer>());
