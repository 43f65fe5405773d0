// SPDX-License-Identifier: MIT
// A lane of every second PE of a row.
// says: a_lane_leaves_out_no_PE
#include <wsl/collective/lane.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr lane<f32> module{0, east, columns(0, edge, 2)};
#else
constexpr lane<f32> module{0, east};
#endif
constexpr layout wired = layout{wse2, 4, 4}.wire(module);
