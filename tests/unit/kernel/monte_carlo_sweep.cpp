// SPDX-License-Identifier: MIT
// Sweeps over sorted energies against one lookup after the other: in both precisions, with every vector width
// that the processor has.
#include <wsl/kernel/monte_carlo/sweep.hpp>

#include <catch2/catch.hpp>
#include <wsl/kernel/monte_carlo/reference.hpp>

using namespace wsl;
using namespace wsl::monte_carlo;
using Catch::Contains;

namespace {

// Some nuclides whose numbers are exact in the precision T.
template <class T>
struct nuclides {
  int count, points;
  reactor r = rounded(xsbench_reactor(68, points));

  static reactor rounded(reactor exact) {
    for (auto& p : exact.points) {
      p.energy = static_cast<T>(p.energy);
      for (f64& x : p.xs) x = static_cast<T>(x);
    }
    return exact;
  }
  std::vector<cross_sections<T>> swept(std::span<const T> energies, int width) const {
    std::vector<std::vector<table_row<T>>> rows;
    std::vector<ingredient<T>> all;
    for (int n = 0; n < count; ++n) {
      fill_rows(std::span(rows.emplace_back(static_cast<std::size_t>(points))), r.grid(n));
      all.push_back({rows.back().data(), density(n)});
    }
    std::vector<cross_sections<T>> found;
    sweep(
        energies, std::span(all),
        [&](std::size_t first, int n, const lane_sums<T>& sums) {
          CHECK(first == found.size());
          for (int i = 0; i < n; ++i) found.push_back(sums.lane(i));
        },
        interpolated{}, width);
    return found;
  }
  cross_sections<f64> serial(f64 energy) const {
    cross_sections<f64> sum{};
    for (int n = 0; n < count; ++n)
      add_interpolated(sum, r.grid(n).data() + interval_of(r.grid(n), energy), energy, f64{density(n)});
    return sum;
  }
  static T density(int n) { return static_cast<T>(n % 4 + 1) / 4; }
};

std::vector<int> widths() {
  std::vector<int> known{4, 8, 16};
  std::erase_if(known, [](int lanes) { return lanes > processor_lanes(); });
  return known;
}

}  // namespace

TEMPLATE_TEST_CASE("monte carlo: a sweep finds what lookups find", "", f32, f64) {
  using T = TestType;
  const f64 tolerance = sizeof(T) == 4 ? 2e-5 : 1e-11;
  for (const nuclides<T>& library : {nuclides<T>{1, 2}, {3, 40}, {17, 40}, {68, 9}})
    for (std::size_t n : {0u, 1u, 7u, 8u, 9u, 16u, 33u, 500u}) {
      std::vector<T> energies;
      random_stream draw{n};
      // some beyond the tables
      for (std::size_t i = 0; i < n; ++i) energies.push_back(static_cast<T>(draw.next() * 1.02 - 0.01));
      std::sort(energies.begin(), energies.end());
      for (int width : widths()) {
        const auto found = library.swept(energies, width);
        REQUIRE(found.size() == n);
        for (std::size_t i = 0; i < n; ++i) {
          const auto expected = library.serial(static_cast<f64>(energies[i]));
          for (std::size_t k = 0; k < channels; ++k)
            if (std::abs(static_cast<f64>(found[i][k]) - expected[k]) >
                tolerance * (1 + std::abs(expected[k])) * library.count)
              FAIL("energy " << energies[i] << ", channel " << k << ": " << found[i][k] << " instead of "
                             << expected[k]);
        }
      }
    }
}

TEST_CASE("monte carlo: a sweep goes on where the last one ended") {
  const reactor r = xsbench_reactor(68, 50);
  std::vector<table_row<f64>> rows(50);
  fill_rows(std::span(rows), r.grid(5));
  const std::vector<f64> energies{0.1, 0.2, 0.3, 0.35, 0.9};
  const auto all_of = [&](auto... counts) {
    std::vector<f64> totals;
    ingredient<f64> one{rows.data(), 1};
    std::size_t from = 0;
    for (std::size_t n : {static_cast<std::size_t>(counts)...}) {
      sweep(std::span(energies).subspan(from, n), std::span(&one, 1),
            [&](std::size_t, int count, const lane_sums<f64>& s) {
              for (int i = 0; i < count; ++i) totals.push_back(s.lane(i)[0]);
            });
      from += n;
    }
    return totals;
  };
  CHECK(all_of(5) == all_of(2, 3));
  CHECK(all_of(5) == all_of(1, 1, 1, 1, 1));
}

TEST_CASE("monte carlo: a table whose energies do not ascend throws") {
  const grid_point<f64> equal[] = {{0.1, {}}, {0.5, {}}, {0.5, {}}};
  std::vector<table_row<f64>> rows(3);
  CHECK_THROWS_WITH(fill_rows(std::span(rows), nuclide_grid<f64>(equal)),
                    Contains("point 2 is not above point 1"));
}
