// SPDX-License-Identifier: MIT
// Dense matrices that have tiles of low rank: the interactions between points of one square and points of
// another one. Points are numbered along a Z curve, so that those of a tile are neighbours.
#pragma once
#include <complex>
#include <string>
#include <vector>

namespace tlr_app {

struct shape {
  int rows = 2048, columns = 2048;
  double length = 0.1;  ///< over which a kernel falls, or its wavelength; the squares have sides of 1
  double apart = 0.1;   ///< the squares
};

/// Elements row by row. exponential: exp(-r / length); inverse: 1 / r; wave: exp(2 pi i r / length) / r.
std::vector<float> exponential(const shape& s);
std::vector<float> inverse(const shape& s);
std::vector<std::complex<float>> wave(const shape& s);

}  // namespace tlr_app
