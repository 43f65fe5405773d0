// SPDX-License-Identifier: MIT
// Random cases for the laws of collectives: values, rectangles on grids of all sizes, and the engines to run them on.
#pragma once
#include <wsl/collective.hpp>
#include <wsl/core/half.hpp>
#include <wsl/fabric/reference.hpp>
#include <wsl/fabric/threaded.hpp>
#include <wsl/fabric/timed.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace law {
using namespace wsl;

inline std::mt19937_64 any{31};
inline int between(int from, int to) { return std::uniform_int_distribution{from, to}(any); }

// Whole numbers over their whole range; the others with zeros of both signs, and sums that depend on their order.
template <class T>
T value() {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(any());
  else switch (between(0, 5)) {
      case 0: return static_cast<T>(0.f);
      case 1: return static_cast<T>(-0.f);
      case 2: return static_cast<T>(static_cast<float>(between(-999, 999)));
      default: return static_cast<T>(static_cast<float>(between(-999, 999)) / 777);
    }
}

// A rectangle in words: with grids of all sizes it becomes rectangles of all sizes, at all places.
struct rectangle {
  area words;
  int least_width, least_height;
};
inline constexpr rectangle whole{all, 1, 1}, inner{columns(1, end - 1).rows(1, end - 1), 3, 3}, low{columns(end - 3).rows(2), 3, 3},
                           strip{row(end - 1).columns(2), 3, 1}, post{column(1), 2, 1};

inline layout grid_for(const rectangle& where) {
  return {between(0, 1) ? wse2 : wse3, where.least_width + between(0, 5), where.least_height + between(0, 4)};
}

/// Neither commutative nor associative: the result shows the order and the brackets.
struct digits {
  constexpr u32 operator()(u32 a, u32 b) const { return a * 31 + b; }
};

}  // namespace law
