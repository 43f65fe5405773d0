// SPDX-License-Identifier: MIT
// Optimizers in the trainers: the servers of the memory and the strips of a pipeline, each with some tiles of
// a parameter, update it as one owner of all of it would.
#include <filesystem>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "../ml/compare.hpp"
#include "../ml/random_text.hpp"

namespace {
using namespace wsl;
using ml::optimizer;

// Without biases: the gradient of a key's bias is rounding alone.
ml::network model() {
  return ml::decoder{
      .vocabulary = 60, .positions = 8, .layers = 1, .heads = 2, .width = 48, .bias = false, .tied = true}
      .build();
}

using text = test::random_text<60>;

const optimizer adafactor = optimizer::adafactor({.beta1 = 0.5f, .decay = 0.1f}),
                lamb = optimizer::lamb({.decay = 0.01f});

template <class Trainer>
void three_steps(Trainer& t, f64 rate = 1e-2) {
  for (unsigned step = 0; step < 3; ++step) t.step(text(step).all(), rate);
}
template <class Trainer>
ml::weights trained(Trainer t) {
  three_steps(t);
  return t.parameters();
}

// With a larger epsilon rounding of tiny gradients is not made a whole step.
TEST_CASE("Every optimizer trains alike by weight streaming and in a pipeline") {
  for (const optimizer& rule :
       {adafactor, optimizer::adafactor({.relative_step = true}), lamb, optimizer::lion(), optimizer::sgd(),
        optimizer::rmsprop({.epsilon = 1e-3f, .momentum = 0.5f, .centered = true}),
        optimizer::nadam({.epsilon = 1e-3f}), optimizer::adam({.epsilon = 1e-3f, .amsgrad = true})})
    for (const f64 clip : {0., 0.5}) {
      INFO(rule.name() << ", clipped by " << clip);
      const ml::weights one =
                            trained(ml::trainer(model(), rule, {.workers = 1, .clip_norm = clip, .seed = 7})),
                        several = trained(ml::trainer(
                            model(), rule, {.workers = 3, .num_csx = 2, .clip_norm = clip, .seed = 7})),
                        piped = trained(ml::pipelined_trainer(model(), rule,
                                                              {.strips = 4, .clip_norm = clip, .seed = 7}));
      const f64 moved = compare::distance(ml::weights(model(), 7), one);
      // Lion takes the sign of gradients, of which rounding decides a few.
      const f64 bound = rule.name() == "lion" ? 0.1 * moved : std::min(2e-4, 0.01 * moved);
      CHECK(moved > 1e-4);
      CHECK(compare::distance(several, one) < bound);
      CHECK(compare::distance(piped, one) < bound);
    }
}

TEST_CASE("Sums over whole parameters do not depend on the number of threads") {
  for (const optimizer& rule : {adafactor, lamb}) {
    const auto run = [&](int threads) {
      return trained(ml::trainer(model(), rule, {.workers = 4, .num_csx = 2, .seed = 3, .threads = threads}));
    };
    const auto piped = [&](int threads) {
      return trained(ml::pipelined_trainer(model(), rule, {.strips = 4, .seed = 3, .threads = threads}));
    };
    const ml::weights one = run(1), alone = piped(1);
    for (int threads : {2, 5}) {
      CHECK(compare::distance(run(threads), one) == 0);
      CHECK(compare::distance(piped(threads), alone) == 0);
    }
  }
}

TEST_CASE("Gradients that are not finite leave a rule with sums as it was") {
  for (const optimizer& rule : {adafactor, lamb}) {
    ml::trainer t(model(), rule, {.workers = 2, .seed = 7});
    three_steps(t);
    std::vector<std::vector<f32>> before;
    for (const ml::state_array& a : t.state()) before.emplace_back(a.numbers.begin(), a.numbers.end());
    f32& broken = t.parameter_named("layer 0 up.weight")[5];
    const f32 whole = std::exchange(broken, INFINITY);
    CHECK_THROWS_AS(t.step(text(9).all(), 1e-2), fault);
    broken = whole;
    const auto after = t.state();
    for (std::size_t k = 0; k < after.size(); ++k)
      CHECK(std::equal(before[k].begin(), before[k].end(), after[k].numbers.begin()));
    // Nothing of the failed step is left over in the next.
    ml::trainer same(model(), rule, {.workers = 2, .seed = 7});
    three_steps(same);
    t.step(text(4).all(), 1e-2), same.step(text(4).all(), 1e-2);
    CHECK(compare::distance(t.parameters(), same.parameters()) == 0);
  }
}

TEST_CASE("A run with any optimizer goes on from a checkpoint") {
  const auto folder = std::filesystem::temp_directory_path() / "wsl_rules_in_training";
  for (const optimizer& rule :
       {adafactor, lamb.with_average({.decay = 0.5f}), optimizer::sgd(),
        optimizer::rmsprop({.momentum = 0.9f, .centered = true}), optimizer::asgd()}) {
    INFO(rule.name());
    std::filesystem::remove_all(folder);
    ml::trainer whole(model(), rule, {.workers = 2, .seed = 3});
    ml::pipelined_trainer later(model(), rule, {.strips = 2, .seed = 4});
    three_steps(whole);
    const std::string file = ml::save_checkpoint(ml::checkpoints(folder.string()), whole);
    ml::trainer same(model(), rule, {.workers = 2, .seed = 5});
    ml::load_checkpoint(file, same), ml::load_checkpoint(file, later);
    three_steps(whole), three_steps(same), three_steps(later);
    const auto a = whole.state(), b = same.state(), c = later.state();
    REQUIRE((a.size() == b.size() && a.size() == c.size()));
    for (std::size_t k = 0; k < a.size(); ++k) {
      CHECK((a[k].name == c[k].name && a[k].rows == c[k].rows && a[k].columns == c[k].columns));
      CHECK(std::equal(a[k].numbers.begin(), a[k].numbers.end(), b[k].numbers.begin(), b[k].numbers.end()));
    }
    // The weights alone, without what is kept.
    ml::trainer fresh(model(), optimizer::adam());
    ml::load_weights(file, fresh);
  }
  // Before sgd without momentum kept nothing, it kept a velocity.
  std::filesystem::remove_all(folder);
  ml::trainer once(model(), optimizer::sgd({.momentum = 0.9f}), {.seed = 3}),
      now(model(), optimizer::sgd(), {.seed = 4});
  three_steps(once);
  const std::string file = ml::save_checkpoint(ml::checkpoints(folder.string()), once);
  ml::load_checkpoint(file, now);
  CHECK(compare::distance(once.parameters(), now.parameters()) == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("A checkpoint of another optimizer is refused, and nothing changes") {
  const auto folder = std::filesystem::temp_directory_path() / "wsl_rules_in_training";
  std::filesystem::remove_all(folder);
  const auto saved = [&](const optimizer& rule, const char* name) {
    ml::trainer t(model(), rule, {.seed = 3});
    three_steps(t);
    return ml::save_checkpoint(ml::checkpoints((folder / name).string()), t);
  };
  const auto refuses = [](const std::string& file, const optimizer& rule, const std::string& words) {
    INFO(file << " by " << rule.name());
    ml::trainer t(model(), rule, {.seed = 4});
    const ml::weights before(t.parameters());
    CHECK_THROWS_WITH(ml::load_checkpoint(file, t), Catch::Contains(words));
    CHECK(compare::distance(before, t.parameters()) == 0);
    CHECK(t.steps() == 0);
  };
  const std::string by_adam = saved(optimizer::adam(), "adam"), by_lion = saved(optimizer::lion(), "lion"),
                    by_sgd = saved(optimizer::sgd({.momentum = 0.5f}), "sgd"),
                    by_amsgrad = saved(optimizer::adam({.amsgrad = true}), "amsgrad");
  for (const optimizer& rule : {optimizer::adamw(), optimizer::nadam(), optimizer::radam(), optimizer::lamb(),
                                optimizer::sgd({.momentum = 0.5f}), optimizer::lion()})
    refuses(by_adam, rule,
            "was trained by adam, and this is " + std::string(rule.name()) +
                ": go on with the optimizer of its run, or let load_weights take its weights");
  for (const f32 momentum : {0.f, 0.5f})
    refuses(by_lion, optimizer::sgd({.momentum = momentum}), "was trained by lion, and this is sgd");
  refuses(by_sgd, optimizer::lion(), "was trained by sgd, and this is lion");
  refuses(by_adam, optimizer::adam().with_average({.decay = 0.5f}),
          "has no 'embedding.tokens/ema', which this optimizer (adam) keeps: go on with the optimizer");
  refuses(by_adam, optimizer::adam({.amsgrad = true}), "has no 'embedding.tokens/largest', which this");
  refuses(by_amsgrad, optimizer::adam(),
          "largest' for which there is no place: it is of the same model with");
  // To evaluate, the weights are enough, and the averages if they are asked for.
  ml::trainer evaluated(model(), optimizer::sgd(), {.seed = 4}),
      averaged(model(), optimizer::sgd().with_average({.decay = 0.5f}));
  ml::load_model(by_adam, evaluated);
  ml::trainer same(model(), optimizer::adam(), {.seed = 5});
  ml::load_checkpoint(by_adam, same);
  CHECK(compare::distance(same.parameters(), evaluated.parameters()) == 0);
  CHECK(evaluated.steps() == 3);
  CHECK_THROWS_WITH(ml::load_model(by_adam, averaged), Catch::Contains("its run kept no average"));
  // A loss scale that cannot go on changes nothing, either.
  ml::trainer scaled(model(), optimizer::sgd(), {.precision = ml::precision::float16});
  const std::string in_f16 = ml::save_checkpoint(ml::checkpoints((folder / "f16").string()), scaled);
  ml::trainer limited(model(), optimizer::sgd(),
                      {.seed = 8,
                       .precision = ml::precision::float16,
                       .loss_scaling = ml::grad_scaler_settings{.initial = 16, .largest = 1024}});
  const ml::weights before(limited.parameters());
  CHECK_THROWS_WITH(ml::load_checkpoint(in_f16, limited), Catch::Contains("a loss scale of 32768 cannot"));
  CHECK(compare::distance(before, limited.parameters()) == 0);
  std::filesystem::remove_all(folder);
}

// tests/golden/checkpoint/unnamed.safetensors is of a version that did not write the name: three steps of
// Adam with rate 0.125 on the two rows below, from seed 5.
TEST_CASE("A checkpoint that does not name its optimizer still loads") {
  const std::string file = std::string(golden_folder) + "/checkpoint/unnamed.safetensors";
  const auto trainer = [](const optimizer& rule) {
    return ml::trainer(
        ml::sequence{ml::linear<2, 3>{}, ml::elementwise<ml::relu>{}, ml::linear<3, 2>{}}.build(), rule,
        {.workers = 1});
  };
  const std::vector<f32> rows{1, 2, -1, 0.5f};
  const std::vector<i32> classes{0, 1};
  ml::trainer t = trainer(optimizer::adam()), sgd = trainer(optimizer::sgd());
  CHECK(ml::optimizer_in(ml::checkpoint(file)).empty());
  CHECK(ml::load_checkpoint(file, t) == ml::data_position{7, 1, 2});
  CHECK(t.position() == ml::training_position{.steps = 3, .seed = 5});
  CHECK(t.step({.features = rows, .targets = classes, .sequences = 2}, 0.125) ==
        Approx(0.225530537).epsilon(1e-5));
  CHECK_THROWS_WITH(ml::load_checkpoint(file, sgd), Catch::Contains("for which there is no place"));
}

TEST_CASE("The average of the weights evaluates and predicts") {
  const optimizer rule = optimizer::sgd({.momentum = 0.9f}).with_average({.decay = 0.5f, .start = 1});
  ml::trainer t(model(), rule, {.workers = 2, .seed = 7}),
      plain(model(), optimizer::sgd({.momentum = 0.9f}), {.workers = 2, .seed = 7});
  ml::pipelined_trainer piped(model(), rule, {.strips = 3, .seed = 7});
  const text held_out(20);
  CHECK(t.with_average([&] { return t.evaluate(held_out.all()); }) == t.evaluate(held_out.all()));
  ml::weights wanted(model());
  for (unsigned step = 0; step < 3; ++step) {
    t.step(text(step).all(), 0.1), plain.step(text(step).all(), 0.1), piped.step(text(step).all(), 0.1);
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (std::size_t i = 0; i < wanted[k].size(); ++i)
        wanted[k][i] = step == 0 ? plain.parameters()[k][i] : (wanted[k][i] + plain.parameters()[k][i]) / 2;
  }
  CHECK(compare::distance(t.parameters(), plain.parameters()) == 0);
  t.with_average([&] { CHECK(compare::distance(t.parameters(), wanted) < 1e-6); });
  plain.parameters() = wanted;
  const f64 loss = plain.evaluate(held_out.all());
  CHECK(t.with_average([&] { return t.evaluate(held_out.all()); }) == Approx(loss).epsilon(1e-6));
  CHECK(piped.with_average([&] { return piped.evaluate(held_out.all()); }) == Approx(loss).epsilon(1e-5));
  CHECK(t.evaluate(held_out.all()) != Approx(loss).epsilon(1e-4));
  // The parameters come back although the function throws.
  const ml::weights before = t.parameters();
  CHECK_THROWS(t.with_average([] { throw 1; }));
  CHECK(compare::distance(t.parameters(), before) == 0);
  CHECK_THROWS_WITH(plain.with_average([] {}),
                    "wsl: this optimizer keeps no average of the weights: optimizer::with_average");
}

TEST_CASE("Groups train by their own settings") {
  const optimizer rule = optimizer::adamw({.beta2 = 0.95f, .epsilon = 1e-3f})
                             .with_group({"layer 0 *"}, {.rate_factor = 0})
                             .with_group({"last norm.*"}, {.decay = 0, .beta1 = 0.5f});
  ml::trainer t(model(), rule, {.workers = 2, .seed = 7});
  ml::weights start(model(), 7);
  three_steps(t);
  for (std::size_t k = 0; k < start.size(); ++k) {
    const std::string& name = t.model().parameters()[k].name;
    INFO(name);
    CHECK(std::equal(start[k].begin(), start[k].end(), t.parameters()[k].begin()) ==
          name.starts_with("layer 0 "));
  }
  CHECK_THROWS_WITH(
      ml::trainer(model(), rule.with_group({"layer 9 *"}, {})),
      "wsl: a group of the optimizer is for layer 9 *, and no parameter is called so; the first is "
      "embedding.tokens");
}

}  // namespace
