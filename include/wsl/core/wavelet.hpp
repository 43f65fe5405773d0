// SPDX-License-Identifier: MIT
// A wavelet is a packet of the fabric: 32 bits of payload, a color, and a bit that distinguishes data from
// control. Any trivially copyable type of two or four bytes can be a payload; `halves` is the machine's pair
// of a 16-bit datum and a 16-bit index in one wavelet.
#pragma once
#include <bit>
#include <type_traits>

#include "../support/type_name.hpp"
#include "scalar.hpp"

namespace wsl {

template <class T>
concept payload = std::is_trivially_copyable_v<T> && (sizeof(T) == 2 || sizeof(T) == 4);

/// Two 16-bit values in one wavelet: the low half is the datum, the high half its index.
template <payload Data, payload Index = u16>
  requires(sizeof(Data) == 2 && sizeof(Index) == 2)
struct halves {
  Data data;
  Index index;
  friend constexpr bool operator==(const halves&, const halves&) = default;
};

namespace detail {

/// The payload's 32 bits; a 16-bit payload travels in the low half.
template <payload T>
constexpr u32 to_bits(T value) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<u32>(value);
  else return std::bit_cast<u16>(value);
}

template <payload T>
constexpr T from_bits(u32 bits) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(bits);
  else return std::bit_cast<T>(static_cast<u16>(bits));
}

/// Identity of a payload type in constant data: two colors carry the same type when these addresses are
/// equal.
struct payload_type {
  const char* name;
  int bytes;
};

template <payload T>
inline constexpr payload_type payload_type_of{support::type_name<T>(), sizeof(T)};

}  // namespace detail

/// One word on the fabric, as routers and queues hold it.
struct wavelet {
  u32 bits = 0;
  u8 color = 0;
  bool control = false;
};

}  // namespace wsl
