// SPDX-License-Identifier: MIT
// Drawn digits that resemble handwriting, for runs without data: ten figures of strokes, each time moved,
// rotated, slanted, stretched, bent and drawn with another pen, as 28 x 28 grey pixels like MNIST's. The same
// seed gives the same images everywhere, because only +, -, *, / and square roots make them.
//   const images train = draw_digits(10000, 1), test = draw_digits(2000, 2);
#pragma once
#include "images.hpp"

namespace wsl::ml {

/// Draws `count` images. Image i depends only on the seed and on i. Throws std::invalid_argument if the count
/// is negative.
images draw_digits(i64 count, u64 seed);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "images/drawing.hpp"
#endif
