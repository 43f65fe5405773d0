// SPDX-License-Identifier: MIT
// Monte Carlo lookups as dataflow: each PE owns a range of energies of every nuclide's table, and lookups,
// one wavelet each, flow to the tables. The reactor and the numbers are those of XSBench, so that one number
// verifies a run; a serial search must find the same number.
#include <wsl/kernel/monte_carlo.hpp>

#include <cstdio>
using namespace wsl::monte_carlo;
using wsl::u64;

int main() {
  const reactor core = xsbench_reactor();  // 68 nuclides with 11303 points, 12 materials
  lookup_fabric on_pes{core, {.columns = 8, .rows = 4}};
  const hash_search one_by_one{core};

  const u64 lookups = 100'000, particles = 3'000;
  const lookup_totals independent = on_pes.events(0, lookups);
  // In a particle's history, each lookup depends on what the one before it found.
  const lookup_totals dependent = on_pes.histories(0, particles, 34);
  const bool right = independent == events(core, one_by_one, 0, lookups) &&
                     dependent == histories(core, one_by_one, 0, particles, 34);

  std::printf("%llu events:    verification %llu\n", static_cast<unsigned long long>(independent.lookups),
              static_cast<unsigned long long>(independent.verification()));
  std::printf("%llu in histories: verification %llu\n", static_cast<unsigned long long>(dependent.lookups),
              static_cast<unsigned long long>(dependent.verification()));
  std::printf("the busiest PE did %.2f times the mean\n", on_pes.lookups_a_pe().imbalance());
  std::printf("a serial search finds %s\n", right ? "the same" : "something else");
  return right ? 0 : 1;
}
