// SPDX-License-Identifier: MIT
// Causal attention with several heads. qkv is (tokens, queries | keys | values). Queries have a part of the
// features for each head. Keys and values have one for each head as well, or one for several heads
// (grouped-query attention), or one for all (multi-query attention). Sequences do not see each other. A row
// of workers may have a later part of a sequence; then the keys and values of the tokens before it are in the
// prefix of the activation store.
#pragma once
#include "../op/attention.hpp"
#include "../op/position.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

struct attention_heads {
  int queries = 1;
  int keys = 0;        ///< heads of keys and of values, a divisor of `queries`; 0: as many as queries
  bool alibi = false;  ///< distant keys have lower scores
  f32 dropout = 0;     ///< probability with which a weight is dropped
  int window = 0;      ///< a token sees itself and the window - 1 tokens before it; 0: all before it
  f32 scale = 0;       ///< by which scores are multiplied; 0: 1 / sqrt(width of a head)

  int groups() const { return keys ? keys : queries; }

  /// The queries of (queries | keys | values), whose heads have `width` features, with as many units as there
  /// are heads of keys; and all three.
  feature_group group_of_queries(int width) const { return {0, groups(), queries / groups() * width}; }
  std::vector<feature_group> groups_of_qkv(int width) const {
    const int keys_at = queries * width, values_at = keys_at + groups() * width;
    return {group_of_queries(width), {keys_at, groups(), width}, {values_at, groups(), width}};
  }
};

class attention_stage final : public stage {
 public:
  /// Heads have `width` features.
  attention_stage(int qkv, int y, const attention_heads& heads, int width)
      : qkv_(qkv), y_(y), heads_(heads), width_(width) {
    if (heads.alibi) slopes_ = alibi_slopes(heads.queries);
  }

  stage_cut how_cut() const override { return stage_cut::by_head; }
  std::vector<feature_group> groups_of_input() const override { return heads_.groups_of_qkv(width_); }
  std::vector<feature_group> groups_of_output() const override { return {heads_.group_of_queries(width_)}; }

  void forward(activation_store& store) const override {
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> qkv = store.operand<T>(qkv_);
      const matrix<f32> y = store.value(y_);
      const matrix<const T> prefix = prefix_of<T>(store, qkv);
      each(store, [&](const head& h, std::span<f32> log_sum_exp) {
        const matrix<const T>& seen = h.scores.first_query ? prefix : qkv;
        attention(h.query(y), log_sum_exp, h.query(qkv), h.key(seen), h.value(seen), h.scores);
      });
    });
  }
  void backward(activation_store& store) const override {
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      bool overwrite = false;
      const matrix<const T> qkv = store.operand<T>(qkv_), dy = store.operand_of_gradient<T>(y_);
      const matrix<f32> d = store.gradient(qkv_, overwrite);
      const matrix<const f32> y = store.value(y_);
      const matrix<const T> prefix = prefix_of<T>(store, qkv);
      const matrix<f32> dprefix = has_prefix(store) ? store.prefix_gradient() : d;
      each(store, [&](const head& h, std::span<f32> log_sum_exp) {
        const bool reads_prefix = h.scores.first_query > 0, sets = overwrite && !reads_prefix;
        const matrix<const T>& seen = reads_prefix ? prefix : qkv;
        const matrix<f32>& dseen = reads_prefix ? dprefix : d;
        attention_backward(h.query(d), h.key(dseen), h.value(dseen), h.query(dy), h.query(y), log_sum_exp,
                           h.query(qkv), h.key(seen), h.value(seen), h.scores,
                           {overwrite, sets && h.first_of_group});
      });
      if (has_prefix(store)) add_own(d, dprefix, store.position(0), overwrite);
    });
  }
  bool needs_whole_sequences() const override { return true; }
  prefix_features reads_of_prefix() const override { return {.first_group = 1, .window = heads_.window}; }
  f64 operations(int, int, int columns, int length) const override { return 7. * length * columns; }

 private:
  /// One head of one sequence: its queries, rows `first` and following with their features from column
  /// `of_query` on, and its keys and values, rows `first_key` and following of what it sees.
  struct head {
    int first, length, width, of_query, first_key, keys, of_key, of_value;
    bool first_of_group;
    scoring scores;
    template <class T>
    matrix<T> query(const matrix<T>& x) const {
      return x.part(first, of_query, length, width);
    }
    template <class T>
    matrix<T> key(const matrix<T>& x) const {
      return x.part(first_key, of_key, keys, width);
    }
    template <class T>
    matrix<T> value(const matrix<T>& x) const {
      return x.part(first_key, of_value, keys, width);
    }
  };

  template <class F>
  void each(activation_store& store, F f) const {
    // Of all heads, the column has those of some groups.
    const int all = store.value(y_).columns(), in_group = heads_.queries / heads_.groups(),
              queries = all / width_, groups = queries / in_group,
              first_head = store.first_unit(y_) * in_group;
    const std::span<f32> log_sum_exp = store.saved(number, queries);
    for (int s = 0, first = 0, length = 0; first < store.tokens(); ++s, first += length) {
      // The first sequence here may have begun elsewhere, the last may end elsewhere.
      const int position = store.position(first);
      length = std::min(store.length() - position, store.tokens() - first);
      for (int h = 0; h < queries; ++h) {
        // The prefix has keys and values only.
        const int of_key = (position ? 0 : all) + h / in_group * width_;
        f(head{first, length, width_, h * width_, position ? 0 : first, position + length, of_key,
               of_key + groups * width_, h % in_group == 0, scores(store, s, first_head + h, position)},
          log_sum_exp.subspan(static_cast<std::size_t>(first * queries + h * length),
                              static_cast<std::size_t>(length)));
      }
    }
  }
  /// Whether earlier tokens of the first sequence are elsewhere, if this column has heads at all.
  bool has_prefix(activation_store& store) const {
    return store.tokens() > 0 && store.position(0) > 0 && store.value(y_).columns() > 0;
  }
  /// The keys and values from the beginning of the first sequence; any matrix if they are in `other`.
  template <class T>
  matrix<const T> prefix_of(activation_store& store, const matrix<const T>& other) const {
    return has_prefix(store) ? store.operand_of_prefix<T>() : other;
  }
  /// Adds the gradients of the keys and values from row p of the prefix on, which are those of the first
  /// tokens here, to d; or sets them.
  static void add_own(const matrix<f32>& d, const matrix<f32>& dprefix, int p, bool sets) {
    const int tokens = dprefix.rows() - p, width = dprefix.columns();
    const matrix<f32> to = d.part(0, d.columns() - width, tokens, width),
                      from = dprefix.part(p, 0, tokens, width);
    sets ? copy(to, from) : add(to, from);
  }
  scoring scores(const activation_store& store, int sequence, int h, int first_query) const {
    scoring how{heads_.scale != 0 ? heads_.scale : 1 / std::sqrt(static_cast<f32>(width_))};
    how.window = heads_.window, how.first_query = first_query;
    if (heads_.alibi) how.slope = slopes_[static_cast<std::size_t>(h)];
    if (heads_.dropout > 0 && store.random.on)
      how.drop = dropout_rule::with(heads_.dropout, mixed(store.random.key, static_cast<u64>(number)))
                     .of_row(static_cast<u64>((store.random.first_sequence + sequence) * heads_.queries + h));
    return how;
  }

  int qkv_, y_;
  attention_heads heads_;
  int width_;
  std::vector<f32> slopes_;
};

}  // namespace wsl::ml
