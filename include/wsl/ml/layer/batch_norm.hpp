// SPDX-License-Identifier: MIT
// Batch norm (arXiv:1502.03167): each feature gets a mean of 0 and a variance of 1 over all tokens of the
// batch, those of all rows of workers and of all wafers, and then a gain and a bias. The workers add up the
// sums for it (stage::rounds_of_sums). Where a batch passes as several micro-batches, each has a statistic of
// its own. Two parameters follow the statistics and are what evaluation takes instead; no optimizer changes
// them (parameter::follows), and their gradient is the statistic.
#pragma once
#include <cmath>

#include "../op/channels.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class batch_norm_stage final : public stage {
 public:
  /// The parameters are the running mean, the running variance, the gain and the bias.
  explicit batch_norm_stage(f32 epsilon) : epsilon_(epsilon) {}

  stage_cut how_cut() const override { return stage_cut::by_feature; }

  /// Forward, first the sums of x, then of the squares around the mean; backward, those of dy and of dy times
  /// what has been made of x.
  int rounds_of_sums(bool backward) const override { return backward ? 1 : 2; }
  int sums_of_feature(bool backward) const override { return backward ? 2 : 1; }
  void add_sums(activation_store& store, bool backward, int round, std::span<f32> sums) const override {
    const state s(*this, store);
    std::vector<f64> local(s.width);
    if (backward) {
      count_gradients(store);
      std::copy_n(s.sum(), 2 * s.width, sums.data());
      return;
    }
    if (round == 0) add_sums_of_features(local.data(), store.value(inputs[0]));
    else add_squares_of_features(local.data(), store.value(inputs[0]), s.mean());
    for (std::size_t i = 0; i < s.width; ++i) sums[i] = static_cast<f32>(local[i]);
  }
  void take_sums(activation_store& store, bool backward, int round,
                 std::span<const f32> sums) const override {
    const state s(*this, store);
    const f32 tokens = static_cast<f32>(tokens_of_pass(store));
    f32* const to = backward ? s.mean_of_sum() : round == 0 ? s.mean() : s.variance();
    for (std::size_t i = 0; i < sums.size(); ++i) to[i] = sums[i] / tokens;
  }

  void forward(activation_store& store, const weight_tile& t) const override {
    const state s(*this, store);
    const std::size_t first = static_cast<std::size_t>(t.row),
                      count = static_cast<std::size_t>(t.rows.columns());
    if (follows(t)) {
      if (!store.is_training()) std::copy_n(t.rows.first(), count, statistic(s, t) + first);
      return;
    }
    if (t.which == gain) return void(std::copy_n(t.rows.first(), count, s.gain() + first));
    std::vector<f32> factor(count);
    for (std::size_t i = 0; i < count; ++i)
      factor[i] = s.gain()[first + i] * scale_of(s.variance()[first + i]);
    scale_features(columns(store.value(output), t), columns(store.value(inputs[0]), t), s.mean() + first,
                   factor.data(), t.rows.first());
  }
  void backward(activation_store& store) const override {
    if (store.is_training()) return;
    count_gradients(store);
    const state s(*this, store);
    std::fill_n(s.mean_of_sum(), 2 * s.width, 0.f);  // the statistics do not depend on x
  }
  void backward(activation_store& store, const weight_tile& t, const matrix<f32>& gradient) const override {
    const state s(*this, store);
    const std::size_t first = static_cast<std::size_t>(t.row),
                      count = static_cast<std::size_t>(t.rows.columns());
    if (follows(t)) return set_statistic(store, t, gradient.first());
    std::copy_n((t.which == gain ? s.product() : s.sum()) + first, count, gradient.first());
    if (t.which != gain || !wants_gradient(store, 0)) return;
    bool overwrite = false;  // only of all features at a time
    const matrix<f32> dx =
        count == s.width ? store.gradient(inputs[0], overwrite) : store.gradient(inputs[0]);
    std::vector<f32> of_dy(count), of_x(count), constant(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t k = first + i;
      const f32 scale = scale_of(s.variance()[k]);
      of_dy[i] = s.gain()[k] * scale;
      of_x[i] = -of_dy[i] * s.mean_of_product()[k] * scale;
      constant[i] = -of_dy[i] * s.mean_of_sum()[k];
    }
    scale_features_backward(columns(dx, t), columns(store.gradient(output), t),
                            columns(store.value(inputs[0]), t), s.mean() + first, of_dy.data(), of_x.data(),
                            constant.data(), overwrite);
  }
  /// The gain that the forward pass has kept is the one that went there.
  bool needs_weight_in_backward(int) const override { return false; }

 private:
  /// The numbers of the parameters.
  enum parameter_number { running_mean, running_variance, gain, bias };
  static bool follows(const weight_tile& t) { return t.which == running_mean || t.which == running_variance; }
  /// The numbers that are kept of each feature, (7, width).
  struct state {
    std::size_t width;
    std::span<f32> numbers;
    state(const batch_norm_stage& of, activation_store& store)
        : width(static_cast<std::size_t>(store.value(of.inputs[0]).columns())),
          numbers(store.kept(of.number, 7 * width)) {}
    f32* mean() const { return numbers.data(); }
    f32* variance() const { return numbers.data() + width; }
    f32* gain() const { return numbers.data() + 2 * width; }
    f32* sum() const { return numbers.data() + 3 * width; }      ///< of dy, over the tokens here
    f32* product() const { return numbers.data() + 4 * width; }  ///< the same of dy (x - mean) / deviation
    f32* mean_of_sum() const { return numbers.data() + 5 * width; }  ///< over all tokens
    f32* mean_of_product() const { return numbers.data() + 6 * width; }
  };
  /// The statistic that a parameter follows.
  static f32* statistic(const state& s, const weight_tile& t) {
    return t.which == running_variance ? s.variance() : s.mean();
  }
  f32 scale_of(f32 variance) const { return 1 / std::sqrt(variance + epsilon_); }
  static f64 tokens_of_pass(activation_store& store) {
    return static_cast<f64>(store.sequences_of_pass) * store.length();
  }
  template <class T>
  static matrix<T> columns(const matrix<T>& x, const weight_tile& t) {
    return x.part(0, t.row, x.rows(), t.rows.columns());
  }
  void count_gradients(activation_store& store) const {
    const state s(*this, store);
    const matrix<f32> x = store.value(inputs[0]), dy = store.gradient(output);
    std::vector<f64> sums(s.width), products(s.width);
    add_sums_of_features(sums.data(), dy);
    add_products_of_features(products.data(), dy, x, s.mean());
    for (std::size_t i = 0; i < s.width; ++i)
      s.sum()[i] = static_cast<f32>(sums[i]),
      s.product()[i] = static_cast<f32>(products[i] * static_cast<f64>(scale_of(s.variance()[i])));
  }
  /// This PE's part of the statistic of the batch: that of its micro-batch, by its part of all tokens. The
  /// variance is that of a sample, as PyTorch's. Without training it is what was there.
  void set_statistic(activation_store& store, const weight_tile& t, f32* gradient) const {
    const state s(*this, store);
    const f64 all = tokens_of_pass(store), here = store.value(output).rows() / all * store.part_of_batch;
    const bool is_of_sample = t.which == running_variance && store.is_training() && all > 1;
    const f64 of_sample = is_of_sample ? all / (all - 1) : 1;
    const f32* const from = statistic(s, t) + t.row;
    for (int i = 0; i < t.rows.columns(); ++i)
      gradient[i] = static_cast<f32>(here * of_sample * static_cast<f64>(from[i]));
  }

  f32 epsilon_;
};

}  // namespace wsl::ml
