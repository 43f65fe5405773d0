// SPDX-License-Identifier: MIT
// The contest of dense products: a library takes part by entering its functions.
#pragma once
#include <string>
#include <wsl/core/half.hpp>

namespace bench {

/// C = A B, all row-major: C is (m, n), A is (m, k), B is (k, n). The numbers are small integers, the same in
/// all formats.
struct product {
  int m, k, n;
  const float *a, *b;
  float* c;
  const wsl::bf16 *a_bf16 = nullptr, *b_bf16 = nullptr;
  const wsl::f16 *a_f16 = nullptr, *b_f16 = nullptr;
};

/// Whole products on all threads, one tile on one thread, or whole products on one thread with the numbers in
/// several formats.
enum class event { whole, tile, formats };

/// `compute` adds to a tile's C and sets a whole product's.
bool enter(event e, const std::string& name, void (*compute)(const product&));

}  // namespace bench
