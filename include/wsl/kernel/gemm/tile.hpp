// SPDX-License-Identifier: MIT
// The common parts of the PE programs of C = A B: tiles as the processor reads them (numbers) and as the
// fabric carries them (wavelets of 32 bits), and the accumulation of a PE's tile of C. cannon.hpp, summa.hpp
// and rows.hpp differ in the routes of the tiles. The programs of squares keep their tiles in `host_tiles`,
// or in `wafer_tiles` (wafer_tiles.hpp).
#pragma once
#include <algorithm>
#include <span>
#include <utility>

#include "../../collective/broadcast.hpp"
#include "../../linalg/dense.hpp"
#include "../../support/huge_array.hpp"

namespace wsl::detail {

/// The payload of a wavelet of a tile: one number of four bytes, the bits of two numbers of two bytes, or
/// half of those of a number of eight bytes.
template <class T>
using gemm_word = std::conditional_t<sizeof(T) == 4, T, u32>;

/// The route of a step of a product, if the grid is large enough for the step. The table of the program
/// names all steps.
template <class T>
constexpr void wire_broadcast(layout& l, const broadcast<T>& step, bool taken) {
  if (taken) step.wire(l);
  else l.path(step.line(), region{}, ramp >> ramp);
}

/// The distance between rows of a tile: whole cache lines of the sums' format, and an odd number of them, so
/// that rows do not compete for one set of a cache.
template <class T>
constexpr int gemm_stride(int columns) {
  constexpr int line = 64 / int{sizeof(dense::sum_of<T>)};
  return ((columns + line - 1) / line | 1) * line;
}

/// A tile of a PE, as numbers to the processor and as words to the fabric. It consists of row-major panels:
/// A of one, B of narrow ones, through which the microkernel runs in one go.
template <class T>
class travelling_tile {
 public:
  using word = gemm_word<T>;

  void resize(int rows, int columns, int panel_width) {
    rows_ = rows, columns_ = columns, width_ = panel_width;
    const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(panels() * width_) *
                              sizeof(T) / sizeof(word);  // widths are even
    if (count != words_.size()) words_ = support::huge_array(count);
  }
  std::span<word> words() { return {reinterpret_cast<word*>(words_.data()), words_.size()}; }
  int rows() const { return rows_; }
  int panels() const { return (columns_ + width_ - 1) / width_; }
  matrix<T> panel(int n) {
    return {numbers() + i64{n} * rows_ * width_, rows_, std::min(width_, columns_ - n * width_), width_, 1};
  }

  /// Loads tile (i, j) of `whole`, padded with zeros beyond its end.
  void load(const matrix<const T>& whole, int i, int j) {
    const int top = i * rows_, rows = std::clamp(whole.rows() - top, 0, rows_);
    if (rows < rows_ || whole.columns() < (j + 1) * columns_)
      std::fill_n(reinterpret_cast<u8*>(words_.data()), words_.size() * sizeof(word), u8{});
    constexpr int some = 32;  // rows at a time, so that the pages of `whole` are visited once
    for (int from = 0; from < rows; from += some)
      for (int n = 0; n < panels(); ++n) {
        const matrix<T> to = panel(n);
        const int left = j * columns_ + n * width_, columns = std::min(whole.columns() - left, to.columns()),
                  height = std::min(some, rows - from);
        if (columns > 0)
          copy(to.part(from, 0, height, columns), whole.part(top + from, left, height, columns));
      }
  }
  void swap(travelling_tile& other) { std::swap(words_, other.words_); }

 private:
  T* numbers() { return reinterpret_cast<T*>(words_.data()); }

  support::huge_array words_;  // the tile, rounded up to whole words
  int rows_ = 0, columns_ = 0, width_ = 1;
};

/// The arguments of a launch: the matrices of the host, and the factors of C = alpha A B + beta C.
template <class T>
struct gemm_problem {
  using sum = dense::sum_of<T>;

  matrix<sum> c;
  matrix<const T> a, b;
  sum alpha = 1, beta = 0;
};

/// A PE's tile of C, of f32 or f64, which it sums in the memory of the host's matrix; in memory of its own if
/// both factors count.
template <class Number>
class gemm_sum {
 public:
  static constexpr int panel_width = dense::widest_panel<Number>;  ///< columns of a panel of a tile of B
  /// rows of A that stay in the second cache while the panels of B pass
  static constexpr int rows_at_once = 432 / int{sizeof(Number)};

  /// The tile at `place` if the host's C is divided into cuts.x by cuts.y tiles.
  template <class T>
  void begin(const gemm_problem<T>& p, coord cuts, coord place) {
    const matrix<Number>& whole = p.c;
    rows_ = cut(whole.rows(), cuts.y), columns_ = cut(whole.columns(), cuts.x);
    alpha_ = p.alpha, beta_ = p.beta;
    at_ = {std::min(place.x * columns_, whole.columns()), std::min(place.y * rows_, whole.rows())};
    tile_ = whole.part(at_.y, at_.x, std::min(rows_, whole.rows() - at_.y),
                       std::min(columns_, whole.columns() - at_.x));
    sum_ = tile_;
    begun_ = beta_ != 0 && alpha_ == 1;
    if (begun_ && beta_ != 1) each([&](Number& c, Number&) { c *= beta_; });
    if (beta_ == 0 || alpha_ == 1) return;
    const std::size_t n = static_cast<std::size_t>(tile_.rows()) * static_cast<std::size_t>(tile_.columns());
    const std::size_t words = n * sizeof(Number) / sizeof(f32);
    if (own_.size() < words) own_ = support::huge_array(words);
    sum_ = matrix<Number>(reinterpret_cast<Number*>(own_.data()), tile_.rows(), tile_.columns());
  }
  /// All products have been added.
  void finish() {
    if (alpha_ == 1) return;
    if (beta_ == 0) each([&](Number& c, Number&) { c *= alpha_; });
    else each([&](Number& c, Number& sum) { c = alpha_ * sum + beta_ * c; });
  }
  /// The length of each of n parts; the last may be shorter.
  static int cut(int length, int n) { return (length + n - 1) / n; }
  /// The same along k. The length is even for 16-bit numbers, of which neighbours are multiplied as pairs:
  /// where the parts begin then changes no bit.
  template <class T>
  static int depth(int k, int n) {
    const int length = cut(k, n);
    return sizeof(T) == 2 ? length + length % 2 : length;
  }
  int rows() const { return rows_; }  ///< the size of all tiles; the last ones of C are smaller
  int columns() const { return columns_; }
  coord at() const { return at_; }  ///< the first element of the tile in C
  const matrix<Number>& tile() const { return tile_; }

  /// Adds the product of A and the panels of `b`; `rows_of_a(from, rows)` returns some rows of A, which has
  /// at most as many columns as `b` has rows.
  template <class T, class Rows>
  void add_product(travelling_tile<T>& b, Rows rows_of_a) {
    for (int i = 0; i < tile_.rows(); i += rows_at_once) {
      const int rows = std::min(rows_at_once, tile_.rows() - i);
      const matrix<const T> left = rows_of_a(i, rows);
      for (int p = 0; p * panel_width < tile_.columns(); ++p) {
        const int columns = std::min(panel_width, tile_.columns() - p * panel_width);
        const matrix<const T> right = b.panel(p);
        const Number* next = nullptr;
        if constexpr (std::is_same_v<T, Number>) next = b.panel((p + 1) % b.panels()).first();
        dense::product(sum_.part(i, p * panel_width, rows, columns), left,
                       right.part(0, 0, left.columns(), columns), !begun_, dense::best_microkernels<Number>(),
                       next);
      }
    }
    begun_ = true;
  }
  template <class T>
  void add_product(travelling_tile<T>& a, travelling_tile<T>& b) {
    add_product(b, [&](int from, int rows) { return a.panel(0).part(from, 0, rows, b.rows()); });
  }

 private:
  /// Calls f(an element of the tile, the same one of the sum).
  template <class F>
  void each(F f) {
    for (int i = 0; i < tile_.rows(); ++i)
      if (tile_.column_stride() == 1)
        for (Number *c = tile_.row(i), *end = c + tile_.columns(), *s = sum_.row(i); c < end; ++c, ++s)
          f(*c, *s);
      else
        for (int j = 0; j < tile_.columns(); ++j) f(tile_(i, j), sum_(i, j));
  }

  int rows_ = 0, columns_ = 0;
  coord at_;
  bool begun_ = false;
  Number alpha_ = 1, beta_ = 0;
  matrix<Number> tile_{nullptr, 0, 0}, sum_{nullptr, 0, 0};
  support::huge_array own_;
};

/// The tiles of a PE of a square on this computer: as large as a cache, multiplied by the microkernels. Each
/// PE has a tile of A and one of B, and places for those that come.
template <class T>
class host_tiles {
 public:
  /// Loads the tiles of a square of n x n PEs whose columns and rows these are.
  void load(const gemm_problem<T>& p, int n, coord of_c, coord of_a, coord of_b) {
    const int depth = sum_.template depth<T>(p.a.columns(), n);
    sum_.begin(p, {n, n}, of_c);
    for (travelling_tile<T>* t : {&a_, &next_a_}) t->resize(sum_.rows(), depth, gemm_stride<T>(depth));
    for (travelling_tile<T>* t : {&b_, &next_b_}) t->resize(depth, sum_.columns(), sum_.panel_width);
    a_.load(p.a, of_a.y, of_a.x);
    b_.load(p.b, of_b.y, of_b.x);
  }
  auto a() { return mem(a_.words()); }
  auto b() { return mem(b_.words()); }
  auto next_a() { return mem(next_a_.words()); }
  auto next_b() { return mem(next_b_.words()); }
  /// The tiles that have come take the place of the others.
  void advance() { a_.swap(next_a_), b_.swap(next_b_); }
  void finish() { sum_.finish(); }
  const auto& sum() const { return sum_; }
  /// C += A B, of each the PE's own tile or the one that has come.
  void add_product(bool own_a = true, bool own_b = true) {
    sum_.add_product(own_a ? a_ : next_a_, own_b ? b_ : next_b_);
  }

 private:
  travelling_tile<T> a_, b_, next_a_, next_b_;
  gemm_sum<dense::sum_of<T>> sum_;
};

}  // namespace wsl::detail
