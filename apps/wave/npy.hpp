// SPDX-License-Identifier: MIT
// Arrays in the files of NumPy, versions 1 and 2 of the format: f4 and f8 of either byte order, in C or
// Fortran order. The bytes are not trusted: the shape is compared with their number before room is made.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "volume.hpp"

namespace wave_app {

struct npy_array {
  std::vector<std::size_t> shape;
  std::vector<f32> numbers;  ///< in C order: the last axis is fastest
};

/// Reads the bytes of a file of this name, for which each mistake in them is a std::invalid_argument.
npy_array npy_from_bytes(std::string_view bytes, const std::string& name);

/// The bytes of a file with an array of f4 in C order.
std::string npy_bytes(const std::vector<std::size_t>& shape, std::span<const f32> numbers);

}  // namespace wave_app
