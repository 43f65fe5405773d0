// SPDX-License-Identifier: MIT
// The part of an encoder-decoder that a column of a writer has, and what it computes alone. Heads, features
// inside the feed-forward parts and words are cut over the columns as those of a decoder are. The encoder
// takes a whole text as one block. When it has passed through its layers, every column computes the keys and
// values that the decoder's cross-attention has of it, for its own heads, and keeps them for all hypotheses
// of that text. See encoder_decoder_writer.hpp.
#pragma once
#include "../layer/attention.hpp"
#include "../model/encoder_decoder.hpp"
#include "attention_part.hpp"
#include "cut_weights.hpp"

namespace wsl::ml {

/// The model and the settings that all columns share.
struct encoder_decoder_plan {
  encoder_decoder config;
  cut_weights weights;
  std::vector<f32> waves = {};  ///< a table of positions

  encoder_decoder_plan(const encoder_decoder& m, cut_weights w) : config(m), weights(std::move(w)) {
    if (m.position == position_encoding::fixed) waves = sinusoids(m.positions, m.width, pairs::halves);
  }
};

class encoder_decoder_part {
 public:
  using plan = encoder_decoder_plan;

  encoder_decoder_part() = default;
  /// Takes its weights. It keeps a pointer to the plan.
  encoder_decoder_part(const encoder_decoder_plan& p, int column)
      : plan_(&p),
        config_(&p.config),
        column_(column),
        inner_(p.weights.share(p.config.inner_width(), column)) {
    vocabulary_ = p.weights.share(config_->vocabulary, column);
    heads_ = own_heads(p.weights.share(config_->heads, column), 1, config_->width_of_head(), nullptr);
    encoder_ = side("encoder ", config_->layers), decoder_ = side("decoder ", config_->layers_of_decoder());
    const feature_run words[]{vocabulary_};
    if (config_->tied) head_.bias = p.weights.vector("head.bias", words);
    else head_ = p.weights.outputs("head", words, config_->width);
  }

  /// The bytes of weights that a token of the decoder reads.
  i64 bytes() const {
    i64 n = table_of_head().bytes();
    for (const layer_part& l : decoder_.layers)
      n +=
          l.attention.bytes() + l.cross_queries.bytes() + l.cross_projection.bytes() + l.feed_forward.bytes();
    return n;
  }
  int width() const { return config_->width; }

  /// Makes room for some texts of the decoder of at most `capacity` tokens.
  void resize(int texts, int capacity) {
    caches_.resize(static_cast<std::size_t>(texts));
    for (key_value_cache& c : caches_)
      c.resize(config_->layers_of_decoder(), heads_.keys.count, heads_.width, capacity);
    sources_.clear();
    decoder_.set_distances(*config_, heads_.queries, 1 - capacity, 1);
  }
  /// This column's part of the embedding of a block; x is (rows, width), as is that of the functions below.
  void embed(const matrix<f32>& x, const token_block& b) {
    copy_texts(caches_, b.copies);
    if (b.of_encoder) {
      encoder_.set_distances(*config_, heads_.queries, 1 - b.rows(), b.rows());
      hidden_.clear();
      for (const i32 seen : b.seen) hidden_.push_back(seen ? 0 : scoring::hidden);
    }
    embed_tokens(x, b, b.of_encoder ? encoder_.tokens : words(), vocabulary_, side_of(b).positions);
  }
  /// The rest of the embedding, when the columns have added up their parts.
  void finish_embedding(const matrix<f32>& x, const token_block& b) const {
    if (!config_->scales_waves) multiply_all(x, config_->embedding_scale);
    add_waves(x, plan_->waves, b);
    if (config_->scales_waves) multiply_all(x, config_->embedding_scale);
  }
  /// The branches of all layers of a block's side, through which it passes one after the other.
  int branches(const token_block& b) const {
    return in_layer(b) * static_cast<int>(side_of(b).layers.size());
  }
  /// This column's part of what a branch adds to x.
  void branch(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int number) {
    const layer_part& of = layer_of(b, number);
    const int layer = number / in_layer(b), which = number % in_layer(b);
    matrix<const f32> in = x;
    if (config_->norm_first) {
      const matrix<f32> normed = room(normed_, x.rows(), x.columns());
      of.norm(which)(normed, x, norms_);
      in = normed;
    }
    if (which == in_layer(b) - 1) of.feed_forward(y, in, b.in_blocks(), up_, gate_);
    else if (which == 1) attend_to_source(y, in, b, layer);
    else if (b.of_encoder) attend_to_all(y, in, b, layer);
    else
      of.attention(y, in, b, layer, heads_, caches_, attending_,
                   [&](int h) { return decoder_.scores(*config_, h); });
  }
  /// Adds what a branch gives, when the columns have added up their parts of it.
  void join(const matrix<f32>& x, const matrix<const f32>& y, const token_block& b, int number) {
    add(x, y);
    if (config_->norm_first) return;
    const matrix<f32> sum = room(normed_, x.rows(), x.columns());
    copy(sum, x);
    layer_of(b, number).norm(number % in_layer(b))(x, sum, norms_);
  }
  /// Computes the keys and values that the decoder attends to from what the encoder gives for its text.
  void keep_source(const matrix<const f32>& x, const token_block& b) {
    const std::size_t number = static_cast<std::size_t>(b.sources[0]);
    if (sources_.size() <= number) sources_.resize(number + 1);
    source& s = sources_[number];
    const int n = b.rows(), features = heads_.features().count;
    s.hidden = hidden_;
    s.read.resize(static_cast<int>(decoder_.layers.size()), heads_.keys.count, heads_.width, n);
    const matrix<const f32> memory = last_of_side(x, encoder_);
    for (std::size_t l = 0; l < decoder_.layers.size(); ++l) {
      const matrix<f32> both = room(attending_.qkv, n, 2 * features);
      decoder_.layers[l].cross_keys(both, memory, b.in_blocks());
      for (int h = 0; h < heads_.keys.count; ++h) {
        copy(s.read.keys(static_cast<int>(l), h), both.part(0, h * heads_.width, n, heads_.width));
        copy(s.read.values(static_cast<int>(l), h),
             both.part(0, features + h * heads_.width, n, heads_.width));
      }
    }
  }
  /// The logits of this column's words; y is (rows of logits, the largest share of the vocabulary).
  void logits(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b) {
    const matrix<f32> last =
        last_of_side(x.part(b.first_logits, 0, b.rows_of_logits(), x.columns()), decoder_);
    multiply_all(last, config_->logit_scale);
    const matrix<f32> own = y.part(0, 0, y.rows(), vocabulary_.count);
    table_of_head().multiply(own, last, b.in_blocks() && y.rows() > 16);
    head_.add_bias(own);
  }

 private:
  struct layer_part {
    std::vector<norm_part> norms;  // of each branch
    attention_part attention;
    linear_part cross_queries, cross_keys, cross_projection;
    feed_forward_part feed_forward;

    const norm_part& norm(int branch) const { return norms[static_cast<std::size_t>(branch)]; }
  };
  struct side_part {
    bool causal = false;
    weight_part tokens = {}, positions = {};
    std::vector<layer_part> layers = {};
    norm_part last_norm = {};
    std::vector<f32> relative = {};  // the table of relative positions, (buckets, heads), or empty
    // Terms of the scores of each head of the column at some distances, and the number of those before 0.
    std::vector<f32> of_distance = {};
    int before = 0, distances = 0;

    void set_distances(const encoder_decoder& m, feature_run heads, int first, int end) {
      before = -first, distances = end - first;
      if (!relative.empty())
        of_distance = scores_of_distances({relative.data(), m.buckets, m.heads}, {m.buckets, m.max_distance},
                                          causal, heads.first, heads.count, first, end);
    }
    scoring scores(const encoder_decoder& m, int h) const {
      scoring how = unmasked(m, causal);
      how.causal = causal;
      if (!of_distance.empty()) how.of_distance = of_distance.data() + h * distances + before;
      return how;
    }
  };
  /// A text that the encoder has read: keys and values of each layer of the decoder, and what hides some.
  struct source {
    key_value_cache read;
    std::vector<f32> hidden;  // as scoring::of_key; empty: all are seen
  };

  static scoring unmasked(const encoder_decoder& m, bool of_decoder) {
    return {.scale = m.scale_of_scores(of_decoder), .causal = false};
  }
  static int in_layer(const token_block& b) { return b.of_encoder ? 2 : 3; }
  const side_part& side_of(const token_block& b) const { return b.of_encoder ? encoder_ : decoder_; }
  const layer_part& layer_of(const token_block& b, int branch) const {
    return side_of(b).layers[static_cast<std::size_t>(branch / in_layer(b))];
  }
  const weight_part& words() const { return config_->shared_embedding ? encoder_.tokens : decoder_.tokens; }
  const weight_part& table_of_head() const { return config_->tied ? words() : head_.weight; }

  side_part side(const std::string& name, int layers) const {
    const cut_weights& w = plan_->weights;
    side_part s;
    s.causal = name == "decoder ";
    const feature_run own[]{vocabulary_};
    if (!s.causal || !config_->shared_embedding)
      s.tokens = w.part(name + "embedding.tokens", own, {0, config_->width});
    if (column_ == 0 && config_->position == position_encoding::learned) {
      const feature_run every[]{{0, config_->positions}};
      s.positions = w.part(name + "embedding.positions", every, {0, config_->width});
    }
    for (int l = 0; l < layers; ++l) s.layers.push_back(layer(fmt::format("{}layer {} ", name, l), s.causal));
    if (config_->ends_with_norm()) s.last_norm = norm(name + "last norm");
    if (config_->position == position_encoding::relative) {
      const feature_run every[]{{0, config_->buckets}};
      const weight_part table(*w.all.find(name + "layer 0 attention.relative"), every, {0, config_->heads},
                              precision::f32, false);
      const matrix<f32> rows = room(s.relative, config_->buckets, config_->heads);
      for (int i = 0; i < config_->buckets; ++i) table.add_row(rows.row(i), i);
    }
    return s;
  }
  norm_part norm(const std::string& name) const {
    return plan_->weights.norm(name, config_->width, config_->norm, config_->epsilon);
  }
  layer_part layer(const std::string& name, bool of_decoder) const {
    const cut_weights& w = plan_->weights;
    const feature_run own = heads_.features();
    const auto after = [&](int k) { return feature_run{k * config_->of_heads() + own.first, own.count}; };
    const feature_run qkv[]{own, after(1), after(2)}, keys_and_values[]{own, after(1)}, queries[]{own};
    layer_part p;
    for (int k = 1; k <= (of_decoder ? 3 : 2); ++k)
      p.norms.push_back(norm(fmt::format("{}norm {}", name, k)));
    p.attention.qkv = w.outputs(name + "qkv", qkv, config_->width);
    p.attention.projection = w.term(name + "projection", config_->width, own, column_);
    if (of_decoder) {
      p.cross_queries = w.outputs(name + "cross queries", queries, config_->width);
      p.cross_keys = w.outputs(name + "cross keys", keys_and_values, config_->width);
      p.cross_projection = w.term(name + "cross projection", config_->width, own, column_);
    }
    p.feed_forward = w.feed_forward(name, *config_, inner_, column_);
    return p;
  }

  /// The tokens of an encoder attend to all of them that are seen.
  void attend_to_all(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const attention_part& of = encoder_.layers[static_cast<std::size_t>(l)].attention;
    const int n = b.rows(), features = heads_.features().count;
    const matrix<f32> qkv = room(attending_.qkv, n, 3 * features), out = room(attending_.out, n, features);
    of.qkv(qkv, x, b.in_blocks());
    attending_.scores.resize(static_cast<std::size_t>(n));
    for (int h = 0; h < heads_.queries.count; ++h) {
      scoring how = encoder_.scores(*config_, h);
      if (!hidden_.empty()) how.of_key = hidden_.data();
      const auto part = [&](int k) {
        return matrix<const f32>(qkv.part(0, k * features + h * heads_.width, n, heads_.width));
      };
      attention(out.part(0, h * heads_.width, n, heads_.width), attending_.scores, part(0), part(1), part(2),
                how);
    }
    of.projection(y, out, b.in_blocks());
  }
  /// The tokens of the decoder attend to the texts that the encoder has read; those of one text together.
  void attend_to_source(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const layer_part& of = decoder_.layers[static_cast<std::size_t>(l)];
    const int features = heads_.features().count;
    const matrix<f32> queries = room(attending_.qkv, b.rows(), features),
                      out = room(attending_.out, b.rows(), features);
    of.cross_queries(queries, x, b.in_blocks());
    for (int t = 0, n = 0; t < b.rows(); t += n) {
      const i32 number = b.sources[static_cast<std::size_t>(t)];
      for (n = 1; t + n < b.rows() && b.sources[static_cast<std::size_t>(t + n)] == number;) ++n;
      source& s = sources_[static_cast<std::size_t>(number)];
      scoring how = unmasked(*config_, true);
      if (!s.hidden.empty()) how.of_key = s.hidden.data();
      for (int h = 0; h < heads_.queries.count; ++h)
        cached_attention(out.part(t, h * heads_.width, n, heads_.width),
                         queries.part(t, h * heads_.width, n, heads_.width), s.read.keys(l, h),
                         s.read.values(l, h), 0, how, b.in_blocks(), attending_.scores);
    }
    of.cross_projection(y, out, b.in_blocks());
  }
  /// x, with the norm that ends a side if there is one.
  matrix<f32> last_of_side(const matrix<const f32>& x, const side_part& s) {
    const matrix<f32> last = room(normed_, x.rows(), x.columns());
    if (config_->ends_with_norm()) s.last_norm(last, x, norms_);
    else copy(last, x);
    return last;
  }

  const encoder_decoder_plan* plan_ = nullptr;
  const encoder_decoder* config_ = nullptr;
  int column_ = 0;
  own_heads heads_;
  feature_run inner_, vocabulary_;
  side_part encoder_, decoder_;
  linear_part head_;
  std::vector<source> sources_;
  std::vector<key_value_cache> caches_;
  std::vector<f32> hidden_;  // of the text that the encoder reads
  std::vector<norm_state> norms_;
  attention_room attending_;
  std::vector<f32> normed_, up_, gate_;
};

}  // namespace wsl::ml
