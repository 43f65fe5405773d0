// SPDX-License-Identifier: MIT
// The part of a decoder that a column of a writer has, and what it computes alone. Queries are cut over the
// columns head by head, with the keys and values that they need; so are the features inside the feed-forward
// part and the tokens of the vocabulary. Every column has the norms. The outputs of attention and of the
// feed-forward part are sums over features, of which a column computes the terms of its own, so the columns
// add up their parts: the tensor parallelism of Megatron-LM (arXiv 1909.08053). See writer.hpp.
#pragma once
#include "../layer/mixture.hpp"
#include "../model/decoder.hpp"
#include "../op/activation.hpp"
#include "../op/norm.hpp"
#include "../op/position.hpp"
#include "key_value_cache.hpp"
#include "weight_part.hpp"

namespace wsl::ml {

/// Tokens that pass through the layers together: the next one of each of several texts, or several of one.
struct token_block {
  std::vector<i32> ids, positions, texts;  ///< of each row
  int first_logits = 0;                    ///< rows from this one on give logits
  bool is_prompt = false;                  ///< the rows are consecutive tokens of one text

  int rows() const { return static_cast<int>(ids.size()); }
  int rows_of_logits() const { return rows() - first_logits; }
  /// Many rows are multiplied in another order than few. Texts that are written side by side are few however
  /// many they are, so that none depends on the others.
  bool in_blocks() const { return is_prompt && rows() > 16; }
};

/// The model and the settings that all columns share.
struct decoder_plan {
  decoder config;
  stored_weights weights;
  precision format = precision::f32;
  bool in_place = false;
  int columns = 1, max_length = 0;
  std::optional<rotation> rotate = {};
  std::vector<f32> waves = {}, slopes = {};  ///< tables of positions

  decoder_plan(const decoder& d, stored_weights w, precision as, bool in_place_, int columns_, int length)
      : config(d),
        weights(std::move(w)),
        format(as),
        in_place(in_place_),
        columns(columns_),
        max_length(length) {
    if (d.position == positioning::rotary)
      rotate.emplace(length, d.rotary_features ? d.rotary_features : d.width_of_head(), d.rotary_base,
                     d.rotary_pairs, d.rotary_scale);
    if (d.position == positioning::fixed) waves = sinusoids(length, d.width);
    if (d.position == positioning::alibi) slopes = alibi_slopes(d.heads);
  }
  /// The `column`-th of even shares of some units.
  feature_run share(int units, int column) const {
    const block_cyclic cut{units, columns};
    return {cut.size(column) ? cut.global(column, 0) : 0, cut.size(column)};
  }
  /// The tokens of the vocabulary of the column that has most.
  int largest_share_of_vocabulary() const { return (config.vocabulary + columns - 1) / columns; }
  const stored_weights::array* find(const std::string& name) const { return weights.find(name); }
};

class decoder_part {
 public:
  decoder_part() = default;
  /// Takes its weights. It keeps a pointer to the plan.
  decoder_part(const decoder_plan& plan, int column)
      : plan_(&plan),
        config_(&plan.config),
        column_(column),
        heads_(plan.share(plan.config.heads, column)),
        inner_(plan.share(plan.config.inner_width(), column)),
        vocabulary_(plan.share(plan.config.vocabulary, column)) {
    const int groups = config_->kv_heads ? config_->kv_heads : config_->heads;
    in_group_ = config_->heads / groups;
    if (heads_.count) {
      const int first = heads_.first / in_group_;
      groups_ = {first, (heads_.first + heads_.count - 1) / in_group_ - first + 1};
    }
    const feature_run tokens[]{vocabulary_};
    tokens_ = part("embedding.tokens", tokens, {0, config_->width});
    if (column == 0 && config_->position == positioning::learned) {
      const feature_run rows[]{{config_->unused_positions, config_->positions}};
      positions_ = part("embedding.positions", rows, {0, config_->width});
    }
    embedding_norm_ = norm_part("embedding norm", config_->embedding_norm);
    for (int l = 0; l < config_->layers; ++l) layers_.push_back(layer(fmt::format("layer {} ", l)));
    last_norm_ = norm_part("last norm", true);
    if (!config_->tied) {
      head_ = part("head.weight", tokens, {0, config_->width});
      head_bias_ = bias("head.bias", tokens);
    }
  }

  /// The bytes of weights that a token reads.
  i64 bytes() const {
    i64 n = (config_->tied ? tokens_ : head_).bytes();
    for (const layer_part& l : layers_) {
      const expert& one = l.experts[0];
      n += l.qkv.bytes() + l.projection.bytes() + l.router.bytes();
      n += (one.up.bytes() + one.gate.bytes() + one.down.bytes()) *
           (config_->experts ? config_->experts_per_token : 1);
    }
    return n;
  }
  int width() const { return config_->width; }
  bool is_sequential() const { return config_->order == block_order::sequential; }

  /// Makes room for some texts of at most `capacity` tokens.
  void resize(int texts, int capacity) {
    caches_.resize(static_cast<std::size_t>(texts));
    for (key_value_cache& c : caches_)
      c.resize(config_->layers, groups_.count, config_->width_of_head(), capacity);
  }
  /// Gives all texts the first tokens of text 0.
  void copy_first_text(int tokens) {
    for (std::size_t k = 1; k < caches_.size(); ++k) caches_[k].copy_from(caches_[0], tokens);
  }

  /// This column's part of the embedding of a block; x is (rows, width), as is that of the functions below.
  void embed(const matrix<f32>& x, const token_block& b) const {
    clear(x);
    for (int t = 0; t < b.rows(); ++t) {
      const std::size_t row = static_cast<std::size_t>(t);
      const int own = b.ids[row] - vocabulary_.first;
      if (own >= 0 && own < vocabulary_.count) tokens_.add_row(x.row(t), own);
      if (positions_.rows()) positions_.add_row(x.row(t), b.positions[row]);
    }
  }
  /// The rest of the embedding, when the columns have added up their parts.
  void finish_embedding(const matrix<f32>& x, const token_block& b) {
    if (config_->embedding_scale != 1) scale(x, config_->embedding_scale);
    for (int t = 0; t < b.rows() && !plan_->waves.empty(); ++t)
      add(row_of(x, t), {plan_->waves.data() + i64{b.positions[static_cast<std::size_t>(t)]} * x.columns(), 1,
                         x.columns()});
    if (config_->embedding_norm) {
      copy(temporary(normed_, x.rows(), x.columns()), x);
      normalize(x, view(normed_, x.rows(), x.columns()), embedding_norm_);
    }
  }
  /// This column's part of what layer l adds to x: by attention, or in a parallel block by both of its parts.
  void first_branch(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const layer_part& of = layers_[static_cast<std::size_t>(l)];
    const matrix<f32> normed = temporary(normed_, x.rows(), x.columns());
    normalize(normed, x, of.norm_1);
    attend(y, normed, b, l);
    if (is_sequential()) return;
    if (config_->order == block_order::parallel_two_norms) normalize(normed, x, of.norm_2);
    const matrix<f32> beside = temporary(beside_, y.rows(), y.columns());
    feed_forward(beside, normed, of, b.in_blocks());
    add(y, beside);
  }
  /// The same by the feed-forward part of a block whose parts follow each other.
  void second_branch(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const layer_part& of = layers_[static_cast<std::size_t>(l)];
    const matrix<f32> normed = temporary(normed_, x.rows(), x.columns());
    normalize(normed, x, of.norm_2);
    feed_forward(y, normed, of, b.in_blocks());
  }
  /// The logits of this column's tokens; y is (rows of logits, the largest share of the vocabulary).
  void logits(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b) {
    const matrix<const f32> last = x.part(b.first_logits, 0, b.rows_of_logits(), x.columns());
    const matrix<f32> normed = temporary(normed_, last.rows(), last.columns());
    normalize(normed, last, last_norm_);
    const matrix<f32> own = y.part(0, 0, y.rows(), vocabulary_.count);
    (config_->tied ? tokens_ : head_).multiply(own, normed, b.in_blocks() && y.rows() > 16);
    add_bias(own, head_bias_);
    if (config_->logit_scale != 1) scale(own, config_->logit_scale);
  }

 private:
  struct norm {
    std::vector<f32> gain = {}, bias = {};
  };
  struct expert {
    weight_part up, gate, down;
    std::vector<f32> up_bias, gate_bias, down_bias;
  };
  struct layer_part {
    norm norm_1, norm_2;
    weight_part qkv, projection, router;  // the router is whole on every column
    std::vector<f32> qkv_bias, projection_bias;
    std::vector<expert> experts;  // one if there is no router
  };

  weight_part part(const std::string& name, std::span<const feature_run> rows, feature_run columns) const {
    return {*plan_->find(name), rows, columns, plan_->format, plan_->in_place};
  }
  /// Some elements of a vector; empty if the model has none of that name.
  std::vector<f32> bias(const std::string& name, std::span<const feature_run> which) const {
    std::vector<f32> all;
    if (const stored_weights::array* p = plan_->find(name))
      for (const feature_run& r : which)
        with_number(p->runs[0].format, [&]<class T>(std::type_identity<T>) {
          for (int i = 0; i < r.count; ++i)
            all.push_back(static_cast<f32>(static_cast<const T*>(p->runs[0].first)[r.first + i]));
        });
    return all;
  }
  norm norm_part(const std::string& name, bool exists) const {
    const feature_run every[]{{0, config_->width}};
    return exists ? norm{bias(name + ".gain", every), bias(name + ".bias", every)} : norm{};
  }
  layer_part layer(const std::string& name) const {
    const int head = config_->width_of_head(), queries = config_->of_queries(), keys = config_->of_keys();
    const feature_run of_queries{heads_.first * head, heads_.count * head},
        qkv[]{of_queries,
              {queries + groups_.first * head, groups_.count * head},
              {queries + keys + groups_.first * head, groups_.count * head}},
        every[]{{0, config_->width}};
    layer_part p;
    p.norm_1 = norm_part(name + "norm 1", true);
    p.norm_2 = norm_part(name + "norm 2", config_->order != block_order::parallel);
    p.qkv = part(name + "qkv.weight", qkv, {0, config_->width}), p.qkv_bias = bias(name + "qkv.bias", qkv);
    p.projection = part(name + "projection.weight", every, of_queries);
    if (column_ == 0) p.projection_bias = bias(name + "projection.bias", every);
    if (config_->experts) {
      const feature_run scores[]{{0, config_->experts}};
      p.router = part(name + "router.weight", scores, {0, config_->width});
      for (int e = 0; e < config_->experts; ++e)
        p.experts.push_back(expert_part(fmt::format("{}expert {} ", name, e)));
    } else p.experts.push_back(expert_part(name));
    return p;
  }
  expert expert_part(const std::string& name) const {
    const feature_run inner[]{inner_}, every[]{{0, config_->width}};
    expert p;
    p.up = part(name + "up.weight", inner, {0, config_->width}), p.up_bias = bias(name + "up.bias", inner);
    if (config_->is_gated())
      p.gate = part(name + "gate.weight", inner, {0, config_->width}),
      p.gate_bias = bias(name + "gate.bias", inner);
    p.down = part(name + "down.weight", every, inner_);
    // the bias of what the columns add up
    if (column_ == 0) p.down_bias = bias(name + "down.bias", every);
    return p;
  }

  static matrix<f32> view(std::vector<f32>& room, int rows, int columns) {
    return {room.data(), rows, columns};
  }
  static matrix<f32> temporary(std::vector<f32>& room, int rows, int columns) {
    room.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    return view(room, rows, columns);
  }
  static matrix<f32> row_of(const matrix<f32>& x, int t) { return x.part(t, 0, 1, x.columns()); }
  static void scale(const matrix<f32>& x, f32 by) {
    for (int t = 0; t < x.rows(); ++t) run_vectorized<detail::scale_row_loop>(x.row(t), by, x.columns());
  }
  static void add_bias(const matrix<f32>& y, const std::vector<f32>& bias) {
    if (!bias.empty()) add_to_rows(y, bias.data());
  }
  void normalize(const matrix<f32>& y, const matrix<const f32>& x, const norm& by) {
    norms_.resize(static_cast<std::size_t>(x.rows()));
    if (config_->norm == normalization::layernorm)
      layernorm(y, norms_, x, by.gain.data(), by.bias.empty() ? nullptr : by.bias.data(), config_->epsilon);
    else rmsnorm(y, norms_, x, by.gain.data(), config_->epsilon);
  }

  void attend(const matrix<f32>& y, const matrix<const f32>& x, const token_block& b, int l) {
    const layer_part& of = layers_[static_cast<std::size_t>(l)];
    const int head = config_->width_of_head(), n = b.rows(), keys_at = heads_.count * head,
              values_at = keys_at + groups_.count * head;
    const matrix<f32> qkv = temporary(qkv_, n, of.qkv.rows()), out = temporary(attended_, n, keys_at);
    of.qkv.multiply(qkv, x, b.in_blocks());
    add_bias(qkv, of.qkv_bias);
    for (int t = 0; t < n; ++t) {
      const std::size_t row = static_cast<std::size_t>(t);
      const int position = b.positions[row];
      key_value_cache& cache = caches_[static_cast<std::size_t>(b.texts[row])];
      for (int h = 0; h < heads_.count; ++h) turn(qkv.row(t) + h * head, qkv.row(t) + h * head, position);
      for (int g = 0; g < groups_.count; ++g) {
        turn(cache.keys(l, g).row(position), qkv.row(t) + keys_at + g * head, position);
        std::copy_n(qkv.row(t) + values_at + g * head, head, cache.values(l, g).row(position));
      }
    }
    const int together = b.is_prompt ? n : 1;
    for (int t = 0; t < n; t += together)
      for (int h = 0; h < heads_.count; ++h) {
        const std::size_t row = static_cast<std::size_t>(t);
        key_value_cache& cache = caches_[static_cast<std::size_t>(b.texts[row])];
        const int g = (heads_.first + h) / in_group_ - groups_.first;
        cached_attention(out.part(t, h * head, together, head), qkv.part(t, h * head, together, head),
                         cache.keys(l, g), cache.values(l, g), b.positions[row], scores(l, h), b.in_blocks(),
                         scores_);
      }
    of.projection.multiply(y, out, b.in_blocks());
    add_bias(y, of.projection_bias);
  }
  /// to = the features of a head, rotated if the model rotates them; `from` may be `to`.
  void turn(f32* to, const f32* from, int position) {
    const std::size_t head = static_cast<std::size_t>(config_->width_of_head());
    if (plan_->rotate) {
      turned_.assign(from, from + head);
      plan_->rotate->rotate(turned_.data(), from, position);
      from = turned_.data();
    }
    if (to != from) std::copy_n(from, head, to);
  }
  scoring scores(int l, int h) const {
    const f32 usual = 1 / std::sqrt(static_cast<f32>(config_->width_of_head()));
    scoring how{config_->attention_scale != 0 ? config_->attention_scale : usual};
    if (config_->scale_by_layer) how.scale /= static_cast<f32>(l + 1);
    how.window = config_->window;
    if (!plan_->slopes.empty()) how.slope = plan_->slopes[static_cast<std::size_t>(heads_.first + h)];
    return how;
  }
  void feed_forward(const matrix<f32>& y, const matrix<const f32>& x, const layer_part& of, bool as_block) {
    if (!config_->experts) return feed_forward(y, x, of.experts[0], as_block);
    clear(y);
    const matrix<f32> scores = temporary(routes_, 2 * x.rows(), config_->experts),
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
      const matrix<f32> in = temporary(routed_, 2 * n, x.columns()), out = in.part(n, 0, n, x.columns());
      for (int i = 0; i < n; ++i)
        std::copy_n(x.row(tokens[static_cast<std::size_t>(i)]), x.columns(), in.row(i));
      feed_forward(out, in.part(0, 0, n, x.columns()), of.experts[static_cast<std::size_t>(e)], as_block);
      for (int i = 0; i < n; ++i) {
        const int t = tokens[static_cast<std::size_t>(i)];
        add_scaled(row_of(y, t), row_of(out, i), weights(t, e));
      }
    }
  }
  void feed_forward(const matrix<f32>& y, const matrix<const f32>& x, const expert& of, bool as_block) {
    const matrix<f32> up = temporary(up_, x.rows(), inner_.count);
    of.up.multiply(up, x, as_block);
    add_bias(up, of.up_bias);
    if (config_->is_gated()) {
      const matrix<f32> by = temporary(gate_, x.rows(), inner_.count);
      of.gate.multiply(by, x, as_block);
      add_bias(by, of.gate_bias);
      apply(up, by);
    } else apply(up, up);
    of.down.multiply(y, up, as_block);
    add_bias(y, of.down_bias);
  }
  void apply(const matrix<f32>& x, const matrix<const f32>& by) const {
    switch (config_->between) {
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

  const decoder_plan* plan_ = nullptr;
  const decoder* config_ = nullptr;
  int column_ = 0, in_group_ = 1;
  feature_run heads_, groups_, inner_, vocabulary_;  // of queries, of keys and values
  weight_part tokens_, positions_, head_;
  std::vector<f32> head_bias_;
  norm embedding_norm_, last_norm_;
  std::vector<layer_part> layers_;
  std::vector<key_value_cache> caches_;
  std::vector<norm_state> norms_;
  std::vector<f32> normed_, beside_, qkv_, attended_, turned_, scores_, up_, gate_, routes_, routed_;
};

}  // namespace wsl::ml
