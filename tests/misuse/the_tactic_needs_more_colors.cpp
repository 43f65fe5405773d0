// SPDX-License-Identifier: MIT
// A tree over 32 PEs has five levels, and a color for each.
// says: the_tactic_needs_more_colors
#include <wsl/collective/reduce.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr collective::reduce<f32> module{.first = 0, .among = each_row, .how = tactic::tree, .colors = 4};
#else
constexpr collective::reduce<f32> module{.first = 0, .among = each_row, .how = tactic::tree, .colors = 5};
#endif
constexpr layout wired = [] { layout l{wse2, 32, 4}; module.wire(l); return l; }();
