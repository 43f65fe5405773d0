// SPDX-License-Identifier: MIT
// One layer of GPT-2 on a wafer, forward and backward, by weight streaming: the activations stay on the PEs,
// the weights come from the host and the gradients go there, as from and to MemoryX. The timed engine counts
// the cycles of the words and of the arithmetic. A column of PEs has one head, and a row a few tokens; each
// sequence has `rows` rows.
//   transformer::wafer_layer<{.features = 64, .tokens = 8}> layer(12, 4, 1, wse2, timed{});
//   layer.forward(weights, x, y);
//   layer.backward(weights, gradient_of_y, gradient_of_x, gradients);
// The mapping is described in docs/guide/kernel.md.
#pragma once
#include <utility>

#include "../../host/device.hpp"
#include "../../support/bad_argument.hpp"
#include "layer_pe.hpp"

namespace wsl::transformer {

/// columns x (rows * sequences) PEs. The layer has columns * shape.features features in as many heads as
/// columns, and each of the sequences rows * shape.tokens tokens.
template <layer_shape shape>
class wafer_layer {
  using program = layer_pe<shape>;

 public:
  /// The bytes of a PE's SRAM that the program takes.
  static constexpr int bytes = program_v<program>.bytes;

  /// Throws std::invalid_argument for fewer than two columns, or more than 2 * shape.features, since the sums
  /// of all columns' tokens go through a PE's four buffers; for fewer than one row or sequence; and fault if
  /// the machine is too small for the grid or its PEs for the layer.
  template <class Engine = threaded>
  wafer_layer(int columns, int rows, int sequences, const machine& target = wse2, const Engine& engine = {})
      : columns_(checked(columns, rows, sequences)),
        rows_(rows),
        sequences_(sequences),
        fabric_(program::plan(target, columns, rows, sequences), engine),
        host_(fabric_) {}

  int features() const { return columns_ * shape.features; }
  /// Of all sequences together.
  int tokens() const { return sequences_ * rows_ * shape.tokens; }

  /// x and y are (tokens, features), one sequence after the other. The PEs keep what the backward pass needs.
  /// Throws std::invalid_argument if the lengths do not fit.
  outcome forward(const layer_weights& w, std::span<const f32> x, std::span<f32> y) {
    check(w), check("x", x.size()), check("y", y.size());
    put(x);
    stream(w, [](const auto& order, const layer_weights& from, auto use) { order.forward(from, use); });
    const outcome done = fabric_.template launch<&program::forward>(all, rows_);
    get(y);
    is_ahead_ = true;
    return done;
  }
  /// From the gradient of the last forward pass's y, that of its x, and those of the weights, as sums over
  /// all tokens. Throws std::invalid_argument if the lengths do not fit, or if no forward pass came before.
  outcome backward(const layer_weights& w, std::span<const f32> of_y, std::span<f32> of_x,
                   layer_weights& gradient) {
    check(w), check("the gradient of y", of_y.size()), check("the gradient of x", of_x.size());
    if (!std::exchange(is_ahead_, false))
      support::bad_argument({"backward() follows forward(): the PEs keep what one backward pass needs"});
    put(of_y);
    stream(w, [](const auto& order, const layer_weights& from, auto use) { order.backward(from, use); });
    const outcome done = fabric_.template launch<&program::backward>(all, rows_);
    get(of_x);
    gradient = layer_weights::zeros(features());
    std::vector<f32> words;
    for (int column = 0; column < columns_; ++column)
      order(column).gradients(gradient, [&](const auto&, const row_of_weights&) {
        words.resize(words.size() + std::size_t{shape.features});
      });
    host_.stream_out(gradient_rows[(rows_ * sequences_ - 1) % 2], words);
    std::size_t at = 0;
    for (int column = 0; column < columns_; ++column)
      order(column).gradients(gradient, [&](std::vector<f32>& to, const row_of_weights& r) {
        for (std::size_t i = 0; i < std::size_t{shape.features}; ++i)
          to[r.first + i * r.stride] = words[at++];
      });
    return done;
  }

 private:
  static int checked(int columns, int rows, int sequences) {
    if (columns < 2 || columns > 2 * shape.features)
      support::bad_argument({"a layer with ", shape.features, " features a PE has 2 to ", 2 * shape.features,
                             " columns of PEs, not ", columns});
    if (rows < 1 || sequences < 1)
      support::bad_argument(
          {"a layer has at least one sequence on at least one row of PEs, not ", sequences, " on ", rows});
    if (i64{rows} * sequences > 1 << 20)
      support::bad_argument({sequences, " sequences of ", rows, " rows are ", i64{rows} * sequences,
                             " rows of PEs: no machine has so many"});
    return columns;
  }
  void check(const char* name, std::size_t size) const {
    if (size != static_cast<std::size_t>(tokens()) * static_cast<std::size_t>(features()))
      support::bad_argument({"this layer takes ", tokens(), " tokens of ", features(), " numbers, and ", name,
                             " has ", size, " numbers"});
  }
  void check(const layer_weights& w) const { require_sizes(w, features()); }

  auto order(int column) const {
    return streaming_order(features_of_column{shape.features, columns_}, column,
                           along_rows.place(column, columns_),
                           [n = columns_](int place) { return along_rows.pe_at(place, n); });
  }
  template <class Rows>
  void stream(const layer_weights& w, Rows rows) {
    std::vector<f32> words;
    for (int column = 0; column < columns_; ++column)
      rows(order(column), w, [&](const std::vector<f32>& from, const row_of_weights& r) {
        for (std::size_t i = 0; i < std::size_t{shape.features}; ++i)
          words.push_back(from[r.first + i * r.stride]);
      });
    host_.stream_in(weight_rows, words);
  }

  /// use(the place of a number in the host's array, the number on its PE)
  template <class Use>
  void each_number(Use use) {
    const features_of_column cut{shape.features, columns_};
    for (int y = 0; y < rows_ * sequences_; ++y)
      for (int x = 0; x < columns_; ++x) {
        program& at = fabric_.template program_at<program>({x, y});
        for (int t = 0; t < shape.tokens; ++t) {
          const int token = y / rows_ * rows_ * shape.tokens + position(y % rows_, t, rows_, shape.tokens);
          for (int i = 0; i < shape.features; ++i)
            use(static_cast<std::size_t>(token * features() + cut(vector_kind::model, x, i)), at.at(i, t));
        }
      }
  }
  void put(std::span<const f32> x) {
    each_number([&](std::size_t k, f32& here) { here = x[k]; });
  }
  void get(std::span<f32> y) {
    each_number([&](std::size_t k, f32& here) { y[k] = here; });
  }

  bool is_ahead_ = false;  // a forward pass waits for its backward pass
  int columns_, rows_, sequences_;
  fabric fabric_;
  device host_;
};

}  // namespace wsl::transformer
