// SPDX-License-Identifier: MIT
// Stages that add the position to a token: sinusoids for its features, or rotations for its queries and keys.
// Every PE computes the tables itself.
#pragma once
#include "../op/position.hpp"
#include "../op/rows.hpp"
#include "attention.hpp"
#include "stage.hpp"
#include "token_position.hpp"

namespace wsl::ml {

/// y = x + the sinusoids of the token's position
class sinusoid_stage final : public stage {
 public:
  sinusoid_stage(int x, int y, int positions, int width, pairs which)
      : x_(x), y_(y), table_(sinusoids(positions, width, which)) {}

  void forward(activation_store& store) const override {
    const matrix<f32> y = store.value(y_);
    copy(y, store.value(x_));
    for (int t = 0; t < store.tokens(); ++t)
      add(y.part(t, 0, 1, y.columns()),
          matrix<const f32>(table_.data() + i64{position_of(store, *this, t)} * y.columns(), 1, y.columns()));
  }
  void backward(activation_store& store) const override { add(store.gradient(x_), store.gradient(y_)); }

 private:
  int x_, y_;
  std::vector<f32> table_;
};

/// y = x with the first `heads` groups of `width` features rotated: those of queries and keys, not of values.
class rotary_stage final : public stage {
 public:
  /// x is (tokens, queries | keys | values); heads have `width` features.
  rotary_stage(int x, int y, const attention_heads& heads, int width, rotation by)
      : x_(x), y_(y), heads_(heads), width_(width), by_(std::move(by)) {}

  stage_cut how_cut() const override { return stage_cut::by_head; }
  std::vector<feature_group> groups_of_input(int) const override { return heads_.groups_of_qkv(width_); }
  std::vector<feature_group> groups_of_output() const override { return groups_of_input(0); }

  void forward(activation_store& store) const override {
    const matrix<f32> x = store.value(x_), y = store.value(y_);
    copy(y, x);
    each(store, y,
         [&](int t, int position, int from) { by_.rotate(y.row(t) + from, x.row(t) + from, position); });
  }
  void backward(activation_store& store) const override {
    const matrix<f32> dx = store.gradient(x_), dy = store.gradient(y_);
    each(store, dy, [&](int t, int position, int from) {
      by_.rotate_backward(dx.row(t) + from, dy.row(t) + from, position);
      add_rest(dx, dy, t, from + by_.features(), from + width_);
    });
    for (int t = 0; t < store.tokens(); ++t) add_rest(dx, dy, t, turned_heads(dx) * width_, dx.columns());
  }

 private:
  template <class F>
  void each(const activation_store& store, const matrix<f32>& qkv, F f) const {
    for (int t = 0; t < store.tokens(); ++t) {
      const int position = position_of(store, *this, t);
      for (int h = 0; h < turned_heads(qkv); ++h) f(t, position, h * width_);
    }
  }
  /// The heads of queries and of keys on this PE.
  int turned_heads(const matrix<f32>& qkv) const {
    const int with_values = heads_.queries + 2 * heads_.groups();
    return qkv.columns() / width_ * (heads_.queries + heads_.groups()) / with_values;
  }
  static void add_rest(const matrix<f32>& dx, const matrix<f32>& dy, int t, int from, int end) {
    add(dx.part(t, from, 1, end - from), dy.part(t, from, 1, end - from));
  }

  int x_, y_;
  attention_heads heads_;
  int width_;
  rotation by_;
};

}  // namespace wsl::ml
