// SPDX-License-Identifier: MIT
// What a program says of OpenMC's files that was built without libhdf5.
#include <wsl/support/file_error.hpp>

#include "openmc.hpp"

namespace mc_app {

std::vector<nuclide> read_openmc(const std::string& file) {
  throw wsl::support::file_error(
      "wsl: " + file +
      " is a file of HDF5, which this program was built without: install libhdf5-dev "
      "and build it again, or take a file in ACE format");
}

}  // namespace mc_app
