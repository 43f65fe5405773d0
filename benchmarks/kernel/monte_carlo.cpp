// SPDX-License-Identifier: MIT
// Monte Carlo lookups beside OpenMP loops. A lookup of XSBench's small reactor needs 15.5 nuclides on
// average, and two points of 48 bytes of each. One at a time, these are 35 cache lines of a table of 37 MB,
// some 20 ns each. Sorted, the lines are in the first cache, and 11 fused operations for each nuclide and
// vector of lookups remain.
#include <wsl/kernel/monte_carlo.hpp>

#include <memory>
#include <stdexcept>

#include "lookup_loops.hpp"
#include "part.hpp"

using namespace wsl;
using namespace wsl::monte_carlo;

namespace {

void require(bool right, const std::string& otherwise) {
  if (!right) throw std::runtime_error(otherwise);
}
template <class F>
double mega_rate(u64 lookups, F run) {
  return static_cast<double>(lookups) / bench::seconds(run) / 1e6;
}

struct lookups_contest {
  static constexpr u64 all = 17'000'000, some = 1'000'000,
                       particles = 500'000;  // the loop does the first million
  reactor core = xsbench_reactor();
  hash_search search{core};
  lookup_fabric ours{core};
  lookup_totals found, walked, looped;

  void check() {
    require(found.verification() == 945'990,
            "the events verify as " + std::to_string(found.verification()) + ", not as 945990");
    require(walked.verification() == 941'535,
            "the histories verify as " + std::to_string(walked.verification()) + ", not as 941535");
    require(looped == ours.events(0, some), "the loop finds something else");
  }
};

const bool lookups = bench::enter("mc", [] {
  const auto c = std::make_shared<lookups_contest>();
  return bench::part{
      "XSBench's small reactor: 68 nuclides, 17 million lookups, f64; 32 x 1 PEs",
      "M lookups/s",
      {{"wsl", [c] { return mega_rate(c->all, [&] { c->found = c->ours.events(0, c->all); }); }},
       {"hash loop",
        [c] {
          return mega_rate(c->some, [&] { c->looped = bench::hash_loop(c->core, c->search, c->some); });
        }},
       {"wsl, 500,000 histories of 34 lookups",
        [c] { return mega_rate(c->all, [&] { c->walked = c->ours.histories(0, c->particles); }); }}},
      [c] { c->check(); }};
});

struct particles_contest {
  static constexpr std::size_t count = 100'000;
  fuel_problem problem = make_fuel_problem(count);
  bench::fuel_loops loops{problem.material};
  wafer_fabric<> ours{problem.material};
  wafer_result found;
  bench::fuel_loops::results hashed, swept;

  double fabric_rate(u32 seed) {
    const wafer_result r = ours.look_up(problem.energies, seed);
    if (!seed) found = r;
    return static_cast<double>(count) / r.seconds() / 1e6;
  }
  void check() const {
    for (const auto* results : {&found.found, &hashed, &swept}) {
      const u64 sum = checksum_of(std::span<const cross_sections<f32>>(*results)).value;
      require(sum == 199'178, "a checksum is " + std::to_string(sum) + ", not 199178");
    }
  }
};

const bool particles = bench::enter("wafer-mc", [] {
  const auto c = std::make_shared<particles_contest>();
  const std::span<const f32> energies = c->problem.energies;
  return bench::part{
      "100,000 particles, 250 nuclides of 10,000 points, f32; 2 x 25 PEs",
      "M lookups/s",
      {{"wsl", [c] { return c->fabric_rate(0); }},
       {"hash loop",
        [c, energies] { return mega_rate(c->count, [&] { c->hashed = c->loops.hash(energies); }); }},
       {"sort-and-sweep loop",
        [c] {
          return mega_rate(c->count, [&] { c->swept = c->loops.sort_and_sweep(c->problem.energies); });
        }},
       {"wsl, points chosen at random", [c] { return c->fabric_rate(1); }}},
      [c] { c->check(); }};
});

}  // namespace
