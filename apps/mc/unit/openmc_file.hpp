// SPDX-License-Identifier: MIT
// Small files in OpenMC's form with known numbers, for the tests of its reader.
#pragma once
#include <hdf5.h>

#include <cstdio>
#include <string>
#include <vector>

namespace openmc_file {

/// An HDF5 file under a name of its own, removed at the end.
class writer {
 public:
  explicit writer(std::string name) : name_(std::move(name)) {
    file_ = H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() {
    close();
    std::remove(name_.c_str());
  }
  const std::string& name() const { return name_; }
  hid_t id() const { return file_; }
  /// What has been written is in the file only afterwards.
  void close() {
    if (file_ >= 0) H5Fclose(file_);
    file_ = -1;
  }

  void group(const std::string& path) {
    H5Gclose(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  void numbers(const std::string& path, const std::vector<double>& values, std::vector<hsize_t> shape) {
    const hid_t space = shape.empty()
                            ? H5Screate(H5S_SCALAR)
                            : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file_, path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set), H5Sclose(space);
  }
  void line(const std::string& path, const std::vector<double>& values) {
    numbers(path, values, {values.size()});
  }
  void attribute(const std::string& path, const char* name, double x) {
    attribute(path, name, std::vector{x}, true);
  }
  void attribute(const std::string& path, const char* name, const std::vector<double>& x,
                 bool scalar = false) {
    const hsize_t n = x.size();
    const hid_t at = H5Oopen(file_, path.c_str(), H5P_DEFAULT),
                space = scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, nullptr),
                a = H5Acreate2(at, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, H5T_NATIVE_DOUBLE, x.data());
    H5Aclose(a), H5Sclose(space), H5Oclose(at);
  }
  void word(const std::string& path, const char* name, const std::string& text) {
    const hid_t at = H5Oopen(file_, path.c_str(), H5P_DEFAULT), space = H5Screate(H5S_SCALAR),
                type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text.size());
    const hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, text.c_str());
    H5Aclose(a), H5Tclose(type), H5Sclose(space), H5Oclose(at);
  }
  void erase(const std::string& path) { H5Ldelete(file_, path.c_str(), H5P_DEFAULT); }

  void reaction(int type, double redundant, int first,
                const std::vector<std::pair<std::string, std::vector<double>>>& xs) {
    char name[32];
    std::snprintf(name, sizeof name, "reaction_%03d", type);
    const std::string path = std::string("/U235/reactions/") + name;
    group(path);
    attribute(path, "mt", type), attribute(path, "redundant", redundant);
    for (const auto& [temperature, values] : xs) {
      group(path + "/" + temperature);
      line(path + "/" + temperature + "/xs", values);
      attribute(path + "/" + temperature + "/xs", "threshold_idx", first);
    }
  }

 private:
  std::string name_;
  hid_t file_ = -1;
};

/// U235 at 400 K and 900 K, whose cross sections at 900 K are twice as large.
inline void fill(writer& w) {
  const double ev_a_kelvin = 8.617333262e-5;
  w.word("/", "filetype", "data_neutron");
  w.group("/U235");
  w.attribute("/U235", "Z", 92), w.attribute("/U235", "A", 235), w.attribute("/U235", "metastable", 0);
  w.attribute("/U235", "atomic_weight_ratio", 233.0248);
  for (const char* part : {"kTs", "energy", "reactions"}) w.group(std::string("/U235/") + part);
  for (const auto& [name, t] : {std::pair("400K", 400), {"900K", 900}}) {
    w.numbers(std::string("/U235/kTs/") + name, {t * ev_a_kelvin}, {});
    w.line(std::string("/U235/energy/") + name, {1e-5, 1, 1e6, 2e7});
  }
  w.reaction(2, 0, 0, {{"400K", {10, 10, 5, 4}}, {"900K", {20, 20, 10, 8}}});
  w.reaction(18, 0, 0, {{"400K", {80, 40, 2, 2}}, {"900K", {160, 80, 4, 4}}});
  w.reaction(27, 1, 0, {{"400K", {9, 9, 9, 9}}, {"900K", {9, 9, 9, 9}}});
  w.reaction(51, 0, 2, {{"400K", {1, 2}}, {"900K", {2, 4}}});
  w.reaction(102, 0, 0, {{"400K", {20, 10, 1, 0.5}}, {"900K", {40, 20, 2, 1}}});
  const auto product = [&](int number, const char* particle) {
    const std::string path = "/U235/reactions/reaction_018/product_" + std::to_string(number);
    w.group(path);
    w.word(path, "particle", particle);
    return path + "/yield";
  };
  const std::string prompt = product(0, "neutron");
  w.numbers(prompt, {1e-5, 1e6, 2e7, 2.4, 2.5, 5}, {2, 3});
  w.word(prompt, "type", "Tabulated1D");
  w.attribute(prompt, "breakpoints", std::vector<double>{3}),
      w.attribute(prompt, "interpolation", std::vector<double>{2});
  const std::string delayed = product(1, "neutron");
  w.line(delayed, {0.02});
  w.word(delayed, "type", "Polynomial");
  const std::string photons = product(2, "photon");
  w.line(photons, {7});
  w.word(photons, "type", "Polynomial");
}

}  // namespace openmc_file
