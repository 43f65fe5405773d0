// SPDX-License-Identifier: MIT
// Cycles of the collectives against their formulas and, for reduces and all-reduces, of the automatic choice
// against the best one; then the speed of an all-reduce on the threaded engine. The last line counts the
// cases that are within their bound.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <wsl/collective/all_reduce.hpp>

#include "cycles.hpp"

namespace {
using namespace wsl;

struct count {
  int within = 0, of = 0;
  bool add(bool good) {
    ++of, within += good;
    return good;
  }
};

/// "reduce" of "reduce, automatic".
std::string kind_of(const bench::cycles_of_case& r) { return r.collective.substr(0, r.collective.find(',')); }

/// The best of its kind at this size, with any number of colors.
double best_of_kind(const std::vector<bench::cycles_of_case>& rows, const bench::cycles_of_case& at) {
  double best = at.measured;
  for (const auto& r : rows)
    if (r.pes == at.pes && r.words == at.words && kind_of(r) == kind_of(at))
      best = std::min(best, r.measured);
  return best;
}

count print_cycles(const std::vector<bench::cycles_of_case>& rows) {
  count c, near, close;
  std::printf("%-25s %5s %6s %6s %9s %9s %7s\n", "collective", "PEs", "words", "colors", "cycles", "formula",
              "differ");
  for (const auto& r : rows) {
    std::printf("%-25s %5d %6d %6d ", r.collective.c_str(), r.pes, r.words, r.colors);
    const double difference = r.measured / r.formula - 1;
    const bool good = c.add(std::abs(difference) <= 0.1);
    near.add(good);
    close.add(std::abs(difference) <= 0.05);
    std::printf("%9.0f %9.0f %+6.1f%%%s", r.measured, r.formula, 100 * difference, good ? "" : " *");
    if (r.collective.ends_with("automatic")) {
      const double best = best_of_kind(rows, r);
      std::printf(" best %.0f%s", best, c.add(r.measured <= 1.05 * best) ? "" : " *");
    }
    std::printf("\n");
  }
  std::printf("formulas: %d of %d within 10 %%, %d within 5 %%\n", near.within, near.of, close.within);
  return c;
}

constexpr int words = 4096, side = 32, rounds = 21;
constexpr all_reduce<f32> sum{.first = 0, .words = words};

struct worker {
  f32 x[words]{};
  endpoint<sum> summing;

  void fill(pe& me) {
    for (int i = 0; i < words; ++i) x[i] = static_cast<f32>((me.x() + me.y() + i) % 7);
  }
  void start(pe& me) { summing.start(me, mem(x)); }
  using tasks = task_list<launch<&worker::fill>, launch<&worker::start>, use<&worker::summing>>;
};

bool right(fabric& f) {
  for (int i = 0; i < words; ++i) {
    f32 expected = 0;
    for (int p = 0; p < side * side; ++p) expected += static_cast<f32>((p % side + p / side + i) % 7);
    for (int p = 0; p < side * side; p += 33)
      if (f.read(p % side, p / side, &worker::x)[i] != expected) return false;
  }
  return true;
}

/// Words delivered in a second by an all-reduce of 4096 words on 32 x 32 PEs, one thread: the median run. A
/// word counts once at each PE to which a router delivers it.
double all_reduce_words_per_second() {
  layout l{wse2, side, side};
  l.place<worker>(all);
  sum.wire(l);
  fabric f{l, threaded{.threads = 1}};
  std::vector<double> rates;
  for (int k = 0; k < rounds; ++k) {
    f.launch<&worker::fill>(all);
    const auto begin = std::chrono::steady_clock::now();
    const outcome done = f.launch<&worker::start>(all);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    rates.push_back(static_cast<double>(done.delivered) / took.count());
  }
  if (!right(f)) std::fprintf(stderr, "collectives: an all-reduce has a wrong total\n"), std::abort();
  std::ranges::nth_element(rates, rates.begin() + rounds / 2);
  return rates[rounds / 2];
}

}  // namespace

int main() {
  constexpr double least = 3e9;  // words a second and core
  const auto rows = bench::measure_cycles();
  count c = print_cycles(rows);
  const double rate = all_reduce_words_per_second();
  std::printf(
      "all-reduce of %d words on %d x %d PEs, 1 thread: %.2f G words/s delivered, at least %.0f G words/s "
      "wanted\n",
      words, side, side, rate * 1e-9, least * 1e-9);
  std::printf("collectives: %d of %d cases within bound, allreduce %.2f G words/s\n", c.within, c.of,
              rate * 1e-9);
  return rate >= least ? 0 : 1;
}
