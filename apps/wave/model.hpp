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

/// Whether the file has no header and only numbers, so that nothing but the grid says their shape.
bool is_bare_model(const model_file& file);
/// Whether it is raw with a text header.
bool is_headed_model(const model_file& file);

/// Reads a model that says its own shape. Throws std::invalid_argument with the file and the place.
volume read_model(const model_file& file);

/// The model at the middles of the cells of another grid, trilinear between those of its own; an axis of one
/// cell is the same everywhere. `name` stands for it in sentences. Throws std::invalid_argument if the model
/// ends more than half a cell before the grid.
std::vector<f32> resampled(const volume& model, const cells& size, f64 spacing, const std::string& name);

}  // namespace wave_app
