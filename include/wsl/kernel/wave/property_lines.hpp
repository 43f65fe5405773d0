// SPDX-License-Identifier: MIT
// The properties of a medium in the cells of lines along z, which one thread reads line after line.
#pragma once
#include <array>
#include <utility>

#include "cell_values.hpp"

namespace wsl::seismic {

/// The numbers of a cell, in the order of the medium's `all()`.
template <class Medium>
using properties_of = std::array<f64, Medium::properties>;

/// Of lines with y in a range.
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

}  // namespace wsl::seismic
