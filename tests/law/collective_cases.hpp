// SPDX-License-Identifier: MIT
// Random cases for the laws of collectives: values, rectangles on grids of all sizes, and the engines to
// run them on. The code that does not depend on a collective's type is compiled once, as the laws have
// hundreds of types.
#pragma once
#include <wsl/collective.hpp>
#include <wsl/core/half.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/threaded.hpp>
#include <wsl/engine/timed.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "seeds.hpp"

namespace law {
using namespace wsl;
using wsl::detail::from_bits, wsl::detail::to_bits;

inline std::mt19937_64 any;

/// Calls judge(seed) for each of the seeds, from which `any` then draws. Each call of this function in a test
/// draws other numbers.
template <class Judge>
void each_drawn(const seeds& all_seeds, Judge judge) {
  static std::string test;
  static unsigned call;
  if (const std::string now = Catch::getResultCapture().getCurrentTestName(); now != test)
    test = now, call = 0;
  ++call;
  all_seeds.each([&](unsigned seed) {
    std::seed_seq both{seed, call};
    any.seed(both);
    judge(seed);
  });
}

inline int between(int from, int to) { return std::uniform_int_distribution{from, to}(any); }

// Integers are drawn from their whole range; floating-point numbers include zeros of both signs, and their
// sums depend on the order.
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
inline constexpr rectangle whole{all, 1, 1}, inner{columns(1, edge - 1).rows(1, edge - 1), 3, 3},
    low{columns(edge - 3).rows(2), 3, 3}, strip{row(edge - 1).columns(2), 3, 1}, post{column(1), 2, 1};

inline layout grid_for(const rectangle& where) {
  return {between(0, 1) ? wse2 : wse3, where.least_width + between(0, 5), where.least_height + between(0, 4)};
}

/// The engine: -1 is the timed one, 0 the reference, others are numbers of threads.
struct engine_choice {
  int threads;
  u32 pes_per_partition = 1;
  engines::engine* make(const layout& plan) const {
    if (threads < 0) return timed{}.make(plan);
    if (threads == 0) return reference{}.make(plan);
    return threaded{.threads = threads,
                    .pes_per_partition = pes_per_partition,
                    .rendezvous_from = threads % 2 ? 2u : 8192u}
        .make(plan);
  }
};

/// Elements as bits: random values, sums and comparisons are then the same code for all types.
using words = std::vector<u32>;
template <class T>
u32 bits_of_value() {
  return to_bits(value<T>());
}
template <class T, class Combine>
u32 joined_bits(u32 a, u32 b) {
  return to_bits(Combine{}(from_bits<T>(a), from_bits<T>(b)));
}

inline words drawn(int n, u32 (*value_of)()) {
  words all_values(static_cast<std::size_t>(n));
  std::ranges::generate(all_values, value_of);
  return all_values;
}
inline void put(void* to, const words& from, std::size_t bytes) {
  for (std::size_t i = 0; i < from.size(); ++i)
    std::memcpy(static_cast<char*>(to) + i * bytes, &from[i], bytes);
}
inline bool holds(const void* there, const words& expected, std::size_t bytes) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::memcmp(static_cast<const char*>(there) + i * bytes, &expected[i], bytes) != 0) return false;
  return true;
}

/// The PEs of a rectangle in any order.
inline std::vector<int> shuffled(const region& r) {
  std::vector<int> order(static_cast<std::size_t>(r.count()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, any);
  return order;
}

/// Neither commutative nor associative: the result shows the order and the brackets.
struct digits {
  constexpr u32 operator()(u32 a, u32 b) const { return a * 31 + b; }
};

}  // namespace law
