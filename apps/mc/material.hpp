// SPDX-License-Identifier: MIT
// A material from a file of text, a word and its values a line; # begins a comment. Either one group, with
// macroscopic cross sections in 1/cm,
//   scatter 0.225216
//   capture 0.019584
//   fission 0.0816
//   nu 3.24
// or nuclides with their densities in atoms/(barn cm) and the files of their tables, from the folder of the
// material's file on; several files of a line have a nuclide at several temperatures, in K:
//   temperature 600
//   nuclide 0.0005 U235.h5
//   nuclide 0.0219 92238.80c.ace 92238.81c.ace
//   watt 0.988e6 2.249e-6      the spectrum of neutrons from fission, in eV and 1/eV
#pragma once
#include <optional>
#include <string>
#include <vector>
#include <wsl/kernel/monte_carlo/transport_medium.hpp>

#include "nuclide.hpp"

namespace mc_app {

struct material_file {
  std::string name;
  std::optional<wsl::monte_carlo::macroscopic> one_group;
  std::vector<nuclide> nuclides;  ///< at the temperature of the material
  std::vector<wsl::f64> densities;
  wsl::monte_carlo::watt_spectrum spectrum;

  wsl::monte_carlo::medium medium() const;
};

/// Throws support::file_error, which names the file, the line and the fault, also of a nuclide's file.
material_file read_material(const std::string& file);

}  // namespace mc_app
