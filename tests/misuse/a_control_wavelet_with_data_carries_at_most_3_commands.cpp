// SPDX-License-Identifier: MIT
// Data take the room of five of the eight commands.
// says: a_control_wavelet_with_data_carries_at_most_3_commands
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr detail::control_word wrong = detail::control_word::of({nop, nop, nop, switch_adv}, 7, 42);
#else
constexpr detail::control_word right = detail::control_word::of({nop, nop, switch_adv}, 7, 42);
#endif
