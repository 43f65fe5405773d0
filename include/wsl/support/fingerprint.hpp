// SPDX-License-Identifier: MIT
// A hash (Fowler-Noll-Vo 1a) that tells whether two things differ that should be the same: a problem and the
// state that was saved of it, or programs and data on several processes. It detects accidents, not intent.
#pragma once
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

}  // namespace wsl::support
