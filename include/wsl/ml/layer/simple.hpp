// SPDX-License-Identifier: MIT
// Stages without matrix products: norms, elementwise functions, gates, and sums of two branches.
#pragma once
#include <algorithm>

#include "../op/activation.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// Layernorm, or rmsnorm if not centred. The parameters are the gain and, for a layernorm that has one, the
/// bias.
class norm_stage final : public stage {
 public:
  norm_stage(int x, int y, bool centred, f32 epsilon) : x_(x), y_(y), centred_(centred), epsilon_(epsilon) {}

  void forward(activation_store& store, const weight_tile& s) const override {
    if (s.which == 1) add_to_rows(store.value(y_), s.rows.first());
    else if (centred_)
      layernorm(store.value(y_), store.norms(number), store.value(x_), s.rows.first(), nullptr, epsilon_);
    else rmsnorm(store.value(y_), store.norms(number), store.value(x_), s.rows.first(), epsilon_);
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    clear(gradient);
    if (s.which == 1) return add_sum_of_rows(gradient.first(), store.gradient(y_));
    bool overwrite = false;
    const matrix<f32> dx = store.gradient(x_, overwrite);
    if (centred_)
      layernorm_backward(dx, gradient.first(), nullptr, store.gradient(y_), store.norms(number),
                         store.value(x_), s.rows.first(), overwrite);
    else
      rmsnorm_backward(dx, gradient.first(), store.gradient(y_), store.norms(number), store.value(x_),
                       s.rows.first(), overwrite);
  }
  bool needs_weight_in_backward(int which) const override { return which == 0; }

 private:
  int x_, y_;
  bool centred_;
  f32 epsilon_;
};

/// y = f(x), element by element.
template <class F>
class activation_stage final : public stage {
 public:
  activation_stage(int x, int y) : x_(x), y_(y) {}
  stage_cut how_cut() const override { return stage_cut::by_element; }
  void forward(activation_store& store) const override { activate<F>(store.value(y_), store.value(x_)); }
  void backward(activation_store& store) const override {
    bool overwrite = false;
    const matrix<f32> dx = store.gradient(x_, overwrite);
    activate_backward<F>(dx, store.gradient(y_), store.value(x_), overwrite);
  }

 private:
  int x_, y_;
};

/// y = x f(gate)
template <class F>
class gate_stage final : public stage {
 public:
  gate_stage(int x, int by, int y) : x_(x), by_(by), y_(y) {}
  stage_cut how_cut() const override { return stage_cut::by_element; }
  void forward(activation_store& store) const override {
    gate<F>(store.value(y_), store.value(x_), store.value(by_));
  }
  void backward(activation_store& store) const override {
    gate_backward<F>(store.gradient(x_), store.gradient(by_), store.gradient(y_), store.value(x_),
                     store.value(by_));
  }

 private:
  int x_, by_, y_;
};

/// y = factor x
class scale_stage final : public stage {
 public:
  scale_stage(int x, int y, f32 factor) : x_(x), y_(y), factor_(factor) {}
  stage_cut how_cut() const override { return stage_cut::by_element; }
  void forward(activation_store& store) const override {
    const matrix<f32> y = store.value(y_);
    clear(y);
    add_scaled(y, store.value(x_), factor_);
  }
  void backward(activation_store& store) const override {
    add_scaled(store.gradient(x_), store.gradient(y_), factor_);
  }

 private:
  int x_, y_;
  f32 factor_;
};

/// y = a + b
class sum_stage final : public stage {
 public:
  sum_stage(int a, int b, int y) : a_(a), b_(b), y_(y) {}
  stage_cut how_cut() const override { return stage_cut::by_element; }
  void forward(activation_store& store) const override {
    set_sum(store.value(y_), store.value(a_), store.value(b_));
  }
  void backward(activation_store& store) const override {
    for (int x : {a_, b_}) {
      bool overwrite = false;
      const matrix<f32> dx = store.gradient(x, overwrite);
      if (overwrite) copy(dx, store.gradient(y_));
      else add(dx, store.gradient(y_));
    }
  }

 private:
  int a_, b_, y_;
};

}  // namespace wsl::ml
