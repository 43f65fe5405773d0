// SPDX-License-Identifier: MIT
// More rows of workers than sequences: rows that share a sequence do what training in one place does, and the
// same bits on any number of threads.
#include <wsl/engine/reference.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/train/memory_need.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/ml/train/streaming/memory_server.hpp>
#include <wsl/ml/train/streaming/swarm.hpp>
#include <wsl/ml/train/streaming/worker.hpp>
#include <wsl/ml/train/trainer.hpp>

#include <random>

#include "compare.hpp"

namespace {
using namespace wsl;
using ml::optimizer;

struct text {
  int sequences, length;
  std::vector<i32> ids, targets;
  text(int s, int l, unsigned seed) : sequences(s), length(l) {
    std::mt19937 random(seed);
    for (int i = 0; i < s * l; ++i)
      ids.push_back(static_cast<i32>(random() % 23)), targets.push_back(static_cast<i32>(random() % 23));
  }
  ml::batch all() const { return {.ids = ids, .targets = targets, .sequences = sequences, .length = length}; }
};

ml::decoder learned() { return {.vocabulary = 23, .positions = 24, .layers = 2, .heads = 2, .width = 16}; }
ml::decoder rotary() {
  ml::decoder d = learned();
  d.heads = 4, d.kv_heads = 2, d.position = ml::positioning::rotary, d.norm = ml::normalization::rmsnorm;
  d.between = ml::nonlinearity::swiglu, d.tied = false;
  return d;
}
ml::decoder windowed() {
  ml::decoder d = rotary();
  d.window = 5;
  return d;
}
ml::decoder alibi() {
  ml::decoder d = learned();
  d.heads = 3, d.width = 24, d.position = ml::positioning::alibi, d.order = ml::block_order::parallel;
  return d;
}

/// What three steps and an evaluation give.
struct run {
  std::vector<f64> losses;
  std::vector<f32> logits;
  ml::weights w;
};
run run_of(const ml::decoder& d, const ml::batch& b, const ml::streaming_settings& how) {
  ml::trainer t(d.build(), optimizer::sgd(0.9f), how);
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

TEST_CASE("Rows that share sequences do what one worker does") {
  for (const ml::decoder& d : {learned(), rotary(), windowed(), alibi()})
    for (const int sequences : {1, 2, 3}) {
      const text t(sequences, 19, 3);
      const run alone = run_of(d, t.all(), on({}, {1, 1}));
      for (const grid& g : {grid{2, 1}, {3, 1}, {4, 2}, {8, 1}}) {
        INFO(g.rows << " x " << g.columns << " workers, " << sequences << " sequences");
        CHECK(largest_difference(alone, run_of(d, t.all(), on({}, g))) < 1e-5);
      }
    }
}

}  // namespace
