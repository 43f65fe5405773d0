// SPDX-License-Identifier: MIT
// Projects the tokens of a sequence to fewer ones, feature by feature: y = E x, with x (tokens, features), E
// (projected tokens, tokens) and y (projected tokens, features). With keys and values projected so, attention
// costs as many operations for each query, however long the sequence is (Linformer, arXiv:2006.04768).
#pragma once
#include <algorithm>
#include <vector>

#include "../../linalg/dense.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class token_projection_stage final : public stage {
 public:
  /// Input 0 is (tokens, keys | values), each of `heads` heads of `width` features. Input 1, if there is
  /// one, is a mask of ids: a token with 0 takes no part. The parameters are E, (projected tokens,
  /// positions of the longest sequence), for keys and values, or one for each; with biases, each has before
  /// it a vector of one number for each projected token, (projected tokens, 1).
  token_projection_stage(int heads, int width, bool has_bias, bool is_shared)
      : heads_(heads), width_(width), has_bias_(has_bias), is_shared_(is_shared) {}

  stage_cut how_cut() const override { return stage_cut::by_head; }
  std::vector<feature_group> groups_of_input(int) const override {
    return {{0, heads_, width_}, {heads_ * width_, heads_, width_}};
  }
  std::vector<feature_group> groups_of_output() const override { return groups_of_input(0); }
  bool needs_whole_sequences() const override { return true; }
  bool reads_operands(int which) const override { return !is_bias(which); }
  /// Of a token: its features, once for each projected token.
  f64 operations(int which, int rows, int, int) const override {
    return which < 0 || is_bias(which) ? 0 : 6. * rows * heads_ * width_ * (is_shared_ ? 2 : 1);
  }

  void forward(activation_store& store) const override { clear(store.value(output)); }
  void forward(activation_store& store, const weight_tile& s) const override {
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      std::vector<T> room;
      each_sequence(
          store, s,
          [&](int first, const matrix<f32>& y) {
            if (is_bias(s.which)) add_to_rows(y, s.rows);
            else multiply_add(y, columns(s.as<T>(), store), seen(store, s, first, room));
          },
          store.value(output));
    });
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    clear(gradient);
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      std::vector<T> room;
      std::vector<f32> back;
      each_sequence(
          store, s,
          [&](int first, const matrix<const T>& dy) {
            if (is_bias(s.which)) return add_sums(gradient, dy);
            multiply_add(columns(gradient, store), dy, seen(store, s, first, room).transposed());
            if (!wants_gradient(store, 0)) return;
            const matrix<f32> dx =
                half(store.gradient(inputs[0]), s).part(first, 0, length(store), dy.columns());
            back.resize(static_cast<std::size_t>(dx.rows()) * static_cast<std::size_t>(dx.columns()));
            const matrix<f32> all(back.data(), dx.rows(), dx.columns());
            multiply(all, columns(s.as<T>(), store).transposed(), dy);
            for (int t = 0; t < dx.rows(); ++t)
              if (is_seen(store, first + t))
                add(dx.part(t, 0, 1, dx.columns()), all.part(t, 0, 1, dx.columns()));
          },
          store.operand_of_gradient<T>(output));
    });
  }

 private:
  bool is_bias(int which) const { return has_bias_ && which % 2 == 0; }
  int length(const activation_store& store) const { return store.length_of(inputs[0]); }
  /// The part of a value that a tile concerns: all of it, or the keys or the values alone.
  template <class T>
  matrix<T> half(const matrix<T>& x, const weight_tile& s) const {
    if (is_shared_) return x;
    const int width = x.columns() / 2, of_values = s.which / (has_bias_ ? 2 : 1);
    return x.part(0, of_values * width, x.rows(), width);
  }
  /// Calls f(first token of a sequence, the rows of y that the tile gives for it).
  template <class T, class F>
  void each_sequence(const activation_store& store, const weight_tile& s, F f, const matrix<T>& y) const {
    if (y.columns() == 0) return;
    const int projected = store.length();
    const matrix<T> all = half(y, s);
    for (int k = 0; k * projected < y.rows(); ++k)
      f(k * length(store), all.part(k * projected + s.row, 0, s.rows.rows(), all.columns()));
  }
  /// The columns of E, one for each token of these sequences.
  template <class T>
  matrix<T> columns(const matrix<T>& e, const activation_store& store) const {
    return e.part(0, 0, e.rows(), length(store));
  }
  bool is_seen(const activation_store& store, int t) const {
    return inputs.size() < 2 || !store.has(inputs[1]) || store.ids(inputs[1])[static_cast<std::size_t>(t)];
  }
  /// The tokens of a sequence, with zeros for those that are hidden: only where there is a mask they are
  /// copied, to `room`.
  template <class T>
  matrix<const T> seen(activation_store& store, const weight_tile& s, int first, std::vector<T>& room) const {
    const matrix<const T> all = half(store.operand<T>(inputs[0]), s);
    const matrix<const T> x = all.part(first, 0, length(store), all.columns());
    if (inputs.size() < 2 || !store.has(inputs[1])) return x;
    room.assign(static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(x.columns()), T(0));
    for (int t = 0; t < x.rows(); ++t)
      if (is_seen(store, first + t))
        std::copy_n(x.row(t), x.columns(), room.begin() + std::ptrdiff_t{t} * x.columns());
    return {room.data(), x.rows(), x.columns()};
  }
  static void add_to_rows(const matrix<f32>& y, const matrix<f32>& bias) {
    for (int j = 0; j < y.rows(); ++j)
      for (int c = 0; c < y.columns(); ++c) y(j, c) += bias(j, 0);
  }
  template <class T>
  static void add_sums(const matrix<f32>& to, const matrix<const T>& dy) {
    for (int j = 0; j < dy.rows(); ++j) {
      f64 sum = 0;
      for (int c = 0; c < dy.columns(); ++c) sum += static_cast<f64>(static_cast<f32>(dy(j, c)));
      to(j, 0) += static_cast<f32>(sum);
    }
  }

  int heads_, width_;
  bool has_bias_, is_shared_;
};

}  // namespace wsl::ml
