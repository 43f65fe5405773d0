// SPDX-License-Identifier: MIT
// For BiCGStab, a PE of a WSE-2 has room for a line of some 650 cells, with six vectors, seven weights and
// four neighbours; a line of 700 cells does not fit.
// says: the_program_is_larger_than_the_memory
// says: the members of the program need more bytes than a PE has
#include <wsl/kernel/solver.hpp>

#ifdef WSL_MISUSE
constexpr int nz = 700;
#else
constexpr int nz = 640;
#endif
constexpr wsl::layout wafer =
    wsl::solver::plan<wsl::solver::bicgstab_method, wsl::solver::one_line<nz>>(wsl::wse2, 750, 994);
static_assert(wsl::routed<wafer>());
