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
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "decoder.hpp"

namespace wsl::ml {

/// How the position of a token is encoded: numbers for distances, which are added to the scores of attention
/// and which all layers of a side share; fixed sinusoids, first all sines; or a table of each side.
enum class position_encoding : u8 { relative, fixed, learned };

/// How the matrices of a side start; none: as `encoder_decoder::deviation` says.
struct side_starts {
  std::optional<initial> attention = {};   ///< queries, keys and values
  f32 queries = 1;                         ///< a factor of the queries' numbers beside that
  std::optional<initial> projection = {};  ///< the outputs of attentions
  std::optional<initial> up = {};          ///< the first matrices of the feed-forward part, and its gate
  std::optional<initial> down = {};        ///< its last
  friend bool operator==(const side_starts&, const side_starts&) = default;
};
/// Factors of the learning rates of matrices, and with it of their decay.
struct encoder_decoder_rates {
  f32 tables = 1;     ///< the embeddings, the numbers of relative positions, and a head of its own
  f32 attention = 1;  ///< queries, keys and values
  f32 projection = 1, up = 1, down = 1;
  friend bool operator==(const encoder_decoder_rates&, const encoder_decoder_rates&) = default;
};

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
  std::optional<bool> last_norm = {};  ///< a norm ends each side; none: as norm_first
  bool biases = false;                 ///< of linear layers; norms with a mean always have them
  /// Those of queries, keys and values, and of the outputs of attention; none: as `biases`.
  std::optional<bool> qkv_biases = {}, projection_biases = {};
  position_encoding position = position_encoding::relative;
  int buckets = 32, max_distance = 128;  ///< of relative positions
  f32 attention_scale = 0;               ///< factor of the scores; 0: 1 / sqrt(head width)
  f32 decoder_attention_scale = 0;       ///< that of the decoder's; 0: attention_scale
  f32 embedding_scale = 1;               ///< factor of the embeddings
  bool scales_waves = false;             ///< and of the fixed positions that are added to them
  f32 logit_scale = 1;                   ///< factor of what the head reads
  bool shared_embedding = true;          ///< the decoder has the encoder's table of tokens
  bool tied = true;                      ///< the head's matrix is the decoder's table of tokens
  bool logit_bias = false;  ///< the logits have a bias, which is read with a model and not trained (Marian)
  std::optional<i32> padding = {};         ///< an id whose embedding is not learnt
  f32 dropout = 0, attention_dropout = 0;  ///< as those of a decoder
  f32 inner_dropout = -1;                  ///< inside the feed-forward parts of the encoder; below 0: dropout
  bool drops_embedding_twice = false;
  std::optional<bool> drops_last = {};  ///< what a side gives is dropped; none: as norm_first
  f32 label_smoothing = 0;              ///< in training
  std::optional<initial> embedding_start = {}, head_start = {};  ///< none: as `deviation` says
  std::optional<initial> relative_start = {};                    ///< of relative positions, the same
  side_starts encoder_starts = {}, decoder_starts = {};
  encoder_decoder_rates rates = {};
  f32 loss_factor = 1;             ///< of the loss
  bool loss_by_sequences = false;  ///< it is divided by the sequences and not by the tokens that count

  static constexpr i32 no_label = -100;

  int inner_width() const { return filter ? filter : 4 * width; }
  int width_of_head() const { return head_width ? head_width : heads ? width / heads : 0; }
  int of_heads() const { return head_width ? heads * head_width : width; }
  int layers_of_decoder() const { return decoder_layers ? decoder_layers : layers; }
  bool is_gated() const { return ml::is_gated(between); }
  bool ends_with_norm() const { return last_norm.value_or(norm_first); }
  f32 scale_of_scores(bool of_decoder) const {
    const f32 own = of_decoder && decoder_attention_scale != 0 ? decoder_attention_scale : attention_scale;
    return own != 0 ? own : 1 / std::sqrt(static_cast<f32>(width_of_head()));
  }
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
                            : n.linear("head", y, vocabulary, logit_bias, head_start.value_or(start()));
    if (logit_bias) n.scale_rates({"head.bias"}, 0);
    scale_rates(n);
    n.cross_entropy("loss", logits,
                    {.label_smoothing = label_smoothing,
                     .smooths_evaluation = false,
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
                            .start = embedding_start.value_or(start()),
                            .not_learnt = padding,
                            .table = table});
    const auto scaled = [&](int y) { return n.scale(side + "embedding scale", y, embedding_scale); };
    if (!scales_waves) x = scaled(x);
    if (position == position_encoding::fixed)
      x = n.fixed_positions(side + "waves", x, positions, pairs::halves);
    if (scales_waves) x = scaled(x);
    if (drops_embedding_twice) x = n.dropout(side + "first dropout", x, dropout);
    return n.dropout(side + "dropout", x, dropout);
  }
  void scale_rates(network& n) const {
    const auto scale = [&](std::vector<std::string> patterns, f32 factor) {
      if (factor != 1) n.scale_rates(patterns, factor);
    };
    scale({"*coder embedding.*", "*.relative", "head.weight"}, rates.tables);
    scale({"* layer * qkv.weight", "* layer * cross queries.weight", "* layer * cross keys.weight"},
          rates.attention);
    scale({"* layer * projection.weight", "* layer * cross projection.weight"}, rates.projection);
    scale({"* layer * up.weight", "* layer * gate.weight"}, rates.up);
    scale({"* layer * down.weight"}, rates.down);
  }
  /// The blocks of a side. Those of a decoder have a memory, what the encoder gives; `seen` is the mask of
  /// the encoder's tokens.
  int side(network& n, const std::string& side, int x, int count, int memory, int seen) const {
    const bool is_decoder = memory >= 0, bias = qkv_biases.value_or(biases),
               projection_bias = projection_biases.value_or(biases);
    const side_starts& starts = is_decoder ? decoder_starts : encoder_starts;
    const initial attention_start = starts.attention.value_or(start()),
                  query_start = attention_start.times(starts.queries),
                  qkv_start = starts.queries == 1 ? attention_start
                                                  : attention_start.with_first(of_heads(), starts.queries),
                  projection_start = starts.projection.value_or(start()),
                  up_start = starts.up.value_or(start());
    attention_heads own = attention_shape(is_decoder);
    own.causal = is_decoder;
    if (position == position_encoding::relative)
      own.relative = {
          .buckets = buckets, .max_distance = max_distance, .start = relative_start.value_or(start())};
    for (int l = 0; l < count; ++l) {
      const std::string name = fmt::format("{}layer {} ", side, l);
      x = branch(n, name, 1, x, [&](int y) {
        y = n.attention(name + "attention", n.linear(name + "qkv", y, 3 * of_heads(), bias, qkv_start), own,
                        is_decoder ? -1 : seen);
        if (own.relative.buckets && own.relative.table < 0)
          own.relative.table = parameter_called(n, name + "attention.relative");
        return n.linear(name + "projection", y, width, projection_bias, projection_start);
      });
      if (is_decoder)
        x = branch(n, name, 2, x, [&](int y) {
          y = n.cross_attention(name + "cross-attention",
                                n.linear(name + "cross queries", y, of_heads(), bias, query_start),
                                n.linear(name + "cross keys", memory, 2 * of_heads(), bias, attention_start),
                                attention_shape(true), seen);
          return n.linear(name + "cross projection", y, width, projection_bias, projection_start);
        });
      x = branch(n, name, is_decoder ? 3 : 2, x, [&](int y) {
        const int up = n.linear(name + "up", y, inner_width(), biases, up_start),
                  gate = is_gated() ? n.linear(name + "gate", y, inner_width(), biases, up_start) : -1;
        return n.linear(name + "down",
                        n.dropout(name + "dropout between", activated(n, name + "between", up, gate, between),
                                  is_decoder || inner_dropout < 0 ? dropout : inner_dropout),
                        width, biases, starts.down.value_or(start()));
      });
    }
    if (ends_with_norm()) x = normalized(n, side + "last norm", x);
    return drops_last.value_or(norm_first) ? n.dropout(side + "last dropout", x, dropout) : x;
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
  attention_heads attention_shape(bool of_decoder) const {
    const f32 scale = of_decoder && decoder_attention_scale != 0 ? decoder_attention_scale : attention_scale;
    return {.queries = heads, .dropout = attention_dropout, .scale = scale, .causal = false};
  }
  int normalized(network& n, const std::string& name, int x) const {
    return n.norm(name, x, epsilon, norm == normalization::layernorm);
  }
};

}  // namespace wsl::ml
