// SPDX-License-Identifier: MIT
// A causal language model whose sizes come from a file or from the command line: GPT-2, GPT-J, Llama, MPT and
// their relatives. A block is
//   x = x + project(attention(norm(x)));  x = x + down(f(up(norm(x))))
// or has both parts side by side. The logits are norm(x) times the table of tokens, or times a matrix of
// their own. Sizes that do not fit throw std::invalid_argument. See examples/91_decoders.cpp.
#pragma once
#include <fmt/format.h>

#include <cmath>

#include "network.hpp"

namespace wsl::ml {

/// The function between the matrices of the feed-forward part. The last three multiply up(x) by a function of
/// gate(x), the product with a third matrix.
enum class nonlinearity : u8 { gelu, gelu_tanh, relu, silu, swiglu, geglu, reglu };
enum class normalization : u8 { layernorm, rmsnorm };
/// The encoding of a token's position: a learned table, fixed sinusoids, rotary queries and keys, ALiBi's
/// penalties, or none.
enum class positioning : u8 { learned, fixed, rotary, alibi, none };
/// The feed-forward part after attention, or beside it on the same norm (GPT-J) or one of its own (GPT-NeoX).
enum class block_order : u8 { sequential, parallel, parallel_two_norms };

struct decoder {
  int vocabulary = 0, positions = 0, layers = 0, heads = 0, width = 0;
  int filter = 0;    ///< features inside the feed-forward part; 0: 4 * width
  bool bias = true;  ///< whether linear layers and norms have biases
  nonlinearity between = nonlinearity::gelu;
  f32 epsilon = 1e-5f,
      deviation = 0.02f;  ///< added to the variance in norms; standard deviation of the initial weights
  /// Heads of keys and values: 1 is multi-query attention, fewer than `heads` grouped-query attention; 0: as
  /// many as `heads`.
  int kv_heads = 0;
  normalization norm = normalization::layernorm;
  positioning position = positioning::learned;
  int rotary_features = 0;  ///< features of each head that are rotated; 0: all
  f64 rotary_base = 10000;
  pairs rotary_pairs = pairs::neighbours;
  block_order order = block_order::sequential;
  bool tied = true;  ///< the head's matrix is the table of tokens
  /// Probabilities of dropout: of the embedding and of the branches that are added to x; of the weights of
  /// attention.
  f32 dropout = 0, attention_dropout = 0;

  /// The network, with the loss as its last stage. Throws std::invalid_argument for sizes that do not fit.
  network build() const {
    network n;
    int x = n.embedding("embedding", vocabulary, position == positioning::learned ? positions : 0, width,
                        initial::normal(deviation));
    if (position == positioning::fixed) x = n.fixed_positions("waves", x, positions);
    x = n.dropout("dropout", x, dropout);
    for (int l = 0; l < layers; ++l) x = block(n, fmt::format("layer {} ", l), x);
    const int last = normalized(n, "last norm", x);
    n.cross_entropy("loss", tied ? n.tied_linear("head", last, 0)
                                 : n.linear("head", last, vocabulary, false, initial::normal(deviation)));
    return n;
  }

 private:
  int block(network& n, const std::string& name, int x) const {
    const int first = normalized(n, name + "norm 1", x);
    const int attended = attention(n, name, first);
    if (order == block_order::sequential) {
      x = n.sum(name + "sum 1", x, attended);
      return n.sum(name + "sum 2", x, feed_forward(n, name, normalized(n, name + "norm 2", x)));
    }
    const int beside = order == block_order::parallel ? first : normalized(n, name + "norm 2", x);
    return n.sum(name + "sum 2", n.sum(name + "sum 1", x, attended), feed_forward(n, name, beside));
  }
  int attention(network& n, const std::string& name, int x) const {
    const attention_heads shape{heads, kv_heads, position == positioning::alibi, attention_dropout};
    const int of_keys = kv_heads && heads ? width / heads * kv_heads : width;
    int qkv = n.linear(name + "qkv", x, width + 2 * of_keys, bias, initial::normal(deviation));
    if (position == positioning::rotary)
      qkv = n.rotary(name + "rotary", qkv, shape, positions, rotary_features, rotary_base, rotary_pairs);
    const int y = n.attention(name + "attention", qkv, shape);
    return n.dropout(name + "dropout 1", n.linear(name + "projection", y, width, bias, residual()), dropout);
  }
  int feed_forward(network& n, const std::string& name, int x) const {
    const int inside = filter ? filter : 4 * width;
    const int up = n.linear(name + "up", x, inside, bias, initial::normal(deviation));
    const bool gated =
        between == nonlinearity::swiglu || between == nonlinearity::geglu || between == nonlinearity::reglu;
    const int gate = gated ? n.linear(name + "gate", x, inside, bias, initial::normal(deviation)) : up;
    const int y = between_of(n, name + "between", up, gate);
    return n.dropout(name + "dropout 2", n.linear(name + "down", y, width, bias, residual()), dropout);
  }
  int between_of(network& n, const std::string& name, int x, int gate) const {
    switch (between) {
      case nonlinearity::gelu: return n.activation<gelu>(name, x);
      case nonlinearity::gelu_tanh: return n.activation<gelu_tanh>(name, x);
      case nonlinearity::relu: return n.activation<relu>(name, x);
      case nonlinearity::silu: return n.activation<silu>(name, x);
      case nonlinearity::swiglu: return n.gate<silu>(name, x, gate);
      case nonlinearity::geglu: return n.gate<gelu>(name, x, gate);
      case nonlinearity::reglu: return n.gate<relu>(name, x, gate);
    }
    return x;
  }
  int normalized(network& n, const std::string& name, int x) const {
    return n.norm(name, x, epsilon, norm == normalization::layernorm, bias);
  }
  /// Layers that add to the residual start the smaller, the more of them there are (GPT-2).
  initial residual() const { return initial::normal(deviation / std::sqrt(2 * static_cast<f32>(layers))); }
};

}  // namespace wsl::ml
