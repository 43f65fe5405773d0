// SPDX-License-Identifier: MIT
// wsl-wave as it is built without libhdf5.
#include "hdf5_volume.hpp"

namespace wave_app {

void require_hdf5(const std::string& what) {
  refuse("{}: this wsl-wave was built without HDF5: install libhdf5 (on Debian libhdf5-dev) and build again",
         what);
}
stored_volume hdf5_volume(const std::string& file, const std::string&) {
  return require_hdf5(file), stored_volume{};
}
volume_format hdf5_format(const cells&, const extent&) { return require_hdf5("HDF5"), volume_format{}; }

}  // namespace wave_app
