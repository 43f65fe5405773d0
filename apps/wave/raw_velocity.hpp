// SPDX-License-Identifier: MIT
// Velocities in a raw file, which the processes of a run read for their own cells only.
#pragma once
#include <optional>
#include <vector>
#include <wsl/kernel/wave25/velocity_source.hpp>

#include "property.hpp"

namespace wave_app {

/// The velocities of a bare file, or of one with a text header, in the order of the grid (z fastest, then y),
/// of cells that are those of the run; where no grid is given, it becomes that of the file. Nothing if the
/// file is of another kind, or must be resampled: then `of_file` reads it as a whole. All numbers are looked
/// at once: `are_shared` says that all processes of the run do this together, each for a part of them. Throws
/// std::invalid_argument that names the option, the file and what is wrong, such as a number that is no
/// velocity.
std::optional<wsl::wave25::velocity_source> raw_velocities(const model_file& file,
                                                           const std::vector<f64>& model_spacing,
                                                           run_grid& grid, bool are_shared);

/// Sound in matter: in air 330 m/s, in rubber some 50, in diamond 18000. Other numbers come from another unit
/// or another byte order, and a field computed with them means nothing.
inline constexpr f64 least_velocity = 10, most_velocity = 20000;
inline bool is_velocity(f32 v) { return f64{v} >= least_velocity && f64{v} <= most_velocity; }
/// Throws std::invalid_argument; `what` says which number it is.
[[noreturn]] void no_velocity(const std::string& what, f32 v);
/// Throws std::invalid_argument for a file whose numbers would be velocities in the other byte order.
[[noreturn]] void big_endian_velocities(const model_file& file);

}  // namespace wave_app
