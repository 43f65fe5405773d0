// SPDX-License-Identifier: MIT
// The layers of language models, for a sequence whose sizes are constants: a table of tokens, attention,
// gates, residuals, and repeated parts.
//   constexpr ml::embedding<65, 64, 128> tokens;
//   constexpr ml::sequence gpt{tokens,
//                              ml::repeat<4>(ml::residual{ml::layer_norm<128>{},
//                                                         ml::causal_attention<128, 4>{}},
//                                            ml::residual{ml::layer_norm<128>{}, ml::linear<128, 512>{},
//                                                         ml::elementwise<ml::gelu>{},
//                                                         ml::linear<512, 128>{}}),
//                              ml::layer_norm<128>{}, ml::tied_head{tokens}};
// Layers that do not fit do not compile. decoder.hpp builds the same with sizes from a file, and throws the
// same sentences.
#pragma once
#include <fmt/format.h>
#include "sequence.hpp"

namespace wsl::ml {

/// The first layer: for each token a row of a table of tokens, plus a row of a table of positions unless
/// `positions` is 0.
template <int tokens, int positions, int width>
struct embedding {
  static constexpr int takes = -1, gives = width;  // not features
  static_assert(tokens > 0 && positions >= 0 && width > 0,
                "wsl: a table has at least one row and one feature");
  static constexpr const char* name = "embedding";
  static int build(network& n, const std::string& as, int) {
    return n.embedding(as, tokens, positions, width);
  }
};

/// The head of a language model whose logits are products with the rows of its table of tokens.
template <class Embedding>
struct tied_head {
  static constexpr int takes = Embedding::gives, gives = 0;
  static constexpr const char* name = "head";
  constexpr explicit tied_head(Embedding) {}
  static int build(network& n, const std::string& as, int x) { return n.tied_linear(as, x, 0); }
};

/// Causal attention with the linear layers before and after it. If there are fewer heads of keys and values
/// than of queries, several heads of queries share one.
template <int width, int heads, int kv_heads = heads, bool bias = true>
struct causal_attention {
  static constexpr int takes = width, gives = width;
  static_assert(width % heads == 0 && heads % kv_heads == 0,
                "wsl: heads must divide the features, and heads of keys those of queries");
  static constexpr const char* name = "attention";
  f32 dropout = 0;  ///< the dropout of attention weights

  int build(network& n, const std::string& as, int x) const {
    const initial start = initial::normal(0.02f);
    const int qkv = n.linear(as + " qkv", x, width + 2 * (width / heads * kv_heads), bias, start);
    return n.linear(as + " projection", n.attention(as, qkv, {heads, kv_heads, false, dropout}), width, bias,
                    start);
  }
};

/// A linear layer times f of another: with silu the first half of a SwiGLU.
template <class F, int from, int to, bool bias = true>
struct gated {
  static constexpr int takes = from, gives = to;
  static constexpr const char* name = "gated";
  static int build(network& n, const std::string& as, int x) {
    const int up = linear<from, to, bias>::build(n, as + " up", x);
    return n.gate<F>(as, up, linear<from, to, bias>::build(n, as + " gate", x));
  }
};

/// x + layers(x)
template <class... Layers>
class residual {
 public:
  using inside = detail::chain<Layers...>;
  static constexpr shape takes = inside::takes, gives = inside::gives;
  static_assert(fits(takes, gives), "wsl: what is joined must have equally many features on both sides");
  static constexpr const char* name = "residual";

  constexpr explicit residual(Layers... layers) : layers_(layers...) {}
  int build(network& n, const std::string& as, int x) const {
    return n.sum(as, x, layers_.build(n, as + " ", x));
  }

 private:
  inside layers_;
};

/// The same layers several times, each time with parameters of their own. It is made by `repeat`.
template <int times, class... Layers>
class repeated {
 public:
  using inside = detail::chain<Layers...>;
  static constexpr shape takes = inside::takes, gives = inside::gives;
  static_assert(times < 2 || detail::fitting<inside, inside>::value,
                "wsl: the layers of this sequence do not fit, see above");
  static constexpr const char* name = "layer";

  constexpr explicit repeated(Layers... layers) : layers_(layers...) {}
  int build(network& n, const std::string& as, int x) const {
    for (int k = 0; k < times; ++k) x = layers_.build(n, fmt::format("{}.{} ", as, k), x);
    return x;
  }

 private:
  inside layers_;
};
template <int times, class... Layers>
constexpr repeated<times, Layers...> repeat(Layers... layers) {
  return repeated<times, Layers...>(layers...);
}

}  // namespace wsl::ml
