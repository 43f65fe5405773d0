// SPDX-License-Identifier: MIT
// The inner loops of wave25: one time step of lines of cells along z. A cell needs 27 words, so loads would
// decide the speed. Lines are computed in blocks that share them, and none of the eight neighbours in z is
// loaded: they are slid out of three neighbouring vectors.
#pragma once
#include <cstddef>
#include <utility>

#include "../../linalg/vector_code.hpp"
#include "scheme.hpp"

namespace wsl::wave25 {

/// A line and its neighbours. A line has 16 zeros before its first cell, at least 4 behind its last, and
/// whole vectors of 16 numbers. On a wafer the lines along x and along y lie in arrays of their own, in each
/// of which this line has a place; on this computer u, x and y are the same.
struct line {
  const f32* u;  ///< the line now
  const f32* x;  ///< the line r cells further in x is at x + r * sx, r from -4 to 4 without 0
  const f32* y;  ///< and in y
  std::ptrdiff_t sx, sy;
  f32* v;                  ///< the line one step before; the new one replaces it
  const f32* k;            ///< (c dt / h)^2, 0 beyond the last cell
  std::ptrdiff_t sk, skx;  ///< the coefficients of the next line are at k + sk in y, and at k + skx in x
};

/// Lines that will be needed soon and are not in cache yet. Of the next planes of a tile, for the first
/// cache: those of u at the far end of the stencil in x, those of u beside the block in y, and of k. Of the
/// next tile, for the second cache: of u, v and k. Null where there is nothing to prefetch.
struct upcoming {
  const f32 *far = nullptr, *beside = nullptr, *k = nullptr;
  const f32 *next_u = nullptr, *next_v = nullptr, *next_k = nullptr;

  [[gnu::always_inline]] void forward(std::ptrdiff_t by, std::ptrdiff_t by_in_k) {
    far += by, beside += by, next_u += by, next_v += by;
    k += by_in_k, next_k += by_in_k;
  }
};

namespace loops {

using wsl::detail::each_of;

/// A pointer whose origin the compiler does not know. A block of 2 x 2 lines reads 36 lines at each z; it
/// would keep a pointer to each of them, and has registers for 14.
[[gnu::always_inline]] inline const f32* opaque(const f32* p) {
  asm("" : "+r"(p));
  return p;
}

/// `n` vectors in a row along an axis, and the four on each side of them.
template <int lanes, int n>
struct row_of_vectors {
  vec<lanes> at[std::size_t{n + 2 * reach}];

  /// Of lines that are `step` apart; `own(i)` is the vector of the i-th, which is known.
  template <class Own>
  [[gnu::always_inline]] row_of_vectors(const f32* first, std::ptrdiff_t step, Own own) {
    const f32 *before = opaque(first - reach * step), *behind = opaque(first + n * step);
    each_of<reach>([&](auto r) __attribute__((always_inline)) {
      at[r] = vec_at<lanes>(before + r * step), at[n + reach + r] = vec_at<lanes>(behind + r * step);
    });
    each_of<n>([&](auto i) __attribute__((always_inline)) { at[reach + i] = own(i); });
  }
  /// Along z: the centre from one to four cells further, slid out of it and the vectors next to it.
  [[gnu::always_inline]] row_of_vectors(const vec<lanes>& low, const vec<lanes>& centre,
                                        const vec<lanes>& high)
    requires(n == 1)
  {
    slide<lanes - 4, lanes>(at[0], low, centre), slide<lanes - 3, lanes>(at[1], low, centre);
    slide<lanes - 2, lanes>(at[2], low, centre), slide<lanes - 1, lanes>(at[3], low, centre);
    at[4] = centre;
    slide<1, lanes>(at[5], centre, high), slide<2, lanes>(at[6], centre, high);
    slide<3, lanes>(at[7], centre, high);
    slide<4 % lanes, lanes>(at[8], 4 < lanes ? centre : high, high);
  }

  /// Adds the weighted neighbours of the i-th vector to a sum, the farthest first: blocks of any shape give
  /// the same bits.
  template <int i>
  [[gnu::always_inline]] void add_to(vec<lanes>& sum) const {
    each_of<reach>([&](auto nearer) __attribute__((always_inline)) {
      constexpr int r = reach - nearer;
      sum += f32(weights[r]) * (at[reach + i - r] + at[reach + i + r]);
    });
  }
};

/// v = 2 u - v + k Lap for the cells of a range [from, to), whose ends are multiples of 16, of `rows` lines
/// that follow each other in y, in one or two planes. Lines are done in blocks of 2 x 2, if there are
/// registers for that: each vector reads 9 of u then, where it reads 17 by itself.
struct plain {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const line& first, int planes, int rows, int from, int to,
                                                const upcoming& next) {
    if (planes == 2) walk<lanes, 2>(first, rows, from, to, next);
    else walk<lanes, 1>(first, rows, from, to, next);
  }

 private:
  template <int lanes, int planes>
  [[gnu::always_inline]] static inline void walk(const line& first, int rows, int from, int to,
                                                 const upcoming& next) {
    line l = first;
    upcoming soon = next;
    const auto forward = [&](int by) __attribute__((always_inline)) {
      l.u += by * l.sy, l.x += by * l.sy, l.y += by * l.sy, l.v += by * l.sy, l.k += by * l.sk;
    };
    if constexpr (lanes == 16)
      for (; rows >= 2; rows -= 2, forward(2)) {
        if (planes == 2 && soon.far) {
          block<lanes, planes, 2, planes == 2>(l, from, to, soon);
          soon.forward(l.sy, l.sk);
        } else {
          block<lanes, planes, 2, false>(l, from, to, soon);
        }
      }
    for (; rows > 0; --rows, forward(1)) block<lanes, planes, 1, false>(l, from, to, soon);
  }

  template <int lanes, int planes, int rows, bool prefetches>
  [[gnu::always_inline]] static inline void block(const line& given, int from, int to, const upcoming& next) {
    line l = given;  // a local copy, which the stores to v cannot alias
    upcoming soon = next;
    l.u += from, l.x += from, l.y += from, l.v += from, l.k += from;
    if constexpr (prefetches) soon.forward(from, from);
    vec<lanes> low[std::size_t{planes}][std::size_t{rows}], high[std::size_t{planes}][std::size_t{rows}];
    const auto each_line = [&](auto f) __attribute__((always_inline)) {
      each_of<planes>([&](auto p) __attribute__((always_inline)) {
        each_of<rows>([&](auto r) __attribute__((always_inline)) { f(p, r); });
      });
    };
    each_line([&](auto p, auto r) __attribute__((always_inline)) {
      low[p][r] = vec_at<lanes>(l.u + p * l.sx + r * l.sy - lanes);
      high[p][r] = vec_at<lanes>(l.u + p * l.sx + r * l.sy);
    });
    for (int vectors = (to - from) / lanes; vectors > 0; --vectors) {
      vec<lanes> centre[std::size_t{planes}][std::size_t{rows}], sum[std::size_t{planes}][std::size_t{rows}];
      each_line([&](auto p, auto r) __attribute__((always_inline)) {
        centre[p][r] = high[p][r];
        high[p][r] = vec_at<lanes>(opaque(l.u + p * l.sx) + r * l.sy + lanes);
        sum[p][r] = f32(3 * weights[0]) * centre[p][r];
        row_of_vectors<lanes, 1>(low[p][r], centre[p][r], high[p][r]).template add_to<0>(sum[p][r]);
        low[p][r] = centre[p][r];
      });
      if constexpr (prefetches) {
        each_of<planes>([&](auto p) __attribute__((always_inline)) {
          __builtin_prefetch(soon.far + p * l.sx), __builtin_prefetch(soon.beside + p * l.sx);
          __builtin_prefetch(soon.k + p * l.skx);
        });
        constexpr int second_cache = 2;
        __builtin_prefetch(soon.next_u, 0, second_cache), __builtin_prefetch(soon.next_v, 0, second_cache);
        __builtin_prefetch(soon.next_k, 0, second_cache);
        soon.forward(lanes, lanes);
      }
      each_of<rows>([&](auto r) __attribute__((always_inline)) {
        const row_of_vectors<lanes, planes> x(
            l.x + r * l.sy, l.sx,
            [&](auto p) __attribute__((always_inline)) -> const vec<lanes>& { return centre[p][r]; });
        each_of<planes>([&](auto p) __attribute__((always_inline)) { x.template add_to<p>(sum[p][r]); });
      });
      each_of<planes>([&](auto p) __attribute__((always_inline)) {
        const row_of_vectors<lanes, rows> y(
            l.y + p * l.sx, l.sy,
            [&](auto r) __attribute__((always_inline)) -> const vec<lanes>& { return centre[p][r]; });
        each_of<rows>([&](auto r) __attribute__((always_inline)) { y.template add_to<r>(sum[p][r]); });
      });
      each_line([&](auto p, auto r) __attribute__((always_inline)) {
        vec<lanes>& v = vec_at<lanes>(l.v + p * l.sx + r * l.sy);
        v = (centre[p][r] + centre[p][r] - v) + vec_at<lanes>(l.k + p * l.skx + r * l.sk) * sum[p][r];
      });
      l.u += lanes, l.x += lanes, l.y += lanes, l.v += lanes, l.k += lanes;
    }
  }
};

}  // namespace loops

inline const auto step_plain =
    vector_code<loops::plain, const line&, int, int, int, int, const upcoming&>::best();

}  // namespace wsl::wave25
