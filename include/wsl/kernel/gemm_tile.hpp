// SPDX-License-Identifier: MIT
// What the programs of a product C = A B on a square of PEs share: tiles that are numbers to the processor and words to the
// fabric, and how a PE adds a product of tiles to its tile of C. cannon.hpp and summa.hpp differ in how the tiles travel.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "../wsl.hpp"
#include "dense.hpp"

namespace wsl::detail {

/// What one wavelet carries of a tile: one number of four bytes, or the bits of two numbers of two bytes.
template <class T>
using gemm_word = std::conditional_t<sizeof(T) == 4, T, u32>;

/// How far apart the rows of a tile are: whole vectors, an odd number of them, so that rows do not meet in one set of a cache.
inline int gemm_stride(int columns) { return ((columns + 15) / 16 | 1) * 16; }

/// A tile of a PE, as numbers to the processor and as words to the fabric. It consists of panels, each row-major: A of one,
/// B of narrow ones, through which the innermost loop runs in one go.
template <class T>
class travelling_tile {
 public:
  using word = gemm_word<T>;

  void resize(int rows, int columns, int panel_width) {
    rows_ = rows, columns_ = columns, width_ = panel_width;
    numbers_.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(panels() * width_));  // widths are even
  }
  std::span<word> words() { return {reinterpret_cast<word*>(numbers_.data()), numbers_.size() * sizeof(T) / sizeof(word)}; }
  int panels() const { return (columns_ + width_ - 1) / width_; }
  matrix<T> panel(int n) {
    return {numbers_.data() + i64{n} * rows_ * width_, rows_, std::min(width_, columns_ - n * width_), width_, 1};
  }

  /// The elements of `whole` that tile (i, j) of a cut into such tiles has; where `whole` ends, zeros.
  void load(const matrix<const T>& whole, int i, int j) {
    const int top = i * rows_, rows = std::clamp(whole.rows() - top, 0, rows_);
    if (rows < rows_ || whole.columns() < (j + 1) * columns_) std::fill(numbers_.begin(), numbers_.end(), T{});
    for (int n = 0; n < panels(); ++n) {
      const matrix<T> to = panel(n);
      const int left = j * columns_ + n * width_, columns = std::clamp(whole.columns() - left, 0, to.columns());
      if (rows > 0 && columns > 0) copy(to.part(0, 0, rows, columns), whole.part(top, left, rows, columns));
    }
  }
  void swap(travelling_tile& other) { numbers_.swap(other.numbers_); }

 private:
  std::vector<T> numbers_;
  int rows_ = 0, columns_ = 0, width_ = 1;
};

/// What the host gives to every PE: where its matrices are.
template <class T>
struct gemm_problem {
  matrix<f32> c;
  matrix<const T> a, b;
};

/// A PE's tile of C, and where the host wants it.
class gemm_sum {
 public:
  static constexpr int panel_width = 32;  ///< of the tiles of B

  /// Tile (i, j) of a cut of the host's C into n x n tiles.
  void begin(const matrix<f32>& whole, int n, int i, int j) {
    rows_ = cut(whole.rows(), n), columns_ = cut(whole.columns(), n);
    numbers_.resize(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(gemm_stride(columns_)));
    begun_ = false;
    const int top = std::min(i * rows_, whole.rows()), left = std::min(j * columns_, whole.columns());
    result_ = whole.part(top, left, std::min(rows_, whole.rows() - top), std::min(columns_, whole.columns() - left));
  }
  /// The length of each of n parts.
  static int cut(int length, int n) { return (length + n - 1) / n; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

  template <class T>
  void add_product(travelling_tile<T>& a, travelling_tile<T>& b) {
    constexpr int some = 112;  // rows of A stay in the second cache while the panels of B pass
    const matrix<const T> left = a.panel(0);
    for (int i = 0; i < rows_; i += some)
      for (int p = 0; p < b.panels(); ++p) {
        const matrix<const T> right = b.panel(p);
        const int rows = std::min(some, rows_ - i);
        const matrix<f32> c = numbers().part(i, p * panel_width, rows, right.columns());
        if (begun_) multiply_add(c, left.part(i, 0, rows, left.columns()), right);
        else multiply(c, left.part(i, 0, rows, left.columns()), right);
      }
    begun_ = true;
  }
  void store() { copy(result_, numbers().part(0, 0, result_.rows(), result_.columns())); }

 private:
  matrix<f32> numbers() { return {numbers_.data(), rows_, columns_, gemm_stride(columns_), 1}; }

  std::vector<f32> numbers_;
  int rows_ = 0, columns_ = 0;
  bool begun_ = false;
  matrix<f32> result_{nullptr, 0, 0};
};

}  // namespace wsl::detail
