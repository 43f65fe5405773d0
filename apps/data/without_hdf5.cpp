// SPDX-License-Identifier: MIT
// wsl-data as it is built without libhdf5.
#include <stdexcept>

#include "commands.hpp"

namespace data_app {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(
      what +
      ": this wsl-data was built without libhdf5; install it (on Debian libhdf5-dev) and build "
      "again");
}

}  // namespace

void convert_to_examples(const example_conversion&, const std::string& out) {
  refuse(out + " cannot be made of HDF5");
}
void inspect_hdf5(const std::string& path) { refuse(path + " is a file of HDF5"); }

}  // namespace data_app
