// SPDX-License-Identifier: MIT
// Grey images with labels, as MNIST has them.
//   const images train = read_mnist("mnist", mnist_part::train);
//   batches b(examples_of(train), {.size = 256});
#pragma once
#include <string>
#include <vector>

#include "../../support/compiled.hpp"
#include "dataset.hpp"

namespace wsl::ml {

struct images {
  int rows = 0, columns = 0;
  std::vector<u8> pixels;  ///< (count, rows, columns); 0 is the background
  std::vector<u8> labels;  ///< (count)

  i64 count() const { return static_cast<i64>(labels.size()); }
  int size() const { return rows * columns; }
};

/// Images and labels from two IDX files of bytes, (count, rows, columns) and (count). Throws file_error.
images read_images(const std::string& pixel_file, const std::string& label_file);
/// Writes both files. Throws file_error if one cannot be written.
void write_images(const std::string& pixel_file, const std::string& label_file, const images& x);

/// The scale on which pixels from 0 to 1 become features: (pixel - mean) / deviation. The default is that of
/// MNIST's training images.
struct pixel_scale {
  f32 mean = 0.1307f, deviation = 0.3081f;
};

/// A dataset in which an image is one token: its pixels are the features, its label is the target.
dataset examples_of(images x, const pixel_scale& by = {});

enum class mnist_part : u8 { train, test };

/// Reads the files of MNIST in a folder, under any of the names in use: with - or . in the middle, with .gz
/// or without, in MNIST/raw or not. Throws file_error if there are none.
images read_mnist(const std::string& folder, mnist_part part);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "images/files.hpp"
#endif
