// SPDX-License-Identifier: MIT
// An id has six bits.
// says: the_ids_of_control_tasks_are_0_to_63
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr detail::control_word wrong = detail::control_word::of(switch_adv, 64);
#else
constexpr detail::control_word right = detail::control_word::of(switch_adv, 63);
#endif
