// SPDX-License-Identifier: MIT
// An encoder whose sizes come from a file or from the command line: BERT (arXiv:1810.04805), RoBERTa
// (arXiv:1907.11692), Linformer (arXiv:2006.04768) and their relatives. Every token sees all tokens of its
// sequence that a mask leaves. A block is
//   x = norm(x + project(attention(x)));  x = norm(x + down(f(up(x))))
// After the last block come the layers of a task: guessing hidden words, with which such models are
// pre-trained, or classes of sequences or tokens, or a part of the text, for which they are fine-tuned. The
// inputs are "input_ids", and where a batch has them "token_type_ids" and "attention_mask" (0 hides a token).
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "decoder.hpp"

namespace wsl::ml {

/// The task of an encoder, and the targets with which it learns. A label of -100 does not count.
enum class encoder_task : u8 {
  masked_words,      ///< "labels", (sequences, length): the words that have been hidden
  next_sentence,     ///< the same, and "next_sentence_label", (sequences): 0 if the second sentence follows
  sequence_classes,  ///< "labels", (sequences): the class of each sequence
  token_classes,     ///< "labels", (sequences, length): the class of each token
  span               ///< "start_positions" and "end_positions", (sequences): the part that is the answer
};

/// How the matrices of an encoder's blocks and its pooler start; none: as `encoder::usual_start` says.
struct encoder_starts {
  std::optional<initial> attention = {};   ///< queries, keys and values, and the pooler
  std::optional<initial> projection = {};  ///< the output of attention
  std::optional<initial> up = {}, down = {};
  friend bool operator==(const encoder_starts&, const encoder_starts&) = default;
};
/// Factors of the learning rates of matrices, and with it of their decay.
struct encoder_rates {
  f32 attention = 1;  ///< queries, keys and values, and the output
  f32 up = 1, down = 1, pooler = 1;
  friend bool operator==(const encoder_rates&, const encoder_rates&) = default;
};

struct encoder {
  int vocabulary = 0, positions = 0, layers = 0, heads = 0, width = 0;
  int filter = 0;       ///< features inside the feed-forward part; 0: 4 * width
  int token_types = 2;  ///< such as first and second sentence; 0: a model that does not tell them apart
  nonlinearity between = nonlinearity::gelu;
  std::optional<nonlinearity> of_pooler = {};  ///< none: tanh
  f32 epsilon = 1e-12f,
      deviation = 0.02f;     ///< added to the variance in norms; standard deviation of the initial weights
  int unused_positions = 0;  ///< rows before that of the first position in its table (RoBERTa: 2)
  /// An id whose embedding is not learnt. If there are unused positions, it has no position of its own, and
  /// is not counted in those of others (RoBERTa: 1).
  std::optional<i32> padding = {};
  /// Keys and values are projected to so many tokens (Linformer); 0: they are not. Both have one projection,
  /// or each its own.
  int projected = 0;
  bool shared_projection = false;
  f32 dropout = 0, attention_dropout = 0;  ///< as those of a decoder
  f32 inner_dropout = 0;                   ///< inside the feed-forward part, after `between`
  f32 attention_scale = 0;                 ///< factor of the scores; 0: 1 / sqrt(head width)
  f32 embedding_scale = 1;                 ///< factor of the embedding, before its norm
  f32 logit_scale = 1;                     ///< of the logits of hidden words and next sentences
  std::optional<initial> usual = {};       ///< how matrices and tables start; none: as `deviation` says
  encoder_starts starts = {};
  encoder_rates rates = {};
  encoder_task task = encoder_task::masked_words;
  int classes = 2;  ///< of sequences or of tokens
  /// Of the loss of hidden words, of tokens with classes, and of sequences with classes.
  f32 loss_factor = 1;
  /// The losses of tokens are divided by the sequences and not by the tokens that count, before that.
  bool loss_by_sequences = false;
  f32 task_dropout = -1;  ///< of what a layer of classes reads; below 0: dropout

  static constexpr i32 no_label = -100;

  int inner_width() const { return filter ? filter : 4 * width; }
  f32 scale_of_scores() const {
    return attention_scale != 0 ? attention_scale
                                : 1 / std::sqrt(static_cast<f32>(width) / static_cast<f32>(heads));
  }
  friend bool operator==(const encoder&, const encoder&) = default;

  /// The network, with the losses as its last stages. Throws std::invalid_argument for sizes that do not fit.
  network build() const {
    network n;
    add_task(n, states(n));
    return n;
  }
  /// How a matrix starts of which nothing else is said.
  initial usual_start() const { return usual.value_or(initial::normal(deviation)); }
  /// Adds the encoder without its task to a network, and returns the states of its tokens, (tokens, width).
  /// `before` comes before the names of the layers, `texts` before those of the inputs, which are on an axis
  /// of tokens.
  int states(network& n, const std::string& before = "", const std::string& texts = "", int axis = 0) const {
    const int ids = n.ids(texts + "input_ids", vocabulary, 1, axis),
              seen = n.optional_ids(texts + "attention_mask", 2, 1, axis);
    int x = n.embedding_of(before + "embedding", ids, width,
                           {.positions = positions,
                            .start = usual_start(),
                            .unused = unused_positions,
                            .padding = unused_positions > 0 ? padding : std::nullopt,
                            .not_learnt = padding});
    if (token_types > 0)
      x = n.sum(
          before + "embedding sum", x,
          n.embedding_of(before + "types", n.optional_ids(texts + "token_type_ids", token_types, 1, axis), 0,
                         width, usual_start()));
    x = n.scale(before + "embedding scale", x, embedding_scale);
    x = n.dropout(before + "dropout", n.norm(before + "embedding norm", x, epsilon), dropout);
    const int few = projected ? n.axis(before + "projected tokens", projected) : -1;
    for (int l = 0; l < layers; ++l) x = block(n, fmt::format("{}layer {} ", before, l), x, seen, few);
    scale_rates(n, before + "layer * ");
    return x;
  }

 private:
  void scale_rates(network& n, const std::string& blocks) const {
    const auto scale = [&](std::initializer_list<const char*> names, f32 factor) {
      std::vector<std::string> patterns;
      for (const char* name : names) patterns.push_back(fmt::format("{}{}.weight", blocks, name));
      if (factor != 1) n.scale_rates(patterns, factor);
    };
    scale({"qkv", "queries", "keys", "projection"}, rates.attention);
    scale({"up"}, rates.up), scale({"down"}, rates.down);
  }
  /// Attention to all tokens that are seen, or to the few to which they are projected.
  int attention(network& n, const std::string& name, int x, int seen, int few) const {
    const initial start = starts.attention.value_or(usual_start());
    const attention_heads how{
        .queries = heads, .dropout = attention_dropout, .scale = attention_scale, .causal = false};
    if (few < 0)
      return n.attention(name + "attention", n.linear(name + "qkv", x, 3 * width, true, start), how, seen);
    const int queries = n.linear(name + "queries", x, width, true, start),
              kv = n.linear(name + "keys", x, 2 * width, true, start);
    return n.cross_attention(
        name + "attention", queries,
        n.token_projection(name + "tokens", kv, heads, few, positions, shared_projection, true, start, seen),
        how);
  }
  int block(network& n, const std::string& name, int x, int seen, int few) const {
    const auto start = [&](const std::optional<initial>& own) { return own.value_or(usual_start()); };
    int y = attention(n, name, x, seen, few);
    y = n.linear(name + "projection", y, width, true, start(starts.projection));
    x = n.norm(name + "norm 1", n.sum(name + "sum 1", x, n.dropout(name + "dropout 1", y, dropout)), epsilon);
    y = activated(n, name + "between", n.linear(name + "up", x, inner_width(), true, start(starts.up)),
                  between);
    y = n.dropout(name + "dropout between", y, inner_dropout);
    y = n.linear(name + "down", y, width, true, start(starts.down));
    return n.norm(name + "norm 2", n.sum(name + "sum 2", x, n.dropout(name + "dropout 2", y, dropout)),
                  epsilon);
  }
  void add_task(network& n, int x) const {
    const initial start = usual_start();
    const int axis =
        task == encoder_task::masked_words || task == encoder_task::token_classes ? 0 : n.axis_of_sequences();
    switch (task) {
      case encoder_task::masked_words: return guess_words(n, x);
      case encoder_task::next_sentence: {
        guess_words(n, x);
        const int y = n.linear("next sentence", pooled(n, x), 2, true, start);
        n.cross_entropy("next sentence loss", n.scale("next sentence scale", y, logit_scale),
                        {.targets = n.classes("next_sentence_label", 2, 1, axis)});
        return;
      }
      case encoder_task::sequence_classes:
        x = n.dropout("pooler dropout", pooled(n, x), before_classes());
        [[fallthrough]];
      case encoder_task::token_classes:
        if (task == encoder_task::token_classes) x = n.dropout("last dropout", x, before_classes());
        n.cross_entropy("loss", n.linear("classifier", x, classes, true, start),
                        {.ignore_index = no_label,
                         .targets = n.classes("labels", classes, 1, axis),
                         .factor = loss_factor,
                         .by_sequences = loss_by_sequences});
        return;
      case encoder_task::span: {
        const int scores = n.linear("span", x, 2, true, start);
        const int from = n.classes("start_positions", positions, 1, axis),
                  to = n.classes("end_positions", positions, 1, axis);
        n.loss("loss", span_loss(), {scores, from, to});
        return;
      }
    }
  }
  /// The logits are products with the table of tokens, plus a bias.
  void guess_words(network& n, int x) const {
    const int y = n.linear("words", x, width, true, usual_start());
    const int last = n.norm("words norm", activated(n, "words between", y, between), epsilon);
    n.cross_entropy("loss", n.scale("logit scale", n.tied_linear("head", last, 0, true), logit_scale),
                    {.ignore_index = no_label,
                     .targets = n.classes("labels", vocabulary),
                     .factor = loss_factor,
                     .by_sequences = loss_by_sequences});
  }
  f32 before_classes() const { return task_dropout < 0 ? dropout : task_dropout; }
  /// A summary of the sequence as a whole, from its first token.
  int pooled(network& n, int x) const {
    const int y = n.linear("pooler", n.first_token("first token", x), width, true,
                           starts.attention.value_or(usual_start()));
    if (rates.pooler != 1) n.scale_rates({"pooler.weight"}, rates.pooler);
    if (of_pooler) return activated(n, "pooler between", y, *of_pooler);
    return n.activation<hyperbolic_tangent>("pooler tanh", y);
  }
};

}  // namespace wsl::ml
