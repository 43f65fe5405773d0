// SPDX-License-Identifier: MIT
// Attention of one head of one sequence, on one PE: causal attention over all earlier tokens or over a
// sliding window of the last ones, or attention to all tokens, of this sequence or of another one. Queries,
// keys and values are (tokens, width), with any distance between rows. The queries may be those of a later
// part of the sequence; the keys and values begin with its first token. Only a block of 64 queries and 64
// keys has its scores at a time, never the whole sequence; for the backward pass one number of each query
// is kept, the logarithm of its sum of exponentials. After FlashAttention (arXiv 2205.14135).
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "../../linalg/dense.hpp"
#include "dropout.hpp"
#include "functions.hpp"
#include "loop.hpp"
#include "precision.hpp"

namespace wsl::ml {

/// The scores: scale * q[t] . k[s] - slope * (t - s), where t and s are positions in the sequence. Dropout
/// may drop weights. The query at position t sees itself and the window - 1 tokens before it, or all of
/// them if the window is 0; or, if attention is not causal, all keys. Where several documents are packed in a
/// sequence, it sees none of the documents before its own.
struct scoring {
  f32 scale = 1, slope = 0;
  dropout_rule drop = {};
  int window = 0;
  int first_query = 0;  ///< the position of the first query
  bool causal = true;
  const i32* in_document = nullptr;  ///< the position of each query in its document, (queries), or null
  /// The numbers added to the scores of each key, (keys), or null: 0, or `hidden` for a key that no query
  /// sees.
  const f32* of_key = nullptr;
  /// The number added to the score of the query at position t and the key at s, its element s - t, or null.
  const f32* of_distance = nullptr;

  static constexpr f32 hidden = -1e30f;

  /// The first key that the query at position t sees, and the end of those that the queries before position
  /// `end` see, if there are so many keys.
  int first_key(int t) const {
    const int of_window = window && t >= window ? t - window + 1 : 0;
    return in_document ? std::max(of_window, t - in_document[t - first_query]) : of_window;
  }
  int end_of_keys(int end, int keys) const { return causal ? std::min(end, keys) : keys; }
};

namespace detail {

inline constexpr int attention_block = 64;  // queries or keys; a block of scores is 16 kB

/// Turns products into scores: scale * s + slope * (position of the key - position of the query). The first
/// key is `after` positions after the query.
struct attention_score_loop {
  [[gnu::always_inline]] static void run(f32* s, f32 scale, f32 slope, int after, int keys) {
    if (slope == 0)
      for (int j = 0; j < keys; ++j) s[j] *= scale;
    else
      for (int j = 0; j < keys; ++j) s[j] = scale * s[j] + slope * static_cast<f32>(after + j);
  }
};
/// Turns scores into weights, w = e^(s - the largest score so far), and rescales the sums of earlier blocks
/// if the largest score has grown.
struct attention_row_loop {
  [[gnu::always_inline]] static void run(f32* s, f32* gathered, f32* largest, f32* total, int keys,
                                         int width) {
    const f32 block_largest = largest_of(keys, [s](int j) { return s[j]; });
    const f32 shift = *largest < block_largest ? block_largest : *largest,
              shrink = exponential(*largest - shift);
    for (int j = 0; j < keys; ++j) s[j] = exponential(s[j] - shift);
    *total = *total * shrink + sum_of(keys, [s](int j) { return s[j]; });
    *largest = shift;
    for (int j = 0; j < width; ++j) gathered[j] *= shrink;
  }
};
struct attention_weights_loop {
  [[gnu::always_inline]] static void run(f32* s, f32 log_sum_exp, int keys) {
    for (int j = 0; j < keys; ++j) s[j] = exponential(s[j] - log_sum_exp);
  }
};
struct attention_slope_loop {
  [[gnu::always_inline]] static void run(f32* dw, const f32* w, f32 mean, f32 scale, int keys) {
    for (int j = 0; j < keys; ++j) dw[j] = w[j] * (dw[j] - mean) * scale;
  }
};
struct dot_loop {
  [[gnu::always_inline]] static void run(f32* result, const f32* x, const f32* y, int n) {
    *result = sum_of(n, [=](int i) { return x[i] * y[i]; });
  }
};
struct add_scores_loop {
  [[gnu::always_inline]] static void run(f32* s, const f32* x, f32 factor, int n) {
    for (int j = 0; j < n; ++j) s[j] += factor * x[j];
  }
};
struct scale_row_loop {
  [[gnu::always_inline]] static void run(f32* y, f32 by, int n) {
    for (int i = 0; i < n; ++i) y[i] *= by;
  }
};

/// A block of scores: its queries and its keys. It is the first for its queries if no earlier key is seen,
/// and the last if no later one is; its keys are new if no query of an earlier block has seen them.
struct attention_part {
  int query, queries, key, keys;
  bool is_first, is_last, has_new_keys;

  /// The keys of the block, from `begin` to `end` - 1, that query number t of the block sees.
  int begin(int t, const scoring& how) const {
    return std::clamp(how.first_key(how.first_query + query + t) - key, 0, end(t, how));
  }
  int end(int t, const scoring& how) const {
    return how.causal ? std::clamp(how.first_query + query + t - key + 1, 0, keys) : keys;
  }
};
/// Calls f(part) for each block of scores that the causal mask and the window do not rule out as a whole.
template <class F>
void each_attention_block(int queries, int keys, const scoring& how, F f) {
  for (int q = 0; q < queries; q += attention_block) {
    const int position = how.first_query + q, here = std::min(attention_block, queries - q),
              first = how.first_key(position) / attention_block * attention_block,
              end = how.end_of_keys(position + here, keys);
    for (int k = first; k < end; k += attention_block)
      f(attention_part{q, here, k, std::min(attention_block, keys - k), k == first,
                       k + attention_block >= end, q == 0 || (how.causal && k >= position)});
  }
}
/// The scores of a query at position t with some keys from number `key` on, of their products.
inline void to_scores(f32* row, const scoring& how, int t, int key, int keys) {
  run_vectorized<attention_score_loop>(row, how.scale, how.slope, key - t, keys);
  if (how.of_distance) run_vectorized<add_scores_loop>(row, how.of_distance + (key - t), 1.f, keys);
  if (how.of_key) run_vectorized<add_scores_loop>(row, how.of_key + key, 1.f, keys);
}
/// Clears the scores of the keys that a query does not see.
inline void clear_outside(f32* row, int begin, int end, int keys) {
  std::fill(row, row + begin, 0.f), std::fill(row + end, row + keys, 0.f);
}

template <class T>
matrix<T> rows_of(const matrix<T>& x, int from, int count) {
  return x.part(from, 0, count, x.columns());
}

/// A block of scores as an operand of type T: itself, or a rounded copy.
template <class T>
class score_operand {
 public:
  matrix<const T> operator()(const matrix<f32>& x) {
    if constexpr (std::is_same_v<T, f32>) return x;
    else {
      convert(rounded_, static_cast<const f32*>(x.first()), i64{x.rows()} * x.columns());
      return {rounded_, x.rows(), x.columns()};
    }
  }

 private:
  alignas(64) T rounded_[std::is_same_v<T, f32> ? 1 : attention_block * attention_block];
};
inline f32 product_of_rows(const f32* x, const f32* y, int n, std::vector<f32>&) {
  f32 result = 0;
  run_vectorized<dot_loop>(&result, x, y, n);
  return result;
}
template <class T>
f32 product_of_rows(const T* x, const f32* y, int n, std::vector<f32>& room) {
  room.resize(static_cast<std::size_t>(n));
  convert(room.data(), x, n);
  return product_of_rows(room.data(), y, n, room);
}

template <class A, class B>
void set_or_add(bool overwrite, const matrix<f32>& c, const matrix<A>& a, const matrix<B>& b) {
  if (overwrite) multiply(c, a, b);
  else multiply_add(c, a, b);
}

}  // namespace detail

/// y[t] = sum over the keys s that t sees of softmax(scores of t)[s] v[s], and 0 if it sees none. log_sum_exp
/// has one element for each query; keys and values have first_query rows more than queries, or, if attention
/// is not causal, any number. Operands of 16 bits are multiplied with weights rounded to their format; all
/// else is f32.
template <class T>
void attention(const matrix<f32>& y, std::span<f32> log_sum_exp, const matrix<T>& q, const matrix<T>& k,
               const matrix<T>& v, const scoring& how) {
  using namespace detail;
  alignas(64) f32 numbers[attention_block * attention_block];
  f32 largest[attention_block], total[attention_block];
  score_operand<std::remove_const_t<T>> operand;
  each_attention_block(q.rows(), k.rows(), how, [&](const attention_part& part) {
    const auto [first, queries, from, keys, is_first, is_last, has_new_keys] = part;
    const int position = how.first_query + first;
    const matrix<f32> s(numbers, queries, keys), out = rows_of(y, first, queries);
    if (is_first) {
      std::fill_n(largest, queries, scoring::hidden), std::fill_n(total, queries, 0.f);
      for (int t = 0; t < queries; ++t) std::fill_n(out.row(t), out.columns(), 0.f);
    }
    multiply(s, rows_of(q, first, queries), rows_of(k, from, keys).transposed());
    for (int t = 0; t < queries; ++t) {
      const int begin = part.begin(t, how), seen = part.end(t, how) - begin;
      f32* const row = s.row(t) + begin;
      if (seen) {
        to_scores(row, how, position + t, from + begin, seen);
        run_vectorized<attention_row_loop>(row, out.row(t), &largest[t], &total[t], seen, out.columns());
        if (how.drop.below)
          drop(row, row, how.drop.of_row(static_cast<u64>(position + t)), from + begin, seen);
      }
      clear_outside(s.row(t), begin, begin + seen, keys);
    }
    multiply_add(out, operand(s), rows_of(v, from, keys));
    if (!is_last) return;
    for (int t = 0; t < queries; ++t) {
      const bool sees_none = largest[t] < scoring::hidden / 2;
      run_vectorized<scale_row_loop>(out.row(t), sees_none ? 0 : 1 / total[t], out.columns());
      log_sum_exp[static_cast<std::size_t>(first + t)] =
          sees_none ? -scoring::hidden : largest[t] + std::log(total[t]);
    }
  });
}

/// The gradients that are set rather than added to, because nothing has been added to them yet. Those of keys
/// that no query sees, before the window of the first, stay undefined.
struct attention_overwrites {
  bool query = false, keys = false;  ///< the gradients of keys and values
};
/// Adds the gradients through y = attention(q, k, v) to dq, dk and dv, or sets those that `overwrite` names.
/// Those of how.of_distance are added to `of_distance`, unless it is null.
template <class T>
void attention_backward(const matrix<f32>& dq, const matrix<f32>& dk, const matrix<f32>& dv,
                        const matrix<T>& dy, const matrix<const f32>& y, std::span<const f32> log_sum_exp,
                        const matrix<T>& q, const matrix<T>& k, const matrix<T>& v, const scoring& how,
                        const attention_overwrites& overwrite = {}, f32* of_distance = nullptr) {
  using namespace detail;
  alignas(64) f32 weights[attention_block * attention_block], slopes[attention_block * attention_block];
  std::vector<f32> mean(static_cast<std::size_t>(q.rows()));
  std::vector<f32> room;
  for (int t = 0; t < q.rows(); ++t)
    mean[static_cast<std::size_t>(t)] = product_of_rows(dy.row(t), y.row(t), y.columns(), room);
  score_operand<std::remove_const_t<T>> of_weights, of_slopes;
  each_attention_block(q.rows(), k.rows(), how, [&](const attention_part& part) {
    const auto [first, queries, from, keys, is_first, is_last, has_new_keys] = part;
    const int position = how.first_query + first;
    const matrix<f32> w(weights, queries, keys), dw(slopes, queries, keys);
    const auto of_q = rows_of(q, first, queries), of_k = rows_of(k, from, keys),
               of_v = rows_of(v, from, keys), of_dy = rows_of(dy, first, queries);
    multiply(w, of_q, of_k.transposed());
    multiply(dw, of_dy, of_v.transposed());
    for (int t = 0; t < queries; ++t) {
      const int begin = part.begin(t, how), seen = part.end(t, how) - begin;
      f32 *const of_w = w.row(t) + begin, *const of_dw = dw.row(t) + begin;
      const std::size_t token = static_cast<std::size_t>(first + t);
      const dropout_rule dropped = how.drop.of_row(static_cast<u64>(position + t));
      to_scores(of_w, how, position + t, from + begin, seen);
      run_vectorized<attention_weights_loop>(of_w, log_sum_exp[token], seen);
      if (how.drop.below) drop(of_dw, of_dw, dropped, from + begin, seen);
      run_vectorized<attention_slope_loop>(of_dw, static_cast<const f32*>(of_w), mean[token], how.scale,
                                           seen);
      if (of_distance)
        run_vectorized<add_scores_loop>(of_distance + (from + begin - position - t),
                                        static_cast<const f32*>(of_dw), 1 / how.scale, seen);
      if (how.drop.below) drop(of_w, of_w, dropped, from + begin, seen);
      clear_outside(w.row(t), begin, begin + seen, keys), clear_outside(dw.row(t), begin, begin + seen, keys);
    }
    const bool begins_query = overwrite.query && is_first, begins_keys = overwrite.keys && has_new_keys;
    const auto weights_of_block = of_weights(w), slopes_of_block = of_slopes(dw);
    set_or_add(begins_keys, rows_of(dv, from, keys), weights_of_block.transposed(), of_dy);
    set_or_add(begins_query, rows_of(dq, first, queries), slopes_of_block, of_k);
    set_or_add(begins_keys, rows_of(dk, from, keys), slopes_of_block.transposed(), of_q);
  });
}

}  // namespace wsl::ml
