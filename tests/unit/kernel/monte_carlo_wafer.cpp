// SPDX-License-Identifier: MIT
// Particles on a wafer against lookups in double precision, on grids of many shapes; the quantities that
// the phases conserve; checksums and near-ties; and the statistics of stochastic interpolation.
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/monte_carlo/wafer.hpp>

#include <catch2/catch.hpp>
#include <cmath>

using namespace wsl;
using namespace wsl::monte_carlo;
using Catch::Contains;

namespace {

const fuel_problem& problem() {
  static const fuel_problem p = [] {
    fuel_problem made = make_fuel_problem(700, 13, 300);
    made.energies.insert(made.energies.end(), {0.f, 1.f, made.energies[0], made.material.points[450].energy});
    return made;
  }();
  return p;
}

void compare(const std::vector<cross_sections<f32>>& found) {
  REQUIRE(found.size() == problem().energies.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto expected = look_up<f64>(problem().material, problem().energies[i]);
    for (std::size_t k = 0; k < channels; ++k)
      if (std::abs(found[i][k] - expected[k]) > 1e-5 * std::abs(expected[k]))
        FAIL("particle " << i << ": " << found[i][k] << " instead of " << expected[k]);
  }
}

}  // namespace

TEST_CASE("monte carlo: particles on a wafer find what lookups find") {
  for (const auto& [columns, rows] :
       {std::pair{1, 1}, {1, 5}, {4, 1}, {2, 2}, {3, 7}, {5, 2}, {13, 3}, {20, 2}, {2, 40}})
    for (int rounds : {0, 1, 10}) {
      wafer_fabric w{problem().material,
                     {.columns = columns, .rows = rows, .threads = 2, .diffusion_rounds = rounds}};
      compare(w.look_up(problem().energies).found);
    }
}

TEST_CASE("monte carlo: a wafer's results are the same for any number of threads, and the second time") {
  std::vector<cross_sections<f32>> first, at_random;
  for (int threads : {1, 2, 3, 8}) {
    wafer_fabric w{problem().material, {.columns = 4, .rows = 6, .threads = threads}};
    const auto found = w.look_up(problem().energies).found, chosen = w.look_up(problem().energies, 5).found;
    if (first.empty()) first = found, at_random = chosen;
    CHECK(found == first);
    CHECK(chosen == at_random);
    CHECK(w.look_up(problem().energies).found == first);
  }
}

TEST_CASE("monte carlo: energies that all lie in one band, at first in its far corner") {
  fuel_problem p = make_fuel_problem(0, 5, 100);
  std::vector<f32> energies(200, 0.999f);
  wafer_fabric w{p.material, {.columns = 3, .rows = 6, .diffusion_rounds = 30}};
  const wafer_result r = w.look_up(energies);
  CHECK(r.sorted.imbalance() > 3);
  CHECK(r.spread.max < r.sorted.max);
  const auto expected = look_up<f64>(p.material, 0.999f);
  for (const auto& xs : r.found) CHECK(xs[2] == Approx(expected[2]).epsilon(1e-5));
}

TEST_CASE("monte carlo: diffusion evens out the loads of a row") {
  wafer_fabric still{problem().material, {.columns = 8, .rows = 2, .diffusion_rounds = 0}};
  const wafer_result r = still.look_up(problem().energies);
  CHECK(r.spread.min == r.sorted.min);
  CHECK(r.spread.max == r.sorted.max);
  CHECK(r.spread.mean() == Approx(704 / 16.0));
  wafer_fabric moving{problem().material, {.columns = 8, .rows = 2, .diffusion_rounds = 100}};
  const wafer_result even = moving.look_up(problem().energies);
  CHECK(even.spread.max - even.spread.min < even.sorted.max - even.sorted.min);
}

TEST_CASE("monte carlo: a checksum counts the particles for which rounding decides") {
  const f32 below = std::nextafter(0.75f, 0.f);
  const cross_sections<f32> clear{0.1f, 0.9f, 0.2f, 0.3f, 0.4f}, tie{0.75f, 0.1f, below, 0.2f, 0.3f},
      apart{0.75f, 0.1f, 0.7499f, 0.2f, 0.3f};
  const std::vector<cross_sections<f32>> found{clear, tie, tie, apart};
  const checksum sum = checksum_of(std::span<const cross_sections<f32>>(found));
  CHECK(sum.value == 1);
  CHECK(sum.near_ties == 2);
  CHECK((sum.smallest == 1 && sum.largest == 5));
  CHECK((sum.agrees_with(1) && sum.agrees_with(5)));
  CHECK_FALSE((sum.agrees_with(0) || sum.agrees_with(6)));
}

TEST_CASE("monte carlo: another formula in f32 agrees up to near-ties") {
  const fuel_problem p = make_fuel_problem(200'000, 12, 50);
  wafer_fabric<> w{p.material, {.columns = 2, .rows = 5}};
  const checksum sum = checksum_of(std::span<const cross_sections<f32>>(w.look_up(p.energies).found));
  u64 serial = 0;
  for (const f32 energy : p.energies)
    serial += static_cast<u64>(largest_channel(look_up<f32>(p.material, energy)));
  CHECK(sum.agrees_with(serial));
  CHECK(sum.near_ties > 0);
  CHECK(sum.largest - sum.smallest < 20);
}

TEST_CASE("monte carlo: a wafer without particles, and with fewer than PEs") {
  wafer_fabric w{problem().material, {.columns = 3, .rows = 4}};
  CHECK(w.look_up({}).found.empty());
  const std::vector<f32> two{0.7f, 0.2f};
  const auto found = w.look_up(two).found;
  REQUIRE(found.size() == 2);
  CHECK(found[0][0] == Approx(look_up<f64>(problem().material, 0.7f)[0]).epsilon(1e-5));
}

TEST_CASE("monte carlo: points chosen at random are right on average", "[large]") {
  wafer_fabric w{problem().material, {.columns = 2, .rows = 3}};
  const int repeats = 400;
  const std::size_t some = 25;
  const std::span<const f32> energies = std::span(problem().energies).first(some);
  std::vector<f64> sum(some), squares(some);
  for (u32 seed = 1; seed <= repeats; ++seed) {
    const auto found = w.look_up(energies, seed * 7919).found;
    for (std::size_t i = 0; i < some; ++i)
      sum[i] += found[i][3], squares[i] += static_cast<f64>(found[i][3]) * found[i][3];
  }
  for (std::size_t i = 0; i < some; ++i) {
    const f64 mean = sum[i] / repeats, sigma = std::sqrt((squares[i] / repeats - mean * mean) / repeats);
    CHECK(sigma > 0);
    CHECK(std::abs(mean - look_up<f64>(problem().material, energies[i])[3]) < 4 * sigma);
  }
}

TEST_CASE("monte carlo: the sort takes as many exchanges as there are rows") {
  wafer_fabric w{problem().material, {.columns = 1, .rows = 9}};
  const wafer_result r = w.look_up(problem().energies);
  // Each PE runs the call, one exchange for each row and one more for the particles that came last, and a
  // completion for each message that it sent.
  CHECK(r.sort.tasks == 9 + 9 * 10 + 2 * 8 * 9);
}

TEST_CASE("monte carlo: a wafer's limits change no result") {
  // 2 nuclides a column, some 60 points of each in a row, 20 particles a PE
  const wafer_grid grid{.columns = 7, .rows = 5};
  wafer_fabric free{problem().material, grid};
  wafer_fabric<wafer_capacity{2, 2 * 90, 80}> limited{problem().material, grid, wse2};
  CHECK(limited.look_up(problem().energies).found == free.look_up(problem().energies).found);
  CHECK(limited.look_up(problem().energies, 3).found == free.look_up(problem().energies, 3).found);
}

TEST_CASE("monte carlo: a wafer charges its lookups") {
  const wafer_grid grid{.columns = 7, .rows = 5};
  wafer_fabric<wafer_capacity{2, 2 * 90, 80}> free{problem().material, grid, wse2},
      counted{problem().material, grid, wse2, wsl::timed{}};
  const wafer_result r = counted.look_up(problem().energies);
  CHECK(r.found == free.look_up(problem().energies).found);
  // A PE sees all particles of its row: for each and a nuclide a comparison, two weights, three descriptors
  // and two multiply-adds of five channels.
  const f64 of_a_nuclide = 3 + 4 + 3 * wse2.descriptor_load + 2 * (5 + wse2.operation_setup),
            row = r.spread.mean() * grid.columns;
  CHECK(static_cast<f64>(r.circulate.cycles) > 2 * row * of_a_nuclide);  // most columns have two nuclides
  CHECK(static_cast<f64>(r.circulate.cycles) < 4 * row * of_a_nuclide);
  const auto at_random = counted.look_up(problem().energies, 3);
  CHECK(at_random.found == free.look_up(problem().energies, 3).found);
  CHECK(at_random.circulate.cycles < r.circulate.cycles);
}

TEST_CASE("monte carlo: a PE that gets more than it has room for says so") {
  const wafer_grid grid{.columns = 7, .rows = 5};
  wafer_fabric<wafer_capacity{2, 2 * 90, 21}> full{problem().material, grid, wse2};
  CHECK_THROWS_WITH(full.look_up(problem().energies), Contains("a PE has room for") && Contains("wafer_pe"));
  CHECK_THROWS_WITH((wafer_fabric<wafer_capacity{2, 100, 80}>{problem().material, grid, wse2}),
                    Contains("a PE has room for 100 elements"));
  CHECK_THROWS_WITH((wafer_fabric<wafer_capacity{1, 300, 80}>{problem().material, grid, wse2}),
                    Contains("a PE has room for 1 elements"));
}

TEST_CASE("monte carlo: invalid arguments of a wafer") {
  CHECK_THROWS_WITH(wafer_fabric(problem().material, {.columns = 0}), Contains("not on 0 x"));
  CHECK_THROWS_WITH(wafer_fabric(problem().material, {.diffusion_rounds = -1}), Contains("0 rounds or more"));
  wafer_fabric w{problem().material, {.columns = 1, .rows = 1}};
  CHECK_THROWS_WITH(w.look_up(std::vector<f32>((1 << 24) + 1)),
                    Contains("16777216 particles at a time, not 16777217"));
}
