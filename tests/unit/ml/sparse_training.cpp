// SPDX-License-Identifier: MIT
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/sparsity/algorithms.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/report_text.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/ml/train/trainer.hpp>

#include <map>
#include <memory>

#include "compare.hpp"
#include "random_text.hpp"

namespace {
using namespace wsl;
using ml::optimizer;
namespace sparsity = ml::sparsity;

ml::decoder small() {
  return {.vocabulary = 23,
          .positions = 8,
          .layers = 2,
          .heads = 2,
          .width = 32,
          .between = ml::nonlinearity::gelu_tanh};
}
using text = test::random_text<23>;

/// Training with masks: all numbers are there, and what the masks lack is zero. The gradients are those of
/// the serial step, summed up over the whole batch.
class masked_training {
 public:
  masked_training(const ml::network& n, const optimizer& rule, sparsity::settings how, u64 seed)
      : n_(n),
        rule_(rule),
        updates_(updates_of(rule, n.parameters())),
        how_(how.with_seed(seed)),
        w_(n, seed) {
    for (int a = 0; a < ml::max_kept_arrays; ++a) kept_.emplace_back(n);
    for (std::size_t k = 0; k < w_.size(); ++k) {
      const ml::parameter& p = n.parameters()[k];
      if (const sparsity::group* g = how_.group_of(p.name, p.rows, p.columns); g && is_linear(k))
        groups_[k] = g, patterns_.emplace(k, sparsity::initial_pattern(*g, p.name, p.rows, p.columns, w_[k]));
    }
    apply_masks();
  }

  /// Returns the loss before the step.
  f64 step(ml::batch b, f64 rate, f64 clip_norm = 0, ml::precision as = ml::precision::f32) {
    const f64 counts = check(n_, b);
    ml::activation_store at = store_of(n_, b);
    at.format = as;
    ml::weights d(n_);
    const f64 loss = serial_forward(n_, w_, at) / counts;
    serial_backward(n_, w_, d, at);
    const ml::weights dense = d;
    f64 squares = 0;
    for (std::size_t k = 0; k < w_.size(); ++k) {
      if (patterns_.contains(k)) clear_elsewhere(d[k], patterns_.at(k));
      for (f32 x : d[k]) squares += f64{x} * f64{x};
    }
    const f32 factor = clip_norm > 0 ? ml::clip_by_norm(squares, clip_norm) : 1;
    ++steps_;
    for (std::size_t k = 0; k < w_.size(); ++k) {
      ml::number_run run{w_[k].data(), d[k].data(), {}, static_cast<int>(w_[k].size())};
      for (int a = 0; a < ml::max_kept_arrays; ++a)
        run.kept[static_cast<std::size_t>(a)] = kept_[static_cast<std::size_t>(a)][k].data();
      ml::update(updates_[k].rule, run, {.scale = factor, .rate = static_cast<f32>(rate), .number = steps_});
    }
    apply_masks();
    for (auto& [k, pattern] : patterns_)
      pattern =
          sparsity::updated_pattern(*groups_[k], n_.parameters()[k].name, steps_, w_[k], dense[k], pattern);
    apply_masks();
    return loss;
  }
  const ml::weights& weights() const { return w_; }
  std::map<std::string, sparse_pattern> patterns() const {
    std::map<std::string, sparse_pattern> all;
    for (const auto& [k, p] : patterns_) all.emplace(n_.parameters()[k].name, p);
    return all;
  }

 private:
  bool is_linear(std::size_t k) const {
    for (const auto& s : n_.stages())
      for (std::size_t which = 0; which < s->parameters.size(); ++which)
        if (static_cast<std::size_t>(s->parameters[which]) == k && !s->takes_sparse(static_cast<int>(which)))
          return false;
    return true;
  }
  void apply_masks() {
    for (const auto& [k, pattern] : patterns_) {
      clear_elsewhere(w_[k], pattern);
      for (ml::weights& x : kept_) clear_elsewhere(x[k], pattern);
    }
  }

  const ml::network& n_;
  optimizer rule_;
  std::vector<ml::parameter_update> updates_;
  sparsity::settings how_;
  ml::weights w_;
  std::vector<ml::weights> kept_;
  std::map<std::size_t, const sparsity::group*> groups_;
  std::map<std::size_t, sparse_pattern> patterns_;
  i64 steps_ = 0;
};

/// Everything that a trainer continues from.
struct kept_state {
  std::map<std::string, std::vector<f32>> arrays;
  std::map<std::string, sparse_pattern> patterns;
  ml::training_position at;

  explicit kept_state(ml::trainer& t) : patterns(t.patterns()), at(t.position()) {
    for (const ml::state_array& x : t.state()) arrays[x.name].assign(x.numbers.begin(), x.numbers.end());
  }
  void restore(ml::trainer& t) const {
    t.set_patterns(patterns);
    for (const ml::state_array& x : t.state()) std::ranges::copy(arrays.at(x.name), x.numbers.begin());
    t.resume(at);
  }
  friend bool operator==(const kept_state&, const kept_state&) = default;
};

sparsity::settings rigl(f64 zeros) {
  return sparsity::rigl({.sparsity = zeros,
                         .update = {.freq = 10, .stop = 180},
                         .drop_fraction = sparsity::cosine{.init = 0.3, .half_period = 200}});
}
sparsity::settings set(f64 zeros) { return sparsity::set({.sparsity = zeros, .update = {.freq = 15}}); }
sparsity::settings gmp() {
  return sparsity::gmp({.sparsity = sparsity::exponential{.init = 0, .gamma = -0.02, .final = 0.9},
                        .init_method = sparsity::init_method::topk,
                        .update = {.freq = 20}});
}

}  // namespace

TEST_CASE("Sparse weights are trained as all weights under a mask, on wafers of any grid") {
  const text t(6, 8, 1);
  const ml::network n = small().build();
  const sparsity::settings how = sparsity::fixed({.sparsity = 0.9});
  const optimizer rule = optimizer::sgd({.momentum = 0.9f});
  masked_training right(n, rule, how, 7);
  std::vector<f64> losses;
  for (int k = 0; k < 5; ++k) losses.push_back(right.step(t.all(), 0.1, 1));
  struct grid {
    int rows, columns, wafers, micro_batch;
    bool recompute;
  };
  for (const grid& g : {grid{1, 1, 1, 0, false},
                        {2, 1, 1, 0, false},
                        {1, 2, 1, 0, true},
                        {2, 2, 1, 2, false},
                        {3, 2, 2, 1, false},
                        {1, 1, 3, 1, true}}) {
    INFO(g.rows << " x " << g.columns << " workers on " << g.wafers << " wafers");
    ml::trainer trained(small().build(), rule,
                        {.workers = g.rows * g.columns,
                         .columns = g.columns,
                         .num_csx = g.wafers,
                         .clip_norm = 1,
                         .seed = 7,
                         .micro_batch_size = g.micro_batch,
                         .recompute = g.recompute,
                         .sparsity = how});
    for (f64 loss : losses) CHECK(trained.step(t.all(), 0.1) == Approx(loss).epsilon(1e-5));
    CHECK(compare::distance(trained.parameters(), right.weights()) < 1e-5);
    CHECK(trained.patterns() == right.patterns());
  }
}

TEST_CASE(
    "200 steps of static patterns, RigL, SET and GMP are those under masks, updates of patterns included") {
  // Slow enough that roundings stay roundings: a quick descent makes differences of 1e-8 grow a thousandfold.
  constexpr f64 rate = 4e-3, clip = 1;
  const text t(4, 8, 3);
  ml::decoder model = small();
  model.layers = 1;
  const ml::network n = model.build();
  struct subject {
    sparsity::settings how;
    int workers, columns, wafers;
  };
  for (const subject& x : {subject{sparsity::fixed({.sparsity = 0.9}), 2, 1, 1},
                           {sparsity::fixed({.sparsity = 0.5}), 2, 2, 1},  // as dense tiles with zeros
                           {rigl(0.9), 1, 1, 1},
                           {rigl(0.9), 4, 2, 2},
                           {set(0.8), 2, 2, 1},
                           {gmp(), 4, 2, 1}}) {
    const sparsity::algorithm a = x.how.groups[0].algorithm;
    INFO(name_of(a) << " on " << x.workers << " workers of " << x.wafers << " wafers");
    const optimizer rule = optimizer::sgd({.momentum = 0.5f, .decay = 0.01f});
    masked_training right(n, rule, x.how, 5);
    const auto began = right.patterns();
    ml::trainer trained(model.build(), rule,
                        {.workers = x.workers,
                         .columns = x.columns,
                         .num_csx = x.wafers,
                         .clip_norm = clip,
                         .seed = 5,
                         .threads = 1,
                         .sparsity = x.how});
    f64 apart = 0, first = 0, loss = 0;
    for (int k = 0; k < 200; ++k) {
      const f64 expected = right.step(t.all(), rate, clip);
      loss = trained.step(t.all(), rate);
      apart = std::max(apart, std::abs(loss - expected) / expected);
      first = k == 0 ? loss : first;
    }
    CHECK(apart < 1e-6);
    CHECK(loss < 0.9 * first);
    CHECK(trained.patterns() == right.patterns());
    CHECK((trained.patterns() == began) == (a == sparsity::algorithm::fixed));
    CHECK(compare::distance(trained.parameters(), right.weights()) < 1e-5);
  }
}

TEST_CASE("Optimizers keep nothing of weights that are not there, and weights that grow begin with nothing") {
  const text t(4, 8, 3);
  const ml::network n = small().build();
  // Large epsilons, since where a gradient is small, its quotient by itself makes roundings grow.
  for (const optimizer& rule : {optimizer::adamw({.epsilon = 1e-3f, .decay = 0.1f}),
                                optimizer::rmsprop({.epsilon = 1e-2f, .momentum = 0.5f, .centered = true}),
                                optimizer::adagrad({.epsilon = 1e-2f})}) {
    INFO(rule.name());
    masked_training right(n, rule, rigl(0.8), 5);
    ml::trainer trained(small().build(), rule, {.workers = 2, .seed = 5, .sparsity = rigl(0.8)});
    for (int k = 0; k < 25; ++k)
      CHECK(trained.step(t.all(), 1e-3) == Approx(right.step(t.all(), 1e-3)).epsilon(1e-5));
    CHECK(trained.patterns() == right.patterns());
    CHECK(compare::distance(trained.parameters(), right.weights()) < 1e-4);
    const auto patterns = trained.patterns();
    for (const ml::state_array& x : trained.state()) {
      const auto p = patterns.find(n.parameters()[x.parameter].name);
      if (p == patterns.end()) continue;
      std::vector<f32> masked(x.numbers.begin(), x.numbers.end());
      clear_elsewhere(masked, p->second);
      CHECK(std::ranges::equal(masked, x.numbers));
    }
  }
}

TEST_CASE("Sparse training gives the same bits on any number of threads, and after a restart", "[large]") {
  const text t(6, 8, 2);
  const auto trained_on = [&](int threads) {
    return std::make_unique<ml::trainer>(
        small().build(), optimizer::adamw().with_average({.decay = 0.9f}),
        ml::streaming_settings{
            .workers = 4, .columns = 2, .num_csx = 2, .seed = 3, .threads = threads, .sparsity = rigl(0.8)});
  };
  std::optional<kept_state> right, half;
  std::vector<f64> losses;
  for (int threads : {1, 2, 3, 4}) {
    const auto x = trained_on(threads);
    for (int k = 0; k < 24; ++k) {
      const f64 loss = x->step(t.all(), 1e-2);
      if (threads == 1) losses.push_back(loss);
      else CHECK(loss == losses[static_cast<std::size_t>(k)]);
      // Between two updates of patterns; to look at the state changes nothing.
      if (threads == 2 && k == 13) half.emplace(*x);
    }
    if (!right) right.emplace(*x);
    else CHECK(kept_state(*x) == *right);
  }
  const auto resumed = trained_on(2);
  half->restore(*resumed);
  CHECK(kept_state(*resumed) == *half);
  for (std::size_t k = 14; k < 24; ++k) CHECK(resumed->step(t.all(), 1e-2) == losses[k]);
  CHECK(kept_state(*resumed) == *right);
  const f64 of_weights = resumed->evaluate(t.all());
  CHECK(resumed->with_average([&] { return resumed->evaluate(t.all()); }) != of_weights);
  CHECK(resumed->evaluate(t.all()) == of_weights);
  CHECK(kept_state(*resumed) == *right);
}

TEST_CASE("Bytes that travel are those of nonzeros, their places and a number for each row") {
  const text t(4, 8, 3);
  ml::trainer dense(small().build(), optimizer::adamw(), {.workers = 1}),
      sparse(small().build(), optimizer::adamw(),
             {.workers = 1, .sparsity = sparsity::fixed({.sparsity = 0.9})});
  dense.step(t.all(), 1e-3), sparse.step(t.all(), 1e-3);
  u64 saved_out = 0, saved_in = 0, nonzeros = 0, places = 0;
  for (const auto& [name, p] : sparse.patterns()) {
    const u64 n = static_cast<u64>(p.count()), size = static_cast<u64>(p.size());
    CHECK(p.count() == static_cast<i64>(0.1f * static_cast<f32>(p.size())));
    // one tile each
    saved_out += 4 * (size - (n + (n + 1) / 2 + (static_cast<u64>(p.rows()) + 1) / 2));
    saved_in += 4 * (size - n);
    nonzeros += n, places += size;
  }
  CHECK(places == 2 * 12 * 32 * 32);
  CHECK(sparse.report().sent_forward == dense.report().sent_forward - saved_out);
  CHECK(sparse.report().sent_backward == dense.report().sent_backward - saved_out);
  CHECK(sparse.report().returned == dense.report().returned - saved_in);
  CHECK((sparse.report().sparse_weights == places && sparse.report().nonzeros == nonzeros));
  CHECK(dense.report().sparse_weights == 0);
  CHECK(to_text(sparse.report()).find("nonzeros of sparse weights") != std::string::npos);
  CHECK(4 * sparse.report().counters.wavelets ==
        sparse.report().sent_forward + sparse.report().sent_backward + sparse.report().returned);
}

TEST_CASE("Sparse weights are trained in 16 bits, with a scaled loss") {
  const text t(6, 8, 1);
  const ml::network n = small().build();
  for (const ml::precision as : {ml::precision::bfloat16, ml::precision::float16}) {
    INFO(name_of(as));
    masked_training right(n, optimizer::sgd(), rigl(0.8), 7);
    ml::trainer trained(
        small().build(), optimizer::sgd(),
        {.workers = 2, .columns = 2, .seed = 7, .precision = as, .loss_scaling = 1., .sparsity = rigl(0.8)});
    for (int k = 0; k < 12; ++k)
      CHECK(trained.step(t.all(), 0.05) == Approx(right.step(t.all(), 0.05, 0, as)).epsilon(2e-3));
  }
  // A skipped step changes no pattern, and is none of the updates after which patterns change.
  const sparsity::settings each = sparsity::set({.sparsity = 0.8});
  ml::trainer skips(small().build(), optimizer::sgd(),
                    {.workers = 1,
                     .precision = ml::precision::float16,
                     .loss_scaling = ml::grad_scaler_settings{.initial = 0x1p30, .largest = 0x1p30},
                     .sparsity = each});
  const auto patterns = skips.patterns();
  skips.step(t.all(), 0.05);
  CHECK(skips.updates() == 0);
  CHECK(skips.patterns() == patterns);
  while (skips.updates() == 0) skips.step(t.all(), 0.05);
  CHECK(skips.patterns() != patterns);
}

TEST_CASE("Whole arrays of sparse parameters may be read and written between steps") {
  const text t(4, 8, 3);
  const sparsity::settings topk = sparsity::fixed(
      {.sparsity = 0.5, .init_method = sparsity::init_method::topk, .param_filter = {"*up.weight"}});
  ml::trainer trained(small().build(), optimizer::adamw(), {.workers = 2, .sparsity = topk});
  const std::string name = "layer 0 up.weight";
  const std::span<f32> w = trained.parameter_named(name);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = i % 2 ? 1e-2f : 1.f;
  trained.evaluate(t.all());
  const sparse_pattern p = trained.patterns().at(name);
  CHECK(p.count() == static_cast<i64>(w.size() / 2));
  p.each([&](int, int, i64 at, i64) { CHECK(at % 2 == 0); });
  // A number that is written where the pattern has no place does not stay.
  trained.parameter_named(name)[1] = 5;
  trained.parameter_named(name)[2] = 3;
  const f64 loss = trained.evaluate(t.all());
  CHECK(trained.parameter_named(name)[1] == 0);
  CHECK(trained.parameter_named(name)[2] == 3);
  // The same model without sparsity, given these weights, is the same model.
  ml::trainer dense(small().build(), optimizer::adamw(), {.workers = 2});
  dense.parameters() = ml::weights(trained.parameters());
  CHECK(dense.evaluate(t.all()) == Approx(loss).epsilon(1e-6));
  CHECK(compare::error(dense.predict(t.all()), trained.predict(t.all())) < 1e-5);
}

TEST_CASE("What cannot be sparse is refused by its name") {
  const auto trainer_of = [](const sparsity::settings& how, const optimizer& rule = optimizer::adamw()) {
    ml::trainer t(small().build(), rule, {.workers = 1, .sparsity = how});
    return t.patterns();
  };
  const auto named = [](std::string pattern) {
    return sparsity::fixed({.sparsity = 0.5, .param_filter = {std::move(pattern)}});
  };
  CHECK_THROWS_WITH(trainer_of(named("embedding.tokens")),
                    Catch::Contains("embedding.tokens cannot be sparse") && Catch::Contains("param_filter"));
  CHECK_THROWS_WITH(trainer_of(named("layer 0 norm 1.gain")), Catch::Contains("cannot be sparse"));
  CHECK_THROWS_WITH(trainer_of(named("nobody.*")), Catch::Contains("no parameter is called so"));
  CHECK_THROWS_WITH(trainer_of(sparsity::fixed({.sparsity = 0.5}), optimizer::adafactor()),
                    Catch::Contains("such as adamw"));
  CHECK_THROWS_WITH(ml::pipelined_trainer(small().build(), optimizer::adamw(), {.sparsity = rigl(0.5)}),
                    Catch::Contains("by weight streaming"));
  ml::trainer t(small().build(), optimizer::adamw(), {.workers = 1, .sparsity = named("layer 0 up.weight")});
  auto patterns = t.patterns();
  CHECK(patterns.size() == 1);
  auto more = patterns;
  more.emplace("layer 1 up.weight", sparse_pattern(128, 32));
  CHECK_THROWS_WITH(t.set_patterns(more), Catch::Contains("layer 1 up.weight, which is not sparse"));
  CHECK_THROWS_WITH(t.set_patterns({}), Catch::Contains("these patterns have none for it"));
  CHECK_THROWS_WITH(t.set_patterns({{"layer 0 up.weight", sparse_pattern(3, 3)}}),
                    Catch::Contains("is (128, 32), not (3, 3)"));
  CHECK(t.patterns() == patterns);
}

TEST_CASE("The prediction of a step counts nonzeros, on any grid") {
  const ml::network n =
      ml::decoder{.vocabulary = 256, .positions = 256, .layers = 8, .heads = 8, .width = 512}.build();
  const auto predicted = [&](const ml::wafer_grid& g, const sparsity::settings& how) {
    return ml::predicted_step(n, 8, 256, g, how);
  };
  for (const ml::wafer_grid& g : {ml::wafer_grid{1, 1, 1}, {4, 1, 1}, {2, 2, 1}}) {
    const f64 dense = predicted(g, {});
    const auto of = [&](f64 zeros) { return predicted(g, sparsity::fixed({.sparsity = zeros})); };
    CHECK(of(0) == dense);
    CHECK(of(0.5) <= dense);  // where dense products are quicker, these are made
    CHECK(of(0.9) < 0.6 * dense);
    CHECK(of(0.95) < of(0.9));
    // As long as a schedule lets it begin dense, it is.
    CHECK(predicted(g, sparsity::gmp({.sparsity = sparsity::linear{0, 0.001}})) == dense);
  }
}
