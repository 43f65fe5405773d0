// SPDX-License-Identifier: MIT
// The three products of a layer with sparse weights beside those with the same weights and zeros, on one
// thread, in the tiles that the trainer sends.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
#include <wsl/linalg/dense.hpp>
#include <wsl/linalg/sparse_pattern.hpp>
#include <wsl/linalg/sparse_products.hpp>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/train/streaming/sparse_tile.hpp>

namespace sparse_bench {
using namespace wsl;

struct layer_shape {
  int outputs, inputs, tokens;
};

/// A layer with its activations, and the results of its products.
class layer {
 public:
  layer(const layer_shape& s, f64 zeros)
      : shape_(s), x_(numbers(s.tokens, s.inputs)), dy_(numbers(s.tokens, s.outputs)) {
    w_ = numbers(s.outputs, s.inputs);
    std::vector<f32> order(w_.size());
    for (f32& o : order) o = unit(random_);
    pattern_ = sparse_pattern::where(s.outputs, s.inputs, [&](int r, int c) {
      return order[static_cast<std::size_t>(r) * static_cast<std::size_t>(s.inputs) +
                   static_cast<std::size_t>(c)] >= zeros;
    });
    clear_elsewhere(w_, pattern_);
    values_ = nonzeros_of(pattern_, w_);
    first_.assign(pattern_.first().begin(), pattern_.first().end());
    column_.assign(pattern_.column().begin(), pattern_.column().end());
    y_.resize(dy_.size()), dx_.resize(x_.size()), dw_.resize(w_.size());
    y_sparse_ = y_, dx_sparse_ = dx_, dw_sparse_.resize(values_.size());
  }

  void forward() {
    each_tile(ml::tile_rows(pattern_.size(), shape_.outputs, 1), [&](int row, int rows) {
      multiply(y().part(0, row, shape_.tokens, rows), x(),
               w().part(row, 0, rows, shape_.inputs).transposed());
    });
  }
  void back_to_inputs() {
    each_tile(ml::tile_rows(pattern_.size(), shape_.outputs, 1), [&](int row, int rows) {
      const auto of = dy().part(0, row, shape_.tokens, rows);
      if (row == 0)
        multiply(matrix(dx_.data(), shape_.tokens, shape_.inputs), of, w().part(row, 0, rows, shape_.inputs));
      else
        multiply_add(matrix(dx_.data(), shape_.tokens, shape_.inputs), of,
                     w().part(row, 0, rows, shape_.inputs));
    });
  }
  void back_to_weights() {
    each_tile(ml::tile_rows(pattern_.size(), shape_.outputs, 1), [&](int row, int rows) {
      multiply(matrix(dw_.data(), shape_.outputs, shape_.inputs).part(row, 0, rows, shape_.inputs),
               dy().part(0, row, shape_.tokens, rows).transposed(), x());
    });
  }
  void sparse_forward() {
    each_sparse_tile([&](int row, const sparse_rows& w) {
      multiply_sparse<f32>(
          matrix(y_sparse_.data(), shape_.tokens, shape_.outputs).part(0, row, shape_.tokens, w.rows), x(),
          w);
    });
  }
  void sparse_back_to_inputs() {
    each_sparse_tile([&](int row, const sparse_rows& w) {
      multiply_add_sparse<f32>(matrix(dx_sparse_.data(), shape_.tokens, shape_.inputs),
                               dy().part(0, row, shape_.tokens, w.rows), w, row == 0);
    });
  }
  void sparse_back_to_weights() {
    each_sparse_tile([&](int row, const sparse_rows& w) {
      sampled_product<f32>(dw_sparse_.data() + w.first[0], dy().part(0, row, shape_.tokens, w.rows), x(),
                           based(w));
    });
  }
  /// Ends the program if a product differs from the dense one by more than rounding.
  void check() {
    std::vector<f32> dw = nonzeros_of(pattern_, dw_);
    compare("y", y_, y_sparse_), compare("dx", dx_, dx_sparse_), compare("dW", dw, dw_sparse_);
  }

 private:
  static f32 unit(std::mt19937& random) { return static_cast<f32>(random() >> 8) * 0x1p-24f; }
  std::vector<f32> numbers(int rows, int columns) {
    std::vector<f32> x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    for (f32& v : x) v = 2 * unit(random_) - 1;
    return x;
  }
  matrix<f32> y() { return {y_.data(), shape_.tokens, shape_.outputs}; }
  matrix<const f32> x() { return {x_.data(), shape_.tokens, shape_.inputs}; }
  matrix<const f32> dy() { return {dy_.data(), shape_.tokens, shape_.outputs}; }
  matrix<const f32> w() { return {w_.data(), shape_.outputs, shape_.inputs}; }
  template <class F>
  void each_tile(int rows, F f) {
    for (int row = 0; row < shape_.outputs; row += rows) f(row, std::min(rows, shape_.outputs - row));
  }
  /// The tiles that the trainer would send.
  template <class F>
  void each_sparse_tile(F f) {
    const ml::sparse_tile_form all{shape_.outputs, shape_.inputs, values_.size(), true};
    each_tile(ml::tile_rows(static_cast<i64>(all.words(ml::precision::f32)), shape_.outputs, 1),
              [&](int row, int n) {
                f(row, sparse_rows{n, shape_.inputs, first_.data() + row, column_.data(), values_.data()});
              });
  }
  /// The same rows, whose nonzeros count from 0.
  sparse_rows based(sparse_rows w) {
    offsets_.assign(w.first, w.first + w.rows + 1);
    for (u32& o : offsets_) o -= w.first[0];
    w.column += w.first[0], w.value += w.first[0], w.first = offsets_.data();
    return w;
  }
  static void compare(const char* what, const std::vector<f32>& dense, const std::vector<f32>& sparse) {
    f64 largest = 0, apart = 0;
    for (std::size_t i = 0; i < dense.size(); ++i)
      largest = std::max(largest, std::abs(f64{dense[i]})),
      apart = std::max(apart, std::abs(f64{dense[i]} - f64{sparse[i]}));
    if (apart <= 1e-5 * largest) return;
    std::fprintf(stderr, "%s differs by %g, where the largest is %g\n", what, apart, largest);
    std::exit(1);
  }

  layer_shape shape_;
  std::mt19937 random_{1};
  std::vector<f32> x_, dy_, w_, y_, dx_, dw_, y_sparse_, dx_sparse_, dw_sparse_, values_;
  sparse_pattern pattern_;
  std::vector<u32> first_, offsets_;
  std::vector<u16> column_;
};

}  // namespace sparse_bench
