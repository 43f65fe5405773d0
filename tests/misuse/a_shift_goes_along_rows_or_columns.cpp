// SPDX-License-Identifier: MIT
// A shift goes by at least one place.
// says: a_shift_goes_along_rows_or_columns
#include <wsl/collective/shift.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr shift<f32> module{.first = 0, .by = 0};
#else
constexpr shift<f32> module{.first = 0, .by = 1};
#endif
constexpr layout wired = [] { layout l{wse2, 4, 4}; module.wire(l); return l; }();
