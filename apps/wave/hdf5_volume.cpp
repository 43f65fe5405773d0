// SPDX-License-Identifier: MIT
#include "hdf5_volume.hpp"

#include <algorithm>
#include <cmath>
#include <wsl/ml/data/hdf5/rows.hpp>

#include "../memory.hpp"

namespace wave_app {
namespace {

using namespace wsl::ml;
using wsl::u64;

/// The attribute of a dataset that says the size of a cell; zeros if there is none.
extent spacing_of(hid_t set, const std::string& file, const std::string& name) {
  if (H5Aexists(set, "spacing") <= 0) return {};
  const hdf5_id x(H5Aopen(set, "spacing", H5P_DEFAULT), &H5Aclose);
  const hdf5_id space(x ? H5Aget_space(x.get()) : -1, &H5Sclose),
      type(x ? H5Aget_type(x.get()) : -1, &H5Tclose);
  const hssize_t n = space ? H5Sget_simple_extent_npoints(space.get()) : 0;
  f64 h[3] = {};
  if (!type || H5Tget_class(type.get()) != H5T_FLOAT || (n != 1 && n != 3) ||
      H5Aread(x.get(), H5T_NATIVE_DOUBLE, h) < 0)
    bad_hdf5(file, name, "its attribute 'spacing' is neither one number nor three, in m");
  if (n == 1) h[1] = h[2] = h[0];
  for (const f64 one : h)
    if (!(one > 0) || !std::isfinite(one))
      bad_hdf5(file, name, "its attribute 'spacing' has a number that is no length");
  return {h[0], h[1], h[2]};
}

/// The numbers that a dataset may have of its file. Throws for chunks that are larger, for numbers in other files, and
/// for filters whose output nothing bounds.
u64 most_numbers(hid_t set, const std::string& file, const std::string& name) {
  const hdf5_id how(H5Dget_create_plist(set), &H5Pclose);
  const hdf5_id type(H5Dget_type(set), &H5Tclose);
  if (!how || !type) bad_hdf5(file, name, "how it is stored cannot be read: the file is damaged");
  const H5D_layout_t layout = H5Pget_layout(how.get());
  if (layout == H5D_VIRTUAL || H5Pget_external_count(how.get()) > 0)
    bad_hdf5(file, name, "its numbers are in other files: copy them into one, for instance with h5repack");
  int compressions = 0;
  for (int k = 0; k < H5Pget_nfilters(how.get()); ++k) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const H5Z_filter_t id =
        H5Pget_filter2(how.get(), static_cast<unsigned>(k), &flags, &values, nullptr, 0, nullptr, &config);
    compressions += id == H5Z_FILTER_DEFLATE;
    if ((id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32) ||
        compressions > 1)
      bad_hdf5(file, name,
               "it has filters other than gzip, shuffle and fletcher32: write it with h5repack -f GZIP=4");
  }
  // Deflate makes at most 1032 bytes of one.
  constexpr u64 most_of_deflate = 1032, always = u64{1} << 16;
  const u64 bytes = input_file(file).size(), each = std::max<u64>(H5Tget_size(type.get()), 1);
  const u64 most = (layout == H5D_CHUNKED ? bytes * most_of_deflate + always : bytes) / each;
  if (layout != H5D_CHUNKED) return most;
  hsize_t chunk[H5S_MAX_RANK] = {};
  const int axes = H5Pget_chunk(how.get(), H5S_MAX_RANK, chunk);
  u64 numbers = 1;
  for (int a = 0; a < axes; ++a) {
    if (chunk[a] == 0 || chunk[a] > most / numbers)
      bad_hdf5(file, name,
               fmt::format("its chunks are more than a file of {} bytes can have: it is damaged", bytes));
    numbers *= chunk[a];
  }
  return most;
}

}  // namespace

void require_hdf5(const std::string&) {}

volume hdf5_volume(const std::string& file, const std::string& dataset) {
  const hdf5_gate gate;
  const hdf5_id in = open_hdf5(file);
  const auto bad = [&](const std::string& what) { bad_hdf5(file, dataset, what); };
  H5L_info_t link;
  if (H5Lexists(in.get(), dataset.c_str(), H5P_DEFAULT) <= 0 ||
      H5Lget_info(in.get(), dataset.c_str(), &link, H5P_DEFAULT) < 0)
    bad("there is none of this name: the name of that of --model is given with --model-dataset");
  // A link to another file could name any.
  if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
    bad("it is a link to another file: name that file");
  const hdf5_id set(H5Dopen2(in.get(), dataset.c_str(), H5P_DEFAULT), &H5Dclose);
  if (!set)
    bad(fmt::format("it cannot be opened (libhdf5: {}): the file is damaged, or this is a group",
                    hdf5_reason()));
  const hdf5_id type(H5Dget_type(set.get()), &H5Tclose), space(H5Dget_space(set.get()), &H5Sclose);
  if (!type || H5Tget_class(type.get()) != H5T_FLOAT) bad("its numbers are no floating-point ones");
  const int axes = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (axes < 1 || axes > 3)
    bad(fmt::format("it has {} axes; a model has z, or x and z, or x, y and z", axes));
  hsize_t n[3] = {};
  H5Sget_simple_extent_dims(space.get(), n, nullptr);
  f64 count = 1;
  for (int a = 0; a < axes; ++a) {
    if (n[a] < 1 || n[a] > 1'000'000) bad(fmt::format("its axis {} has {} cells", a, n[a]));
    count *= static_cast<f64>(n[a]);
  }
  const u64 most = most_numbers(set.get(), file, dataset);
  if (count > static_cast<f64>(most) || 4 * count > app::memory_there())
    bad(fmt::format(
        "its {:.0f} numbers are more than the file or this computer can have: it is damaged or cut short",
        count));
  volume v;
  const auto size = [&](int a) { return static_cast<int>(n[a]); };
  v.size = axes == 1   ? cells{1, 1, size(0)}
           : axes == 2 ? cells{size(0), 1, size(1)}
                       : cells{size(0), size(1), size(2)};
  v.spacing = spacing_of(set.get(), file, dataset);
  v.numbers.resize(v.size.count());
  if (H5Dread(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.numbers.data()) < 0)
    bad(fmt::format("it cannot be read (libhdf5: {}): the file is damaged", hdf5_reason()));
  return v;
}

std::string hdf5_bytes(const volume& v) {
  const hdf5_gate gate;
  const auto must = [](bool done) {
    if (!done) throw std::runtime_error(fmt::format("HDF5: libhdf5: {}", hdf5_reason()));
  };
  // The file is made in memory, so that libhdf5 never meets a full disk.
  const hdf5_id in_memory(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  must(in_memory && H5Pset_fapl_core(in_memory.get(), std::size_t{1} << 24, false) >= 0);
  const hdf5_id file(H5Fcreate("wsl-wave", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get()), &H5Fclose);
  must(static_cast<bool>(file));
  {
    const hsize_t shape[] = {static_cast<hsize_t>(v.size.x), static_cast<hsize_t>(v.size.y),
                             static_cast<hsize_t>(v.size.z)},
                  three[] = {3};
    const hdf5_id space(H5Screate_simple(3, shape, nullptr), &H5Sclose),
        line(H5Screate_simple(1, three, nullptr), &H5Sclose), how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    // Without the time of writing, so that the same field is the same bytes.
    must(space && line && how && H5Pset_obj_track_times(how.get(), false) >= 0);
    const hdf5_id set(
        H5Dcreate2(file.get(), "u", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
        &H5Dclose);
    must(set && H5Dwrite(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.numbers.data()) >= 0);
    const f64 h[] = {v.spacing.x, v.spacing.y, v.spacing.z};
    const hdf5_id spacing(
        H5Acreate2(set.get(), "spacing", H5T_IEEE_F64LE, line.get(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
    must(spacing && H5Awrite(spacing.get(), H5T_NATIVE_DOUBLE, h) >= 0);
  }
  must(H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0);
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  must(size > 0);
  std::string image(static_cast<std::size_t>(size), '\0');
  must(H5Fget_file_image(file.get(), image.data(), image.size()) == size);
  return image;
}

}  // namespace wave_app
