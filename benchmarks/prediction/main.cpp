// SPDX-License-Identifier: MIT
// Predicted times on more threads (docs/scaling.md), by a run on one: bench_prediction [<threads> ...]. For
// each program a table for these numbers of threads, where a trainer has the grid that it would have on so
// many cores; and a check, the predictions for one and two threads beside what they take, on the grid of two
// cores. Another program may disturb both, so each is the best of some steps, a measured one of those in
// which no thread was interrupted. It fails if a prediction is off by more than 15 %.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <wsl/engine/threaded/prediction.hpp>

#include "../fabric/relay.hpp"
#include "../train/lesson.hpp"

namespace {
using namespace wsl;

/// Makes a program for so many cores, on so many threads, and returns a step of it.
using program = std::function<std::function<void()>(int cores, int threads, scaling_profile*)>;

program training(bench::lesson (*of)()) {
  return [of](int cores, int threads, scaling_profile* profile) -> std::function<void()> {
    const auto work = std::make_shared<bench::lesson>(of());
    const auto t = std::make_shared<ml::trainer>(
        std::move(work->net), ml::optimizer::adamw(),
        ml::streaming_settings{.cores = cores, .threads = threads, .profile = profile});
    return [work, t] { t->step(work->data, 1e-3); };
  };
}
std::function<void()> relays(int, int threads, scaling_profile* profile) {
  const auto f =
      std::make_shared<fabric>(bench::relay_rows(32, 32), threaded{.threads = threads, .observer = profile});
  return [f] { f->launch<&bench::even_relay::start>(column(0), 2'000); };
}

/// From the shortest times of some steps.
scaling_prediction predicted(const program& p, int cores, int threads) {
  constexpr int steps = 20;
  scaling_profile profile({threads});
  const auto step = p(cores, 1, &profile);
  step(), step();
  for (int k = 0; k < steps; ++k) {
    if (k == 0) profile.restart_to_repeat();
    else profile.repeat();
    step();
  }
  return profile.predictions()[0];
}

long interruptions() {
  rusage all;
  getrusage(RUSAGE_SELF, &all);
  return all.ru_nivcsw;
}

struct measurement {
  f64 seconds = 1e30;
  int rounds = 0;  ///< in which no thread was interrupted
};
measurement measured(const program& p, int threads) {
  constexpr int most = 100, enough = 30;
  const auto clock = threads == 1 ? engines::thread_time : engines::monotonic_time;
  const auto step = p(2, threads, nullptr);
  step(), step();
  measurement best;
  for (int k = 0; k < most && best.rounds < enough; ++k) {
    const long before = interruptions();
    const u64 from = clock();
    step();
    const f64 seconds = 1e-9 * static_cast<f64>(clock() - from);
    if (threads > 1 && interruptions() != before) continue;
    best.seconds = std::min(best.seconds, seconds), ++best.rounds;
  }
  return best;
}

bool check(const char* name, const program& p, const std::vector<int>& threads) {
  std::printf("%s\n", name);
  std::vector<scaling_prediction> table;
  for (const int n : threads) table.push_back(predicted(p, n, n));
  for (scaling_prediction& x : table) x.speedup = table.front().seconds / x.seconds;
  std::fputs(to_text(table).c_str(), stdout);
  bool is_near = true;
  for (const int n : {1, 2}) {
    const f64 expected = predicted(p, 2, n).seconds;
    const measurement m = measured(p, n);
    if (m.rounds == 0) {
      std::printf("on %d of 2 cores: predicted %.3f ms, not measured: other programs run\n", n,
                  1e3 * expected);
      continue;
    }
    const f64 ratio = expected / m.seconds;
    std::printf("on %d of 2 cores: predicted %.3f ms, measured %.3f ms (best of %d), ratio %.2f\n", n,
                1e3 * expected, 1e3 * m.seconds, m.rounds, ratio);
    is_near &= ratio > 0.85 && ratio < 1.15;
  }
  std::puts("");
  return is_near;
}

}  // namespace

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<int> threads{1};
  for (int k = 1; k < count; ++k) threads.push_back(std::atoi(words[k]));
  if (count == 1) threads = {1, 2, 4, 8, 16, 64};
  const barrier_cost& b = barrier_cost::measured();
  std::printf(
      "barrier: %.0f ns, and %.0f ns for each further thread; sleep after %.0f us; wake %.1f us, and %.1f "
      "us for each further one\n\n",
      b.alone, b.a_thread, b.spin / 1e3, b.wake / 1e3, b.wake_each / 1e3);
  bool is_near = check("relay of 32 x 32 PEs, 2000 waves", relays, threads);
  is_near &= check("MNIST 784-500-300-10, batch 256", training(bench::images), threads);
  is_near &= check("character decoder of 4 layers, width 128, 12 x 64", training(bench::characters), threads);
  return is_near ? 0 : 1;
}
