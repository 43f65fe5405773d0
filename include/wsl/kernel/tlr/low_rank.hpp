// SPDX-License-Identifier: MIT
// A tile low-rank matrix: it is cut into square tiles, and each tile is a product of two thin matrices. A
// matrix that is smooth away from its diagonal needs a few columns for each tile, so a product with a vector
// reads a fraction of the dense matrix. compress.hpp makes one, multiply.hpp multiplies with it, and `serial`
// is the reference.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/bad_argument.hpp"

namespace wsl::tlr {

/// A tile of r rows and c columns as U V, U of (r, rank) and V of (rank, c).
template <class T>
struct factors {
  int rank = 0;
  std::vector<T> u;  ///< (rank, r): column after column of U
  std::vector<T> v;  ///< (rank, c): row after row of V
};

/// From .. to - 1.
struct range {
  int from = 0, to = 0;
  int size() const { return to - from; }
};
/// The nth of `parts` parts of n things, whose sizes differ by at most one.
inline range part_of(int n, int parts, int nth) {
  return {static_cast<int>(i64{n} * nth / parts), static_cast<int>(i64{n} * (nth + 1) / parts)};
}

namespace detail {
inline bool is_finite(f32 x) { return std::isfinite(x); }
inline bool is_finite(const std::complex<f32>& x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}
}  // namespace detail

/// T is f32 or std::complex<f32>. Tiles are `side` x `side`, the last ones of a row and of a column smaller.
template <class T>
class low_rank {
 public:
  /// A matrix of zeros: all ranks are 0. Throws std::invalid_argument if there is no matrix of this shape, or
  /// if its tiles are more than int counts.
  low_rank(int rows, int columns, int side) : rows_(rows), columns_(columns), side_(side) {
    if (rows < 1 || columns < 1 || side < 1)
      support::bad_argument({"a matrix of (", rows, ", ", columns, ") has no tiles of ", side});
    if (const i64 tiles = i64{tile_rows()} * tile_columns(); tiles > std::numeric_limits<int>::max())
      support::bad_argument({"a matrix of (", rows, ", ", columns, ") has ", tiles, " tiles of ", side,
                             ", more than 2147483647: take larger tiles"});
    tiles_.resize(static_cast<std::size_t>(tile_rows()) * static_cast<std::size_t>(tile_columns()));
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int side() const { return side_; }
  int tile_rows() const { return (rows_ - 1) / side_ + 1; }
  int tile_columns() const { return (columns_ - 1) / side_ + 1; }
  range rows_of(int i) const { return tile_of(rows_, i); }
  range columns_of(int j) const { return tile_of(columns_, j); }

  const factors<T>& at(int i, int j) const { return tiles_[index(i, j)]; }
  /// Throws std::invalid_argument if there is no tile (i, j), if U and V are not its own, or if a number of
  /// them is not finite.
  void set(int i, int j, factors<T> f) {
    factors<T>& tile = tiles_[index(i, j)];
    if (f.rank < 0) support::bad_argument({"tile (", i, ", ", j, ") has a rank of 0 or more, not ", f.rank});
    const std::size_t rank = static_cast<std::size_t>(f.rank),
                      r = static_cast<std::size_t>(rows_of(i).size()),
                      c = static_cast<std::size_t>(columns_of(j).size());
    if (f.u.size() != rank * r || f.v.size() != rank * c)
      support::bad_argument({"tile (", i, ", ", j, ") of rank ", f.rank, " takes U of ", rank * r,
                             " and V of ", rank * c, " numbers, not ", f.u.size(), " and ", f.v.size()});
    const auto require_finite = [&](const char* which, const std::vector<T>& numbers) {
      for (std::size_t k = 0; k < numbers.size(); ++k)
        if (!detail::is_finite(numbers[k]))
          support::bad_argument(
              {"tile (", i, ", ", j, "): number ", k, " of its ", which, " is not finite as f32"});
    };
    require_finite("U", f.u), require_finite("V", f.v);
    tile = std::move(f);
  }

  /// The ranks of all tiles together.
  i64 ranks() const {
    i64 sum = 0;
    for (const factors<T>& f : tiles_) sum += f.rank;
    return sum;
  }
  /// Numbers kept, and numbers of the dense matrix.
  i64 numbers() const {
    i64 sum = 0;
    for (const factors<T>& f : tiles_) sum += static_cast<i64>(f.u.size() + f.v.size());
    return sum;
  }
  i64 dense_numbers() const { return i64{rows_} * columns_; }

  /// the Frobenius norm of the compression error: besides rounding, a product differs by at most error * |x|
  f64 error = 0;

 private:
  range tile_of(int length, int nth) const {
    return {nth * side_, static_cast<int>(std::min(i64{length}, (nth + i64{1}) * side_))};
  }
  std::size_t index(int i, int j) const {
    if (i < 0 || j < 0 || i >= tile_rows() || j >= tile_columns())
      support::bad_argument(
          {"there is no tile (", i, ", ", j, ") among ", tile_rows(), " x ", tile_columns()});
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(tile_columns()) +
           static_cast<std::size_t>(j);
  }

  int rows_, columns_, side_;
  std::vector<factors<T>> tiles_;
};

/// The operator of a product: A x, A^T x, conj(A) x or A^H x.
enum class operation : u8 { forward, transposed, conjugated, adjoint };
constexpr bool transposes(operation s) { return s == operation::transposed || s == operation::adjoint; }
constexpr bool conjugates(operation s) { return s == operation::conjugated || s == operation::adjoint; }

namespace detail {
template <class T>
struct widened {
  using type = f64;
};
template <>
struct widened<std::complex<f32>> {
  using type = std::complex<f64>;
};
}  // namespace detail
template <class T>
using wide = typename detail::widened<T>::type;

template <class T>
wide<T> conjugate_if(bool yes, T x) {
  if constexpr (std::is_same_v<T, f32>) return x;
  else return yes ? std::conj(wide<T>(x)) : wide<T>(x);
}

/// The product in f64, tile by tile: the reference. Throws std::invalid_argument if the length of x is wrong.
template <class T>
std::vector<wide<T>> serial(const low_rank<T>& a, operation s, std::span<const T> x) {
  const bool across = transposes(s), conjugated = conjugates(s);
  if (const int length = across ? a.rows() : a.columns(); x.size() != static_cast<std::size_t>(length))
    support::bad_argument({"this product takes x of ", length, " numbers, not of ", x.size()});
  std::vector<wide<T>> y(static_cast<std::size_t>(across ? a.columns() : a.rows()));
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) {
      const factors<T>& f = a.at(i, j);
      const range in = across ? a.rows_of(i) : a.columns_of(j), out = across ? a.columns_of(j) : a.rows_of(i);
      const std::vector<T>&first = across ? f.u : f.v, &second = across ? f.v : f.u;
      for (int r = 0; r < f.rank; ++r) {
        wide<T> w = 0;
        for (int k = 0; k < in.size(); ++k)
          w += conjugate_if(conjugated, first[static_cast<std::size_t>(r * in.size() + k)]) *
               wide<T>(x[static_cast<std::size_t>(in.from + k)]);
        for (int k = 0; k < out.size(); ++k)
          y[static_cast<std::size_t>(out.from + k)] +=
              conjugate_if(conjugated, second[static_cast<std::size_t>(r * out.size() + k)]) * w;
      }
    }
  return y;
}

}  // namespace wsl::tlr
