// SPDX-License-Identifier: MIT
// Lookups in tables of nuclear data, whose nuclides have different numbers of points, at energies of a
// spectrum: on the fabric and on a wafer as the serial reference in double precision finds them.
#include <wsl/kernel/monte_carlo/lookups.hpp>
#include <wsl/kernel/monte_carlo/nuclide_tables.hpp>
#include <wsl/kernel/monte_carlo/wafer.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::monte_carlo;
using Catch::Contains;

namespace {

/// A nuclide from 1e-5 eV to 2e7 eV, absorbing as 1 / v, with resonances and perhaps fission.
medium_nuclide made(int points, u64 seed, bool fissile) {
  medium_nuclide n{.points = {}, .density = 0.001 * static_cast<f64>(seed), .weight_ratio = 10};
  random_stream numbers{seed};
  for (int i = 0; i < points; ++i) {
    const f64 energy = i + 1 == points ? 2e7 : 1e-5 * std::pow(2e12, static_cast<f64>(i) / (points - 1)),
              resonance = std::pow(numbers.next(), 8) * 100, absorbs = 1 / std::sqrt(energy) + resonance,
              fission = fissile ? absorbs / 2 : 0, scatters = 5 + resonance / 3;
    n.points.push_back({energy, {absorbs + scatters, scatters, absorbs, fission, 2.4 * fission}});
  }
  return n;
}
std::vector<std::vector<medium_nuclide>> materials() {
  return {{made(300, 1, true), made(40, 2, false)},
          {made(2, 3, false)},
          {made(77, 4, false), made(500, 5, true), made(9, 6, true)}};
}

}  // namespace

TEST_CASE("monte carlo: lookups of a spectrum in tables of different lengths are the serial ones") {
  const reactor r = reactor_of(materials());
  CHECK(r.nuclides == 6);
  CHECK(r.grid(3).size() == 77);
  CHECK(r.materials[2].nuclides == std::vector<int>{3, 4, 5});
  const spectrum energies({1e-5, 1, 1e3, 1e6, 2e7}, {5, 1, 0, 3});
  const nuclide_search search{r};
  const auto e = events(r, search, 10, 3000, &energies), h = histories(r, search, 3, 80, 5, &energies);
  CHECK(events(r, unionized_search{r}, 10, 3000, &energies) == e);
  for (const auto& [columns, rows] : {std::pair{1, 1}, {5, 3}, {32, 1}, {1, 32}}) {
    lookup_fabric f{r, energies, {.columns = columns, .rows = rows, .threads = 2, .batch = 700}};
    CHECK(f.events(10, 3000) == e);
    CHECK(f.histories(3, 80, 5) == h);
  }
  lookup_fabric even{r, energies, {.columns = 8}};
  even.events(0, 8000);
  CHECK(even.lookups_a_pe().imbalance() < 1.2);  // bands have equally many energies, whatever the spectrum
}

TEST_CASE("monte carlo: a wafer finds the cross sections of tables in single precision") {
  const auto nuclides = materials()[2];
  const fuel f = fuel_of(nuclides);
  CHECK(f.grid(2).size() == 9);
  const spectrum energies = spectrum::by_lethargy(1e-5, 2e7);
  random_stream numbers{8};
  std::vector<f32> at;
  for (int i = 0; i < 500; ++i) at.push_back(static_cast<f32>(energies.energy(numbers.next())));
  const medium reference(nuclides);
  for (const auto& [columns, rows] : {std::pair{1, 1}, {2, 5}, {3, 9}}) {
    wafer_fabric<> w{f, {.columns = columns, .rows = rows, .threads = 2}};
    const wafer_result found = w.look_up(at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const cross_sections<f64> expected = look_up<f64>(f, at[i]);
      for (std::size_t k = 0; k < channels; ++k)
        CHECK(found.found[i][k] == Approx(expected[k]).epsilon(2e-5).margin(1e-9));
      // the tables themselves are rounded: the slope of a resonance multiplies that of the energy
      CHECK(expected[0] == Approx(reference.at(static_cast<f64>(at[i])).total).epsilon(1e-3));
    }
  }
}

TEST_CASE("monte carlo: energies that are one number in single precision become one point") {
  medium_nuclide n{.points = {}, .density = 1, .weight_ratio = 1};
  for (const f64 e : {1.0, 1 + 1e-12, 2.0, 3.0, 3 + 1e-12}) n.points.push_back({e, {e, 0, 0, 0, 0}});
  n.points.back().xs[0] = 7;
  const fuel f = fuel_of(std::vector{n});
  REQUIRE(f.points.size() == 3);
  CHECK(f.points[2].xs[0] == 7);
  n.points.resize(2);
  CHECK_THROWS_WITH(fuel_of(std::vector{n}), Contains("fewer than two energies"));
}

TEST_CASE("monte carlo: a spectrum has its weights") {
  const spectrum s({1, 2, 4, 8}, {1, 0, 3});
  CHECK(s.energy(0) == 1);
  CHECK(s.energy(0.125) == Approx(1.5));
  CHECK(s.energy(0.25) == Approx(4));
  CHECK(s.energy(0.625) == Approx(6));
  CHECK(s.energy(1) == 8);
  f64 before = 0;
  const spectrum l = spectrum::by_lethargy(1e-5, 2e7);
  for (int i = 0; i <= 10'000; ++i) {
    const f64 e = l.energy(i / 1e4);
    REQUIRE(e >= before);
    before = e;
  }
  CHECK(l.energy(0.5) == Approx(std::sqrt(1e-5 * 2e7)).epsilon(0.02));
  CHECK_THROWS_WITH(spectrum({1, 2}, {1, 2}), Contains("one edge more"));
  CHECK_THROWS_WITH(spectrum({2, 1}, {1}), Contains("edge 2"));
  CHECK_THROWS_WITH(spectrum({0, 1}, {1}), Contains("edge 1"));
  CHECK_THROWS_WITH(spectrum({1, 2}, {-1}), Contains("weight 1"));
  CHECK_THROWS_WITH(spectrum({1, 2}, {0}), Contains("no positive sum"));
  const reactor r = reactor_of(materials());
  CHECK_THROWS_WITH(lookup_fabric(r, spectrum({1e-6, 1}, {1})), Contains("nuclide 1 has not all energies"));
  CHECK_THROWS_WITH(lookup_fabric(reactor{}, s), Contains("not of 0"));
  CHECK_THROWS_WITH(lookup_fabric(r), Contains("the reactor has 3"));
}
