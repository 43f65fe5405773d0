// SPDX-License-Identifier: MIT
// y = x W^T + bias, with x (tokens, inputs), W (outputs, inputs) and y (tokens, outputs). A weight tile is
// some outputs with all their weights, and gives as many columns of y. With the table of an embedding as W it
// is the head of a language model. W may be sparse: then a tile is multiplied by its nonzeros, or where these
// are so many that dense products are quicker, as a dense tile with zeros.
#pragma once
#include <algorithm>
#include <vector>

#include "../../linalg/dense.hpp"
#include "../../linalg/sparse_products.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class linear_stage final : public stage {
 public:
  /// The parameters are the bias, if there is one, and W.
  linear_stage(int x, int y, bool has_bias) : x_(x), y_(y), has_bias_(has_bias) {}

  stage_cut how_cut() const override { return stage_cut::by_output; }

  void forward(activation_store& store, const weight_tile& s) const override {
    if (is_bias(s)) return set_rows(columns(store.value(y_), s), s.rows.first());
    const matrix<f32> y = columns(store.value(y_), s);
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> x = store.operand<T>(x_);
      if (by_nonzeros<T>(s, x.rows())) return multiply_sparse(y, x, *s.nonzeros, has_bias_);
      const matrix<const T> w = dense<T>(s);
      if (has_bias_) multiply_add(y, x, w.transposed());
      else multiply(y, x, w.transposed());
    });
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    if (is_bias(s)) {
      if (is_frozen(s.which)) return;
      clear(gradient);
      return add_sum_of_rows(gradient.first(), columns(store.gradient(y_), s));
    }
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> dy = columns(store.operand_of_gradient<T>(y_), s);
      if (!is_frozen(s.which)) set_gradient(gradient, dy, store.operand<T>(x_), s);
      if (!wants_gradient(store, 0)) return;
      bool overwrite = false;
      const matrix<f32> dx = store.gradient(x_, overwrite);
      if (by_nonzeros<T>(s, dy.rows())) multiply_add_sparse(dx, dy, *s.nonzeros, overwrite);
      else if (overwrite) multiply(dx, dy, dense<T>(s));
      else multiply_add(dx, dy, dense<T>(s));
    });
  }
  bool reads_operands(int which) const override { return !has_bias_ || which != 0; }
  bool prefers_columns(int which) const override { return !has_bias_ || which != 0; }
  bool takes_sparse(int which) const override { return !has_bias_ || which != 0; }
  f64 operations(int which, int rows, int columns, int) const override {
    if (which < 0) return 0;
    return has_bias_ && which == 0 ? 2. * columns : operations_of_weight(which) * rows * columns;
  }
  bool needs_weight_in_backward(int which) const override {
    return wants_gradient(0) && (!has_bias_ || which != 0);
  }

 private:
  bool is_bias(const weight_tile& s) const { return has_bias_ && s.which == 0; }
  /// The outputs to which a tile belongs.
  template <class T>
  matrix<T> columns(const matrix<T>& y, const weight_tile& s) const {
    return y.part(0, s.row, y.rows(), is_bias(s) ? s.rows.columns() : s.rows.rows());
  }
  /// Whether products with a tile pass over its nonzeros only.
  template <class T>
  static bool by_nonzeros(const weight_tile& s, int tokens) {
    return s.nonzeros && sparse_is_quicker<T>(*s.nonzeros, tokens);
  }
  /// The tile with its zeros. It stays until the thread asks for another one.
  template <class T>
  static matrix<const T> dense(const weight_tile& s) {
    if (!s.nonzeros) return s.as<T>();
    static thread_local std::vector<T> room;
    const sparse_rows& w = *s.nonzeros;
    room.assign(static_cast<std::size_t>(w.rows) * static_cast<std::size_t>(w.columns), T{});
    each_nonzero(w, [&](std::size_t at, u32 k) { room[at] = static_cast<T>(w.value[k]); });
    return {room.data(), w.rows, w.columns};
  }
  template <class T>
  static void set_gradient(const matrix<f32>& gradient, const matrix<const T>& dy, const matrix<const T>& x,
                           const weight_tile& s) {
    if (!s.nonzeros || s.dense_gradient) return multiply(gradient, dy.transposed(), x);
    const sparse_rows& w = *s.nonzeros;
    if (by_nonzeros<T>(s, x.rows())) return sampled_product(gradient.first(), dy, x, w);
    static thread_local std::vector<f32> room;
    room.resize(static_cast<std::size_t>(w.rows) * static_cast<std::size_t>(w.columns));
    multiply(matrix(room.data(), w.rows, w.columns), dy.transposed(), x);
    each_nonzero(w, [&](std::size_t at, u32 k) { gradient.first()[k] = room[at]; });
  }
  /// Calls f(index in a row-major tile, number) for each nonzero.
  template <class F>
  static void each_nonzero(const sparse_rows& w, F f) {
    for (int r = 0; r < w.rows; ++r)
      for (u32 k = w.first[r]; k < w.first[r + 1]; ++k)
        f(static_cast<std::size_t>(r) * static_cast<std::size_t>(w.columns) + w.column[k], k);
  }

  int x_, y_;
  bool has_bias_;
};

}  // namespace wsl::ml
