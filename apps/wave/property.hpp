// SPDX-License-Identifier: MIT
// A property of the model, such as its velocity or its density, as options give it: a number, layers, or a
// file.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/stencil/cell_source.hpp>

#include "model.hpp"

namespace wave_app {

/// The grid of a run. One that is not given becomes as large as the first file that says its size.
struct run_grid {
  cells size;
  f64 spacing;        ///< m
  f64 bytes_of_cell;  ///< of the memory that a run takes
  bool is_given;
  int processes = 1;       ///< that have a part of the cells each
  int processes_here = 1;  ///< those on this computer
  f64 bytes_of_whole = 0;  ///< of a cell, which each process has of the whole grid
};

/// Throws std::invalid_argument if so many shots at a time do not fit in the memory of this computer, or the
/// part of a process in what it can have.
void require_room(const run_grid& grid, int shots = 1);

/// One number for each z from layers: the depth in m at which each begins and its number, in turn. `what` is
/// that of a number, such as "velocity". Throws std::invalid_argument that names the option.
std::vector<f32> layered(const std::string& option, const char* what, const std::vector<f64>& layers,
                         const run_grid& grid);

/// Which numbers a property may have. Others come from another unit or another byte order, and a field computed
/// with them means nothing.
struct property_rule {
  const char* name;  ///< of the property, and of its dataset in a file of HDF5
  bool (*is_allowed)(f32);
  const char* unit;      ///< with a blank before it, or empty
  const char* sentence;  ///< which numbers are allowed
};
extern const property_rule velocity_rule, density_rule, epsilon_rule, delta_rule;
/// Throws std::invalid_argument; `what` says which number it is.
[[noreturn]] void not_allowed(const property_rule& rule, const std::string& what, f32 number);

/// 1 number, one for each z or one for each cell, or, if they stay in a file, their source.
struct property {
  std::vector<f32> numbers;
  wsl::grid::cell_source source = {};
};

/// How the numbers of a file are kept.
enum class keeping : unsigned char {
  in_memory,
  in_plain_files,  ///< in the file, if it has planes as they are given; else in memory
  in_files         ///< in the file: each process reads those of its own cells
};

/// The numbers of a file for the grid, resampled if it says that its cells are others; `model_spacing` is the
/// size of its cells in m, or empty. Where no grid is given, it becomes that of the file. All numbers are
/// looked at once: with `are_shared` all processes do this together, each for a part of them, and throw fault
/// if their files differ in what they say of the grid or in the first, the middle or the last plane. Throws
/// std::invalid_argument that names the option, the file and what is wrong, such as a number that the rule
/// does not allow.
property of_file(const model_file& file, const property_rule& rule, const std::vector<f64>& model_spacing,
                 run_grid& grid, keeping how, bool are_shared);

/// A property from the words after its option: a number, the pairs of layers, or a file's name.
property of_words(const std::string& option, const property_rule& rule, const std::vector<std::string>& words,
                  const std::vector<f64>& model_spacing, run_grid& grid, keeping how, bool are_shared);

}  // namespace wave_app
