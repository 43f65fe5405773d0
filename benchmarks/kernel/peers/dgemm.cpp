// SPDX-License-Identifier: MIT
// gemm of 1024^3 in f64 beside OpenBLAS, both on one thread. Both are bound by arithmetic: 2.1 GFLOP for 25
// MB, at half the numbers of a vector of f32.
#include <cblas.h>

#include <memory>
#include <stdexcept>
#include <vector>
#include <wsl/kernel/gemm.hpp>

#include "../part.hpp"

using namespace wsl;

namespace {

constexpr int side = 1024, times = 5;
constexpr f64 operations = 2.0 * side * side * side;
const int threads = openblas_get_num_threads();

struct contest {
  std::vector<f64> a, b, ours, theirs;
  gemm_fabric<f64> product{1, gemm_method::rows, 1};

  contest() : ours(side * side), theirs(side * side) {
    for (i64 i = 0; i < side * side; ++i) {  // whole numbers, whose sums are exact in any order
      a.push_back(static_cast<f64>(i * 7919 % 17 - 8));
      b.push_back(static_cast<f64>(i * 104729 % 13 - 6));
    }
  }
  void on_a_pe() {
    product(matrix(ours.data(), side, side), matrix<const f64>(a.data(), side, side),
            matrix<const f64>(b.data(), side, side));
  }
  void with_blas() {
    openblas_set_num_threads(1);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, 1, a.data(), side, b.data(),
                side, 0, theirs.data(), side);
    openblas_set_num_threads(threads);  // as the other parts expect it
  }
};

double rate(const std::function<void()>& run) {
  return times * operations / bench::seconds([&] {
           for (int i = 0; i < times; ++i) run();
         }) /
         1e9;
}

const bool entered = bench::enter("dgemm", [] {
  const auto both = std::make_shared<contest>();
  return bench::part{std::to_string(side) + "^3, f64; one PE, one thread",
                     "GFLOP/s",
                     {{"wsl", [both] { return rate([&] { both->on_a_pe(); }); }},
                      {"BLAS", [both] { return rate([&] { both->with_blas(); }); }}},
                     [both] {
                       if (both->ours != both->theirs) throw std::runtime_error("gemm and OpenBLAS differ");
                     }};
});

}  // namespace
