// SPDX-License-Identifier: MIT
// The memory of a PE of wave25. `one_line<nz>` is for a wafer: one line a PE, in arrays whose size is known
// at compile time, so that the checker counts their bytes. `block` is for this computer: many lines a PE,
// allocated when the simulation starts. Both give access to lines by their coordinates in the whole grid, so
// the PE program is the same for both.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "../../support/huge_array.hpp"
#include "loops.hpp"
#include "stations.hpp"
#include "stretching.hpp"

namespace wsl::wave25 {

/// One line, and those of the PEs around it: fields[0] holds nine lines along x, fields[1] nine along y.
/// The middle one of each is this PE's own line, at even and at odd time steps. A problem whose border
/// reflects needs no frame: without it a PE takes three lines less.
template <int nz, bool frame = true>
class one_line {
 public:
  static constexpr bool is_for_wafers = true;    ///< its arithmetic is charged
  static constexpr bool has_frame = frame;       ///< it has memory for a border that absorbs
  static constexpr bool has_stretching = false;  ///< it has memory for a cpml
  /// From a line to the next: whole vectors, an odd number of them. A line reads four numbers before its
  /// first cell and behind its last, which are the zeros between lines.
  static constexpr int vectors = whole_vectors(nz + reach) / widest_lanes,
                       stride = widest_lanes * (vectors % 2 ? vectors : vectors + 1);
  static constexpr int most_stations = 4;

  void shape(const partition& p, coord pe, bool, bool) { own_ = {p.own(pe).x.from, p.own(pe).y.from, 0}; }
  static const char* misfit(const partition& p) {
    if (p.size.z != nz)
      support::bad_argument({"wave25: the program of a wafer's PEs is compiled for lines of ", nz,
                             " cells along z, and the problem has ", p.size.z,
                             " along z: take wafer_simulation<", p.size.z, ">, or a problem of ", nz});
    return p.depth == 1 && p.wide == p.size.x && p.high == p.size.y
               ? nullptr
               : "on a wafer each PE has one line and exchanges after each step";
  }

  f32* field(int parity, int x, int y) {
    if (x == own_.x && y == own_.y) return at(fields_[parity][reach]);
    return y == own_.y ? at(fields_[0][x - own_.x + reach]) : at(fields_[1][y - own_.y + reach]);
  }
  line neighbours(int parity, int x, int y) {
    return {field(parity, x, y),
            at(fields_[0][reach]),
            at(fields_[1][reach]),
            stride,
            stride,
            field(1 - parity, x, y),
            at(factor_),
            0,
            0};
  }
  /// Planes that a loop may compute at once.
  static constexpr int planes = 1;
  /// From a line to the next ones in x and y.
  std::ptrdiff_t stride_x() const { return stride; }
  std::ptrdiff_t stride_y() const { return stride; }
  f32* factor(int, int) { return at(factor_); }
  /// Lines of the frame; null without one.
  f32* phi(int, int) { return of_frame(0); }
  f32* profile() { return of_frame(1); }
  f32* slope() { return of_frame(2); }

  std::span<station> stations() { return {stations_, static_cast<std::size_t>(count_)}; }
  void add(const station& s) {
    if (count_ == most_stations)
      support::bad_argument({"wave25: a PE has room for ", most_stations,
                             " sources and receivers, and a line of the grid has more"});
    stations_[count_++] = s;
  }
  void sort_stations() {}  // all are in the one line

 private:
  using words = f32[static_cast<std::size_t>(stride)];
  static f32* at(words& w) { return w + line_front; }
  f32* of_frame(std::size_t i) {
    if constexpr (frame) return at(frame_[i]);
    else return nullptr;
  }
  struct nothing {};

  alignas(64) words fields_[2][2 * reach + 1]{};
  words factor_{};
  [[no_unique_address]] std::conditional_t<frame, words[3], nothing> frame_{};
  f32 after_[line_front]{};
  cells own_{};
  int count_ = 0;
  station stations_[most_stations]{};
};

/// A block of lines and the known lines around it, with a frame of zero lines beyond the grid.
class block {
 public:
  static constexpr bool is_for_wafers = false, has_frame = true, has_stretching = true;
  void shape(const partition& p, coord pe, bool pml, bool equal_lines) {
    const lines known = p.known(pe);
    x0_ = known.x.from - reach, y0_ = known.y.from - reach;
    stride_ = line_stride(p.size.z);
    stride_x_ = stride_ * (known.y.size() + 2 * reach);
    const std::size_t n =
        static_cast<std::size_t>(stride_x_) * static_cast<std::size_t>(known.x.size() + 2 * reach) +
        line_front;
    for (support::huge_array& f : fields_) f = support::huge_array(n);
    equal_lines_ = equal_lines;
    const std::size_t one_line = static_cast<std::size_t>(stride_) + line_front;
    factor_ = support::huge_array(equal_lines ? one_line : n);
    if (pml) phi_ = support::huge_array(n);
    profile_ = support::huge_array(one_line), slope_ = support::huge_array(one_line);
    stations_.clear();
  }
  static const char* misfit(const partition&) { return nullptr; }

  f32* field(int parity, int x, int y) { return fields_[parity].data() + place(x, y); }
  line neighbours(int parity, int x, int y) {
    f32* u = field(parity, x, y);
    return {u,
            u,
            u,
            stride_x_,
            stride_,
            field(1 - parity, x, y),
            factor(x, y),
            equal_lines_ ? 0 : stride_,
            equal_lines_ ? 0 : stride_x_};
  }
  static constexpr int planes = 2;
  std::ptrdiff_t stride_x() const { return stride_x_; }
  std::ptrdiff_t stride_y() const { return stride_; }
  f32* phi(int x, int y) { return phi_.data() + place(x, y); }
  f32* factor(int x, int y) { return factor_.data() + (equal_lines_ ? line_front : place(x, y)); }
  f32* profile() { return profile_.data() + line_front; }
  f32* slope() { return slope_.data() + line_front; }

  /// Of a cpml.
  frame_memory& frame() { return frame_; }

  std::span<station> stations() { return stations_; }
  void add(const station& s) { stations_.push_back(s); }
  void sort_stations() { std::sort(stations_.begin(), stations_.end()); }

 private:
  std::ptrdiff_t place(int x, int y) const {
    return (x - x0_) * stride_x_ + (y - y0_) * stride_ + line_front;
  }

  support::huge_array fields_[2], phi_, factor_, profile_, slope_;
  std::ptrdiff_t stride_ = 0, stride_x_ = 0;
  int x0_ = 0, y0_ = 0;
  frame_memory frame_;
  bool equal_lines_ = true;
  std::vector<station> stations_;
};

}  // namespace wsl::wave25
