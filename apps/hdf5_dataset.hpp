// SPDX-License-Identifier: MIT
// A dataset of numbers in a file of HDF5, for applications that read arrays of others. Files are not trusted:
// where the numbers are stored and how, and how many a file of its size can have, is checked before room is
// made. Every mistake is a support::file_error with the file and the dataset.
//   const hdf5_dataset set("a.h5", "matrix", "name one with --dataset");
//   const number_array<f32> a = set.numbers<f32>();
#pragma once
#include <algorithm>
#include <wsl/ml/data/hdf5/rows.hpp>

#include "memory.hpp"
#include "number_array.hpp"

namespace app {

class hdf5_dataset {
 public:
  /// `remedy` is what to do if there is no such dataset.
  hdf5_dataset(std::string file, std::string name, const std::string& remedy)
      : file_(std::move(file)), name_(std::move(name)), in_(wsl::ml::open_hdf5(file_)) {
    H5L_info_t link;
    if (H5Lexists(in_.get(), name_.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(in_.get(), name_.c_str(), &link, H5P_DEFAULT) < 0)
      bad("there is none of this name: " + remedy);
    // A link to another file could name any.
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
      bad("it is a link to another file: name that file");
    set_ = {H5Dopen2(in_.get(), name_.c_str(), H5P_DEFAULT), &H5Dclose};
    if (!set_)
      bad(fmt::format("it cannot be opened (libhdf5: {}): the file is damaged, or this is a group",
                      wsl::ml::hdf5_reason()));
    type_ = {H5Dget_type(set_.get()), &H5Tclose};
    const wsl::ml::hdf5_id space(H5Dget_space(set_.get()), &H5Sclose);
    const int axes = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
    if (!type_ || axes < 0) bad("its type or its shape cannot be read: the file is damaged");
    hsize_t n[H5S_MAX_RANK] = {};
    H5Sget_simple_extent_dims(space.get(), n, nullptr);
    shape_.assign(n, n + axes);
  }

  hid_t get() const { return set_.get(); }
  const std::string& file() const { return file_; }
  const std::string& name() const { return name_; }
  const std::vector<std::size_t>& shape() const { return shape_; }
  [[noreturn]] void bad(const std::string& what) const { wsl::ml::bad_hdf5(file_, name_, what); }

  number_kind kind() const {
    switch (H5Tget_class(type_.get())) {
      case H5T_FLOAT: return number_kind::real;
      case H5T_INTEGER: return number_kind::whole;
      case H5T_COMPOUND:
        if (is_complex()) return number_kind::complex;
        [[fallthrough]];
      default: bad("its numbers are neither whole, nor floating-point, nor complex ones");
    }
  }

  /// All numbers, as f32 (of floating-point numbers), std::complex<f32> (of these too, or of pairs r and i,
  /// as h5py writes complex ones) or i64 (of whole numbers).
  template <class T>
  number_array<T> numbers() const {
    const double count = require_numbers<T>();
    if (count * sizeof(T) > memory_there())
      bad(fmt::format("its {:.0f} numbers are more than this computer can have", count));
    const number_kind is = kind();
    number_array<T> a{shape_, std::vector<T>(static_cast<std::size_t>(count))};
    if constexpr (is_complex_number<T>) {
      if (is == number_kind::real) {
        std::vector<wsl::f32> parts(a.numbers.size());
        read(parts.data(), H5T_NATIVE_FLOAT);
        std::copy(parts.begin(), parts.end(), a.numbers.begin());
      } else {
        const wsl::ml::hdf5_id pair(H5Tcreate(H5T_COMPOUND, sizeof(T)), &H5Tclose);
        H5Tinsert(pair.get(), "r", 0, H5T_NATIVE_FLOAT);
        H5Tinsert(pair.get(), "i", sizeof(wsl::f32), H5T_NATIVE_FLOAT);
        read(a.numbers.data(), pair.get());
      }
    } else {
      read(a.numbers.data(), std::is_same_v<T, wsl::i64> ? H5T_NATIVE_INT64 : H5T_NATIVE_FLOAT);
    }
    return a;
  }

  /// Throws if the numbers are of another kind than T, or more than a file of this size can have, or stored in
  /// a way that nothing bounds. Returns how many they are.
  template <class T>
  double require_numbers() const {
    if (!takes<T>(kind()))
      bad(std::is_same_v<T, wsl::i64>   ? "its numbers are no whole ones"
          : std::is_same_v<T, wsl::f32> ? "its numbers are no floating-point ones"
                                        : "its numbers are neither floating-point nor complex ones");
    double count = 1;
    for (const std::size_t n : shape_) count *= static_cast<double>(n);
    if (count > static_cast<double>(most_numbers()))
      bad(fmt::format("its {:.0f} numbers are more than the file can have: it is damaged or cut short",
                      count));
    return count;
  }

 private:
  template <class T>
  static constexpr bool is_complex_number = std::is_same_v<T, std::complex<wsl::f32>>;

  bool is_complex() const {
    if (H5Tget_nmembers(type_.get()) != 2) return false;
    for (const char* part : {"r", "i"}) {
      const int at = H5Tget_member_index(type_.get(), part);
      if (at < 0 || H5Tget_member_class(type_.get(), static_cast<unsigned>(at)) != H5T_FLOAT) return false;
    }
    return true;
  }
  void read(void* to, hid_t as) const {
    if (H5Dread(set_.get(), as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
      bad(fmt::format("it cannot be read (libhdf5: {}): the file is damaged", wsl::ml::hdf5_reason()));
  }

  /// The numbers that the dataset may have of its file. Throws for chunks that are larger, for numbers in
  /// other files, and for filters whose output nothing bounds.
  wsl::u64 most_numbers() const {
    using wsl::u64;
    const wsl::ml::hdf5_id how(H5Dget_create_plist(set_.get()), &H5Pclose);
    if (!how) bad("how it is stored cannot be read: the file is damaged");
    const H5D_layout_t layout = H5Pget_layout(how.get());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(how.get()) > 0)
      bad("its numbers are in other files: copy them into one, for instance with h5repack");
    int compressions = 0;
    for (int k = 0; k < H5Pget_nfilters(how.get()); ++k) {
      unsigned flags = 0, config = 0;
      std::size_t values = 0;
      const H5Z_filter_t id =
          H5Pget_filter2(how.get(), static_cast<unsigned>(k), &flags, &values, nullptr, 0, nullptr, &config);
      compressions += id == H5Z_FILTER_DEFLATE;
      if ((id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32) ||
          compressions > 1)
        bad("it has filters other than gzip, shuffle and fletcher32: write it with h5repack -f GZIP=4");
    }
    // Deflate makes at most 1032 bytes of one.
    constexpr u64 most_of_deflate = 1032, always = u64{1} << 16;
    const u64 bytes = wsl::ml::input_file(file_).size(), each = std::max<u64>(H5Tget_size(type_.get()), 1);
    const u64 most = (layout == H5D_CHUNKED ? bytes * most_of_deflate + always : bytes) / each;
    if (layout != H5D_CHUNKED) return most;
    hsize_t chunk[H5S_MAX_RANK] = {};
    const int axes = H5Pget_chunk(how.get(), H5S_MAX_RANK, chunk);
    u64 all = 1;
    for (int a = 0; a < axes; ++a) {
      if (chunk[a] == 0 || chunk[a] > most / all)
        bad(fmt::format("its chunks are more than a file of {} bytes can have: it is damaged", bytes));
      all *= chunk[a];
    }
    return most;
  }

  const wsl::ml::hdf5_gate gate_;
  std::string file_, name_;
  wsl::ml::hdf5_id in_, set_, type_;
  std::vector<std::size_t> shape_;
};

/// The bytes of a file of HDF5 that `fill(its id)` writes datasets to. It is made in memory, so that libhdf5
/// never meets a full disk.
template <class Fill>
std::string hdf5_image(Fill fill) {
  const wsl::ml::hdf5_gate gate;
  const auto must = [](bool done) {
    if (!done) throw std::runtime_error(fmt::format("HDF5: libhdf5: {}", wsl::ml::hdf5_reason()));
  };
  const wsl::ml::hdf5_id in_memory(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  must(in_memory && H5Pset_fapl_core(in_memory.get(), std::size_t{1} << 24, false) >= 0);
  const wsl::ml::hdf5_id file(H5Fcreate("wsl", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get()), &H5Fclose);
  must(static_cast<bool>(file));
  fill(file.get(), must);
  must(H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0);
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  must(size > 0);
  std::string image(static_cast<std::size_t>(size), '\0');
  must(H5Fget_file_image(file.get(), image.data(), image.size()) == size);
  return image;
}

/// Adds a dataset of so many numbers to a file. It is made without the time of writing, so that the same
/// numbers are the same bytes.
template <class Must>
wsl::ml::hdf5_id add_dataset(hid_t file, const char* name, const std::vector<std::size_t>& shape,
                             hid_t stored, hid_t given, const void* numbers, Must must) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  const wsl::ml::hdf5_id space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                               &H5Sclose),
      how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  must(space && how && H5Pset_obj_track_times(how.get(), false) >= 0);
  wsl::ml::hdf5_id set(H5Dcreate2(file, name, stored, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
                       &H5Dclose);
  must(set && H5Dwrite(set.get(), given, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
  return set;
}

}  // namespace app
