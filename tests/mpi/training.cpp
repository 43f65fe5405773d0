// SPDX-License-Identifier: MIT
// Wafers that train on several ranks learn what they learn in one process, bit by bit, though each rank has
// only its part of the data.
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/train/trainer.hpp>
#include <wsl/mpi.hpp>

#include <catch2/catch.hpp>

using namespace wsl;

namespace {

struct lesson {
  int sequences, length, vocabulary;
  std::vector<i32> ids, targets;

  lesson(int s, int l, int v) : sequences(s), length(l), vocabulary(v) {
    std::mt19937 random(5);
    const auto draw = [&] { return static_cast<i32>(random() % static_cast<unsigned>(v)); };
    for (int i = 0; i < s * l; ++i) ids.push_back(draw()), targets.push_back(draw());
  }
  /// With zeros for what the part does not need.
  lesson only(const ml::batch_part& p) const {
    lesson mine = *this;
    for (i64 i = 0; i < i64{sequences} * length; ++i)
      if (i < p.begin_in(sequences) * length || i >= p.end_in(sequences) * length)
        mine.ids[static_cast<std::size_t>(i)] = mine.targets[static_cast<std::size_t>(i)] = 0;
    return mine;
  }
  ml::batch all() const { return {.ids = ids, .targets = targets, .sequences = sequences, .length = length}; }
};

struct learned {
  std::vector<f64> losses;
  std::vector<f32> logits, numbers;
};

learned learn(ml::trainer& t, const lesson& whole) {
  const lesson mine = whole.only(t.part());
  learned all;
  for (int step = 0; step < 3; ++step) all.losses.push_back(t.step(mine.all(), 1e-2));
  all.losses.push_back(t.evaluate(mine.all()));
  all.logits = t.predict(mine.all());
  for (const ml::state_array& a : t.state())
    all.numbers.insert(all.numbers.end(), a.numbers.begin(), a.numbers.end());
  return all;
}

}  // namespace

TEST_CASE("wafers on ranks learn the same bits") {
  // as on several computers
  const mpi::spread_over world = mpi::world(), apart{mpi::ranks(world.who.group())};
  struct setting {
    int num_csx, workers;
    f64 clip;
    int micro_batch_size = 0, columns = 0;
    f64 zeros = 0;  // of sparse weights, whose pattern changes after each step
  };
  // In most of the last, rows of workers share sequences.
  for (const auto& [num_csx, workers, clip, micro, columns, zeros] : {setting{2, 2, 0.},
                                                                      {3, 1, 1.},
                                                                      {8, 1, 0.},
                                                                      {2, 2, 0., 1},
                                                                      {4, 1, 1., 1},
                                                                      {4, 3, 0., 0, 1},
                                                                      {4, 4, 0., 1, 2},
                                                                      {3, 2, 1., 0, 1, 0.8},
                                                                      {4, 4, 0., 1, 2, 0.8}}) {
    if (num_csx < world.size()) continue;
    INFO(num_csx << " wafers on " << world.size() << " ranks");
    const lesson text(num_csx * 2, 5, num_csx == 3 ? 40 : 600);  // of the larger tables only some rows travel
    const ml::decoder model{
        .vocabulary = text.vocabulary, .positions = 8, .layers = 1, .heads = 2, .width = 16};
    const ml::streaming_settings how{
        .workers = workers,
        .columns = columns,
        .num_csx = num_csx,
        .clip_norm = clip,
        .seed = 3,
        .threads = 1 + world.rank() % 3,
        .micro_batch_size = micro,
        .sparsity = zeros > 0 ? ml::sparsity::rigl({.sparsity = zeros}) : ml::sparsity_settings{}};
    ml::trainer alone(model.build(), ml::optimizer::adamw(), how),
        spread(model.build(), ml::optimizer::adamw(), how, num_csx == 8 ? apart : world);
    const learned expected = learn(alone, text), got = learn(spread, text);
    CHECK(got.losses == expected.losses);
    CHECK(got.logits == expected.logits);
    CHECK(got.numbers == (world.root() ? expected.numbers : std::vector<f32>{}));
    CHECK(alone.part().end == num_csx);
    CHECK(static_cast<int>(world.who.sum(static_cast<u64>(spread.part().end - spread.part().first))) ==
          num_csx);
  }
}

TEST_CASE("weights and gradients travel while wafers compute") {
  const mpi::spread_over world = mpi::world();
  if (world.size() == 1) return;
  const lesson text(world.size() * 2, 16, 100);
  const ml::decoder model{
      .vocabulary = text.vocabulary, .positions = 16, .layers = 2, .heads = 2, .width = 32};
  ml::trainer t(model.build(), ml::optimizer::sgd(), {.num_csx = world.size(), .threads = 2},
                mpi::spread_over{mpi::ranks(world.who.group())});
  const u64 before = mpi::detail::arrived, beside = mpi::detail::arrived_beside;
  t.step(text.only(t.part()).all(), 1e-2);
  const u64 came = mpi::detail::arrived - before, came_beside = mpi::detail::arrived_beside - beside;
  CAPTURE(came, came_beside);
  CHECK(came_beside > came * 3 / 4);
}

TEST_CASE("no rank is without a wafer") {
  const ml::decoder model{.vocabulary = 8, .positions = 8, .layers = 1, .heads = 2, .width = 16};
  const auto train_on_one = [&] { ml::trainer t(model.build(), ml::optimizer::sgd(), {}, mpi::world()); };
  if (mpi::world().size() == 1) CHECK_NOTHROW(train_on_one());
  else
    CHECK_THROWS_WITH(train_on_one(),
                      Catch::Contains("processes train on at least as many wafers, not on num_csx 1"));
}
