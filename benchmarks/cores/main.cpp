// SPDX-License-Identifier: MIT
// Milliseconds of a step of training on several numbers of threads: bench_cores <model> <steps> <f32|bf16>
// <case>..., with the models of bench_train. A case is a number of threads, for which a grid is chosen, or
// <threads>:<rows>x<columns>; `p` before it predicts the same on one thread (docs/scaling.md), and `r` prints
// also where the last step went. Each case is a line with the best and the median step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>
#include <wsl/engine/threaded/prediction.hpp>
#include <wsl/ml.hpp>
#include <wsl/ml/train/report_text.hpp>

#include "../train/lesson.hpp"

namespace {
using namespace wsl;
constexpr f64 rate = 3e-4;

struct trial {
  bool predicts = false, reports = false;
  int threads = 1, rows = 0, columns = 0;

  explicit trial(const char* text) {
    for (; *text == 'p' || *text == 'r'; ++text) (*text == 'p' ? predicts : reports) = true;
    if (const int n = std::sscanf(text, "%d:%dx%d", &threads, &rows, &columns); n != 1 && n != 3) {
      std::fprintf(stderr, "a case is like 16, 16:4x4, p16 or r16:2x8, not %s\n", text);
      std::exit(1);
    }
  }
  ml::streaming_settings settings(ml::precision as, scaling_profile* profile) const {
    return {.workers = rows * columns,
            .columns = columns,
            .cores = threads,
            .threads = predicts ? 1 : threads,
            .precision = as,
            .profile = profile};
  }
};

void run(std::string_view model, int steps, ml::precision as, const trial& x) {
  bench::lesson work = *bench::lesson_named(model);
  scaling_profile profile({x.threads});
  ml::trainer t(std::move(work.net), ml::optimizer::adam(), x.settings(as, x.predicts ? &profile : nullptr));
  t.step(work.data, rate), t.step(work.data, rate);
  std::vector<f64> times;
  scaling_prediction best{.seconds = 1e30};
  for (int i = 0; i < steps; ++i) {
    profile.restart();
    const auto start = std::chrono::steady_clock::now();
    t.step(work.data, rate);
    if (x.predicts) {
      const scaling_prediction now = profile.predictions()[0];
      if (now.seconds < best.seconds) best = now;
      times.push_back(1e3 * now.seconds);
    } else
      times.push_back(
          std::chrono::duration<f64, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("%-8.*s %s %2d threads, %2d x %2d workers, %s: best %9.3f, median %9.3f ms\n",
              static_cast<int>(model.size()), model.data(), as == ml::precision::f32 ? "f32 " : "bf16",
              x.threads, t.grid().rows, t.grid().columns, x.predicts ? "predicted" : "measured ", times[0],
              times[times.size() / 2]);
  if (x.predicts && x.reports) {
    best.speedup = 1;
    std::fputs(to_text(std::span<const scaling_prediction>(&best, 1)).c_str(), stdout);
  }
  if (!x.predicts && x.reports) std::puts(ml::to_text(t.report()).c_str());
}

}  // namespace

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (count < 5 || !bench::lesson_named(words[1])) {
    std::fprintf(stderr, "usage: bench_cores <model> <steps> <f32|bf16> <case>...; the models are %s\n",
                 bench::names_of_lessons);
    return 1;
  }
  const ml::precision as =
      std::string_view(words[3]) == "bf16" ? ml::precision::bfloat16 : ml::precision::f32;
  for (int k = 4; k < count; ++k) run(words[1], std::max(1, std::atoi(words[2])), as, trial(words[k]));
}
