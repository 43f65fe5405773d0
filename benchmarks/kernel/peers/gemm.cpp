// SPDX-License-Identifier: MIT
// gemm of 1024^3 beside OpenBLAS on as many threads; scripts/bench gemm has more sizes and libraries. The
// lower bound: 2.1 GFLOP are 4.5 ms of two cores at 237 GFLOP/s each. A and B are copied into tiles, half
// of the tiles travel once, and C is summed in place.
#include <cblas.h>

#include <memory>
#include <stdexcept>
#include <vector>
#include <wsl/kernel/gemm.hpp>

#include "../part.hpp"

using namespace wsl;

namespace {

constexpr int side = 1024, times = 10;
constexpr f64 operations = 2.0 * side * side * side;
const int threads = openblas_get_num_threads();

struct contest {
  std::vector<f32> a, b, ours, theirs;
  gemm_fabric<f32> product{2};

  contest() : ours(side * side), theirs(side * side) {
    for (int i = 0; i < side * side; ++i) {  // whole numbers, whose sums are exact in any order
      a.push_back(static_cast<f32>(i * 7919 % 17 - 8));
      b.push_back(static_cast<f32>(i * 104729 % 13 - 6));
    }
  }
  void on_pes() {
    product(matrix(ours.data(), side, side), matrix<const f32>(a.data(), side, side),
            matrix<const f32>(b.data(), side, side));
  }
  void with_blas() {
    openblas_set_num_threads(threads);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, 1, a.data(), side, b.data(),
                side, 0, theirs.data(), side);
  }
};

double rate(const std::function<void()>& run) {
  return times * operations / bench::seconds([&] {
           for (int i = 0; i < times; ++i) run();
         }) /
         1e9;
}

const bool entered = bench::enter("gemm", [] {
  const auto both = std::make_shared<contest>();
  return bench::part{std::to_string(side) + "^3, f32; 2 x 2 PEs, OpenBLAS",
                     "GFLOP/s",
                     {{"wsl", [both] { return rate([&] { both->on_pes(); }); }},
                      {"BLAS", [both] { return rate([&] { both->with_blas(); }); }}},
                     [both] {
                       if (both->ours != both->theirs) throw std::runtime_error("gemm and OpenBLAS differ");
                     }};
});

}  // namespace
