// SPDX-License-Identifier: MIT
// Models, of velocity or another property, from files: SEG-Y, arrays of NumPy, datasets of HDF5, and raw f32
// with or without a header.
// What a file is, its first bytes say, and for SEG-Y its name.
#pragma once
#include <string>

#include "volume.hpp"

namespace wave_app {

/// A file of a model, and the option that names it.
struct model_file {
  std::string option, name;
  std::string dataset;  ///< of HDF5
};

/// Opens a model. One that has no header and only numbers is of this grid; others say their own shape. Throws
/// std::invalid_argument with the option or the file and the place.
stored_volume open_model(const model_file& file, const cells& grid, f64 spacing);
/// Whether the file has no header and only numbers, so that nothing but the grid says their shape.
bool is_bare_model(const model_file& file);

/// The model at the middles of the cells of another grid, trilinear between those of its own; an axis of one
/// cell is the same everywhere. `name` stands for it in sentences. Throws std::invalid_argument if the model
/// ends more than half a cell before the grid.
stored_volume resampled(stored_volume model, const cells& size, f64 spacing, const std::string& name);

}  // namespace wave_app
