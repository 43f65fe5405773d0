// SPDX-License-Identifier: MIT
// Arrays as datasets of HDF5. Without libhdf5 each function throws std::invalid_argument, which names the
// package.
#pragma once
#include <string>

#include "bases.hpp"

namespace tlr_app {

/// The datasets of low-rank tiles.
inline constexpr const char *ranks_name = "ranks", *u_name = "U", *v_name = "V", *shape_name = "shape";

/// `remedy` is what to do if there is no such dataset. They throw support::file_error.
app::array_about hdf5_about(const std::string& file, const std::string& dataset, const std::string& remedy);
template <class T>
app::number_array<T> hdf5_array(const std::string& file, const std::string& dataset,
                                const std::string& remedy);
bool hdf5_has(const std::string& file, const std::string& dataset);

/// The bytes of a file with the four datasets; complex numbers are pairs r and i, as h5py writes them.
template <class T>
std::string hdf5_bytes(const stored_bases<T>& stored, const app::number_array<i64>& shape);

}  // namespace tlr_app
