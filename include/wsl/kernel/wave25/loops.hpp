// SPDX-License-Identifier: MIT
// The inner loops of wave25: one time step of a line of cells along z. Each cell reads 27 words and writes
// one, so the loads decide the speed. None of the eight neighbours in z is loaded; they are slid out of three
// neighbouring vectors.
#pragma once
#include <cstddef>

#include "../../linalg/vector_code.hpp"
#include "scheme.hpp"

namespace wsl::wave25 {

/// A line and its neighbours. A line has 16 zeros before its first cell, at least 4 behind its last, and
/// whole vectors of 16 numbers.
struct line {
  const f32* u;  ///< the line now
  const f32* x;  ///< the line r cells further in x is at x + r * sx, r from -4 to 4 without 0
  const f32* y;  ///< and in y
  std::ptrdiff_t sx, sy;
  f32* v;                  ///< the line one step before; the new one replaces it
  const f32* k;            ///< (c dt / h)^2, 0 beyond the last cell
  std::ptrdiff_t sk, skx;  ///< the coefficients of the next line are at k + sk in y, and at k + skx in x
};

/// Addresses of cells, in three arrays, that will be needed soon and are not in cache yet.
struct upcoming {
  const f32* from[3];
};

/// The terms of a perfectly matched layer: the damping of the line in x and y together, and along z; their
/// slopes, times 1/4.
struct layer {
  f32 eta_xy, slope_x, slope_y;
  const f32 *eta, *slope;
  f32* phi;
};

namespace loops {

/// The vectors at z of lines that follow each other in x, from the first one's neighbours on: loaded once for
/// several lines.
template <int lanes, int planes>
struct across {
  vec<lanes> at[std::size_t{planes + 2 * reach}];
  [[gnu::always_inline]] across(const line& l, std::ptrdiff_t z) {
    for (int i = 0; i < planes + 2 * reach; ++i) at[i] = vec_at<lanes>(l.x + z + (i - reach) * l.sx);
  }
};

/// h^2 Lap u for the vector at z of a line, and the differences of the nearest neighbours in z. `sides`
/// points to the vector of the farthest neighbour in x.
template <int lanes>
struct neighbourhood {
  vec<lanes> laplacian, centre, z_difference;

  [[gnu::always_inline]] neighbourhood(const line& l, std::ptrdiff_t z, const vec<lanes>* sides) {
    constexpr f32 w0 = f32(3 * weights[0]), w1 = f32(weights[1]), w2 = f32(weights[2]), w3 = f32(weights[3]),
                  w4 = f32(weights[4]);
    const vec<lanes>&low = vec_at<lanes>(l.u + z - lanes), &high = vec_at<lanes>(l.u + z + lanes);
    centre = vec_at<lanes>(l.u + z);
    vec<lanes> a1, b1, a2, b2, a3, b3, a4, b4;
    slide<lanes - 1, lanes>(a1, low, centre), slide<1, lanes>(b1, centre, high);
    slide<lanes - 2, lanes>(a2, low, centre), slide<2, lanes>(b2, centre, high);
    slide<lanes - 3, lanes>(a3, low, centre), slide<3, lanes>(b3, centre, high);
    slide<lanes - 4, lanes>(a4, low, centre), slide<4 % lanes, lanes>(b4, 4 < lanes ? centre : high, high);
    z_difference = b1 - a1;
    const auto side = [&](std::ptrdiff_t r)
                          __attribute__((always_inline)) -> const vec<lanes>& { return sides[r + reach]; };
    const auto row = [&](std::ptrdiff_t r) __attribute__((always_inline)) -> const vec<lanes>& {
      return vec_at<lanes>(l.y + z + r * l.sy);
    };
    laplacian = w0 * centre + w1 * ((a1 + b1) + (row(-1) + row(1)) + (side(-1) + side(1))) +
                w2 * ((a2 + b2) + (row(-2) + row(2)) + (side(-2) + side(2))) +
                w3 * ((a3 + b3) + (row(-3) + row(3)) + (side(-3) + side(3))) +
                w4 * ((a4 + b4) + (row(-4) + row(4)) + (side(-4) + side(4)));
  }
};

/// v = 2 u - v + k Lap for the cells from .. to - 1, both multiples of 16, of `count` lines that follow
/// each other in y, in one or two planes. Two planes share most of their neighbours in x. With each cache
/// line the loop prefetches one of `next` into the second cache, so memory is read while the processor
/// computes; and v and k of the next line, which nothing else has loaded.
struct plain {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const line& first, int planes, int count, int from, int to,
                                                const upcoming& next) {
    if (planes == 2) walk<lanes, 2>(first, count, from, to, next);
    else walk<lanes, 1>(first, count, from, to, next);
  }

 private:
  template <int lanes, int planes>
  [[gnu::always_inline]] static inline void walk(const line& first, int count, int from, int to,
                                                 const upcoming& next) {
    line l = first;  // a local copy, which the stores to v cannot alias
    const int third = (planes * count + 2) / 3;
    for (int i = 0; i < count; ++i) {
      const f32* soon[std::size_t{planes}];
      for (int p = 0; p < planes; ++p)
        soon[p] = next.from[(planes * i + p) / third] + ((planes * i + p) % third) * l.sy;
      for (std::ptrdiff_t z = from; z < to; z += lanes) {
        const across<lanes, planes> sides(l, z);
        vec<lanes> results[std::size_t{planes}];
        for (int p = 0; p < planes; ++p) {
          if (z % widest_lanes == 0) {
            __builtin_prefetch(soon[p] + z, 0, 2);
            __builtin_prefetch(l.v + p * l.sx + l.sy + z, 1), __builtin_prefetch(l.k + p * l.skx + l.sk + z);
          }
          const neighbourhood<lanes> around(
              {l.u + p * l.sx, nullptr, l.y + p * l.sx, l.sx, l.sy, nullptr, nullptr, 0, 0}, z, sides.at + p);
          results[p] = (around.centre + around.centre - vec_at<lanes>(l.v + p * l.sx + z)) +
                       vec_at<lanes>(l.k + p * l.skx + z) * around.laplacian;
        }
        for (int p = 0; p < planes; ++p) vec_at<lanes>(l.v + p * l.sx + z) = results[p];
      }
      l.u += l.sy, l.x += l.sy, l.y += l.sy, l.v += l.sy, l.k += l.sk;
    }
  }
};

/// The same in a perfectly matched layer, and phi.
struct absorbing {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const line& given, const layer& in, int from, int to) {
    const line l = given;
    const layer p = in;
    for (std::ptrdiff_t z = from; z < to; z += lanes) {
      const across<lanes, 1> sides(l, z);
      const neighbourhood<lanes> n(l, z, sides.at);
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
  [[gnu::always_inline]] static inline void run(f32* v, f32 factor_xy, const f32* factor, int to) {
    for (std::ptrdiff_t z = 0; z < to; z += lanes)
      vec_at<lanes>(v + z) *= factor_xy * vec_at<lanes>(factor + z);
  }
};

}  // namespace loops

inline const auto step_plain =
    vector_code<loops::plain, const line&, int, int, int, int, const upcoming&>::best();
inline const auto step_absorbing = vector_code<loops::absorbing, const line&, const layer&, int, int>::best();
inline const auto fade = vector_code<loops::fading, f32*, f32, const f32*, int>::best();

}  // namespace wsl::wave25
