// SPDX-License-Identifier: MIT
// A causal language model whose sizes come from a file or from the command line: GPT-2 and its relatives. A block is
//   x = x + project(attention(norm(x)));  x = x + down(f(up(norm(x))))
// and the logits are norm(x) times the table of tokens. A width that the heads do not divide is refused by a sentence.
#pragma once
#include <cmath>

#include "network.hpp"

namespace wsl::ml {

enum class nonlinearity : u8 { gelu, gelu_tanh, relu, silu };

struct decoder {
  int vocabulary = 0, positions = 0, layers = 0, heads = 0, width = 0;
  int filter = 0;                          ///< features inside the feed-forward part; 0: 4 * width
  bool bias = true;                        ///< of linear layers and norms
  nonlinearity between = nonlinearity::gelu;
  f32 epsilon = 1e-5f, deviation = 0.02f;  ///< of the norms; of the initial weights

  /// The network, with the loss as its last stage.
  network build() const {
    network n;
    int x = n.embedding("embedding", vocabulary, positions, width, initial::normal(deviation));
    for (int l = 0; l < layers; ++l) x = block(n, "layer " + std::to_string(l), x);
    const int last = n.norm("last norm", x, epsilon, true, bias);
    n.cross_entropy("loss", n.tied_linear("head", last, 0));
    return n;
  }

 private:
  int block(network& n, const std::string& name, int x) const {
    // What adds to the residual starts smaller, the more of it there is (GPT-2).
    const initial start = initial::normal(deviation), residual = initial::normal(deviation / std::sqrt(2 * static_cast<f32>(layers)));
    const int qkv = n.linear(name + " qkv", n.norm(name + " norm 1", x, epsilon, true, bias), 3 * width, bias, start);
    const int attended = n.linear(name + " projection", n.attention(name + " attention", qkv, heads), width, bias, residual);
    x = n.sum(name + " sum 1", x, attended);
    const int up = n.linear(name + " up", n.norm(name + " norm 2", x, epsilon, true, bias), filter ? filter : 4 * width, bias, start);
    return n.sum(name + " sum 2", x, n.linear(name + " down", between_of(n, name + " between", up), width, bias, residual));
  }
  int between_of(network& n, const std::string& name, int x) const {
    switch (between) {
      case nonlinearity::gelu: return n.activation<gelu>(name, x);
      case nonlinearity::gelu_tanh: return n.activation<gelu_tanh>(name, x);
      case nonlinearity::relu: return n.activation<relu>(name, x);
      case nonlinearity::silu: return n.activation<silu>(name, x);
    }
    return x;
  }
};

}  // namespace wsl::ml
