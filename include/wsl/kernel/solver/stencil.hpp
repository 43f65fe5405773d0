// SPDX-License-Identifier: MIT
// A linear operator on a grid whose matrix rows have up to seven entries, a cell and its six neighbours: the
// finite-volume form of diffusion, convection and pressure equations. The vector is zero outside the grid. It
// is plain data, with one check that reports a mistake before anything runs. See examples/84_bicgstab.cpp.
//   (A u)(x, y, z) = centre u(x, y, z) + west u(x - 1, y, z) + east u(x + 1, y, z)
//                  + north u(x, y - 1, z) + south u(x, y + 1, z) + down u(x, y, z - 1) + up u(x, y, z + 1)
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "../stencil/grid.hpp"

namespace wsl::solver {

using grid::cells, grid::text;

/// Weights: one number, one for each z, or one for each cell of the row (z fastest, then y).
struct stencil {
  cells size;
  /// the Laplacian, negative
  std::vector<f32> centre{6}, west{-1}, east{-1}, north{-1}, south{-1}, down{-1}, up{-1};

  void check() const;  ///< throws std::invalid_argument that names the mistake and the remedy
  /// Adds all that makes the operator, valid or not.
  void describe(support::fingerprint& f) const;
};

/// A weight, its name, and the neighbour that it multiplies.
struct side_of_stencil {
  const char* name;
  std::vector<f32> stencil::* weights;
  cells offset;
};
inline constexpr int stencil_points = 7;
inline constexpr side_of_stencil stencil_sides[stencil_points] = {
    {"centre", &stencil::centre, {0, 0, 0}}, {"west", &stencil::west, {-1, 0, 0}},
    {"east", &stencil::east, {1, 0, 0}},     {"north", &stencil::north, {0, -1, 0}},
    {"south", &stencil::south, {0, 1, 0}},   {"down", &stencil::down, {0, 0, -1}},
    {"up", &stencil::up, {0, 0, 1}}};

/// A weight in the row of a cell.
inline f32 weight_at(const stencil& a, const std::vector<f32>& weights, const cells& c) {
  if (weights.size() == 1) return weights[0];
  return weights[weights.size() == static_cast<std::size_t>(a.size.z) ? static_cast<std::size_t>(c.z)
                                                                      : a.size.index(c)];
}
/// One number, or one for each z: then all lines along z are equal.
inline bool equal_lines(const stencil& a, const std::vector<f32>& weights) {
  return weights.size() == 1 || weights.size() == static_cast<std::size_t>(a.size.z);
}

namespace checks {

inline void numbers(const std::string& what, std::span<const f32> x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      support::bad_argument({"solver: ", what, " has the number ", std::to_string(x[i]), " at place ", i,
                             "; it takes finite ones"});
}
/// A vector of the host: one number for each cell.
inline void vector(const cells& size, const char* what, std::span<const f32> x) {
  if (x.size() != size.count())
    support::bad_argument({"solver: ", what, " has ", x.size(), " numbers; a grid of ", text(size),
                           " cells needs ", size.count()});
  numbers(what, x);
}

}  // namespace checks

inline void stencil::describe(support::fingerprint& f) const {
  f.add(size.x), f.add(size.y), f.add(size.z);
  for (const side_of_stencil& s : stencil_sides) {
    const std::vector<f32>& w = this->*s.weights;
    f.add(w.size()), f.add(w.data(), w.size() * sizeof(f32));
  }
}

inline void stencil::check() const {
  if (size.x < 1 || size.y < 1 || size.z < 1)
    support::bad_argument({"solver: a grid has at least one cell along each axis, not ", text(size)});
  if (size.count() > std::size_t{1} << 40)
    support::bad_argument({"solver: a grid of ", text(size), " cells does not fit in any memory"});
  for (const side_of_stencil& s : stencil_sides) {
    const std::vector<f32>& w = this->*s.weights;
    if (!equal_lines(*this, w) && w.size() != size.count())
      support::bad_argument({"solver: the weight ", s.name, " has 1 number, ", size.z,
                             " (one for each z) or ", size.count(), " (one for each cell of ", text(size),
                             "), not ", w.size()});
    checks::numbers(std::string("the weight ") + s.name, w);
  }
}

}  // namespace wsl::solver
