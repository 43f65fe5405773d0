// SPDX-License-Identifier: MIT
// A layer of GPT-2 that is cut over a rectangle of PEs: the features over the columns, one head of the
// attention each, and the tokens over the rows. The weights are in no PE; they stream in as rows of numbers,
// in the order in which the PEs need them, and the rows of their gradients stream out.
//   h = x + join(attention(qkv(norm(x)))), y = h + down(gelu(up(norm(h)))); each product adds a bias
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/bad_argument.hpp"

namespace wsl::transformer {

/// A PE holds the features of a head, for a number of tokens.
struct layer_shape {
  int features, tokens;
};

/// The vectors of a token: x and the like; queries, keys and values one after the other; the inside of the
/// feed-forward part.
enum class vector_kind : u8 { model, qkv, hidden };
/// So many times the features of the model.
constexpr int parts(vector_kind k) { return k == vector_kind::model ? 1 : k == vector_kind::qkv ? 3 : 4; }

enum product_of_layer : std::size_t { qkv, join, up, down };
struct product_kinds {
  vector_kind in, out;
};
inline constexpr product_kinds kinds_of[4] = {{vector_kind::model, vector_kind::qkv},
                                              {vector_kind::model, vector_kind::model},
                                              {vector_kind::model, vector_kind::hidden},
                                              {vector_kind::hidden, vector_kind::model}};

/// The weights of a layer, or their gradients, for d features.
struct layer_weights {
  /// of the norms before the attention and before the feed-forward part: d numbers each
  std::array<std::vector<f32>, 2> gain, offset;
  /// of the products: (inputs, outputs), row after row, as in GPT-2's files
  std::array<std::vector<f32>, 4> matrix;
  std::array<std::vector<f32>, 4> bias;

  /// Throws std::invalid_argument for fewer than one feature, or more than 65536.
  static layer_weights zeros(int d) {
    if (d < 1 || d > 65536) support::bad_argument({"a layer has 1 to 65536 features, not ", d});
    layer_weights w;
    const auto count = [&](vector_kind k) { return static_cast<std::size_t>(parts(k) * d); };
    for (std::size_t n = 0; n < 2; ++n)
      w.gain[n].assign(count(vector_kind::model), 0), w.offset[n] = w.gain[n];
    for (std::size_t m = 0; m < 4; ++m)
      w.matrix[m].assign(count(kinds_of[m].in) * count(kinds_of[m].out), 0),
          w.bias[m].assign(count(kinds_of[m].out), 0);
    return w;
  }
};

/// Throws std::invalid_argument if an array has not the size that d features give it.
inline void require_sizes(const layer_weights& w, int d) {
  const layer_weights right = layer_weights::zeros(d);
  const auto same = [&](const auto& arrays, const auto& those, const char* name) {
    for (std::size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k].size() != those[k].size())
        support::bad_argument({"a layer of ", d, " features has ", name, " ", k, " of ", those[k].size(),
                               " numbers, not of ", arrays[k].size()});
  };
  same(w.gain, right.gain, "gain"), same(w.offset, right.offset, "offset");
  same(w.matrix, right.matrix, "matrix"), same(w.bias, right.bias, "bias");
}

/// The first number under the root of a norm's variance.
inline constexpr f64 norm_epsilon = 1e-5;

/// The position in its sequence of a PE's token. The first half of a PE's tokens is that of its row from the
/// front, the second half that of its row from the back. So each row has as many earlier tokens as any other,
/// and attention gives all PEs equal work (Brandon et al., "Striped Attention", arXiv 2311.09431, cut the
/// sequence for the same reason).
constexpr int position(int row, int token, int rows, int tokens) {
  const int half = tokens / 2;
  return token < half ? row * half + token : (2 * rows - 1 - row) * half + token - half;
}

/// Which of a vector's numbers a column of PEs has: its i-th is that of this index.
struct features_of_column {
  int features, columns;  // of a PE, and of the grid

  constexpr int operator()(vector_kind k, int column, int i) const {
    if (k != vector_kind::qkv) return column * parts(k) * features + i;
    return (i / features * columns + column) * features + i % features;
  }
};

/// A row of weights, as it travels: every stride-th number of an array from `first` on.
struct row_of_weights {
  std::size_t first, stride;
};

/// The rows that a column of PEs takes, in their order. `pe_at(place)` is the column at a place of the ring
/// of columns; a column at place p meets the outputs of place p - 1 - s in step s.
template <class PeAt>
class streaming_order {
 public:
  constexpr streaming_order(const features_of_column& cut, int column, int place, PeAt pe_at)
      : cut_(cut), column_(column), place_(place), pe_at_(pe_at) {}

  /// use(array, row) for all rows of a forward pass.
  template <class Weights, class Use>
  void forward(Weights& w, Use use) const {
    norm(w, 0, use);
    for (product_of_layer m : {qkv, join}) product(w, m, use);
    norm(w, 1, use);
    for (product_of_layer m : {up, down}) product(w, m, use);
  }
  /// The weights of a backward pass.
  template <class Weights, class Use>
  void backward(Weights& w, Use use) const {
    for (product_of_layer m : {down, up, join, qkv}) transposed(w, m, use);
  }
  /// The gradients that leave in a backward pass.
  template <class Weights, class Use>
  void gradients(Weights& w, Use use) const {
    for (product_of_layer m : {down, up}) gradient(w, m, use);
    norm(w, 1, use);
    for (product_of_layer m : {join, qkv}) gradient(w, m, use);
    norm(w, 0, use);
  }

 private:
  template <class Weights, class Use>
  void norm(Weights& w, std::size_t n, Use& use) const {
    const row_of_weights r{index(vector_kind::model, column_, 0), 1};
    use(w.gain[n], r), use(w.offset[n], r);
  }
  template <class Weights, class Use>
  void product(Weights& w, product_of_layer m, Use& use) const {
    const auto [in, out] = kinds_of[m];
    const std::size_t outputs = width(out);
    for (int b = 0; b < parts(out); ++b) {
      for (int s = 0; s < cut_.columns; ++s)
        for (int i = 0; i < parts(in) * cut_.features; ++i)
          use(w.matrix[m],
              row_of_weights{index(in, column_, i) * outputs + index(out, met(s + 1), b * cut_.features), 1});
      use(w.bias[m], row_of_weights{index(out, column_, b * cut_.features), 1});
    }
  }
  template <class Weights, class Use>
  void transposed(Weights& w, product_of_layer m, Use& use) const {
    const auto [in, out] = kinds_of[m];
    const std::size_t outputs = width(out);
    for (int b = 0; b < parts(in); ++b)
      for (int s = 0; s < cut_.columns; ++s)
        for (int i = 0; i < parts(out) * cut_.features; ++i)
          use(w.matrix[m],
              row_of_weights{index(in, met(s + 1), b * cut_.features) * outputs + index(out, column_, i),
                             outputs});
  }
  template <class Weights, class Use>
  void gradient(Weights& w, product_of_layer m, Use& use) const {
    const auto [in, out] = kinds_of[m];
    const std::size_t outputs = width(out);
    for (int b = 0; b < parts(out); ++b) {
      for (int s = 0; s < cut_.columns; ++s)
        for (int i = 0; i < parts(in) * cut_.features; ++i)
          use(w.matrix[m],
              row_of_weights{index(in, column_, i) * outputs + index(out, met(s), b * cut_.features), 1});
      use(w.bias[m], row_of_weights{index(out, column_, b * cut_.features), 1});
    }
  }

  /// The column whose part comes by in a step.
  int met(int back) const { return pe_at_((place_ - back + cut_.columns) % cut_.columns); }
  std::size_t width(vector_kind k) const {
    return static_cast<std::size_t>(parts(k) * cut_.features * cut_.columns);
  }
  std::size_t index(vector_kind k, int column, int i) const {
    return static_cast<std::size_t>(cut_(k, column, i));
  }

  features_of_column cut_;
  int column_, place_;
  PeAt pe_at_;
};

}  // namespace wsl::transformer
