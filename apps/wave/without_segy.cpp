// SPDX-License-Identifier: MIT
// wsl-wave as it is built without libsegyio.
#include "segy.hpp"

namespace wave_app {

void require_segy(const std::string& what) {
  refuse(
      "{}: this wsl-wave was built without SEG-Y: install libsegyio (on Debian libsegyio-dev) and build "
      "again",
      what);
}
stored_volume segy_volume(const std::string& file) { return require_segy(file), stored_volume{}; }
std::string segy_bytes(const gather&) { return require_segy("SEG-Y"), std::string(); }
gather segy_gather(const std::string& file) { return require_segy(file), gather{}; }

}  // namespace wave_app
