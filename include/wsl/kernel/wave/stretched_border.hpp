// SPDX-License-Identifier: MIT
// The convolutional perfectly matched layer of wave25/stretching.hpp for other media. In the frame the
// derivatives along an axis are stretched:
//   u_xx          becomes  u_xx / s^2 - s' u_x / s^3
//   ((u_x) / rho)_x becomes  the same with (u_x / rho)_x and u_x / rho
// since rho itself is not stretched. So a medium has to say, for each axis, the second derivative `curve` and
// the first one `slope` of what is stretched, and the factors with which the second derivative enters its
// fields. What remembers the past of a cell is added with these factors, and costs nothing outside of the
// frame.
#pragma once
#include "../stencil/cut.hpp"
#include "../stencil/sweep.hpp"
#include "../wave25/stretching.hpp"

namespace wsl::seismic {

namespace detail {

/// A part of a line in the frame of one axis, as frame_memory has it: cells begin .. begin + length - 1, of
/// which those from .. to - 1 are stepped.
template <stencils::takes in>
struct stretched_part {
  stencils::lines_of_cells<in, f32> line;
  f32* memory;
  const f32* profile;
  int begin, length, from, to;
};

/// The recursion of stretching.hpp along an axis, after a step of the line.
template <class Medium, int axis>
struct stretched_line {
  static constexpr stencils::takes in = Medium::takes;

  template <int n>
  [[gnu::always_inline]] static inline void run(const stretched_part<in>& given) {
    const stretched_part<in> p = given;  // a local copy, which the stores cannot alias
    int z = p.from;
    for (; z + n <= p.to; z += n) step<n>(p, z);
    for (; z < p.to; ++z) step<1>(p, z);
  }

 private:
  template <int n>
  [[gnu::always_inline]] static inline void step(const stretched_part<in>& p, int z) {
    using number = stencils::lanes<f32, n>;
    const auto at = [&](const stencils::surroundings<f32>& s) __attribute__((always_inline)) {
      return stencils::surroundings<f32>{s.own + z, s.xs + z, s.ys + z};
    };
    const auto found = stencils::detail::call<in>(
        Medium::template along<axis>,
        [&](std::size_t f) __attribute__((always_inline)) {
          return stencils::detail::field_reader<n, 3, f32, false>{
              {at(p.line.fields[f]), p.line.sx, p.line.sy}, p.line.next[f] + z, {}, {}};
        },
        [&](std::size_t c) __attribute__((always_inline)) {
          return stencils::detail::coefficient_reader<n, 3, f32>{at(p.line.coefficients[c]), p.line.sx,
                                                                 p.line.sy};
        },
        [](std::size_t) __attribute__((always_inline)) { return number(0); });
    const std::ptrdiff_t i = z - p.begin;
    const auto profile = [&](std::ptrdiff_t which) __attribute__((always_inline)) -> number {
      if constexpr (axis == stencils::z_axis)
        return stencils::load_lanes<n>(p.profile + which * p.length + i);
      else return p.profile[which * p.length];  // all cells of the line have the same
    };
    f32 *const first = p.memory + i, *const second = first + p.length, *const third = second + p.length;
    const number curve = std::get<0>(found), slope = std::get<1>(found), decay = profile(0),
                 gain = profile(1);
    const number m3 = decay * stencils::load_lanes<n>(third) + profile(6) * slope;
    const number m2 =
        decay * stencils::load_lanes<n>(second) + profile(4) * curve + profile(5) * slope + gain * m3;
    const number m1 =
        decay * stencils::load_lanes<n>(first) + profile(2) * curve + profile(3) * slope + gain * m2;
    stencils::store_lanes(third, m3), stencils::store_lanes(second, m2), stencils::store_lanes(first, m1);
    [&]<std::size_t... f>(std::index_sequence<f...>) __attribute__((always_inline)) {
      (stencils::store_lanes(p.line.next[f] + z,
                             stencils::load_lanes<n>(p.line.next[f] + z) + std::get<2 + f>(found) * m1),
       ...);
    }(std::make_index_sequence<std::size_t(in.fields)>{});
  }
};

template <class Medium, int axis>
inline const auto step_stretched = stencils::detail::flattened_code<stretched_line<Medium, axis>, f32,
                                                                    stretched_part<Medium::takes>>::best();

}  // namespace detail

/// The border of a stencil's block.
template <class Medium>
class stretched_border {
 public:
  static constexpr bool remembers = true;

  /// The frame of a problem whose edge is a cpml.
  class plan {
   public:
    /// `fastest` is the largest velocity in m/s in any direction.
    plan(const wave25::problem& p, f64 fastest) : of_(p), arrays_(p) {
      of_.velocity = {static_cast<f32>(fastest)}, of_.model = {};
    }
    const wave25::problem& of() const { return of_; }
    /// The numbers that a line remembers.
    std::size_t words(int x, int y) const { return arrays_.words(x, y); }

   private:
    wave25::problem of_;
    wave25::frame_memory::arrays arrays_;
  };

  /// For the lines that a PE computes.
  void shape(const plan& p, const grid::lines& computed) {
    frame_.shape(p.of(), computed);
    is_empty_ = false;
  }
  /// Whether there is no frame.
  bool empty() const { return is_empty_; }
  /// What lines remember that follow each other.
  std::span<f32> of(const grid::lines& l) { return frame_.of(l); }

  /// Adds the frame's part to a line after a step without it.
  void step(const stencils::lines_of_cells<Medium::takes, f32>& line, int x, int y) {
    frame_.each_part(x, y, [&](int axis, f32* memory, const f32* profile, int begin, int end) {
      const int from = std::max(begin, line.from), to = std::min(end, line.to);
      if (from >= to) return;
      const detail::stretched_part<Medium::takes> part{line, memory, profile, begin, end - begin, from, to};
      if (axis == stencils::x_axis) detail::step_stretched<Medium, stencils::x_axis>(part);
      else if (axis == stencils::y_axis) detail::step_stretched<Medium, stencils::y_axis>(part);
      else detail::step_stretched<Medium, stencils::z_axis>(part);
    });
  }

 private:
  wave25::frame_memory frame_;
  bool is_empty_ = true;
};

}  // namespace wsl::seismic
