// SPDX-License-Identifier: MIT
// The inner loops of wave25 in a border that absorbs (damping.hpp): a line of cells along z at a time.
#pragma once
#include "loops.hpp"

namespace wsl::wave25 {

/// The terms of a perfectly matched layer: the damping of the line in x and y together, and along z; their
/// slopes, times 1/4.
struct layer {
  f32 eta_xy, slope_x, slope_y;
  const f32 *eta, *slope;
  f32* phi;
};

namespace loops {

/// h^2 Lap u for the vector at z of a line, and the differences of the nearest neighbours in z.
template <int lanes>
struct neighbourhood {
  vec<lanes> laplacian, centre, z_difference;

  [[gnu::always_inline]] neighbourhood(const line& l, std::ptrdiff_t z) {
    centre = vec_at<lanes>(l.u + z);
    const row_of_vectors<lanes, 1> along(vec_at<lanes>(l.u + z - lanes), centre,
                                         vec_at<lanes>(l.u + z + lanes));
    z_difference = along.at[reach + 1] - along.at[reach - 1];
    laplacian = f32(3 * weights[0]) * centre;
    each_of<reach>([&](auto nearer) __attribute__((always_inline)) {
      constexpr int r = nearer + 1;
      const vec<lanes>&west = vec_at<lanes>(l.x + z - r * l.sx), &east = vec_at<lanes>(l.x + z + r * l.sx);
      const vec<lanes>&north = vec_at<lanes>(l.y + z - r * l.sy), &south = vec_at<lanes>(l.y + z + r * l.sy);
      laplacian +=
          f32(weights[r]) * ((along.at[reach - r] + along.at[reach + r]) + (north + south) + (west + east));
    });
  }
};

/// A step of a line in a perfectly matched layer, and of phi.
struct absorbing {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const line& given, const layer& in, int from, int to) {
    const line l = given;
    const layer p = in;
    for (std::ptrdiff_t z = from; z < to; z += lanes) {
      const neighbourhood<lanes> n(l, z);
      vec<lanes>&v = vec_at<lanes>(l.v + z), &phi = vec_at<lanes>(p.phi + z);
      const vec<lanes> eta = vec_at<lanes>(p.eta + z) + p.eta_xy, slope = vec_at<lanes>(p.slope + z);
      v = ((2 - eta * eta + 2 * eta) * n.centre - v + vec_at<lanes>(l.k + z) * (n.laplacian + phi)) /
          (1 + 2 * eta);
      const vec<lanes> x = vec_at<lanes>(l.x + z + l.sx) - vec_at<lanes>(l.x + z - l.sx),
                       y = vec_at<lanes>(l.y + z + l.sy) - vec_at<lanes>(l.y + z - l.sy);
      const vec<lanes> next = (phi - (p.slope_x * x + p.slope_y * y + slope * n.z_difference)) / (1 + eta);
      phi = eta > 0 ? next : vec<lanes>{};
    }
  }
};

/// v = v * factor_xy * factor: the sponge.
struct fading {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(f32* v, f32 factor_xy, const f32* factor, int from, int to) {
    for (std::ptrdiff_t z = from; z < to; z += lanes)
      vec_at<lanes>(v + z) *= factor_xy * vec_at<lanes>(factor + z);
  }
};

}  // namespace loops

inline const auto step_absorbing = vector_code<loops::absorbing, const line&, const layer&, int, int>::best();
inline const auto fade = vector_code<loops::fading, f32*, f32, const f32*, int, int>::best();

}  // namespace wsl::wave25
