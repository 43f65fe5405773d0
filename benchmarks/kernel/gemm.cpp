// SPDX-License-Identifier: MIT
// A dense product of 1024^3 beside the faster of the installed libraries: the peers of ../gemm, which has
// more sizes. All are bound by arithmetic: 2.1 GFLOP for 12.6 MB.
#include <wsl/kernel/gemm.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "../gemm/contest.hpp"
#include "part.hpp"

namespace {

constexpr int n = 1024, times = 8;

std::vector<void (*)(const bench::product&)>& libraries() {
  static std::vector<void (*)(const bench::product&)> all;
  return all;
}

struct contest {
  std::vector<float> a = small_numbers(7), b = small_numbers(11), ours = std::vector<float>(a.size()),
                     theirs = ours;
  wsl::gemm_fabric<float> on_pes{wsl::default_threads()};

  /// Numbers whose products' sums are exact in f32, in any order.
  static std::vector<float> small_numbers(int step) {
    std::vector<float> x(std::size_t{n} * n);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(static_cast<int>(i * static_cast<std::size_t>(step) % 17) - 8);
    return x;
  }
  template <class F>
  static double rate(F multiply) {
    // the threads of the previous contestant fall asleep meanwhile
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    multiply();
    return 2. * n * n * n * times / bench::seconds([&] {
             for (int i = 0; i < times; ++i) multiply();
           }) /
           1e9;
  }
  double rate_of_ours() {
    return rate([&] {
      on_pes(wsl::matrix(ours.data(), n, n), wsl::matrix(std::as_const(a).data(), n, n),
             wsl::matrix(std::as_const(b).data(), n, n));
    });
  }
  double best_of_theirs() {
    double best = 0;
    for (const auto library : libraries())
      best = std::max(best, rate([&] { library({n, n, n, a.data(), b.data(), theirs.data()}); }));
    return best;
  }
};

bench::part make() {
  const auto c = std::make_shared<contest>();
  return {std::to_string(n) + "^3, f32; a PE a thread",
          "GFLOP/s",
          {{"wsl", [c] { return c->rate_of_ours(); }}, {"BLAS", [c] { return c->best_of_theirs(); }}},
          [c] {
            if (c->ours != c->theirs) throw std::runtime_error("gemm and the libraries differ");
          }};
}

}  // namespace

/// There is something to compare with.
bool bench::enter(event e, const std::string&, void (*compute)(const product&)) {
  if (e != event::whole) return false;
  if (libraries().empty()) enter("gemm", make);
  libraries().push_back(compute);
  return true;
}
