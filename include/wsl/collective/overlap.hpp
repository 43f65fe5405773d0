// SPDX-License-Identifier: MIT
// Whether two arrays of a PE share an element: a collective that sends one while it fills the other would
// send words that have just arrived.
#pragma once
#include <cstdint>
#include <numeric>

#include "../wsl.hpp"

namespace wsl::collective {

/// The addresses of an array's elements: from `first` to `last`, `apart` bytes from each to the next.
struct span_of_addresses {
  template <class T>
  explicit span_of_addresses(const memory<T>& array)
      : first(reinterpret_cast<std::uintptr_t>(&array[array.stride() < 0 ? array.length() - 1 : 0])),
        apart(sizeof(T) * static_cast<std::uintptr_t>(array.stride() < 0 ? -array.stride() : array.stride())),
        last(first + static_cast<std::uintptr_t>(array.length() - 1) * apart) {}
  std::uintptr_t first, apart, last;
};

/// Whether two arrays that are not empty may have an element in common. Those that are interleaved, such as
/// two columns of a matrix, have none; arrays whose strides do not tell count as overlapping.
template <class T>
bool may_overlap(const memory<T>& a, const memory<T>& b) {
  const span_of_addresses x(a), y(b);
  if (x.last < y.first || y.last < x.first) return false;
  const std::uintptr_t distance = x.first < y.first ? y.first - x.first : x.first - y.first;
  const std::uintptr_t measure = std::gcd(x.apart, y.apart);
  return measure == 0 || distance % measure == 0;
}

}  // namespace wsl::collective
