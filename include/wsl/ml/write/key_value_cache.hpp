// SPDX-License-Identifier: MIT
// The keys and values of a text that a column of a writer keeps for its heads, and attention over them: a new
// token attends to all tokens before it, of which nothing is computed again. See writer.hpp.
#pragma once
#include "../../linalg/row_products.hpp"
#include "../op/attention.hpp"
#include "../op/softmax.hpp"
#include "token_block.hpp"

namespace wsl::ml {

class key_value_cache {
 public:
  /// Makes room for `capacity` tokens; what was there is lost.
  void resize(int layers, int groups, int width, int capacity) {
    groups_ = groups, width_ = width, capacity_ = capacity;
    numbers_.resize(std::size_t{2} * static_cast<std::size_t>(layers) * static_cast<std::size_t>(groups) *
                    static_cast<std::size_t>(capacity) * static_cast<std::size_t>(width));
  }
  /// Of one layer and one head of keys, (capacity, width): row t is that of the token at position t.
  matrix<f32> keys(int layer, int group) { return part(layer, group, 0); }
  matrix<f32> values(int layer, int group) { return part(layer, group, 1); }

  /// The first tokens of another text, in a cache of the same shape.
  void copy_from(const key_value_cache& x, int tokens) {
    const std::size_t all = static_cast<std::size_t>(capacity_) * static_cast<std::size_t>(width_);
    for (std::size_t at = 0; at < numbers_.size(); at += all)
      std::copy_n(x.numbers_.data() + at, i64{tokens} * width_, numbers_.data() + at);
  }

 private:
  matrix<f32> part(int layer, int group, int which) {
    const i64 number = (i64{layer} * groups_ + group) * 2 + which;
    return {numbers_.data() + number * capacity_ * width_, capacity_, width_};
  }

  int groups_ = 0, width_ = 0, capacity_ = 0;
  std::vector<f32> numbers_;
};

/// Makes texts copies of others.
inline void copy_texts(std::vector<key_value_cache>& caches, std::span<const text_copy> copies) {
  for (const text_copy& c : copies)
    caches[static_cast<std::size_t>(c.to)].copy_from(caches[static_cast<std::size_t>(c.from)], c.tokens);
}

/// y[t] = the sum over the keys s that query t sees of softmax(scores of t)[s] v[s]. y and q are (queries,
/// width), with contiguous rows; the queries are those of consecutive tokens from `position` on, and keys and
/// values have at least all tokens up to the last query's. If attention is not causal, all keys are seen.
/// `as_block` as in weight_part.
inline void cached_attention(const matrix<f32>& y, const matrix<const f32>& q, const matrix<const f32>& keys,
                             const matrix<const f32>& values, int position, const scoring& how, bool as_block,
                             std::vector<f32>& room) {
  const int n = q.rows(), base = how.first_key(position),
            seen = how.end_of_keys(position + n, keys.rows()) - base;
  room.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(seen));
  const matrix<f32> scores(room.data(), n, seen);
  const matrix<const f32> k = detail::rows_of(keys, base, seen), v = detail::rows_of(values, base, seen);
  if (as_block) multiply(scores, q, k.transposed());
  else multiply_rows(scores, q, k);
  for (int t = 0; t < n; ++t) {
    const int first = how.first_key(position + t),
              count = how.end_of_keys(position + t + 1, keys.rows()) - first, begin = first - base;
    f32* const row = scores.row(t) + begin;
    f32 shift = 0, total = 0;
    detail::to_scores(row, how, position + t, first, count);
    run_vectorized<detail::exponentials_loop>(row, &shift, &total, static_cast<const f32*>(row), count);
    run_vectorized<detail::scale_row_loop>(row, 1 / total, count);
    if (as_block) {
      detail::clear_outside(scores.row(t), begin, begin + count, seen);
    } else {
      std::fill_n(y.row(t), y.columns(), 0.f);
      add_weighted_rows(y.row(t), row, detail::rows_of(v, begin, count));
    }
  }
  if (as_block) multiply(y, scores, v);
}

}  // namespace wsl::ml
