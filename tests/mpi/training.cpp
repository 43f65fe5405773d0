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

TEST_CASE("the memory, the nodes and the wafers are on ranks of their own") {
  const mpi::spread_over world = mpi::world();
  struct setting {
    const char* roles;
    int num_csx, workers, columns = 1, micro_batch_size = 0;
    f64 clip = 0, zeros = 0;
  };
  for (const setting& s : {setting{"memoryx,wafer", 1, 2},
                           {"wafer,memoryx", 3, 2, 2, 1, 1.},
                           {"wafer,wafer", 3, 2, 1},
                           {"memoryx,wafer,swarmx", 2, 2, 1, 0, 1.},
                           {"memoryx,wafer*2", 3, 2, 2, 1, 0., 0.8},
                           {"memoryx,swarmx,wafer*2", 2, 2},
                           {"wafer,swarmx,memoryx,wafer", 5, 4, 2, 1, 1., 0.8},
                           {"memoryx,swarmx*3,wafer*4", 8, 2, 1, 0, 1.}}) {
    const std::vector<ml::role> roles = ml::roles_of(s.roles);
    if (static_cast<int>(roles.size()) != world.size()) continue;
    INFO(s.roles);
    const lesson text(s.num_csx * 2, 5, 40);
    const ml::decoder model{
        .vocabulary = text.vocabulary, .positions = 8, .layers = 1, .heads = 2, .width = 16};
    ml::streaming_settings how{
        .workers = s.workers,
        .columns = s.columns,
        .num_csx = s.num_csx,
        .clip_norm = s.clip,
        .seed = 3,
        .threads = 1 + world.rank() % 2,
        .micro_batch_size = s.micro_batch_size,
        .sparsity = s.zeros > 0 ? ml::sparsity::rigl({.sparsity = s.zeros}) : ml::sparsity_settings{}};
    ml::trainer alone(model.build(), ml::optimizer::adamw(), how);
    how.roles = roles;
    ml::trainer spread(model.build(), ml::optimizer::adamw(), how, world);
    const learned expected = learn(alone, text), got = learn(spread, text);
    const ml::role mine = roles[static_cast<std::size_t>(world.rank())];
    const bool has_memory = world.rank() == ml::role_placement(roles, s.num_csx).memory();
    CHECK(got.losses == expected.losses);
    CHECK(got.logits == expected.logits);
    CHECK(got.numbers == (has_memory ? expected.numbers : std::vector<f32>{}));
    const ml::batch_part part = spread.part();
    CHECK((part.end > part.first) == (mine == ml::role::wafer));
    // Who has the memory reports what the workers have done.
    CHECK(spread.report().phases.front().work > 0);
    CHECK(spread.report().activations == alone.report().activations);
  }
}

TEST_CASE("a wafer is whole on its rank, with the features that it has read") {
  const mpi::spread_over world = mpi::world();
  if (world.size() == 1 || world.size() > 3) return;
  const auto model = [] {
    ml::network n;
    const auto start = ml::initial::uniform(0.5f);
    const int x = n.activation<ml::relu>("relu", n.linear("one", n.input("input", 12), 8, true, start));
    n.cross_entropy("loss", n.linear("two", x, 3, true, start));
    return n;
  };
  constexpr int wafers = 3, sequences = 12;
  std::vector<f32> features(sequences * 12);
  std::vector<i32> targets(sequences);
  for (std::size_t k = 0; k < features.size(); ++k) features[k] = static_cast<f32>(k % 7) / 7;
  for (std::size_t k = 0; k < targets.size(); ++k) targets[k] = static_cast<i32>(k % 3);
  const ml::streaming_settings how{.workers = 2, .columns = 1, .num_csx = wafers, .threads = 1};
  ml::trainer alone(model(), ml::optimizer::sgd(), how), spread(model(), ml::optimizer::sgd(), how, world);
  std::vector<f32> mine = features;
  const ml::batch_part p = spread.part();
  for (i64 k = 0; k < sequences; ++k)
    if (k < p.begin_in(sequences) || k >= p.end_in(sequences)) std::fill_n(mine.begin() + 12 * k, 12, 0.f);
  for (int step = 0; step < 2; ++step)
    CHECK(spread.step({.features = mine, .targets = targets, .sequences = sequences}, 0.1) ==
          alone.step({.features = features, .targets = targets, .sequences = sequences}, 0.1));
}

TEST_CASE("roles that cannot be are refused") {
  using Catch::Contains;
  for (const auto& [list, words] : {std::pair("", "'' is no role in the list ''"),
                                    {"wafer,", "'' is no role"},
                                    {"memory,wafer", "'memory' is no role in the list 'memory,wafer'"},
                                    {"wafer*0", "'wafer*0' is no role"},
                                    {"wafer*2x", "'wafer*2x' is no role"},
                                    {"wafer*4000,input*4000", "at most 4096"}})
    CHECK_THROWS_WITH(ml::roles_of(list), Contains(words));
  CHECK(ml::roles_of(" memoryx, wafer * 2 ,input") ==
        std::vector{ml::role::memoryx, ml::role::wafer, ml::role::wafer, ml::role::input});
  for (const auto& [list, wafers, words] : {std::tuple("memoryx,input", 1, "no wafer, which computes"),
                                            {"memoryx,memoryx,wafer", 1, "memoryx 2 times"},
                                            {"memoryx,swarmx,wafer", 1, "a single wafer's gradients"},
                                            {"memoryx,swarmx*2,wafer", 2, "2 wafers have 1 nodes"},
                                            {"wafer*3", 2, "3 processes for wafers, and there are 2 wafers"}})
    CHECK_THROWS_WITH(ml::require_possible(ml::roles_of(list), wafers), Contains(words));
  const ml::decoder model{.vocabulary = 8, .positions = 8, .layers = 1, .heads = 2, .width = 16};
  const auto with = [&](const char* roles) {
    ml::trainer t(model.build(), ml::optimizer::sgd(), {.roles = ml::roles_of(roles)}, mpi::world());
  };
  if (mpi::world().size() != 4)
    CHECK_THROWS_WITH(with("memoryx,wafer*3"), Contains("processes, and roles for 4: name one for each"));
  if (mpi::world().size() == 2) CHECK_THROWS_WITH(with("wafer,input"), Contains("outside of the fabric"));
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

TEST_CASE("a memory without work takes part in fewer supersteps than the wafers") {
  const mpi::spread_over world = mpi::world();
  if (world.size() != 2 || !world.who.memory() || !world.who.memory()->common()) return;
  const lesson text(4, 16, 100);
  const ml::decoder model{
      .vocabulary = text.vocabulary, .positions = 16, .layers = 2, .heads = 2, .width = 128};
  ml::trainer t(model.build(), ml::optimizer::adamw(),
                {.workers = 2, .columns = 1, .threads = 1, .roles = ml::roles_of("memoryx,wafer")}, world);
  t.step(text.only(t.part()).all(), 1e-2);
  const u64 before = mpi::detail::exchanges;
  t.step(text.only(t.part()).all(), 1e-2);
  const u64 mine = mpi::detail::exchanges - before;
  const u64 of_memory = world.who.sum(world.rank() == 0 ? mine : 0),
            of_wafer = world.who.sum(world.rank() == 1 ? mine : 0);
  CAPTURE(of_memory, of_wafer);
  CHECK(of_memory * 4 < of_wafer * 3);
}

TEST_CASE("no rank is without a wafer") {
  const ml::decoder model{.vocabulary = 8, .positions = 8, .layers = 1, .heads = 2, .width = 16};
  const auto train_on_one = [&] { ml::trainer t(model.build(), ml::optimizer::sgd(), {}, mpi::world()); };
  if (mpi::world().size() == 1) CHECK_NOTHROW(train_on_one());
  else
    CHECK_THROWS_WITH(train_on_one(),
                      Catch::Contains("processes train on at least as many wafers, not on num_csx 1"));
}
