// SPDX-License-Identifier: MIT
// The peers of the Monte Carlo kernels: OpenMP loops over lookups. The hash loops use the algorithm of
// XSBench's hash grid: one lookup at a time, each nuclide searched between two known points. The sweep is the
// best algorithm that is known for a processor: particles are sorted, then each thread walks along the tables
// with its share of them.
#pragma once
#include <wsl/kernel/monte_carlo/fuel.hpp>

namespace bench {

wsl::monte_carlo::lookup_totals hash_loop(const wsl::monte_carlo::reactor& r,
                                          const wsl::monte_carlo::hash_search& search, wsl::u64 lookups);

class fuel_loops {
 public:
  explicit fuel_loops(const wsl::monte_carlo::fuel& m);

  using results = std::vector<wsl::monte_carlo::cross_sections<wsl::f32>>;
  results hash(std::span<const wsl::f32> energies) const;
  /// the results are in the order of the energies
  results sort_and_sweep(std::vector<wsl::f32> energies) const;

 private:
  static constexpr std::size_t bins = 8192;
  const wsl::monte_carlo::fuel& fuel_;
  std::vector<int> places_;  // (bins + 1, nuclides)
};

}  // namespace bench
