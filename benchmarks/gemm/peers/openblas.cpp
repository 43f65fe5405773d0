// SPDX-License-Identifier: MIT
#include <cblas.h>

#include "../contest.hpp"

namespace {

void on(int threads, float beta, const bench::product& p) {
  openblas_set_num_threads(threads);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p.m, p.n, p.k, 1, p.a, p.k, p.b, p.n, beta, p.c,
              p.n);
}
const int threads = openblas_get_num_threads();
const bool added[] = {
    bench::enter(bench::event::whole, "OpenBLAS", [](const bench::product& p) { on(threads, 0, p); }),
    bench::enter(bench::event::tile, "OpenBLAS", [](const bench::product& p) { on(1, 1, p); })};

}  // namespace
