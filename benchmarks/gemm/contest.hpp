// SPDX-License-Identifier: MIT
// The contest of dense products: a library takes part by entering its functions.
#pragma once
#include <string>

namespace bench {

/// C = A B, all row-major: C is (m, n), A is (m, k), B is (k, n).
struct product {
  int m, k, n;
  const float *a, *b;
  float* c;
};

/// Whole products on all threads, or one tile on one thread.
enum class event { whole, tile };

/// `compute` adds to a tile's C and sets a whole product's.
bool enter(event e, const std::string& name, void (*compute)(const product&));

}  // namespace bench
