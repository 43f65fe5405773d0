// SPDX-License-Identifier: MIT
// The time of wave25's arithmetic on a wafer.
#pragma once
#include "../vector_work.hpp"
#include "damping.hpp"
#include "scheme.hpp"

namespace wsl::wave25 {

/// The cycles of a step of one line of nz cells. The pairs of lines at each distance are summed before they
/// are weighted; all lines begin in the same banks.
inline u64 step_cycles(const machine& m, border edge, int nz) {
  using kernel::banks;
  kernel::vector_work w(m);
  w.products(1, nz).sums(5 * reach, nz, banks::alike).products(reach, nz, banks::alike);  // h^2 Lap u
  w.products(2, nz, banks::alike).sums(1, nz, banks::alike);                              // 2 u - u- + k Lap
  if (edge == border::sponge) w.products(2, nz, banks::alike);
  // phi joins the Laplacian, three coefficients replace two; phi+ from the differences along three axes
  if (edge == border::pml) w.sums(1 + 3, nz, banks::alike).products(2 + 4, nz, banks::alike);
  return w.cycles();
}

}  // namespace wsl::wave25
