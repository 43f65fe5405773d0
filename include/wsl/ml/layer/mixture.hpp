// SPDX-License-Identifier: MIT
// A mixture of experts: a router gives each token to some of several feed-forward parts, and adds their
// outputs by its weights (Shazeer et al. 2017, arXiv:1701.06538; Mixtral, arXiv:2401.04088). Here all experts
// compute all tokens, and the weights of those that a token does not go to are 0: which weights travel to a
// PE does not depend on its tokens. See decoder::experts.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// The k experts with the largest scores for a token, the largest first. Of equal scores the first counts as
/// larger.
inline std::vector<int> best_experts(const f32* scores, int experts, int k) {
  std::vector<int> order(static_cast<std::size_t>(experts));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(),
                    [&](int a, int b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  order.resize(static_cast<std::size_t>(k));
  return order;
}
/// The weights of experts for a token: the softmax over its k largest scores, and 0 for the others.
inline void set_routes(f32* weights, const f32* scores, int experts, int k) {
  const std::vector<int> order = best_experts(scores, experts, k);
  std::fill_n(weights, experts, 0.f);
  f32 sum = 0;
  for (int e : order) sum += weights[e] = std::exp(scores[e] - scores[order[0]]);
  for (int e : order) weights[e] /= sum;
}

/// The weights of experts for each token.
class route_stage final : public stage {
 public:
  route_stage(int scores, int weights, int k) : scores_(scores), weights_(weights), k_(k) {}

  void forward(activation_store& store) const override {
    const matrix<f32> x = store.value(scores_), y = store.value(weights_);
    for (int t = 0; t < x.rows(); ++t) set_routes(y.row(t), x.row(t), x.columns(), k_);
  }
  void backward(activation_store& store) const override {
    const matrix<f32> dx = store.gradient(scores_);
    const matrix<const f32> y = store.value(weights_), dy = store.gradient(weights_);
    for (int t = 0; t < y.rows(); ++t) {
      f32 mean = 0;
      for (int e = 0; e < y.columns(); ++e) mean += y(t, e) * dy(t, e);
      for (int e = 0; e < y.columns(); ++e) dx(t, e) += y(t, e) * (dy(t, e) - mean);
    }
  }

 private:
  int scores_, weights_, k_;
};

/// y = the sum of weight e times the output of expert e
class mixture_stage final : public stage {
 public:
  mixture_stage(int weights, std::vector<int> experts, int y)
      : weights_(weights), experts_(std::move(experts)), y_(y) {}

  void forward(activation_store& store) const override {
    const matrix<f32> y = store.value(y_);
    const matrix<const f32> w = store.value(weights_);
    clear(y);
    for (int e = 0; e < w.columns(); ++e) {
      const matrix<const f32> x = store.value(expert(e));
      for (int t = 0; t < y.rows(); ++t)
        for (int i = 0; i < y.columns(); ++i) y(t, i) += w(t, e) * x(t, i);
    }
  }
  void backward(activation_store& store) const override {
    const matrix<const f32> w = store.value(weights_), dy = store.gradient(y_);
    const matrix<f32> dw = store.gradient(weights_);
    for (int e = 0; e < w.columns(); ++e) {
      const matrix<const f32> x = store.value(expert(e));
      const matrix<f32> dx = store.gradient(expert(e));
      for (int t = 0; t < dy.rows(); ++t) {
        f32 sum = 0;
        for (int i = 0; i < dy.columns(); ++i) {
          sum += dy(t, i) * x(t, i);
          dx(t, i) += w(t, e) * dy(t, i);
        }
        dw(t, e) += sum;
      }
    }
  }
  f64 operations(int, int, int columns, int) const override {
    return 6. * static_cast<f64>(experts_.size()) * columns;
  }

 private:
  int expert(int e) const { return experts_[static_cast<std::size_t>(e)]; }

  int weights_;
  std::vector<int> experts_;
  int y_;
};

}  // namespace wsl::ml
