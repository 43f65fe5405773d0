// SPDX-License-Identifier: MIT
// The border of the grid. The field is zero outside, so a plain border reflects. A sponge multiplies the
// field and the one before it, after each step, by a factor g that falls toward the border (Cerjan et al.,
// Geophysics 50, 1985):
//   u+   = g (2 u - g u- + (c dt)^2 Lap u)
// A perfectly matched layer adds a damping eta and an auxiliary field phi in a frame of cells, and absorbs
// waves at any angle of incidence (the PML of the Minimod proxy application, arXiv 2007.06048, whose phi
// times h^2 is the one here):
//   u+   = ((2 - eta^2 + 2 eta) u - u- + (c dt / h)^2 (h^2 Lap u + phi)) / (1 + 2 eta)
//   phi+ = (phi - 1/4 sum over axes of (eta[+1] - eta[-1]) (u[+1] - u[-1])) / (1 + eta)
// where eta = eta_x + eta_y + eta_z grows with the square of the depth in the frame. It takes one number a
// cell. A convolutional perfectly matched layer (stretching.hpp) takes three for each axis, in the frame
// only, and reflects less of waves at grazing incidence.
#pragma once
#include <cmath>

#include "../../core/scalar.hpp"

namespace wsl::wave25 {

enum class border : u8 { reflects, sponge, pml, cpml };

struct damping {
  enum axis : u8 { across, down };  ///< x and y, or z
  border kind = border::reflects;
  int width = 0;          ///< cells of the frame on each side
  f64 strength = 0;       ///< pml: eta at the outermost cell; sponge: minus the logarithm of the factor there
  bool open_top = false;  ///< along z the frame is at the bottom only, below a free surface

  /// The depth of cell i of an axis of n cells in the frame: 0 inside, `width` at the border.
  int depth(int i, int n, axis along = across) const {
    if (kind == border::reflects) return 0;
    const int below = n - 1 - i, near = i < below && !(open_top && along == down) ? i : below,
              deep = width - near;
    return deep < 0 ? 0 : deep > width ? width : deep;
  }
  /// The contribution of one axis to eta.
  f64 eta(int i, int n, axis along = across) const { return strength * share(i, n, along); }
  f64 slope(int i, int n, axis along = across) const { return eta(i + 1, n, along) - eta(i - 1, n, along); }
  /// The contribution of one axis to the sponge's factor.
  f64 factor(int i, int n, axis along = across) const {
    return depth(i, n, along) > 0 ? std::exp(-strength * share(i, n, along)) : 1;
  }

 private:
  f64 share(int i, int n, axis along) const {
    const f64 d = depth(i, n, along);
    return d > 0 ? d * d / (f64(width) * width) : 0;
  }
};

}  // namespace wsl::wave25
