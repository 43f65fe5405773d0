// SPDX-License-Identifier: MIT
#include "hdf5_volume.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <wsl/support/file_reader.hpp>

#include "../hdf5_dataset.hpp"
#include "../memory.hpp"

namespace wave_app {
namespace {

using wsl::ml::hdf5_id;

/// The attribute of a dataset that says the size of a cell; zeros if there is none.
extent spacing_of(const app::hdf5_dataset& set) {
  if (H5Aexists(set.get(), "spacing") <= 0) return {};
  const hdf5_id x(H5Aopen(set.get(), "spacing", H5P_DEFAULT), &H5Aclose);
  const hdf5_id space(x ? H5Aget_space(x.get()) : -1, &H5Sclose),
      type(x ? H5Aget_type(x.get()) : -1, &H5Tclose);
  const hssize_t n = space ? H5Sget_simple_extent_npoints(space.get()) : 0;
  f64 h[3] = {};
  if (!type || H5Tget_class(type.get()) != H5T_FLOAT || (n != 1 && n != 3) ||
      H5Aread(x.get(), H5T_NATIVE_DOUBLE, h) < 0)
    set.bad("its attribute 'spacing' is neither one number nor three, in m");
  if (n == 1) h[1] = h[2] = h[0];
  for (const f64 one : h)
    if (!(one > 0) || !std::isfinite(one)) set.bad("its attribute 'spacing' has a number that is no length");
  return {h[0], h[1], h[2]};
}

/// A dataset of 1 to 3 axes that stays open, with the gate free, so that several threads can read parts of it.
class open_dataset {
 public:
  open_dataset(const std::string& file, const std::string& dataset, int axes)
      : file_(file), name_(dataset), axes_(axes) {
    const wsl::ml::hdf5_gate gate;
    in_ = wsl::ml::open_hdf5(file);
    const hdf5_id how(H5Pcreate(H5P_DATASET_ACCESS), &H5Pclose);
    // Planes are read one after the other, and most chunks hold parts of several.
    constexpr std::size_t slots = 100'003, bytes = std::size_t{256} << 20;
    H5Pset_chunk_cache(how.get(), slots, bytes, 1);
    set_ = {H5Dopen2(in_.get(), dataset.c_str(), how.get()), &H5Dclose};
    space_ = {set_ ? H5Dget_space(set_.get()) : -1, &H5Sclose};
    if (!space_) fail();
  }

  void read(const wsl::grid::lines& some, int line, std::span<f32> to) const {
    const wsl::ml::hdf5_gate gate;
    const auto length = [](int n) { return static_cast<hsize_t>(n); };
    const hsize_t from[] = {length(some.x.from), length(some.y.from), 0},
                  count[] = {length(some.x.size()), length(some.y.size()), length(line)};
    // of (x, z), and of z
    const hsize_t from_xz[] = {from[0], 0}, count_xz[] = {count[0], count[2]};
    const hsize_t *const begin = axes_ == 3   ? from
                                 : axes_ == 2 ? from_xz
                                              : from + 2,
                         *const size = axes_ == 3   ? count
                                       : axes_ == 2 ? count_xz
                                                    : count + 2;
    const hdf5_id memory(H5Screate_simple(axes_, size, nullptr), &H5Sclose);
    if (!memory || H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, begin, nullptr, size, nullptr) < 0 ||
        H5Dread(set_.get(), H5T_NATIVE_FLOAT, memory.get(), space_.get(), H5P_DEFAULT, to.data()) < 0)
      fail();
  }

 private:
  [[noreturn]] void fail() const {
    wsl::ml::bad_hdf5(
        file_, name_,
        fmt::format("it cannot be read (libhdf5: {}): the file is damaged", wsl::ml::hdf5_reason()));
  }

  std::string file_, name_;
  int axes_;
  hdf5_id in_, set_, space_;
};

/// A file in memory, or among temporary ones, as long as this lives.
class passing_file {
 public:
  passing_file() {
    std::error_code why;
    for (const auto& folder :
         {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(why)}) {
      name_ = (folder / "wsl-wave-XXXXXX").string();
      if (const int file = ::mkstemp(name_.data()); file >= 0) {
        ::close(file);
        return;
      }
    }
    throw std::runtime_error("cannot make the file " + name_ + ": " + std::strerror(errno));
  }
  passing_file(const passing_file&) = delete;
  ~passing_file() { std::remove(name_.c_str()); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace

void require_hdf5(const std::string&) {}

stored_volume hdf5_volume(const std::string& file, const std::string& dataset) {
  const app::hdf5_dataset set(file, dataset, "the name of that of --model is given with --model-dataset");
  const std::vector<std::size_t>& shape = set.shape();
  if (set.kind() == app::number_kind::real) {
    if (shape.empty() || shape.size() > 3)
      set.bad(fmt::format("it has {} axes; a model has z, or x and z, or x, y and z", shape.size()));
    for (std::size_t a = 0; a < shape.size(); ++a)
      if (shape[a] < 1 || shape[a] > 1'000'000) set.bad(fmt::format("its axis {} has {} cells", a, shape[a]));
  }
  if (set.kind() == app::number_kind::whole)
    set.bad(
        "its numbers are whole ones, and a model has floating-point ones: write it with them (h5py: "
        "data.astype('f4'))");
  set.require_numbers<f32>();
  const auto n = [&](std::size_t a) { return static_cast<int>(shape[a]); };
  const cells size = shape.size() == 1   ? cells{1, 1, n(0)}
                     : shape.size() == 2 ? cells{n(0), 1, n(1)}
                                         : cells{n(0), n(1), n(2)};
  return {.size = size,
          .spacing = spacing_of(set),
          .read = [all = std::make_shared<const open_dataset>(file, dataset, static_cast<int>(shape.size())),
                   size](const wsl::grid::lines& some, std::span<f32> to) { all->read(some, size.z, to); }};
}

// libhdf5 makes the file elsewhere, so that it never meets a full disk. Of its numbers it writes the first one
// only, by which all get their place; the others take no room.
volume_format hdf5_format(const cells& size, const extent& spacing) {
  // libhdf5 crashes when the program ends if it could not give a file its length.
  const f64 length = sizeof(f32) * static_cast<f64>(size.count()) + 65536;
  if (rlimit most{}; ::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
                     static_cast<f64>(most.rlim_cur) < length)
    throw wsl::support::file_error(
        fmt::format("cannot write a field in HDF5: it takes {}, and files may have {} (ulimit -f)",
                    app::size_text(length), app::size_text(static_cast<f64>(most.rlim_cur))));
  const wsl::ml::hdf5_gate gate;
  const auto must = [](bool done) {
    if (!done) throw std::runtime_error(fmt::format("HDF5: libhdf5: {}", wsl::ml::hdf5_reason()));
  };
  const passing_file made;
  const hsize_t n[] = {static_cast<hsize_t>(size.x), static_cast<hsize_t>(size.y),
                       static_cast<hsize_t>(size.z)};
  haddr_t begin = 0;
  {
    const hdf5_id file(H5Fcreate(made.name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose),
        space(H5Screate_simple(3, n, nullptr), &H5Sclose), how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    // without the time of writing, so that the same numbers are the same bytes
    must(file && space && how && H5Pset_obj_track_times(how.get(), false) >= 0);
    const hdf5_id set(
        H5Dcreate2(file.get(), "u", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
        &H5Dclose);
    const hsize_t one[] = {1, 1, 1}, origin[] = {0, 0, 0};
    const f32 zero = 0;
    const hdf5_id first(H5Screate_simple(3, one, nullptr), &H5Sclose);
    must(set && first &&
         H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, origin, nullptr, one, nullptr) >= 0 &&
         H5Dwrite(set.get(), H5T_NATIVE_FLOAT, first.get(), space.get(), H5P_DEFAULT, &zero) >= 0);
    const hsize_t three[] = {3};
    const f64 h[] = {spacing.x, spacing.y, spacing.z};
    const hdf5_id line(H5Screate_simple(1, three, nullptr), &H5Sclose);
    const hdf5_id attribute(
        H5Acreate2(set.get(), "spacing", H5T_IEEE_F64LE, line.get(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
    must(line && attribute && H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, h) >= 0);
    must(H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0);
    begin = H5Dget_offset(set.get());
    must(begin != HADDR_UNDEF);
  }
  const wsl::support::file_reader all(made.name());
  const auto part = [&](wsl::u64 from, wsl::u64 to) {
    std::string bytes(static_cast<std::size_t>(to - from), '\0');
    all.read(from, bytes.data(), bytes.size());
    return bytes;
  };
  return {part(0, begin), part(begin + size.count() * sizeof(f32), all.size()), false, true};
}

}  // namespace wave_app
