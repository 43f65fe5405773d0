// SPDX-License-Identifier: MIT
// A hash (Fowler-Noll-Vo 1a) that tells whether two things differ that should be the same: a problem and the
// state that was saved of it, or programs and data on several processes. It detects accidents, not intent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace wsl::support {

class fingerprint {
 public:
  void add(const void* bytes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      hash_ = (hash_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
  }
  template <class T>
  void add(const T& number) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    add(&number, sizeof number);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// Of an array so long that several processes make each a part of its fingerprint: that of the array is the
/// sum of those of its blocks, which have so many bytes each, the last one perhaps fewer.
inline constexpr std::size_t bytes_of_fingerprint_block = std::size_t{1} << 20;
inline std::uint64_t fingerprint_of_block(std::uint64_t number, const void* bytes, std::size_t n) {
  fingerprint f;
  f.add(number), f.add(bytes, n);
  return f.value();
}
inline std::uint64_t fingerprint_of_blocks(const void* bytes, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0, number = 0; at < n; at += bytes_of_fingerprint_block, ++number)
    sum += fingerprint_of_block(number, static_cast<const char*>(bytes) + at,
                                n - at < bytes_of_fingerprint_block ? n - at : bytes_of_fingerprint_block);
  return sum;
}

}  // namespace wsl::support
