// SPDX-License-Identifier: MIT
// What wsl-tlr reads and writes: dense matrices and vectors as arrays of NumPy or datasets of HDF5, and
// low-rank tiles as folders of such arrays, or as files of HDF5. Files are not trusted. Every mistake is a
// std::invalid_argument that names the file.
#pragma once
#include <string>
#include <vector>

#include "bases.hpp"

namespace tlr_app {

/// Row-major, without gaps.
template <class T>
struct dense_matrix {
  int rows = 0, columns = 0;
  std::vector<T> numbers;
};

/// The names that are given to an option: those of a list, @FILE, are the lines of that file, seen from its
/// folder. Empty lines are left out, and so is what stands behind a #.
std::vector<std::string> names_of(const std::vector<std::string>& given, const std::string& option);

/// The kind and the shape of a matrix or of vectors; their numbers are not read.
app::array_about about_array(const std::string& file, const std::string& dataset);
/// Whether the numbers of tiles are complex.
bool is_complex_bases(const std::string& name);

/// Numbers that are finite as f32. `dataset` is the one of a file of HDF5.
template <class T>
dense_matrix<T> read_matrix(const std::string& file, const std::string& dataset);
/// One vector of `length` numbers, or one for each of `count` matrices: of the shape (length) or (count,
/// length).
template <class T>
app::number_array<T> read_vectors(const std::string& file, const std::string& dataset, i64 count, i64 length);

/// Low-rank tiles: the arrays ranks.npy, U.npy, V.npy and perhaps shape.npy of a folder, or the datasets
/// ranks, U, V and perhaps shape of a file of HDF5; see bases.hpp. shape has rows, columns and the side of a
/// tile. Sizes that are given beside it must be the same.
template <class T>
wsl::tlr::low_rank<T> read_bases(const std::string& name, const bases_shape& given);
/// Writes tiles in the same form, with their shape: a file of HDF5 if the name ends with .h5 or .hdf5. The
/// file, or all files of the folder, are there when they are complete.
template <class T>
void write_bases(const std::string& name, const wsl::tlr::low_rank<T>& a);
bool names_hdf5(const std::string& name);

}  // namespace tlr_app
