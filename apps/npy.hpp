// SPDX-License-Identifier: MIT
// Arrays in the files of NumPy, versions 1 and 2 of the format, of either byte order, in C or Fortran order:
// f4 and f8, c8 and c16, and whole numbers. The bytes are not trusted: the shape is compared with their
// number before room is made.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "number_array.hpp"

namespace app {

/// Reads the header alone; the bytes are those of a file or its beginning. Throws std::invalid_argument for
/// bytes that do not begin as an array does.
array_about npy_about(std::string_view bytes, const std::string& name);

/// Where the floating-point numbers of an array stand in its file.
struct npy_place {
  std::vector<std::size_t> shape;
  std::size_t begin;            ///< the byte of the first one
  std::size_t bytes_of_number;  ///< 4 or 8
  bool is_swapped;              ///< the byte order is not that of this computer
  bool is_fortran;              ///< the first axis is fastest
};
/// Reads the header alone; `bytes` are the beginning of a file of `size` bytes, which the numbers fill. Throws
/// as npy_from_bytes<f32>.
npy_place npy_place_of(std::string_view bytes, wsl::u64 size, const std::string& name);

/// Reads the bytes of a file of this name, for which each mistake in them is a std::invalid_argument. T is
/// f32 (of f4 and f8), std::complex<f32> (of c8 and c16, and of f4 and f8), or i64 (of i1 to i8 and u1 to
/// u8).
template <class T>
number_array<T> npy_from_bytes(std::string_view bytes, const std::string& name);

/// The bytes of a file with an array of f4, c8 or i8 in C order.
template <class T>
std::string npy_bytes(const std::vector<std::size_t>& shape, std::span<const T> numbers);

}  // namespace app
