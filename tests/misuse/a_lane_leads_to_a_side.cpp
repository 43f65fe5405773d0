// SPDX-License-Identifier: MIT
// A lane of words for the PE itself.
// says: a_lane_leads_to_a_side
#include <wsl/collective/lane.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr lane<f32> module{0, ramp};
#else
constexpr lane<f32> module{0, east};
#endif
constexpr layout wired = layout{wse2, 4, 4}.wire(module);
