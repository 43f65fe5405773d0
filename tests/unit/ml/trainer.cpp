// SPDX-License-Identifier: MIT
#include <wsl/engine/reference.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/run/sample.hpp>
#include <wsl/ml/train/memory_need.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/report_text.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/ml/train/streaming/memory_server.hpp>
#include <wsl/ml/train/streaming/swarm.hpp>
#include <wsl/ml/train/streaming/worker.hpp>
#include <wsl/ml/train/trainer.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "compare.hpp"
#include "golden_gpt2.hpp"
#include "random_text.hpp"

namespace {
using namespace wsl;
using ml::optimizer;

ml::decoder small() {
  return {.vocabulary = 37,
          .positions = 12,
          .layers = 2,
          .heads = 2,
          .width = 16,
          .between = ml::nonlinearity::gelu_tanh};
}

ml::decoder llama(f32 dropout = 0) {
  return {.vocabulary = 17,
          .positions = 12,
          .layers = 2,
          .heads = 4,
          .width = 32,
          .filter = 48,
          .bias = false,
          .between = ml::nonlinearity::swiglu,
          .deviation = 0.05f,
          .kv_heads = 2,
          .norm = ml::normalization::rmsnorm,
          .position = ml::positioning::rotary,
          .tied = false,
          .dropout = dropout,
          .attention_dropout = dropout};
}

using text = test::random_text<37>;

/// Three steps in one place.
std::pair<std::vector<f64>, ml::weights> three_steps(const ml::network& n, ml::batch b, const optimizer& rule,
                                                     ml::precision as = ml::precision::f32) {
  ml::weights w(n, 7), velocity(n);
  const f64 counts = check(n, b);
  ml::activation_store at = store_of(n, b);
  at.format = as;
  std::vector<f64> losses;
  for (int step = 1; step <= 3; ++step) {
    ml::weights d(n);
    losses.push_back(serial_forward(n, w, at) / counts);
    serial_backward(n, w, d, at);
    for (std::size_t k = 0; k < w.size(); ++k)
      ml::update(rule.rule, {w[k].data(), d[k].data(), {velocity[k].data()}, static_cast<int>(w[k].size())},
                 {.rate = 0.1f, .number = step});
  }
  return {losses, w};
}
template <class Model>
void check_wafers_of_any_height(const Model& model, const ml::batch& b, std::initializer_list<int> heights) {
  const optimizer rule = optimizer::sgd({.momentum = 0.9f});
  const auto [losses, w] = three_steps(model.build(), b, rule);
  for (int workers : heights) {
    INFO(workers << " workers");
    ml::trainer trained(model.build(), rule, {.workers = workers, .seed = 7});
    for (f64 loss : losses) CHECK(trained.step(b, 0.1) == Approx(loss).epsilon(1e-5));
    CHECK(compare::distance(trained.parameters(), w) < 1e-5);
  }
}

TEST_CASE("Training on a wafer of any height does what training in one place does") {
  const text t(5, 9, 1);
  check_wafers_of_any_height(small(), t.all(), {1, 2, 3, 5, 7});
}

TEST_CASE("Training on wafers of rows and columns does what training in one place does") {
  const text t(5, 9, 1);
  ml::decoder rotary{.vocabulary = 37,
                     .positions = 12,
                     .layers = 2,
                     .heads = 8,
                     .width = 32,
                     .between = ml::nonlinearity::swiglu,
                     .kv_heads = 4,
                     .norm = ml::normalization::rmsnorm,
                     .position = ml::positioning::rotary,
                     .tied = false};
  ml::decoder parallel{.vocabulary = 37,
                       .positions = 12,
                       .layers = 1,
                       .heads = 4,
                       .width = 16,
                       .position = ml::positioning::alibi,
                       .order = ml::block_order::parallel};
  struct grid {
    int rows, columns, wafers;
  };
  for (const ml::decoder& model : {small(), rotary, parallel}) {
    const optimizer rule = optimizer::sgd({.momentum = 0.9f});
    const auto [losses, w] = three_steps(model.build(), t.all(), rule);
    for (const grid& g :
         {grid{1, 2, 1}, {2, 2, 1}, {3, 2, 1}, {1, 3, 1}, {2, 4, 1}, {1, 11, 1}, {1, 2, 5}, {2, 2, 5}}) {
      INFO(g.rows << " x " << g.columns << " workers on " << g.wafers << " wafers");
      ml::trainer trained(
          model.build(), rule,
          {.workers = g.rows * g.columns, .columns = g.columns, .num_csx = g.wafers, .seed = 7});
      for (f64 loss : losses) CHECK(trained.step(t.all(), 0.1) == Approx(loss).epsilon(1e-5));
      CHECK(compare::distance(trained.parameters(), w) < 1e-5);
    }
  }
}

TEST_CASE("A chosen grid has no more workers than cores, and more columns where sequences are few") {
  const ml::network n =
      ml::decoder{.vocabulary = 5000, .positions = 64, .layers = 2, .heads = 16, .width = 512}.build();
  const auto grid = [&](int sequences) {
    const ml::wafer_grid g = ml::choose_grid(n, {.cores = 16}, sequences, 64);
    CHECK(g.rows * g.columns <= 16);
    return g;
  };
  CHECK(grid(4).columns > 1);
  CHECK(grid(4).rows <= 4);
  CHECK(grid(1).columns > 1);
  CHECK(grid(64).columns <= grid(4).columns);
  CHECK(grid(4096).columns == 1);
  CHECK(ml::choose_grid(n, {.workers = 6, .columns = 3}, 5, 64) == ml::wafer_grid{2, 3, 1});
  // Micro-batches have the grid of batches of their size: of 4096 sequences 4 pass at a time.
  CHECK(ml::choose_grid(n, {.cores = 16, .micro_batch_size = 4}, 4096, 64) == grid(4));
  CHECK(ml::choose_grid(n, {.cores = 16, .num_csx = 2, .micro_batch_size = 4}, 4096, 64) ==
        ml::choose_grid(n, {.cores = 16, .num_csx = 2}, 8, 64));
}

TEST_CASE("Neither the number of threads nor a norm to wait for changes a bit") {
  const text t(6, 8, 2);
  for (int num_csx : {1, 3}) {
    const auto run = [&](int threads, f64 clip) {
      ml::trainer trained(
          small().build(), optimizer::adamw(),
          {.workers = 2, .num_csx = num_csx, .clip_norm = clip, .seed = 3, .threads = threads});
      for (int step = 0; step < 3; ++step) trained.step(t.all(), 1e-2);
      return ml::weights(trained.parameters());
    };
    ml::weights one = run(1, 0);
    for (int threads : {2, 3, 8}) {
      ml::weights other = run(threads, 0);
      CHECK(compare::distance(one, other) == 0);
    }
    ml::weights clipped = run(2, 1e9);
    CHECK(compare::distance(one, clipped) == 0);
  }
}

TEST_CASE("Several wafers do what one does") {
  const text t(16, 5, 1), four(12, 5, 2);
  for (int num_csx : {2, 3, 4, 7, 8, 16}) {
    INFO(num_csx << " wafers");
    const text& lesson = 16 % num_csx ? four : t;
    ml::trainer one(small().build(), optimizer::sgd({.momentum = 0.9f}), {.seed = 7}),
        several(small().build(), optimizer::sgd({.momentum = 0.9f}),
                {.workers = 1, .num_csx = num_csx, .seed = 7});
    if (num_csx == 7) {
      CHECK_THROWS_WITH(several.step(t.all(), 0.1),
                        "wsl: num_csx 7 requires the global batch size 16 to be divisible by num_csx");
      // nothing is divided where nothing is learned
      CHECK(several.evaluate(t.all()) == Approx(one.evaluate(t.all())).epsilon(1e-6));
      continue;
    }
    for (int step = 0; step < 2; ++step)
      CHECK(several.step(lesson.all(), 0.1) == Approx(one.step(lesson.all(), 0.1)).epsilon(1e-5));
    CHECK(compare::distance(several.parameters(), one.parameters()) < 1e-5);
    const std::vector<f32> a = one.predict(lesson.all()), b = several.predict(lesson.all());
    for (std::size_t k = 0; k < a.size(); k += 7) CHECK(b[k] == Approx(a[k]).margin(1e-4));
  }
  CHECK_THROWS_WITH(
      ml::trainer(small().build(), optimizer::sgd(), {.workers = 2, .columns = 2, .num_csx = 64}),
      "wsl: the trees of 64 wafers with 2 columns of workers need 12 colors, and there are 8: use "
      "fewer columns or wafers");
}

TEST_CASE("Of a table only the rows that a batch needs travel, and all of it learns") {
  // with a smaller epsilon Adam makes much of rounding
  for (const optimizer& rule : {optimizer::adam({.epsilon = 1e-3f}), optimizer::sgd({.momentum = 0.9f})})
    for (bool tied : {true, false}) {
      ml::decoder d = small();
      d.vocabulary = 400, d.positions = 64, d.tied = tied;
      ml::trainer one(d.build(), rule, {.workers = 1, .seed = 7}),
          clipped(d.build(), rule, {.workers = 3, .num_csx = 2, .clip_norm = 1e9, .seed = 7});
      ml::pipelined_trainer resident(d.build(), rule, {.strips = 2, .seed = 7});  // looks up in whole tables
      for (unsigned step = 0; step < 3; ++step) {
        text t(4, 9, step);
        for (i32& id : t.ids) id = id * id % 400;
        const f64 loss = resident.step(t.all(), 0.01);
        CHECK(one.step(t.all(), 0.01) == Approx(loss).epsilon(1e-5));
        CHECK(clipped.step(t.all(), 0.01) == Approx(loss).epsilon(1e-5));
      }
      CHECK(compare::distance(one.parameters(), resident.parameters()) < 1e-4);
      CHECK(compare::distance(clipped.parameters(), resident.parameters()) < 1e-4);
      const u64 all = 4 * static_cast<u64>(one.model().parameter_count());
      CHECK(one.report().returned < all - (tied ? 0 : 4 * 300 * 16));
    }
}

TEST_CASE("A factor of a parameter's learning rate does what a step at that rate does") {
  const text t(6, 8, 2);
  const std::vector<std::string> wide{"layer * qkv.weight", "layer 1 up.*"};
  for (const optimizer& rule : {optimizer::sgd({.momentum = 0.9f, .decay = 0.01f}), optimizer::adam(),
                                optimizer::adamw({.decay = 0.1f})}) {
    const auto after_step = [&](f32 factor, f64 rate, auto how) {
      ml::network n = small().build();
      // of two layers the qkv, of one the weight and the bias of what follows
      CHECK(n.scale_rates(wide, factor) == 4);
      using trainer = std::conditional_t<std::is_same_v<decltype(how), ml::streaming_settings>, ml::trainer,
                                         ml::pipelined_trainer>;
      trainer trained(std::move(n), rule, how);
      trained.step(t.all(), rate);
      return ml::weights(trained.parameters());
    };
    const ml::network n = small().build();
    const auto check = [&](auto how) {
      const ml::weights scaled = after_step(0.25f, 1e-2, how), quarter = after_step(1, 0.25e-2, how),
                        whole = after_step(1, 1e-2, how);
      for (std::size_t k = 0; k < scaled.size(); ++k) {
        INFO(n.parameters()[k].name);
        const bool is_wide = n.parameters()[k].name.ends_with("qkv.weight") ||
                             n.parameters()[k].name.starts_with("layer 1 up.");
        CHECK(scaled[k] == (is_wide ? quarter : whole)[k]);
        CHECK((quarter[k] != whole[k] || n.parameters()[k].name.ends_with("qkv.bias")));
      }
    };
    check(ml::streaming_settings{.seed = 7});
    check(ml::streaming_settings{.num_csx = 2, .clip_norm = 0.5, .seed = 7});
    check(ml::pipeline_settings{.strips = 2, .seed = 7});
  }
  ml::network n = small().build();
  CHECK(n.scale_rates({"head*", "embedding.*", "embedding.tokens"}, 0) == 2);
  CHECK_THROWS_WITH(n.scale_rates({"*tokens"}, 0.5f),
                    "wsl: the learning rate of embedding.tokens has two factors, 0 and 0.5");
  CHECK_THROWS_WITH(n.scale_rates({"layer 2 *"}, 0.5f),
                    "wsl: a factor of the learning rate is for no parameter: none is called layer 2 *; the "
                    "first is embedding.tokens");
  CHECK_THROWS_WITH(n.scale_rates({"layer 1 *"}, -1),
                    "wsl: a factor of a learning rate is a number of at least 0, not -1");
}

/// The entries that a printed report has in a column of the rows that are phases, and in that of the step.
std::pair<f64, f64> sum_and_step(const std::string& printed, int column) {
  std::istringstream lines(printed);
  std::string line;
  f64 sum = 0;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const bool is_step = line.starts_with("step ");
    std::istringstream words(line.substr(26));
    f64 x[3];
    std::string percent;
    REQUIRE(words >> x[0] >> x[1] >> percent >> x[2]);
    if (is_step) return {sum, x[column]};
    sum += x[column];
  }
  FAIL("no step in " << printed);
  return {};
}

TEST_CASE("A stopwatch leaves no time out and counts none twice") {
  const auto start = ml::wall_clock::now();
  const auto at = [&](int ms) { return start + std::chrono::milliseconds(ms); };
  ml::step_report r;
  ml::stopwatch watch(r, start);
  watch.phase("forward", 1, at(30));
  watch.phase("backward", 2, at(20));  // was ready before the one before it had ended
  watch.phase("update", 3, at(100));
  CHECK(r.seconds == Approx(0.1));
  CHECK(r.phases[0].seconds == Approx(0.03));
  CHECK(r.phases[1].seconds == 0);
  CHECK(r.phases[2].seconds == Approx(0.07));
  CHECK(sum_and_step(ml::to_text(r), 0) == std::pair(100., 100.));
  CHECK(sum_and_step(ml::to_text(r), 1) == std::pair(100., 100.));
  CHECK(sum_and_step(ml::to_text(r), 2) == std::pair(6000., 6000.));
  r.phases.erase(r.phases.begin());
  // a table whose rows do not sum to the step says so
  CHECK(sum_and_step(ml::to_text(r), 0) == std::pair(70., 100.));
}

TEST_CASE("A step's report: its rows sum to the step, its bytes are those of the fabric's counters") {
  const text t(6, 8, 2);
  for (auto [num_csx, workers, clip] : {std::tuple{1, 1, 0.}, {1, 3, 1.}, {3, 2, 0.}}) {
    ml::trainer trained(small().build(), optimizer::adam(),
                        {.workers = workers, .num_csx = num_csx, .clip_norm = clip});
    const auto start = ml::wall_clock::now();
    trained.step(t.all(), 1e-3);
    const f64 all = std::chrono::duration<f64>(ml::wall_clock::now() - start).count();
    const ml::step_report& r = trained.report();
    CHECK(r.phases.size() == (clip > 0 ? 4 : 3));
    for (const auto& p : r.phases) CHECK((p.seconds >= 0 && p.work >= 0));
    f64 sum = 0, work = 0;
    for (const auto& p : r.phases) sum += p.seconds, work += p.work;
    CHECK(sum == Approx(r.seconds).epsilon(1e-9));
    CHECK((r.seconds > 0 && r.seconds <= all));
    CHECK(work > 0);
    u64 numbers = 0, weights_and_gains = 0, tied = 0, looked_up = 0;
    const std::set<i32> seen(t.ids.begin(), t.ids.end());
    for (const ml::parameter& p : trained.model().parameters()) {
      const u64 size = static_cast<u64>(p.size());
      if (p.name == "embedding.tokens")
        tied = size, looked_up += static_cast<u64>(p.columns) * (seen.size() < 37 / 2 ? seen.size() : 37);
      else if (p.name == "embedding.positions") looked_up += size;  // 8 of 12 rows: more than half
      else numbers += size, weights_and_gains += p.name.ends_with(".bias") ? 0 : size;
    }
    CHECK(r.sent_forward == 4 * (numbers + tied + looked_up));
    // what the way back does not look at stays away
    CHECK(r.sent_backward == 4 * (weights_and_gains + tied));
    CHECK(r.returned == 4 * (numbers + tied + looked_up));
    const u64 gradients = static_cast<u64>(num_csx * workers + num_csx - 1) * r.returned;
    CHECK(4 * r.counters.wavelets == r.sent_forward + r.sent_backward + gradients);
    CHECK((r.peak_weights > 0 && r.peak_weights <= r.largest_two_layers));
    CHECK(r.largest_two_layers < 4 * (numbers + tied));
    const std::string table = ml::to_text(r);
    CHECK(table.find("gradients in") != std::string::npos);
    for (const int column : {0, 1, 2}) {
      const auto [rows, step] = sum_and_step(table, column);
      // of numbers that are printed with one or three places
      CHECK(rows == Approx(step).margin(column == 1 ? 0.26 : 0.003));
    }
  }
}

/// Passes numbers on, and takes its time.
class slow_stage final : public ml::stage {
 public:
  void forward(ml::activation_store& store) const override {
    be_busy(4);
    const matrix<f32> x = store.value(inputs[0]), y = store.value(output);
    for (int t = 0; t < x.rows(); ++t) std::copy_n(&x(t, 0), x.columns(), &y(t, 0));
  }
  void backward(ml::activation_store& store) const override {
    be_busy(8);
    ml::add(store.gradient(inputs[0]), store.gradient(output));
  }

 private:
  static void be_busy(int milliseconds) {
    const auto until = ml::wall_clock::now() + std::chrono::milliseconds(milliseconds);
    while (ml::wall_clock::now() < until) {}
  }
};

TEST_CASE("A step's report: its layers sum to the step, and a slow one shows in its own row") {
  std::vector<f32> features(8 * 6, 0.5f);
  const std::vector<i32> targets(8, 1);
  const ml::batch all{.features = features, .targets = targets, .sequences = 8};
  for (auto [workers, columns, threads, clip] :
       {std::tuple{1, 1, 1, 0.}, {2, 1, 2, 0.}, {2, 2, 2, 1.}, {4, 2, 3, 0.}}) {
    INFO(workers << " workers, " << columns << " columns, " << threads << " threads");
    ml::network n;
    const int x = n.input("features", 6),
              hidden = n.linear("layer 0 in", x, 12, true, ml::initial::normal(1));
    const int slow = n.add("layer 0 slow", slow_stage{}, {hidden}, 12);
    n.cross_entropy("loss", n.linear("out", slow, 3, true, ml::initial::normal(1)));
    ml::trainer trained(std::move(n), optimizer::adam(),
                        {.workers = workers, .columns = columns, .clip_norm = clip, .threads = threads});
    CHECK(trained.report().layers.empty());
    for (int step = 0; step < 2; ++step) trained.step(all, 1e-3);
    trained.evaluate(all);
    const ml::step_report& r = trained.report();
    REQUIRE(r.layers.size() == 5);
    f64 sum = 0;
    for (const ml::layer_times& row : r.layers) {
      sum += row.all();
      for (const f64 part : {row.forward, row.backward, row.update, row.transfer, row.exchange, row.waiting})
        CHECK(part >= 0);
      if (&row == &r.layers.back()) continue;
      CHECK(row.forward > 0);
      CHECK((row.update > 0) == (row.name == "out" || row.name == "layer 0 in"));
    }
    CHECK(sum == Approx(r.seconds).epsilon(0.01));
    const ml::layer_times& it = r.layers[1];
    CHECK(it.name == "layer 0 slow");
    CHECK(it.forward * threads > 0.99 * 0.004 * workers);
    CHECK(it.backward * threads > 0.99 * 0.008 * workers);
    f64 exchange = 0, waiting = 0;
    for (const ml::layer_times& row : r.layers) exchange += row.exchange, waiting += row.waiting;
    CHECK((exchange > 0) == (columns > 1));
    CHECK(r.layers.back().name == "host");
    CHECK(waiting > 0);

    const std::vector<ml::layer_times> blocks = ml::by_block(r.layers);
    REQUIRE(blocks.size() == 4);
    CHECK(blocks[0].name == "layer 0");
    CHECK(blocks[0].all() == Approx(r.layers[0].all() + r.layers[1].all()));
    CHECK(blocks[1].name == "out");
    const std::string by_blocks = ml::to_text(r), by_layers = ml::to_text(r, true);
    CHECK(by_blocks.find("\nlayer 0  ") != std::string::npos);
    CHECK(by_layers.find("\nlayer 0 slow  ") != std::string::npos);
  }
}

TEST_CASE("A table of layers has a line for each and one for the step") {
  const std::vector<ml::layer_times> rows{{"layer 3.0 norm", 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3},
                                          {"layer 3.0 up", 0, 0, 0, 0, 0, 1e-3},
                                          {"a layer of no block whose name is long", 0, 0, 0, 0, 0, 3e-3}};
  CHECK(ml::to_text(ml::by_block(rows)) ==
        "layer, ms                                forward  backward    update  transfer  exchange   waiting"
        "       all   of step\n"
        "layer 3.0                                  1.000     2.000     3.000     4.000     5.000     7.000"
        "    22.000    88.0 %\n"
        "a layer of no block whose name is long     0.000     0.000     0.000     0.000     0.000     3.000"
        "     3.000    12.0 %\n"
        "step                                       1.000     2.000     3.000     4.000     5.000    10.000"
        "    25.000   100.0 %\n");
}

// One step of a trainer, with so many sequences on each wafer, on a fabric of any engine.
template <class Engine>
ml::weights after_one_step(const Engine& engine, const ml::wafer_grid& grid, int sequences = 3,
                           ml::precision as = ml::precision::f32) {
  const text t(sequences * grid.wafers, 7, 2);
  const ml::network n = small().build();
  const ml::column_cut cut(n, grid.columns);
  std::vector<ml::streaming_schedule> schedules;
  for (int column = 0; column < grid.columns; ++column)
    schedules.emplace_back(n, cut, column, grid.rows, true);
  ml::training_arrays arrays(n, optimizer::sgd(), 5);
  ml::batch b = t.all();
  b.weight = 1 / static_cast<f32>(7 * sequences);
  fabric f(ml::trainer::plan(grid), engine);
  const area ports = rows(0, edge, 2);
  f.start<&ml::memory_server::step>(ports.columns(0, grid.columns), &schedules, grid, &arrays,
                                    ml::optimizer_step{.rate = 0.5f}, as);
  if (grid.wafers > 1) f.start<&ml::swarm_node::step>(ports.columns(grid.columns, edge), &schedules, grid);
  f.start<&ml::worker::step>(rows(1, edge, 2), ml::streaming_step{&n, &cut, &schedules, grid, b, {}, as});
  f.run();
  return arrays.parameters;
}

TEST_CASE("The reference engine trains to the same bits, and no order of the words changes one") {
  using ml::precision::bfloat16;
  for (const auto& [grid, sequences] : {std::pair{ml::wafer_grid{1, 1, 1}, 3},
                                        {{3, 1, 1}, 3},
                                        {{1, 1, 5}, 3},
                                        {{2, 1, 3}, 3},
                                        {{1, 2, 1}, 3},
                                        {{3, 2, 1}, 3},
                                        {{2, 2, 3}, 3},
                                        {{4, 1, 1}, 1},
                                        {{5, 1, 1}, 3},
                                        {{4, 2, 2}, 2}}) {
    INFO(grid.rows << " x " << grid.columns << " workers on " << grid.wafers << " wafers, " << sequences
                   << " sequences on each");
    ml::weights usual = after_one_step(threaded{}, grid, sequences),
                slow = after_one_step(reference{}, grid, sequences);
    CHECK(compare::distance(usual, slow) == 0);
    ml::weights half = after_one_step(threaded{}, grid, sequences, bfloat16),
                slow_half = after_one_step(reference{}, grid, sequences, bfloat16);
    CHECK(compare::distance(half, slow_half) == 0);
    CHECK(compare::distance(half, usual) > 0);
    for (unsigned seed : {1u, 2u, 3u}) {
      const threaded in_any_order{.order = schedule::shuffled{seed}, .pes_per_partition = 1};
      ml::weights shuffled = after_one_step(in_any_order, grid, sequences);
      CHECK(compare::distance(usual, shuffled) == 0);
    }
  }
}

/// The largest difference of two runs of three steps with Adam: of losses, and of weights and averages.
struct difference {
  f64 losses = 0, weights = 0;
};
difference of_runs(const ml::decoder& model, const text& t, std::span<const f32> mask,
                   ml::streaming_settings how, int micro_batch_size) {
  const optimizer rule = optimizer::adamw({.epsilon = 1e-3f}).with_average({.decay = 0.5f});
  how.seed = 3;
  ml::trainer whole(model.build(), rule, how);
  how.micro_batch_size = micro_batch_size;
  ml::trainer divided(model.build(), rule, how);
  ml::batch b = t.all();
  b.mask = mask;
  difference d;
  const auto differ = [&](f64 x, f64 y) { d.losses = std::max(d.losses, std::abs(x - y)); };
  for (int step = 0; step < 3; ++step) {
    differ(whole.step(b, 1e-2), divided.step(b, 1e-2));
    differ(whole.losses().at(0).mean, divided.losses().at(0).mean);
  }
  const std::vector<f32> x = whole.predict(b), y = divided.predict(b);
  for (std::size_t i = 0; i < x.size(); ++i) differ(static_cast<f64>(x[i]), static_cast<f64>(y[i]));
  const i64 classes = model.vocabulary;
  std::size_t came = 0;
  differ(whole.evaluate(b), divided.evaluate(b, [&](i64 first, std::span<const f32> logits) {
    CHECK(std::equal(logits.begin(), logits.end(), y.begin() + first * classes));
    came += logits.size();
  }));
  CHECK(came == y.size());
  d.weights = compare::distance(whole.parameters(), divided.parameters());
  whole.with_average([&] {
    divided.with_average([&] {
      d.weights = std::max(d.weights, compare::distance(whole.parameters(), divided.parameters()));
    });
  });
  return d;
}

TEST_CASE("A step in micro-batches is the step of the whole batch") {
  ml::decoder model = small();
  model.dropout = model.attention_dropout = 0.2f;
  std::vector<f32> mask;
  const text t(12, 8, 2);
  // The sequences of a micro-batch count differently, and two of them not at all.
  for (int i = 0; i < 96; ++i) mask.push_back(i < 16 ? 0 : 0.25f * static_cast<f32>(i % 5));
  struct setting {
    ml::streaming_settings how;
    int size;
  };
  for (const setting& s : {setting{{.workers = 1}, 1},
                           {{.workers = 2}, 4},
                           {{.workers = 3}, 5},
                           {{.workers = 2, .columns = 2}, 3},
                           {{.workers = 4, .columns = 2}, 4},
                           {{.workers = 1, .num_csx = 3}, 2},
                           {{.workers = 2, .columns = 2, .num_csx = 2}, 1},
                           {{.workers = 2, .clip_norm = 0.1}, 4},
                           {{.workers = 2, .clip_value = 0.01}, 5}}) {
    INFO("micro-batches of " << s.size << ", " << s.how.workers << " workers in " << s.how.columns
                             << " columns, num_csx " << s.how.num_csx);
    const difference d = of_runs(model, t, mask, s.how, s.size);
    CHECK(d.losses < 1e-4);
    CHECK(d.weights < 1e-4);
  }
}

TEST_CASE("Micro-batches that hold the whole batch change no bit, and smaller ones take less memory") {
  const text t(12, 8, 2);
  const difference d = of_runs(small(), t, {}, {.workers = 2}, 12);
  CHECK((d.losses == 0 && d.weights == 0));
  const auto report_of = [&](int size) {
    ml::trainer trained(small().build(), optimizer::sgd(), {.workers = 2, .micro_batch_size = size});
    trained.step(t.all(), 1e-2);
    return trained.report();
  };
  const ml::step_report whole = report_of(0), divided = report_of(3);
  CHECK((whole.micro_batches == 1 && divided.micro_batches == 4));
  CHECK(4 * divided.activations == whole.activations);
  // All gradients come with each micro-batch, but for those of words that it does not have.
  CHECK((divided.returned > 3 * whole.returned && divided.returned <= 4 * whole.returned));
  CHECK(4 * divided.counters.wavelets == divided.sent_forward + divided.sent_backward + 2 * divided.returned);
  f64 phases = 0;
  for (const ml::step_report::phase& p : divided.phases) phases += p.seconds;
  CHECK(phases == Approx(divided.seconds));
  CHECK(ml::to_text(divided).find("micro-batches                      4\n") != std::string::npos);
}

TEST_CASE("The memory of a step is known before it") {
  ml::decoder wide = small();
  wide.positions = 40, wide.width = 64, wide.heads = 4;
  const text t(12, 40, 2), shared(2, 40, 3);
  constexpr ml::sequence perceptron{ml::linear<40, 30>{}, ml::elementwise<ml::gelu>{}, ml::linear<30, 20>{}};
  compare::both x(12, 40, 1);
  const std::vector<i32> classes(12, 3);
  const auto check_activations = [&](const auto& model, const ml::batch& b, int workers, int columns) {
    ml::trainer trained(model.build(), optimizer::sgd(), {.workers = workers, .columns = columns});
    trained.step(b, 1e-2);
    const ml::network& n = trained.model();
    const ml::column_cut cut(n, columns);
    const f64 prefixes = ml::prefix_bytes(n, cut, {workers / columns, columns, 1}, b.sequences, b.length);
    const f64 wanted = b.sequences * ml::activation_bytes(n, cut, b.length) + prefixes;
    CHECK((prefixes > 0) == (b.length > 1 && b.sequences < workers / columns));
    INFO(workers << " workers in " << columns << " columns");
    // The numbers that norms and attention save are not counted.
    CHECK(wanted <= 1.001 * static_cast<f64>(trained.report().activations));
    CHECK(wanted >= 0.95 * static_cast<f64>(trained.report().activations));
    ml::trainer again(model.build(), optimizer::sgd(),
                      {.workers = workers, .columns = columns, .recompute = true});
    again.step(b, 1e-2);
    const f64 least = b.sequences * ml::activation_bytes(n, cut, b.length, true) + prefixes;
    CHECK(least <= wanted);
    CHECK(least >= 0.95 * static_cast<f64>(again.report().activations));
    CHECK(least <= 1.5 * static_cast<f64>(again.report().activations));
  };
  for (const int workers : {1, 2, 4})
    for (int columns = 1; columns <= workers; columns *= 2) {
      check_activations(wide, t.all(), workers, columns);
      check_activations(wide, shared.all(), 2 * workers, columns);
      check_activations(perceptron, {.features = x.single, .targets = classes, .sequences = 12}, workers,
                        columns);
    }
  const ml::network n = wide.build();
  CHECK(ml::state_bytes(n, optimizer::adam()) == 16 * static_cast<f64>(n.parameter_count()));
  CHECK(ml::state_bytes(n, optimizer::sgd()) == 8 * static_cast<f64>(n.parameter_count()));
  const f64 each = ml::activation_bytes(n, ml::column_cut(n, 1), 40);
  CHECK(ml::micro_batch_that_fits(n, {2, 1, 1}, 120, 40, 7.5 * each) == 6);
  CHECK(ml::micro_batch_that_fits(n, {2, 1, 2}, 120, 40, 7.5 * each) == 3);
  CHECK(ml::micro_batch_that_fits(n, {2, 1, 1}, 120, 40, 1e9 * each) == 120);
  CHECK(ml::micro_batch_that_fits(n, {2, 1, 1}, 120, 40, 0) == 1);
  // Adam: two passes over the weights, then weights and two moments; with micro-batches the gradients as
  // well.
  const f64 weights = 4 * static_cast<f64>(n.parameter_count());
  const ml::state_traffic once = ml::traffic_of_step(n, optimizer::adam(), {}, 12),
                          thrice = ml::traffic_of_step(n, optimizer::adam(), {.micro_batch_size = 4}, 12);
  CHECK((once.read == 5 * weights && once.written == 3 * weights));
  CHECK((thrice.read == 13 * weights && thrice.written == 7 * weights));
}

TEST_CASE("Activations that are computed again change no bit and take less memory") {
  ml::decoder model = small();
  model.layers = 6, model.dropout = model.attention_dropout = 0.2f;
  ml::decoder side_by_side = llama(0.2f);
  side_by_side.vocabulary = 37, side_by_side.order = ml::block_order::parallel_two_norms;
  const text t(12, 8, 2);
  for (const ml::decoder& d : {model, side_by_side})
    for (ml::streaming_settings how : {ml::streaming_settings{.workers = 1},
                                       {.workers = 2, .clip_norm = 0.1},
                                       {.workers = 2, .columns = 2},
                                       {.workers = 4, .columns = 2, .num_csx = 2},
                                       {.workers = 2, .micro_batch_size = 5}}) {
      INFO(how.workers << " workers in " << how.columns << " columns");
      how.seed = 3;
      ml::trainer kept(d.build(), optimizer::adamw(), how);
      how.recompute = true;
      ml::trainer again(d.build(), optimizer::adamw(), how);
      for (int step = 0; step < 3; ++step) CHECK(kept.step(t.all(), 1e-2) == again.step(t.all(), 1e-2));
      CHECK(kept.evaluate(t.all()) == again.evaluate(t.all()));
      CHECK(kept.predict(t.all()) == again.predict(t.all()));
      CHECK(compare::distance(kept.parameters(), again.parameters()) == 0);
      const ml::step_report &a = kept.report(), &b = again.report();
      CHECK(10 * b.activations < 6 * a.activations);
      // Of the weights, those of all blocks but the last come once more.
      CHECK(b.sent_forward == a.sent_forward);
      CHECK((b.sent_backward > a.sent_backward && b.sent_backward < a.sent_backward + a.sent_forward));
      CHECK(b.returned == a.returned);
    }
}

TEST_CASE("Blocks that are computed again are cut where few numbers cross, and hold every value once") {
  ml::decoder d = small();
  d.layers = 8;
  const ml::network n = d.build();
  const ml::recomputation blocks(n, true);
  CHECK(blocks.blocks().size() > 3);
  int stages = 0;
  std::set<int> inner;
  for (const ml::recomputed_block& b : blocks.blocks()) {
    CHECK((b.begin == stages && b.end > b.begin));
    stages = b.end;
    for (const int v : b.inner) CHECK(inner.insert(v).second);
  }
  CHECK(stages == static_cast<int>(n.stages().size()));
  for (const auto& s : n.stages()) CHECK(blocks.keeps(s->output) == !inner.contains(s->output));
  // Between two blocks only the sum of the residual is kept, 16 numbers of a token.
  int kept = 0;
  for (const auto& s : n.stages()) kept += blocks.keeps(s->output);
  CHECK(kept == static_cast<int>(blocks.blocks().size()) - 1);
  CHECK(ml::recomputation(n, false).blocks().size() == 1);
  // Where nothing can be saved, nothing is computed again.
  constexpr ml::sequence one{ml::linear<4, 3>{}};
  CHECK(ml::recomputation(one.build(), true).blocks().size() == 1);
}

TEST_CASE("With activations that are computed again, too, a loss that is not finite is explained") {
  constexpr ml::sequence model{
      ml::linear<4, 64>{},  ml::elementwise<ml::gelu>{}, ml::linear<64, 64>{}, ml::elementwise<ml::gelu>{},
      ml::linear<64, 64>{}, ml::elementwise<ml::gelu>{}, ml::linear<64, 3>{}};
  compare::both x(6, 4, 1);
  const std::vector<i32> classes{0, 1, 2, 0, 1, 2};
  ml::trainer t(model.build(), optimizer::adam(), {.workers = 2, .recompute = true});
  for (f32& w : t.parameter_named("linear 6.weight")) w = std::numeric_limits<f32>::infinity();
  CHECK_THROWS_WITH(t.step({.features = x.single, .targets = classes, .sequences = 6}, 0.1),
                    Catch::Matchers::Contains("the first numbers that are not finite are those of linear 6"));
}

TEST_CASE("Tables of which each micro-batch reads other rows learn in micro-batches, too") {
  ml::decoder d = small();
  d.vocabulary = 400, d.positions = 64;
  text t(4, 9, 3);
  for (i32& id : t.ids) id = id * id % 400;
  for (const bool tied : {true, false}) {
    d.tied = tied;
    const difference all = of_runs(d, t, {}, {.workers = 3, .num_csx = 2}, 1);
    CHECK((all.losses < 1e-4 && all.weights < 1e-4));
  }
}

TEST_CASE("A micro-batch whose loss is not finite leaves everything as it was") {
  constexpr ml::sequence model{ml::linear<4, 8>{}, ml::elementwise<ml::gelu>{}, ml::linear<8, 3>{}};
  compare::both x(6, 4, 1);
  const std::vector<i32> classes{0, 1, 2, 0, 1, 2};
  for (const f64 clip : {0., 1.})
    for (const std::size_t bad : {std::size_t{1}, std::size_t{21}}) {
      ml::trainer t(model.build(), optimizer::adam(),
                    {.workers = 2, .clip_norm = clip, .micro_batch_size = 2});
      std::vector<f32> features = x.single;
      const auto batch = [&] { return ml::batch{.features = features, .targets = classes, .sequences = 6}; };
      t.step(batch(), 0.1);
      std::vector<std::vector<f32>> before;
      for (const ml::state_array& a : t.state()) before.emplace_back(a.numbers.begin(), a.numbers.end());
      features[bad] = std::numeric_limits<f32>::quiet_NaN();
      CHECK_THROWS_WITH(t.step(batch(), 0.1), Catch::Matchers::Contains("the features of the batch"));
      CHECK(t.steps() == 1);
      std::size_t k = 0;
      for (const ml::state_array& a : t.state())
        CHECK(std::equal(a.numbers.begin(), a.numbers.end(), before[k++].begin()));
      features = x.single;
      ml::trainer other(model.build(), optimizer::adam(),
                        {.workers = 2, .clip_norm = clip, .micro_batch_size = 2});
      other.step(batch(), 0.1);
      CHECK(t.step(batch(), 0.1) == other.step(batch(), 0.1));  // no gradient of the bad step is left
    }
}

TEST_CASE("Of micro-batches that cannot be, and of logits that a step does not keep") {
  CHECK_THROWS_WITH(ml::trainer(small().build(), optimizer::sgd(), {.micro_batch_size = -2}),
                    "wsl: a micro-batch has at least 1 sequence on each wafer, not -2; micro_batch_size 0 "
                    "takes the whole batch at once");
  const text t(4, 8, 2);
  ml::trainer trained(small().build(), optimizer::sgd(), {.workers = 1, .micro_batch_size = 1});
  trained.step(t.all(), 1e-2);
  CHECK_THROWS_WITH(
      trained.logits(),
      "wsl: the last batch had 4 micro-batches, whose logits are not kept: predict the batch, or "
      "evaluate it with a function that takes them");
}

TEST_CASE("A run goes on from its state as if it had not stopped") {
  for (const optimizer& rule : {optimizer::sgd({.momentum = 0.9f}), optimizer::adamw()}) {
    ml::trainer whole(small().build(), rule, {.workers = 2, .clip_norm = 1, .seed = 3}),
        later(small().build(), rule, {.workers = 2, .clip_norm = 1, .seed = 4});
    const auto steps = [](ml::trainer& t, int from, int to) {
      for (int step = from; step < to; ++step) t.step(text(4, 8, static_cast<unsigned>(step)).all(), 1e-2);
    };
    steps(whole, 0, 3);
    std::map<std::string, std::vector<f32>> saved;
    for (const ml::state_array& x : whole.state()) {
      CHECK(x.numbers.size() == static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.columns));
      saved[x.name].assign(x.numbers.begin(), x.numbers.end());
    }
    const ml::training_position at = whole.position();
    steps(whole, 3, 6);
    for (const ml::state_array& x : later.state())
      std::copy(saved.at(x.name).begin(), saved.at(x.name).end(), x.numbers.begin());
    later.resume(at);
    CHECK(later.steps() == 3);
    steps(later, 3, 6);
    CHECK(later.position() == whole.position());
    const auto a = whole.state(), b = later.state();
    CHECK(a.size() == (rule.name() == "sgd" ? 2 : 3) * whole.model().parameters().size());
    for (std::size_t k = 0; k < a.size(); ++k)
      CHECK(std::equal(a[k].numbers.begin(), a[k].numbers.end(), b[k].numbers.begin(), b[k].numbers.end()));
  }
  ml::trainer t(small().build(), optimizer::adam());
  CHECK(t.parameter_named("layer 1 qkv.weight").size() == 3 * 16 * 16);
  CHECK_THROWS_WITH(t.parameter_named("layer 2 qkv.weight"),
                    "wsl: the model has no parameter layer 2 qkv.weight; its first is embedding.tokens");
  CHECK_THROWS_WITH(t.resume({.steps = -1}), "wsl: training resumes after 0 or more steps, not after -1");
}

TEST_CASE("A memory in files gives the same bits as one in memory") {
  char folder[] = "/tmp/wsl-test-XXXXXX";
  REQUIRE(mkdtemp(folder));
  const text t(4, 8, 2);
  const auto run = [&](const std::string& where) {
    ml::trainer trained(small().build(), optimizer::adamw(), {.clip_norm = 1, .memory_folder = where});
    for (int step = 0; step < 3; ++step) trained.step(t.all(), 1e-2);
    return ml::weights(trained.parameters());
  };
  CHECK(compare::distance(run(folder), run({})) == 0);
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
  CHECK_THROWS_WITH(run(folder), "wsl: a file for the memory cannot be made in " + std::string(folder) +
                                     ": No such file or directory: name a folder on a disk with room "
                                     "(memory_folder)");
  ml::trainer trained(small().build(), optimizer::sgd());
  ml::decoder other = small();
  other.vocabulary = 38;
  CHECK_THROWS_WITH(
      trained.parameters() = ml::weights(other.build()),
      "wsl: these weights are of another model: parameter 0, 'embedding.tokens', is 38 x 16 there, and "
      "here 37 x 16");
  ++other.layers;
  CHECK_THROWS_WITH(trained.parameters() = ml::weights(other.build()),
                    Catch::Matchers::Contains(" parameters, and this one has "));
}

TEST_CASE("Logits need no targets, and a token is drawn from them") {
  const text t(3, 6, 4);
  ml::trainer trained(small().build(), optimizer::sgd(), {.workers = 2});
  const std::vector<f32> without = trained.predict({.ids = t.ids, .sequences = 3, .length = 6});
  trained.evaluate(t.all());
  CHECK(without == trained.logits());
  CHECK(without.size() == 3 * 6 * 37);
  CHECK_THROWS_WITH(trained.predict({.ids = t.ids, .sequences = 2, .length = 6}),
                    "wsl: a batch of 2 sequences of 6 has 18 ids, not 12");

  const std::vector<f32> logits{0, std::log(2.f), -1e30f, std::log(5.f), std::log(2.f)};
  std::mt19937_64 random(1);
  const auto drawn = [&](const ml::sampling& how) {
    std::vector<f64> share(5);
    for (int i = 0; i < 20000; ++i)
      share[static_cast<std::size_t>(ml::sample_token(logits, how, random))] += 1 / 20000.;
    return share;
  };
  CHECK(ml::argmax(logits) == 3);
  CHECK(drawn({.temperature = 0})[3] == Approx(1));
  const std::vector<f64> all = drawn({}), hot = drawn({.temperature = 0.5}), best = drawn({.top_k = 2});
  for (std::size_t k = 0; k < 5; ++k) {
    const f64 p = std::vector<f64>{1, 2, 0, 5, 2}[k];
    CHECK(all[k] == Approx(p / 10).margin(0.015));
    CHECK(hot[k] == Approx(p * p / 34).margin(0.015));
  }
  // Of equal logits none is left out.
  CHECK((best[1] == Approx(2 / 9.).margin(0.015) && best[4] == Approx(2 / 9.).margin(0.015)));
  CHECK(best[3] == Approx(5 / 9.).margin(0.015));
  CHECK_THROWS_WITH(ml::sample_token({}, {}, random), "wsl: a token is drawn from at least one logit");
  CHECK_THROWS_WITH(ml::sample_token(logits, {.temperature = -1}, random),
                    "wsl: sampling: the temperature is 0, which takes the best token, or more, not -1");
}

TEST_CASE("Clipping bounds the change") {
  const text t(4, 8, 2);
  ml::trainer trained(small().build(), optimizer::sgd(), {.workers = 2, .clip_norm = 0.01, .seed = 3});
  ml::weights before = trained.parameters();
  trained.step(t.all(), 1);
  f64 norm = 0;
  for (std::size_t k = 0; k < before.size(); ++k)
    for (std::size_t i = 0; i < before[k].size(); ++i)
      norm += std::pow(static_cast<f64>(before[k][i]) - static_cast<f64>(trained.parameters()[k][i]), 2);
  CHECK(std::sqrt(norm) == Approx(0.01).epsilon(1e-3));
}

TEST_CASE("Clipping by value bounds every change, in both modes and with several gradients of a parameter") {
  const text t(4, 8, 2);
  ml::trainer free(small().build(), optimizer::sgd(), {.workers = 2, .seed = 3}),
      streamed(small().build(), optimizer::sgd(), {.workers = 2, .clip_value = 0.01, .seed = 3});
  ml::pipelined_trainer pipelined(small().build(), optimizer::sgd(),
                                  {.strips = 3, .clip_value = 0.01, .seed = 3});
  const ml::weights before = free.parameters();
  free.step(t.all(), 1), streamed.step(t.all(), 1), pipelined.step(t.all(), 1);
  std::size_t clipped = 0;
  for (std::size_t k = 0; k < before.size(); ++k)
    for (std::size_t i = 0; i < before[k].size(); ++i) {
      const f64 wanted =
          std::clamp(static_cast<f64>(free.parameters()[k][i]) - static_cast<f64>(before[k][i]), -0.01, 0.01);
      clipped += std::abs(wanted) == 0.01;
      for (ml::trainer_base* run :
           {static_cast<ml::trainer_base*>(&streamed), static_cast<ml::trainer_base*>(&pipelined)})
        REQUIRE(static_cast<f64>(run->parameters()[k][i]) - static_cast<f64>(before[k][i]) ==
                Approx(wanted).margin(1e-6));
    }
  CHECK(clipped > 50);
  CHECK_THROWS_WITH(ml::trainer(small().build(), optimizer::sgd(), {.clip_norm = 1, .clip_value = 1}),
                    "wsl: gradients are clipped by their norm or by their values, not by both");
  CHECK_THROWS_WITH(ml::pipelined_trainer(small().build(), optimizer::sgd(), {.clip_value = -1}),
                    "wsl: gradients are clipped by a positive norm or value, or by 0 for none, not by -1");
}

TEST_CASE("A mask leaves tokens out") {
  const text t(2, 6, 4);
  std::vector<f32> mask(12, 1);
  for (std::size_t i = 6; i < 12; ++i) mask[i] = 0;
  ml::batch b = t.all(), first = t.all();
  b.mask = mask;
  first.sequences = 1, first.ids = first.ids.first(6), first.targets = first.targets.first(6);
  ml::trainer trained(small().build(), optimizer::sgd(), {.workers = 2});
  CHECK(trained.evaluate(b) == Approx(trained.evaluate(first)).epsilon(1e-6));
  mask.assign(12, 0);
  CHECK_THROWS_WITH(trained.step(b, 1),
                    "wsl: no token of the batch counts: it is empty, or its mask is 0 everywhere");
}

TEST_CASE("The golden GPT-2 on grids of workers and on two wafers: logits, loss, gradients, and ten steps") {
  const auto g = golden::load();
  if (!g) {
    WARN("no golden GPT-2 in WSL_DATA_DIR");
    return;
  }
  for (const ml::wafer_grid& grid : {ml::wafer_grid{1, 1, 1},
                                     {1, 4, 1},
                                     {4, 1, 1},
                                     {2, 2, 1},
                                     {3, 2, 1},
                                     {9, 1, 1},
                                     {1, 1, 2},
                                     {2, 2, 2}}) {
    INFO(grid.rows << " x " << grid.columns << " workers, num_csx " << grid.wafers);
    const ml::streaming_settings how{
        .workers = grid.rows * grid.columns, .columns = grid.columns, .num_csx = grid.wafers};
    golden::check_trainer(*g,
                          [&](const optimizer& rule) { return ml::trainer(g->config.build(), rule, how); });
  }
}

text counting(int step) {
  text t(4, 12, 0);
  for (int i = 0; i < 48; ++i) {
    const int at = 5 * step + 3 * (i / 12) + i % 12;
    t.ids[static_cast<std::size_t>(i)] = at * at % 17,
    t.targets[static_cast<std::size_t>(i)] = (at + 1) * (at + 1) % 17;
  }
  return t;
}

TEST_CASE("A small Llama learns") {
  ml::trainer t(llama().build(), ml::optimizer::adamw({.beta2 = 0.95f}), {.workers = 2, .clip_norm = 1});
  const f64 before = t.evaluate(counting(1000).all());
  for (int step = 0; step < 60; ++step) t.step(counting(step).all(), 1e-2);
  CHECK(before > 2);
  // two numbers are equal squares: the first of a sequence cannot be told
  CHECK(t.evaluate(counting(1000).all()) < 0.3);
}

TEST_CASE("What is dropped depends on the seed and the step, not on workers, wafers or threads") {
  const auto losses = [](const ml::streaming_settings& how, f32 dropout) {
    ml::trainer t(llama(dropout).build(), ml::optimizer::sgd(), how);
    const f64 first = t.step(counting(0).all(), 0), second = t.step(counting(0).all(), 0);
    return std::tuple{first, second, t.evaluate(counting(0).all())};
  };
  const auto [first, second, without] = losses({.workers = 1}, 0.2f);
  CHECK(std::abs(first - second) > 1e-4);
  CHECK(std::abs(first - without) > 1e-4);
  CHECK(without == std::get<0>(losses({.workers = 1}, 0)));
  CHECK(std::abs(first - std::get<0>(losses({.workers = 1, .seed = 2}, 0.2f))) > 1e-4);
  for (const ml::streaming_settings& how :
       {ml::streaming_settings{.workers = 3}, ml::streaming_settings{.workers = 2, .num_csx = 2},
        ml::streaming_settings{.workers = 2, .threads = 1}}) {
    const auto [a, b, c] = losses(how, 0.2f);
    CHECK(a == Approx(first).epsilon(1e-6));
    CHECK(b == Approx(second).epsilon(1e-6));
    CHECK(c == Approx(without).epsilon(1e-6));
  }
}

TEST_CASE("A batch that does not fit is named") {
  ml::trainer trained(small().build(), optimizer::sgd());
  const text t(2, 6, 4);
  ml::batch b = t.all();
  b.sequences = 3;
  CHECK_THROWS_WITH(trained.step(b, 1), "wsl: a batch of 3 sequences of 6 has 12 targets, not 18");
  text wrong = t;
  wrong.ids[7] = 37;
  CHECK_THROWS_WITH(trained.step(wrong.all(), 1), "wsl: id 7 of the batch is 37, not one of 0 to 36");
  wrong = t;
  wrong.targets[3] = -1;
  CHECK_THROWS_WITH(trained.step(wrong.all(), 1), "wsl: target 3 of the batch is -1, not one of 0 to 36");
  constexpr ml::sequence of_features{ml::linear<2, 3>{}};
  const std::vector<i32> id{0};
  CHECK_THROWS_WITH(
      ml::trainer(of_features.build(), ml::optimizer::sgd())
          .step({.ids = id, .targets = id, .sequences = 1}, 1),
      "wsl: the batch has an id for each token, but the model has no embedding: give it features");
  CHECK_THROWS_WITH(trained.step(text(1, 13, 1).all(), 1),
                    "wsl: a sequence of 13 tokens is longer than the 12 positions of the model");
  CHECK(trained.step(t.all(), 0) > 0);  // and it goes on
  CHECK_THROWS_WITH(ml::trainer(small().build(), optimizer::sgd(), {.workers = 49, .columns = 1}),
                    "wsl: 49 x 1 workers need 49 colors for weights, and there are 48: use fewer rows");
  CHECK_THROWS_WITH(ml::trainer(small().build(), optimizer::sgd(), {.workers = 6, .columns = 4}),
                    "wsl: 6 workers are not divided by 4 columns: all columns of a wafer have as many");
}

}  // namespace
