// SPDX-License-Identifier: MIT
// The velocities of a model that is larger than the memory of a process, or than it needs to have: each
// process reads those of its own cells where it needs them, from a file for instance.
#pragma once
#include <functional>
#include <span>

#include "../stencil/grid.hpp"

namespace wsl::wave25 {

struct velocity_source {
  f64 slowest = 0, fastest = 0;  ///< m/s, of all cells
  /// support::fingerprint_of_blocks of all cells as f32, z fastest, then y
  u64 fingerprint = 0;
  /// Gives the velocities in m/s of the cells of some lines along z: a number for each, z fastest, then y.
  /// Several threads call it at the same time. An exception ends the making of a simulation.
  std::function<void(const grid::lines&, std::span<f32>)> read;

  explicit operator bool() const { return static_cast<bool>(read); }
};

}  // namespace wsl::wave25
