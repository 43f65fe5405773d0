// SPDX-License-Identifier: MIT
// wsl-tlr as it is built without libhdf5.
#include <stdexcept>

#include "hdf5_arrays.hpp"

namespace tlr_app {
namespace {

using complex = std::complex<f32>;

[[noreturn]] void refuse(const std::string& file) {
  throw std::invalid_argument(
      file +
      ": this wsl-tlr was built without HDF5: install libhdf5 (on Debian libhdf5-dev) and build again");
}

}  // namespace

app::array_about hdf5_about(const std::string& file, const std::string&, const std::string&) { refuse(file); }
bool hdf5_has(const std::string& file, const std::string&) { refuse(file); }
template <class T>
app::number_array<T> hdf5_array(const std::string& file, const std::string&, const std::string&) {
  refuse(file);
}
template <class T>
std::string hdf5_bytes(const stored_bases<T>&, const app::number_array<i64>&) {
  refuse("--out");
}

template app::number_array<f32> hdf5_array(const std::string&, const std::string&, const std::string&);
template app::number_array<complex> hdf5_array(const std::string&, const std::string&, const std::string&);
template app::number_array<i64> hdf5_array(const std::string&, const std::string&, const std::string&);
template std::string hdf5_bytes(const stored_bases<f32>&, const app::number_array<i64>&);
template std::string hdf5_bytes(const stored_bases<complex>&, const app::number_array<i64>&);

}  // namespace tlr_app
