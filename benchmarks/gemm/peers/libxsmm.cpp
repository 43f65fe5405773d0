// SPDX-License-Identifier: MIT
#include <libxsmm.h>

#include "../contest.hpp"

namespace {

// libxsmm is column-major: it computes the transposed product.
const bool added = bench::enter(bench::event::tile, "libxsmm", [](const bench::product& p) {
  const float one = 1;
  static int m = 0, k = 0, n = 0;
  static libxsmm_smmfunction multiply = nullptr;
  if (m != p.m || k != p.k || n != p.n)
    multiply = libxsmm_smmdispatch(n = p.n, m = p.m, k = p.k, nullptr, nullptr, nullptr, &one, &one, nullptr,
                                   nullptr);
  if (multiply) multiply(p.b, p.a, p.c);
});

}  // namespace
