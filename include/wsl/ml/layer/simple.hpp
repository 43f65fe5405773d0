// SPDX-License-Identifier: MIT
// Stages without products of matrices: norms, elementwise functions, sums of two branches, and the loss.
#pragma once
#include <algorithm>

#include "../op/activation.hpp"
#include "../op/rows.hpp"
#include "../op/softmax.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// Layernorm, or rmsnorm if it is not centred; its parameters are the gain and, of a layernorm that has one,
/// the bias.
class norm_stage final : public stage {
 public:
  norm_stage(int x, int y, bool centred, f32 epsilon) : x_(x), y_(y), centred_(centred), epsilon_(epsilon) {}

  void forward(place& at, const weight_tile& s) const override {
    if (s.which == 1) add_to_rows(at.value(y_), s.rows.first());
    else if (centred_)
      layernorm(at.value(y_), at.norms(number), at.value(x_), s.rows.first(), nullptr, epsilon_);
    else rmsnorm(at.value(y_), at.norms(number), at.value(x_), s.rows.first(), epsilon_);
  }
  void backward(place& at, const weight_tile& s, const matrix<f32>& gradient) const override {
    clear(gradient);
    if (s.which == 1) return add_sum_of_rows(gradient.first(), at.gradient(y_));
    bool sets = false;
    const matrix<f32> dx = at.gradient(x_, sets);
    if (centred_)
      layernorm_back(dx, gradient.first(), nullptr, at.gradient(y_), at.norms(number), at.value(x_),
                     s.rows.first(), sets);
    else
      rmsnorm_back(dx, gradient.first(), at.gradient(y_), at.norms(number), at.value(x_), s.rows.first(),
                   sets);
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
  void forward(place& at) const override { activate<F>(at.value(y_), at.value(x_)); }
  void backward(place& at) const override {
    bool sets = false;
    const matrix<f32> dx = at.gradient(x_, sets);
    activate_back<F>(dx, at.gradient(y_), at.value(x_), sets);
  }

 private:
  int x_, y_;
};

/// y = x f(gate)
template <class F>
class gate_stage final : public stage {
 public:
  gate_stage(int x, int by, int y) : x_(x), by_(by), y_(y) {}
  void forward(place& at) const override { gate<F>(at.value(y_), at.value(x_), at.value(by_)); }
  void backward(place& at) const override {
    gate_back<F>(at.gradient(x_), at.gradient(by_), at.gradient(y_), at.value(x_), at.value(by_));
  }

 private:
  int x_, by_, y_;
};

/// y = a + b
class sum_stage final : public stage {
 public:
  sum_stage(int a, int b, int y) : a_(a), b_(b), y_(y) {}
  void forward(place& at) const override { set_sum(at.value(y_), at.value(a_), at.value(b_)); }
  void backward(place& at) const override {
    for (int x : {a_, b_}) {
      bool sets = false;
      const matrix<f32> dx = at.gradient(x, sets);
      if (sets) copy(dx, at.gradient(y_));
      else add(dx, at.gradient(y_));
    }
  }

 private:
  int a_, b_, y_;
};

/// The cross-entropy of logits and targets, if there are targets, into the place's loss; on the way back
/// where all gradients start.
class cross_entropy_stage final : public stage {
 public:
  explicit cross_entropy_stage(int logits) : logits_(logits) {}
  void forward(place& at) const override {
    if (at.targets.empty()) return;
    bool sets = false;
    const matrix<f32> d = at.gradient(logits_, sets);
    copy(d, at.value(logits_));
    at.loss = cross_entropy(d, at.targets, at.mask, at.weight);
  }

 private:
  int logits_;
};

}  // namespace wsl::ml
