// SPDX-License-Identifier: MIT
// The loss that keeps the experts of a mixture equally busy (Switch Transformer, arXiv:2101.03961, as
// Mixtral's in transformers has it): the number of experts times the sum over them of f p. Over all tokens
// and layers, f is the part of the tokens that go to an expert, which is taken for a constant, and p the mean
// of its softmax. With k experts a token it is k if all are equally busy. See decoder::balance.
#pragma once
#include <vector>

#include "../op/softmax.hpp"
#include "loss.hpp"
#include "mixture.hpp"

namespace wsl::ml {

/// Its inputs are the scores of the router of each layer.
class balance_stage final : public loss_stage {
 public:
  balance_stage(int experts, int experts_per_token) : experts_(experts), k_(experts_per_token) {}

  bool is_masked() const override { return false; }
  f64 counts(std::span<const i32>, int) const override { return 1; }

  int statistics() const override { return experts_; }
  void count(activation_store& store, std::span<f64> tokens_of) const override {
    for (const int v : inputs) {
      const matrix<const f32> scores = store.value(v);
      for (int t = 0; t < scores.rows(); ++t)
        for (const int e : best_experts(scores.row(t), experts_, k_))
          tokens_of[static_cast<std::size_t>(e)] += 1;
    }
  }

  f64 loss(activation_store& store, f32 weight) const override {
    const std::vector<f64> factors = factors_of(statistics_of(store));
    std::vector<f32> p(factors.size());
    f64 sum = 0;
    for (const int v : inputs) {
      const matrix<const f32> scores = store.value(v);
      const matrix<f32> d = store.gradient(v);
      for (int t = 0; t < scores.rows(); ++t) {
        softmax(matrix<f32>(p.data(), 1, experts_), matrix<const f32>(scores.row(t), 1, experts_));
        f64 of_token = 0;
        for (std::size_t e = 0; e < p.size(); ++e) of_token += factors[e] * static_cast<f64>(p[e]);
        for (std::size_t e = 0; e < p.size(); ++e)
          d(t, static_cast<int>(e)) += weight * p[e] * static_cast<f32>(factors[e] - of_token);
        sum += of_token;
      }
    }
    return sum;
  }
  f64 operations(int, int, int, int) const override {
    return 20. * experts_ * static_cast<f64>(inputs.size());
  }

 private:
  /// The factor of each expert's probability in the loss of a token in a layer.
  std::vector<f64> factors_of(std::span<const f64> tokens_of) const {
    f64 all = 0;
    for (const f64 n : tokens_of) all += n;
    std::vector<f64> factors;
    for (const f64 n : tokens_of)
      factors.push_back(all > 0 ? n / all * k_ * experts_ / static_cast<f64>(inputs.size()) : 0);
    return factors;
  }

  int experts_, k_;
};

}  // namespace wsl::ml
