// SPDX-License-Identifier: MIT
#include <dnnl.h>

#include "../contest.hpp"

namespace {

const bool added = bench::enter(bench::event::whole, "oneDNN", [](const bench::product& p) {
  dnnl_sgemm('N', 'N', p.m, p.n, p.k, 1, p.a, p.k, p.b, p.n, 0, p.c, p.n);
});

}  // namespace
