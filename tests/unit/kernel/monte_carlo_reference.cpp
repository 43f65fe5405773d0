// SPDX-License-Identifier: MIT
// The random stream, the reactor and the serial lookups. The verification numbers were printed by XSBench
// itself.
#include <wsl/kernel/monte_carlo/fuel.hpp>
#include <wsl/kernel/monte_carlo/reference.hpp>

#include <catch2/catch.hpp>
#include <cmath>

using namespace wsl;
using namespace wsl::monte_carlo;
using Catch::Contains;

TEST_CASE("monte carlo: a place of the random stream is reached without those before it") {
  random_stream slow{lookup_origin};
  for (u32 place = 0; place < 70'000; ++place) {
    if (slow.state != lookup_states[place]) FAIL("place " << place);
    slow.next();
  }
  for (u32 place : {0xffffffu, 0x1000000u, 340u * 500'000u, 0xffffffffu}) {
    random_stream jumped{lookup_origin};
    jumped.skip(place);
    CHECK(jumped.state == lookup_states[place]);
  }
}

TEST_CASE("monte carlo: random numbers are even and below one") {
  random_stream draw{42};
  f64 sum = 0;
  const int n = 100'000;
  for (int i = 0; i < n; ++i) {
    const f64 x = draw.next();
    if (!(x >= 0 && x < 1)) FAIL(x);
    sum += x;
  }
  CHECK(std::abs(sum / n - 0.5) < 4 / std::sqrt(12.0 * n));
}

TEST_CASE("monte carlo: materials are picked by their shares") {
  const f64 share[] = {0.139, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013};
  int picked[12]{};
  const int n = 200'000;
  for (int i = 0; i < n; ++i) ++picked[pick_material((i + 0.5) / n)];
  for (int m = 0; m < 12; ++m) CHECK(std::abs(picked[m] - share[m] * n) <= 1);
}

TEST_CASE("monte carlo: the reactor has XSBench's materials") {
  for (int nuclides : {68, 355}) {
    const reactor r = xsbench_reactor(nuclides, 3);
    std::vector<std::size_t> sizes;
    for (const material& m : r.materials) {
      sizes.push_back(m.nuclides.size());
      CHECK(m.densities.size() == m.nuclides.size());
      for (int n : m.nuclides) CHECK((n >= 0 && n < nuclides));
    }
    CHECK(sizes ==
          std::vector<std::size_t>{nuclides == 68 ? 34u : 321u, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9});
  }
  CHECK_THROWS_WITH(xsbench_reactor(67), Contains("67 are too few"));
  CHECK_THROWS_WITH(xsbench_reactor(68, 1), Contains("needs 2 points"));
}

TEST_CASE("monte carlo: XSBench verifies the same numbers") {
  const reactor r = xsbench_reactor();
  const hash_search hash{r};
  CHECK(events(r, hash, 0, 100'000).verification() == 299'541);
  CHECK(histories(r, hash, 0, 3'000).verification() == 305'263);
}

TEST_CASE("monte carlo: the three searches find the same intervals") {
  const reactor r = xsbench_reactor(68, 100);
  const nuclide_search nuclide{r};
  const unionized_search unionized{r};
  for (int bins : {1, 7, 100, 5000}) {
    const hash_search hash{r, bins};
    for (f64 energy : {0.0, 1e-9, 0.1, 0.25, 0.5, 0.7654321, 0.999999, 1.0, r.points[250].energy})
      for (int n = 0; n < r.nuclides; ++n) {
        const int expected = nuclide.interval(0, n, energy);
        CHECK(hash.interval(hash.start(energy), n, energy) == expected);
        CHECK(unionized.interval(unionized.start(energy), n, energy) == expected);
      }
  }
  CHECK_THROWS_WITH(hash_search(r, 0), Contains("at least one bin"));
}

TEST_CASE("monte carlo: interpolation is exact for a line, inside the table and beyond it") {
  const grid_point<f64> line[] = {{0.25, {1, 2, 3, 4, 5}}, {0.5, {2, 2, 2, 2, 2}}, {1, {4, 2, 0, -2, -4}}};
  for (f64 energy : {0.1, 0.25, 0.4, 0.5, 0.8, 1.5}) {
    const int low = interval_of(nuclide_grid<f64>(line), energy);
    CHECK(low == (energy >= 0.5));
    cross_sections<f64> sum{};
    add_interpolated(sum, line + low, energy, 2.0);
    CHECK(sum[0] == Approx(8 * energy));
    CHECK(sum[2] == Approx(8 - 8 * energy));
  }
}

TEST_CASE("monte carlo: the largest channel is the first of equals") {
  CHECK(largest_channel(cross_sections<f64>{1, 3, 3, 2, 0}) == 1);
  CHECK(largest_channel(cross_sections<f64>{}) == 0);
}

TEST_CASE("monte carlo: a fuel's energies ascend and are all different") {
  const fuel_problem p =
      make_fuel_problem(1000, 20, 10'000);  // 24 bits: among 10,000 random numbers some repeat
  CHECK(p.energies.size() == 1000);
  for (int n = 0; n < p.material.nuclides(); ++n) {
    const nuclide_grid<f32> grid = p.material.grid(n);
    for (std::size_t i = 1; i < grid.size(); ++i)
      if (!(grid[i - 1].energy < grid[i].energy)) FAIL("nuclide " << n << ", point " << i);
  }
  CHECK_THROWS_WITH(make_fuel_problem(1, 0), Contains("at least one nuclide"));
  CHECK_THROWS_WITH(make_fuel_problem(1, 1, 1), Contains("needs 2 points"));
}
