// SPDX-License-Identifier: MIT
// wsl-wave as it is built without libwebp.
#include "film.hpp"
#include "volume.hpp"

namespace wave_app {

void require_film() {
  refuse(
      "--film: this wsl-wave was built without films: install libwebp (on Debian libwebp-dev) and build "
      "again");
}
std::string film_bytes(const std::vector<std::filesystem::path>&, int) {
  return require_film(), std::string();
}

}  // namespace wave_app
