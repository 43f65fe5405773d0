// SPDX-License-Identifier: MIT
// Libraries at work: random numbers, the standard library's functions, and the PE's clock. Every PE throws
// darts at a square and counts those that hit the circle inscribed in it; the timed engine says how long a
// dart takes if a square root takes 20 cycles.
#include <wsl/engine/timed.hpp>
#include <wsl/program/random.hpp>
#include <wsl/wsl.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

constexpr int W = 4, darts = 20'000;

struct thrower {
  prng random;
  u64 begin = 0, end = 0;
  u32 hits = 0;

  void go(pe& me) {
    random.seed(2026, me);  // another sequence on each PE
    begin = me.now();
    for (int i = 0; i < darts; ++i) {
      const f32 x = random.uniform(-1, 1), y = random.uniform(-1, 1);
      hits += std::sqrt(x * x + y * y) <= 1;
      me.spend(20);
    }
    end = me.now();
  }

  using tasks = task_list<launch<&thrower::go>>;
};

constexpr layout four = layout{wse2, W, 1}.place<thrower>(all);
static_assert(routed<four>());

int main() {
  fabric f{four, timed{}};
  f.launch<&thrower::go>(all);

  bool right = true;
  u32 hits = 0;
  for (int x = 0; x < W; ++x) {
    const thrower& t = f.program_at<thrower>({x, 0});
    hits += t.hits;
    right = right && t.end - t.begin == 20 * darts &&
            (x == 0 || t.hits != f.program_at<thrower>({x - 1, 0}).hits);
    std::printf("PE %d: %u hits, %llu cycles\n", x, t.hits, static_cast<unsigned long long>(t.end - t.begin));
  }
  const double pi = 4. * hits / (W * darts);
  std::printf("pi is about %.4f\n", pi);
  return right && std::abs(pi - 3.14159) < 0.02 ? 0 : 1;  // about 3.5 standard deviations
}
