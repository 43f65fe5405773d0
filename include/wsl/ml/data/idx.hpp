// SPDX-License-Identifier: MIT
// IDX, the format of MNIST: an array of any rank with numbers of one of six types, big-endian, often
// compressed by gzip (yann.lecun.com/exdb/mnist describes it).
//   const idx_array images = read_idx("train-images-idx3-ubyte.gz");
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <boost/hana/for_each.hpp>
#include <boost/hana/range.hpp>
#include <cstddef>
#include <limits>
#include <variant>

#include "../../support/whole_file.hpp"
#include "../io/gzip_file.hpp"

namespace wsl::ml {

struct idx_array {
  std::vector<u32> shape;  ///< the last index runs fastest
  std::variant<std::vector<u8>, std::vector<i8>, std::vector<i16>, std::vector<i32>, std::vector<f32>,
               std::vector<f64>>
      numbers;
};

namespace detail {

// The code of a type, in the order of the variant.
inline constexpr u8 idx_codes[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};

template <class T>
void swap_bytes(std::vector<T>& numbers) {
  if constexpr (sizeof(T) > 1)
    for (T& x : numbers) {
      auto* bytes = reinterpret_cast<std::byte*>(&x);
      std::reverse(bytes, bytes + sizeof(T));
    }
}

/// Makes the numbers of x an empty vector of the type that is alternative `which` of the variant.
inline void emplace_type(idx_array& x, std::size_t which) {
  namespace hana = boost::hana;
  hana::for_each(hana::range_c<std::size_t, 0, std::size(idx_codes)>, [&](auto type) {
    if (type.value == which) x.numbers.emplace<type.value>();
  });
}

}  // namespace detail

/// Reads a file, compressed or not. Throws file_error.
inline idx_array read_idx(const std::string& name) {
  gzip_file in(name);
  const std::vector<u8> magic = in.take<u8>(4, "the magic number");
  const auto* code = std::find(std::begin(detail::idx_codes), std::end(detail::idx_codes), magic[2]);
  if (magic[0] || magic[1] || code == std::end(detail::idx_codes))
    throw in.error("this is no IDX file: it begins with two zeros and a type from 0x08 to 0x0e");
  idx_array x;
  x.shape = in.take<u32>(magic[3], "the shape");
  detail::swap_bytes(x.shape);
  u64 count = 1;
  for (u32 n : x.shape) {
    if (n && count > static_cast<u64>(std::numeric_limits<i64>::max()) / n)
      throw in.error("the shape has more numbers than any file: the file is damaged");
    count *= n;
  }
  detail::emplace_type(x, static_cast<std::size_t>(code - std::begin(detail::idx_codes)));
  std::visit(
      [&]<class T>(std::vector<T>& numbers) {
        numbers = in.take<T>(count, "the numbers");
        detail::swap_bytes(numbers);
      },
      x.numbers);
  in.ends_here();
  return x;
}

/// Writes a file without compression. Throws std::invalid_argument if the shape does not match the number of
/// elements or has more than 255 dimensions, file_error if the file cannot be written.
inline void write_idx(const std::string& name, const idx_array& x) {
  u64 count = 1;
  for (u32 n : x.shape) count *= n;
  const std::size_t there = std::visit([](const auto& numbers) { return numbers.size(); }, x.numbers);
  if (count != there || x.shape.size() > 255)
    throw std::invalid_argument(
        fmt::format("wsl: {}: an array of {} numbers has a shape of {}", name, there, count));
  support::whole_file out(name);
  const u8 magic[] = {0, 0, detail::idx_codes[x.numbers.index()], static_cast<u8>(x.shape.size())};
  out.write(magic, sizeof magic);
  const auto put = [&](auto numbers) {
    detail::swap_bytes(numbers);
    out.write(numbers.data(), numbers.size() * sizeof numbers[0]);
  };
  put(x.shape);
  std::visit(put, x.numbers);
  out.finish();
}

}  // namespace wsl::ml
