// SPDX-License-Identifier: MIT
// The place of a PE on the grid: x grows to the east, y to the south, (0, 0) is the north-west corner.
#pragma once
#include "../support/text.hpp"
#include "port.hpp"

namespace wsl {

struct coord {
  int x = 0, y = 0;
  friend constexpr bool operator==(coord, coord) = default;
  friend constexpr coord operator+(coord a, coord b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr coord operator-(coord a, coord b) { return {a.x - b.x, a.y - b.y}; }
};

/// "PE(3, 4)", as messages and drawings name a PE.
inline std::string text_of(coord c) { return support::joined({"PE(", c.x, ", ", c.y, ")"}); }

/// One hop through port p; the ramp stays on the PE.
constexpr coord step(port p) {
  switch (p) {
    case port::east: return {1, 0};
    case port::west: return {-1, 0};
    case port::north: return {0, -1};
    case port::south: return {0, 1};
    case port::ramp: break;
  }
  return {0, 0};
}

}  // namespace wsl
