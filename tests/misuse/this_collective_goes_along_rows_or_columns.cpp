// SPDX-License-Identifier: MIT
// An all-to-all goes along a line, not over a rectangle.
// says: this_collective_goes_along_rows_or_columns
#include <wsl/collective/all_to_all.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr all_to_all<f32> module{.first = 0, .among = everyone};
#else
constexpr all_to_all<f32> module{.first = 0, .among = each_column};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
