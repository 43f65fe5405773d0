// SPDX-License-Identifier: MIT
// The mean number of neutrons of a fission as a function of energy, a polynomial or a table with the five
// laws of interpolation of ENDF-6. Both forms of files have it: ace.cpp and openmc.cpp.
#pragma once
#include <string>
#include <vector>
#include <wsl/core/scalar.hpp>

namespace mc_app {

class neutron_yield {
 public:
  /// The coefficients of 1, E, E^2, ...
  static neutron_yield polynomial(std::vector<wsl::f64> coefficients);
  /// The points of region r end with number ends[r], counted from one, and are interpolated by laws[r]: 1 as
  /// a histogram, 2 linearly, 3 linearly in ln E, 4 the logarithm linearly, 5 the logarithm linearly in ln E.
  /// No regions stand for a linear one. Beyond its ends a table is constant. Throws std::invalid_argument,
  /// with the fault alone, for tables that do not fit together.
  static neutron_yield table(std::vector<wsl::f64> energies, std::vector<wsl::f64> values,
                             std::vector<wsl::i64> ends = {}, std::vector<wsl::i64> laws = {});

  wsl::f64 operator()(wsl::f64 energy) const;

 private:
  wsl::f64 interpolated(wsl::f64 energy) const;

  bool is_polynomial_ = true;
  std::vector<wsl::f64> energies_, values_;
  std::vector<wsl::i64> ends_, laws_;
};

}  // namespace mc_app
