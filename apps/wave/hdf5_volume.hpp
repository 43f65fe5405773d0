// SPDX-License-Identifier: MIT
// Volumes as datasets of HDF5. Without libhdf5 each function throws std::invalid_argument, which names the
// package. Files are not trusted.
#pragma once
#include <string>

#include "exports.hpp"
#include "volume.hpp"

namespace wave_app {

/// Throws std::invalid_argument if this program has no HDF5; `what` is the file or option that asks for it.
void require_hdf5(const std::string& what);

/// A dataset of floating-point numbers with one axis (z), two (x, z) or three (x, y, z). The attribute
/// `spacing` of the dataset, one or three numbers in m, is taken if it is there.
stored_volume hdf5_volume(const std::string& file, const std::string& dataset);

/// A file with the dataset `u`, f4 of shape (x, y, z), and its attribute `spacing`.
volume_format hdf5_format(const cells& size, const extent& spacing);

}  // namespace wave_app
