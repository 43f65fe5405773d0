// SPDX-License-Identifier: MIT
// The free surface of wave25. A step takes the field above cell 0 of z for zero, and it is the negative of
// the field below: what is missing is subtracted from the cells near the surface, so that the hot loop stays
// as it is.
#pragma once
#include "loops.hpp"

namespace wsl::wave25 {

/// After a step of a line of n cells, which multiplied what it added to 2 u - u- by `share`.
inline void mirror(const line& l, int n, f32 share) {
  l.v[0] = 0;
  for (int z = 1; z < reach && z < n; ++z) {
    f32 above = 0;
    for (int r = z + 1; r <= reach && r - z < n; ++r) above += f32(weights[r]) * l.u[r - z];
    l.v[z] -= share * l.k[z] * above;
  }
}

}  // namespace wsl::wave25
