// SPDX-License-Identifier: MIT
// Patterns of sparse weights beside a naive oracle: masks of booleans, and places that are sorted by their
// scores, one after the other as cerebras.pytorch (sparse/utils.py, rigl.py, set.py, gmp.py) does it.
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <wsl/ml/sparsity/algorithms.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
namespace sp = wsl::ml::sparsity;

using mask = std::vector<bool>;
using scores = std::vector<f64>;

/// Numbers of which many are equal, and some zero.
std::vector<f32> coarse(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(-8, 8);
  std::vector<f32> x(n);
  for (f32& v : x) v = static_cast<f32>(number(random)) / 4;
  return x;
}
mask mask_of(const sparse_pattern& p) {
  const std::vector<u8> bits = p.mask();
  return {bits.begin(), bits.end()};
}
i64 count(const mask& m) { return std::count(m.begin(), m.end(), true); }

/// The places of each group, in row-major order.
std::vector<std::vector<std::size_t>> groups_of(const sp::group& g, int rows, int columns) {
  const int n = std::max({1, g.balance_in_groups, g.balance_out_groups});
  std::vector<std::vector<std::size_t>> all(static_cast<std::size_t>(n));
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int k = g.balance_in_groups ? c / (columns / n) : g.balance_out_groups ? r / (rows / n) : 0;
      all[static_cast<std::size_t>(k)].push_back(static_cast<std::size_t>(r * columns + c));
    }
  return all;
}
/// The mask of the k places with the highest scores among some; -infinity is never taken.
void mark_highest(mask& m, const std::vector<std::size_t>& among, const scores& s, i64 k) {
  std::vector<std::size_t> order = among;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return s[a] > s[b]; });
  for (std::size_t i = 0; i < order.size() && static_cast<i64>(i) < k; ++i)
    if (!std::isinf(s[order[i]])) m[order[i]] = true;
}
constexpr f64 never = -std::numeric_limits<f64>::infinity();

scores magnitudes(const std::vector<f32>& x, const mask& where) {
  scores s;
  for (std::size_t i = 0; i < x.size(); ++i) s.push_back(where[i] ? std::abs(static_cast<f64>(x[i])) : never);
  return s;
}
scores random_numbers(const sp::group& g, const char* name, i64 step, const mask& where) {
  const sp::random_score of(*g.seed, name, step);
  scores s;
  // Only their order counts; 53 of the 64 bits are enough to tell so few places apart.
  for (std::size_t i = 0; i < where.size(); ++i)
    s.push_back(where[i] ? static_cast<f64>(of(static_cast<i64>(i)) >> 11) : never);
  return s;
}
mask negated(mask m) {
  m.flip();
  return m;
}

/// One update of all three algorithms, whose sparsity and share of drops at this step are given.
mask updated(const sp::group& g, const char* name, i64 step, f32 s, f32 drop, const std::vector<f32>& w,
             const std::vector<f32>& gradients, const mask& now, int rows, int columns) {
  mask next(now.size());
  const auto groups = groups_of(g, rows, columns);
  for (const auto& among : groups) {
    const i64 wanted = static_cast<i64>((1 - s) * static_cast<f32>(among.size()));
    mask kept(now.size());
    const i64 k =
        g.algorithm == sp::algorithm::gmp
            ? wanted
            : static_cast<i64>((1 - drop) * (static_cast<f32>(count(now)) / static_cast<f32>(groups.size())));
    mark_highest(kept, among, magnitudes(w, now), k);
    mask grown(now.size());
    const scores by = g.algorithm == sp::algorithm::rigl ? magnitudes(gradients, negated(kept))
                                                         : random_numbers(g, name, step, negated(kept));
    mark_highest(grown, among, by, wanted - count(kept));
    for (std::size_t i : among) next[i] = kept[i] || grown[i];
  }
  return next;
}

constexpr const char* name = "layer 0 qkv.weight";

}  // namespace

TEST_CASE("How many weights a sparsity leaves, in the f32 arithmetic of cerebras.pytorch") {
  // The numbers are those of numpy.float32: int((1 - s) n). Some are one less or more than in 64 bits.
  CHECK(sp::kept_of(0.9f, 100) == 10);
  CHECK(sp::kept_of(0.99f, 100) == 0);
  CHECK(sp::kept_of(0.99f, 1000) == 9);
  CHECK(sp::kept_of(0.8f, 10) == 1);
  CHECK(sp::kept_of(0.6f, 10) == 3);
  CHECK(sp::kept_of(0.5f, 7) == 3);
  CHECK(sp::kept_of(0.75f, 65536) == 16384);
  CHECK(sp::kept_of(0.9f, 1769472) == 176947);
  CHECK(sp::kept_of(0.f, 38597377) == 38597377);  // no whole number of f32
  CHECK(sp::kept_of(0.75f, 38597376) == 9649344);
  CHECK(sp::kept_of(1.f, 10) == 0);
}

TEST_CASE("Schedules of a sparsity") {
  using sp::schedule;
  CHECK(schedule(0.75).at(17, 3) == 0.75f);
  CHECK(schedule(sp::linear{.init = 0.1, .slope = 0.002}).at(100) == Approx(0.3));
  CHECK(schedule(sp::linear{.init = 0.1, .slope = 0.002}).at(1000) == 1.f);
  CHECK(schedule(sp::linear{.init = 0.1, .slope = -0.002}).at(1000) == 0.f);
  CHECK(schedule(sp::exponential{.init = 0, .gamma = -0.01}).at(100) == Approx(1 - std::exp(-1.)));
  CHECK(schedule(sp::exponential{.init = 0.2, .gamma = -0.01, .final = 0.9}).at(50) ==
        Approx(0.9 - 0.7 * std::exp(-0.5)));
  CHECK(schedule(sp::power{.init = 0.5, .beta = 0.99}).at(10) == Approx(0.5 * std::pow(0.99, 10)));
  const schedule wave = sp::cosine{.init = 0.3, .half_period = 1000, .minimum = 0.1};
  CHECK(wave.at(0) == Approx(0.3));
  CHECK(wave.at(500) == Approx(0.2));
  CHECK(wave.at(1000) == Approx(0.1));
  CHECK(wave.at(2000) == Approx(0.3));
  const schedule list = sp::cycling{{0.3, 0.4, 0.5}};
  CHECK(list.at(100, 0) == 0.3f);
  CHECK(list.at(200, 2) == 0.5f);
  CHECK(list.at(300, 3) == 0.3f);
  CHECK_FALSE(schedule().is_given());
  CHECK_THROWS_AS(schedule().at(0), std::logic_error);
}

TEST_CASE("The steps of updates") {
  const sp::updates every{.freq = 100, .start = 50, .stop = 350};
  std::vector<i64> steps;
  for (i64 s = 0; s < 1000; ++s) {
    CHECK(every.before(s) == static_cast<i64>(steps.size()));
    if (every.are_at(s)) steps.push_back(s);
  }
  CHECK(steps == std::vector<i64>{50, 150, 250});
  const sp::updates listed{.steps = {40, 10, 40, 0}};
  steps.clear();
  for (i64 s = 0; s < 100; ++s) {
    CHECK(listed.before(s) == static_cast<i64>(steps.size()));
    if (listed.are_at(s)) steps.push_back(s);
  }
  CHECK(steps == std::vector<i64>{0, 10, 40});

  const sp::group g = sp::rigl({.sparsity = 0.5, .update = {.freq = 10, .stop = 40}}).groups[0];
  CHECK_FALSE(sp::updates_at(g, 0));  // the first pattern is made there
  CHECK(sp::updates_at(g, 10));
  CHECK(sp::needs_dense_gradient(g, 30));
  CHECK_FALSE(sp::needs_dense_gradient(g, 31));
  CHECK_FALSE(sp::updates_at(g, 40));
  const sp::group set = sp::set({.sparsity = 0.5}).groups[0];
  CHECK(sp::updates_at(set, 1));
  CHECK_FALSE(sp::needs_dense_gradient(set, 1));
  CHECK_FALSE(sp::updates_at(sp::fixed({.sparsity = 0.5}).groups[0], 1));
  // The first value of a list is that of the first pattern, if that is made by an update; later updates take
  // the following ones.
  const sp::group listed_gmp =
      sp::gmp({.sparsity = sp::cycling{{0.3, 0.6, 0.9}}, .update = {.steps = {0, 5, 9}}}).groups[0];
  CHECK(sp::target_sparsity(listed_gmp, 0) == 0.3f);
  CHECK(sp::target_sparsity(listed_gmp, 5) == 0.6f);
  CHECK(sp::target_sparsity(listed_gmp, 9) == 0.9f);
  const sp::group later =
      sp::gmp({.sparsity = sp::cycling{{0.3, 0.6}}, .update = {.steps = {5, 9}}}).groups[0];
  CHECK_FALSE(later.starts_sparse());
  CHECK(sp::target_sparsity(later, 5) == 0.3f);
  CHECK(sp::target_sparsity(later, 9) == 0.6f);
}

TEST_CASE("First patterns") {
  const int rows = 12, columns = 20;
  const std::vector<f32> w = coarse(240, 1);
  const auto first = [&](sp::group g, const char* of = name) {
    g.seed = g.seed.value_or(1);
    return sp::initial_pattern(g, of, rows, columns, w);
  };

  SECTION("Random places, of the seed and the name alone") {
    const sparse_pattern p = first({.sparsity = 0.75});
    CHECK(p.count() == 60);
    CHECK(p == first({.sparsity = 0.75, .algorithm = sp::algorithm::rigl}));
    CHECK(p == sp::initial_pattern({.sparsity = 0.75, .seed = 1}, name, rows, columns, {}));
    CHECK_FALSE(p == first({.sparsity = 0.75, .seed = 2}));
    CHECK_FALSE(p == first({.sparsity = 0.75}, "layer 1 qkv.weight"));
    // A sparser pattern of the same seed is a part of it.
    const sparse_pattern less = first({.sparsity = 0.9});
    less.each([&](int r, int c, i64, i64) { CHECK(p.has(r, c)); });
    // Each place is as likely as any other: of 2000 seeds a quarter have it.
    std::vector<int> times(240);
    for (u64 seed = 0; seed < 2000; ++seed)
      first({.sparsity = 0.75, .seed = seed}).each([&](int, int, i64 at, i64) {
        ++times[static_cast<std::size_t>(at)];
      });
    const auto [fewest, most] = std::minmax_element(times.begin(), times.end());
    CHECK(*fewest > 400);
    CHECK(*most < 600);
  }
  SECTION("The largest weights") {
    const sparse_pattern p = first({.sparsity = 0.75, .init_method = sp::init_method::topk});
    mask m(240);
    std::vector<std::size_t> places(240);
    std::iota(places.begin(), places.end(), std::size_t{0});
    mark_highest(m, places, magnitudes(w, mask(240, true)), 60);
    CHECK(mask_of(p) == m);
  }
  SECTION("The same number in each group") {
    for (const auto method :
         {sp::init_method::random, sp::init_method::topk, sp::init_method::balanced_topk}) {
      const sparse_pattern in = first({.sparsity = 0.75, .init_method = method, .balance_in_groups = 5}),
                           out = first({.sparsity = 0.75, .init_method = method, .balance_out_groups = 3});
      std::vector<int> of_input(5), of_output(3);
      in.each([&](int, int c, i64, i64) { ++of_input[static_cast<std::size_t>(c / 4)]; });
      out.each([&](int r, int, i64, i64) { ++of_output[static_cast<std::size_t>(r / 4)]; });
      CHECK(of_input == std::vector<int>(5, 12));
      CHECK(of_output == std::vector<int>(3, 20));
    }
    CHECK_THROWS_WITH(
        first({.sparsity = 0.75, .balance_in_groups = 6}),
        Catch::Contains("balance_in_groups 6 does not divide the 20 inputs of layer 0 qkv.weight"));
    CHECK_THROWS_WITH(first({.sparsity = 0.75, .balance_out_groups = 5}),
                      Catch::Contains("balance_out_groups 5 does not divide the 12 outputs"));
  }
  SECTION("The largest of each input") {
    const sparse_pattern p = first({.sparsity = 0.75, .init_method = sp::init_method::balanced_topk});
    CHECK(p.count() == 60);
    const sparse_pattern of_columns = p.transposed();
    for (int c = 0; c < columns; ++c) CHECK(of_columns.row(c).size() == 3);
    // 0.7 of 12 is 8.4: four of each input would be 80, of which the 72 largest stay.
    const sparse_pattern uneven = first({.sparsity = 0.7, .init_method = sp::init_method::balanced_topk});
    CHECK(uneven.count() == 72);
    const sparse_pattern columns_of_it = uneven.transposed();
    for (int c = 0; c < columns; ++c) CHECK(columns_of_it.row(c).size() <= 4);
  }
  SECTION("A regular one") {
    const sparse_pattern p =
        sp::initial_pattern({.sparsity = 0.75, .init_method = sp::init_method::checkerboard}, name, 3, 8, {});
    CHECK(p == sparse_pattern::of_mask(3, 8, {0, 0, 0, 1, 0, 0, 0, 1,  //
                                              1, 0, 0, 0, 1, 0, 0, 0,  //
                                              0, 1, 0, 0, 0, 1, 0, 0}));
  }
  SECTION("What is not zero") {
    const sparse_pattern p = first({.sparsity = 0.75, .init_method = sp::init_method::from_zeros});
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        CHECK(p.has(r, c) == (w[static_cast<std::size_t>(r * columns + c)] != 0));
  }
  SECTION("All, where the first update comes later") {
    CHECK(first({.sparsity = 0.75, .algorithm = sp::algorithm::rigl, .update = {.freq = 10, .start = 5}})
              .has_all());
    CHECK(first({.sparsity = sp::linear{.slope = 0.01},
                 .algorithm = sp::algorithm::gmp,
                 .update = {.steps = {3}}})
              .has_all());
  }
  SECTION("Weights that are missing") {
    CHECK_THROWS_WITH(
        sp::initial_pattern({.sparsity = 0.5, .init_method = sp::init_method::topk}, name, 3, 4, {}),
        Catch::Contains("layer 0 qkv.weight (3, 4) has 12 weights, not 0"));
  }
}

TEST_CASE("Updates of a pattern are those of the oracle, whatever numbers are equal") {
  const int rows = 12, columns = 20;
  const std::size_t size = 240;
  const std::vector<sp::group> groups{
      {.sparsity = 0.75, .algorithm = sp::algorithm::rigl, .update = {.freq = 2}, .seed = 3},
      {.sparsity = 0.75,
       .algorithm = sp::algorithm::rigl,
       .update = {.freq = 2, .stop = 12},
       .drop_fraction = sp::cosine{.init = 0.5, .half_period = 20},
       .balance_in_groups = 5,
       .seed = 3},
      {.sparsity = sp::linear{.init = 0.5, .slope = 0.02},
       .algorithm = sp::algorithm::rigl,
       .drop_fraction = sp::cycling{{0.1, 0.4}},
       .balance_out_groups = 3,
       .seed = 3},
      {.sparsity = 0.9, .algorithm = sp::algorithm::rigl, .update = {.freq = 3, .start = 3}, .seed = 3},
      {.sparsity = 0.8, .algorithm = sp::algorithm::set, .drop_fraction = 0.25, .seed = 5},
      {.sparsity = sp::exponential{.init = 0, .gamma = -0.1, .final = 0.9},
       .algorithm = sp::algorithm::gmp,
       .seed = 7},
      {.sparsity = sp::cycling{{0.9, 0.5}},
       .algorithm = sp::algorithm::gmp,
       .update = {.freq = 2},
       .seed = 7}};
  for (const sp::group& g : groups) {
    g.check();
    CAPTURE(sp::name_of(g.algorithm), g.sparsity.text());
    std::vector<f32> w = coarse(size, 11);
    sparse_pattern p = sp::initial_pattern(g, name, rows, columns, w);
    mask m = mask_of(p);
    i64 updates = g.update.are_at(0), drops = 0;
    for (i64 step = 1; step <= 24; ++step) {
      w = coarse(size, static_cast<unsigned>(step));
      clear_elsewhere(w, p);
      const std::vector<f32> gradients = coarse(size, static_cast<unsigned>(100 + step));
      const sparse_pattern next = sp::updated_pattern(g, name, step, w, gradients, p);
      if (g.update.are_at(step)) {
        const f32 drop = g.drop_fraction.is_given() ? g.drop_fraction.at(step, drops) : 0.3f;
        m = updated(g, name, step, g.sparsity.at(step, updates), drop, w, gradients, m, rows, columns);
        ++updates, ++drops;
      }
      REQUIRE(mask_of(next) == m);
      p = next;
    }
  }
}

TEST_CASE("What holds of every update") {
  const int rows = 16, columns = 24;
  std::mt19937 random(1);
  std::normal_distribution<f32> normal;
  const auto numbers = [&] {
    std::vector<f32> x(static_cast<std::size_t>(rows * columns));
    for (f32& v : x) v = normal(random);
    return x;
  };
  const auto smallest = [](const sparse_pattern& p, const std::vector<f32>& x, auto counts) {
    f32 least = std::numeric_limits<f32>::infinity();
    p.each([&](int r, int c, i64 at, i64) {
      if (counts(r, c)) least = std::min(least, std::abs(x[static_cast<std::size_t>(at)]));
    });
    return least;
  };
  const auto absent = [&](const sparse_pattern& p) {
    return sparse_pattern::where(rows, columns, [&](int r, int c) { return !p.has(r, c); });
  };
  const auto largest = [](const sparse_pattern& p, const std::vector<f32>& x, auto counts) {
    f32 most = -1;
    p.each([&](int r, int c, i64 at, i64) {
      if (counts(r, c)) most = std::max(most, std::abs(x[static_cast<std::size_t>(at)]));
    });
    return most;
  };

  SECTION("RigL keeps the largest weights and grows the largest gradients") {
    const sp::group g = sp::rigl({.sparsity = 0.75, .drop_fraction = 0.3, .seed = 1}).groups[0];
    sparse_pattern p = sp::initial_pattern(g, name, rows, columns, {});
    for (i64 step = 1; step < 20; ++step) {
      std::vector<f32> w = numbers(), gradients = numbers();
      clear_elsewhere(w, p);
      const sparse_pattern next = sp::updated_pattern(g, name, step, w, gradients, p);
      CHECK(next.count() == 96);
      const auto was_there = [&](int r, int c) { return p.has(r, c); };
      i64 stayed = 0;
      next.each([&](int r, int c, i64, i64) { stayed += p.has(r, c); });
      CHECK(stayed >= 67);  // 0.7 of 96, and those that were dropped and have grown again
      // No absent place has a larger gradient than one that is new.
      const f32 least_grown = smallest(next, gradients, [&](int r, int c) { return !p.has(r, c); });
      CHECK(largest(absent(next), gradients, [](int, int) { return true; }) <= least_grown);
      // Of the weights that were dropped and did not grow again none is larger than the 67th.
      std::vector<f32> sizes;
      p.each([&](int, int, i64 at, i64) { sizes.push_back(std::abs(w[static_cast<std::size_t>(at)])); });
      std::sort(sizes.begin(), sizes.end(), std::greater<>());
      CHECK(largest(absent(next), w, was_there) <= sizes[66]);
      p = next;
    }
  }
  SECTION("SET grows other places at each step") {
    const sp::group g = sp::set({.sparsity = 0.75, .drop_fraction = 0.5, .seed = 1}).groups[0];
    const sparse_pattern p = sp::initial_pattern(g, name, rows, columns, {});
    std::vector<f32> w = numbers();
    clear_elsewhere(w, p);
    std::set<std::vector<u8>> seen;
    for (i64 step = 1; step < 20; ++step) {
      const sparse_pattern next = sp::updated_pattern(g, name, step, w, {}, p);
      CHECK(next.count() == 96);
      CHECK(next == sp::updated_pattern(g, name, step, w, {}, p));
      seen.insert(next.mask());
    }
    CHECK(seen.size() == 19);
  }
  SECTION("GMP only prunes while its sparsity rises") {
    const sp::group g = sp::gmp({.sparsity = sp::linear{.slope = 0.04}, .seed = 1}).groups[0];
    sparse_pattern p = sp::initial_pattern(g, name, rows, columns, {});
    CHECK(p.has_all());
    for (i64 step = 1; step < 24; ++step) {
      std::vector<f32> w = numbers();
      clear_elsewhere(w, p);
      const sparse_pattern next = sp::updated_pattern(g, name, step, w, {}, p);
      CHECK(next.count() == sp::kept_of(sp::target_sparsity(g, step), 384));
      next.each([&](int r, int c, i64, i64) { CHECK(p.has(r, c)); });
      CHECK(largest(absent(next), w, [](int, int) { return true; }) <=
            smallest(next, w, [](int, int) { return true; }));
      p = next;
    }
  }
  SECTION("A number that is not finite leaves the pattern") {
    const sp::group g = sp::rigl({.sparsity = 0.75, .seed = 1}).groups[0];
    const sparse_pattern p = sp::initial_pattern(g, name, rows, columns, {});
    std::vector<f32> w = numbers(), gradients = numbers();
    clear_elsewhere(w, p);
    CHECK_FALSE(sp::updated_pattern(g, name, 1, w, gradients, p) == p);
    gradients[7] = std::numeric_limits<f32>::infinity();
    CHECK(sp::updated_pattern(g, name, 1, w, gradients, p) == p);
    gradients[7] = 0, w[9] = std::numeric_limits<f32>::quiet_NaN();
    CHECK(sp::updated_pattern(g, name, 1, w, gradients, p) == p);
    CHECK_THROWS_WITH(sp::updated_pattern(g, name, 1, w, {}, p), Catch::Contains("has 384 gradients, not 0"));
  }
}

TEST_CASE("Settings of sparse weights that contradict themselves") {
  const auto says = [](const char* words) { return Catch::Contains(words); };
  CHECK_THROWS_WITH(sp::fixed({}), says("the sparsity of static is missing"));
  CHECK_THROWS_WITH(sp::fixed({.sparsity = 1}), says("leaves no weight"));
  CHECK_THROWS_WITH(sp::fixed({.sparsity = 75}), says("is a share from 0 to 1, not 75"));
  CHECK_THROWS_WITH(sp::fixed({.sparsity = sp::linear{}}), says("gmp, rigl and set follow a schedule"));
  CHECK_THROWS_WITH(sp::fixed({.sparsity = 0.5, .update = {.freq = 10}}), says("leave update out"));
  CHECK_THROWS_WITH(sp::fixed({.sparsity = 0.5, .drop_fraction = 0.3}),
                    says("drop_fraction is of rigl and set"));
  CHECK_THROWS_WITH(sp::gmp({.sparsity = 0.5}), says("nothing to prune: give a schedule, or take static"));
  CHECK_THROWS_WITH(sp::rigl({.sparsity = 0.5, .drop_fraction = 1}), says("drops all weights"));
  CHECK_THROWS_WITH(sp::rigl({.sparsity = 0.5, .update = {.freq = 0}}), says("update.freq is at least one"));
  CHECK_THROWS_WITH(sp::rigl({.sparsity = 0.5, .update = {.start = 9, .stop = 9}}),
                    says("no update would happen"));
  CHECK_THROWS_WITH(sp::rigl({.sparsity = 0.5, .update = {.freq = 2, .steps = {3}}}),
                    says("leave update.freq"));
  CHECK_THROWS_WITH(sp::rigl({.sparsity = 0.5, .update = {.steps = {-3}}}), says("steps from 0 on"));
  CHECK_THROWS_WITH(sp::set({.sparsity = 0.5, .balance_in_groups = 2, .balance_out_groups = 2}),
                    says("exclude each other"));
  CHECK_THROWS_WITH(
      sp::set({.sparsity = 0.5, .init_method = sp::init_method::checkerboard, .balance_in_groups = 2}),
      says("makes a pattern that is not balanced"));
  CHECK_THROWS_WITH(sp::gmp({.sparsity = sp::exponential{.init = 0, .gamma = 0.1}}),
                    says("gamma is negative"));
  CHECK_THROWS_WITH(sp::gmp({.sparsity = sp::power{.init = 0.5, .beta = 0}}), says(".beta is above 0"));
  CHECK_THROWS_WITH(sp::rigl({.sparsity = 0.5, .drop_fraction = sp::cosine{.init = 0.3}}),
                    says("drop_fraction.half_period is a number of steps above 0"));
  CHECK_THROWS_WITH(sp::gmp({.sparsity = sp::cycling{}}), says("is an empty list"));
  CHECK_THROWS_WITH(sp::gmp({.sparsity = sp::cycling{{0.5, 1.5}}}), says("not 1.5"));
}

TEST_CASE("Which parameters a group has") {
  const sp::settings both = sp::groups(sp::rigl({.sparsity = 0.9, .param_filter = {"layer * qkv.weight"}}),
                                       sp::fixed({.sparsity = 0.5}));
  CHECK(both.group_of("layer 3 qkv.weight", 8, 8) == &both.groups[0]);
  CHECK(both.group_of("layer 3 up.weight", 8, 8) == &both.groups[1]);
  CHECK_FALSE(both.group_of("layer 3 up.bias", 1, 8));
  CHECK_FALSE(both.group_of("embedding.tokens", 8, 8));
  CHECK_FALSE(both.group_of("layer 3 norm 1.gain", 8, 8));
  CHECK_FALSE(both.group_of("head.weight", 8, 8));
  CHECK_FALSE(sparsity_settings{}.are_given());
  const sp::settings seeded =
      sp::groups(sp::fixed({.sparsity = 0.5, .seed = 4}), sp::fixed({.sparsity = 0.5})).with_seed(9);
  CHECK(*seeded.groups[0].seed == 4);
  CHECK(*seeded.groups[1].seed == 9);
}
