// SPDX-License-Identifier: MIT
// IDX, the format of MNIST: an array of any rank with numbers of one of six types, big-endian, often
// compressed by gzip (yann.lecun.com/exdb/mnist describes it).
//   const idx_array images = read_idx("train-images-idx3-ubyte.gz");
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/compiled.hpp"

namespace wsl::ml {

struct idx_array {
  std::vector<u32> shape;  ///< the last index runs fastest
  std::variant<std::vector<u8>, std::vector<i8>, std::vector<i16>, std::vector<i32>, std::vector<f32>,
               std::vector<f64>>
      numbers;
};

/// Reads a file, compressed or not. Throws file_error.
idx_array read_idx(const std::string& name);

/// Writes a file without compression. Throws std::invalid_argument if the shape does not match the number of
/// elements or has more than 255 dimensions, file_error if the file cannot be written.
void write_idx(const std::string& name, const idx_array& x);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "images/idx_file.hpp"
#endif
