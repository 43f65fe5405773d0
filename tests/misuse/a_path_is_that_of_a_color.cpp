// SPDX-License-Identifier: MIT
// A number does not say what its wavelets carry.
// says: wsl: a path is that of a color: .path.red, area, ramp >> east. with constexpr color<f32> red.0.
#include <wsl/layout/layout.hpp>

using namespace wsl;

constexpr color<f32> red{0};
#ifdef WSL_MISUSE
constexpr layout l = layout{wse2, 1, 1}.path(0, all, ramp >> ramp);
#else
constexpr layout l = layout{wse2, 1, 1}.path(red, all, ramp >> ramp);
#endif
