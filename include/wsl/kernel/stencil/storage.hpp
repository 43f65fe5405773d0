// SPDX-License-Identifier: MIT
// The memory of a PE of a stencil: its cells of all fields at two time steps, the known cells around them,
// and coefficients. `block` is for this computer: any number of lines, allocated when a simulation starts.
// The other two are for wafers, in arrays whose size is known at compile time, so that the checker counts
// their bytes: `column` has one line along z, and neighbours' lines of one time step only, as these are
// received before each step; `plot` has a rectangle or a box of cells. All give access to lines by their
// positions in the whole grid, so the PE program is the same.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "../../support/huge_array.hpp"
#include "../../support/text.hpp"
#include "cut.hpp"
#include "stations.hpp"
#include "sweep.hpp"

namespace wsl::stencils {

/// Where lines lie in an array: the one at (x, y) begins at place(x, y), which is that of z = 0.
struct line_geometry {
  int x0 = 0, y0 = 0;
  std::ptrdiff_t sx = 0, pitch = 0, front = 0, lines = 0;

  line_geometry() = default;
  line_geometry(const cut& c, coord pe) {
    const range x = c.stored(pe, x_axis), y = c.stored(pe, y_axis), z = c.stored(pe, z_axis);
    const int own = c.own(pe).at[z_axis].from, before = whole_vectors(own - z.from);
    x0 = x.from, y0 = y.from;
    pitch = pitch_of(before, z.to - own), front = before - own;
    sx = pitch * y.size(), lines = std::ptrdiff_t{x.size()} * y.size();
  }
  /// An odd number of cache lines, so that neighbouring lines do not compete for the same sets.
  static constexpr int pitch_of(int before, int behind) {
    const int n = before + whole_vectors(behind);
    return n / widest_lanes % 2 ? n : n + widest_lanes;
  }
  std::ptrdiff_t place(int x, int y) const { return (x - x0) * sx + (y - y0) * pitch + front; }
};

/// Vectors are read to their end, also that behind the last line.
inline constexpr int behind_lines = 2 * widest_lanes;

/// What the lines of a grid remember near its sides, beside their fields: nothing. A border that remembers
/// something has the members of seismic::stretched_border.
struct no_border {
  static constexpr bool remembers = false;
};

template <class T, takes in, footprint reads, class Border = no_border>
class block {
 public:
  static constexpr bool is_for_wafers = false, lines_follow = true, has_buffers = true, has_stations = true,
                        has_border = Border::remembers;
  /// Why a grid does not fit; empty if it does.
  static std::string misfit(const cut&) { return {}; }

  /// Those of a PE's arrays.
  static u64 bytes(const cut& c, coord pe) {
    return static_cast<u64>(numbers_of_array({c, pe}) * arrays + behind_lines) * sizeof(T);
  }
  void shape(const cut& c, coord pe) {
    at_ = {c, pe};
    each_ = numbers_of_array(at_);
    memory_ = support::huge_array(bytes(c, pe) / sizeof(f32));
    for (int a = 0; a < 3; ++a) {
      const range r = c.stored(pe, a);
      fading_from_[a] = r.from;
      fading_[a].assign(static_cast<std::size_t>(r.size() + behind_lines), T(1));
    }
  }

  T* field(int f, int parity, int x, int y) { return array(2 * f + parity) + at_.place(x, y); }
  T* coefficient(int c, int x, int y) { return array(2 * in.fields + c) + at_.place(x, y); }
  surroundings<T> around(int f, int parity, int x, int y) { return same(field(f, parity, x, y)); }
  surroundings<T> around_coefficient(int c, int x, int y) { return same(coefficient(c, x, y)); }
  std::ptrdiff_t sx() const { return at_.sx; }
  std::ptrdiff_t sy() const { return at_.pitch; }
  /// The factors of the sponges along an axis, by positions.
  T* fading(int axis) { return fading_[axis].data() - fading_from_[axis]; }

  stencils::stations<T>& stations() { return stations_; }
  Border& border() { return border_; }

  /// Buffers for what crosses a side.
  std::span<f32> leaving(int side, std::size_t words) { return sized(buffers_[side], words); }
  std::span<f32> entering(int side, std::size_t words) { return sized(buffers_[4 + side], words); }

 private:
  static constexpr int arrays = 2 * in.fields + in.coefficients;
  // Arrays begin at different places of a page, so that they do not compete for the same sets of a cache.
  static std::ptrdiff_t numbers_of_array(const line_geometry& at) {
    return at.lines * at.pitch + 11 * widest_lanes;
  }
  T* array(int i) { return reinterpret_cast<T*>(memory_.data()) + i * each_; }
  static surroundings<T> same(const T* p) { return {p, p, p}; }
  static std::span<f32> sized(std::vector<f32>& buffer, std::size_t words) {
    if (buffer.size() < words) buffer.resize(words);
    return {buffer.data(), words};
  }

  line_geometry at_;
  std::ptrdiff_t each_ = 0;
  support::huge_array memory_;
  std::vector<T> fading_[3];
  int fading_from_[3]{};
  std::vector<f32> buffers_[8];
  stencils::stations<T> stations_;
  Border border_;
};

/// The cells of a PE of a wafer, by the axes of the grid.
struct per_pe {
  int n[3]{1, 1, 1};
  int axes = 0;
  constexpr per_pe(int cells) : n{1, 1, cells}, axes(1) {}
  constexpr per_pe(int rows, int columns) : n{rows, 1, columns}, axes(2) {}
  constexpr per_pe(int x, int y, int z) : n{x, y, z}, axes(3) {}
  constexpr bool is_column() const { return axes == 3 && n[0] == 1 && n[1] == 1; }
};

namespace detail {
/// The radius of an update along x, y or z.
constexpr int radius_along(const footprint& reads, int axis) {
  const int axes = reads.dimensions;
  return reads.radius[static_cast<std::size_t>(axis == z_axis ? axes - 1 : axis)] *
         (axis == z_axis || (axis == x_axis && axes >= 2) || axes == 3);
}
inline std::string goes_around_one_pe(int cells) {
  return support::joined({"a grid on a wafer goes around over two or more PEs, and one PE has all ",
                          support::counted(cells, "cell"),
                          " along a periodic axis: take a per_pe with fewer cells, or other sides"});
}
}  // namespace detail

template <takes in, footprint reads, per_pe cells>
class plot {
  static constexpr int rx = detail::radius_along(reads, x_axis), ry = detail::radius_along(reads, y_axis),
                       rz = detail::radius_along(reads, z_axis);

 public:
  static constexpr bool is_for_wafers = true, lines_follow = false, has_buffers = true, has_stations = false,
                        has_border = false;
  static std::string misfit(const cut& c) {
    const int radius[] = {rx, ry, rz};
    for (int a = 0; a < 3; ++a) {
      const int parts = c.axis[a].parts;
      if (c.axis[a].n > parts * cells.n[a]) return "the grid has more cells than its PEs have room for";
      if (parts > 1 && c.axis[a].n / parts < radius[a])
        return support::joined({parts, " PEs share ", c.axis[a].n,
                                " cells along an axis, and one has at least ", radius[a],
                                ", the radius of the update: take a per_pe with more cells, or a "
                                "larger grid"});
      if (parts == 1 && c.axis[a].wraps) return detail::goes_around_one_pe(c.axis[a].n);
    }
    return c.depth == 1 ? "" : "on a wafer PEs exchange cells after each step";
  }

  void shape(const cut& c, coord pe) {
    at_ = {c, pe};
    at_.pitch = pitch, at_.sx = pitch * c.stored(pe, y_axis).size();
    for (int a = 0; a < 3; ++a) {
      fading_from_[a] = c.stored(pe, a).from;
      for (T& f : fading_[a]) f = 1;
    }
  }

  using T = f32;
  T* field(int f, int parity, int x, int y) { return at(fields_[f][parity], at_.place(x, y)); }
  T* coefficient(int c, int x, int y) { return at(coefficients_[c], at_.place(x, y)); }
  surroundings<T> around(int f, int parity, int x, int y) { return same(field(f, parity, x, y)); }
  surroundings<T> around_coefficient(int c, int x, int y) { return same(coefficient(c, x, y)); }
  std::ptrdiff_t sx() const { return at_.sx; }
  std::ptrdiff_t sy() const { return at_.pitch; }
  T* fading(int axis) { return at(fading_[axis], -fading_from_[axis]); }

  std::span<f32> leaving(int side, std::size_t words) { return {buffers_[side], words}; }
  std::span<f32> entering(int side, std::size_t words) { return {buffers_[4 + side], words}; }

 private:
  static constexpr int nx = cells.n[0] + 2 * rx, ny = cells.n[1] + 2 * ry;
  static constexpr int pitch = line_geometry::pitch_of(whole_vectors(rz), cells.n[2] + rz);
  static constexpr int of_x = rx * ny * (cells.n[2] + 2 * rz), of_y = ry * nx * (cells.n[2] + 2 * rz),
                       of_z = rz * nx * ny;
  static constexpr int crossing = in.fields * std::max({of_x, of_y, of_z, 1});
  using cells_of_field = T[static_cast<std::size_t>(nx * ny * pitch)];
  // the place of position 0, which may lie before the first cell
  static T* at(T* first, std::ptrdiff_t by) { return first + by; }
  static surroundings<T> same(const T* p) { return {p, p, p}; }

  line_geometry at_;
  int fading_from_[3]{};
  alignas(64) cells_of_field fields_[std::size_t(in.fields)][2]{};
  cells_of_field coefficients_[std::size_t(in.coefficients > 0 ? in.coefficients : 1)]{};
  T fading_[3][static_cast<std::size_t>(std::max({nx, ny, pitch}) + behind_lines)]{};
  f32 buffers_[8][static_cast<std::size_t>(crossing)]{};
};

template <takes in, footprint reads, int nz>
class column {
  static constexpr int rx = detail::radius_along(reads, x_axis), ry = detail::radius_along(reads, y_axis),
                       rz = detail::radius_along(reads, z_axis);

 public:
  static constexpr bool is_for_wafers = true, lines_follow = false, has_buffers = false, has_stations = false,
                        has_border = false;
  static std::string misfit(const cut& c) {
    if (c.axis[z_axis].n != nz)
      return support::joined({"the program of a wafer's PEs is compiled for columns of ", nz,
                              " cells, and the grid has ", c.axis[z_axis].n,
                              " along the last axis: take per_pe{1, 1, ", c.axis[z_axis].n,
                              "}, or a grid of ", nz});
    for (int a : {x_axis, y_axis}) {
      if (c.axis[a].parts != c.axis[a].n) return "on a wafer each PE has one column of cells";
      if (c.axis[a].parts == 1 && c.axis[a].wraps) return detail::goes_around_one_pe(c.axis[a].n);
    }
    return c.depth == 1 ? "" : "on a wafer PEs exchange cells after each step";
  }

  void shape(const cut& c, coord pe) {
    x_ = c.own(pe).at[x_axis].from, y_ = c.own(pe).at[y_axis].from;
    for (T& f : fading_z_) f = 1;
    for (T& f : fading_xy_) f = 1;
  }

  using T = f32;
  T* field(int f, int parity, int x, int y) {
    lines& l = fields_[f];
    return line(x == x_ && y == y_ ? own(l, parity) : l[index(x - x_, y - y_)]);
  }
  T* coefficient(int c, int x, int y) {
    if constexpr (reads.coefficients_around) return line(coefficients_[c][index(x - x_, y - y_)]);
    else return line(coefficients_[c][0]);
  }
  surroundings<T> around(int f, int parity, int, int) {
    lines& l = fields_[f];
    return {line(own(l, parity)), line(l[index(0, 0)]), line(l[reads.diagonal ? index(0, 0) : of_y])};
  }
  surroundings<T> around_coefficient(int c, int x, int y) {
    const T* own = coefficient(c, x, y);
    if constexpr (reads.coefficients_around)
      return {own, own, reads.diagonal ? own : line(coefficients_[c][of_y])};
    else return {own, own, own};
  }
  std::ptrdiff_t sx() const { return reads.diagonal ? (2 * ry + 1) * pitch : pitch; }
  std::ptrdiff_t sy() const { return pitch; }
  T* fading(int axis) {
    return axis == z_axis   ? line(fading_z_)
           : axis == x_axis ? fading_xy_ + rx - x_
                            : fading_xy_ + 2 * rx + 1 + ry - y_;
  }
  // lines cross as they are; nobody asks
  std::span<f32> leaving(int, std::size_t) { return {}; }
  std::span<f32> entering(int, std::size_t) { return {}; }

 private:
  static constexpr int front = whole_vectors(rz), pitch = line_geometry::pitch_of(front, nz + rz);
  // A star has the lines along x and then those along y; the middle ones of each are this PE's own line, at
  // even and at odd time steps. A square has its own line at odd steps behind all.
  static constexpr int of_y = 2 * rx + 1 + ry,
                       count = reads.diagonal ? (2 * rx + 1) * (2 * ry + 1) + 1 : 2 * rx + 1 + 2 * ry + 1;
  using words = T[static_cast<std::size_t>(pitch)];
  using lines = words[static_cast<std::size_t>(count)];

  static constexpr std::size_t index(int dx, int dy) {
    return static_cast<std::size_t>(reads.diagonal ? (dx + rx) * (2 * ry + 1) + dy + ry
                                    : dy == 0      ? dx + rx
                                                   : of_y + dy);
  }
  static words& own(lines& l, int parity) {
    return l[parity == 0 ? index(0, 0) : std::size_t(reads.diagonal ? count - 1 : of_y)];
  }
  static T* line(words& w) { return w + front; }

  int x_ = 0, y_ = 0;
  alignas(64) lines fields_[std::size_t(in.fields)]{};
  words coefficients_[std::size_t(in.coefficients > 0 ? in.coefficients : 1)]
                     [std::size_t(reads.coefficients_around ? count : 1)]{};
  words fading_z_{};
  T fading_xy_[std::size_t(2 * rx + 1 + 2 * ry + 1)]{};
  f32 after_[behind_lines]{};
};

}  // namespace wsl::stencils
