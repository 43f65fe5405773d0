// SPDX-License-Identifier: MIT
// Writes examples to HDF5 files in the forms of the Cerebras Model Zoo: datasets of i4 with the shape
// (examples, features, tokens), in chunks of one example, compressed by gzip on all threads that are given,
// and the attribute n_examples of the file.
//   write_hdf5_examples("dataset-partition-1.h5", numbers, {.features = 3, .length = 2048});
//   write_hdf5("part-1.h5", {{"data", tokens, 2, 128}, {"labels", labels, 1, 128}}, {.threads = 4});
#pragma once
#include <algorithm>
#include <atomic>
#include <thread>

#include "../../../support/whole_file.hpp"
#include "rows.hpp"

namespace wsl::ml {

struct hdf5_storage {
  int compression = 4;  ///< the level of gzip, from 1 to 9; 0: none
  int threads = 1;
};

/// A dataset of a file: (examples, features, length) numbers.
struct hdf5_set {
  std::string name;
  std::span<const i32> numbers;
  i64 features = 1, length = 1;

  i64 each() const { return features * length; }
};

/// Each of n chunks of `bytes` bytes as gzip's filter has it, by several threads.
inline std::vector<std::vector<u8>> deflated_chunks(const u8* numbers, std::size_t n, std::size_t bytes,
                                                    int level, int threads) {
  std::vector<std::vector<u8>> chunks(n);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t k; (k = next++) < n;) {
      uLongf size = ::compressBound(static_cast<uLong>(bytes));
      chunks[k].resize(size);
      if (::compress2(chunks[k].data(), &size, numbers + k * bytes, static_cast<uLong>(bytes), level) != Z_OK)
        failed = true;
      chunks[k].resize(size), chunks[k].shrink_to_fit();
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  others.clear();
  if (failed) throw std::bad_alloc();
  return chunks;
}

namespace detail {

/// Throws file_error if libhdf5 could not do something.
inline void must_hdf5(bool done, const std::string& file) {
  if (!done) throw file_error(fmt::format("wsl: cannot write {}: libhdf5: {}", file, hdf5_reason()));
}
/// A dataset with its numbers, in `chunks` that are compressed already if there are any. The caller holds the
/// gate.
inline void write_set(hid_t file, const std::string& name, const hdf5_set& x, i64 count, int compression,
                      const std::vector<std::vector<u8>>& chunks) {
  const auto must = [&](bool done) { must_hdf5(done, name); };
  const std::array<hsize_t, 3> shape{static_cast<hsize_t>(count), static_cast<hsize_t>(x.features),
                                     static_cast<hsize_t>(x.length)},
      chunk{1, shape[1], shape[2]};
  // A chunk takes a place in an index, which one number is not worth.
  const bool has_chunks = count > 0 && x.each() > 1;
  const hdf5_id space(H5Screate_simple(3, shape.data(), nullptr), &H5Sclose);
  const hdf5_id how(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  // Without the time of writing, so that the same examples are the same bytes.
  must(space && how && H5Pset_obj_track_times(how.get(), false) >= 0 &&
       (!has_chunks || H5Pset_chunk(how.get(), 3, chunk.data()) >= 0) &&
       (!has_chunks || compression == 0 ||
        H5Pset_deflate(how.get(), static_cast<unsigned>(compression)) >= 0));
  const hdf5_id set(
      H5Dcreate2(file, x.name.c_str(), H5T_STD_I32LE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
      &H5Dclose);
  must(static_cast<bool>(set));
  if (!has_chunks)
    return must(count == 0 ||
                H5Dwrite(set.get(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.numbers.data()) >= 0);
  const std::size_t bytes = static_cast<std::size_t>(x.each()) * sizeof(i32);
  const auto* from = reinterpret_cast<const u8*>(x.numbers.data());
  for (i64 k = 0; k < count; ++k) {
    const std::array<hsize_t, 3> at{static_cast<hsize_t>(k), 0, 0};
    const auto i = static_cast<std::size_t>(k);
    must(H5Dwrite_chunk(set.get(), H5P_DEFAULT, 0, at.data(), chunks.empty() ? bytes : chunks[i].size(),
                        chunks.empty() ? from + i * bytes : chunks[i].data()) >= 0);
  }
}

}  // namespace detail

/// Writes datasets to a file that is there as a whole or not at all. Throws std::invalid_argument for numbers
/// that are no examples, or others in each dataset, and file_error if the file cannot be written.
inline void write_hdf5(const std::string& name, const std::vector<hdf5_set>& sets, const hdf5_storage& how) {
  i64 count = -1;
  std::vector<std::vector<std::vector<u8>>> chunks;
  for (const hdf5_set& x : sets) {
    if (x.features < 1 || x.length < 1 || std::ssize(x.numbers) % x.each())
      throw std::invalid_argument(
          fmt::format("wsl: {}: {} numbers are no examples of {} features and {} tokens", name,
                      x.numbers.size(), x.features, x.length));
    const i64 here = std::ssize(x.numbers) / x.each();
    if (count >= 0 && here != count)
      throw std::invalid_argument(fmt::format("wsl: {}: dataset '{}' has {} examples, and '{}' {}", name,
                                              x.name, here, sets.front().name, count));
    count = here;
    chunks.push_back(
        how.compression && x.each() > 1
            ? deflated_chunks(reinterpret_cast<const u8*>(x.numbers.data()), static_cast<std::size_t>(count),
                              static_cast<std::size_t>(x.each()) * sizeof(i32), how.compression, how.threads)
            : std::vector<std::vector<u8>>());
  }
  std::vector<u8> image;
  {
    const hdf5_gate gate;
    const auto must = [&](bool done) { detail::must_hdf5(done, name); };
    // The file is made in memory, so that libhdf5 never meets a full disk.
    const hdf5_id in_memory(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
    must(in_memory && H5Pset_fapl_core(in_memory.get(), std::size_t{1} << 24, false) >= 0);
    const hdf5_id file(H5Fcreate("wsl", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get()), &H5Fclose);
    must(static_cast<bool>(file));
    {
      const hdf5_id scalar(H5Screate(H5S_SCALAR), &H5Sclose);
      const hdf5_id n(
          H5Acreate2(file.get(), "n_examples", H5T_STD_I64LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
          &H5Aclose);
      must(n && H5Awrite(n.get(), H5T_NATIVE_INT64, &count) >= 0);
    }
    for (std::size_t k = 0; k < sets.size(); ++k)
      detail::write_set(file.get(), name, sets[k], count, how.compression, chunks[k]);
    must(H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0);
    const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
    must(size > 0);
    image.resize(static_cast<std::size_t>(size));
    must(H5Fget_file_image(file.get(), image.data(), image.size()) == size);
  }
  support::whole_file out(name);
  out.write(image.data(), image.size());
  out.finish();
}

struct hdf5_form {
  i64 features = 3, length = 1;
  int compression = 4;  ///< as of hdf5_storage
  int threads = 1;
};

/// Writes the examples of a language model, the dataset 'data' of (n, features, length) numbers. Throws what
/// write_hdf5 throws.
inline void write_hdf5_examples(const std::string& name, std::span<const i32> numbers,
                                const hdf5_form& form) {
  write_hdf5(name, {{"data", numbers, form.features, form.length}}, {form.compression, form.threads});
}

}  // namespace wsl::ml
