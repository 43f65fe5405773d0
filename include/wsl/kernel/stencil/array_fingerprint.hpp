// SPDX-License-Identifier: MIT
// A fingerprint of arrays that ranks compare before they work on them. As support::fingerprint it detects
// accidents, but as fast as memory is read. It stays in the run that makes it, and goes to no file.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/fingerprint.hpp"

namespace wsl::grid {

/// Adds an array's length and its bits.
template <class T>
void add_array(support::fingerprint& f, std::span<const T> all) {
  // Words of 64 bits in turn to lanes that do not wait for each other.
  constexpr std::size_t lanes = 4;
  constexpr u64 odd = 0x9e3779b97f4a7c15u;
  std::array<u64, lanes> sum{};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(all.data());
  std::size_t at = 0;
  for (; at + sizeof sum <= all.size_bytes(); at += sizeof sum) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < lanes; ++i) {
      u64 word;
      std::memcpy(&word, bytes + at + i * sizeof word, sizeof word);
      // A change of the highest bit, which is the sign of a number, reaches lower ones by the shift, and
      // those above them by the second product: so it takes more than signs to cancel it.
      word = (sum[i] ^ word) * odd;
      sum[i] = (word ^ word >> 32) * odd;
    }
  }
  f.add(sum.data(), sizeof sum), f.add(bytes + at, all.size_bytes() - at), f.add(u64{all.size()});
}
/// Adds several arrays, and how many they are.
template <class T>
void add_arrays(support::fingerprint& f, const std::vector<std::vector<T>>& all) {
  f.add(u64{all.size()});
  for (const std::vector<T>& one : all) add_array(f, std::span(one));
}

}  // namespace wsl::grid
