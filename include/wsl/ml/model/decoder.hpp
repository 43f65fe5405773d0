// SPDX-License-Identifier: MIT
// A causal language model whose sizes come from a file or from the command line: GPT-2, GPT-J, Llama, Falcon,
// Bloom, MPT and their relatives, which differ in the fields of one configuration. A block is
//   x = x + project(attention(norm(x)));  x = x + down(f(up(norm(x))))
// or has both parts side by side. The logits are norm(x) times the table of tokens, or times a matrix of
// their own. Sizes that do not fit throw std::invalid_argument. See examples/91_decoders.cpp, and
// io/hugging_face.hpp for the configurations of published models.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "network.hpp"

namespace wsl::ml {

/// The function between the matrices of the feed-forward part. The last four multiply up(x) by a function of
/// gate(x), the product with a third matrix: silu, gelu, relu, and gelu_tanh.
enum class nonlinearity : u8 { gelu, gelu_tanh, quick_gelu, relu, silu, swiglu, geglu, reglu, geglu_tanh };
constexpr bool is_gated(nonlinearity f) { return f >= nonlinearity::swiglu; }
/// f(x), for a function without a gate. Throws std::invalid_argument for one with a gate.
int activated(network& n, const std::string& name, int x, nonlinearity f);
/// The same, or x times the function of a gate for one with a gate.
int activated(network& n, const std::string& name, int x, int gate, nonlinearity f);

enum class normalization : u8 { layernorm, rmsnorm };
/// The encoding of a token's position: a learned table, fixed sinusoids, rotary queries and keys, ALiBi's
/// penalties, or none.
enum class positioning : u8 { learned, fixed, rotary, alibi, none };
/// The feed-forward part after attention, or beside it on the same norm (GPT-J) or one of its own (GPT-NeoX).
enum class block_order : u8 { sequential, parallel, parallel_two_norms };

/// The layers that have biases: all but the head, none, or those that are set.
struct decoder_biases {
  bool qkv = true;         ///< queries, keys and values
  bool projection = true;  ///< the output of attention
  bool feed_forward = true, norms = true, head = false;

  constexpr decoder_biases(bool all = true) : qkv(all), projection(all), feed_forward(all), norms(all) {}
  friend bool operator==(const decoder_biases&, const decoder_biases&) = default;
};

/// How the weights of some layers start; none: as `decoder::deviation` says.
struct decoder_starts {
  std::optional<initial> embedding = {};   ///< the tables of tokens and positions
  std::optional<initial> qkv = {};         ///< queries, keys and values
  std::optional<initial> projection = {};  ///< the output of attention
  std::optional<initial> up = {};          ///< the first matrices of the feed-forward part, and its gate
  std::optional<initial> down = {};        ///< its last
  std::optional<initial> router = {};      ///< of experts
};
/// Factors of the learning rates of the matrices of a block, and with it of their decay.
struct decoder_rates {
  f32 attention = 1;  ///< qkv and projection
  f32 up = 1;         ///< up and gate
  f32 down = 1;
};

struct decoder {
  int vocabulary = 0, positions = 0, layers = 0, heads = 0, width = 0;
  int filter = 0;              ///< features inside the feed-forward part; 0: 4 * width
  decoder_biases bias = true;  ///< whether linear layers and norms have biases
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
  rotary_scaling rotary_scale = {};  ///< slower rotations for longer sequences
  int head_width = 0;                ///< features of a head; 0: width / heads
  int window = 0;                    ///< attention to the last tokens only (Mistral); 0: to all before
  f32 attention_scale = 0;           ///< factor of the scores; 0: 1 / sqrt(head width)
  bool scale_by_layer = false;       ///< the scores of layer l are divided by l + 1
  bool embedding_norm = false;       ///< a norm between the embedding and the first block (Bloom)
  int unused_positions = 0;          ///< rows before that of the first position in its table (OPT: 2)
  /// Factors of the embedding, after its norm, and of the logits: muP (mup.hpp) has both.
  f32 embedding_scale = 1, logit_scale = 1;
  /// Feed-forward parts of a block (Mixtral), of which a router chooses `experts_per_token` for each token;
  /// 0: one, without a router.
  int experts = 0, experts_per_token = 2;
  /// Whether batches may say where documents begin in a sequence, as "position_ids" (network::position_ids):
  /// their tokens see no other document, and their positions begin anew.
  bool packed = false;
  f32 balance = 0;  ///< factor of the loss that keeps the experts equally busy (layer/balance.hpp); 0: none
  decoder_starts starts = {};      ///< of groups of layers, beside `deviation`
  decoder_rates rates = {};        ///< the same
  f32 loss_factor = 1;             ///< of the loss of tokens
  bool loss_by_sequences = false;  ///< it is divided by the sequences and not by the tokens that count

  static constexpr i32 no_label = -100;  ///< a target that says that its token does not count

  /// The features of a head; of all queries; of all keys, or of all values.
  int width_of_head() const { return head_width ? head_width : heads ? width / heads : 0; }
  int of_queries() const { return head_width ? heads * head_width : width; }
  int of_keys() const { return kv_heads ? kv_heads * width_of_head() : of_queries(); }
  /// The features inside the feed-forward part, and whether it has a gate.
  int inner_width() const { return filter ? filter : 4 * width; }
  bool is_gated() const { return ml::is_gated(between); }

  /// The network, with the loss as its last stage. With adapters all else is frozen. Throws
  /// std::invalid_argument for sizes that do not fit, and for adapters of layers that are not there.
  network build(const adapter_settings& adapters = {}) const;
  /// The values of a network to which the layers have been added.
  struct output {
    int last = -1;            ///< the features of each token after the last norm
    int logits = -1;          ///< of the next token; -1: there is no head
    std::vector<int> scores;  ///< of the routers, if there are experts
  };
  /// Adds the layers to a network that has other losses, with the head or without, for one of another kind.
  /// With adapters, which the caller trains (network::train_adapters), layers get them. Throws as `build`
  /// does.
  output add_to(network& n, const adapter_settings& adapters = {}, bool with_head = true) const;

 private:
  /// Blocks append what their routers give to `scores`.
  /// `where` are the position ids; -1: none.
  int block(network& n, const std::string& name, int x, int where, int l, std::vector<int>& scores) const;
  int attention(network& n, const std::string& name, int x, int where, int l) const;
  f32 scale_of_layer(int l) const;
  int feed_forward(network& n, const std::string& name, int x, std::vector<int>& scores) const;
  int mixture(network& n, const std::string& name, int x, std::vector<int>& scores) const;
  int expert(network& n, const std::string& name, int x) const;
  int normalized(network& n, const std::string& name, int x) const;
  initial usual_start() const { return initial::normal(deviation); }
  /// Layers that add to the residual start the smaller, the more of them there are (GPT-2).
  initial residual() const;
  void scale_rates(network& n) const;
};

}  // namespace wsl::ml

#ifndef WSL_ML_COMPILED
#include "decoder_blocks.hpp"
#endif
