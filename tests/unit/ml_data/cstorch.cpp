// SPDX-License-Identifier: MIT
// Programs in the form of cerebras.pytorch do what a trainer does, and what does not fit it is refused.
#include <catch2/catch.hpp>
#include <wsl/ml/cstorch.hpp>
#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/model/sequence.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
namespace cstorch = ml::cstorch;

constexpr ml::sequence net{ml::linear<784, 16>{}, ml::elementwise<ml::relu>{}, ml::linear<16, 10>{}};
ml::batches digits() { return {ml::examples_of(ml::draw_digits(200, 1)), {.size = 20, .seed = 3}}; }

/// A program: what it is made of, and its losses in the steps that log.
struct program {
  explicit program(ml::streaming_settings how = {.workers = 1}, bool only_compiles = false)
      : model(cstorch::compile(net.build(), cstorch::backend("CSX", only_compiles, how))) {}

  cstorch::model model;
  cstorch::optim::optimizer optimizer{model, ml::optimizer::adam(), 1e-2};
  ml::batches loader = digits();
  std::vector<f64> losses = {};

  /// Runs steps of a function that returns a loss.
  template <class F>
  void run(F f, const cstorch::data_executor::settings& how) {
    auto step = cstorch::trace(f);
    auto keep = cstorch::step_closure([&](const cstorch::tensor& loss) { losses.push_back(loss.item()); });
    cstorch::data_executor executor(loader, how);
    for (const auto& [number, batch] : executor) keep(step(batch));
  }
  /// A whole step.
  auto whole() {
    return [this](const ml::batch& b) {
      const auto loss = model(b);
      loss.backward();
      optimizer.step(), optimizer.zero_grad();
      return loss;
    };
  }
};

/// The losses of a trainer by the same batches.
template <class Rate>
std::vector<f64> losses_of(int steps, const ml::streaming_settings& how, Rate rate) {
  ml::trainer t(net.build(), ml::optimizer::adam(), how);
  ml::batches loader = digits();
  std::vector<f64> losses;
  for (int k = 0; k < steps; ++k) losses.push_back(t.step(loader.next().view(), rate(k)));
  return losses;
}

TEST_CASE("Calls in an order in which a step would be another are refused") {
  using Catch::Matchers::Contains;
  const auto refuses = [](auto in_step, const char* why) {
    program p;
    const cstorch::optim::lr_scheduler rates(p.optimizer, ml::rate::linear(1e-2, 0, 8));
    CHECK_THROWS_WITH(p.run(
                          [&](const ml::batch& b) {
                            const auto loss = p.model(b);
                            in_step(p, rates, loss);
                            return loss;
                          },
                          {.num_steps = 1}),
                      Contains(why));
  };
  using rates_of = cstorch::optim::lr_scheduler;
  refuses(
      [](program& p, const rates_of&, const cstorch::tensor& loss) {
        loss.backward();
        p.optimizer.zero_grad(), p.optimizer.step();
      },
      "between loss.backward() and optimizer.step() takes the gradients away");
  refuses(
      [](program& p, const rates_of&, const cstorch::tensor& loss) {
        loss.backward();
        p.optimizer.step(), p.optimizer.zero_grad();
        cstorch::clip_grad_norm(p.model, 1);
      },
      "clip_grad_norm comes after optimizer.step()");
  refuses(
      [](program& p, const rates_of& rates, const cstorch::tensor& loss) {
        loss.backward();
        p.optimizer.step(), p.optimizer.zero_grad();
        rates.step(), rates.step();
      },
      "calls lr_scheduler.step() twice");
  program p;
  const cstorch::optim::lr_scheduler one(p.optimizer, ml::rate::constant(1));
  CHECK_THROWS_WITH(cstorch::optim::lr_scheduler(p.optimizer, ml::rate::constant(2)),
                    Contains("an optimizer has one lr_scheduler"));
  p.model.apply(ml::sparsity::set({.sparsity = 0.5f}));
  CHECK_THROWS_WITH(p.model.apply(ml::sparsity::set({.sparsity = 0.6f})), Contains("made sparse once"));

  // In a closure numbers are read, and no step runs.
  program q;
  auto step = cstorch::trace(q.whole());
  cstorch::data_executor executor(q.loader, {.num_steps = 1});
  auto closure = cstorch::step_closure([&](const ml::batch& b) { step(b); });
  const auto in_closure = [&] {
    for (const auto& [number, batch] : executor) closure(batch);
  };
  CHECK_THROWS_WITH(in_closure(), Contains("a closure only reads numbers"));
}

TEST_CASE("A dense model is not given a checkpoint of sparse weights") {
  const files::folder here;
  std::string saved;
  {
    program p;
    p.model.apply(ml::sparsity::set({.sparsity = 0.5f}));
    p.run(p.whole(), {.num_steps = 2});
    saved = save_checkpoint(ml::checkpoints(here / "run"), p.model.trainer(), p.loader.position(),
                            {{"schedule.steps", "0"}});
  }
  program dense;
  cstorch::load(saved, dense.model, dense.loader);
  CHECK_THROWS_WITH(dense.run(dense.whole(), {.num_steps = 1}),
                    Catch::Matchers::Contains("is of sparse weights, and this model is dense"));
}

TEST_CASE("A traced step is a step of a trainer") {
  program p;
  p.run(p.whole(), {.num_steps = 6});
  CHECK(p.losses == losses_of(6, {.workers = 1}, [](int) { return 1e-2; }));

  // A learning rate goes on where its scheduler is called; wafers are those of the executor.
  program q;
  const cstorch::optim::lr_scheduler rates(q.optimizer, ml::rate::linear(1e-2, 0, 8));
  q.run(
      [&](const ml::batch& b) {
        const auto loss = q.whole()(b);
        rates.step();
        return loss;
      },
      {.num_steps = 6, .config = {.num_csx = 2}});
  CHECK(q.losses == losses_of(6, {.workers = 1, .num_csx = 2}, ml::rate::linear(1e-2, 0, 8)));
  CHECK(rates.rate() == ml::rate::linear(1e-2, 0, 8)(6));

  // Gradients are bounded, and losses scaled.
  program bounded;
  const cstorch::amp::grad_scaler scaler(1024.);
  bounded.run(
      [&](const ml::batch& b) {
        const auto loss = bounded.model(b);
        cstorch::amp::optimizer_step(loss, bounded.optimizer, scaler, {.max_gradient_norm = 0.5});
        bounded.optimizer.zero_grad();
        return loss;
      },
      {.num_steps = 6});
  CHECK(bounded.losses ==
        losses_of(6, {.workers = 1, .clip_norm = 0.5, .loss_scaling = 1024.}, [](int) { return 1e-2; }));

  program clipped;
  clipped.run(
      [&](const ml::batch& b) {
        const auto loss = clipped.model(b);
        loss.backward();
        cstorch::clip_grad_norm(clipped.model, 0.5);
        clipped.optimizer.step(), clipped.optimizer.zero_grad();
        return loss;
      },
      {.num_steps = 6});
  CHECK(clipped.losses == losses_of(6, {.workers = 1, .clip_norm = 0.5}, [](int) { return 1e-2; }));

  program sparse;
  const ml::sparsity_settings how = cstorch::sparse::rigl({.sparsity = 0.5, .update = {.freq = 2}});
  sparse.model.apply(how);
  sparse.run(sparse.whole(), {.num_steps = 6});
  CHECK(sparse.losses == losses_of(6, {.workers = 1, .sparsity = how}, [](int) { return 1e-2; }));
}

TEST_CASE("Closures are called in the steps that the executor chooses, and once more at the end") {
  program p;
  std::vector<i64> logged, saved;
  auto step = cstorch::trace(p.whole());
  auto log = cstorch::step_closure([&](i64 s, const cstorch::tensor& loss) {
    logged.push_back(s);
    CHECK(loss.item() > 0);
  });
  auto save = cstorch::checkpoint_closure([&](i64 s) { saved.push_back(s); });
  cstorch::data_executor executor(p.loader, {.num_steps = 7, .checkpoint_steps = 4, .log_steps = 3});
  for (const auto& [number, batch] : executor) log(number, step(batch)), save(number);
  CHECK(logged == std::vector<i64>{2, 5, 6});
  CHECK(saved == std::vector<i64>{3, 6});

  // With a backend that only compiles nothing runs, and closures are not called.
  program compiled({.workers = 1}, true);
  compiled.run(compiled.whole(), {.num_steps = 3});
  CHECK(compiled.losses.empty());
}

TEST_CASE("A program evaluates without dropout, and its logits are read in closures") {
  program p;
  p.run(p.whole(), {.num_steps = 4});
  ml::trainer& t = p.model.trainer();
  p.model.eval();
  auto eval_step =
      cstorch::trace([&](const ml::batch& b) { return std::pair{p.model(b), p.model.logits()}; });
  auto compare = cstorch::step_closure([&](const auto& of, const ml::batch& b) {
    const std::vector<f32> logits = t.predict(b);
    CHECK(std::ranges::equal(of.second.values(), logits));
    CHECK(of.first.item() == t.evaluate(b));
  });
  cstorch::data_executor executor(p.loader, {.num_steps = 2});
  for (const auto& [number, batch] : executor) compare(eval_step(batch), batch);
  CHECK(t.steps() == 4);
}

TEST_CASE("A program goes on from its checkpoint to the same bits") {
  const files::folder here;
  const ml::checkpoints saved(here / "run");
  const auto train = [&](program& p, i64 steps, i64 every) {
    const cstorch::optim::lr_scheduler rates(p.optimizer, ml::rate::linear(1e-2, 0, 20));
    auto step = cstorch::trace([&](const ml::batch& b) {
      const auto loss = p.whole()(b);
      rates.step();
      return loss;
    });
    auto keep = cstorch::step_closure([&](const cstorch::tensor& loss) { p.losses.push_back(loss.item()); });
    auto save = cstorch::checkpoint_closure([&] { cstorch::save(saved, p.model, p.loader); });
    cstorch::data_executor executor(p.loader, {.num_steps = steps, .checkpoint_steps = every});
    for (const auto& [number, batch] : executor) keep(step(batch)), save();
  };
  program whole, first, second;
  train(whole, 12, 0), train(first, 7, 7);
  cstorch::load(saved.newest().value(), second.model, second.loader);
  train(second, 5, 0);
  CHECK(std::ranges::equal(second.losses, std::span(whole.losses).last(5)));
  CHECK_THROWS_WITH(cstorch::load(saved.newest().value(), second.model, second.loader),
                    Catch::Contains("load a checkpoint before the first step"));
  CHECK_THROWS_WITH(cstorch::save(saved, second.model, second.loader),
                    Catch::Contains("in a checkpoint closure"));
}

TEST_CASE("What is no step, or reads numbers where there are none, is refused with a remedy") {
  program p;
  const auto refuses = [&](auto f, const char* words) {
    program of;
    CHECK_THROWS_WITH(of.run([&](const ml::batch& b) { return f(of, b); }, {.num_steps = 3}),
                      Catch::Contains(words));
  };
  using program_ref = program&;
  refuses([](program_ref o, const ml::batch& b) { return o.model(b); },
          "makes no gradients of a model that trains");
  refuses(
      [](program_ref o, const ml::batch& b) {
        const auto loss = o.model(b);
        loss.backward();
        return loss;
      },
      "makes gradients that no optimizer takes");
  refuses(
      [](program_ref o, const ml::batch& b) {
        const auto loss = o.model(b);
        loss.backward(), o.optimizer.step();
        return loss;
      },
      "never calls optimizer.zero_grad()");
  refuses(
      [](program_ref o, const ml::batch& b) {
        const auto loss = o.model(b);
        o.optimizer.step();
        return loss;
      },
      "optimizer.step() has no gradients");
  refuses(
      [](program_ref o, const ml::batch& b) {
        const auto loss = o.model(b);
        loss.backward(), loss.backward();
        return loss;
      },
      "backward() twice");
  refuses(
      [](program_ref o, const ml::batch& b) {
        const auto loss = o.model(b);
        o.model(b);
        return loss;
      },
      "calls a model twice");
  refuses(
      [](program_ref o, const ml::batch& b) {
        const auto loss = o.model(b);
        loss.item();
        return loss;
      },
      "read them in a closure");
  refuses([](program_ref o, const ml::batch&) { return o.model.logits(); }, "call the model with one before");
  refuses(
      [](program_ref o, const ml::batch& b) {
        cstorch::clip_grad_norm(o.model, 1);
        return o.model(b);
      },
      "call loss.backward() before");
  refuses(
      [](program_ref o, const ml::batch& b) {
        o.model.trainer();
        return o.model(b);
      },
      "while a function is traced");
  refuses(
      [n = 0](program_ref o, const ml::batch& b) mutable {
        const auto loss = o.model(b);
        loss.backward();
        if (n++) cstorch::clip_grad_norm(o.model, 1);
        o.optimizer.step(), o.optimizer.zero_grad();
        return loss;
      },
      "does something else than in its first call");

  auto step = cstorch::trace(p.whole());
  auto show = cstorch::step_closure([](const cstorch::tensor&) {});
  const ml::loaded_batch one = digits().next();
  CHECK_THROWS_WITH(step(one.view()), Catch::Contains("in the loop of an executor"));
  CHECK_THROWS_WITH(show(cstorch::tensor(std::make_shared<cstorch::tensor_numbers>())),
                    Catch::Contains("in the loop of an executor"));
  CHECK_THROWS_WITH(p.model(one.view()), Catch::Contains("cstorch::trace"));
  CHECK_THROWS_WITH(p.optimizer.step(), Catch::Contains("cstorch::trace"));
  CHECK_THROWS_WITH(p.optimizer.zero_grad(), Catch::Contains("cstorch::trace"));
  CHECK_THROWS_WITH(p.model.trainer(), Catch::Contains("has not run yet"));
  CHECK_THROWS_WITH(cstorch::backend("GPU"), Catch::Contains("there is no backend GPU"));
  CHECK_THROWS_WITH(cstorch::optim::optimizer(p.model, ml::optimizer::sgd(), 1),
                    Catch::Contains("one optimizer"));
  CHECK_THROWS_WITH(cstorch::data_executor(p.loader, {.num_steps = 0}), Catch::Contains("at least 1"));
  CHECK_THROWS_WITH(
      cstorch::amp::optimizer_step(cstorch::tensor(nullptr), p.optimizer, cstorch::amp::grad_scaler(1.),
                                   {.max_gradient_norm = 1, .max_gradient_value = 1}),
      Catch::Contains("at most one is given"));

  std::vector<cstorch::tensor> kept;
  {
    cstorch::data_executor executor(p.loader, {.num_steps = 2});
    cstorch::data_executor other(p.loader, {.num_steps = 2});
    for (const auto& [number, batch] : executor) {
      kept.push_back(step(batch));
      CHECK_THROWS_WITH(kept.back().item(), Catch::Contains("read them in a closure"));
      CHECK_THROWS_WITH(other.begin(), Catch::Contains("while another does"));
    }
  }
  CHECK_THROWS_WITH(p.model.apply(cstorch::sparse::fixed({.sparsity = 0.5})),
                    Catch::Contains("make them sparse before"));
  CHECK_THROWS_WITH(p.run(p.whole(), {.num_steps = 1, .config = {.num_csx = 2}}),
                    Catch::Contains("the same num_csx"));
  p.model.eval();
  CHECK_THROWS_WITH(p.run(p.whole(), {.num_steps = 1}), Catch::Contains("of a model that evaluates"));
}
}  // namespace
