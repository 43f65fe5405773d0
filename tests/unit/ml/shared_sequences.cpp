// SPDX-License-Identifier: MIT
// More rows of workers than sequences: rows that share a sequence do what training in one place does, and the
// same bits on any number of threads.
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/ml/train/streaming/row_tokens.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"
#include "random_text.hpp"

namespace {
using namespace wsl;
using ml::optimizer;

using text = test::random_text<23>;

ml::decoder learned() { return {.vocabulary = 23, .positions = 24, .layers = 2, .heads = 2, .width = 16}; }
ml::decoder rotary() {
  ml::decoder d = learned();
  d.heads = 4, d.kv_heads = 2, d.position = ml::positioning::rotary, d.norm = ml::normalization::rmsnorm;
  d.between = ml::nonlinearity::swiglu, d.tied = false;
  return d;
}
ml::decoder windowed(int window = 5) {
  ml::decoder d = rotary();
  d.window = window;
  return d;
}
ml::decoder alibi() {
  ml::decoder d = learned();
  d.heads = 3, d.width = 24, d.position = ml::positioning::alibi, d.order = ml::block_order::parallel;
  return d;
}

/// The results of three steps and an evaluation.
struct run {
  std::vector<f64> losses;
  std::vector<f32> logits;
  ml::weights w;
};
run run_of(const ml::decoder& d, const ml::batch& b, const ml::streaming_settings& how) {
  ml::trainer t(d.build(), optimizer::sgd({.momentum = 0.9f}), how);
  run r{{}, {}, ml::weights(t.model())};
  for (int step = 0; step < 3; ++step) r.losses.push_back(t.step(b, 0.1));
  r.losses.push_back(t.evaluate(b));
  r.logits = t.predict(b);
  for (std::size_t k = 0; k < r.w.size(); ++k) std::ranges::copy(t.parameters()[k], r.w[k].begin());
  return r;
}
f64 largest_difference(const run& a, const run& b) {
  f64 d = compare::distance(a.w, b.w);
  for (std::size_t k = 0; k < a.losses.size(); ++k) d = std::max(d, std::abs(a.losses[k] - b.losses[k]));
  for (std::size_t k = 0; k < a.logits.size(); ++k)
    d = std::max(d, std::abs(static_cast<f64>(a.logits[k]) - static_cast<f64>(b.logits[k])));
  return a.logits.size() == b.logits.size() ? d : 1e9;
}

struct grid {
  int rows, columns;
};
ml::streaming_settings on(ml::streaming_settings how, const grid& g) {
  how.workers = g.rows * g.columns, how.columns = g.columns, how.seed = 7;
  return how;
}

ml::decoder dropping(ml::decoder d) {
  d.dropout = d.attention_dropout = 0.2f;
  return d;
}
constexpr grid one{1, 1}, many[] = {{2, 1}, {3, 1}, {4, 2}, {8, 1}};

TEST_CASE("Rows that share sequences do what one worker does") {
  for (const ml::decoder& d :
       {learned(), rotary(), windowed(), alibi(), dropping(learned()), dropping(windowed())})
    for (const int sequences : {1, 2, 3}) {
      const text t(sequences, 19, 3);
      const run alone = run_of(d, t.all(), on({}, one));
      for (const grid& g : many) {
        INFO(g.rows << " x " << g.columns << " workers, " << sequences << " sequences");
        CHECK(largest_difference(alone, run_of(d, t.all(), on({}, g))) < 1e-5);
      }
    }
}

TEST_CASE("A window may begin in a row, in the one before, or farther away") {
  const text t(2, 19, 3);
  for (const int window : {1, 2, 6, 7, 11, 18, 19, 40}) {
    const run alone = run_of(windowed(window), t.all(), on({}, one));
    for (const grid& g : {grid{3, 1}, {7, 1}, {5, 2}}) {
      INFO(g.rows << " x " << g.columns << " workers, a window of " << window);
      CHECK(largest_difference(alone, run_of(windowed(window), t.all(), on({}, g))) < 1e-5);
    }
  }
}

TEST_CASE("Rows may have one token each, or none, and columns no head") {
  for (const int length : {1, 2, 5}) {
    const text t(1, length, 4);
    const run alone = run_of(windowed(), t.all(), on({}, one));
    for (const grid& g : {grid{4, 1}, {5, 1}, {48, 1}, {3, 4}, {2, 3}}) {
      INFO(g.rows << " x " << g.columns << " workers, " << length << " tokens");
      CHECK(largest_difference(alone, run_of(windowed(), t.all(), on({}, g))) < 1e-5);
    }
  }
}

TEST_CASE("Keys and values that the batch gives are shared as well") {
  const auto build = [] {
    ml::network n;
    const int y = n.attention("attention", n.input("x", 24), {.queries = 2});
    n.cross_entropy("loss", n.linear("out", y, 4, true, ml::initial::normal(0.3f)));
    return n;
  };
  const compare::both x(2 * 7, 24, 1);
  const std::vector<i32> classes{0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 3, 1};
  const ml::batch b{.features = x.single, .targets = classes, .sequences = 2, .length = 7};
  for (const ml::precision as : {ml::precision::f32, ml::precision::bfloat16}) {
    ml::trainer alone(build(), optimizer::sgd(), on({.precision = as}, one));
    const f64 first = alone.step(b, 0.5), second = alone.step(b, 0.5);
    for (const grid& g : many) {
      ml::trainer t(build(), optimizer::sgd(), on({.precision = as}, g));
      CHECK(t.step(b, 0.5) == Approx(first).epsilon(1e-5));
      CHECK(t.step(b, 0.5) == Approx(second).epsilon(1e-5));
    }
  }
}

TEST_CASE("A trainer takes batches of one shape after the other") {
  ml::trainer alone(rotary().build(), optimizer::sgd(), on({}, one)),
      shared(rotary().build(), optimizer::sgd(), on({}, {4, 2}));
  for (const auto& [sequences, length] : {std::pair{1, 19}, {4, 7}, {2, 24}, {3, 8}, {1, 3}, {5, 9}}) {
    const text t(sequences, length, 6);
    INFO(sequences << " sequences of " << length);
    CHECK(shared.step(t.all(), 0.1) == Approx(alone.step(t.all(), 0.1)).epsilon(1e-5));
    CHECK(shared.evaluate(t.all()) == Approx(alone.evaluate(t.all())).epsilon(1e-5));
    CHECK(compare::distance(shared.parameters(), alone.parameters()) < 1e-5);
  }
}

TEST_CASE("A loss that is not finite is explained where rows share sequences, and leaves nothing behind") {
  ml::trainer t(rotary().build(), optimizer::sgd(), on({}, {5, 1}));
  const text all(2, 19, 3);
  const f64 before = t.evaluate(all.all());
  f32& weight = t.parameter_named("layer 1 qkv.weight")[5];
  const f32 was = std::exchange(weight, HUGE_VALF);
  CHECK_THROWS_WITH(t.step(all.all(), 0.1), Catch::Matchers::Contains("layer 1 qkv"));
  weight = was;
  CHECK(t.evaluate(all.all()) == before);
}

TEST_CASE("Sequences are shared on each wafer, and in each micro-batch") {
  const text t(6, 19, 3);
  for (const ml::decoder& d : {dropping(rotary()), dropping(windowed())}) {
    const run alone = run_of(d, t.all(), on({}, one));
    for (const ml::streaming_settings& how : {ml::streaming_settings{.num_csx = 2},
                                              {.num_csx = 3},
                                              {.num_csx = 2, .micro_batch_size = 2},
                                              {.micro_batch_size = 1},
                                              {.clip_norm = 1e9, .micro_batch_size = 4}})
      for (const grid& g : {grid{5, 1}, {4, 2}}) {
        INFO(g.rows << " x " << g.columns << " workers, num_csx " << how.num_csx << ", micro-batches of "
                    << how.micro_batch_size);
        CHECK(largest_difference(alone, run_of(d, t.all(), on(how, g))) < 2e-5);
      }
  }
}

TEST_CASE("Neither threads nor recomputation change a bit where rows share sequences") {
  const text t(2, 19, 3);
  for (const ml::precision as : {ml::precision::f32, ml::precision::bfloat16})
    for (const grid& g : {grid{3, 1}, {4, 2}, {7, 1}}) {
      const run one_thread = run_of(dropping(rotary()), t.all(), on({.threads = 1, .precision = as}, g));
      for (const ml::streaming_settings& how :
           {ml::streaming_settings{.threads = 2}, {.threads = 3}, {.threads = 2, .recompute = true}}) {
        ml::streaming_settings in_format = how;
        in_format.precision = as;
        const run other = run_of(dropping(rotary()), t.all(), on(in_format, g));
        INFO(g.rows << " x " << g.columns << " workers, " << how.threads << " threads, " << how.recompute);
        CHECK(largest_difference(one_thread, other) == 0);
        CHECK(one_thread.losses == other.losses);
        CHECK(one_thread.logits == other.logits);
      }
    }
}

// A sum that differs in its last place may be rounded to the next number of 16 bits, so the difference is
// that of some roundings: far less than what the format itself changes.
TEST_CASE("In 16 bits rows that share sequences differ by rounding only") {
  const text t(2, 19, 3);
  for (const auto& [as, bound] : {std::pair{ml::precision::bfloat16, 2e-3}, {ml::precision::float16, 5e-4}}) {
    ml::streaming_settings how{.precision = as, .loss_scaling = 1.};
    const run alone = run_of(rotary(), t.all(), on(how, one)), f32s = run_of(rotary(), t.all(), on({}, one));
    for (const grid& g : many) {
      const f64 difference = largest_difference(alone, run_of(rotary(), t.all(), on(how, g)));
      INFO(g.rows << " x " << g.columns << " workers in " << ml::name_of(as) << ": " << difference << ", "
                  << largest_difference(alone, f32s) << " from f32");
      CHECK(difference < bound);
    }
  }
}

TEST_CASE("Losses with masks and statistics, and logits in parts, where rows share sequences") {
  ml::decoder d = learned();
  d.experts = 3, d.balance = 0.5f;
  const text t(2, 13, 5);
  std::vector<f32> mask;
  for (int i = 0; i < 26; ++i) mask.push_back(i < 9 ? 0 : 0.25f * static_cast<f32>(i % 5));
  ml::batch b = t.all();
  b.mask = mask;
  ml::trainer alone(d.build(), optimizer::adamw(), on({}, one));
  ml::trainer shared(d.build(), optimizer::adamw(), on({}, {5, 1})),
      cut(d.build(), optimizer::adamw(), on({}, {3, 2}));
  for (int step = 0; step < 3; ++step) {
    const f64 loss = alone.step(b, 1e-3);
    for (ml::trainer* x : {&shared, &cut}) {
      CHECK(x->step(b, 1e-3) == Approx(loss).epsilon(1e-5));
      for (std::size_t k = 0; k < 2; ++k)
        CHECK(x->losses().at(k).mean == Approx(alone.losses().at(k).mean).epsilon(1e-5));
    }
  }
  const std::vector<f32> all = shared.predict(b);
  i64 came = 0;
  const f64 loss = shared.evaluate(b, [&](i64 first, std::span<const f32> logits) {
    CHECK(first * 23 == came);
    CHECK(std::equal(logits.begin(), logits.end(), all.begin() + came));
    came += static_cast<i64>(logits.size());
  });
  CHECK(came == static_cast<i64>(all.size()));
  CHECK(loss == Approx(alone.evaluate(b)).epsilon(1e-5));
  CHECK(shared.logits() == all);
}

/// y[t] = x[t] + x of the first token of the sequence.
class first_token_stage final : public ml::stage {
 public:
  void forward(ml::activation_store& store) const override {
    const matrix<f32> x = store.value(inputs[0]), y = store.value(output);
    each(store, [&](int t, int first, int i) { y(t, i) = x(t, i) + x(first, i); });
  }
  void backward(ml::activation_store& store) const override {
    const matrix<f32> dx = store.gradient(inputs[0]), dy = store.gradient(output);
    each(store, [&](int t, int first, int i) { dx(t, i) += dy(t, i), dx(first, i) += dy(t, i); });
  }
  bool needs_whole_sequences() const override { return true; }

 private:
  template <class F>
  void each(ml::activation_store& store, F f) const {
    for (int t = 0; t < store.tokens(); ++t)
      for (int i = 0; i < store.value(output).columns(); ++i) f(t, t - store.position(t), i);
  }
};

ml::network with_first_token(int width) {
  ml::network n;
  const int x = n.linear("in", n.input("x", 6), width, true, ml::initial::normal(0.3f));
  const int y = n.add("first", first_token_stage{}, {x}, width);
  n.cross_entropy("loss", n.linear("out", y, 4, true, ml::initial::normal(0.3f)));
  return n;
}

TEST_CASE("A stage of one's own that needs whole sequences gets them, however many rows there are") {
  const auto build = [] { return with_first_token(8); };
  const compare::both x(3 * 5, 6, 1);
  const std::vector<i32> classes{0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 3, 1, 2};
  const ml::batch b{.features = x.single, .targets = classes, .sequences = 3, .length = 5};
  ml::trainer alone(build(), optimizer::sgd(), on({}, one));
  const f64 first = alone.step(b, 0.1), second = alone.step(b, 0.1);
  for (const grid& g : many) {
    ml::trainer t(build(), optimizer::sgd(), on({}, g));
    CHECK(t.step(b, 0.1) == Approx(first).epsilon(1e-6));
    CHECK(t.step(b, 0.1) == Approx(second).epsilon(1e-6));
  }
  const ml::network n = build();
  const ml::column_cut cut(n, 1);
  const ml::rows_of_wafers rows(cut, {8, 1, 1}, 3, 5);
  CHECK(!rows.cuts_sequences());
  for (int row = 0; row < 8; ++row) CHECK(rows.tokens_of(row).count() % 5 == 0);
}

TEST_CASE("A chosen grid has rows that share a sequence if that is predicted to be faster, and possible") {
  const ml::network n =
      ml::decoder{.vocabulary = 5000, .positions = 64, .layers = 2, .heads = 4, .width = 256}.build();
  const ml::wafer_grid of_long = ml::choose_grid(n, {.cores = 16}, 1, 4096);
  CHECK(of_long.rows > 1);
  CHECK(ml::predicted_step(n, 1, 4096, of_long) < ml::predicted_step(n, 1, 4096, {1, 4, 1}));
  CHECK(ml::choose_grid(with_first_token(256), {.cores = 16}, 3, 4096).rows <= 3);
}

TEST_CASE("Tokens are divided evenly among rows, in order, and a row knows those that it reads") {
  const ml::network n = learned().build();
  const ml::column_cut cut(n, 1);
  for (const int sequences : {1, 2, 3, 5})
    for (const int length : {1, 4, 19})
      for (const int height : {1, 2, 3, 4, 7, 48}) {
        const ml::rows_of_wafers rows(cut, {height, 1, 2}, 2 * sequences, length);
        const i64 all = i64{sequences} * length;
        CHECK(rows.cuts_sequences() == (sequences < height));
        for (int wafer = 0; wafer < 2; ++wafer) {
          i64 next = wafer * all;
          for (int row = wafer * height; row < (wafer + 1) * height; ++row) {
            const ml::row_tokens t = rows.tokens_of(row);
            CHECK(t.count() <= (sequences < height ? (all + height - 1) / height
                                                   : (sequences + height - 1) / height * length));
            if (t.count() == 0) continue;
            CHECK(t.first_of_batch(0, length, 0) == next);
            next = t.first_of_batch(0, length, 1);
            // The rows that have the tokens of the window, by a search of the tokens.
            for (const int window : {0, 1, 3, 6}) {
              const i64 position = t.first_of_batch(0, length, 0) % length,
                        begin = t.first_of_batch(0, length, 0) - position,
                        from = window ? std::max(begin, t.first_of_batch(0, length, 0) - window + 1) : begin;
              int expected = 0;
              for (int other = wafer * height; other < row; ++other)
                expected += rows.tokens_of(other).first_of_batch(0, length, 1) > from;
              CHECK(rows.rows_before(row, window) == expected);
            }
          }
          CHECK(next == (wafer + 1) * all);
        }
      }
}

/// y[t] = w[0] x[t] + w[1] x[t - 1] + ..., a stage of one's own that reads earlier tokens; or with a mistake.
enum class taps_mistake { none, keeps_gradients, short_window };
class causal_taps final : public ml::stage {
 public:
  causal_taps(int taps, int width, taps_mistake m = taps_mistake::none)
      : taps_(taps), width_(width), mistake_(m) {}

  ml::stage_cut how_cut() const override { return ml::stage_cut::by_head; }
  std::vector<ml::feature_group> groups_of_input(int) const override { return {{0, width_, 1}}; }
  std::vector<ml::feature_group> groups_of_output() const override { return {{0, width_, 1}}; }
  bool needs_whole_sequences() const override { return true; }
  ml::prefix_features reads_of_prefix() const override {
    return {.first_group = 0, .window = mistake_ == taps_mistake::short_window ? taps_ - 1 : taps_};
  }
  void forward(ml::activation_store& store, const ml::weight_tile& w) const override {
    const matrix<f32> y = store.value(output);
    if (w.row == 0) ml::clear(y);
    each(store, w, [&](int t, int k, int from, bool is_before) {
      const matrix<f32> x = is_before ? store.prefix() : store.value(inputs[0]);
      for (int i = 0; i < y.columns(); ++i) y(t, i) += w.rows(k, 0) * x(from, i);
    });
  }
  void backward(ml::activation_store& store, const ml::weight_tile& w,
                const matrix<f32>& gradient) const override {
    ml::clear(gradient);
    const matrix<f32> dy = store.gradient(output);
    each(store, w, [&](int t, int k, int from, bool is_before) {
      const matrix<f32> x = is_before ? store.prefix() : store.value(inputs[0]),
                        dx = is_before ? store.prefix_gradient() : store.gradient(inputs[0]);
      for (int i = 0; i < dy.columns(); ++i) {
        gradient(k, 0) += x(from, i) * dy(t, i);
        if (!is_before || mistake_ != taps_mistake::keeps_gradients) dx(from, i) += w.rows(k, 0) * dy(t, i);
      }
    });
  }

 private:
  /// Calls f(token, row of the tile, row of the token that it reads, whether that is a row of the prefix).
  template <class F>
  void each(ml::activation_store& store, const ml::weight_tile& w, F f) const {
    const int begins_at = store.tokens() ? store.position(0) : 0;
    for (int t = 0; t < store.tokens(); ++t)
      for (int k = 0; k < w.rows.rows() && w.row + k <= store.position(t); ++k) {
        const int from = t - (w.row + k);
        from < 0 ? f(t, k, begins_at + from, true) : f(t, k, from, false);
      }
  }
  int taps_, width_;
  taps_mistake mistake_;
};
std::vector<ml::parameter> of_taps(int taps) {
  return {ml::parameter::of("weight", taps, ml::initial::normal(0.5f))};
}

TEST_CASE(
    "A stage of one's own that reads earlier tokens shares sequences, and the check sees its mistakes") {
  const auto check = [](taps_mistake m) {
    return ml::check_gradients(causal_taps(5, 6, m), {6}, 6, of_taps(5));
  };
  CHECK_NOTHROW(check(taps_mistake::none).require());
  CHECK_THAT(check(taps_mistake::keeps_gradients).text(),
             Catch::Matchers::Contains("in two parts, from token 1 on: a stage adds the gradients of earlier "
                                       "tokens to activation_store::prefix_gradient"));
  CHECK_THAT(check(taps_mistake::short_window).text(),
             Catch::Matchers::Contains("as many as the window of reads_of_prefix says"));
  const auto build = [] {
    ml::network n;
    const int x = n.linear("in", n.input("x", 6), 8, true, ml::initial::normal(0.3f));
    const int y = n.add("taps", causal_taps(3, 8), {x}, 8, of_taps(3));
    n.cross_entropy("loss", n.linear("out", y, 4, true, ml::initial::normal(0.3f)));
    return n;
  };
  const compare::both x(2 * 7, 6, 1);
  const std::vector<i32> classes{0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 3, 1};
  const ml::batch b{.features = x.single, .targets = classes, .sequences = 2, .length = 7};
  ml::trainer alone(build(), optimizer::sgd(), on({}, one));
  alone.step(b, 0.5);
  for (const grid& g : many) {
    ml::trainer t(build(), optimizer::sgd(), on({}, g));
    t.step(b, 0.5);
    CHECK(compare::distance(t.parameters(), alone.parameters()) < 1e-6);
  }
}

TEST_CASE("A window makes a long sequence cheaper, and its rows farther apart") {
  const auto of = [](int window) {
    return ml::decoder{.vocabulary = 500,
                       .layers = 2,
                       .heads = 4,
                       .width = 64,
                       .position = ml::positioning::rotary,
                       .window = window}
        .build();
  };
  const ml::network whole = of(0), windowed = of(64);
  for (const ml::wafer_grid g : {ml::wafer_grid{1, 1, 1}, {4, 1, 1}, {4, 4, 1}})
    CHECK(ml::predicted_step(windowed, 1, 4096, g) < 0.5 * ml::predicted_step(whole, 1, 4096, g));
}

}  // namespace
