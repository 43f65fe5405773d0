// SPDX-License-Identifier: MIT
// The product of dense tiles in a PE's memory: C += A B with sums in f32, of tiles stored as f32, f16, bf16
// or cb16 with any strides. It uses this computer's vector units for the product that a PE of the machine
// computes with a loop of fmac over columns; both sum every element of C in the order of k. B is packed into
// panels as wide as a microkernel (Goto and van de Geijn, ACM TOMS 34, 2008). See examples/30_gemm.cpp. This
// computer also multiplies f64, with sums in f64.
//
// Operands of 16 bits become the terms of the microkernels (microkernels.hpp) as they are packed: pairs of
// bf16 if both are bf16 and the processor has AVX512-BF16, otherwise f32, which holds each of them exactly.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../core/half.hpp"
#include "../support/bad_argument.hpp"
#include "convert.hpp"
#include "matrix.hpp"
#include "microkernels.hpp"

namespace wsl {
namespace dense {

/// Terms of k at a time. A panel of B of two vectors has 16 KiB then, which leaves room in the first cache.
template <class T>
constexpr int depth_of(const microkernels<T>& u) {
  return u.lanes * int{sizeof(T)} < 64 ? 256 : 128;
}
inline constexpr int deepest = 256;
template <class T>
inline constexpr int widest_panel = 256 / int{sizeof(T)};  // columns: 4 cache lines of a row
inline constexpr int terms_of_rows = 1 << 15;  // of a converted A at a time, which stay in the second cache

/// The type of C and of the sums of products of T.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<std::remove_const_t<T>, f64>, f64, f32>;

/// Copies B, whose columns lie together, to rows of `width` contiguous terms in squares. The last squares
/// overlap those before them. B has as many rows and columns as a square, or more.
template <class T>
void turn_squares(const microkernels<T>& u, T* to, i64 width, const matrix<const T>& b) {
  for (int done = 0; done < b.columns(); done += u.lanes)
    for (int p = 0; p < b.rows(); p += u.lanes) {
      const int i = std::min(p, b.rows() - u.lanes), j = std::min(done, b.columns() - u.lanes);
      u.transpose({&b(i, j), b.column_stride(), to + i * width + j, width});
    }
}
/// Packs some columns of B as rows of `width` contiguous terms, padded with zeros at the right.
template <class T>
void pack(const microkernels<T>& u, T* to, int width, const matrix<const T>& b) {
  const int k = b.rows(), columns = b.columns();
  int done = 0;  // columns
  if (b.column_stride() == 1 && columns == width)
    return u.copy[width / u.lanes - 1]({b.first(), b.row_stride(), to, width, k});
  if (b.row_stride() == 1 && b.column_stride() != 1 && k >= u.lanes && columns >= u.lanes) {
    turn_squares(u, to, width, b);
    done = columns;
  }
  for (; b.column_stride() == 1 && done + u.lanes <= columns; done += u.lanes)
    u.copy[0]({b.first() + done, b.row_stride(), to + done, width, k});
  for (int p = 0; p < k; ++p) {
    T* row = to + p * width;
    const T* from = b.row(p);
    for (int j = done; j < columns; ++j) row[j] = from[j * b.column_stride()];
    for (int j = columns; j < width; ++j) row[j] = 0;
  }
}

/// The terms of operands whose elements are T: `per_term` neighbours along k, 1 as a number of the sums, 2 as
/// a pair of bf16.
template <int per_term, class T>
class terms_of {
 public:
  using number = sum_of<T>;

  static constexpr int of(int k) { return (k + per_term - 1) / per_term; }

  /// Whether the rows of x, whose columns run along k, lie in memory as terms.
  static bool are(const matrix<const T>& x) {
    if constexpr (per_term == 1) return std::is_same_v<T, number>;
    else
      return x.column_stride() == 1 && x.row_stride() % 2 == 0 && x.columns() % 2 == 0 &&
             reinterpret_cast<std::uintptr_t>(x.first()) % alignof(f32) == 0;
  }
  /// Those terms, to be read by microkernels.
  static matrix<const number> view(const matrix<const T>& x) {
    return {reinterpret_cast<const number*>(x.first()), x.rows(), of(x.columns()), x.row_stride() / per_term,
            x.column_stride()};
  }
  /// The terms of up to widest_panel rows of x, in `room` in the order in which x lies: rows of of(k) terms,
  /// or columns with a distance of widest_panel.
  static matrix<const f32> in(f32* room, const matrix<const T>& x, const microkernels<f32>& u) {
    const int rows = x.rows(), k = x.columns();
    if (x.column_stride() == 1) {
      for (int i = 0; i < rows; ++i) row(room + i * of(k), x.row(i), k, u);
      return {room, rows, of(k), of(k), 1};
    }
    T lines[std::size_t{per_term}][widest_panel<f32>]{};
    const auto column = [&](int p) -> const T* {
      T* const line = lines[p % per_term];
      if (p < k && x.row_stride() == 1) return &x(0, p);
      for (int i = 0; i < rows; ++i) line[i] = p < k ? x(i, p) : T{};
      return line;
    };
    for (int p = 0; p < k; p += per_term) {
      f32* const to = room + p / per_term * widest_panel<f32>;
      if constexpr (per_term == 1) widen(to, column(p), rows, u);
      else
        vector_code<detail::pairs_loop, u32*, const bf16*, const bf16*, i64>::with(u.lanes)(
            reinterpret_cast<u32*>(to), column(p), column(p + 1), rows);
    }
    return {room, rows, of(k), 1, widest_panel<f32>};
  }
  /// The terms of any number of rows of x, in `room` as rows of of(k) terms.
  static matrix<const f32> by_rows(f32* room, const matrix<const T>& x, const microkernels<f32>& u) {
    alignas(64) f32 across[std::size_t{deepest} * widest_panel<f32>];
    const int k = of(x.columns());
    for (int i = 0; i < x.rows(); i += widest_panel<f32>) {
      const matrix<const T> some = x.part(i, 0, std::min(widest_panel<f32>, x.rows() - i), x.columns());
      if (x.column_stride() == 1) in(room + i * k, some, u);
      else pack(u, room + i * k, k, in(across, some, u));
    }
    return {room, x.rows(), k};
  }

 private:
  static void row(f32* to, const T* from, int k, const microkernels<f32>& u) {
    if constexpr (per_term == 1) widen(to, from, k, u);
    else {
      to[of(k) - 1] = 0;  // the second of a last pair may be missing
      std::memcpy(to, from, static_cast<std::size_t>(k) * sizeof(T));
    }
  }
  static void widen(f32* to, const T* from, int n, const microkernels<f32>& u) {
    conversion_with<f32, T>(u.lanes, false)(to, from, n);
  }
};

/// A copy of a part of C that is narrower than a block, padded to the width of one; or room for it, if the
/// block sets it.
template <class T>
class padded_block {
 public:
  padded_block(const matrix<T>& c, int width, bool sets) : c_(c), width_(width) {
    if (sets) return;
    copy(here(), c);
    for (int i = 0; i < c.rows(); ++i)
      for (int j = c.columns(); j < width; ++j) numbers_[i * width + j] = 0;
  }
  T* numbers() { return numbers_; }
  void store() { copy(c_, here()); }

 private:
  matrix<T> here() { return {numbers_, c_.rows(), c_.columns(), width_, 1}; }

  alignas(64) T numbers_[max_rows * widest_panel<T>];
  matrix<T> c_;
  int width_;
};

/// The memory of the strip of B that is multiplied next: lines that lie apart, which a processor does not
/// guess.
struct next_strip {
  const char* first = nullptr;
  i64 apart = 0;  ///< bytes from line to line
  int lines = 0, bytes = 0;

  next_strip() = default;
  template <class T>
  explicit next_strip(const matrix<const T>& b) : first(reinterpret_cast<const char*>(b.first())) {
    const bool by_rows = b.column_stride() == 1;
    if (!by_rows && b.row_stride() != 1) return;
    apart = (by_rows ? b.row_stride() : b.column_stride()) * i64{sizeof(T)};
    lines = by_rows ? b.rows() : b.columns();
    bytes = (by_rows ? b.columns() : b.rows()) * int{sizeof(T)};
  }
  /// Prefetches part n of `parts`.
  void prefetch(int n, int parts) const {
    for (i64 i = i64{lines} * n / parts; i < i64{lines} * (n + 1) / parts; ++i)
      for (int at = 0; at < bytes + 63; at += 64)
        __builtin_prefetch(first + i * apart + std::min(at, bytes - 1), 0, 2);
  }
};

/// C += A B where B is as wide as a block, and its rows have at least `width` contiguous numbers. The rows
/// of C are divided evenly, so that no block is much smaller than the others. If there is a `next`, it is
/// the B of the next call, and it is prefetched together with the next rows of A; so is the strip `after`.
template <class T>
void multiply_panel(const microkernels<T>& u, const matrix<T>& c, const matrix<const T>& a, const T* b,
                    i64 b_row, int width, bool sets, const T* next = nullptr, const next_strip& after = {}) {
  const int vectors = width / u.lanes, most = u.rows[vectors - 1], blocks = (c.rows() + most - 1) / most;
  const bool whole = c.columns() == width && c.column_stride() == 1;
  for (int n = 0, i = 0; n < blocks; ++n) {
    const int even = static_cast<int>(i64{c.rows()} * (n + 1) / blocks),
              end = std::min(c.rows(), (even + u.whole_rows - 1) / u.whole_rows * u.whole_rows),
              rows = end - i;
    after.prefetch(n, blocks);
    block<T> x{&a(i, 0), a.row_stride(), a.column_stride(), b,    b_row,
               c.row(i), c.row_stride(), a.columns(),       sets, {{b, 0}, {b, 0}}};
    if (next) x.next[0] = {next + i64{a.columns()} * n / blocks * b_row, (b_row + blocks - 1) / blocks};
    if (next && end < c.rows())
      x.next[1] = {&a(end, 0), (rows * a.row_stride() + a.columns() - 1) / a.columns()};
    if (whole) {
      u.multiply[rows - 1][vectors - 1](x);
    } else {
      padded_block e(c.part(i, 0, rows, c.columns()), width, sets);
      x.c = e.numbers(), x.c_row = width;
      u.multiply[rows - 1][vectors - 1](x);
      e.store();
    }
    i = end;
  }
}

/// C += A B of terms, where B is not deeper than depth_of(u) and not wider than `width`. B is packed if that
/// pays.
template <class T>
void multiply_strip(const microkernels<T>& u, const matrix<T>& c, const matrix<const T>& a,
                    const matrix<const T>& b, int width, bool sets, const next_strip& after) {
  if (b.column_stride() == 1 && b.columns() == width &&
      (b.row_stride() == width || c.rows() <= 5 * u.rows[width / u.lanes - 1]))
    return multiply_panel(u, c, a, b.first(), b.row_stride(), width, sets, {}, after);
  alignas(64) T panel[deepest * widest_panel<T>];
  pack(u, panel, width, b);
  multiply_panel(u, c, a, panel, width, width, sets, {}, after);
}

/// C += A B for the terms of some rows of A, and for as many rows of a B that need not lie as terms.
template <int per_term, class B, class T>
void multiply_strips(const microkernels<T>& u, const matrix<T>& c, const matrix<const T>& a,
                     const matrix<const B>& b, bool sets) {
  for (int j = 0, n = 0; j < c.columns(); j += n) {
    const int left = c.columns() - j, width = u.vectors_for(left, a.column_stride() == 1) * u.lanes;
    n = left < width ? left : width;
    const matrix<T> of_c = c.part(0, j, c.rows(), n);
    const matrix<const B> of_b = b.part(0, j, b.rows(), n);
    const next_strip after =
        left > n ? next_strip(b.part(0, j + n, b.rows(), std::min(n, left - n))) : next_strip();
    if constexpr (std::is_same_v<B, T>) {
      multiply_strip(u, of_c, a, of_b, width, sets, after);
    } else {
      alignas(64) f32 room[deepest * widest_panel<f32>];
      const auto terms = terms_of<per_term, B>::in(room, of_b.transposed(), u).transposed();
      multiply_strip(u, of_c, a, terms, width, sets, after);
    }
  }
}

/// C += A B, or C = A B if `sets`, with the operands' terms made as they are needed.
template <int per_term, class A, class B, class T>
void multiply_terms(const microkernels<T>& u, const matrix<T>& c, const matrix<const A>& a,
                    const matrix<const B>& b, bool sets) {
  using terms = terms_of<per_term, A>;
  const int depth = depth_of(u);
  const auto for_each_depth = [&](int i, int rows, auto&& terms_of_a) {
    for (int p = 0; p < a.columns(); p += depth * per_term) {
      const int k = std::min(depth * per_term, a.columns() - p);
      multiply_strips<per_term>(u, c.part(i, 0, rows, c.columns()), terms_of_a(a.part(i, p, rows, k)),
                                b.part(p, 0, k, b.columns()), sets && p == 0);
    }
  };
  if (terms::are(a)) return for_each_depth(0, a.rows(), terms::view);
  if constexpr (per_term == 2 || !std::is_same_v<A, T>) {
    alignas(64) f32 room[terms_of_rows];
    const int most = terms_of_rows / depth;
    for (int i = 0; i < a.rows(); i += most)
      for_each_depth(i, std::min(most, a.rows() - i),
                     [&](const matrix<const A>& x) { return terms::by_rows(room, x, u); });
  }
}

/// C += A B, or C = A B if `sets`. `next` may be the B of the next call, of the same shape and with
/// contiguous rows. Throws std::invalid_argument if the shapes do not fit.
template <class T, class A, class B>
void product(const matrix<T>& c, const matrix<A>& a, const matrix<B>& b, bool sets, const microkernels<T>& u,
             const T* next = nullptr) {
  static_assert(
      std::is_same_v<T, sum_of<A>> && std::is_same_v<T, sum_of<B>>,
      "wsl: the sums of a product are f64 if both operands are, and f32 if both have at most 32 bits");
  if (a.columns() != b.rows() || c.rows() != a.rows() || c.columns() != b.columns())
    support::bad_argument({"a product C = A B of C ", c.shape(), ", A ", a.shape(), " and B ", b.shape(),
                           ": the shapes do not fit"});
  if (c.empty()) return;
  if (a.columns() == 0) {  // nothing to add; the operands may have no memory at all
    for (int i = 0; sets && i < c.rows(); ++i)
      for (int j = 0; j < c.columns(); ++j) c(i, j) = 0;
    return;
  }
  if constexpr (std::is_same_v<A, const T> && std::is_same_v<B, const T>) {
    const int width = u.vectors_for(b.columns()) * u.lanes;
    // B already lies as it would be packed
    if (b.columns() % width == 0 && b.columns() <= widest_panel<T> && b.column_stride() == 1 &&
        b.row_stride() == b.columns()) {
      for (int j = 0; j < b.columns(); j += width)
        multiply_panel(u, c.part(0, j, c.rows(), width), a, b.first() + j, b.row_stride(), width, sets,
                       width == b.columns() ? next : nullptr);
      return;
    }
  }
  using of_a = std::remove_const_t<A>;
  using of_b = std::remove_const_t<B>;
  if constexpr (std::is_same_v<of_a, bf16> && std::is_same_v<of_b, bf16>)
    if (u.of_pairs) {
      if (u.of_pairs->prepare) u.of_pairs->prepare();
      return multiply_terms<2, of_a, of_b>(*u.of_pairs, c, a, b, sets);
    }
  multiply_terms<1, of_a, of_b>(u, c, a, b, sets);
}

}  // namespace dense

/// C += A B. C is (m, n), A is (m, k), B is (k, n), each with any strides. Either all three have elements
/// f64, or C has f32, and A and B have f32, f16, bf16 or cb16, which are exact as f32. Each element of C
/// differs from the exact one by at most k * u * (|A| |B| + |C|), where u is 2^-24 for f32 and 2^-53 for f64.
/// Throws std::invalid_argument if the shapes do not fit.
///
/// If A and B are bf16 and the processor has AVX512-BF16, it adds the products of k and k + 1 for even k
/// together, and with AMX those of 32 k's, the even and the odd ones apart; both with roundings of their own,
/// and both take subnormal numbers for zeros and make subnormal sums zero. So the bits differ between
/// processors with and without them, by twice the error above; and by the terms with a subnormal factor and
/// 2^-126 for each term, which come on top of the error. They depend neither on how a product is cut into
/// rows and columns, nor on a cut along k at a multiple of 32.
template <class T, class A, class B>
void multiply_add(const matrix<T>& c, const matrix<A>& a, const matrix<B>& b,
                  const dense::microkernels<T>& u = dense::best_microkernels<T>()) {
  dense::product(c, a, b, false, u);
}
/// C = A B, with the shapes, the error and the exception of multiply_add; C need not be initialized.
template <class T, class A, class B>
void multiply(const matrix<T>& c, const matrix<A>& a, const matrix<B>& b,
              const dense::microkernels<T>& u = dense::best_microkernels<T>()) {
  dense::product(c, a, b, true, u);
}

/// to = from, where the rows of `to` and the columns of `from` lie together. The shapes must be equal, which
/// is not checked.
template <class T>
void copy_across(const matrix<T>& to, const matrix<const T>& from,
                 const dense::microkernels<T>& u = dense::best_microkernels<T>()) {
  if (std::min(from.rows(), from.columns()) < u.lanes) copy(to, from);
  else dense::turn_squares(u, to.first(), to.row_stride(), from);
}

}  // namespace wsl
