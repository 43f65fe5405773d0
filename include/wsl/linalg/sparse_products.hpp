// SPDX-License-Identifier: MIT
// Products of a sparse matrix W (outputs, inputs) and dense matrices of many tokens, as a PE computes them
// with a tile of sparse weights:
//   multiply_sparse(y, x, w)        y = x W^T
//   multiply_add_sparse(dx, dy, w)  dx += dy W
//   sampled_product(dw, dy, x, w)   dw = dy^T x, at the places of W's nonzeros only
// Tokens are taken in blocks, and features in panels, which are turned over so that the numbers that a
// nonzero meets, those of one feature of all tokens of a block, are some whole vectors that stay in the
// nearest cache: a nonzero is one broadcast number times these. The work is that of the nonzeros; where most
// numbers of W are not zero, dense.hpp is quicker (`sparse_is_quicker`). `scripts/bench sparse` compares the
// two.
//
// Every element of y and dx is summed over the nonzeros in ascending order, and every dw over the tokens in
// sixteen parts that are added up block by block, so no bit depends on how W is cut into rows, nor y and dx
// on how the tokens are cut.
#pragma once
#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/half.hpp"
#include "../support/bad_argument.hpp"
#include "convert.hpp"
#include "matrix.hpp"
#include "microkernels.hpp"
#include "sparse_rows.hpp"
#include "vector_code.hpp"

namespace wsl {

namespace sparse {

/// Tokens of a block, features of a panel.
inline constexpr int block_tokens = 64, panel_features = 128;
/// The parts in which an inner product is summed, which is one vector of the widest.
inline constexpr int parts = widest_lanes;

/// The operands of an inner loop: the rows of W, and a panel of its columns for a block of tokens.
struct panel {
  const sparse_rows& w;
  u32* next;      ///< (rows): the first nonzero of each row that has not been passed; those of the panel are
  int from, end;  ///< the columns of the panel
  f32* of_columns;    ///< (columns of the panel, tokens)
  f32* of_rows;       ///< (rows, tokens)
  f32* at = nullptr;  ///< (count): what is computed at each place
  bool sets = false;  ///< `at` is set; otherwise added to
};

/// The vectors of a block's tokens.
inline constexpr int vectors = block_tokens / parts;

/// Calls f(y, each) for every row of W with nonzeros in the panel, where y are the row's numbers, and
/// each(g) calls g(k, x) for these nonzeros k, where x are the numbers of k's column. Passes them.
template <class F>
[[gnu::always_inline]] inline void each_row(const panel& p, F f) {
  const u16* const column = p.w.column;
  f32* const x = p.of_columns;
  const i64 from = p.from;
  for (int r = 0; r < p.w.rows; ++r) {
    u32 k = p.next[r];
    const u32 end = p.w.first[r + 1];
    if (k == end || column[k] >= p.end) continue;
    f(p.of_rows + i64{r} * block_tokens, [&](auto g) __attribute__((always_inline)) {
      do g(k, x + (column[k] - from) * block_tokens);
      while (++k < end && column[k] < p.end);
    });
    p.next[r] = k;
  }
}

/// of_rows += W of_columns.
struct gather_loop {
  template <int>
  [[gnu::always_inline]] static inline void run(const panel& p) {
    const f32* const value = p.w.value;
    each_row(p, [&](f32* y, auto each) __attribute__((always_inline)) {
      vec<parts> sum[vectors];
      for (int i = 0; i < vectors; ++i) sum[i] = vec_at<parts>(y + i * parts);
      each([&](u32 k, const f32* x) __attribute__((always_inline)) {
        const f32 w = value[k];
        for (int i = 0; i < vectors; ++i) sum[i] += w * vec_at<parts>(x + i * parts);
      });
      for (int i = 0; i < vectors; ++i) vec_at<parts>(y + i * parts) = sum[i];
    });
  }
};

/// of_columns += W^T of_rows.
struct scatter_loop {
  template <int>
  [[gnu::always_inline]] static inline void run(const panel& p) {
    const f32* const value = p.w.value;
    each_row(p, [&](const f32* y, auto each) __attribute__((always_inline)) {
      vec<parts> of_row[vectors];
      for (int i = 0; i < vectors; ++i) of_row[i] = vec_at<parts>(y + i * parts);
      each([&](u32 k, f32* x) __attribute__((always_inline)) {
        const f32 w = value[k];
        for (int i = 0; i < vectors; ++i) vec_at<parts>(x + i * parts) += w * of_row[i];
      });
    });
  }
};

/// at[k] (+)= the inner product of a row and a column, for each nonzero k of the panel.
struct sample_loop {
  template <int>
  [[gnu::always_inline]] static inline void run(const panel& p) {
    vec<parts> waiting[parts];  // sums that are not folded yet, and their places
    u32 of[parts];
    int count = 0;
    each_row(p, [&](const f32* y, auto each) __attribute__((always_inline)) {
      vec<parts> of_row[vectors];
      for (int i = 0; i < vectors; ++i) of_row[i] = vec_at<parts>(y + i * parts);
      each([&](u32 k, const f32* x) __attribute__((always_inline)) {
        vec<parts> sum = of_row[0] * vec_at<parts>(x);
        for (int i = 1; i < vectors; ++i) sum += of_row[i] * vec_at<parts>(x + i * parts);
        waiting[count] = sum, of[count] = k;
        if (++count == parts) store(p, waiting, of, std::exchange(count, 0));
      });
    });
    for (int i = count; i < parts; ++i) waiting[i] = vec<parts>{};
    store(p, waiting, of, count);
  }

 private:
  [[gnu::always_inline]] static inline void store(const panel& p, vec<parts>* waiting, const u32* of,
                                                  int count) {
    fold<parts>(waiting);
    for (int i = 0; i < count; ++i) {
      const f32 sum = waiting[0][i];
      p.at[of[i]] = p.sets ? sum : p.at[of[i]] + sum;
    }
  }
  /// x[0][i] = the sum of the numbers of x[i]: those of two vectors are added in halves side by side.
  template <int n>
  [[gnu::always_inline]] static inline void fold(vec<parts>* x) {
    if constexpr (n > 1) {
      for (int i = 0; i < n / 2; ++i) {
        vec<parts> low, high;
        [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
          // Each vector holds parts / n sums of n numbers so far, number j of sum s at s + j * (parts / n).
          low = __builtin_shufflevector(x[2 * i], x[2 * i + 1], place(l, n, 0)...);
          high = __builtin_shufflevector(x[2 * i], x[2 * i + 1], place(l, n, 1)...);
        }(std::make_integer_sequence<int, parts>{});
        x[i] = low + high;
      }
      fold<n / 2>(x);
    }
  }
  /// Where lane l of the new vector comes from: it has twice as many sums of half as many numbers. The sums
  /// of the first vector are followed by those of the second.
  static constexpr int place(int l, int n, int upper) {
    const int sums = parts / n, from_second = l % (2 * sums) / sums, s = l % sums, j = l / (2 * sums);
    return from_second * parts + s + (j + upper * n / 2) * sums;
  }
};

/// to (columns of from, rows of from) = the transposed of `from`, of any element, with rows of both
/// contiguous.
class turner {
 public:
  template <class T>
  void operator()(f32* to, i64 to_row, const matrix<const T>& from) {
    if constexpr (std::is_same_v<T, f32>) turn(to, to_row, from);
    else {
      wide_.resize(static_cast<std::size_t>(from.rows()) * static_cast<std::size_t>(from.columns()));
      for (int i = 0; i < from.rows(); ++i)
        convert(wide_.data() + i64{i} * from.columns(), from.row(i), from.columns());
      turn(to, to_row, {wide_.data(), from.rows(), from.columns()});
    }
  }

 private:
  void turn(f32* to, i64 to_row, const matrix<const f32>& from) {
    const dense::microkernels<f32>& u = dense::best_microkernels<f32>();
    const int rows = from.rows() / u.lanes * u.lanes, columns = from.columns() / u.lanes * u.lanes;
    for (int j = 0; j < columns; j += u.lanes)
      for (int i = 0; i < rows; i += u.lanes)
        u.transpose({&from(i, j), from.row_stride(), to + j * to_row + i, to_row});
    for (int i = 0; i < from.rows(); ++i)
      for (int j = i < rows ? columns : 0; j < from.columns(); ++j) to[j * to_row + i] = from(i, j);
  }

  std::vector<f32> wide_;
};

/// The memory of a product, which a thread keeps from one to the next.
struct workspace {
  alignas(64) f32 columns[panel_features * block_tokens];
  std::vector<f32> rows;
  std::vector<u32> next;
  turner turn;

  static workspace& of_thread() {
    static thread_local workspace w;
    return w;
  }
};

/// Calls f(first token, their number) for blocks of tokens.
template <class F>
void each_block(int tokens, F f) {
  for (int t = 0; t < tokens; t += block_tokens) f(t, std::min(block_tokens, tokens - t));
}
/// Calls f(first column, end) for the panels of a block.
template <class F>
void each_panel(const sparse_rows& w, workspace& room, F f) {
  room.next.assign(w.first, w.first + w.rows);
  for (int c = 0; c < w.columns; c += panel_features) f(c, std::min(w.columns, c + panel_features));
}

inline void require_shapes(const char* product, bool fit, const std::string& y, const std::string& x,
                           const sparse_rows& w) {
  if (!fit || w.columns > most_sparse_columns)
    support::bad_argument({"a product ", product, " of ", y, ", ", x, " and a sparse W of (", w.rows, ", ",
                           w.columns, "): the shapes do not fit"});
}

}  // namespace sparse

/// Whether the three products with sparse rows are quicker than those of dense.hpp with the same rows and
/// their zeros, where the operands are T. The last block of tokens costs as much as a whole one.
template <class T>
bool sparse_is_quicker(const sparse_rows& w, int tokens) {
  const dense::microkernels<f32>& u = dense::best_microkernels<f32>();
  // Pairs of bf16 are multiplied at twice the rate of f32, and in tile registers at eight times that.
  const f64 dense_cost = !std::is_same_v<T, bf16> || !u.of_pairs ? 1 : u.of_pairs->prepare ? 1. / 16 : 1. / 2;
  const int blocks = (tokens + sparse::block_tokens - 1) / sparse::block_tokens;
  return numbers_in_time_of_nonzero * w.density() * blocks * sparse::block_tokens < dense_cost * tokens;
}

/// y = x W^T, or y += x W^T, with y (tokens, rows of W), x (tokens, columns of W). The rows of y and x are
/// contiguous. Numbers of 16 bits are exact as f32. Throws std::invalid_argument if the shapes do not fit.
template <class T>
void multiply_sparse(const matrix<f32>& y, const matrix<const T>& x, const sparse_rows& w,
                     bool adds = false) {
  using namespace sparse;
  require_shapes("y = x W^T", x.columns() == w.columns && y.rows() == x.rows() && y.columns() == w.rows,
                 y.shape(), x.shape(), w);
  static const auto loop = vector_code<gather_loop, const panel&>::best();
  workspace& room = workspace::of_thread();
  room.rows.resize(static_cast<std::size_t>(w.rows) * block_tokens);
  each_block(x.rows(), [&](int t, int tokens) {
    const matrix<f32> of_block = y.part(t, 0, tokens, w.rows);
    if (adds) room.turn(room.rows.data(), block_tokens, matrix<const f32>(of_block));
    else std::fill(room.rows.begin(), room.rows.end(), 0.f);
    each_panel(w, room, [&](int from, int end) {
      room.turn(room.columns, block_tokens, x.part(t, from, tokens, end - from));
      loop({w, room.next.data(), from, end, room.columns, room.rows.data()});
    });
    room.turn(of_block.first(), of_block.row_stride(),
              matrix<const f32>(room.rows.data(), w.rows, tokens, block_tokens, 1));
  });
}

/// dx += dy W, or dx = dy W, with dx (tokens, columns of W), dy (tokens, rows of W), as multiply_sparse.
template <class T>
void multiply_add_sparse(const matrix<f32>& dx, const matrix<const T>& dy, const sparse_rows& w,
                         bool sets = false) {
  using namespace sparse;
  require_shapes("dx = dy W", dx.columns() == w.columns && dx.rows() == dy.rows() && dy.columns() == w.rows,
                 dx.shape(), dy.shape(), w);
  static const auto loop = vector_code<scatter_loop, const panel&>::best();
  workspace& room = workspace::of_thread();
  room.rows.resize(static_cast<std::size_t>(w.rows) * block_tokens);
  each_block(dx.rows(), [&](int t, int tokens) {
    room.turn(room.rows.data(), block_tokens, dy.part(t, 0, tokens, w.rows));
    each_panel(w, room, [&](int from, int end) {
      const matrix<f32> of_panel = dx.part(t, from, tokens, end - from);
      if (sets) std::fill_n(room.columns, (end - from) * block_tokens, 0.f);
      else room.turn(room.columns, block_tokens, matrix<const f32>(of_panel));
      loop({w, room.next.data(), from, end, room.columns, room.rows.data()});
      room.turn(of_panel.first(), of_panel.row_stride(),
                matrix<const f32>(room.columns, end - from, tokens, block_tokens, 1));
    });
  });
}

/// dw[k] = the element of dy^T x at the place of nonzero k, with dy (tokens, rows of W), x (tokens, columns
/// of W) and dw (count). The values of W are not read.
template <class T>
void sampled_product(f32* dw, const matrix<const T>& dy, const matrix<const T>& x, const sparse_rows& w) {
  using namespace sparse;
  require_shapes("dW = dy^T x", x.columns() == w.columns && dy.rows() == x.rows() && dy.columns() == w.rows,
                 dy.shape(), x.shape(), w);
  static const auto loop = vector_code<sample_loop, const panel&>::best();
  workspace& room = workspace::of_thread();
  room.rows.resize(static_cast<std::size_t>(w.rows) * block_tokens);
  if (x.rows() == 0) std::fill_n(dw, w.count(), 0.f);
  each_block(x.rows(), [&](int t, int tokens) {
    // Numbers beyond the tokens count nothing.
    if (tokens < block_tokens) std::fill(room.rows.begin(), room.rows.end(), 0.f);
    room.turn(room.rows.data(), block_tokens, dy.part(t, 0, tokens, w.rows));
    each_panel(w, room, [&](int from, int end) {
      if (tokens < block_tokens) std::fill_n(room.columns, (end - from) * block_tokens, 0.f);
      room.turn(room.columns, block_tokens, x.part(t, from, tokens, end - from));
      loop({w, room.next.data(), from, end, room.columns, room.rows.data(), dw, t == 0});
    });
  });
}

}  // namespace wsl
