// SPDX-License-Identifier: MIT
// Lookups in tables of nuclear data: materials from files, and a spectrum of energies. Both commands of
// lookups have these options.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/monte_carlo/nuclide_tables.hpp>
#include <wsl/kernel/monte_carlo/spectrum.hpp>

namespace CLI {
class App;
}

namespace mc_app {

struct nuclear_problem {
  std::vector<std::vector<wsl::monte_carlo::medium_nuclide>> materials;
  wsl::monte_carlo::spectrum energies;
};

/// The name of the spectrum with equally many energies a factor.
inline constexpr const char* lethargy = "lethargy";

/// Declares --material and --spectrum.
void declare_problem(CLI::App& app, std::vector<std::string>& materials, std::string& energies,
                     int most_materials = 12);

/// Reads materials, and a spectrum: `lethargy`, over all energies that all tables have, or a file with an
/// energy in eV and the weight of the bin that begins there a line, the last of which has no weight. Throws
/// support::file_error, which names the file, the line and the fault; also for energies that a table has not,
/// and for a material of one group.
nuclear_problem read_problem(const std::vector<std::string>& materials, const std::string& energies);

/// How much there is to look up in.
std::string text(const nuclear_problem& p);

}  // namespace mc_app
