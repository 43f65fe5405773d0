// SPDX-License-Identifier: MIT
// A property of the medium in the cells of a grid: one number, one for each z, one for each cell, or a source
// of these, which a process reads for its own cells only.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "../stencil/cell_source.hpp"

namespace wsl::seismic {

using grid::cells;

/// 1, size.z or size.count() numbers, z fastest, then y.
class cell_values {
 public:
  cell_values(f32 everywhere) : numbers_{everywhere} {}
  cell_values(std::vector<f32> numbers) : numbers_(std::move(numbers)) {}
  /// Numbers for each cell, which are read where they are needed.
  cell_values(grid::cell_source source) : source_(std::move(source)) {}

  /// The number of one cell. A source reads a line for it.
  f32 at(const cells& c, const cells& size) const { return grid::number_at(numbers_, source_, size, c); }
  /// What gives the numbers of lines along z with y in a range, of so many neighbouring planes at a time.
  grid::line_reader lines(const cells& size, const grid::range& y, int planes = 1) const {
    return {numbers_, source_, size, y, planes};
  }
  /// Whether all lines along z of a grid are equal.
  bool is_layered(const cells& size) const { return grid::is_layered(numbers_, source_, size); }

  /// Throws std::invalid_argument unless there are numbers for the grid, each of which is allowed: of a
  /// source its least and its greatest one. `name` is that of the property, and `rule` says which numbers
  /// are allowed.
  template <class Allowed>
  void check(const cells& size, const char* name, const char* rule, Allowed allowed) const {
    if (source_) {
      for (const f64 x : {source_.least, source_.greatest})
        if (!allowed(x))
          support::bad_argument({"seismic: ", name, " of a source goes from ", std::to_string(source_.least),
                                 " to ", std::to_string(source_.greatest), "; ", rule});
      return;
    }
    if (!is_layered(size) && numbers_.size() != size.count())
      support::bad_argument({"seismic: ", name, " has 1 number, ", size.z, " (one for each z) or ",
                             size.count(), " (one for each cell of ", text(size), "), not ",
                             numbers_.size()});
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (!allowed(f64{numbers_[i]}))
        support::bad_argument(
            {"seismic: ", name, " is ", std::to_string(numbers_[i]), place_of(i, size), "; ", rule});
  }

  /// Adds the numbers to a fingerprint: the same, wherever those of each cell are.
  void add_to(support::fingerprint& f) const {
    f.add(source_ ? source_.fingerprint
                  : support::fingerprint_of_blocks(numbers_.data(), numbers_.size() * sizeof(f32)));
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
  grid::cell_source source_;
};

}  // namespace wsl::seismic
