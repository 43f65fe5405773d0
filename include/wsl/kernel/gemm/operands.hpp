// SPDX-License-Identifier: MIT
// What must hold of the matrices of C = A B before any number is read: the shapes fit, each element of C has
// a place of its own, and C shares no memory with A or B, which PEs still read while others write their C.
#pragma once
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "../../linalg/dense.hpp"
#include "../../linalg/matrix.hpp"
#include "../../support/bad_argument.hpp"

namespace wsl::detail {

/// The memory of a matrix that is not empty, in bytes: where its lowest element begins, and the distances
/// between neighbours along both axes, without their signs. They are 0 along an axis of one element.
struct matrix_memory {
  template <class T>
  explicit matrix_memory(const matrix<T>& m)
      : first(reinterpret_cast<std::uintptr_t>(m.first())),
        element(sizeof(T)),
        more{static_cast<u64>(m.rows() - 1), static_cast<u64>(m.columns() - 1)} {
    const std::array<i64, 2> strides{m.row_stride(), m.column_stride()};
    for (std::size_t axis : {0u, 1u}) {
      if (more[axis] == 0) continue;
      apart[axis] = static_cast<u64>(std::abs(strides[axis])) * element;
      if (strides[axis] < 0) first -= more[axis] * apart[axis];
    }
  }

  /// From the first byte to the last, without the axes along which neighbours are a multiple of `period`
  /// apart; 0 leaves none out.
  u64 extent(u64 period = 0) const {
    u64 bytes = element;
    for (std::size_t axis : {0u, 1u})
      if (period == 0 || apart[axis] % period) bytes += more[axis] * apart[axis];
    return bytes;
  }

  u64 first, element;
  std::array<u64, 2> more;  ///< elements along an axis besides the first
  std::array<u64, 2> apart{};
};

/// Whether two matrices may have a byte in common. They have none if their ranges of memory are disjoint, nor
/// if they are so within each period of the memory, such as a row of a larger matrix of which both have
/// other columns. Matrices that are interleaved in a way that no stride tells apart count as overlapping.
template <class T, class U>
bool may_overlap(const matrix<T>& a, const matrix<U>& b) {
  if (a.empty() || b.empty()) return false;
  const matrix_memory x(a), y(b);
  if (x.first + x.extent() <= y.first || y.first + y.extent() <= x.first) return false;
  const auto [x_rows, x_columns] = x.apart;
  const auto [y_rows, y_columns] = y.apart;
  const u64 finest = std::gcd(std::gcd(x_rows, x_columns), std::gcd(y_rows, y_columns));
  for (u64 period : {x_rows, x_columns, y_rows, y_columns, finest}) {
    if (period == 0) continue;
    const u64 begins = (y.first % period + period - x.first % period) % period;  // y, seen from x
    if (x.extent(period) <= begins && begins + y.extent(period) <= period) return false;
  }
  return true;
}

/// Throws std::invalid_argument if the shapes do not fit, or if elements of C share a place.
template <class T>
void check_shapes(const matrix<dense::sum_of<T>>& c, const matrix<const T>& a, const matrix<const T>& b) {
  if (a.columns() != b.rows() || c.rows() != a.rows() || c.columns() != b.columns())
    support::bad_argument(
        {"C = A B of C ", c.shape(), ", A ", a.shape(), " and B ", b.shape(), ": the shapes do not fit"});
  // The nearest elements that share a place are as many rows apart as the strides' common measure goes into
  // that of the columns, and the other way around.
  const i64 rows = std::abs(c.row_stride()), columns = std::abs(c.column_stride()),
            measure = std::gcd(rows, columns);
  if (measure == 0 ? i64{c.rows()} * c.columns() > 1
                   : columns / measure < c.rows() && rows / measure < c.columns())
    support::bad_argument({"C = A B of C ", c.shape(), " with a row stride of ", c.row_stride(),
                           " and a column stride of ", c.column_stride(),
                           ": elements of C share a place; give each its own"});
}

/// Throws std::invalid_argument if C may overlap A or B.
template <class T>
void check_memory(const matrix<dense::sum_of<T>>& c, const matrix<const T>& a, const matrix<const T>& b) {
  const bool with_a = may_overlap(c, a), with_b = may_overlap(c, b);
  if (with_a || with_b)
    support::bad_argument({"C = A B of C ", c.shape(), ", A ", a.shape(), " and B ", b.shape(),
                           ": C overlaps ",
                           with_a && with_b ? "A and B"
                           : with_a         ? "A"
                                            : "B",
                           ", which is read while C is written; take another array for C"});
}

}  // namespace wsl::detail
