// SPDX-License-Identifier: MIT
// A control wavelet has no room for a ninth command.
// says: a_control_wavelet_carries_at_most_8_commands
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr detail::command_list wrong{nop, nop, nop, nop, nop, nop, nop, nop, switch_adv};
#else
constexpr detail::command_list right{nop, nop, nop, nop, nop, nop, nop, switch_adv};
#endif
