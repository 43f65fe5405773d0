// SPDX-License-Identifier: MIT
// The product of dense tiles in a PE's memory: C += A B with sums in f32, of tiles stored as f32, f16 or bf16
// with any strides. It uses this computer's vector units for the product that a PE of the machine computes
// with a loop of fmac over columns; both sum every element of C in the order of k. B is packed into panels as
// wide as a microkernel (Goto and van de Geijn, ACM TOMS 34, 2008). See examples/30_gemm.cpp.
#pragma once
#include "../core/half.hpp"
#include "../support/bad_argument.hpp"
#include "matrix.hpp"
#include "microkernels.hpp"

namespace wsl {
namespace dense {

inline constexpr int depth = 128;        // terms of k at a time, so that a panel of B stays in near caches
inline constexpr int widest_panel = 64;  // columns

/// Packs some columns of B as rows of `width` contiguous numbers, padded with zeros at the right.
template <class T>
void pack(const microkernels& u, f32* to, int width, const matrix<const T>& b) {
  const int k = b.rows(), columns = b.columns();
  int done = 0;  // columns
  if constexpr (std::is_same_v<T, f32>) {
    if (b.column_stride() == 1 && columns == width)
      return u.copy[width / u.lanes - 1]({b.first(), b.row_stride(), to, width, k});
    if (b.row_stride() == 1 && b.column_stride() != 1) {  // rows lie across: turn squares
      const int whole = k / u.lanes * u.lanes;
      for (; done + u.lanes <= columns; done += u.lanes) {
        for (int p = 0; p < whole; p += u.lanes)
          u.transpose({&b(p, done), b.column_stride(), to + p * width + done, width});
        for (int p = whole; p < k; ++p)
          for (int j = done; j < done + u.lanes; ++j) to[p * width + j] = b(p, j);
      }
    }
  }
  for (int p = 0; p < k; ++p) {
    f32* row = to + p * width;
    const T* from = b.row(p);
    if (b.column_stride() == 1 && done == 0)
      for (int j = 0; j < columns; ++j) row[j] = from[j];
    else
      for (int j = done; j < columns; ++j) row[j] = from[j * b.column_stride()];
    for (int j = columns; j < width; ++j) row[j] = 0;
  }
}

/// A copy of a part of C that is narrower than a block, padded to the width of one.
class padded_block {
 public:
  padded_block(const matrix<f32>& c, int width) : c_(c), width_(width) {
    for (int i = 0; i < c.rows(); ++i)
      for (int j = 0; j < width; ++j) numbers_[i * width + j] = j < c.columns() ? c(i, j) : 0;
  }
  f32* numbers() { return numbers_; }
  void store() const {
    for (int i = 0; i < c_.rows(); ++i)
      for (int j = 0; j < c_.columns(); ++j) c_(i, j) = numbers_[i * width_ + j];
  }

 private:
  alignas(64) f32 numbers_[448];  // the largest block: 14 x 32
  matrix<f32> c_;
  int width_;
};

/// C += A B where B is as wide as a block, and its rows have at least `width` contiguous numbers. The rows
/// of C are divided evenly, so that no block is much smaller than the others. If there is a `next`, it is
/// the B of the next call, and it is prefetched together with the next rows of A.
inline void multiply_panel(const microkernels& u, const matrix<f32>& c, const matrix<const f32>& a,
                           const f32* b, i64 b_row, int width, bool sets, const f32* next = nullptr) {
  const int vectors = width / u.lanes, most = u.rows[vectors - 1], blocks = (c.rows() + most - 1) / most;
  const bool whole = c.columns() == width && c.column_stride() == 1;
  for (int n = 0, i = 0; n < blocks; ++n) {
    const int end = static_cast<int>(i64{c.rows()} * (n + 1) / blocks), rows = end - i;
    block x{&a(i, 0), a.row_stride(), a.column_stride(), b,    b_row,
            c.row(i), c.row_stride(), a.columns(),       sets, {{b, 0}, {b, 0}}};
    if (next) x.next[0] = {next + i64{a.columns()} * n / blocks * b_row, (b_row + blocks - 1) / blocks};
    if (next && end < c.rows())
      x.next[1] = {&a(end, 0), (rows * a.row_stride() + a.columns() - 1) / a.columns()};
    if (whole) {
      u.multiply[rows - 1][vectors - 1](x);
    } else {
      padded_block e(c.part(i, 0, rows, c.columns()), width);
      x.c = e.numbers(), x.c_row = width;
      u.multiply[rows - 1][vectors - 1](x);
      e.store();
    }
    i = end;
  }
}

/// The same for an A that is stored in 16 bits: some rows at a time are converted to f32.
template <class T>
void multiply_panel(const microkernels& u, const matrix<f32>& c, const matrix<const T>& a, const f32* b,
                    i64 b_row, int width, bool sets) {
  constexpr int some = 28;
  alignas(64) f32 wide[some * depth];
  const int k = a.columns();
  for (int from = 0; from < c.rows(); from += some) {
    const int rows = c.rows() - from < some ? c.rows() - from : some;
    for (int i = 0; i < rows; ++i)
      for (int p = 0; p < k; ++p) wide[i * k + p] = a(from + i, p);
    multiply_panel(u, c.part(from, 0, rows, c.columns()), matrix<const f32>(wide, rows, k), b, b_row, width,
                   sets);
  }
}

/// C += A B, where B is not deeper than `depth` and not wider than `width`. B is packed if that pays.
template <class A, class B>
void multiply_strip(const microkernels& u, const matrix<f32>& c, const matrix<const A>& a,
                    const matrix<const B>& b, int width, bool sets) {
  if constexpr (std::is_same_v<B, f32>)
    if (b.column_stride() == 1 && b.columns() == width && c.rows() <= 5 * u.rows[width / u.lanes - 1])
      return multiply_panel(u, c, a, b.first(), b.row_stride(), width, sets);
  alignas(64) f32 panel[depth * widest_panel];
  pack(u, panel, width, b);
  multiply_panel(u, c, a, panel, width, width, sets);
}

/// C += A B, or C = A B if `sets`. `next` may be the B of the next call, of the same shape and with
/// contiguous rows. Throws std::invalid_argument if the shapes do not fit.
template <class A, class B>
void product(const matrix<f32>& c, const matrix<A>& a, const matrix<B>& b, bool sets, const microkernels& u,
             const f32* next = nullptr) {
  if (a.columns() != b.rows() || c.rows() != a.rows() || c.columns() != b.columns())
    support::bad_argument({"a product C = A B of C ", c.shape(), ", A ", a.shape(), " and B ", b.shape(),
                           ": the shapes do not fit"});
  if (c.empty()) return;
  if (a.columns() == 0) {  // nothing to add; the operands may have no memory at all
    for (int i = 0; sets && i < c.rows(); ++i)
      for (int j = 0; j < c.columns(); ++j) c(i, j) = 0;
    return;
  }
  if constexpr (std::is_same_v<A, const f32> && std::is_same_v<B, const f32>) {
    const int width = u.vectors_for(b.columns()) * u.lanes;
    // B already lies as it would be packed
    if (b.columns() % width == 0 && b.columns() <= widest_panel && b.column_stride() == 1 &&
        b.row_stride() == b.columns()) {
      for (int j = 0; j < b.columns(); j += width)
        multiply_panel(u, c.part(0, j, c.rows(), width), a, b.first() + j, b.row_stride(), width, sets,
                       width == b.columns() ? next : nullptr);
      return;
    }
  }
  for (int p = 0; p < a.columns(); p += depth) {
    const int k = a.columns() - p < depth ? a.columns() - p : depth;
    for (int j = 0, n = 0; j < c.columns(); j += n) {
      const int left = c.columns() - j, width = u.vectors_for(left, a.column_stride() == 1) * u.lanes;
      n = left < width ? left : width;
      const matrix<const std::remove_const_t<A>> of_a = a.part(0, p, a.rows(), k);
      const matrix<const std::remove_const_t<B>> of_b = b.part(p, j, k, n);
      multiply_strip(u, c.part(0, j, c.rows(), n), of_a, of_b, width, sets && p == 0);
    }
  }
}

}  // namespace dense

/// C += A B. C is (m, n), A is (m, k), B is (k, n), each with any strides; f32, f16 and bf16 elements of A
/// and B are exact as f32. Each element of C differs from the exact one by at most k * 2^-24 * (|A| |B| +
/// |C|). Throws std::invalid_argument if the shapes do not fit.
template <class A, class B>
void multiply_add(const matrix<f32>& c, const matrix<A>& a, const matrix<B>& b,
                  const dense::microkernels& u = dense::best_microkernels()) {
  dense::product(c, a, b, false, u);
}
/// C = A B, with the shapes, the error and the exception of multiply_add; C need not be initialized.
template <class A, class B>
void multiply(const matrix<f32>& c, const matrix<A>& a, const matrix<B>& b,
              const dense::microkernels& u = dense::best_microkernels()) {
  dense::product(c, a, b, true, u);
}

}  // namespace wsl
