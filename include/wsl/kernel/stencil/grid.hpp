// SPDX-License-Identifier: MIT
// Grids of cells for kernels: x and y are distributed over the PEs, and z lies in their memories. A PE owns a
// block of x times y lines along z: one line on a wafer, many on a computer. The kernels wave25 and solver
// share these words for cells and lines; see examples/33_wave25.cpp and 84_bicgstab.cpp.
#pragma once
#include <algorithm>
#include <string>

#include "../../core/coord.hpp"
#include "../../core/scalar.hpp"

namespace wsl::grid {

/// A cell, or the number of cells along each axis. x and y lie on the wafer, z in the memory of a PE.
struct cells {
  int x = 1, y = 1, z = 1;
  std::size_t count() const {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y) * static_cast<std::size_t>(z);
  }
  bool has(const cells& c) const { return c.x >= 0 && c.y >= 0 && c.z >= 0 && c.x < x && c.y < y && c.z < z; }
  /// The index of a cell in an array of the grid: z is fastest, then y.
  std::size_t index(const cells& c) const {
    return (static_cast<std::size_t>(c.x) * static_cast<std::size_t>(y) + static_cast<std::size_t>(c.y)) *
               static_cast<std::size_t>(z) +
           static_cast<std::size_t>(c.z);
  }
  /// The cell with an index.
  cells cell(std::size_t i) const {
    const auto ny = static_cast<std::size_t>(y), nz = static_cast<std::size_t>(z);
    return {static_cast<int>(i / (ny * nz)), static_cast<int>(i / nz % ny), static_cast<int>(i % nz)};
  }
  friend bool operator==(const cells&, const cells&) = default;
};
inline std::string text(const cells& c) { return support::joined({c.x, " x ", c.y, " x ", c.z}); }

/// Cells from .. to - 1 of an axis.
struct range {
  int from = 0, to = 0;
  int size() const { return to > from ? to - from : 0; }
  bool has(int i) const { return i >= from && i < to; }
  range grown(int by, int n) const { return {std::max(from - by, 0), std::min(to + by, n)}; }
  friend bool operator==(const range&, const range&) = default;
};
inline range overlap(range a, range b) { return {std::max(a.from, b.from), std::min(a.to, b.to)}; }

/// A rectangle of lines along z.
struct lines {
  range x, y;
  int count() const { return x.size() * y.size(); }
  bool has(int cx, int cy) const { return x.has(cx) && y.has(cy); }
  friend bool operator==(const lines&, const lines&) = default;
};

/// The range of an axis of n cells that one of `parts` PEs owns: ranges differ by at most one cell.
inline range share(int n, int parts, int i) {
  const auto begin = [=](int k) { return static_cast<int>(i64{n} * k / parts); };
  return {begin(i), begin(i + 1)};
}

}  // namespace wsl::grid
