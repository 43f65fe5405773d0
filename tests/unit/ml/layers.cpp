// SPDX-License-Identifier: MIT
// Layers, losses and inputs of the user's: shapes, losses beside PyTorch, the check of gradients, and models
// with several inputs and losses on the fabric beside training in one place.
#include <numeric>
#include <wsl/ml/model/block.hpp>
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/optim/schedule.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"
#include "golden_losses.hpp"

namespace {
using namespace wsl;
using Catch::Contains;
using ml::shape;

std::vector<f32> single(const std::vector<f64>& x) { return {x.begin(), x.end()}; }

/// The mean loss of a batch, and the gradient of the input "x", whose number among the values is 0.
std::pair<f64, std::vector<f32>> loss_of(const ml::network& n, ml::batch b) {
  const f64 counts = check(n, b);
  ml::activation_store store = store_of(n, b);
  ml::weights none(n);
  const f64 loss = serial_forward(n, none, store) / counts;
  const matrix<f32> d = store.gradient(0);
  return {loss, {d.first(), d.first() + i64{d.rows()} * d.columns()}};
}
void check_loss(const char* name, const std::pair<f64, std::vector<f32>>& is, const std::vector<f64>& loss,
                const std::vector<f64>& gradient) {
  INFO(name);
  CHECK(is.first == Approx(loss[0]).epsilon(2e-6));
  REQUIRE(is.second.size() == gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i)
    CHECK(static_cast<f64>(is.second[i]) == Approx(gradient[i]).margin(1e-6));
}

TEST_CASE("Losses are those of PyTorch") {
  namespace g = golden_losses;
  const std::vector<f32> x = single(g::logits), y = single(g::targets), mask = single(g::mask);
  std::vector<i32> classes = g::classes;
  for (i32& c : classes) c = std::max(c, 0);
  const auto with_classes = [&](const ml::cross_entropy_settings& how) {
    ml::network n;
    n.cross_entropy("loss", n.input("x", 5), how);
    return loss_of(n, {.features = x, .targets = how.ignore_index ? g::classes : classes, .sequences = 6});
  };
  check_loss("plain", with_classes({}), g::plain_loss, g::plain_gradient);
  check_loss("smooth", with_classes({.label_smoothing = 0.1f, .ignore_index = -100}), g::smooth_loss,
             g::smooth_gradient);
  check_loss("z", with_classes({.label_smoothing = 0.2f, .z_loss = 0.01f}), g::z_loss, g::z_gradient);
  const auto with_numbers = [&](auto add, std::span<const f32> of_tokens = {}) {
    ml::network n;
    add(n, n.input("x", 5));
    return loss_of(n, {.features = x, .mask = of_tokens, .named = {{"targets", y}}, .sequences = 6});
  };
  const auto squared = [](ml::network& n, int v) { n.mean_squared_error("loss", v); };
  check_loss("binary", with_numbers([](ml::network& n, int v) { n.binary_cross_entropy("loss", v); }),
             g::binary_loss, g::binary_gradient);
  check_loss("squared", with_numbers(squared), g::squared_loss, g::squared_gradient);
  check_loss("masked", with_numbers(squared, mask), g::masked_loss, g::masked_gradient);
  {
    ml::network n;
    const int v = n.input("x", 5);
    n.cross_entropy("class", v, {.ignore_index = -100, .factor = 2});
    n.mean_squared_error("distance", v, {.targets = n.target("y", 5), .factor = 0.5f});
    check_loss("sum", loss_of(n, {.features = x, .targets = g::classes, .named = {{"y", y}}, .sequences = 6}),
               g::sum_loss, g::sum_gradient);
  }
  ml::network n;
  n.cross_entropy("loss", n.input("x", {2, 3}), {.ignore_index = -100});
  check_loss("pixel", loss_of(n, {.features = single(g::pixels), .targets = g::of_pixels, .sequences = 3}),
             g::pixel_loss, g::pixel_gradient);
}

/// y = x^2 w, with w (features): right, or with one of the mistakes that a stage can have.
enum class mistake { none, slope, sets, row, mixes, mixes_tokens, leaves_out, one_row, needs_weights };
class square_stage final : public ml::stage {
 public:
  explicit square_stage(mistake m = mistake::none) : mistake_(m) {}
  void forward(ml::activation_store& store, const ml::weight_tile& w) const override {
    const matrix<f32> x = store.value(inputs[0]), y = store.value(output);
    for (int t = 0; t < x.rows(); ++t)
      for (int i = 0; i < w.rows.rows(); ++i) {
        const int from = mistake_ == mistake::mixes          ? 0
                         : mistake_ == mistake::mixes_tokens ? first_of(store, t)
                                                             : t;
        const f32 v = x(from, at(w, i));
        y(t, at(w, i)) = v * v * w.rows(i, 0);
      }
  }
  void backward(ml::activation_store& store, const ml::weight_tile& w,
                const matrix<f32>& gradient) const override {
    const matrix<f32> x = store.value(inputs[0]), dx = store.gradient(inputs[0]), dy = store.gradient(output);
    for (int i = 0; i < w.rows.rows(); ++i) {
      const int k = at(w, i);
      f32 sum = 0;
      for (int t = 0; t < x.rows(); ++t) {
        const f32 d =
            (mistake_ == mistake::slope && t == 4 && k == 2 ? 2.1f : 2.f) * x(t, k) * w.rows(i, 0) * dy(t, k);
        dx(t, k) = mistake_ == mistake::sets ? d : dx(t, k) + d;
        sum += x(t, k) * x(t, k) * dy(t, k);
      }
      if ((mistake_ != mistake::leaves_out || k != 1) && (mistake_ != mistake::one_row || i == 0))
        gradient(i, 0) = sum;
    }
  }
  bool needs_weight_in_backward(int) const override { return mistake_ != mistake::needs_weights; }

 private:
  /// The first token of a sequence, if it is here.
  static int first_of(const ml::activation_store& store, int t) { return t - std::min(t, store.position(t)); }
  int at(const ml::weight_tile& w, int i) const { return (mistake_ == mistake::row ? 0 : w.row) + i; }
  mistake mistake_;
};
std::vector<ml::parameter> of_square() { return {ml::parameter::of("weight", 6, ml::initial::normal(1))}; }
ml::gradient_report square(mistake m) {
  return ml::check_gradients(square_stage(m), {{2, 3}}, {2, 3}, of_square());
}

TEST_CASE("The check of gradients finds what is wrong with a stage, and where") {
  CHECK_NOTHROW(square(mistake::none).require());
  CHECK(square(mistake::none).compared == 6 * 6 + 6);
  const ml::gradient_report slope = square(mistake::slope);
  CHECK(!slope.passed());
  CHECK(slope.worst.name == "input 0");
  CHECK(slope.worst.indices == std::vector<int>{2, 0, 0, 2});  // sequence, token, axes
  CHECK(slope.worst.backward == Approx(1.05 * slope.worst.difference).epsilon(1e-3));
  CHECK_THROWS_WITH(slope.require(), Contains("the worst is that of input 0 (2, 0, 0, 2): backward says"));
  CHECK(square(mistake::sets).worst.name == "input 0");
  CHECK_THAT(square(mistake::row).text(), Contains("and 0.") || Contains("with weight tiles of one row"));
  CHECK_THAT(square(mistake::mixes).text(), Contains("a stage must treat each sequence as if it were alone"));
  const ml::gradient_report left = square(mistake::leaves_out);
  CHECK(!left.passed());
  CHECK(left.worst.name == "stage.weight");
  CHECK(left.worst.indices == std::vector<int>{1, 0});
  CHECK(std::isnan(left.worst.backward));
  CHECK_THAT(square(mistake::mixes_tokens).text(), Contains("says so, by needs_whole_sequences"));
  CHECK_THAT(square(mistake::one_row).text(), Contains("it leaves a number of a tile's gradient out"));
  CHECK_THAT(square(mistake::needs_weights).text(),
             Contains("that needs_weight_in_backward says it does not need"));
}

/// Half the sum of squares: right, or with one of the mistakes that a loss can have.
enum class loss_mistake { none, sets, mean, ignores_mask, nan };
class half_square_loss final : public ml::loss_stage {
 public:
  explicit half_square_loss(loss_mistake m) : mistake_(m) {}
  f64 loss(ml::activation_store& store, f32 weight) const override {
    const matrix<f32> x = store.value(inputs[0]), dx = store.gradient(inputs[0]);
    f32 w = mistake_ == loss_mistake::mean ? 1 / static_cast<f32>(x.rows()) : 1;
    if (mistake_ == loss_mistake::nan) w = std::numeric_limits<f32>::quiet_NaN();
    f64 sum = 0;
    for (int t = 0; t < x.rows(); ++t)
      for (int i = 0; i < x.columns(); ++i) {
        const f32 of_token = mistake_ == loss_mistake::ignores_mask ? w : w * mask_of(store, t);
        const f32 d = of_token * weight * x(t, i);
        dx(t, i) = mistake_ == loss_mistake::sets ? d : dx(t, i) + d;
        sum += static_cast<f64>(of_token * x(t, i) * x(t, i) / 2);
      }
    return sum;
  }

 private:
  loss_mistake mistake_;
};
ml::gradient_report half_square(loss_mistake m) {
  ml::network n;
  n.loss("energy", half_square_loss(m), {n.linear("y", n.input("x", 4), 3, true, ml::initial::normal(0.5f))});
  return ml::check_gradients(n);
}

TEST_CASE("The check of gradients finds what is wrong with a loss") {
  CHECK_NOTHROW(half_square(loss_mistake::none).require());
  CHECK_THAT(half_square(loss_mistake::sets).text(), Contains("the loss energy sets the gradient of y"));
  CHECK_THAT(half_square(loss_mistake::mean).text(), Contains("a loss adds up its tokens"));
  CHECK_THAT(half_square(loss_mistake::ignores_mask).text(),
             Contains("the loss energy is") && Contains("with loss_stage::mask_of"));
  CHECK_THAT(half_square(loss_mistake::nan).text(), Contains("forward gives nan: it must be finite"));
}

TEST_CASE("Models and batches that make no sense are refused, and so is a trainer without a batch") {
  ml::network n;
  const int x = n.input("x", 4);
  CHECK_THROWS_WITH(n.linear("y", 7, 3, true, {}), "wsl: there is no value 7: the model has 1 values so far");
  CHECK_THROWS_WITH(n.linear("y", -1, 3, true, {}),
                    "wsl: there is no value -1: the model has 1 values so far");
  const int y = n.linear("y", x, 3, true, ml::initial::normal(0.5f));
  CHECK_THROWS_WITH(n.linear("y", y, 3, true, {}),
                    "wsl: the model has two layers called y: checkpoints and reports need a name for each");
  const auto with_loss = [](auto settings) {
    ml::network m;
    const int z = m.linear("z", m.input("x", 4), 1, true, {});
    m.mean_squared_error("loss", z, settings(z));
  };
  CHECK_THROWS_WITH(with_loss([](int z) { return ml::loss_settings{.mask = z}; }),
                    "wsl: the mask of the loss loss comes with the batch, but z is computed");
  CHECK_THROWS_WITH(with_loss([](int) { return ml::loss_settings{.factor = std::nanf("")}; }),
                    "wsl: the loss loss has a finite factor, not nan");
  n.mean_squared_error("energy", y);
  ml::trainer t(std::move(n), ml::optimizer::sgd());
  CHECK_THROWS_WITH(t.logits(), "wsl: there has been no batch: step, evaluate or predict one first");
  CHECK_THROWS_WITH(t.losses(), "wsl: there has been no batch: step, evaluate or predict one first");
  CHECK_THROWS_WITH(ml::trainer(std::move(n), ml::optimizer::sgd()),
                    "wsl: this model has no layers: it is empty, or it has been given to another trainer");
  const std::vector<f32> features(8, 1.f), targets(6), mask{1, std::nanf("")}, negative{1, -1};
  ml::batch b{.features = features, .named = {{"targets", std::span<const f32>(targets)}}, .sequences = 2};
  const auto refuses = [&](auto change, f64 rate, const std::string& what) {
    ml::batch other = b;
    change(other);
    CHECK_THROWS_WITH(t.step(other, rate), "wsl: " + what);
  };
  const auto nothing = [](ml::batch&) {};
  for (const char* rate : {"nan", "-1", "inf"})
    refuses(
        nothing, std::stod(rate),
        std::string("the learning rate of step 1 is at least 0 and at most 3.4e+38, the largest f32, not ") +
            rate);
  CHECK(t.steps() == 0);
  refuses(
      [](ml::batch& to) { to.sequences = 0; }, 0,
      "the batch has numbers, but no sequences: set batch::sequences, and batch::length if a sequence has "
      "several tokens");
  refuses([](ml::batch& to) { to.sequences = -8; }, 0,
          "a batch has 0 or more sequences of at least one token, not -8 of 1");
  refuses([](ml::batch& to) { to.named.push_back(to.named[0]); }, 0,
          "the batch has two sets of numbers called targets");
  refuses([&](ml::batch& to) { to.mask = mask; }, 0,
          "the mask weighs each token with a finite number of at least 0, not with nan");
  refuses([&](ml::batch& to) { to.mask = negative; }, 0,
          "the mask weighs each token with a finite number of at least 0, not with -1");
  CHECK(t.step(b, 0.1) > 0);
  CHECK(t.logits().size() == 6);
}

TEST_CASE("A layer with one output, and a row of workers without a sequence, train on every grid") {
  std::vector<f32> features(4 * 6), targets(4);
  for (std::size_t i = 0; i < features.size(); ++i) features[i] = 0.1f * static_cast<f32>(i % 7) - 0.2f;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<f32>(i);
  const auto loss_on = [&](int workers, int columns, int num_csx) {
    ml::network n;
    const int inside =
        n.activation<ml::gelu>("gelu", n.linear("up", n.input("x", 6), 16, true, ml::initial::normal(0.5f)));
    n.mean_squared_error("loss", n.linear("down", inside, 1, true, ml::initial::normal(0.5f)));
    ml::trainer t(std::move(n), ml::optimizer::adam(),
                  {.workers = workers, .columns = columns, .num_csx = num_csx});
    const ml::batch b{
        .features = features, .named = {{"targets", std::span<const f32>(targets)}}, .sequences = 4};
    t.step(b, 0.01);
    return t.step(b, 0.01);
  };
  const f64 right = loss_on(1, 1, 1);
  for (const auto& [workers, columns, wafers] :
       {std::array{2, 2, 1}, {3, 3, 1}, {8, 1, 1}, {16, 2, 1}, {16, 16, 1}, {8, 2, 2}, {4, 2, 4}})
    CHECK(loss_on(workers, columns, wafers) == Approx(right).epsilon(1e-5));
  CHECK_THROWS_WITH(loss_on(17, 17, 1),
                    "wsl: a wafer has at most 16 columns of workers, not 17: take more rows");
}

TEST_CASE("As many wafers train as there are colors for their trees") {
  std::vector<f32> features(66 * 6);
  for (std::size_t i = 0; i < features.size(); ++i) features[i] = 0.1f * static_cast<f32>(i % 11) - 0.2f;
  const auto trained = [&](const ml::streaming_settings& how, int sequences) {
    ml::network n;
    n.mean_squared_error("loss", n.linear("down", n.input("x", 6), 3, true, ml::initial::normal(0.5f)));
    ml::trainer t(std::move(n), ml::optimizer::sgd(), how);
    const std::vector<f32> of_all(static_cast<std::size_t>(3 * sequences), 1.f);
    const ml::batch b{.features = std::span(features).first(static_cast<std::size_t>(6 * sequences)),
                      .named = {{"targets", std::span<const f32>(of_all)}},
                      .sequences = sequences};
    t.step(b, 0.1);
    return t.step(b, 0.1);
  };
  for (const auto& [workers, columns, wafers, sequences] :
       {std::array{4, 2, 16, 32}, {1, 1, 33, 66}, {3, 3, 4, 32}, {1, 1, 64, 64}})
    CHECK(trained({.workers = workers, .columns = columns, .num_csx = wafers}, sequences) ==
          Approx(trained({.workers = 1}, sequences)).epsilon(1e-5));
  CHECK_THROWS_WITH(
      trained({.workers = 2, .columns = 2, .num_csx = 32}, 64),
      "wsl: the trees of 32 wafers with 2 columns of workers need 10 colors, and there are 8: use "
      "fewer columns or wafers");
}

TEST_CASE("Schedules have at least one step, and update rules finite coefficients") {
  CHECK_THROWS_WITH(ml::rate::cosine(1, 0, 0),
                    "wsl: a half cosine wave of a learning rate is at least one step, not 0");
  CHECK_THROWS_WITH(ml::rate::exponential_decay(1, 0.5, 0), Contains("is at least one step, not 0"));
  CHECK_THROWS_WITH(ml::rate::inverse_time(1, 0.5, 0), Contains("is at least one step, not 0"));
  CHECK_THROWS_WITH(ml::rate::inverse_square_root(1, 1, 0), Contains("is at least one step, not 0"));
  CHECK_THROWS_WITH(ml::rate::cosine_annealing(1, 0, -1), Contains("is at least one step, not -1"));
  CHECK(ml::rate::linear(1, 0.5, 0)(0) == 0.5);
  const auto refuses = [](const ml::optimizer& o, const std::string& what) {
    CHECK_THROWS_WITH(ml::updates_of(o, {{"p", 1, 2, {}}}), "wsl: " + what);
  };
  const f32 nan = std::nanf(""), infinite = std::numeric_limits<f32>::infinity();
  refuses(ml::optimizer::sgd({.momentum = 0.9f, .decay = nan}),
          "sgd has a weight decay of at least 0, not nan");
  refuses(ml::optimizer::adamw({.decay = infinite}), "adamw has a weight decay of at least 0, not inf");
  refuses(ml::optimizer::lion({.decay = -1}), "lion has a weight decay of at least 0, not -1");
  refuses(ml::optimizer::sgd().with_group({"p"}, {.decay = nan}),
          "sgd has a weight decay of at least 0, not nan");
  refuses(ml::optimizer::sgd({.momentum = 0.9f, .dampening = nan}), "sgd has a finite dampening, not nan");
  refuses(ml::optimizer::asgd({.alpha = nan}), "asgd has a alpha of at least 0, not nan");
  refuses(ml::optimizer::adafactor({.smallest_scale = -1}),
          "adafactor has a smallest scale of at least 0, not -1");
  refuses(ml::optimizer::rprop({.grow = infinite}), "rprop grows by a finite number above 1, not inf");
  CHECK_THROWS_WITH(ml::clipping::checked(f64{infinite}, 0), Contains("or by 0 for none, not by inf"));
}

TEST_CASE("The gradients of the library's layers and losses are differences") {
  const auto check_all = [](const ml::network& n, int entries = 12) {
    const ml::gradient_report r = ml::check_gradients(n, {.sequences = 2, .length = 5, .entries = entries});
    INFO(r.text());
    CHECK(r.passed());
  };
  const ml::decoder base{.vocabulary = 11,
                         .positions = 6,
                         .layers = 1,
                         .heads = 2,
                         .width = 8,
                         .dropout = 0.1f,
                         .attention_dropout = 0.1f};
  check_all(base.build());
  ml::decoder llama = base;
  llama.norm = ml::normalization::rmsnorm, llama.position = ml::positioning::rotary,
  llama.between = ml::nonlinearity::swiglu, llama.kv_heads = 1, llama.tied = false;
  check_all(llama.build());
  llama.experts = 3;
  check_all(llama.build());
  constexpr ml::sequence net{ml::linear<7, 9>{}, ml::elementwise<ml::gelu>{}, ml::dropout{0.3f},
                             ml::layer_norm<9>{}, ml::linear<9, 4>{}};
  check_all(net.build());
  check_all(net.build([](ml::network& n, int y) {
    n.cross_entropy("class", y, {.label_smoothing = 0.1f, .z_loss = 0.05f});
    n.mean_squared_error("distance", y, {.targets = n.target("place", 4), .factor = 0.3f});
    n.binary_cross_entropy("parts", y, {.targets = n.target("has", 4), .factor = 2});
  }));
  // A target that is computed as well, and one loss after the other on the same value.
  check_all(net.build([](ml::network& n, int y) {
    n.mean_squared_error("same", y, {.targets = n.linear("other", y, 4, true, {})});
    n.cross_entropy("class", y, {.label_smoothing = 0.1f});
  }));
  constexpr ml::sequence corners{ml::linear<7, 9>{}, ml::elementwise<ml::relu>{}, ml::linear<9, 4>{}};
  check_all(corners.build());
}

// Two routers of three experts, of which a token takes two.
ml::network routers() {
  ml::network n;
  const int x = n.input("x", 5);
  const int first = n.linear("first", x, 3, false, ml::initial::normal(1)),
            second = n.linear("second", x, 3, true, ml::initial::normal(1));
  n.mean_squared_error("error", second);
  n.balance("balance", {first, second}, 2, 0.5f);
  return n;
}
TEST_CASE("The loss that balances experts is of the whole batch, whatever the mask and the division") {
  constexpr int tokens = 12;
  compare::both x(tokens, 5, 1), y(tokens, 3, 2);
  std::vector<f32> mask(tokens, 1);
  mask[1] = mask[5] = 0;
  ml::batch b{.mask = mask, .sequences = 4, .length = 3};
  b.named = {{"x", std::span<const f32>(x.single)}, {"targets", std::span<const f32>(y.single)}};
  ml::trainer one(routers(), ml::optimizer::sgd(), {.workers = 1});
  f64 went[3]{}, probability[3]{};
  for (const char* name : {"first", "second"}) {
    const auto w = one.parameter_named(std::string(name) + ".weight");
    for (int t = 0; t < tokens; ++t) {
      f64 score[3]{}, sum = 0;
      for (int e = 0; e < 3; ++e) {
        for (int i = 0; i < 5; ++i)
          score[e] += static_cast<f64>(w[static_cast<std::size_t>(5 * e + i)]) *
                      x.exact[static_cast<std::size_t>(5 * t + i)];
        sum += std::exp(score[e]);
      }
      const auto least = std::min_element(score, score + 3) - score;
      for (int e = 0; e < 3; ++e) went[e] += e != least, probability[e] += std::exp(score[e]) / sum;
    }
  }
  f64 balance = 0;
  for (int e = 0; e < 3; ++e) balance += 3 * (went[e] / (2 * tokens)) * (probability[e] / (2 * tokens));
  one.evaluate(b);
  CHECK(one.losses().at(1).mean == Approx(balance).epsilon(1e-6));
  ml::check_gradients(routers()).require();
  one.step(b, 0.5);
  const auto same = [&](auto t) {
    t.step(b, 0.5);
    CHECK(t.losses().at(1).mean == Approx(balance).epsilon(1e-6));
    CHECK(compare::distance(t.parameters(), one.parameters()) < 1e-6);
  };
  for (const auto& [workers, columns, num_csx, size] :
       {std::array{4, 1, 1, 0}, {6, 3, 1, 2}, {2, 2, 2, 1}, {1, 1, 4, 0}})
    same(ml::trainer(routers(), ml::optimizer::sgd(),
                     {.workers = workers, .columns = columns, .num_csx = num_csx, .micro_batch_size = size}));
  for (const auto& [strips, replicas, size] : {std::array{1, 1, 0}, {4, 1, 1}, {2, 2, 1}})
    same(ml::pipelined_trainer(routers(), ml::optimizer::sgd(),
                               {.strips = strips, .replicas = replicas, .micro_batch_size = size}));
  ml::network n;
  const int scores = n.linear("router", n.input("x", 5), 3, false, {});
  CHECK_THROWS_WITH(n.balance("balance", {}, 1, 1), "wsl: balance balances no experts");
  n.balance("balance", {scores}, 2, 1);
  CHECK_THROWS_WITH(n.balance("balance", {scores}, 2, 1), Contains("two layers called balance"));
  CHECK(n.losses().size() == 1);  // one that is refused leaves nothing behind
  CHECK_THROWS_WITH(n.balance("balance", {scores}, 4, 1),
                    "wsl: balance sends each token to 4 experts: from 1 to all 3");
}

// y = W (x - the mean of x). The means are of the stage's own work, and all of its tiles need them.
class centred_stage final : public ml::stage {
 public:
  void forward(ml::activation_store& store) const override {
    const matrix<f32> x = store.value(inputs[0]);
    const std::span<f32> mean = store.saved(number, 1);
    for (int t = 0; t < x.rows(); ++t)
      mean[static_cast<std::size_t>(t)] =
          std::accumulate(x.row(t), x.row(t) + x.columns(), 0.f) / static_cast<f32>(x.columns());
  }
  void forward(ml::activation_store& store, const ml::weight_tile& w) const override {
    const matrix<f32> x = store.value(inputs[0]), y = store.value(output);
    for (int t = 0; t < x.rows(); ++t)
      for (int r = 0; r < w.rows.rows(); ++r) {
        y(t, w.row + r) = 0;
        for (int i = 0; i < x.columns(); ++i) y(t, w.row + r) += w.rows(r, i) * off(store, x, t, i);
      }
  }
  void backward(ml::activation_store& store, const ml::weight_tile& w,
                const matrix<f32>& gradient) const override {
    const matrix<f32> x = store.value(inputs[0]), dx = store.gradient(inputs[0]), dy = store.gradient(output);
    for (int r = 0; r < w.rows.rows(); ++r)
      for (int i = 0; i < x.columns(); ++i) {
        gradient(r, i) = 0;
        for (int t = 0; t < x.rows(); ++t) {
          gradient(r, i) += dy(t, w.row + r) * off(store, x, t, i);
          dx(t, i) += dy(t, w.row + r) * w.rows(r, i);
          for (int j = 0; j < x.columns(); ++j)
            dx(t, j) -= dy(t, w.row + r) * w.rows(r, i) / static_cast<f32>(x.columns());
        }
      }
  }
  f64 operations(int, int rows, int, int) const override { return 1000. * rows; }

 private:
  f32 off(ml::activation_store& store, const matrix<f32>& x, int t, int i) const {
    return x(t, i) - store.saved(number, 1)[static_cast<std::size_t>(t)];
  }
};
TEST_CASE("The tiles of a stage find what its own work has saved, on any number of strips") {
  const auto model = [] {
    ml::network n;
    const int x = n.linear("first", n.input("x", 4), 6, true, ml::initial::normal(1));
    const int y = n.add("centred", centred_stage(), {x}, 40,
                        {ml::parameter::of("weight", shape{40, 6}, ml::initial::normal(1))});
    n.mean_squared_error(
        "error", n.linear("last", n.activation<ml::gelu>("gelu", y), 3, true, ml::initial::normal(0.2f)));
    return n;
  };
  ml::check_gradients(model()).require();
  compare::both x(8, 4, 1), y(8, 3, 2);
  ml::batch b{.sequences = 8};
  b.named = {{"x", std::span<const f32>(x.single)}, {"targets", std::span<const f32>(y.single)}};
  ml::trainer streamed(model(), ml::optimizer::sgd());
  for (int k = 0; k < 3; ++k) streamed.step(b, 0.01);
  for (const int strips : {1, 2, 3, 5, 9}) {
    ml::pipelined_trainer t(model(), ml::optimizer::sgd(), {.strips = strips});
    CHECK(t.layers().count() > (strips > 1));
    for (int k = 0; k < 3; ++k) t.step(b, 0.01);
    CHECK(compare::distance(t.parameters(), streamed.parameters()) < 1e-5);
  }
}

TEST_CASE("A mixture has as many experts as weights, all of one width") {
  ml::network n;
  const int x = n.input("x", 6), routes = n.routes("routes", n.linear("router", x, 2, false, {}), 1),
            a = n.linear("a", x, 4, true, {}), b = n.linear("b", x, 5, true, {});
  CHECK_THROWS_WITH(n.mixture("mixture", routes, {a}),
                    "wsl: mixture mixes 1 experts by the 2 features of routes");
  CHECK_THROWS_WITH(n.mixture("mixture", routes, {a, b}),
                    Contains("mixture joins 4 features of a with 5 features of b"));
  CHECK(n.width(n.mixture("mixture", routes, {a, a})) == 4);
}

/// What a stage says of its cut.
class cut_stage final : public ml::stage {
 public:
  cut_stage(ml::stage_cut how, ml::prefix_features prefix) : how_(how), prefix_(prefix) {}
  ml::stage_cut how_cut() const override { return how_; }
  std::vector<ml::feature_group> groups_of_input(int) const override { return {{0, 48, 1}}; }
  ml::prefix_features reads_of_prefix() const override { return prefix_; }
  bool needs_whole_sequences() const override { return true; }

 private:
  ml::stage_cut how_;
  ml::prefix_features prefix_;
};

TEST_CASE("Shapes that do not fit are refused with the names of stages, and with both shapes") {
  CHECK(shape(12).text() == "12");
  CHECK(shape{4, 3, 2}.text() == "4 x 3 x 2");
  CHECK(ml::fits({4, 3}, 12));
  CHECK(!ml::fits({4, 3}, {3, 4}));
  ml::network n;
  const int image = n.input("image", {4, 4, 3}), words = n.ids("words", 50), right = n.classes("right", 9);
  CHECK_THROWS_WITH(n.add("convolution", square_stage(), {{image, {4, 4, 2}}}, {4, 4, 2}),
                    "wsl: convolution takes 4 x 4 x 2 features, but reads the 4 x 4 x 3 features of image");
  CHECK_THROWS_WITH(n.add("square", square_stage(), {9}, 6),
                    "wsl: square reads value 9, but the model has 3 values so far");
  CHECK_THROWS_WITH(n.add("square", square_stage(), {image}, {4, 0}), "wsl: square has 4 x 0 features");
  const auto cut = [&](ml::stage_cut how, int rows, int columns, ml::prefix_features prefix = {}) {
    n.add("own", cut_stage(how, prefix), {image}, 6,
          {ml::parameter{"taps", rows, columns, ml::initial::normal(1)}});
  };
  CHECK_THROWS_WITH(
      cut(ml::stage_cut::by_feature, 2, 6),
      "wsl: own is cut by feature, so columns of workers share out its parameters: taps has a row "
      "for each of the 6 features of the output, or is a vector of as many numbers, not 2 x 6");
  CHECK_THROWS_WITH(cut(ml::stage_cut::by_output, 1, 48), Contains("own is cut by output"));
  CHECK_THROWS_WITH(cut(ml::stage_cut::by_tokens, 1, 6, {.first_group = 0}),
                    "wsl: own reads a prefix: how_cut() must be stage_cut::by_head");
  CHECK_THROWS_WITH(
      cut(ml::stage_cut::by_head, 1, 6, {.first_group = 1}),
      "wsl: own reads a prefix: groups_of_input(0) has 1 groups, of which there is none number 1");
  CHECK_THROWS_WITH(cut(ml::stage_cut::by_head, 1, 6, {.first_group = 0, .window = -1}),
                    Contains("its window is 0, for all earlier tokens, or a number of tokens, not -1"));
  CHECK_THROWS_WITH(n.add("square", square_stage(), {right}, 9),
                    "wsl: square reads right, which is for losses only");
  CHECK_THROWS_WITH(n.input("words", 3),
                    "wsl: the model has two inputs or targets called words: give each a name");
  CHECK_THROWS_WITH(n.embedding_of("table", image, 0, 8),
                    "wsl: table looks up one id of each token, which 4 x 4 x 3 features of image are not");
  const int y = n.linear("head", image, 10, true, {});
  CHECK_THROWS_WITH(
      n.cross_entropy("loss", y, {.targets = right}),
      "wsl: loss has 10 features of head, of which the last axis are classes; it takes 1 classes "
      "below 10, not 1 ids of right below 9");
  CHECK_THROWS_WITH(n.mean_squared_error("loss", y, {.targets = words}),
                    "wsl: loss compares with features, not with the 1 ids of words below 50");
  CHECK_THROWS_WITH(n.mean_squared_error("loss", y, {.targets = image}),
                    "wsl: loss takes 10 features, but reads the 4 x 4 x 3 features of image");
  CHECK_THROWS_WITH((shape{1, 2, 3, 4, 5, 6, 7}), Contains("a shape has 1 to 6 axes"));
}

/// Two inputs of features, two of ids, and three losses, of which one is of a value in the middle.
ml::network many() {
  ml::network n;
  const int image = n.input("image", {2, 3}), words = n.ids("words", 7), other = n.ids("tags", 5),
            late = n.input("late", 4);
  const ml::initial start = ml::initial::normal(0.4f);
  const int a = n.linear("first", n.add("square", square_stage(), {{image, {2, 3}}}, {2, 3}, of_square()), 8,
                         true, start),
            b = n.embedding_of("words table", words, 6, 8, start),
            c = n.embedding_of("tags table", other, 0, 8, start);
  const int mixed =
      n.attention("attention", n.linear("qkv", n.sum("two", n.sum("one", a, b), c), 24, true, start), {2});
  n.mean_squared_error("beside", mixed, {.targets = n.target("place", 8), .factor = 0.5f});
  const int joined =
      n.sum("joined", n.activation<ml::gelu>("gelu", mixed), n.linear("of late", late, 8, true, start));
  const int y = n.linear("head", joined, 4, true, start);
  n.predicts(y);
  n.cross_entropy("class", y, {.label_smoothing = 0.1f, .ignore_index = -1});
  n.binary_cross_entropy("again", y,
                         {.targets = n.target("bits", 4), .mask = n.target("how much", 1), .factor = 2});
  return n;
}
struct many_numbers {
  std::vector<f32> image, late, place, bits, how_much, mask;
  std::vector<i32> words, tags, targets;
  int sequences = 7, length = 5;

  many_numbers() {
    const int tokens = sequences * length;
    const auto fill = [&](std::vector<f32>& x, int width) {
      x = compare::both(tokens, width, static_cast<unsigned>(width)).single;
    };
    fill(image, 6), fill(late, 4), fill(place, 8), fill(bits, 4);
    for (f32& x : bits) x = x > 0 ? 1 : 0;
    for (int i = 0; i < tokens; ++i) {
      words.push_back(i * i % 7), tags.push_back(i * 3 % 5), targets.push_back(i % 6 ? i * i % 4 : -1);
      how_much.push_back(i % 3 ? 1.f : 0.f), mask.push_back(i % 4 ? 1.f : 0.5f);
    }
  }
  ml::batch all() const {
    return {.targets = targets,
            .mask = mask,
            .named = {{"late", late},
                      {"words", words},
                      {"image", image},
                      {"bits", bits},
                      {"tags", tags},
                      {"how much", how_much},
                      {"place", place}},
            .sequences = sequences,
            .length = length};
  }
};

TEST_CASE("A model with several inputs and losses learns on the fabric what it learns in one place") {
  const many_numbers x;
  const ml::optimizer rule = ml::optimizer::sgd({.momentum = 0.9f});
  const ml::network n = many();
  CHECK(ml::check_gradients(n, ml::detail::varied_weights(n, 1), x.all(), {.entries = 8}).passed());
  ml::weights w(n, 7), velocity(n);
  std::vector<f64> losses;
  ml::batch b = x.all();
  const f64 counts = check(n, b);
  ml::activation_store store = store_of(n, b);
  for (int step = 1; step <= 3; ++step) {
    ml::weights d(n);
    losses.push_back(serial_forward(n, w, store) / counts);
    serial_backward(n, w, d, store);
    for (std::size_t k = 0; k < w.size(); ++k)
      ml::update(rule.rule, {w[k].data(), d[k].data(), {velocity[k].data()}, static_cast<int>(w[k].size())},
                 {.rate = 0.05f, .number = step});
  }
  const std::vector<f64> of = counts_of_losses(n, b);
  CHECK(of[1] == Approx(26));  // the mask of the tokens whose class counts
  const auto learns = [&](auto t) {
    for (f64 loss : losses) CHECK(t.step(x.all(), 0.05) == Approx(loss).epsilon(1e-5));
    CHECK(compare::distance(t.parameters(), w) < 1e-5);
    const auto parts = t.losses();
    REQUIRE(parts.size() == 3);
    f64 sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(parts[k].name == n.losses()[k]->name);
      CHECK(parts[k].mean == Approx(store.losses[k] / of[k]).epsilon(1e-5));
      sum += static_cast<f64>(n.losses()[k]->factor) * parts[k].mean;
    }
    CHECK(sum == Approx(losses.back()).epsilon(1e-5));
    const f64 now = t.evaluate(x.all());
    CHECK(now < losses.back());
    const std::vector<f32> said = t.predict(x.all());  // targets are not read
    CHECK(said.size() == 35 * 4);
    ml::batch inputs = ml::without_targets(n, x.all());
    CHECK(inputs.named.size() == 4);
    CHECK(t.predict(inputs) == said);
  };
  for (const ml::streaming_settings& how :
       {ml::streaming_settings{.workers = 1, .seed = 7}, ml::streaming_settings{.workers = 3, .seed = 7},
        ml::streaming_settings{.workers = 9, .columns = 1, .seed = 7},
        ml::streaming_settings{.workers = 6, .columns = 2, .seed = 7},
        ml::streaming_settings{.workers = 3, .columns = 3, .seed = 7},
        ml::streaming_settings{.workers = 4, .columns = 2, .num_csx = 7, .seed = 7},
        ml::streaming_settings{.workers = 2, .num_csx = 7, .seed = 7}}) {
    INFO(how.workers << " workers in " << how.columns << " columns, num_csx " << how.num_csx);
    learns(ml::trainer(many(), rule, how));
  }
  for (int strips : {1, 2, 5, 64}) {
    INFO(strips << " strips");
    learns(ml::pipelined_trainer(many(), rule, {.strips = strips, .micro_batch_size = 2, .seed = 7}));
  }
}

TEST_CASE("What a batch lacks, or has too much, is named") {
  const many_numbers x;
  ml::trainer t(many(), ml::optimizer::sgd());
  const auto says = [&](auto change, const std::string& what) {
    ml::batch b = x.all();
    change(b);
    CHECK_THROWS_WITH(t.step(b, 0), "wsl: " + what);
  };
  says([](ml::batch& b) { b.named.erase(b.named.begin()); },
       "a batch of 7 sequences of 5 has 0 features of late, not 140");
  says([](ml::batch& b) { b.named[2].features = b.named[2].features.first(30); },
       "a batch of 7 sequences of 5 has 30 features of image, not 210");
  says([&](ml::batch& b) { b.named[1] = {"words", std::span<const f32>(x.late)}; },
       "a batch of 7 sequences of 5 has 0 ids of words, not 35");
  says([&](ml::batch& b) { b.features = x.image; },
       "the model has several inputs or targets of a kind: the batch names each of image, words, tags, late, "
       "place, targets, bits, how much");
  says([&](ml::batch& b) { b.named.push_back({"pixels", std::span<const f32>(x.image)}); },
       "the batch has numbers called pixels, but the model takes image, words, tags, late, place, targets, "
       "bits, "
       "how much");
  std::vector<i32> wrong = x.words;
  wrong[3] = 7;
  says([&](ml::batch& b) { b.named[1].ids = wrong; },
       "number 3 of words of the batch is 7, not one of 0 to 6");
  std::vector<i32> targets = x.targets;
  targets[4] = -2;
  says([&](ml::batch& b) { b.targets = targets; }, "target 4 of the batch is -2, not one of 0 to 3");
  ml::network none;
  none.linear("head", none.input("x", 3), 2, true, {});
  ml::trainer without(std::move(none), ml::optimizer::sgd());
  CHECK_THROWS_WITH(without.step({.features = x.image, .sequences = 70}, 0),
                    "wsl: the model has no loss to train with");
}

/// A layer of the user's in a sequence.
struct squares {
  static constexpr shape takes{2, 3}, gives{2, 3};
  static constexpr const char* name = "squares";
  static int build(ml::network& n, const std::string& as, int x) {
    return n.add(as, square_stage(), {{x, takes}}, gives, of_square());
  }
};

TEST_CASE("A sequence takes layers of the user's, with shapes of several axes") {
  constexpr ml::sequence net{squares{}, ml::elementwise<ml::relu>{},
                             ml::residual{squares{}, ml::linear<6, 6>{}}, squares{}, ml::linear<6, 3>{}};
  static_assert(net.takes == shape{2, 3});
  const ml::network n = net.build();
  CHECK(n.shape_of(1) == shape{2, 3});
  CHECK(n.parameters()[0].name == "squares 0.weight");
  CHECK(n.parameters()[1].name == "residual 2 squares 0.weight");
  CHECK(n.width(n.logits()) == 3);
  CHECK(ml::check_gradients(n).passed());
  CHECK(!ml::detail::is_any(squares::takes));
}

}  // namespace
