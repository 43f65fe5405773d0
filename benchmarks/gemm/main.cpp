// SPDX-License-Identifier: MIT
// GFLOP/s of products on the fabric and of single tiles, beside libraries for the same: scripts/bench gemm
// [<rounds> [<side>]], where a side leaves all but products of that size on the fabric out. In every round
// each contestant has a turn of several products, after a rest in which the threads of the one before fall
// asleep; the table holds medians over the rounds, and every result is checked. The last rows are products on
// one thread of f32, bf16 and f16, with sums in f32: of 1024 x 1024 matrices, and those of a layer of GPT-2.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>
#include <wsl/kernel/gemm.hpp>

#include "contest.hpp"

namespace bench {
namespace {

struct contestant {
  event e;
  std::string name;
  void (*compute)(const product&);
};
std::vector<contestant>& contestants() {
  static std::vector<contestant> all;
  return all;
}

/// Numbers whose products' sums are exact in f32, in any order.
std::vector<float> small_numbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) v = static_cast<float>(static_cast<int>(random() % 17) - 8);
  return x;
}

/// Every element of a row of C, and of a column.
bool right(const product& p) {
  const auto exact = [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < p.k; ++k) sum += static_cast<double>(p.a[i * p.k + k] * p.b[k * p.n + j]);
    return sum;
  };
  bool all = true;
  for (int j = 0; j < p.n; ++j) all &= static_cast<double>(p.c[p.m / 3 * p.n + j]) == exact(p.m / 3, j);
  for (int i = 0; i < p.m; ++i) all &= static_cast<double>(p.c[i * p.n + p.n / 3]) == exact(i, p.n / 3);
  return all;
}

/// The numbers in another format.
template <class To>
std::vector<To> converted(const std::vector<float>& x) {
  std::vector<To> y(x.size());
  wsl::convert(y.data(), x.data(), static_cast<std::ptrdiff_t>(x.size()));
  return y;
}

const char* name_of(event e) { return e == event::tile ? "tile" : e == event::whole ? "whole" : "formats"; }

double seconds_of(const contestant& who, const product& p, int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) who.compute(p);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

void contest(event e, int m, int k, int n, int rounds) {
  const auto a = small_numbers(m * k, 1), b = small_numbers(k * n, 2);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const auto a_bf16 = converted<wsl::bf16>(a), b_bf16 = converted<wsl::bf16>(b);
  const auto a_f16 = converted<wsl::f16>(a), b_f16 = converted<wsl::f16>(b);
  const product p{m,           k, n, a.data(), b.data(), c.data(), a_bf16.data(), b_bf16.data(), a_f16.data(),
                  b_f16.data()};
  const double flops = 2. * m * k * n;
  const int times = std::max(1, static_cast<int>(2e10 / flops));
  std::map<std::string, std::vector<double>> rates;
  for (int r = 0; r < rounds; ++r)
    for (const contestant& who : contestants()) {
      if (who.e != e) continue;
      usleep(100000);
      std::fill(c.begin(), c.end(), 0.f);
      who.compute(p);
      if (!right(p)) std::fprintf(stderr, "%s computed a wrong element\n", who.name.c_str()), std::exit(1);
      rates[who.name].push_back(flops / seconds_of(who, p, times) * 1e-9);
    }
  std::map<std::string, double> median;
  for (auto& [who, x] : rates) std::sort(x.begin(), x.end()), median[who] = x[x.size() / 2];
  double best = 0;
  std::printf("%-7s %5d x %5d x %5d ", name_of(e), m, k, n);
  for (const auto& [who, rate] : median) {
    std::printf("  %s %6.1f", who.c_str(), rate);
    if (who != "wsl") best = std::max(best, rate);
  }
  if (e == event::formats) {
    std::printf("  GFLOP/s; bf16 is %.2f of f32, f16 %.2f\n", median["wsl bf16"] / median["wsl f32"],
                median["wsl f16"] / median["wsl f32"]);
    return;
  }
  if (best > 0) std::printf("  GFLOP/s; wsl is %.2f of the best of the others\n", median["wsl"] / best);
  else std::printf("  GFLOP/s\n");
}

void on_the_fabric(const product& p) {
  static wsl::gemm_fabric<float> on_pes(wsl::default_threads());
  on_pes(wsl::matrix(p.c, p.m, p.n), wsl::matrix(p.a, p.m, p.k), wsl::matrix(p.b, p.k, p.n));
}
void as_a_tile(const product& p) {
  wsl::multiply_add(wsl::matrix(p.c, p.m, p.n), wsl::matrix(p.a, p.m, p.k), wsl::matrix(p.b, p.k, p.n));
}
template <class T>
void as_a_product(const product& p, const T* a, const T* b) {
  wsl::multiply(wsl::matrix(p.c, p.m, p.n), wsl::matrix(a, p.m, p.k), wsl::matrix(b, p.k, p.n));
}
/// The libraries of peers/ that this program was built without.
void name_missing_peers() {
  std::string missing;
  for (const char* peer : {"OpenBLAS", "oneDNN", "libxsmm"})
    if (std::none_of(contestants().begin(), contestants().end(),
                     [&](const contestant& c) { return c.name == peer; }))
      missing += (missing.empty() ? "" : ", ") + std::string(peer);
  if (!missing.empty())
    std::printf("left out: %s; scripts/setup.sh benchmarks installs them\n", missing.c_str());
}

const bool added[] = {
    enter(event::whole, "wsl", on_the_fabric), enter(event::tile, "wsl", as_a_tile),
    enter(event::formats, "wsl f32", [](const product& p) { as_a_product(p, p.a, p.b); }),
    enter(event::formats, "wsl bf16", [](const product& p) { as_a_product(p, p.a_bf16, p.b_bf16); }),
    enter(event::formats, "wsl f16", [](const product& p) { as_a_product(p, p.a_f16, p.b_f16); })};

}  // namespace

bool enter(event e, const std::string& name, void (*compute)(const product&)) {
  contestants().push_back({e, name, compute});
  return true;
}

}  // namespace bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  if (const int side = argc > 2 ? std::atoi(argv[2]) : 0; side > 0) {
    bench::contest(bench::event::whole, side, side, side, rounds);
    return 0;
  }
  for (int n : {64, 128, 256}) bench::contest(bench::event::tile, n, n, n, rounds);
  bench::contest(bench::event::whole, 512, 512, 512, rounds);
  bench::contest(bench::event::whole, 1024, 1024, 1024, rounds);
  bench::contest(bench::event::whole, 2048, 2048, 2048, rounds);
  bench::contest(bench::event::whole, 777, 1500, 333, rounds);
  bench::contest(bench::event::formats, 1024, 1024, 1024, rounds);
  bench::contest(bench::event::formats, 256, 768, 2304, rounds);
  bench::contest(bench::event::formats, 256, 3072, 768, rounds);
  bench::contest(bench::event::formats, 256, 768, 50257, rounds);
  bench::name_missing_peers();
}
