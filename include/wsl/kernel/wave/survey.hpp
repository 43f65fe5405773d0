// SPDX-License-Identifier: MIT
// What all cells of a medium say together, of which several processes can each find a part: how long a time
// step may be, and whether the equations are stable.
#pragma once
#include <algorithm>

#include "../wave25/problem.hpp"
#include "cell_values.hpp"

namespace wsl::seismic {

/// What the cells of a medium say together.
struct survey {
  static constexpr u64 none = ~u64{0};

  f64 eigenvalue = 0;      ///< 1 / s^2: a bound of the largest one of the operator; 0 before cells are seen
  f64 fastest = 0;         ///< m/s: the largest velocity in any direction
  u64 first_wrong = none;  ///< the index of the first cell that makes the equations unstable

  /// Adds what other cells say.
  void add(const survey& other) {
    eigenvalue = std::max(eigenvalue, other.eigenvalue), fastest = std::max(fastest, other.fastest);
    first_wrong = std::min(first_wrong, other.first_wrong);
  }
  explicit operator bool() const { return eigenvalue > 0; }
};

/// Whether all lines along z have the same velocities and properties: then one of them says what all do.
template <class Medium>
bool is_layered(const Medium& m, const wave25::problem& p) {
  for (const cell_values* v : m.all())
    if (!v->is_layered(p.size)) return false;
  return p.is_layered();
}

/// What some lines of cells say.
template <class Medium>
survey survey_of(const Medium& m, const wave25::problem& p, const grid::lines& some) {
  const bool one_line = is_layered(m, p);
  return m.survey_lines(p, one_line ? grid::lines{{0, 1}, {0, 1}} : some);
}
template <class Medium>
survey survey_of(const Medium& m, const wave25::problem& p) {
  return survey_of(m, p, {{0, p.size.x}, {0, p.size.y}});
}

}  // namespace wsl::seismic
