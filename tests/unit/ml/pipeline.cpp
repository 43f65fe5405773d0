// SPDX-License-Identifier: MIT
#include <wsl/engine/reference.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/train/pipelined/worker.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/report_text.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"
#include "golden_gpt2.hpp"

namespace {
using namespace wsl;
using Catch::Contains;
using ml::optimizer;

struct lesson {
  std::vector<i32> ids, targets;
  std::vector<f32> features, mask;
  int sequences, length;
  ml::batch all() const {
    return {.ids = ids,
            .features = features,
            .targets = targets,
            .mask = mask,
            .sequences = sequences,
            .length = length};
  }
};
lesson text(int sequences, int length) {
  std::mt19937 random(3);
  lesson t{{}, {}, {}, {}, sequences, length};
  for (int i = 0; i < sequences * length; ++i)
    t.ids.push_back(static_cast<i32>(random() % 19)), t.targets.push_back(static_cast<i32>(random() % 19)),
        t.mask.push_back(i % 4 ? 1.f : 0.5f);
  return t;
}
lesson points(int count, int width) {
  compare::both x(count, width, 1);
  lesson t{{}, {}, x.single, {}, count, 1};
  for (int i = 0; i < count; ++i)
    t.targets.push_back(x.exact[static_cast<std::size_t>(i * width)] > 0 ? 1 : 0);
  return t;
}

ml::decoder tied() {
  return {.vocabulary = 19,
          .positions = 7,
          .layers = 2,
          .heads = 2,
          .width = 16,
          .deviation = 0.1f,
          .dropout = 0.1f};
}
ml::decoder untied() {
  return {.vocabulary = 19,
          .positions = 7,
          .layers = 1,
          .heads = 4,
          .width = 16,
          .bias = false,
          .between = ml::nonlinearity::swiglu,
          .deviation = 0.1f,
          .kv_heads = 2,
          .norm = ml::normalization::rmsnorm,
          .position = ml::positioning::rotary,
          .tied = false};
}
constexpr ml::sequence classifier{ml::linear<12, 70>{}, ml::elementwise<ml::relu>{}, ml::layer_norm<70>{},
                                  ml::linear<70, 40>{}, ml::elementwise<ml::gelu>{}, ml::dropout{0.1f},
                                  ml::rms_norm<40>{},   ml::linear<40, 2>{}};

void check_model(const std::function<ml::network()>& model, const lesson& l, f64 clip) {
  ml::trainer streamed(model(), optimizer::sgd({.momentum = 0.9f}), {.clip_norm = clip, .seed = 7});
  std::vector<f64> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(streamed.step(l.all(), 0.1));
  const f64 after = streamed.evaluate(l.all());
  for (auto [strips, size] : {std::pair{1, 0}, {2, 1}, {3, 2}, {5, 0}, {9, 3}, {64, 1}}) {
    INFO(strips << " strips");
    ml::pipelined_trainer t(model(), optimizer::sgd({.momentum = 0.9f}),
                            {.strips = strips, .micro_batch_size = size, .clip_norm = clip, .seed = 7});
    CHECK(t.layers().count() <= strips);
    for (f64 loss : losses) CHECK(t.step(l.all(), 0.1) == Approx(loss).epsilon(1e-5));
    CHECK(compare::distance(t.parameters(), streamed.parameters()) < 2e-5);
    CHECK(t.evaluate(l.all()) == Approx(after).epsilon(1e-5));
    const std::vector<f32> a = t.predict(l.all()), b = streamed.predict(l.all());
    CHECK(a == t.logits());
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); k += 5) CHECK(a[k] == Approx(b[k]).margin(1e-4));
  }
}

TEST_CASE("A pipeline of any number of strips does what weight streaming does") {
  check_model([] { return tied().build(); }, text(5, 7), 0);
  check_model([] { return untied().build(); }, text(4, 6), 0.5);
  check_model([] { return classifier.build(); }, points(37, 12), 0);
}

TEST_CASE("Replicas of a pipeline train one model, as one pipeline does with the whole batch") {
  const lesson l = text(6, 7);
  const auto train = [&](int strips, int replicas, int size, f64 clip, int threads) {
    ml::pipelined_trainer t(tied().build(), optimizer::sgd({.momentum = 0.9f}),
                            {.strips = strips,
                             .replicas = replicas,
                             .micro_batch_size = size,
                             .clip_norm = clip,
                             .seed = 7,
                             .threads = threads});
    std::pair<std::vector<f64>, ml::weights> after;
    for (int step = 0; step < 3; ++step) after.first.push_back(t.step(l.all(), 0.1));
    CHECK(t.losses().at(0).mean == Approx(after.first.back()).epsilon(1e-6));
    CHECK(t.report().strips.size() == static_cast<std::size_t>(replicas * t.layers().count()));
    after.second = ml::weights(t.parameters());
    return after;
  };
  for (f64 clip : {0., 0.5}) {
    auto [losses, weights] = train(3, 1, 1, clip, 0);
    for (auto [strips, replicas, size] : {std::tuple{1, 2, 0}, {3, 2, 1}, {4, 3, 2}, {2, 6, 1}}) {
      INFO(strips << " strips, " << replicas << " replicas");
      auto [other_losses, other] = train(strips, replicas, size, clip, 0);
      for (std::size_t k = 0; k < losses.size(); ++k)
        CHECK(other_losses[k] == Approx(losses[k]).epsilon(1e-5));
      CHECK(compare::distance(other, weights) < 1e-4);
      for (int threads : {1, 3}) {
        auto [same_losses, same] = train(strips, replicas, size, clip, threads);
        CHECK(same_losses == other_losses);
        CHECK(compare::distance(other, same) == 0);
      }
    }
  }
}

TEST_CASE("Replicas: what they refuse, and a step that is lost in one of them") {
  ml::pipelined_trainer t(classifier.build(), optimizer::adam(), {.strips = 2, .replicas = 3});
  lesson l = points(6, 12);
  t.step(l.all(), 1e-2);
  CHECK_THROWS_WITH(t.step(points(7, 12).all(), 1e-2),
                    "wsl: a batch of 7 sequences cannot be divided evenly among 3 replicas of the model");
  for (const auto& call :
       {std::function<void()>([&] { t.evaluate(l.all()); }), {[&] { t.predict(l.all()); }}})
    CHECK_THROWS_WITH(
        call(),
        "wsl: multi-replica is for training only, and this pipeline has 3 replicas: evaluate and "
        "predict with a trainer of one, which has been given the state");
  for (int replicas : {-1, 0, 65})
    CHECK_THROWS_WITH(ml::pipelined_trainer(classifier.build(), optimizer::adam(), {.replicas = replicas}),
                      Contains("wsl: a pipeline has 1 to 64 replicas, not " + std::to_string(replicas)));
  const ml::weights before(t.parameters());
  l.features[5 * 12] = std::numeric_limits<f32>::infinity();  // of the last replica
  CHECK_THROWS_WITH(t.step(l.all(), 1e-2),
                    Contains("wsl: in step 2 the loss is NaN") && Contains("the features of the batch"));
  CHECK(compare::distance(before, ml::weights(t.parameters())) == 0);
  CHECK(t.steps() == 1);
}

TEST_CASE("Strips: every number is somewhere once, and the work is shared out") {
  for (int count : {1, 2, 4, 7}) {
    const ml::network n = classifier.build();
    const ml::strips s(n, count);
    CHECK((s.count() == count || count == 7));  // of layers so small a part is much
    i64 numbers = 0;
    f64 all = 0, most = 0;
    for (int k = 0; k < s.count(); ++k) {
      for (const ml::stage_part& p : s[k].parts) numbers += p.which < 0 ? 0 : static_cast<i64>(p.size());
      all += s[k].work, most = std::max(most, s[k].work);
      CHECK((k == 0 ? s[k].west.values.empty() : !s[k].west.values.empty()));
    }
    CHECK(numbers == n.parameter_count());
    CHECK((most < 1.5 * all / count || count == 7));
  }
  const ml::network n = tied().build();
  const ml::strips s(n, 4);
  CHECK(s[0].east.borrowed == std::vector<std::size_t>{0});  // the table of tokens goes on to the head
  CHECK(s[s.count() - 1].west.borrowed == std::vector<std::size_t>{0});
  CHECK_THROWS_WITH(ml::strips(n, 0), "wsl: a pipeline has 1 to 64 strips, not 0");
  CHECK_THROWS_WITH(ml::pipelined_trainer(tied().build(), optimizer::sgd(), {.micro_batch_size = -1}),
                    "wsl: a micro-batch has at least one sequence, or 0 for a size that fits, not -1");
}

TEST_CASE("A pipeline's bits do not depend on threads, on the engine, or on a stop in between") {
  const lesson l = text(6, 7);
  const auto run = [&](int threads) {
    ml::pipelined_trainer t(tied().build(), optimizer::adamw(),
                            {.strips = 4, .micro_batch_size = 1, .clip_norm = 1, .threads = threads});
    for (int step = 0; step < 3; ++step) t.step(l.all(), 1e-2);
    return ml::weights(t.parameters());
  };
  ml::weights one = run(1);
  for (int threads : {2, 3, 8}) {
    ml::weights other = run(threads);
    CHECK(compare::distance(one, other) == 0);
  }
  ml::pipelined_trainer first(tied().build(), optimizer::adamw(),
                              {.strips = 4, .micro_batch_size = 1, .clip_norm = 1});
  first.step(l.all(), 1e-2);
  ml::pipelined_trainer second(tied().build(), optimizer::adamw(),
                               {.strips = 4, .micro_batch_size = 1, .clip_norm = 1, .seed = 9});
  const auto from = first.state(), to = second.state();
  for (std::size_t k = 0; k < from.size(); ++k)
    std::copy(from[k].numbers.begin(), from[k].numbers.end(), to[k].numbers.begin());
  second.resume(first.position());
  for (int step = 1; step < 3; ++step) second.step(l.all(), 1e-2);
  CHECK(compare::distance(one, second.parameters()) == 0);
}

TEST_CASE("The reference engine, and other orders of the words, train a pipeline to the same bits") {
  const lesson l = text(5, 7);
  const auto run = [&](const auto& engine) {
    const ml::network n = tied().build();
    const ml::strips s(n, 3);
    ml::training_arrays arrays(n, optimizer::sgd(), 5);
    ml::batch b = l.all();
    check(n, b);
    fabric f(ml::pipelined_trainer::plan(s.count()), engine);
    const std::vector<int> lengths = ml::lengths_of(n, b);
    ml::pipeline_step step{.of = &s,
                           .arrays = &arrays,
                           .sequences = b.sequences,
                           .lengths = &lengths,
                           .micro_batches = 3,
                           .optimize = {.rate = 0.5f},
                           .backward = true};
    const std::vector<ml::shortened_batch> parts = ml::parts_of(n, b, step, true);
    step.parts = &parts;
    f.launch<&ml::strip_worker::step>(all, step);
    return ml::weights(arrays.parameters);
  };
  ml::weights usual = run(threaded{}), slow = run(reference{});
  CHECK(compare::distance(usual, slow) == 0);
  for (unsigned seed : {1u, 2u, 3u}) {
    ml::weights shuffled = run(threaded{.order = schedule::shuffled{seed}, .pes_per_partition = 1});
    CHECK(compare::distance(usual, shuffled) == 0);
  }
}

TEST_CASE("A pipeline's report") {
  ml::pipelined_trainer t(classifier.build(), optimizer::adam(), {.strips = 3, .micro_batch_size = 4});
  t.step(points(32, 12).all(), 1e-3);
  const ml::pipeline_report& r = t.report();
  CHECK(r.strips.size() == 3);
  CHECK(r.micro_batches == 8);
  CHECK(r.ideal_utilisation() == Approx(0.8));
  CHECK(r.resident == 4 * static_cast<u64>(t.model().parameter_count()));
  f64 share = 0;
  for (const auto& s : r.strips) {
    share += s.share;
    CHECK((s.fill >= 0 && s.drain >= 0 && s.forward > 0 && s.backward > 0 && s.update > 0));
    CHECK(s.fill + s.work() + s.drain <= r.seconds * (1 + 1e-9));
  }
  CHECK(share == Approx(1));
  // Values go east and their gradients back, but for the input's.
  u64 words = 0;
  for (int k = 0; k + 1 < 3; ++k)
    for (int v : t.layers()[k].east.values)
      words += 32 * static_cast<u64>(t.model().width(v)) * (t.model().is_input(v) ? 1 : 2);
  CHECK(r.counters.wavelets == words);
  CHECK(ml::to_text(r).find("8 micro-batches") != std::string::npos);
}

TEST_CASE("The golden GPT-2 in a pipeline: logits, loss, gradients, and ten steps") {
  const auto g = golden::load();
  if (!g) {
    WARN("no golden GPT-2 in WSL_DATA_DIR");
    return;
  }
  for (int strips : {1, 4, 9}) {
    INFO(strips << " strips");
    golden::check_trainer(*g, [&](const optimizer& rule) {
      return ml::pipelined_trainer(g->config.build(), rule, {.strips = strips});
    });
  }
}

}  // namespace
