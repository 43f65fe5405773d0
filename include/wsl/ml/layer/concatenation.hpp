// SPDX-License-Identifier: MIT
// The features of several values side by side, as where a skip connection joins two branches. A column of
// workers has the same part of each.
#pragma once
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class concatenation_stage final : public stage {
 public:
  /// The inputs have so many features.
  explicit concatenation_stage(std::vector<int> widths) : widths_(std::move(widths)) {}

  stage_cut how_cut() const override { return stage_cut::by_head; }
  std::vector<feature_group> groups_of_input(int k) const override {
    return {{0, widths_[static_cast<std::size_t>(k)], 1}};
  }
  std::vector<feature_group> groups_of_output() const override {
    std::vector<feature_group> all;
    for (int first = 0; const int width : widths_) all.push_back({first, width, 1}), first += width;
    return all;
  }

  void forward(activation_store& store) const override {
    const matrix<f32> y = store.value(output);
    for (int first = 0; const int v : inputs) {
      const matrix<f32> x = store.value(v);
      copy(y.part(0, first, x.rows(), x.columns()), x);
      first += x.columns();
    }
  }
  void backward(activation_store& store) const override {
    const matrix<f32> dy = store.gradient(output);
    int first = 0;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const int columns = store.value(inputs[k]).columns();
      const matrix<f32> from = dy.part(0, first, dy.rows(), columns);
      first += columns;
      if (!wants_gradient(store, static_cast<int>(k))) continue;
      bool overwrite = false;
      const matrix<f32> dx = store.gradient(inputs[k], overwrite);
      if (overwrite) copy(dx, from);
      else add(dx, from);
    }
  }
  f64 operations(int, int, int columns, int) const override { return 3. * columns; }

 private:
  std::vector<int> widths_;
};

}  // namespace wsl::ml
