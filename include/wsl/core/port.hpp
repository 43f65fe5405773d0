// SPDX-License-Identifier: MIT
// A router's five ports: the ramp to its own processor and the links to its four neighbours. A route sends
// the wavelets that arrive through a set of ports out through another set: `west >> (ramp | east)`.
#pragma once
#include "scalar.hpp"

namespace wsl {

enum class port : u8 { ramp = 1, east = 2, west = 4, north = 8, south = 16 };

inline constexpr port ramp = port::ramp, east = port::east, west = port::west, north = port::north,
                      south = port::south;
inline constexpr port every_port[] = {ramp, east, west, north, south};
inline constexpr port every_side[] = {east, west, north, south};

struct ports {
  u8 bits = 0;
  constexpr ports() = default;
  constexpr ports(port p) : bits(static_cast<u8>(p)) {}
  constexpr bool has(port p) const { return (bits & static_cast<u8>(p)) != 0; }
  constexpr bool empty() const { return bits == 0; }
  constexpr bool single() const { return bits != 0 && (bits & (bits - 1)) == 0; }
  friend constexpr bool operator==(ports, ports) = default;
};

constexpr ports operator|(ports a, ports b) {
  a.bits = static_cast<u8>(a.bits | b.bits);
  return a;
}
constexpr ports operator|(port a, port b) { return ports{a} | ports{b}; }

struct route {
  ports from{}, to{};
  friend constexpr bool operator==(route, route) = default;
};

constexpr route operator>>(ports from, ports to) { return {from, to}; }
constexpr route operator>>(port from, port to) { return {from, to}; }

/// The side by which a neighbour receives the wavelets that leave through p.
constexpr port opposite(port p) {
  switch (p) {
    case port::east: return port::west;
    case port::west: return port::east;
    case port::north: return port::south;
    case port::south: return port::north;
    case port::ramp: break;
  }
  return port::ramp;
}

/// The index of a port, 0 to 4: ramp, east, west, north, south.
constexpr int index_of(port p) {
  switch (p) {
    case port::ramp: return 0;
    case port::east: return 1;
    case port::west: return 2;
    case port::north: return 3;
    case port::south: break;
  }
  return 4;
}

constexpr const char* name_of(port p) {
  constexpr const char* names[] = {"ramp", "east", "west", "north", "south"};
  return names[index_of(p)];
}

}  // namespace wsl
