// SPDX-License-Identifier: MIT
// A property of the medium in the cells of a grid: one number, one for each z, or one for each cell.
#pragma once
#include <string>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "../stencil/grid.hpp"

namespace wsl::seismic {

using grid::cells;

/// 1, size.z or size.count() numbers, z fastest, then y.
class cell_values {
 public:
  cell_values(f32 everywhere) : numbers_{everywhere} {}
  cell_values(std::vector<f32> numbers) : numbers_(std::move(numbers)) {}

  const std::vector<f32>& numbers() const { return numbers_; }
  f64 at(const cells& c, const cells& size) const {
    if (numbers_.size() == 1) return f64{numbers_[0]};
    return f64{numbers_[numbers_.size() == static_cast<std::size_t>(size.z) ? static_cast<std::size_t>(c.z)
                                                                            : size.index(c)]};
  }
  /// How far apart the numbers of two neighbours along an axis are; 0 where they have the same one.
  std::size_t stride(int axis, const cells& size) const {
    if (axis == 2) return numbers_.size() > 1;
    if (is_layered(size)) return 0;
    return static_cast<std::size_t>(size.z) * (axis == 0 ? static_cast<std::size_t>(size.y) : 1);
  }
  /// Whether all lines along z of a grid are equal.
  bool is_layered(const cells& size) const {
    return numbers_.size() == 1 || numbers_.size() == static_cast<std::size_t>(size.z);
  }

  /// Throws std::invalid_argument unless there are numbers for the grid, each of which is allowed. `name` is
  /// that of the property, and `rule` says which numbers are allowed.
  template <class Allowed>
  void check(const cells& size, const char* name, const char* rule, Allowed allowed) const {
    if (!is_layered(size) && numbers_.size() != size.count())
      support::bad_argument({"seismic: ", name, " has 1 number, ", size.z, " (one for each z) or ",
                             size.count(), " (one for each cell of ", text(size), "), not ",
                             numbers_.size()});
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (!allowed(f64{numbers_[i]}))
        support::bad_argument(
            {"seismic: ", name, " is ", std::to_string(numbers_[i]), place_of(i, size), "; ", rule});
  }

  /// Where number i is, as a part of a sentence: " in cell (3, 0, 7)".
  std::string place_of(std::size_t i, const cells& size) const {
    if (numbers_.size() == 1) return " in all cells";
    if (is_layered(size)) return support::joined({" in the cells of z = ", i});
    return cell_text(size.cell(i));
  }
  static std::string cell_text(const cells& c) {
    return support::joined({" in cell (", c.x, ", ", c.y, ", ", c.z, ")"});
  }

 private:
  std::vector<f32> numbers_;
};

/// Calls f for the cells of a grid, or, if all lines along z are equal, for those of one line.
template <class F>
void each_different_cell(const cells& size, bool is_layered, F f) {
  const cells n = is_layered ? cells{1, 1, size.z} : size;
  for (int x = 0; x < n.x; ++x)
    for (int y = 0; y < n.y; ++y)
      for (int z = 0; z < n.z; ++z) f(cells{x, y, z});
}

}  // namespace wsl::seismic
