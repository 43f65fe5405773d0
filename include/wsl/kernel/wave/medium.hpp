// SPDX-License-Identifier: MIT
// What media have in common: properties in each cell, which are read line after line, and what all cells
// together say, of which several processes can each find a part.
#pragma once
#include <array>
#include <utility>

#include "../wave25/problem.hpp"
#include "cell_values.hpp"

namespace wsl::seismic {

/// The numbers of a cell, in the order of the medium's `all()`.
template <class Medium>
using properties_of = std::array<f64, Medium::properties>;

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

/// The properties of lines along z with y in a range, read by one thread.
template <class Medium>
class property_lines {
 public:
  property_lines(const Medium& m, const cells& size, const grid::range& y)
      : property_lines(m, size, y, std::make_index_sequence<Medium::properties>{}) {}

  /// Goes to a line; `at` is then of its cells.
  void go(int x, int y) {
    for (std::size_t i = 0; i < now_.size(); ++i) now_[i] = readers_[i](x, y);
  }
  properties_of<Medium> at(int z) const {
    properties_of<Medium> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = f64{now_[i][z]};
    return all;
  }

 private:
  template <std::size_t... i>
  property_lines(const Medium& m, const cells& size, const grid::range& y, std::index_sequence<i...>)
      : readers_{m.all()[i]->lines(size, y)...} {}

  std::array<grid::line_reader, Medium::properties> readers_;
  std::array<const f32*, Medium::properties> now_{};
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
