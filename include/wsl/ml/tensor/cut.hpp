// SPDX-License-Identifier: MIT
// How a tensor is cut over a rectangle of PEs, as a value. Along each axis of the rectangle a dimension is
// split evenly or dealt out in tiles, or nothing is cut and PEs hold copies. A dimension may be cut along
// both axes, then each piece of the first cut is cut again.
//   cut{}                                            every PE holds all
//   cut{}.split(0, axis::y)                          tokens shared out to the rows of PEs, copies along each row
//   cut{}.split(0, axis::y).tile(1, axis::x, 4)      and features dealt out along each row, four at a time
//   cut{}.split(0, axis::y).split(0, axis::x)        tokens shared out to all PEs
// A placement is a cut of a shape on a grid: the function from a PE and an index there to an index of the
// whole, and back. See redistribute.hpp and examples/93_cuts.cpp.
#pragma once
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "../../core/coord.hpp"
#include "../../core/scalar.hpp"

namespace wsl::ml {

/// `length` things dealt out to `parts` in tiles of `tile`, or with tile 0 in one even piece each.
struct partition {
  int length = 0, parts = 1, tile = 0;

  /// How many are in part p.
  constexpr int size(int p) const { return tile ? in_tiles(p) : start(p + 1) - start(p); }
  /// Thing i of part p, of the whole.
  constexpr int global(int p, int i) const {
    return tile ? (i / tile * parts + p) * tile + i % tile : start(p) + i;
  }
  /// The part that has thing i of the whole, and which of its things it is.
  constexpr int part_of(int i) const {
    return tile ? i / tile % parts : static_cast<int>(((i64{i} + 1) * parts - 1) / length);
  }
  constexpr int local(int i) const {
    return tile ? i / tile / parts * tile + i % tile : i - start(part_of(i));
  }

 private:
  constexpr int start(int p) const { return static_cast<int>(i64{length} * p / parts); }
  // Whole rounds of tiles, and what the last round has for p.
  constexpr int in_tiles(int p) const {
    const i64 round = i64{tile} * parts, rest = length % round - i64{p} * tile;
    return static_cast<int>(length / round * tile + (rest < 0 ? 0 : rest > tile ? tile : rest));
  }
};

enum class axis : u8 { none, x, y };

/// The lengths of a tensor's dimensions; its numbers lie row-major, the last dimension together.
class tensor_shape {
 public:
  static constexpr int most = 4;

  constexpr tensor_shape() = default;
  /// Throws std::invalid_argument for less than one or more than four dimensions, and for negative lengths.
  constexpr tensor_shape(std::initializer_list<int> lengths) : dimensions_(static_cast<int>(lengths.size())) {
    if (dimensions_ < 1 || dimensions_ > most)
      throw std::invalid_argument("wsl: a tensor has 1 to 4 dimensions, not " + std::to_string(dimensions_));
    int d = 0;
    for (int n : lengths) {
      if (n < 0)
        throw std::invalid_argument("wsl: dimension " + std::to_string(d) + " of a tensor has no length of " +
                                    std::to_string(n));
      length_[d++] = n;
    }
  }
  constexpr int dimensions() const { return dimensions_; }
  constexpr int length(int d) const { return length_[d]; }
  constexpr i64 size() const {
    i64 n = 1;
    for (int d = 0; d < dimensions_; ++d) n *= length_[d];
    return n;
  }
  friend constexpr bool operator==(const tensor_shape&, const tensor_shape&) = default;

 private:
  int dimensions_ = 1, length_[most] = {};
};

class cut {
 public:
  constexpr cut() = default;
  /// An even piece of dimension d, or of each of its pieces, for every PE along an axis. Throws
  /// std::invalid_argument if the axis is in use.
  constexpr cut split(int d, axis along) const { return with(d, {along, 0}); }
  /// The same in tiles of a size, dealt out in turn.
  constexpr cut tile(int d, axis along, int size) const {
    if (size < 1)
      throw std::invalid_argument("wsl: a cut deals out tiles of at least 1, not of " + std::to_string(size));
    return with(d, {along, size});
  }
  /// Copies along an axis, whatever was cut along it: a redistribution to this is an all-gather.
  constexpr cut replicate(axis along) const {
    cut c = *this;
    for (auto& levels : c.how_) {
      if (levels[0].along == along) levels[0] = levels[1], levels[1] = {};
      if (levels[1].along == along) levels[1] = {};
    }
    return c;
  }

  constexpr bool cuts(int d, axis along) const {
    return how_[d][0].along == along || how_[d][1].along == along;
  }
  constexpr bool cuts_along(axis a) const {
    for (int d = 0; d < tensor_shape::most; ++d)
      if (cuts(d, a)) return true;
    return false;
  }
  /// One more than the last dimension that is cut.
  constexpr int dimensions() const {
    int n = tensor_shape::most;
    while (n > 0 && how_[n - 1][0].along == axis::none) --n;
    return n;
  }
  friend constexpr bool operator==(const cut&, const cut&) = default;

 private:
  friend class placement;

  struct level {
    axis along = axis::none;
    int tile = 0;

    constexpr partition of(int length, coord grid) const {
      return {length, along == axis::none ? 1 : along == axis::x ? grid.x : grid.y, tile};
    }
    constexpr int part(coord at) const { return along == axis::none ? 0 : along == axis::x ? at.x : at.y; }
    friend constexpr bool operator==(const level&, const level&) = default;
  };
  constexpr cut with(int d, level next) const {
    if (d < 0 || d >= tensor_shape::most)
      throw std::invalid_argument("wsl: a cut is of one of the dimensions 0 to 3, not of " +
                                  std::to_string(d));
    if (next.along == axis::none)
      throw std::invalid_argument("wsl: a dimension is cut along axis::x or axis::y");
    if (cuts_along(next.along))
      throw std::invalid_argument(std::string("wsl: a cut uses an axis once; it uses ") +
                                  (next.along == axis::x ? "x" : "y") + " already");
    cut c = *this;
    c.how_[d][how_[d][0].along == axis::none ? 0 : 1] = next;
    return c;
  }
  level how_[tensor_shape::most][2];
};

/// A cut of a shape on a grid of PEs.
class placement {
 public:
  constexpr placement() = default;
  /// Throws std::invalid_argument if the cut is of a dimension that the shape does not have.
  constexpr placement(const tensor_shape& shape, const cut& how, coord grid)
      : shape_(shape), how_(how), grid_(grid) {
    if (how.dimensions() > shape.dimensions())
      throw std::invalid_argument("wsl: a cut of dimension " + std::to_string(how.dimensions() - 1) +
                                  " does not fit a tensor with the dimensions 0 to " +
                                  std::to_string(shape.dimensions() - 1));
  }
  constexpr const tensor_shape& shape() const { return shape_; }
  constexpr const cut& how() const { return how_; }
  constexpr coord grid() const { return grid_; }

  /// How many indices of dimension d the PE `at` has.
  constexpr int size(coord at, int d) const { return inner(at, d).size(levels(d)[1].part(at)); }
  /// The one that is i there, of the whole.
  constexpr int global(coord at, int d, int i) const {
    return outer(d).global(levels(d)[0].part(at), inner(at, d).global(levels(d)[1].part(at), i));
  }
  /// The PE with index i of dimension d that is nearest to (0, 0): along an axis that does not cut the
  /// dimension all have it.
  constexpr coord holder(int d, int i) const {
    coord at{0, 0};
    move(at, levels(d)[0], outer(d).part_of(i));
    move(at, levels(d)[1], inner(at, d).part_of(outer(d).local(i)));
    return at;
  }
  /// Which of the holder's indices it is.
  constexpr int local(int d, int i) const { return inner(holder(d, i), d).local(outer(d).local(i)); }

 private:
  constexpr const cut::level* levels(int d) const { return how_.how_[d]; }
  constexpr partition outer(int d) const { return levels(d)[0].of(shape_.length(d), grid_); }
  constexpr partition inner(coord at, int d) const {
    return levels(d)[1].of(outer(d).size(levels(d)[0].part(at)), grid_);
  }
  static constexpr void move(coord& at, const cut::level& along, int part) {
    if (along.along == axis::x) at.x = part;
    if (along.along == axis::y) at.y = part;
  }

  tensor_shape shape_;
  cut how_;
  coord grid_{1, 1};
};

}  // namespace wsl::ml
