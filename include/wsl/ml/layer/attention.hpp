// SPDX-License-Identifier: MIT
// Attention with several heads: of a sequence to itself, causal or to all of its tokens, or of the tokens
// of a decoder to those of an encoder (cross-attention). Queries have a part of the features for each head.
// Keys and values have one for each head as well, or one for several heads (grouped-query attention), or
// one for all (multi-query attention). Sequences do not see each other. A row of workers may have a later
// part of a sequence; then causal attention finds the keys and values of the tokens before it in the prefix
// of the activation store.
#pragma once
#include "../op/attention.hpp"
#include "../op/position.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// A number for each head and bucket of distances is added to the scores (T5, arXiv:1910.10683).
struct relative_positions {
  int buckets = 0;         ///< 0: none
  int max_distance = 128;  ///< from here on all distances are in one bucket
  int table = -1;          ///< the parameter, (buckets, heads), of another attention; -1: one of its own
  initial start = initial::normal(0.02f);  ///< of one of its own
};

struct attention_heads {
  int queries = 1;
  int keys = 0;        ///< heads of keys and of values, a divisor of `queries`; 0: as many as queries
  bool alibi = false;  ///< distant keys have lower scores
  f32 dropout = 0;     ///< probability with which a weight is dropped
  int window = 0;      ///< a token sees itself and the window - 1 tokens before it; 0: all before it
  f32 scale = 0;       ///< by which scores are multiplied; 0: 1 / sqrt(width of a head)
  bool causal = true;  ///< a token sees no token after it
  relative_positions relative = {};

  int groups() const { return keys ? keys : queries; }

  /// The queries of (queries | keys | values), whose heads have `width` features, with as many units as there
  /// are heads of keys; and all three.
  feature_group group_of_queries(int width) const { return {0, groups(), queries / groups() * width}; }
  std::vector<feature_group> groups_of_qkv(int width) const {
    const int keys_at = queries * width, values_at = keys_at + groups() * width;
    return {group_of_queries(width), {keys_at, groups(), width}, {values_at, groups(), width}};
  }
};

/// The bucket of the distance from a query to a key, which is negative for earlier keys. The nearer half of
/// the buckets has a distance each, the others have more and more, as in T5. If attention is not causal,
/// earlier and later keys have half of the buckets each.
inline int relative_bucket(int distance, const relative_positions& r, bool causal) {
  const int each = causal ? r.buckets : r.buckets / 2, first = !causal && distance > 0 ? each : 0,
            away = causal ? std::max(-distance, 0) : std::abs(distance), exact = each / 2;
  if (away < exact) return first + away;
  const f32 beyond = std::log(static_cast<f32>(away) / static_cast<f32>(exact)) /
                     static_cast<f32>(std::log(static_cast<f64>(r.max_distance) / exact)) *
                     static_cast<f32>(each - exact);
  return first + std::min(exact + static_cast<int>(beyond), each - 1);
}
/// The terms of the scores of some heads, from number `first` on, for distances from `begin` to `end` - 1,
/// one head after the other. The table is (buckets, heads).
inline std::vector<f32> scores_of_distances(const matrix<const f32>& table, const relative_positions& r,
                                            bool causal, int first, int heads, int begin, int end) {
  std::vector<f32> all;
  for (int h = 0; h < heads; ++h)
    for (int d = begin; d < end; ++d) all.push_back(table(relative_bucket(d, r, causal), first + h));
  return all;
}

class attention_stage final : public stage {
 public:
  /// The last input may be ids: a mask of keys, of which one with 0 is not seen, or the position of each
  /// token in its document.
  enum class last_input : u8 { features, mask, positions };
  /// Heads have `width` features. Input 0 is (tokens, queries | keys | values), or (tokens, queries), and
  /// then input 1 is (tokens, keys | values) of a sequence of any length. The parameter is the table of
  /// relative positions, if there is one.
  attention_stage(int y, const attention_heads& heads, int width, bool is_cross, last_input last)
      : y_(y),
        heads_(heads),
        width_(width),
        is_cross_(is_cross),
        is_masked_(last == last_input::mask),
        has_documents_(last == last_input::positions) {
    if (heads.alibi) slopes_ = alibi_slopes(heads.queries);
  }

  stage_cut how_cut() const override { return stage_cut::by_head; }
  std::vector<feature_group> groups_of_input(int k) const override {
    if (!is_cross_) return heads_.groups_of_qkv(width_);
    if (k == 0) return groups_of_output();
    return {{0, heads_.groups(), width_}, {heads_.groups() * width_, heads_.groups(), width_}};
  }
  std::vector<feature_group> groups_of_output() const override { return {heads_.group_of_queries(width_)}; }

  void forward(activation_store& store) const override {
    if (!has_table()) run(store, no_table());
  }
  void forward(activation_store& store, const weight_tile& table) const override { run(store, table.rows); }
  void backward(activation_store& store) const override {
    if (!has_table()) run_backward(store, no_table(), no_table());
  }
  void backward(activation_store& store, const weight_tile& table,
                const matrix<f32>& gradient) const override {
    clear(gradient);
    run_backward(store, table.rows, gradient);
  }
  bool needs_whole_sequences() const override { return true; }
  bool sees_padding() const override { return !heads_.causal; }
  bool sees_padding_of(int k) const override { return sees_padding() && (!is_cross_ || k > 0); }
  int padding_mask() const override { return is_masked_ ? static_cast<int>(inputs.size()) - 1 : -1; }
  prefix_features reads_of_prefix() const override {
    if (!heads_.causal || is_cross_ || is_masked_ || has_table()) return {};
    return {.first_group = 1, .window = heads_.window};
  }
  f64 operations(int which, int, int columns, int length) const override {
    return which < 0 ? 14. * mean_keys(length) * columns : 0;
  }

 private:
  /// One head of one sequence: its queries, rows `first_query` and following with their features from column
  /// `of_query` on, and its keys and values, rows `first_key` and following of what it sees.
  struct head {
    int first_query, queries, first_key, keys, width, of_query, of_key, of_value;
    bool first_of_group;
    scoring scores;
    int number;  ///< among all heads of the model's layer
    template <class T>
    matrix<T> query(const matrix<T>& x) const {
      return x.part(first_query, of_query, queries, width);
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

  /// How many keys a token of a sequence sees in the mean.
  f64 mean_keys(int length) const {
    if (!heads_.causal) return length;
    const int window = heads_.window;
    return window && window < length ? window - 0.5 * window * window / length : 0.5 * length;
  }
  bool has_table() const { return heads_.relative.buckets > 0; }
  static matrix<f32> no_table() { return {nullptr, 0, 0}; }
  int of_keys() const { return inputs[is_cross_ ? 1 : 0]; }

  void run(activation_store& store, const matrix<const f32>& table) const {
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> q = store.operand<T>(inputs[0]), kv = store.operand<T>(of_keys());
      const matrix<f32> y = store.value(y_);
      const matrix<const T> prefix = prefix_of<T>(store, kv);
      each(store, table, [&](const head& h, std::span<f32> log_sum_exp) {
        const matrix<const T>& seen = h.scores.first_query ? prefix : kv;
        attention(h.query(y), log_sum_exp, h.query(q), h.key(seen), h.value(seen), h.scores);
      });
    });
  }
  void run_backward(activation_store& store, const matrix<const f32>& table,
                    const matrix<f32>& of_table) const {
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      bool sets_queries = false, sets_keys = false;
      const matrix<const T> q = store.operand<T>(inputs[0]), kv = store.operand<T>(of_keys()),
                            dy = store.operand_of_gradient<T>(y_);
      const matrix<f32> dq = store.gradient(inputs[0], sets_queries);
      const matrix<f32> dkv = is_cross_ ? store.gradient(of_keys(), sets_keys) : dq;
      if (!is_cross_) sets_keys = sets_queries;
      const matrix<const f32> y = store.value(y_);
      const matrix<const T> prefix = prefix_of<T>(store, kv);
      const matrix<f32> dprefix = has_prefix(store) ? store.prefix_gradient() : dkv;
      std::vector<f32> of_distance;
      each(store, table, [&](const head& h, std::span<f32> log_sum_exp) {
        const bool reads_prefix = h.scores.first_query > 0, sets = sets_keys && !reads_prefix;
        const matrix<const T>& seen = reads_prefix ? prefix : kv;
        const matrix<f32>& dseen = reads_prefix ? dprefix : dkv;
        of_distance.assign(table.rows() ? static_cast<std::size_t>(h.queries + h.keys) : 0, 0);
        attention_backward(h.query(dq), h.key(dseen), h.value(dseen), h.query(dy), h.query(y), log_sum_exp,
                           h.query(q), h.key(seen), h.value(seen), h.scores,
                           {sets_queries, sets && h.first_of_group},
                           table.rows() ? of_distance.data() + h.queries : nullptr);
        for (int d = -h.queries; d < h.keys && table.rows(); ++d)
          of_table(relative_bucket(d, heads_.relative, heads_.causal), h.number) +=
              of_distance[static_cast<std::size_t>(h.queries + d)];
      });
      if (has_prefix(store)) add_own(dkv, dprefix, store.position(0), sets_keys);
    });
  }

  template <class F>
  void each(activation_store& store, const matrix<const f32>& table, F f) const {
    // Of all heads, the column has those of some groups.
    const int all = store.value(y_).columns(), in_group = heads_.queries / heads_.groups(),
              queries = all / width_, groups = queries / in_group,
              first_head = store.first_unit(y_) * in_group, of_other = store.length_of(of_keys());
    const std::span<f32> log_sum_exp = store.saved(number, queries);
    std::vector<f32> hidden;
    const std::vector<f32> of_distance =
        table.rows() ? scores_of_distances(table, heads_.relative, heads_.causal, first_head, queries,
                                           -store.length(), of_other)
                     : std::vector<f32>{};
    for (int s = 0, first = 0, length = 0; first < store.tokens(); ++s, first += length) {
      // The first sequence here may have begun elsewhere, the last may end elsewhere.
      const int position = store.position(first);
      length = std::min(store.length() - position, store.tokens() - first);
      const int keys = is_cross_ ? of_other : position + length;
      hide(hidden, store, s, keys);
      for (int h = 0; h < queries; ++h) {
        // The prefix, and the value of another sequence, have keys and values only.
        const int of_key = (position || is_cross_ ? 0 : all) + h / in_group * width_;
        head one{first,
                 length,
                 is_cross_  ? s * keys
                 : position ? 0
                            : first,
                 keys,
                 width_,
                 h * width_,
                 of_key,
                 of_key + groups * width_,
                 h % in_group == 0,
                 scores(store, s, first_head + h, position),
                 first_head + h};
        if (!hidden.empty()) one.scores.of_key = hidden.data();
        if (has_documents_ && store.has(inputs.back()))
          one.scores.in_document = store.ids(inputs.back()).data() + first;
        if (!of_distance.empty())
          one.scores.of_distance = of_distance.data() + h * (store.length() + of_other) + store.length();
        f(one, log_sum_exp.subspan(static_cast<std::size_t>(first * queries + h * length),
                                   static_cast<std::size_t>(length)));
      }
    }
  }
  /// Sets of_key to what is added to the scores of a sequence's keys, or empties it if all of them are seen.
  void hide(std::vector<f32>& of_key, const activation_store& store, int sequence, int keys) const {
    of_key.clear();
    if (!is_masked_ || !store.has(inputs.back())) return;
    for (const i32 seen :
         store.ids(inputs.back())
             .subspan(static_cast<std::size_t>(sequence * keys), static_cast<std::size_t>(keys)))
      of_key.push_back(seen ? 0 : scoring::hidden);
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
    how.window = heads_.window, how.causal = heads_.causal, how.first_query = first_query;
    if (heads_.alibi) how.slope = slopes_[static_cast<std::size_t>(h)];
    if (heads_.dropout > 0 && store.random.on)
      how.drop = dropout_rule::with(heads_.dropout, mixed(store.random.key, static_cast<u64>(number)))
                     .of_row(static_cast<u64>((store.random.first_sequence + sequence) * heads_.queries + h));
    return how;
  }

  int y_;
  attention_heads heads_;
  int width_;
  bool is_cross_, is_masked_, has_documents_;
  std::vector<f32> slopes_;
};

}  // namespace wsl::ml
