// SPDX-License-Identifier: MIT
// Causal attention of several heads: qkv is (tokens, queries | keys | values). Queries have a part of the
// features for each head; keys and values have one for each, or for several heads together (grouped-query
// attention), or one for all (multi-query attention). The sequences of a place do not see each other.
#pragma once
#include "../op/attention.hpp"
#include "../op/position.hpp"
#include "stage.hpp"

namespace wsl::ml {

struct attention_heads {
  int queries = 1;
  int keys = 0;        ///< and values; divides that of queries; 0: as many
  bool alibi = false;  ///< far keys count less
  f32 dropout = 0;     ///< of the weights

  int groups() const { return keys ? keys : queries; }
};

class attention_stage final : public stage {
 public:
  attention_stage(int qkv, int y, const attention_heads& heads) : qkv_(qkv), y_(y), heads_(heads) {
    if (heads.alibi) slopes_ = alibi_slopes(heads.queries);
  }

  void forward(place& at) const override {
    const matrix<f32> qkv = at.value(qkv_);
    each(at, [&](const head& h, std::span<f32> totals) {
      attention(h.query(at.value(y_)), totals, h.query(qkv), h.key(qkv), h.value(qkv), h.scores);
    });
  }
  void backward(place& at) const override {
    bool sets = false;
    const matrix<f32> qkv = at.value(qkv_), d = at.gradient(qkv_, sets);
    each(at, [&](const head& h, std::span<f32> totals) {
      attention_back(h.query(d), h.key(d), h.value(d), h.query(at.gradient(y_)), h.query(at.value(y_)),
                     totals, h.query(qkv), h.key(qkv), h.value(qkv), h.scores,
                     {sets, sets && h.first_of_group});
    });
  }
  f64 operations(int, int, int columns, int length) const override { return 7. * length * columns; }

 private:
  /// One head of one sequence: its tokens, and where its features begin.
  struct head {
    int first, length, width, of_query, of_key, of_value;
    bool first_of_group;
    scoring scores;
    matrix<f32> query(const matrix<f32>& x) const { return x.part(first, of_query, length, width); }
    matrix<f32> key(const matrix<f32>& x) const { return x.part(first, of_key, length, width); }
    matrix<f32> value(const matrix<f32>& x) const { return x.part(first, of_value, length, width); }
  };

  template <class F>
  void each(place& at, F f) const {
    const int all = at.value(y_).columns(), width = all / heads_.queries, groups = heads_.groups(),
              length = at.length();
    const std::span<f32> totals = at.totals(number, heads_.queries);
    for (int s = 0; s < at.sequences(); ++s)
      for (int h = 0; h < heads_.queries; ++h) {
        const int in_group = heads_.queries / groups, first_key = all + h / in_group * width;
        f(head{s * length, length, width, h * width, first_key, first_key + groups * width, h % in_group == 0,
               scores(at, s, h, width)},
          totals.subspan(static_cast<std::size_t>((s * heads_.queries + h) * length),
                         static_cast<std::size_t>(length)));
      }
  }
  scoring scores(const place& at, int sequence, int h, int width) const {
    scoring how{1 / std::sqrt(static_cast<f32>(width))};
    if (heads_.alibi) how.slope = slopes_[static_cast<std::size_t>(h)];
    if (heads_.dropout > 0 && at.random.on)
      how.drop = dropping::with(heads_.dropout, mixed(at.random.key, static_cast<u64>(number)))
                     .of_row(static_cast<u64>((at.random.first_sequence + sequence) * heads_.queries + h));
    return how;
  }

  int qkv_, y_;
  attention_heads heads_;
  std::vector<f32> slopes_;
};

}  // namespace wsl::ml
