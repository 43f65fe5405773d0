// SPDX-License-Identifier: MIT
// Files of HDF5 of any form, for tests of what reads them.
#pragma once
#include <wsl/ml/data/hdf5/language.hpp>
#include <wsl/ml/data/hdf5/writer.hpp>

#include "../ml_data/files.hpp"

namespace make {

struct dataset_form {
  std::vector<hsize_t> shape, chunk = {};  ///< no chunks: in one piece
  hid_t type = H5T_STD_I32LE;
  int gzip = 0;
  bool shuffles = false, sums = false;  ///< sums: fletcher32
};

/// A new file with datasets of whole numbers and attributes.
class hdf5 {
 public:
  explicit hdf5(std::string name)
      : name_(std::move(name)),
        file_(H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose) {
    REQUIRE(file_);
  }
  hdf5& add(const std::string& name, const dataset_form& form, const std::vector<wsl::i64>& numbers) {
    using wsl::ml::hdf5_id;
    const hdf5_id space(H5Screate_simple(static_cast<int>(form.shape.size()), form.shape.data(), nullptr),
                        &H5Sclose);
    const hdf5_id how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    if (!form.chunk.empty()) H5Pset_chunk(how.get(), static_cast<int>(form.chunk.size()), form.chunk.data());
    if (form.shuffles) H5Pset_shuffle(how.get());
    if (form.gzip) H5Pset_deflate(how.get(), static_cast<unsigned>(form.gzip));
    if (form.sums) H5Pset_fletcher32(how.get());
    const hdf5_id set(
        H5Dcreate2(file_.get(), name.c_str(), form.type, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
        &H5Dclose);
    REQUIRE(set);
    if (!numbers.empty())
      REQUIRE(H5Dwrite(set.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
    return *this;
  }
  hdf5& set(const std::string& name, wsl::i64 value) {
    using wsl::ml::hdf5_id;
    const hdf5_id scalar(H5Screate(H5S_SCALAR), &H5Sclose);
    const hdf5_id x(
        H5Acreate2(file_.get(), name.c_str(), H5T_STD_I64LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
        &H5Aclose);
    REQUIRE(H5Awrite(x.get(), H5T_NATIVE_INT64, &value) >= 0);
    return *this;
  }
  hid_t id() const { return file_.get(); }

 private:
  std::string name_;
  wsl::ml::hdf5_id file_;
};

/// 0, 1, 2, ...
inline std::vector<wsl::i64> counted(wsl::i64 n, wsl::i64 from = 0) {
  std::vector<wsl::i64> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = from + static_cast<wsl::i64>(i);
  return x;
}

inline std::vector<wsl::i32> read(const wsl::ml::hdf5_rows& x, wsl::i64 first, wsl::i64 count) {
  std::vector<wsl::i32> to(static_cast<std::size_t>(count * x.row()));
  x.read(first, count, to);
  return to;
}

}  // namespace make
