// SPDX-License-Identifier: MIT
// Products of a large matrix and few vectors, whose time is that of reading the matrix once:
//   multiply_rows(y, x, w)        y = x W^T for the rows of x, a few tokens, and the weights W of a layer
//   add_weighted_rows(y, s, v)    y += s V, a weighted sum of the rows of V
// Rows of W are f32 or bf16, which is widened in registers, so that bf16 takes half the time. Every element
// of a product is summed in the same parts whatever the processor's vectors and however many rows x has, so a
// token's numbers do not depend on the tokens beside it. For many rows of x dense.hpp is quicker.
// `scripts/bench generate` compares a language model that writes with the memory's bandwidth.
#pragma once
#include "../core/half.hpp"
#include "matrix.hpp"
#include "vector_code.hpp"

namespace wsl {
namespace dense {

/// Some rows of a matrix in memory and the vectors to multiply them with.
template <class T>
struct rows_and_vectors {
  const T* w;  ///< row r begins at w + r * w_row
  i64 w_row;
  int rows, width;
  const f32* x;  ///< vector t begins at x + t * x_row
  i64 x_row;
  int vectors;
  f32* y;  ///< the product of row r and vector t is y[t * y_row + r]
  i64 y_row;
};

template <class T>
struct row_product_loop {
  template <int>
  [[gnu::always_inline]] static inline void run(const rows_and_vectors<T>& a) {
    for (int r = 0; r < a.rows; ++r) {
      int t = 0;
      for (; t + 2 <= a.vectors; t += 2) row<2>(a, r, t);
      for (; t < a.vectors; ++t) row<1>(a, r, t);
    }
  }

 private:
  static constexpr int parts = 16, sums = 4;  // numbers of a sum; sums that grow side by side

  template <int vectors>
  [[gnu::always_inline]] static inline void row(const rows_and_vectors<T>& a, int r, int t) {
    vec<parts> sum[std::size_t{vectors}][sums] = {};
    const T* const w = a.w + r * a.w_row;
    const f32* const x = a.x + t * a.x_row;
    int c = 0;
    for (; c + sums * parts <= a.width; c += sums * parts)
      for (int i = 0; i < sums; ++i) {
        const int at = c + i * parts;
        vec<parts> some;
        load(some, w + at);
        for (int v = 0; v < vectors; ++v) sum[v][i] += some * vec_at<parts>(x + v * a.x_row + at);
      }
    for (; c < a.width; c += parts) {  // the last few, beside zeros
      const int n = a.width - c < parts ? a.width - c : parts;
      f32 some[parts] = {}, of_x[parts] = {};
      for (int i = 0; i < n; ++i) some[i] = static_cast<f32>(w[c + i]);
      for (int v = 0; v < vectors; ++v) {
        for (int i = 0; i < n; ++i) of_x[i] = x[v * a.x_row + c + i];
        sum[v][0] += vec_at<parts>(some) * vec_at<parts>(of_x);
      }
    }
    for (int v = 0; v < vectors; ++v) {
      vec<parts>& all = sum[v][0];
      all += sum[v][1];
      sum[v][2] += sum[v][3];
      all += sum[v][2];
      fold<parts / 2>(all);
      a.y[(t + v) * a.y_row + r] = all[0];
    }
  }
  template <int half>
  [[gnu::always_inline]] static inline void fold(vec<parts>& x) {
    vec<parts> other;
    slide_by<half>(other, x);
    x += other;
    if constexpr (half > 1) fold<half / 2>(x);
  }
  template <int n>
  [[gnu::always_inline]] static inline void slide_by(vec<parts>& out, const vec<parts>& x) {
    [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
      out = __builtin_shufflevector(x, x, (i + n)...);
    }(std::make_integer_sequence<int, parts>{});
  }
  [[gnu::always_inline]] static inline void load(vec<parts>& to, const f32* from) {
    to = vec_at<parts>(from);
  }
  [[gnu::always_inline]] static inline void load(vec<parts>& to, const bf16* from) {
    typedef u16 halves __attribute__((vector_size(2 * parts), aligned(2), may_alias));
    typedef u32 words __attribute__((vector_size(4 * parts)));
    const words wide = __builtin_convertvector(*reinterpret_cast<const halves*>(from), words) << 16;
    __builtin_memcpy(&to, &wide, sizeof to);
  }
};

/// y[c] += sum over r of s[r] v[r][c], in the order of r.
struct weighted_rows_loop {
  template <int>
  [[gnu::always_inline]] static inline void run(f32* y, const f32* s, const f32* v, i64 v_row, int rows,
                                                int width) {
    int c = 0;
    for (; c + 4 * parts <= width; c += 4 * parts) block<4>(y + c, s, v + c, v_row, rows);
    for (; c + parts <= width; c += parts) block<1>(y + c, s, v + c, v_row, rows);
    for (; c < width; ++c)
      for (int r = 0; r < rows; ++r) y[c] += s[r] * v[r * v_row + c];
  }

 private:
  static constexpr int parts = 16;

  template <int vectors>
  [[gnu::always_inline]] static inline void block(f32* y, const f32* s, const f32* v, i64 v_row, int rows) {
    vec<parts> sum[std::size_t{vectors}];
    for (int k = 0; k < vectors; ++k) sum[k] = vec_at<parts>(y + k * parts);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < vectors; ++k) sum[k] += s[r] * vec_at<parts>(v + r * v_row + k * parts);
    for (int k = 0; k < vectors; ++k) vec_at<parts>(y + k * parts) = sum[k];
  }
};

}  // namespace dense

/// y = x W^T with y (n, outputs), x (n, inputs) and W (outputs, inputs) of f32 or bf16. The rows of all three
/// are contiguous; their distances may be any. Throws std::invalid_argument if the shapes do not fit.
template <class T>
void multiply_rows(const matrix<f32>& y, const matrix<const f32>& x, const matrix<const T>& w) {
  if (x.columns() != w.columns() || y.rows() != x.rows() || y.columns() != w.rows())
    support::bad_argument({"a product y = x W^T of y ", y.shape(), ", x ", x.shape(), " and W ", w.shape(),
                           ": the shapes do not fit"});
  static const auto best = vector_code<dense::row_product_loop<T>, const dense::rows_and_vectors<T>&>::best();
  best({w.first(), w.row_stride(), w.rows(), w.columns(), x.first(), x.row_stride(), x.rows(), y.first(),
        y.row_stride()});
}

/// y += s V: y has as many numbers as V (rows, width) has columns, s as many as it has rows, which are
/// contiguous.
inline void add_weighted_rows(f32* y, const f32* s, const matrix<const f32>& v) {
  static const auto best =
      vector_code<dense::weighted_rows_loop, f32*, const f32*, const f32*, i64, int, int>::best();
  best(y, s, v.first(), v.row_stride(), v.rows(), v.columns());
}

}  // namespace wsl
