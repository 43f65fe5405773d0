// SPDX-License-Identifier: MIT
// An all-reduce on a single color has its total in the corner: stars from both sides would need two.
// says: a_single_color_totals_in_the_corner
#include <wsl/collective/all_reduce.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr all_reduce<f32> module{.first = 0, .colors = 1, .place = total_at::centre};
#else
constexpr all_reduce<f32> module{.first = 0, .colors = 1, .place = total_at::cheaper};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
