// SPDX-License-Identifier: MIT
// Causal attention of several heads: qkv is (tokens, queries | keys | values), each of `width` features that the heads share out
// evenly. The sequences of a place do not see each other.
#pragma once
#include "../op/attention.hpp"
#include "stage.hpp"

namespace wsl::ml {

class attention_stage final : public stage {
 public:
  attention_stage(int qkv, int y, int heads) : qkv_(qkv), y_(y), heads_(heads) {}

  void forward(place& at) const override {
    const matrix<f32> qkv = at.value(qkv_);
    each(at, [&](const head& h, std::span<f32> totals) {
      attention(h.of(at.value(y_)), totals, h.of(qkv, 0), h.of(qkv, 1), h.of(qkv, 2), h.scale());
    });
  }
  void backward(place& at) const override {
    const matrix<f32> qkv = at.value(qkv_), d = at.gradient(qkv_);
    each(at, [&](const head& h, std::span<f32> totals) {
      attention_back(h.of(d, 0), h.of(d, 1), h.of(d, 2), h.of(at.gradient(y_)), h.of(at.value(y_)), totals, h.of(qkv, 0), h.of(qkv, 1),
                     h.of(qkv, 2), h.scale());
    });
  }

 private:
  /// One head of one sequence.
  struct head {
    int first, length, from, width, all;
    matrix<f32> of(const matrix<f32>& y) const { return y.part(first, from, length, width); }
    matrix<f32> of(const matrix<f32>& qkv, int third) const { return qkv.part(first, third * all + from, length, width); }
    f32 scale() const { return 1 / std::sqrt(static_cast<f32>(width)); }
  };

  template <class F>
  void each(place& at, F f) const {
    const int all = at.value(y_).columns(), width = all / heads_, length = at.length();
    const std::span<f32> totals = at.totals(number, heads_);
    for (int s = 0; s < at.sequences(); ++s)
      for (int h = 0; h < heads_; ++h)
        f(head{s * length, length, h * width, width, all}, totals.subspan(static_cast<std::size_t>((s * heads_ + h) * length), static_cast<std::size_t>(length)));
  }

  int qkv_, y_, heads_;
};

}  // namespace wsl::ml
