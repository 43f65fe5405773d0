// SPDX-License-Identifier: MIT
// Reads a nuclide from OpenMC's HDF5 form of nuclear data (versions 2 and 3). The file is not trusted: shapes
// are compared with the size of the file and with each other before room is made.
#pragma once
#include "nuclide.hpp"

namespace mc_app {

/// A table for each temperature of the nuclide in a file. The total is the sum of all reactions that are not
/// redundant, absorption that of fission and of those without a neutron afterwards. The neutrons of a fission
/// are `total_nu` where it is there, otherwise the sum of the neutrons among the products. Throws
/// support::file_error, which names the file, the place and the fault; also if the program was built without
/// libhdf5.
std::vector<nuclide> read_openmc(const std::string& file);

}  // namespace mc_app
