// SPDX-License-Identifier: MIT
// Reads and writes files of IDX, for ../idx.hpp: a part of the library that can be compiled once, see
// ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <boost/hana/for_each.hpp>
#include <boost/hana/range.hpp>
#include <cstddef>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "../../../support/whole_file.hpp"
#include "../../io/gzip_file.hpp"
#include "../idx.hpp"

namespace wsl::ml {

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

WSL_ML_DATA_COMPILED_PART idx_array read_idx(const std::string& name) {
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

WSL_ML_DATA_COMPILED_PART void write_idx(const std::string& name, const idx_array& x) {
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
