// SPDX-License-Identifier: MIT
// A property of the model, such as its velocity or its density, as options give it: a number, layers, or a
// file.
#pragma once
#include <string>
#include <vector>

#include "model.hpp"

namespace wave_app {

/// The grid of a run. One that is not given becomes as large as the first file that says its size.
struct run_grid {
  cells size;
  f64 spacing;        ///< m
  f64 bytes_of_cell;  ///< of the memory that a run takes
  bool is_given;
  int processes = 1;       ///< that have a part of the cells each
  f64 bytes_of_whole = 8;  ///< of a cell that each process has of the whole grid: the model, and a copy
};

/// Throws std::invalid_argument if so many shots at a time do not fit in the memory of this computer, or the
/// part of a process in what it can have.
void require_room(const run_grid& grid, int shots = 1);

/// One number for each z from layers: the depth in m at which each begins and its number, in turn. `what` is
/// that of a number, such as "velocity". Throws std::invalid_argument that names the option.
std::vector<f32> layered(const std::string& option, const char* what, const std::vector<f64>& layers,
                         const run_grid& grid);

/// The numbers of a file for the grid, resampled if it says that its cells are others; `model_spacing` is the
/// size of its cells in m, or empty. Where no grid is given, it becomes that of the file. Throws
/// std::invalid_argument that names the option and the file.
std::vector<f32> of_file(const model_file& file, const std::vector<f64>& model_spacing, run_grid& grid);

/// Whether the words after an option name a file.
bool is_file(const std::vector<std::string>& words);
/// A property from the words after its option: a number, the pairs of layers, or a file's name. `what` is the
/// name of the property, and that of its dataset in a file of HDF5.
std::vector<f32> of_words(const std::string& option, const char* what, const std::vector<std::string>& words,
                          const std::vector<f64>& model_spacing, run_grid& grid);

}  // namespace wave_app
