// SPDX-License-Identifier: MIT
// A PE of a WSE-2 keeps some hundred points of its nuclides, not thousands.
// says: the_program_is_larger_than_the_memory
// says: the members of the program need more bytes than a PE has
#include <wsl/kernel/monte_carlo/wafer_pe.hpp>

using namespace wsl;
using namespace wsl::monte_carlo;

#ifdef WSL_MISUSE
constexpr int points = 2000;
#else
constexpr int points = 200;
#endif
constexpr layout grid = wafer_layout<wafer_capacity{2, points, 90}>(wse2, 10, 10);
static_assert(routed<grid>());
