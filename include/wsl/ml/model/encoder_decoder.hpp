// SPDX-License-Identifier: MIT
// A model that reads one text and writes another: the Transformer as published (arXiv:1706.03762), with which
// Marian translates, T5 (arXiv:1910.10683), Flan-T5 and UL2. The tokens of an encoder see each other; those
// of a decoder see the ones before them, and in a second attention what the encoder has made of its text.
// Branches begin with a norm, x = x + f(norm(x)), or end with one, x = norm(x + f(x)). The inputs are
// "input_ids" and "decoder_input_ids", and where a batch has it "attention_mask" (0 hides a token of the
// encoder); the targets "labels" are the tokens of the decoder's text, or -100 where none counts.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "decoder.hpp"

namespace wsl::ml {

/// How the position of a token is encoded: numbers for distances, which are added to the scores of attention
/// and which all layers of a side share; fixed sinusoids, first all sines; or a table of each side.
enum class position_encoding : u8 { relative, fixed, learned };

struct encoder_decoder {
  int vocabulary = 0, layers = 0, heads = 0, width = 0;
  int decoder_layers = 0;  ///< 0: as many as the encoder has
  int positions = 0;       ///< of the longest sequence; relative positions have no limit
  int filter = 0;          ///< features inside the feed-forward part; 0: 4 * width
  int head_width = 0;      ///< features of a head; 0: width / heads
  nonlinearity between = nonlinearity::relu;
  f32 epsilon = 1e-6f;    ///< added to the variance in norms
  f32 deviation = 0.02f;  ///< standard deviation of the initial weights
  normalization norm = normalization::rmsnorm;
  bool norm_first = true;  ///< norms begin branches, and one more ends each side; otherwise they end branches
  bool biases = false;     ///< of linear layers; norms with a mean always have them
  position_encoding position = position_encoding::relative;
  int buckets = 32, max_distance = 128;  ///< of relative positions
  f32 attention_scale = 0;               ///< factor of the scores; 0: 1 / sqrt(head width)
  f32 embedding_scale = 1;               ///< factor of the embeddings
  f32 logit_scale = 1;                   ///< factor of what the head reads
  bool shared_embedding = true;          ///< the decoder has the encoder's table of tokens
  bool tied = true;                      ///< the head's matrix is the decoder's table of tokens
  bool logit_bias = false;  ///< the logits have a bias, which is read with a model and not trained (Marian)
  std::optional<i32> padding = {};         ///< an id whose embedding is not learnt
  f32 dropout = 0, attention_dropout = 0;  ///< as those of a decoder
  f32 label_smoothing = 0;
  f32 loss_factor = 1;             ///< of the loss
  bool loss_by_sequences = false;  ///< it is divided by the sequences and not by the tokens that count

  static constexpr i32 no_label = -100;

  int inner_width() const { return filter ? filter : 4 * width; }
  int width_of_head() const { return head_width ? head_width : heads ? width / heads : 0; }
  int of_heads() const { return head_width ? heads * head_width : width; }
  int layers_of_decoder() const { return decoder_layers ? decoder_layers : layers; }
  bool is_gated() const { return ml::is_gated(between); }
  friend bool operator==(const encoder_decoder&, const encoder_decoder&) = default;

  /// The network, with the loss as its last stage. Throws std::invalid_argument for sizes that do not fit.
  network build() const {
    network n;
    const int text = n.axis("tokens of the decoder"), ids = n.ids("input_ids", vocabulary),
              seen = n.optional_ids("attention_mask", 2),
              words = n.ids("decoder_input_ids", vocabulary, 1, text);
    const int memory = side(n, "encoder ", embedded(n, "encoder ", ids, -1), layers, -1, seen);
    const int of_encoder = parameter_called(n, "encoder embedding.tokens");
    const int start_of_decoder = embedded(n, "decoder ", words, shared_embedding ? of_encoder : -1);
    const int table = shared_embedding ? of_encoder : parameter_called(n, "decoder embedding.tokens");
    const int y = n.scale(
        "logit scale", side(n, "decoder ", start_of_decoder, layers_of_decoder(), memory, seen), logit_scale);
    const int logits = tied ? n.tied_linear("head", y, table, logit_bias)
                            : n.linear("head", y, vocabulary, logit_bias, start());
    if (logit_bias) n.scale_rates({"head.bias"}, 0);
    n.cross_entropy("loss", logits,
                    {.label_smoothing = label_smoothing,
                     .ignore_index = no_label,
                     .targets = n.classes("labels", vocabulary, 1, text),
                     .factor = loss_factor,
                     .by_sequences = loss_by_sequences});
    return n;
  }

 private:
  initial start() const { return initial::normal(deviation); }
  /// The number of the parameter of that name, which the network has.
  static int parameter_called(const network& n, const std::string& name) {
    const auto& all = n.parameters();
    const auto at = std::find_if(all.begin(), all.end(), [&](const parameter& p) { return p.name == name; });
    return static_cast<int>(at - all.begin());
  }
  /// The embeddings of a side, whose table of tokens is a parameter, or its own if that is -1.
  int embedded(network& n, const std::string& side, int ids, int table) const {
    int x = n.embedding_of(side + "embedding", ids, width,
                           {.positions = position == position_encoding::learned ? positions : 0,
                            .start = start(),
                            .not_learnt = padding,
                            .table = table});
    x = n.scale(side + "embedding scale", x, embedding_scale);
    if (position == position_encoding::fixed)
      x = n.fixed_positions(side + "waves", x, positions, pairs::halves);
    return n.dropout(side + "dropout", x, dropout);
  }
  /// The blocks of a side. Those of a decoder have a memory, what the encoder gives; `seen` is the mask of
  /// the encoder's tokens.
  int side(network& n, const std::string& side, int x, int count, int memory, int seen) const {
    const bool is_decoder = memory >= 0;
    attention_heads own = attention_shape();
    own.causal = is_decoder;
    if (position == position_encoding::relative)
      own.relative = {.buckets = buckets, .max_distance = max_distance};
    for (int l = 0; l < count; ++l) {
      const std::string name = fmt::format("{}layer {} ", side, l);
      x = branch(n, name, 1, x, [&](int y) {
        y = n.attention(name + "attention", n.linear(name + "qkv", y, 3 * of_heads(), biases, start()), own,
                        is_decoder ? -1 : seen);
        if (own.relative.buckets && own.relative.table < 0)
          own.relative.table = parameter_called(n, name + "attention.relative");
        return n.linear(name + "projection", y, width, biases, start());
      });
      if (is_decoder)
        x = branch(n, name, 2, x, [&](int y) {
          y = n.cross_attention(name + "cross-attention",
                                n.linear(name + "cross queries", y, of_heads(), biases, start()),
                                n.linear(name + "cross keys", memory, 2 * of_heads(), biases, start()),
                                attention_shape(), seen);
          return n.linear(name + "cross projection", y, width, biases, start());
        });
      x = branch(n, name, is_decoder ? 3 : 2, x, [&](int y) {
        const int up = n.linear(name + "up", y, inner_width(), biases, start()),
                  gate = is_gated() ? n.linear(name + "gate", y, inner_width(), biases, start()) : -1;
        return n.linear(
            name + "down",
            n.dropout(name + "dropout between", activated(n, name + "between", up, gate, between), dropout),
            width, biases, start());
      });
    }
    return norm_first ? n.dropout(side + "last dropout", normalized(n, side + "last norm", x), dropout) : x;
  }
  /// A branch of a block with its norm, which have the same number.
  template <class F>
  int branch(network& n, const std::string& name, int number, int x, F f) const {
    const std::string norm_name = fmt::format("{}norm {}", name, number);
    const auto joined = [&](int y) {
      return n.sum(fmt::format("{}sum {}", name, number), x,
                   n.dropout(fmt::format("{}dropout {}", name, number), y, dropout));
    };
    return norm_first ? joined(f(normalized(n, norm_name, x))) : normalized(n, norm_name, joined(f(x)));
  }
  attention_heads attention_shape() const {
    return {.queries = heads, .dropout = attention_dropout, .scale = attention_scale, .causal = false};
  }
  int normalized(network& n, const std::string& name, int x) const {
    return n.norm(name, x, epsilon, norm == normalization::layernorm);
  }
};

}  // namespace wsl::ml
