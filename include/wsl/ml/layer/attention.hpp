// SPDX-License-Identifier: MIT
// Causal attention with several heads. qkv is (tokens, queries | keys | values). Queries have a part of the
// features for each head. Keys and values have one for each head as well, or one for several heads
// (grouped-query attention), or one for all (multi-query attention). Sequences do not see each other.
#pragma once
#include "../op/attention.hpp"
#include "../op/position.hpp"
#include "stage.hpp"

namespace wsl::ml {

struct attention_heads {
  int queries = 1;
  int keys = 0;        ///< heads of keys and of values, a divisor of `queries`; 0: as many as queries
  bool alibi = false;  ///< distant keys have lower scores
  f32 dropout = 0;     ///< probability with which a weight is dropped

  int groups() const { return keys ? keys : queries; }
};

class attention_stage final : public stage {
 public:
  attention_stage(int qkv, int y, const attention_heads& heads) : qkv_(qkv), y_(y), heads_(heads) {
    if (heads.alibi) slopes_ = alibi_slopes(heads.queries);
  }

  void forward(activation_store& store) const override {
    const matrix<f32> qkv = store.value(qkv_);
    each(store, [&](const head& h, std::span<f32> log_sum_exp) {
      attention(h.query(store.value(y_)), log_sum_exp, h.query(qkv), h.key(qkv), h.value(qkv), h.scores);
    });
  }
  void backward(activation_store& store) const override {
    bool overwrite = false;
    const matrix<f32> qkv = store.value(qkv_), d = store.gradient(qkv_, overwrite);
    each(store, [&](const head& h, std::span<f32> log_sum_exp) {
      attention_backward(h.query(d), h.key(d), h.value(d), h.query(store.gradient(y_)),
                         h.query(store.value(y_)), log_sum_exp, h.query(qkv), h.key(qkv), h.value(qkv),
                         h.scores, {overwrite, overwrite && h.first_of_group});
    });
  }
  bool needs_whole_sequences() const override { return true; }
  f64 operations(int, int, int columns, int length) const override { return 7. * length * columns; }

 private:
  /// One head of one sequence: its tokens, and the columns at which its features begin.
  struct head {
    int first, length, width, of_query, of_key, of_value;
    bool first_of_group;
    scoring scores;
    matrix<f32> query(const matrix<f32>& x) const { return x.part(first, of_query, length, width); }
    matrix<f32> key(const matrix<f32>& x) const { return x.part(first, of_key, length, width); }
    matrix<f32> value(const matrix<f32>& x) const { return x.part(first, of_value, length, width); }
  };

  template <class F>
  void each(activation_store& store, F f) const {
    const int all = store.value(y_).columns(), width = all / heads_.queries, groups = heads_.groups(),
              length = store.length();
    const std::span<f32> log_sum_exp = store.saved(number, heads_.queries);
    for (int s = 0; s < store.sequences(); ++s)
      for (int h = 0; h < heads_.queries; ++h) {
        const int in_group = heads_.queries / groups, first_key = all + h / in_group * width;
        f(head{s * length, length, width, h * width, first_key, first_key + groups * width, h % in_group == 0,
               scores(store, s, h, width)},
          log_sum_exp.subspan(static_cast<std::size_t>((s * heads_.queries + h) * length),
                              static_cast<std::size_t>(length)));
      }
  }
  scoring scores(const activation_store& store, int sequence, int h, int width) const {
    scoring how{1 / std::sqrt(static_cast<f32>(width))};
    if (heads_.alibi) how.slope = slopes_[static_cast<std::size_t>(h)];
    if (heads_.dropout > 0 && store.random.on)
      how.drop = dropout_rule::with(heads_.dropout, mixed(store.random.key, static_cast<u64>(number)))
                     .of_row(static_cast<u64>((store.random.first_sequence + sequence) * heads_.queries + h));
    return how;
  }

  int qkv_, y_;
  attention_heads heads_;
  std::vector<f32> slopes_;
};

}  // namespace wsl::ml
