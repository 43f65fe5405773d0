// SPDX-License-Identifier: MIT
// How a matrix is cut over a rectangle of PEs, as a value: each dimension is whole, split evenly or dealt out in tiles along one axis of
// the rectangle; along an axis that cuts nothing, PEs hold copies.
//   cut{}                                             every PE holds all
//   cut{}.split(dimension::rows, axis::y)             tokens shared out to the rows of PEs, copies along each row
//   cut{}.split(dimension::rows, axis::y).tile(dimension::columns, axis::x, 4)
// A cut is a function: from a PE and an index there to an index of the whole, and back. See redistribute.hpp.
#pragma once
#include <stdexcept>
#include <string>

#include "../../core/coord.hpp"
#include "../../core/scalar.hpp"

namespace wsl::ml {

/// `length` things dealt out to `parts` in tiles of `tile`, or with tile 0 in one even piece each.
struct partition {
  int length = 0, parts = 1, tile = 0;

  /// How many are in part p.
  constexpr int size(int p) const { return tile ? at_or_after(p, length) : start(p + 1) - start(p); }
  /// Thing i of part p, of the whole.
  constexpr int global(int p, int i) const { return tile ? (i / tile * parts + p) * tile + i % tile : start(p) + i; }
  /// The part that has thing i of the whole, and which of its things it is.
  constexpr int part_of(int i) const { return tile ? i / tile % parts : static_cast<int>(((i64{i} + 1) * parts - 1) / length); }
  constexpr int local(int i) const { return tile ? i / tile / parts * tile + i % tile : i - start(part_of(i)); }

 private:
  constexpr int start(int p) const { return static_cast<int>(i64{length} * p / parts); }
  // Whole rounds of tiles, and what the last round has for p.
  constexpr int at_or_after(int p, int n) const {
    const int round = tile * parts, rest = n % round - p * tile;
    return n / round * tile + (rest < 0 ? 0 : rest > tile ? tile : rest);
  }
};

enum class dimension : u8 { rows, columns };
enum class axis : u8 { none, x, y };

class cut {
 public:
  constexpr cut() = default;
  /// An even piece of the dimension for each PE along an axis. Throws std::invalid_argument if either is cut already.
  constexpr cut split(dimension d, axis along) const { return with(d, along, 0); }
  /// The same in tiles of a size, dealt out in turn.
  constexpr cut tile(dimension d, axis along, int size) const {
    if (size < 1) throw std::invalid_argument("wsl: a cut deals out tiles of at least 1, not of " + std::to_string(size));
    return with(d, along, size);
  }

  constexpr axis of(dimension d) const { return how_[index(d)].along; }
  constexpr bool cuts_along(axis a) const { return how_[0].along == a || how_[1].along == a; }
  /// The cut of one dimension, `length` long, on a rectangle of `grid.x` by `grid.y` PEs.
  constexpr partition of(dimension d, int length, coord grid) const {
    const way w = how_[index(d)];
    return {length, w.along == axis::none ? 1 : w.along == axis::x ? grid.x : grid.y, w.tile};
  }
  /// Which part of that the PE `at` has.
  constexpr int part(dimension d, coord at) const { return of(d) == axis::none ? 0 : of(d) == axis::x ? at.x : at.y; }

  friend constexpr bool operator==(const cut&, const cut&) = default;

 private:
  struct way {
    axis along = axis::none;
    int tile = 0;
    friend constexpr bool operator==(const way&, const way&) = default;
  };
  static constexpr int index(dimension d) { return d == dimension::rows ? 0 : 1; }
  constexpr cut with(dimension d, axis along, int tile) const {
    if (along == axis::none) throw std::invalid_argument("wsl: a dimension is cut along axis::x or axis::y");
    if (cuts_along(along)) throw std::invalid_argument(std::string("wsl: a cut uses an axis for one dimension; it uses ") + (along == axis::x ? "x" : "y") + " already");
    if (of(d) != axis::none) throw std::invalid_argument(std::string("wsl: a cut cuts a dimension once; it cuts the ") + (d == dimension::rows ? "rows" : "columns") + " already");
    cut c = *this;
    c.how_[index(d)] = {along, tile};
    return c;
  }
  way how_[2];
};

}  // namespace wsl::ml
