// SPDX-License-Identifier: MIT
// Causal attention of the heads of a column of a writer: the keys and values of the tokens of a block go into
// the caches of their texts, and each token attends to what its text has there.
#pragma once
#include "../op/position.hpp"
#include "key_value_cache.hpp"
#include "layer_parts.hpp"

namespace wsl::ml {

/// The heads of a column: those of queries, and the heads of keys and values that they need.
struct own_heads {
  feature_run queries = {}, keys = {};
  int in_group = 1;                  ///< heads of queries that share one of keys
  int width = 0;                     ///< features of a head
  const rotation* rotate = nullptr;  ///< of queries and keys

  own_heads() = default;
  own_heads(feature_run q, int in_group_, int width_, const rotation* by)
      : queries(q), in_group(in_group_), width(width_), rotate(by) {
    if (queries.count == 0) return;
    const int first = queries.first / in_group;
    keys = {first, (queries.first + queries.count - 1) / in_group - first + 1};
  }
  /// The head of keys, of the column's, that head h of its queries has.
  int key_of(int h) const { return (queries.first + h) / in_group - keys.first; }
  /// The features of the queries.
  feature_run features() const { return {queries.first * width, queries.count * width}; }
};

/// Room for what is computed on the way.
struct attention_room {
  std::vector<f32> qkv, out, scores, turned;
};

struct attention_part {
  linear_part qkv = {}, projection = {};

  i64 bytes() const { return qkv.bytes() + projection.bytes(); }
  /// y = a term of what attention gives for x, the rows of a block. `scores(h)` is the scoring of a head.
  template <class Scoring>
  void operator()(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int layer,
                  const own_heads& own, std::vector<key_value_cache>& caches, attention_room& with,
                  Scoring scores) const {
    const int n = b.rows(), head = own.width, features = own.queries.count * head;
    const matrix<f32> all = room(with.qkv, n, qkv.outputs()), out = room(with.out, n, features);
    qkv(all, x, b.in_blocks());
    for (int t = 0; t < n; ++t) keep(all.row(t), b, t, layer, own, caches, with);
    const int together = b.is_prompt ? n : 1;
    for (int t = 0; t < n; t += together)
      for (int h = 0; h < own.queries.count; ++h) {
        const std::size_t row = static_cast<std::size_t>(t);
        key_value_cache& cache = caches[static_cast<std::size_t>(b.texts[row])];
        const int g = own.key_of(h);
        cached_attention(out.part(t, h * head, together, head), all.part(t, h * head, together, head),
                         cache.keys(layer, g), cache.values(layer, g), b.positions[row], scores(h),
                         b.in_blocks(), with.scores);
      }
    projection(y, out, b.in_blocks());
  }

 private:
  /// Rotates the queries of row t of a block, and puts its keys and values into the cache of its text.
  static void keep(f32* queries, const token_block& b, int t, int layer, const own_heads& own,
                   std::vector<key_value_cache>& caches, attention_room& with) {
    const std::size_t row = static_cast<std::size_t>(t);
    const int position = b.positions[row], head = own.width;
    f32 *const keys = queries + own.queries.count * head, *const values = keys + own.keys.count * head;
    key_value_cache& cache = caches[static_cast<std::size_t>(b.texts[row])];
    for (int h = 0; h < own.queries.count; ++h)
      turn(queries + h * head, queries + h * head, position, own, with.turned);
    for (int g = 0; g < own.keys.count; ++g) {
      turn(cache.keys(layer, g).row(position), keys + g * head, position, own, with.turned);
      std::copy_n(values + g * head, head, cache.values(layer, g).row(position));
    }
  }
  /// to = the features of a head, rotated if the model rotates them; `from` may be `to`.
  static void turn(f32* to, const f32* from, int position, const own_heads& own, std::vector<f32>& turned) {
    if (own.rotate) {
      turned.assign(from, from + own.width);
      own.rotate->rotate(turned.data(), from, position);
      from = turned.data();
    }
    if (to != from) std::copy_n(from, own.width, to);
  }
};

}  // namespace wsl::ml
