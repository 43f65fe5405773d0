// SPDX-License-Identifier: MIT
// Norms over the pixels of an image (or the tokens of a sequence): the features are cut into groups, and each
// group of each image gets a mean of 0 and a variance of 1, and then a gain and a bias for each feature. With
// a group for each feature it is instance norm (arXiv:1607.08022), otherwise group norm (arXiv:1803.08494).
// Columns of workers have whole groups.
#pragma once
#include <cmath>

#include "../op/channels.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class image_norm_stage final : public stage {
 public:
  /// `groups` groups of `of_group` features. The parameters are the gain and the bias.
  image_norm_stage(int groups, int of_group, f32 epsilon)
      : groups_(groups), of_group_(of_group), epsilon_(epsilon) {}

  stage_cut how_cut() const override { return stage_cut::by_feature; }
  std::vector<feature_group> groups_of_output() const override { return {{0, groups_, of_group_}}; }
  bool needs_whole_sequences() const override { return true; }

  void forward(activation_store& store) const override {
    const matrix<f32> x = store.value(inputs[0]);
    const state s(*this, store);
    std::vector<f64> sums(s.width);
    for (int n = 0; n < s.images; ++n) {
      const matrix<const f32> of = image(x, s, n);
      std::fill(sums.begin(), sums.end(), 0.);
      add_sums_of_features(sums.data(), of);
      each_group(sums, s, [&](std::size_t i, f64 mean) { s.mean(n)[i] = static_cast<f32>(mean); });
      std::fill(sums.begin(), sums.end(), 0.);
      add_squares_of_features(sums.data(), of, s.mean(n));
      each_group(sums, s, [&](std::size_t i, f64 variance) {
        s.scale(n)[i] = static_cast<f32>(1 / std::sqrt(variance + static_cast<f64>(epsilon_)));
      });
    }
  }
  /// The gain waits for the bias, so that the output is written once.
  void forward(activation_store& store, const weight_tile& t) const override {
    const state s(*this, store);
    const std::size_t first = static_cast<std::size_t>(t.row),
                      count = static_cast<std::size_t>(t.rows.columns());
    if (t.which == 0) return void(std::copy_n(t.rows.first(), count, s.gain() + first));
    const matrix<f32> x = store.value(inputs[0]), y = store.value(output);
    std::vector<f32> factor(count);
    for (int n = 0; n < s.images; ++n) {
      for (std::size_t i = 0; i < count; ++i) factor[i] = s.gain()[first + i] * s.scale(n)[first + i];
      scale_features(columns(image(y, s, n), t), columns(image(x, s, n), t), s.mean(n) + first, factor.data(),
                     t.rows.first());
    }
  }
  void backward(activation_store& store) const override {
    const matrix<f32> x = store.value(inputs[0]), dy = store.gradient(output);
    const state s(*this, store);
    std::vector<f64> sums(s.width), products(s.width);
    for (int n = 0; n < s.images; ++n) {
      std::fill(sums.begin(), sums.end(), 0.), std::fill(products.begin(), products.end(), 0.);
      add_sums_of_features(sums.data(), image(dy, s, n));
      add_products_of_features(products.data(), image(dy, s, n), image(x, s, n), s.mean(n));
      for (std::size_t i = 0; i < s.width; ++i)
        s.sum(n)[i] = static_cast<f32>(sums[i]),
        s.product(n)[i] = static_cast<f32>(products[i] * static_cast<f64>(s.scale(n)[i]));
    }
  }
  void backward(activation_store& store, const weight_tile& t, const matrix<f32>& gradient) const override {
    const state s(*this, store);
    const std::size_t first = static_cast<std::size_t>(t.row),
                      count = static_cast<std::size_t>(t.rows.columns());
    clear(gradient);
    for (int n = 0; n < s.images; ++n)
      for (std::size_t i = 0; i < count; ++i)
        gradient.first()[i] += (t.which == 0 ? s.product(n) : s.sum(n))[first + i];
    if (t.which != 0 || !wants_gradient(store, 0)) return;
    const matrix<f32> x = store.value(inputs[0]), dy = store.gradient(output);
    bool overwrite = false;  // only of all features at a time
    const matrix<f32> dx =
        count == s.width ? store.gradient(inputs[0], overwrite) : store.gradient(inputs[0]);
    // A group may reach beyond a tile; the forward pass has kept the gains of all.
    std::vector<f32> of_dy(count), of_x(count), constant(count);
    const f64 numbers = s.numbers_of_group();
    for (int n = 0; n < s.images; ++n) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t group = (first + i) / s.of_group * s.of_group;
        f64 sum = 0, product = 0;
        for (std::size_t k = group; k < group + s.of_group; ++k)
          sum += static_cast<f64>(s.gain()[k]) * static_cast<f64>(s.sum(n)[k]),
              product += static_cast<f64>(s.gain()[k]) * static_cast<f64>(s.product(n)[k]);
        const f64 scale = static_cast<f64>(s.scale(n)[first + i]);
        of_dy[i] = s.gain()[first + i] * s.scale(n)[first + i];
        of_x[i] = static_cast<f32>(-scale * scale * product / numbers);
        constant[i] = static_cast<f32>(-scale * sum / numbers);
      }
      scale_features_backward(columns(image(dx, s, n), t), columns(image(dy, s, n), t),
                              columns(image(x, s, n), t), s.mean(n) + first, of_dy.data(), of_x.data(),
                              constant.data(), overwrite);
    }
  }
  bool needs_weight_in_backward(int) const override { return false; }

 private:
  /// The numbers that are kept of each image and feature, (images, 4, width), and before them the gain,
  /// (width).
  struct state {
    int tokens, images;
    std::size_t width, of_group;
    std::span<f32> numbers;
    state(const image_norm_stage& of, activation_store& store)
        : tokens(store.length_of(of.inputs[0])),
          images(store.value(of.inputs[0]).rows() / tokens),
          width(static_cast<std::size_t>(store.value(of.inputs[0]).columns())),
          of_group(static_cast<std::size_t>(of.of_group_)),
          numbers(store.kept(of.number, width * (1 + 4 * static_cast<std::size_t>(images)))) {}
    f64 numbers_of_group() const { return static_cast<f64>(tokens) * static_cast<f64>(of_group); }
    f32* gain() const { return numbers.data(); }
    f32* mean(int n) const { return of_image(n, 0); }
    f32* scale(int n) const { return of_image(n, 1); }    ///< 1 / standard deviation
    f32* sum(int n) const { return of_image(n, 2); }      ///< of dy
    f32* product(int n) const { return of_image(n, 3); }  ///< of dy and what has been made of x
    f32* of_image(int n, std::size_t k) const {
      return numbers.data() + width * (1 + 4 * static_cast<std::size_t>(n) + k);
    }
  };
  static matrix<f32> image(const matrix<f32>& x, const state& s, int n) {
    return x.part(n * s.tokens, 0, s.tokens, x.columns());
  }
  template <class T>
  static matrix<T> columns(const matrix<T>& x, const weight_tile& t) {
    return x.part(0, t.row, x.rows(), t.rows.columns());
  }
  /// Calls f(feature, mean of its group) for each feature, with sums over the tokens of an image.
  template <class F>
  void each_group(const std::vector<f64>& sums, const state& s, F f) const {
    for (std::size_t first = 0; first < s.width; first += s.of_group) {
      f64 sum = 0;
      for (std::size_t i = first; i < first + s.of_group; ++i) sum += sums[i];
      for (std::size_t i = first; i < first + s.of_group; ++i) f(i, sum / s.numbers_of_group());
    }
  }

  int groups_, of_group_;
  f32 epsilon_;
};

}  // namespace wsl::ml
