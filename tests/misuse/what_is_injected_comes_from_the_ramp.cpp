// SPDX-License-Identifier: MIT
// Only words that a processor sends are injected.
// says: what_is_injected_comes_from_the_ramp
#include "programs.hpp"

#include <wsl/layout/injection.hpp>

#ifdef WSL_MISUSE
constexpr layout l = layout{wse2, 2, 1}.path(red, column(1), west >> ramp, injects_first);
#else
constexpr layout l = layout{wse2, 2, 1}.path(red, column(0), ramp >> east, injects_first);
#endif
