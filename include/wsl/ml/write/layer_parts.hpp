// SPDX-License-Identifier: MIT
// The parts of layers that a column of a writer has, and what it computes with them alone: products with some
// rows or some columns of a weight matrix, norms, the feed-forward part of a block, and rows of the tables of
// an embedding. Rows x are (tokens, features). cut_weights.hpp makes these parts of a model's weights.
#pragma once
#include "../model/decoder.hpp"
#include "../op/activation.hpp"
#include "../op/attention.hpp"
#include "../op/norm.hpp"
#include "../op/rows.hpp"
#include "token_block.hpp"
#include "weight_part.hpp"

namespace wsl::ml {

/// A matrix of this shape in an array, whose numbers are lost.
inline matrix<f32> room(std::vector<f32>& of, int rows, int columns) {
  of.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  return {of.data(), rows, columns};
}
inline matrix<f32> row_of(const matrix<f32>& x, int t) { return x.part(t, 0, 1, x.columns()); }
/// x *= by
inline void multiply_all(const matrix<f32>& x, f32 by) {
  if (by == 1) return;
  for (int t = 0; t < x.rows(); ++t) run_vectorized<detail::scale_row_loop>(x.row(t), by, x.columns());
}

/// y = x W^T + bias. `as_block` as in weight_part.
struct linear_part {
  weight_part weight = {};
  std::vector<f32> bias = {};  ///< empty: none

  int outputs() const { return weight.rows(); }
  i64 bytes() const { return weight.bytes(); }
  void operator()(const matrix<f32>& y, const matrix<const f32>& x, bool as_block) const {
    weight.multiply(y, x, as_block), add_bias(y);
  }
  void add_bias(const matrix<f32>& y) const {
    if (!bias.empty()) add_to_rows(y, bias.data());
  }
};

/// y = norm(x), which every column computes whole.
struct norm_part {
  normalization how = normalization::layernorm;
  f32 epsilon = 0;
  std::vector<f32> gain = {}, bias = {};  ///< an empty bias: none

  void operator()(const matrix<f32>& y, const matrix<const f32>& x, std::vector<norm_state>& kept) const {
    kept.resize(static_cast<std::size_t>(x.rows()));
    if (how == normalization::layernorm)
      layernorm(y, kept, x, gain.data(), bias.empty() ? nullptr : bias.data(), epsilon);
    else rmsnorm(y, kept, x, gain.data(), epsilon);
  }
};

/// y = down(f(up(x))), or down(up(x) f(gate(x))), for some of the features inside: a term of what the columns
/// add up.
struct feed_forward_part {
  linear_part up = {}, gate = {}, down = {};
  nonlinearity between = nonlinearity::gelu;

  i64 bytes() const { return up.bytes() + gate.bytes() + down.bytes(); }
  /// `inside` and `beside` are room for features inside.
  void operator()(const matrix<f32>& y, const matrix<const f32>& x, bool as_block, std::vector<f32>& inside,
                  std::vector<f32>& beside) const {
    const matrix<f32> features = room(inside, x.rows(), up.outputs());
    up(features, x, as_block);
    if (is_gated(between)) {
      const matrix<f32> by = room(beside, x.rows(), up.outputs());
      gate(by, x, as_block);
      apply(features, by);
    } else apply(features, features);
    down(y, features, as_block);
  }

 private:
  void apply(const matrix<f32>& x, const matrix<const f32>& by) const {
    switch (between) {
      case nonlinearity::gelu: return activate<gelu>(x, x);
      case nonlinearity::gelu_tanh: return activate<gelu_tanh>(x, x);
      case nonlinearity::quick_gelu: return activate<quick_gelu>(x, x);
      case nonlinearity::relu: return activate<relu>(x, x);
      case nonlinearity::silu: return activate<silu>(x, x);
      case nonlinearity::swiglu: return ml::gate<silu>(x, x, by);
      case nonlinearity::geglu: return ml::gate<gelu>(x, x, by);
      case nonlinearity::reglu: return ml::gate<relu>(x, x, by);
      case nonlinearity::geglu_tanh: return ml::gate<gelu_tanh>(x, x, by);
    }
  }
};

/// x = the rows of those tokens of a block that the column has, `own`; and on one column, which has the table
/// of positions, also the rows of these.
inline void embed_tokens(const matrix<f32>& x, const token_block& b, const weight_part& tokens,
                         feature_run own, const weight_part& positions) {
  clear(x);
  for (int t = 0; t < b.rows(); ++t) {
    const std::size_t row = static_cast<std::size_t>(t);
    const int token = b.ids[row] - own.first;
    if (token >= 0 && token < own.count) tokens.add_row(x.row(t), token);
    if (positions.rows()) positions.add_row(x.row(t), b.positions[row]);
  }
}

/// Adds to each row the one of its token's position in a table of waves, (positions, features), if there are
/// any.
inline void add_waves(const matrix<f32>& x, const std::vector<f32>& waves, const token_block& b) {
  for (int t = 0; t < b.rows() && !waves.empty(); ++t)
    add(row_of(x, t),
        {waves.data() + i64{b.positions[static_cast<std::size_t>(t)]} * x.columns(), 1, x.columns()});
}

}  // namespace wsl::ml
