// SPDX-License-Identifier: MIT
// Models whose sequences have several axes of tokens, such as the texts of an encoder and of a decoder, and
// the attention that such models need: to all tokens, to those that a mask leaves, to those of another
// sequence, and with numbers for distances.
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/encoder.hpp>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using Catch::Contains;
using compare::both;

/// Attention of f64, element by element: the weights, and y.
void plain_attention(const both& q, const both& k, const both& v, const ml::scoring& how, both& weights,
                     both& y) {
  for (int t = 0; t < q.rows; ++t) {
    f64 total = 0;
    for (int s = 0; s < k.rows; ++s) {
      f64 score = 0;
      for (int i = 0; i < q.columns; ++i)
        score += q.exact[static_cast<std::size_t>(t * q.columns + i)] *
                 k.exact[static_cast<std::size_t>(s * k.columns + i)];
      score *= static_cast<f64>(how.scale);
      if (how.of_distance) score += static_cast<f64>(how.of_distance[s - t]);
      const bool hidden = how.of_key && how.of_key[s] < 0;
      total += weights.e()(t, s) = hidden ? 0 : std::exp(score);
    }
    for (int i = 0; i < v.columns; ++i) y.e()(t, i) = 0;
    for (int s = 0; s < k.rows; ++s) {
      weights.e()(t, s) /= total > 0 ? total : 1;
      for (int i = 0; i < v.columns; ++i)
        y.e()(t, i) += weights.e()(t, s) * v.exact[static_cast<std::size_t>(s * v.columns + i)];
    }
  }
}

TEST_CASE("Attention to all keys, to those that are not hidden, and with numbers for distances") {
  struct shape {
    int queries, keys;
  };
  constexpr int width = 8;
  for (const shape& n : {shape{1, 1}, {5, 7}, {64, 64}, {65, 20}, {20, 130}, {150, 150}})
    for (const bool is_masked : {false, true})
      for (const bool has_distances : {false, true}) {
        INFO(n.queries << " queries, " << n.keys << " keys, mask " << is_masked << ", distances "
                       << has_distances);
        both q(n.queries, width, 1), k(n.keys, width, 2), v(n.keys, width, 3), dy(n.queries, width, 4),
            y(n.queries, width), weights(n.queries, n.keys), dq(n.queries, width), dk(n.keys, width),
            dv(n.keys, width), distances(1, n.queries + n.keys, 5), of_distances(1, n.queries + n.keys);
        std::vector<f32> hidden(static_cast<std::size_t>(n.keys));
        for (int s = 0; s < n.keys; ++s)
          hidden[static_cast<std::size_t>(s)] = s % 3 == 2 || s > 70 ? ml::scoring::hidden : 0;
        ml::scoring how{.scale = 0.4f, .causal = false};
        if (is_masked) how.of_key = hidden.data();
        if (has_distances) how.of_distance = distances.single.data() + n.queries;
        std::vector<f32> log_sum_exp(static_cast<std::size_t>(n.queries));
        ml::attention(y.s(), log_sum_exp, q.s(), k.s(), v.s(), how);
        ml::attention_backward(dq.s(), dk.s(), dv.s(), dy.s(), y.s(), log_sum_exp, q.s(), k.s(), v.s(), how,
                               {}, of_distances.single.data() + n.queries);
        plain_attention(q, k, v, how, weights, y);
        CHECK(compare::error(y) < 2e-6);
        // d score = weight (dw - the mean of dw), and so on.
        for (int t = 0; t < n.queries; ++t) {
          std::vector<f64> dw(static_cast<std::size_t>(n.keys));
          f64 mean = 0;
          for (int s = 0; s < n.keys; ++s) {
            for (int i = 0; i < width; ++i) {
              dw[static_cast<std::size_t>(s)] += dy.e()(t, i) * v.e()(s, i);
              dv.e()(s, i) += weights.e()(t, s) * dy.e()(t, i);
            }
            mean += weights.e()(t, s) * dw[static_cast<std::size_t>(s)];
          }
          for (int s = 0; s < n.keys; ++s) {
            const f64 d = weights.e()(t, s) * (dw[static_cast<std::size_t>(s)] - mean);
            of_distances.exact[static_cast<std::size_t>(n.queries + s - t)] += d;
            for (int i = 0; i < width; ++i) {
              dq.e()(t, i) += d * 0.4 * k.e()(s, i);
              dk.e()(s, i) += d * 0.4 * q.e()(t, i);
            }
          }
        }
        for (const both* x : {&dq, &dk, &dv, &of_distances})
          if (n.keys > 1) CHECK(compare::error(*x) < 4e-6);
        both set_q(n.queries, width, 6), set_k(n.keys, width, 7), set_v(n.keys, width, 8);
        ml::attention_backward(set_q.s(), set_k.s(), set_v.s(), dy.s(), y.s(), log_sum_exp, q.s(), k.s(),
                               v.s(), how, {.query = true, .keys = true});
        CHECK(set_q.single == dq.single);
        CHECK(set_k.single == dk.single);
        CHECK(set_v.single == dv.single);
      }
}

TEST_CASE("A query that sees no key gets zeros, and gives none") {
  both q(3, 4, 1), k(100, 4, 2), v(100, 4, 3), dy(3, 4, 4), y(3, 4, 5), dq(3, 4), dk(100, 4), dv(100, 4);
  const std::vector<f32> hidden(100, ml::scoring::hidden);
  std::vector<f32> log_sum_exp(3);
  const ml::scoring how{.causal = false, .of_key = hidden.data()};
  ml::attention(y.s(), log_sum_exp, q.s(), k.s(), v.s(), how);
  ml::attention_backward(dq.s(), dk.s(), dv.s(), dy.s(), y.s(), log_sum_exp, q.s(), k.s(), v.s(), how);
  for (const both* x : {&y, &dq, &dk, &dv})
    for (const f32 one : x->single) CHECK(one == 0);
}

// Source: `_relative_position_bucket` of the reference implementation of T5, evaluated by hand for 8 buckets
// and distances up to 20.
TEST_CASE("Buckets of distances are those of T5") {
  const ml::relative_positions r{8, 20};
  const auto bucket = [&](int distance, bool causal) { return ml::relative_bucket(distance, r, causal); };
  const std::vector<int> earlier{0, 1, 2, 2, 2, 2, 2, 3, 3}, causal{0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6};
  for (std::size_t d = 0; d < earlier.size(); ++d) {
    CHECK(bucket(-static_cast<int>(d), false) == earlier[d]);
    if (d) CHECK(bucket(static_cast<int>(d), false) == earlier[d] + 4);
  }
  for (std::size_t d = 0; d < causal.size(); ++d) CHECK(bucket(-static_cast<int>(d), true) == causal[d]);
  CHECK(bucket(5, true) == 0);
  CHECK(bucket(-1000, true) == 7);
  CHECK(bucket(1000, false) == 7);
}

/// An encoder and a decoder that looks at it, with a loss for each token of the decoder, and one for the
/// whole sequence, which the encoder's first token stands for.
ml::network translator(bool relative = false) {
  ml::network n;
  const int text = n.axis("tokens of the translation"), mask = n.optional_ids("seen", 2),
            ids = n.ids("source", 11), words = n.ids("translation", 13, 1, text);
  const ml::initial start = ml::initial::normal(0.3f);
  ml::attention_heads all{.queries = 4, .keys = 2, .causal = false}, causal{.queries = 4},
      across{.queries = 4, .causal = false};
  if (relative) all.relative = {8, 20}, causal.relative = {8, 20};
  int x = n.embedding_of("embedding", ids, relative ? 0 : 9, 16, start);
  x = n.sum(
      "sum 1", x,
      n.linear("projection 1", n.attention("attention 1", n.linear("qkv 1", x, 32, true, start), all, mask),
               16, true, start));
  x = n.norm("norm 1", x, 1e-5f);
  int y = n.embedding_of("words", words, relative ? 0 : 9, 16, start);
  y = n.sum("sum 2", y, n.attention("attention 2", n.linear("qkv 2", y, 48, false, start), causal));
  y = n.sum("sum 3", y,
            n.cross_attention("across", n.linear("q", n.norm("norm 2", y, 1e-5f), 16, true, start),
                              n.linear("kv", x, 32, true, start), across, mask));
  n.cross_entropy("loss", n.linear("head", n.norm("norm 3", y, 1e-5f), 13, false, start));
  const int about = n.linear("about", n.first_token("first", x), 3, true, start);
  n.cross_entropy("kind of text", about, {.targets = n.classes("kind", 3, 1, n.axis_of_sequences())});
  return n;
}
/// A batch for it.
struct texts {
  std::vector<i32> source, translation, targets, seen, kinds;
  int sequences, length;

  texts(int s, int from, int to) : sequences(s), length(from) {
    std::mt19937 random(3);
    const auto draw = [&](int count, int below) {
      std::vector<i32> x;
      for (int k = 0; k < count; ++k) x.push_back(static_cast<i32>(random() % static_cast<unsigned>(below)));
      return x;
    };
    source = draw(s * from, 11), translation = draw(s * to, 13), targets = draw(s * to, 13),
    kinds = draw(s, 3);
    for (int k = 0; k < s; ++k)
      for (int t = 0; t < from; ++t) seen.push_back(t < 2 + (k * 3) % from);
  }
  ml::batch all() const {
    ml::batch b{.sequences = sequences, .length = length};
    b.named = {{"source", std::span(source)},
               {"translation", std::span(translation)},
               {"targets", std::span(targets)},
               {"seen", std::span(seen)},
               {"kind", std::span(kinds)}};
    return b;
  }
};

TEST_CASE("Gradients of encoders and decoders are those of differences") {
  for (const bool relative : {false, true}) {
    const ml::network n = translator(relative);
    const texts t(3, 7, 5);
    ml::check_gradients(n, ml::detail::varied_weights(n, 1), t.all(), {.entries = 12}).require();
    ml::check_gradients(n).require();
  }
}

TEST_CASE("Encoders and decoders train the same on every grid and in a pipeline") {
  const texts t(6, 7, 5);
  for (const bool relative : {false, true}) {
    const auto steps = [&](auto trained) {
      std::vector<f64> losses;
      for (int k = 0; k < 3; ++k) losses.push_back(trained.step(t.all(), 0.05));
      const std::vector<f32> logits = trained.predict(t.all());
      CHECK(logits.size() == 6 * 5 * 13);
      losses.insert(losses.end(), logits.begin(), logits.end());
      return std::pair<std::vector<f64>, ml::weights>{losses, trained.parameters()};
    };
    const auto [losses, w] =
        steps(ml::trainer(translator(relative), ml::optimizer::sgd({.momentum = 0.9f}), {.workers = 1}));
    const auto agrees = [&](const auto& other) {
      for (std::size_t k = 0; k < losses.size(); ++k) CHECK(other.first[k] == Approx(losses[k]).margin(2e-5));
      CHECK(compare::distance(other.second, w) < 2e-5);
    };
    struct grid {
      int rows, columns, wafers;
    };
    for (const grid& g :
         {grid{2, 1, 1}, {6, 1, 1}, {8, 1, 1}, {1, 2, 1}, {3, 2, 1}, {1, 3, 1}, {2, 4, 1}, {2, 2, 2}}) {
      if (g.columns > 1 && !ml::column_cut::can_cut(translator(relative))) continue;
      INFO(g.rows << " x " << g.columns << " workers on " << g.wafers << " wafers");
      agrees(steps(ml::trainer(translator(relative), ml::optimizer::sgd({.momentum = 0.9f}),
                               {.workers = g.rows * g.columns, .columns = g.columns, .num_csx = g.wafers})));
    }
    agrees(steps(ml::trainer(translator(relative), ml::optimizer::sgd({.momentum = 0.9f}),
                             {.workers = 2, .columns = 1, .micro_batch_size = 2, .recompute = true})));
    for (const int strips : {1, 2, 5, 40}) {
      INFO(strips << " strips");
      agrees(steps(ml::pipelined_trainer(translator(relative), ml::optimizer::sgd({.momentum = 0.9f}),
                                         {.strips = strips})));
    }
  }
}

TEST_CASE("A mask hides tokens: what is behind it does not matter, and without it all are seen") {
  texts t(3, 7, 5);
  const auto loss = [&](const ml::batch& b) {
    return ml::trainer(translator(), ml::optimizer::sgd(), {.workers = 1, .seed = 5}).evaluate(b);
  };
  const f64 hidden = loss(t.all());
  ml::batch open = t.all();
  std::erase_if(open.named, [](const ml::named_numbers& x) { return x.name == "seen"; });
  CHECK(std::abs(loss(open) - hidden) > 1e-6);
  std::fill(t.seen.begin(), t.seen.end(), 1);
  CHECK(loss(t.all()) == loss(open));
  texts changed(3, 7, 5);
  for (std::size_t k = 0; k < changed.source.size(); ++k)
    if (!changed.seen[k] && k % 7 != 0) changed.source[k] = (changed.source[k] + 1) % 11;
  CHECK(loss(changed.all()) == hidden);
}

TEST_CASE("Axes of tokens that do not fit are refused") {
  ml::network n;
  const int text = n.axis("tokens of the summary"), a = n.input("a", 4), b = n.input("b", 4, text),
            seen = n.ids("seen", 2);
  CHECK_THROWS_WITH(n.sum("sum", a, b),
                    "wsl: sum is computed token by token for the tokens of the batch, but "
                    "the 4 features of b are for tokens of the summary");
  CHECK_THROWS_WITH(n.axis("x", -1), Contains("a sequence has at least 1 token of x"));
  CHECK_THROWS_WITH(n.input("c", 4, 7), "wsl: there is no axis 7: the model has 2 so far");
  CHECK_THROWS_WITH(
      n.cross_attention("across", b, a, {.queries = 2, .causal = false}),
      Contains("across shares out the 4 features of b to 2 heads of queries, and the 4 features of a"));
  const int kv = n.input("kv", 8);
  CHECK_THROWS_WITH(n.cross_attention("across", b, kv, {.queries = 2}),
                    Contains("cross-attention is not causal"));
  CHECK_THROWS_WITH(n.attention("self", n.input("qkv", 12, text), {.queries = 2, .causal = false}, seen),
                    "wsl: the mask of self is one id for each of tokens of the summary, which 1 ids of seen "
                    "below 2 are not");
  CHECK_THROWS_WITH(n.attention("self", n.input("qkv 2", 12), {.queries = 2, .relative = {5, 4}}),
                    Contains("self has 5 buckets of distances up to 4"));
  CHECK_THROWS_WITH(n.attention("self", n.input("qkv 3", 12), {.queries = 2, .window = 3, .causal = false}),
                    Contains("causal attention has one of at least 1"));

  texts t(3, 7, 5);
  t.translation.pop_back();
  ml::trainer trained(translator(), ml::optimizer::sgd(), {.workers = 1});
  CHECK_THROWS_WITH(trained.step(t.all(), 1),
                    "wsl: the 14 numbers of translation are not as many for each of 3 sequences");
  t.translation.clear();
  CHECK_THROWS_WITH(trained.evaluate(t.all()), Contains("translation"));
  texts longer(3, 7, 10);
  CHECK_THROWS_WITH(
      trained.evaluate(longer.all()),
      "wsl: a sequence of 10 tokens of tokens of the translation is longer than the 9 positions of "
      "the model");
}

/// A batch for a small encoder of any task.
struct encoder_texts {
  std::vector<i32> ids, types, seen, labels, of_sequences, starts, ends;
  static constexpr int sequences = 4, length = 6;

  explicit encoder_texts(int classes) {
    for (int s = 0; s < sequences; ++s) {
      for (int t = 0; t < length; ++t) {
        const bool is_padding = t >= length - s % 3;
        ids.push_back(is_padding ? 1 : 2 + (5 * s + 3 * t) % 9), types.push_back(t > 2),
            seen.push_back(!is_padding);
        labels.push_back(is_padding || (s + t) % 2 ? ml::encoder::no_label : (s * t) % classes);
      }
      of_sequences.push_back(s % 2), starts.push_back(s % 3), ends.push_back(s % 3 + 1);
    }
  }
  ml::batch all(ml::encoder_task task) const {
    using enum ml::encoder_task;
    ml::batch b{.sequences = sequences, .length = length};
    b.named = {{"input_ids", std::span(ids)},
               {"token_type_ids", std::span(types)},
               {"attention_mask", std::span(seen)}};
    if (task == span)
      b.named.emplace_back("start_positions", std::span(starts)),
          b.named.emplace_back("end_positions", std::span(ends));
    else
      b.named.emplace_back("labels", task == sequence_classes ? std::span(of_sequences) : std::span(labels));
    if (task == next_sentence) b.named.emplace_back("next_sentence_label", std::span(of_sequences));
    return b;
  }
};

TEST_CASE("Encoders of each task: gradients, and the same training on grids and in a pipeline") {
  using enum ml::encoder_task;
  for (const ml::encoder_task task : {masked_words, next_sentence, sequence_classes, token_classes, span})
    for (const bool is_roberta : {false, true}) {
      INFO("task " << static_cast<int>(task) << (is_roberta ? ", positions from the padding" : ""));
      ml::encoder e{.vocabulary = 11,
                    .positions = 8,
                    .layers = 2,
                    .heads = 2,
                    .width = 8,
                    .filter = 12,
                    .epsilon = 1e-5f,
                    .deviation = 0.3f,
                    .task = task,
                    .loss_factor = 0.5f};
      if (is_roberta) e.unused_positions = 2, e.padding = 1, e.token_types = 0, e.loss_by_sequences = true;
      const encoder_texts t(task == token_classes ? e.classes : e.vocabulary);
      ml::batch b = t.all(task);
      if (is_roberta)
        std::erase_if(b.named, [](const ml::named_numbers& x) { return x.name == "token_type_ids"; });
      const ml::network n = e.build();
      // The embedding of padding is not learnt; a part's scores are compared with those of padding as well.
      if (!is_roberta || task != span)
        ml::check_gradients(n, ml::detail::varied_weights(n, 1), b, {.entries = 6}).require();
      if (is_roberta && (task == masked_words || task == token_classes)) {
        ml::encoder of_means = e;
        of_means.loss_factor = 1, of_means.loss_by_sequences = false;
        const auto first = [&](const ml::encoder& x) {
          return ml::trainer(x.build(), ml::optimizer::sgd(), {.workers = 1}).step(b, 0);
        };
        const f64 counted = ml::counts_of_losses(n, b).front();
        CHECK(first(e) == Approx(0.5 * counted / b.sequences * first(of_means)).epsilon(1e-6));
      }
      const auto steps = [&](auto trained) {
        for (int k = 0; k < 2; ++k) trained.step(b, 0.05);
        return std::pair<f64, ml::weights>{trained.step(b, 0.05), trained.parameters()};
      };
      const auto [loss, w] = steps(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 1}));
      const auto agrees = [&](const auto& other) {
        CHECK(other.first == Approx(loss).epsilon(2e-5));
        // Not relative: some gradients are zero but for rounding, as what shifts the scores of all tokens.
        f64 off = 0;
        for (std::size_t p = 0; p < w.size(); ++p)
          for (std::size_t k = 0; k < w[p].size(); ++k)
            off = std::max(off, static_cast<f64>(std::abs(other.second[p][k] - w[p][k])));
        CHECK(off < 1e-5);
      };
      agrees(steps(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 6, .columns = 2})));
      agrees(steps(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 6, .columns = 1, .num_csx = 2})));
      agrees(steps(ml::pipelined_trainer(e.build(), ml::optimizer::sgd(), {.strips = 3})));
    }
}

/// Projected tokens by their definition: those of a sequence are sums of the tokens that are seen.
std::vector<f64> projected(std::span<const f32> kv, std::span<const i32> seen, const ml::weights& w,
                           int length, int columns, int count, bool is_shared) {
  std::vector<f64> y;
  const int sequences = static_cast<int>(kv.size()) / (length * columns);
  for (int s = 0; s < sequences; ++s)
    for (int j = 0; j < count; ++j)
      for (int c = 0; c < columns; ++c) {
        const std::size_t which = is_shared || c < columns / 2 ? 0 : 2;
        f64 sum = static_cast<f64>(w[which][static_cast<std::size_t>(j)]);
        for (int t = 0; t < length; ++t) {
          const auto at = static_cast<std::size_t>(s * length + t);
          const f32 e = w[which + 1][static_cast<std::size_t>(j * 9 + t)];
          if (seen[at])
            sum += static_cast<f64>(e) *
                   static_cast<f64>(kv[at * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)]);
        }
        y.push_back(sum);
      }
  return y;
}

TEST_CASE("Tokens are projected to fewer ones by the definition") {
  for (const bool is_shared : {false, true}) {
    ml::network n;
    const int x = n.input("kv", 8), mask = n.ids("seen", 2), few = n.axis("projected tokens", 3);
    n.token_projection("few", x, 2, few, 9, is_shared, true, ml::initial::normal(1), mask);
    ml::weights w = ml::detail::varied_weights(n, 2);
    std::vector<f32> kv;
    std::vector<i32> seen;
    for (int k = 0; k < 2 * 7 * 8; ++k) kv.push_back(static_cast<f32>(k * 37 % 11) - 5);
    for (int k = 0; k < 2 * 7; ++k) seen.push_back(k % 5 != 0);
    ml::activation_store store = store_of(n, {.ids = seen, .features = kv, .sequences = 2, .length = 7});
    serial_forward(n, w, store);
    store.enter(n.stages()[0]->output);
    const matrix<f32> y = store.value(n.stages()[0]->output);
    const std::vector<f64> right = projected(kv, seen, w, 7, 8, 3, is_shared);
    REQUIRE(y.rows() == 2 * 3);
    for (std::size_t k = 0; k < right.size(); ++k)
      CHECK(static_cast<f64>(y.first()[k]) == Approx(right[k]).margin(1e-5));
  }
  ml::network n;
  const int x = n.input("kv", 6);
  CHECK_THROWS_WITH(n.token_projection("few", x, 4, n.axis("projected", 2), 9, true, true, {}),
                    Contains("few projects the 6 features of kv, keys and values of 4 heads"));
}

TEST_CASE("Linformer: gradients, and the same training on grids and in a pipeline") {
  for (const bool is_shared : {false, true}) {
    const ml::encoder e{.vocabulary = 11,
                        .positions = 8,
                        .layers = 2,
                        .heads = 2,
                        .width = 8,
                        .filter = 12,
                        .epsilon = 1e-5f,
                        .deviation = 0.3f,
                        .projected = 3,
                        .shared_projection = is_shared,
                        .task = ml::encoder_task::masked_words};
    const encoder_texts t(e.vocabulary);
    const ml::batch b = t.all(e.task);
    const ml::network n = e.build();
    ml::check_gradients(n, ml::detail::varied_weights(n, 1), b, {.entries = 8}).require();
    const auto steps = [&](auto trained) {
      for (int k = 0; k < 2; ++k) trained.step(b, 0.05);
      return std::pair<f64, ml::weights>{trained.step(b, 0.05), trained.parameters()};
    };
    const auto [loss, w] = steps(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 1}));
    const auto agrees = [&](const auto& other) {
      CHECK(other.first == Approx(loss).epsilon(2e-5));
      CHECK(compare::distance(other.second, w) < 2e-5);
    };
    agrees(steps(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 6, .columns = 2})));
    agrees(steps(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 6, .columns = 3, .num_csx = 2})));
    agrees(steps(ml::pipelined_trainer(e.build(), ml::optimizer::sgd(), {.strips = 3})));
  }
}

// A token that is padding has no position, and those after it count on: the same numbers as with positions
// that the host would count.
TEST_CASE("Positions from the padding count the other tokens") {
  ml::network n;
  n.embedding_of("embedding", n.ids("input_ids", 4), 1,
                 {.positions = 3, .start = ml::initial::constant(0), .unused = 2, .padding = 1});
  ml::weights w(n);
  for (std::size_t row = 0; row < 5; ++row) w[1][row] = static_cast<f32>(row);
  const std::vector<i32> ids{2, 1, 3, 0, 1, 1, 2, 1};
  ml::activation_store store = store_of(n, {.ids = ids, .sequences = 2, .length = 4});
  serial_forward(n, w, store);
  const matrix<f32> y = store.value(n.stages()[0]->output);
  const std::vector<f32> right{2, 1, 3, 4, 1, 1, 2, 1};
  CHECK(std::vector<f32>(y.first(), y.first() + 8) == right);
}

TEST_CASE("Parts beyond their sequence are refused") {
  ml::encoder e{
      .vocabulary = 11, .positions = 8, .layers = 1, .heads = 2, .width = 8, .task = ml::encoder_task::span};
  encoder_texts t(2);
  t.ends[1] = 7;
  CHECK_THROWS_WITH(ml::trainer(e.build(), ml::optimizer::sgd(), {.workers = 1}).step(t.all(e.task), 1),
                    Contains("the part of a sequence ends with token 7, and there are 6"));
}

}  // namespace
