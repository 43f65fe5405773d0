// SPDX-License-Identifier: MIT
// A nuclide as files of nuclear data have it, in the form that lookups and transport take: one table of cross
// sections over energy. ace.hpp and openmc.hpp read such files; a nuclide at a temperature between those of
// its files is interpolated here.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/monte_carlo/reactor.hpp>

namespace mc_app {

/// Energies are in eV and ascend, all different. The channels of a point are in barns: total, elastic
/// scattering, absorption (which is what ends a neutron, fission included), fission, and fission times the
/// mean number of its neutrons.
struct nuclide {
  std::string name;           ///< as the file has it: 92235.80c, U235
  wsl::f64 weight_ratio = 0;  ///< its mass in masses of the neutron
  wsl::f64 temperature = 0;   ///< in K
  std::string file;
  std::vector<wsl::monte_carlo::grid_point<wsl::f64>> points;
  std::vector<wsl::f64> capture;  ///< radiative capture (MT 102) at the points; empty if the file has none

  wsl::f64 lowest() const { return points.front().energy; }
  wsl::f64 highest() const { return points.back().energy; }
};

/// The places of a point's channels.
enum channel : std::size_t { total, elastic, absorption, fission, nu_fission };

/// Reads the tables of a file of either form, which its first bytes tell: one for each temperature. Throws
/// support::file_error, which names the file, the place and the fault.
std::vector<nuclide> read_nuclide(const std::string& file);

/// Throws support::file_error unless there are two points at least, energies ascend and no cross section is
/// negative. Of equal energies, which stand for a jump, the second becomes the next number.
void check_points(nuclide& n);

/// The nuclide at a temperature in K. Between two temperatures cross sections are linear in its square root,
/// at all energies that one of their tables has; a table within half a kelvin is taken as it is. A
/// temperature of 0 stands for that of the only table. Throws std::invalid_argument for no table, tables of
/// several nuclides, two of one temperature, and a temperature outside of theirs.
nuclide at_temperature(std::vector<nuclide> tables, wsl::f64 temperature);

}  // namespace mc_app
