// SPDX-License-Identifier: MIT
// The bytes of a chunk as they were before HDF5's filters deflate (gzip) and shuffle, so that several threads
// can unpack chunks at a time, while libhdf5 lets one thread work at a time.
#pragma once
#include <zlib.h>

#include <span>
#include <string>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

enum class hdf5_filter : u8 { shuffle, deflate, other };

/// Unpacks a chunk of `bytes` bytes, of numbers of `size` bytes each. Filters are in the order in which they
/// were applied; bit k of `left_out` says that number k was not applied to this chunk. Returns what is wrong
/// with the chunk, or nothing.
inline std::string unpack_hdf5_chunk(std::vector<u8>& chunk, const std::vector<hdf5_filter>& filters,
                                     u32 left_out, std::size_t bytes, std::size_t size) {
  for (std::size_t k = filters.size(); k-- > 0;) {
    if (k < 32 && (left_out >> k & 1)) continue;
    if (filters[k] == hdf5_filter::deflate) {
      std::vector<u8> to(bytes);
      uLongf had = static_cast<uLongf>(bytes);
      const int error = ::uncompress(to.data(), &had, chunk.data(), static_cast<uLong>(chunk.size()));
      if (error == Z_BUF_ERROR) return "it has more numbers than a chunk of this dataset";
      if (error != Z_OK) return "its compressed bytes are no whole stream of gzip";
      to.resize(had), chunk.swap(to);
    } else if (filters[k] == hdf5_filter::shuffle && size > 1) {
      // Byte b of all numbers stands together; what is left at the end is as it was.
      const std::size_t n = chunk.size() / size;
      std::vector<u8> to(chunk);
      for (std::size_t b = 0; b < size; ++b)
        for (std::size_t i = 0; i < n; ++i) to[i * size + b] = chunk[b * n + i];
      chunk.swap(to);
    }
  }
  return chunk.size() == bytes ? "" : "it has another number of bytes than a chunk of this dataset";
}

}  // namespace wsl::ml
