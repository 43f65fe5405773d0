// SPDX-License-Identifier: MIT
// The part of a decoder that a column of a writer has, and what it computes alone. Queries are cut over the
// columns head by head, with the keys and values that they need; so are the features inside the feed-forward
// part and the tokens of the vocabulary. Every column has the norms. The outputs of attention and of the
// feed-forward part are sums over features, of which a column computes the terms of its own, so the columns
// add up their parts: the tensor parallelism of Megatron-LM (arXiv 1909.08053). See writer.hpp.
#pragma once
#include "../layer/mixture.hpp"
#include "attention_part.hpp"
#include "cut_weights.hpp"

namespace wsl::ml {

/// The model and the settings that all columns share.
struct decoder_plan {
  decoder config;
  cut_weights weights;
  std::optional<rotation> rotate = {};
  std::vector<f32> waves = {}, slopes = {};  ///< tables of positions

  decoder_plan(const decoder& d, cut_weights w, int length) : config(d), weights(std::move(w)) {
    if (d.position == positioning::rotary)
      rotate.emplace(length, d.rotary_features ? d.rotary_features : d.width_of_head(), d.rotary_base,
                     d.rotary_pairs, d.rotary_scale);
    if (d.position == positioning::fixed) waves = sinusoids(length, d.width);
    if (d.position == positioning::alibi) slopes = alibi_slopes(d.heads);
  }
};

class decoder_part {
 public:
  using plan = decoder_plan;

  decoder_part() = default;
  /// Takes its weights. It keeps a pointer to the plan.
  decoder_part(const decoder_plan& p, int column)
      : plan_(&p),
        config_(&p.config),
        column_(column),
        inner_(p.weights.share(p.config.inner_width(), column)) {
    const cut_weights& w = p.weights;
    const int groups = config_->kv_heads ? config_->kv_heads : config_->heads;
    heads_ = own_heads(w.share(config_->heads, column), config_->heads / groups, config_->width_of_head(),
                       p.rotate ? &*p.rotate : nullptr);
    vocabulary_ = w.share(config_->vocabulary, column);
    const feature_run tokens[]{vocabulary_};
    tokens_ = w.part("embedding.tokens", tokens, {0, config_->width});
    if (column == 0 && config_->position == positioning::learned) {
      const feature_run rows[]{{config_->unused_positions, config_->positions}};
      positions_ = w.part("embedding.positions", rows, {0, config_->width});
    }
    if (config_->embedding_norm) embedding_norm_ = norm("embedding norm");
    for (int l = 0; l < config_->layers; ++l) layers_.push_back(layer(fmt::format("layer {} ", l)));
    last_norm_ = norm("last norm");
    if (!config_->tied) head_ = w.outputs("head", tokens, config_->width);
  }

  /// The bytes of weights that a token reads.
  i64 bytes() const {
    i64 n = (config_->tied ? tokens_ : head_.weight).bytes();
    for (const layer_part& l : layers_)
      n += l.attention.bytes() + l.router.bytes() +
           l.experts[0].bytes() * (config_->experts ? config_->experts_per_token : 1);
    return n;
  }
  int width() const { return config_->width; }

  /// Makes room for some texts of at most `capacity` tokens.
  void resize(int texts, int capacity) {
    caches_.resize(static_cast<std::size_t>(texts));
    for (key_value_cache& c : caches_)
      c.resize(config_->layers, heads_.keys.count, config_->width_of_head(), capacity);
  }
  /// This column's part of the embedding of a block; x is (rows, width), as is that of the functions below.
  void embed(const matrix<f32>& x, const token_block& b) {
    copy_texts(caches_, b.copies);
    embed_tokens(x, b, tokens_, vocabulary_, positions_);
  }
  /// The rest of the embedding, when the columns have added up their parts.
  void finish_embedding(const matrix<f32>& x, const token_block& b) {
    add_waves(x, plan_->waves, b);
    if (config_->embedding_norm) {
      const matrix<f32> before = room(normed_, x.rows(), x.columns());
      copy(before, x);
      embedding_norm_(x, before, norms_);
    }
    multiply_all(x, config_->embedding_scale);
  }
  /// The branches of all layers, through which a block passes one after the other.
  int branches(const token_block&) const { return config_->layers * (is_sequential() ? 2 : 1); }
  /// This column's part of what a branch adds to x.
  void branch(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int number) {
    const int in_layer = is_sequential() ? 2 : 1, layer = number / in_layer;
    if (number % in_layer == 0) first_branch(y, x, b, layer);
    else second_branch(y, x, b, layer);
  }
  /// Adds what a branch gives, when the columns have added up their parts of it.
  void join(const matrix<f32>& x, const matrix<const f32>& y, const token_block&, int) const { add(x, y); }
  /// The logits of this column's tokens; y is (rows of logits, the largest share of the vocabulary).
  void logits(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b) {
    const matrix<const f32> last = x.part(b.first_logits, 0, b.rows_of_logits(), x.columns());
    const matrix<f32> normed = room(normed_, last.rows(), last.columns());
    last_norm_(normed, last, norms_);
    const matrix<f32> own = y.part(0, 0, y.rows(), vocabulary_.count);
    (config_->tied ? tokens_ : head_.weight).multiply(own, normed, b.in_blocks() && y.rows() > 16);
    head_.add_bias(own);
    multiply_all(own, config_->logit_scale);
  }

 private:
  struct layer_part {
    norm_part norm_1, norm_2;
    attention_part attention;
    weight_part router;                      // whole on every column
    std::vector<feed_forward_part> experts;  // one if there is no router
  };

  bool is_sequential() const { return config_->order == block_order::sequential; }
  norm_part norm(const std::string& name) const {
    return plan_->weights.norm(name, config_->width, config_->norm, config_->epsilon);
  }
  layer_part layer(const std::string& name) const {
    const cut_weights& w = plan_->weights;
    const int head = config_->width_of_head(), queries = config_->of_queries(), keys = config_->of_keys();
    const feature_run qkv[]{heads_.features(),
                            {queries + heads_.keys.first * head, heads_.keys.count * head},
                            {queries + keys + heads_.keys.first * head, heads_.keys.count * head}};
    layer_part p;
    p.norm_1 = norm(name + "norm 1");
    if (config_->order != block_order::parallel) p.norm_2 = norm(name + "norm 2");
    p.attention.qkv = w.outputs(name + "qkv", qkv, config_->width);
    p.attention.projection = w.term(name + "projection", config_->width, heads_.features(), column_);
    if (config_->experts) {
      const feature_run scores[]{{0, config_->experts}};
      p.router = w.part(name + "router.weight", scores, {0, config_->width});
      for (int e = 0; e < config_->experts; ++e)
        p.experts.push_back(w.feed_forward(fmt::format("{}expert {} ", name, e), *config_, inner_, column_));
    } else p.experts.push_back(w.feed_forward(name, *config_, inner_, column_));
    return p;
  }

  /// This column's part of what layer l adds to x by attention, or in a parallel block by both of its parts.
  void first_branch(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const layer_part& of = layers_[static_cast<std::size_t>(l)];
    const matrix<f32> normed = room(normed_, x.rows(), x.columns());
    of.norm_1(normed, x, norms_);
    of.attention(y, normed, b, l, heads_, caches_, attending_, [&](int h) { return scores(l, h); });
    if (is_sequential()) return;
    if (config_->order == block_order::parallel_two_norms) of.norm_2(normed, x, norms_);
    const matrix<f32> beside = room(beside_, y.rows(), y.columns());
    feed_forward(beside, normed, of, b.in_blocks());
    add(y, beside);
  }
  /// The same by the feed-forward part of a block whose parts follow each other.
  void second_branch(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const layer_part& of = layers_[static_cast<std::size_t>(l)];
    const matrix<f32> normed = room(normed_, x.rows(), x.columns());
    of.norm_2(normed, x, norms_);
    feed_forward(y, normed, of, b.in_blocks());
  }
  scoring scores(int l, int h) const {
    const f32 usual = 1 / std::sqrt(static_cast<f32>(config_->width_of_head()));
    scoring how{config_->attention_scale != 0 ? config_->attention_scale : usual};
    if (config_->scale_by_layer) how.scale /= static_cast<f32>(l + 1);
    how.window = config_->window;
    if (!plan_->slopes.empty()) how.slope = plan_->slopes[static_cast<std::size_t>(heads_.queries.first + h)];
    return how;
  }
  void feed_forward(const matrix<f32>& y, const matrix<const f32>& x, const layer_part& of, bool as_block) {
    if (!config_->experts) return of.experts[0](y, x, as_block, up_, gate_);
    clear(y);
    const matrix<f32> scores = room(routes_, 2 * x.rows(), config_->experts),
                      weights = scores.part(x.rows(), 0, x.rows(), scores.columns());
    of.router.multiply(scores.part(0, 0, x.rows(), scores.columns()), x, false);
    for (int t = 0; t < x.rows(); ++t)
      set_routes(weights.row(t), scores.row(t), config_->experts, config_->experts_per_token);
    for (int e = 0; e < config_->experts; ++e) {
      std::vector<int> tokens;  // that go to this expert
      for (int t = 0; t < x.rows(); ++t)
        if (weights(t, e) > 0) tokens.push_back(t);
      if (tokens.empty()) continue;
      const int n = static_cast<int>(tokens.size());
      const matrix<f32> in = room(routed_, 2 * n, x.columns()), out = in.part(n, 0, n, x.columns());
      for (int i = 0; i < n; ++i)
        std::copy_n(x.row(tokens[static_cast<std::size_t>(i)]), x.columns(), in.row(i));
      of.experts[static_cast<std::size_t>(e)](out, in.part(0, 0, n, x.columns()), as_block, up_, gate_);
      for (int i = 0; i < n; ++i) {
        const int t = tokens[static_cast<std::size_t>(i)];
        add_scaled(row_of(y, t), row_of(out, i), weights(t, e));
      }
    }
  }

  const decoder_plan* plan_ = nullptr;
  const decoder* config_ = nullptr;
  int column_ = 0;
  own_heads heads_;
  feature_run inner_, vocabulary_;
  weight_part tokens_, positions_;
  linear_part head_;
  norm_part embedding_norm_, last_norm_;
  std::vector<layer_part> layers_;
  std::vector<key_value_cache> caches_;
  std::vector<norm_state> norms_;
  attention_room attending_;
  std::vector<f32> normed_, beside_, up_, gate_, routes_, routed_;
};

}  // namespace wsl::ml
