// SPDX-License-Identifier: MIT
// On some machines a processor's words and those that pass take turns in any case.
// says: the_machine_has_no_injection_priority
#include "programs.hpp"

#include <wsl/layout/injection.hpp>

#ifdef WSL_MISUSE
constexpr layout l = layout{wse3, 2, 1}.path(red, column(0), ramp >> east, injects_last);
#else
constexpr layout l = layout{wse2, 2, 1}.path(red, column(0), ramp >> east, injects_last);
#endif
