// SPDX-License-Identifier: MIT
// The distribution of a tensor over a rectangle of PEs, as a value. Along each axis of the rectangle one
// dimension is cut into blocks, or dealt out block by block in turn (block-cyclic), or nothing is cut and the
// PEs hold copies. A dimension may be cut along both axes; then each piece of the first cut is cut again.
//   distribution{}                                            every PE holds everything
//   distribution{}.block(0, axis::y)                          tokens cut over rows of PEs, copies along a row
//   distribution{}.block(0, axis::y).cyclic(1, axis::x, 4)    and features dealt out along it, 4 at a time
//   distribution{}.block(0, axis::y).block(0, axis::x)        tokens cut over all PEs
// An index_map is a distribution of a shape on a grid: the function from a PE and an index there to an index
// of the whole tensor, and back. The terms are those of ScaLAPACK and High Performance Fortran.
//
// Training cuts activations by tokens and by features (model/column_cut.hpp) and changes from one cut to the
// other between stages. redistribute.hpp does so for any tensor, and examples/93_redistribution.cpp shows it
// for attention.
#pragma once
#include <fmt/format.h>

#include <initializer_list>
#include <stdexcept>

#include "../../core/coord.hpp"
#include "../../core/scalar.hpp"

namespace wsl::ml {

/// `length` indices dealt out to `parts` parts, `block` at a time in turn; with block 0 each part has one
/// piece, as even as possible. An index of the whole is `global`, an index within a part `local`.
struct block_cyclic {
  int length = 0, parts = 1, block = 0;

  /// The number of indices of part p.
  constexpr int size(int p) const { return block ? in_blocks(p) : start(p + 1) - start(p); }
  /// The global index of local index i of part p.
  constexpr int global(int p, int i) const {
    return block ? (i / block * parts + p) * block + i % block : start(p) + i;
  }
  /// The part that has global index i, and the local index there.
  constexpr int part_of(int i) const {
    return block ? i / block % parts : static_cast<int>(((i64{i} + 1) * parts - 1) / length);
  }
  constexpr int local(int i) const {
    return block ? i / block / parts * block + i % block : i - start(part_of(i));
  }

 private:
  constexpr int start(int p) const { return static_cast<int>(i64{length} * p / parts); }
  // Whole rounds of blocks, and the share of p in the last round.
  constexpr int in_blocks(int p) const {
    const i64 round = i64{block} * parts, rest = length % round - i64{p} * block;
    return static_cast<int>(length / round * block + (rest < 0 ? 0 : rest > block ? block : rest));
  }
};

/// An axis of the rectangle of PEs. Along x lie the PEs of a row, along y those of a column.
enum class axis : u8 { none, x, y };

/// The lengths of a tensor's dimensions. Its numbers lie row-major: the last dimension is contiguous.
class tensor_shape {
 public:
  static constexpr int max_dimensions = 4;

  constexpr tensor_shape() = default;
  /// Throws std::invalid_argument for fewer than one or more than four dimensions, and for negative lengths.
  constexpr tensor_shape(std::initializer_list<int> lengths) : dimensions_(static_cast<int>(lengths.size())) {
    if (dimensions_ < 1 || dimensions_ > max_dimensions)
      throw std::invalid_argument(fmt::format("wsl: a tensor has 1 to 4 dimensions, not {}", dimensions_));
    int d = 0;
    for (int n : lengths) {
      if (n < 0)
        throw std::invalid_argument(fmt::format("wsl: dimension {} of a tensor has no length of {}", d, n));
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
  int dimensions_ = 1, length_[max_dimensions] = {};
};

class distribution {
 public:
  constexpr distribution() = default;
  /// Cuts dimension d, or each piece that it has been cut into, evenly over the PEs along an axis. Throws
  /// std::invalid_argument if the axis already cuts a dimension.
  constexpr distribution block(int d, axis along) const { return with(d, {along, 0}); }
  /// Deals dimension d out in blocks of `size`, in turn, to the PEs along an axis. Throws
  /// std::invalid_argument if the axis already cuts a dimension, or if the size is below 1.
  constexpr distribution cyclic(int d, axis along, int size) const {
    if (size < 1)
      throw std::invalid_argument(
          fmt::format("wsl: a distribution deals out blocks of at least 1, not of {}", size));
    return with(d, {along, size});
  }
  /// Copies along an axis, whatever was cut along it. A redistribution to this is an all-gather.
  constexpr distribution replicate(axis along) const {
    distribution result = *this;
    for (auto& levels : result.how_) {
      if (levels[0].along == along) levels[0] = levels[1], levels[1] = {};
      if (levels[1].along == along) levels[1] = {};
    }
    return result;
  }

  constexpr bool cuts(int d, axis along) const {
    return how_[d][0].along == along || how_[d][1].along == along;
  }
  /// Whether an axis cuts any dimension; if not, the PEs along it hold copies.
  constexpr bool uses(axis a) const {
    for (int d = 0; d < tensor_shape::max_dimensions; ++d)
      if (cuts(d, a)) return true;
    return false;
  }
  /// The last dimension that is cut, plus one.
  constexpr int dimensions() const {
    int n = tensor_shape::max_dimensions;
    while (n > 0 && how_[n - 1][0].along == axis::none) --n;
    return n;
  }
  friend constexpr bool operator==(const distribution&, const distribution&) = default;

 private:
  friend class index_map;

  /// One of the up to two cuts of a dimension.
  struct level {
    axis along = axis::none;
    int block = 0;

    constexpr block_cyclic of(int length, coord grid) const {
      return {length, along == axis::none ? 1 : along == axis::x ? grid.x : grid.y, block};
    }
    constexpr int part(coord at) const { return along == axis::none ? 0 : along == axis::x ? at.x : at.y; }
    friend constexpr bool operator==(const level&, const level&) = default;
  };
  constexpr distribution with(int d, level next) const {
    if (d < 0 || d >= tensor_shape::max_dimensions)
      throw std::invalid_argument(
          fmt::format("wsl: a distribution cuts one of the dimensions 0 to 3, not {}", d));
    if (next.along == axis::none)
      throw std::invalid_argument("wsl: a dimension is cut along axis::x or axis::y");
    if (uses(next.along))
      throw std::invalid_argument(fmt::format("wsl: an axis cuts one dimension; axis::{} has one already",
                                              next.along == axis::x ? "x" : "y"));
    distribution result = *this;
    result.how_[d][how_[d][0].along == axis::none ? 0 : 1] = next;
    return result;
  }
  level how_[tensor_shape::max_dimensions][2];
};

/// A distribution of a shape on a grid of PEs.
class index_map {
 public:
  constexpr index_map() = default;
  /// Throws std::invalid_argument if a dimension is cut that the shape does not have.
  constexpr index_map(const tensor_shape& shape, const distribution& how, coord grid)
      : shape_(shape), how_(how), grid_(grid) {
    if (how.dimensions() > shape.dimensions())
      throw std::invalid_argument(
          fmt::format("wsl: a distribution cuts dimension {}, but the tensor has the dimensions 0 to {}",
                      how.dimensions() - 1, shape.dimensions() - 1));
  }
  constexpr const tensor_shape& shape() const { return shape_; }
  constexpr const distribution& how() const { return how_; }
  constexpr coord grid() const { return grid_; }

  /// The number of indices of dimension d on the PE `at`.
  constexpr int size(coord at, int d) const { return inner(at, d).size(levels(d)[1].part(at)); }
  /// The global index of local index i of dimension d on the PE `at`.
  constexpr int global(coord at, int d, int i) const {
    return outer(d).global(levels(d)[0].part(at), inner(at, d).global(levels(d)[1].part(at), i));
  }
  /// The PE that has global index i of dimension d; where several hold copies, the one nearest to (0, 0).
  constexpr coord holder(int d, int i) const {
    coord at{0, 0};
    move(at, levels(d)[0], outer(d).part_of(i));
    move(at, levels(d)[1], inner(at, d).part_of(outer(d).local(i)));
    return at;
  }
  /// The local index of global index i on its holder.
  constexpr int local(int d, int i) const { return inner(holder(d, i), d).local(outer(d).local(i)); }

 private:
  constexpr const distribution::level* levels(int d) const { return how_.how_[d]; }
  constexpr block_cyclic outer(int d) const { return levels(d)[0].of(shape_.length(d), grid_); }
  constexpr block_cyclic inner(coord at, int d) const {
    return levels(d)[1].of(outer(d).size(levels(d)[0].part(at)), grid_);
  }
  static constexpr void move(coord& at, const distribution::level& along, int part) {
    if (along.along == axis::x) at.x = part;
    if (along.along == axis::y) at.y = part;
  }

  tensor_shape shape_;
  distribution how_;
  coord grid_{1, 1};
};

}  // namespace wsl::ml
