// SPDX-License-Identifier: MIT
// The convolutional perfectly matched layer (CPML): in the frame each axis is stretched by the complex factor
//   s = 1 + d / (alpha + i omega)
// with a damping d that grows with the square of the depth and a shift alpha that falls toward the border
// (Roden and Gedney, Microwave and Optical Technology Letters 27, 2000; for seismic waves Komatitsch and
// Martin, Geophysics 72, 2007). A second derivative becomes u_xx / s^2 - s' u_x / s^3. Both terms are
// polynomials in G = 1 / (i omega + alpha + d), which is the convolution with an exponential, so three
// numbers a cell and an axis remember all of the past, without derivatives of their own:
//   u_xx / s^2 - s' u_x / s^3 = u_xx + G (-2 d u_xx - d' u_x + G (d^2 u_xx + (2 d d' + d alpha') u_x
//                                    + G (-d^2 (d' + alpha') u_x)))
// Each G is taken by the recursion m+ = b m + (1 - b) / (alpha + d) input, b = exp(-(alpha + d) dt).
#pragma once
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include "../../linalg/vector_code.hpp"
#include "derivatives.hpp"
#include "loops.hpp"
#include "partition.hpp"

namespace wsl::wave25 {

/// The three numbers that a cell remembers along an axis.
inline constexpr int memories = 3;

/// The share of alpha that is lost toward the border. With all of it slow modes of the frame grow, a tenfold
/// in some 500 steps at 0.8 of the largest step.
inline constexpr f64 falls = 0.8;

/// What all cells of a frame have in common; lengths in cells, times in s.
struct stretched_frame {
  damping where;
  f64 largest = 0;  ///< the damping at the border
  f64 shift = 0;    ///< alpha where the frame begins
  f64 step = 0;     ///< s

  stretched_frame() = default;
  /// A wave that crosses the frame at right angles and comes back keeps a thousandth of its amplitude; alpha
  /// belongs to the peak frequency of the first source.
  explicit stretched_frame(const problem& p) : where(p.damping()), step(p.time_step()) {
    constexpr f64 pi = 3.14159265358979323846;
    largest = 3 * p.fastest() * std::log(1000.) / (2 * where.width * p.spacing);
    shift = pi * (p.sources.empty() ? 10 : p.sources[0].peak_hz);
  }
};

/// How a cell is stretched along an axis.
struct stretching {
  f64 decay = 0, gain = 0;                 ///< of the recursion; 0 outside of the frame
  f64 first[2]{}, second[2]{}, third = 0;  ///< what u_xx and u_x contribute to each number, times the gain

  stretching() = default;
  /// Of cell i of an axis of n cells.
  stretching(const stretched_frame& f, int i, int n, damping::axis along) {
    const f64 width = f.where.width, deep = f.where.depth(i, n, along);
    if (deep <= 0) return;
    const bool at_begin = i < n - 1 - i && !(f.where.open_top && along == damping::down);
    const f64 outward = at_begin ? -1 : 1, d = f.largest * deep * deep / (width * width),
              slope = 2 * f.largest * deep / (width * width) * outward,
              alpha = f.shift * (1 - falls * deep / width), alpha_slope = -falls * f.shift / width * outward,
              rate = alpha + d;
    decay = std::exp(-rate * f.step), gain = (1 - decay) / rate;
    first[0] = -2 * d * gain, first[1] = -slope * gain;
    second[0] = d * d * gain, second[1] = (2 * d * slope + d * alpha_slope) * gain;
    third = -d * d * (slope + alpha_slope) * gain;
  }
};

/// The same for the cells of a line: along x and y all are alike, along z each has its own.
struct stretched_axis {
  std::ptrdiff_t stride;  ///< from a cell to the next one along the axis
  f32* memory;            ///< `memories` arrays, each of `length` numbers, from cell `from` on
  std::ptrdiff_t length;
  const f32* profile;  ///< seven arrays of the same length
};

namespace loops {

/// v += k m for the cells from .. to - 1, both multiples of 16, and the recursion of m.
struct stretched {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const line& given, const stretched_axis& along, int from,
                                                int to) {
    const line l = given;
    const stretched_axis a = along;
    for (std::ptrdiff_t z = from; z < to; z += lanes) {
      const f32* u = l.u + z;
      const auto pair = [&](std::ptrdiff_t r, vec<lanes>& sum,
                            vec<lanes>& difference) __attribute__((always_inline)) {
        const vec<lanes>&before = vec_at<lanes>(u - r * a.stride), &behind = vec_at<lanes>(u + r * a.stride);
        sum = before + behind, difference = behind - before;
      };
      vec<lanes> s1, s2, s3, s4, d1, d2, d3, d4;
      pair(1, s1, d1), pair(2, s2, d2), pair(3, s3, d3), pair(4, s4, d4);
      const vec<lanes> curve = f32(weights[0]) * vec_at<lanes>(u) + f32(weights[1]) * s1 +
                               f32(weights[2]) * s2 + f32(weights[3]) * s3 + f32(weights[4]) * s4,
                       slope = f32(slopes[1]) * d1 + f32(slopes[2]) * d2 + f32(slopes[3]) * d3 +
                               f32(slopes[4]) * d4;
      const std::ptrdiff_t i = z - from;
      const auto profile = [&](std::ptrdiff_t which) __attribute__((always_inline)) -> const vec<lanes>& {
        return vec_at<lanes>(a.profile + which * a.length + i);
      };
      vec<lanes>&m1 = vec_at<lanes>(a.memory + i), &m2 = vec_at<lanes>(a.memory + a.length + i),
      &m3 = vec_at<lanes>(a.memory + 2 * a.length + i);
      const vec<lanes>&decay = profile(0), &gain = profile(1);
      m3 = decay * m3 + profile(6) * slope;
      m2 = decay * m2 + profile(4) * curve + profile(5) * slope + gain * m3;
      m1 = decay * m1 + profile(2) * curve + profile(3) * slope + gain * m2;
      vec_at<lanes>(l.v + z) += vec_at<lanes>(l.k + z) * m1;
    }
  }
};

}  // namespace loops

inline const auto step_stretched =
    vector_code<loops::stretched, const line&, const stretched_axis&, int, int>::best();

/// What the lines of a PE remember. A line has arrays for each axis along which it lies in the frame, all in
/// one piece, and pieces of lines follow each other.
class frame_memory {
 public:
  /// For the lines that a PE knows.
  void shape(const problem& p, const lines& known) {
    frame_ = stretched_frame(p), arrays_ = arrays(p), known_ = known;
    begin_.assign(1, 0);
    for (int x = known.x.from; x < known.x.to; ++x)
      for (int y = known.y.from; y < known.y.to; ++y) begin_.push_back(begin_.back() + arrays_.words(x, y));
    memory_.assign(begin_.back(), 0);
    profiles_.clear();
    const auto [nx, ny, nz] = arrays_.size;
    const auto [n, top, bottom] = std::tuple(arrays_.n, arrays_.top, arrays_.bottom);
    for (int x = 0; x < nx; ++x) add_profile(stretching(frame_, x, nx, damping::across), n);
    for (int y = 0; y < ny; ++y) add_profile(stretching(frame_, y, ny, damping::across), n);
    down_.assign(static_cast<std::size_t>(profile_arrays * (top + n - bottom)), 0);
    for (int z = 0; z < nz; ++z) {
      const stretching s(frame_, z, nz, damping::down);
      if (z < top) put(s, down_.data(), top, z, 1);
      else if (z >= bottom) put(s, down_.data() + profile_arrays * top, n - bottom, z - bottom, 1);
    }
  }

  /// What line (x, y) remembers.
  std::span<f32> of(int x, int y) {
    const std::size_t at = place(x, y);
    return {memory_.data() + begin_[at], begin_[at + 1] - begin_[at]};
  }
  /// What the lines of a rectangle remember, which are in one piece: those of a plane, or all of some planes.
  std::span<f32> of(const lines& l) {
    const std::size_t first = begin_[place(l.x.from, l.y.from)],
                      last = begin_[place(l.x.to - 1, l.y.to - 1) + 1];
    return {memory_.data() + first, last - first};
  }

  /// The arrays of the lines of a problem.
  struct arrays {
    damping frame;
    cells size;
    int n = 0, top = 0,
        bottom = 0;  ///< whole vectors; the frame along z lies before `top` and from `bottom` on

    arrays() = default;
    explicit arrays(const problem& p) : frame(p.damping()), size(p.size), n(whole_vectors(size.z)) {
      top = frame.open_top ? 0 : std::min(whole_vectors(frame.width), n);
      bottom = std::max((size.z - frame.width) / widest_lanes * widest_lanes, top);
    }
    bool across(int i, int of) const { return frame.depth(i, of) > 0; }
    /// The numbers that a line remembers.
    std::size_t words(int x, int y) const {
      const int lengths = top + n - bottom + n * across(x, size.x) + n * across(y, size.y);
      return static_cast<std::size_t>(memories * lengths);
    }
  };

  /// Adds the frame's part to a line after a plain step.
  void correct(const line& l, int x, int y) {
    const std::ptrdiff_t strides[] = {l.sx, l.sy, 1};
    each_part(x, y, [&](int axis, f32* memory, const f32* profile, int from, int to) {
      step_stretched(l, {strides[axis], memory, to - from, profile}, from, to);
    });
  }
  /// Calls f(axis, memory, profile, from, to) for the parts of a line that lie in the frame: 0 for x, 1 for y
  /// and 2 for z, and arrays of to - from numbers, the first of which belongs to cell `from`.
  template <class F>
  void each_part(int x, int y, F f) {
    f32* m = of(x, y).data();
    const auto part = [&](int axis, const f32* profile, int from, int to) {
      if (from == to) return;
      f(axis, m, profile, from, to);
      m += memories * (to - from);
    };
    const arrays& a = arrays_;
    part(2, down_.data(), 0, a.top);
    part(2, down_.data() + profile_arrays * a.top, a.bottom, a.n);
    if (a.across(x, a.size.x)) part(0, profile_of(x), 0, a.n);
    if (a.across(y, a.size.y)) part(1, profile_of(a.size.x + y), 0, a.n);
  }

 private:
  static constexpr int profile_arrays = 7;

  std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(x - known_.x.from) * static_cast<std::size_t>(known_.y.size()) +
           static_cast<std::size_t>(y - known_.y.from);
  }
  static void put(const stretching& s, f32* to, int length, int at, int count) {
    const f64 all[profile_arrays] = {s.decay,     s.gain,      s.first[0], s.first[1],
                                     s.second[0], s.second[1], s.third};
    for (int a = 0; a < profile_arrays; ++a)
      for (int i = 0; i < count; ++i) to[a * length + at + i] = static_cast<f32>(all[a]);
  }
  void add_profile(const stretching& s, int length) {
    if (s.gain == 0) return void(profiles_.emplace_back());
    profiles_.emplace_back(static_cast<std::size_t>(profile_arrays * length));
    put(s, profiles_.back().data(), length, 0, length);
  }
  const f32* profile_of(int which) const { return profiles_[static_cast<std::size_t>(which)].data(); }

  stretched_frame frame_;
  arrays arrays_;
  lines known_;
  std::vector<std::size_t> begin_;
  std::vector<f32> memory_, down_;
  std::vector<std::vector<f32>> profiles_;
};

}  // namespace wsl::wave25
