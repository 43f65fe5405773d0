// SPDX-License-Identifier: MIT
// Milliseconds of a step of training: bench_train <model> <steps> [<way>], the models being mnist, char, 124m
// (4 sequences of 64), 124m-16 (16 of them), bert, t5 and unet. The ways are streaming; bf16 (the same in
// mixed precision); pipeline; resident (no wafer: two threads, all weights where they lie); and loops, a
// program of plain loops, whose first losses must be those of streaming. The batch is made up, and learned by
// heart: a run whose loss does not fall is an error. `run` prints it beside PyTorch. A way of its own is
// predicted: bench_train <model> <steps> predicted <threads> prints how many times as fast a step would be on
// that many threads and as many cores as on one, and on standard error where the time of both goes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <wsl/engine/threaded/prediction.hpp>
#include <wsl/ml.hpp>

#include "lesson.hpp"
#include "resident.hpp"

namespace {
using namespace wsl;
using bench::lesson;

lesson of(std::string_view model) {
  if (std::optional<lesson> work = bench::lesson_named(model)) return std::move(*work);
  std::fprintf(stderr, "the models are %s\n", bench::names_of_lessons);
  std::exit(1);
}

/// Plain loops with the same calls.
class looping_trainer {
 public:
  explicit looping_trainer(const lesson& work) {
    const ml::weights start(work.net, ml::streaming_settings{}.seed);
    std::vector<loops::numbers> parameters;
    for (std::size_t k = 0; k < start.size(); ++k) parameters.push_back(start[k]);
    if (work.ids.empty())
      loops_ = loops::perceptron(std::move(parameters), {784, 500, 300, 10}, work.features, work.targets);
    else loops_ = loops::decoder(std::move(parameters), work.shape, work.ids, work.targets);
  }
  f64 step(const ml::batch&, f64 rate) { return loops_->step(static_cast<f32>(rate)); }

 private:
  std::unique_ptr<loops::trainer> loops_;
};

constexpr f64 rate = 3e-4;

/// Two programs that compute the same have the same losses.
void compare(std::string_view model) {
  lesson work = of(model);
  looping_trainer plain(work);
  ml::trainer streaming(std::move(work.net), ml::optimizer::adam());
  for (int step = 0; step < 3; ++step) {
    const f64 a = streaming.step(work.data, rate), b = plain.step(work.data, rate);
    if (std::abs(a - b) < 1e-4 * a) continue;
    std::fprintf(stderr, "step %d: a loss of %.7g on the fabric, of %.7g by loops\n", step, a, b);
    std::exit(1);
  }
}

template <class Trainer>
f64 milliseconds(Trainer&& t, const ml::batch& data, int steps) {
  const f64 first = t.step(data, rate);
  std::vector<f64> times;
  f64 last = first;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    last = t.step(data, rate);
    times.push_back(std::chrono::duration<f64, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  if (!(last < first)) {
    std::fprintf(stderr, "the loss went from %g to %g\n", first, last);
    std::exit(1);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
/// The seconds of a step on so many threads, from the shortest times of steps on one with the grid for as many
/// cores.
f64 predicted(std::string_view model, int threads, int steps) {
  lesson work = of(model);
  scaling_profile profile({threads});
  ml::trainer t(std::move(work.net), ml::optimizer::adam(), {.cores = threads, .profile = &profile});
  t.step(work.data, rate);
  for (int i = 0; i < steps; ++i) {
    if (i == 0) profile.restart_to_repeat();
    else profile.repeat();
    t.step(work.data, rate);
  }
  std::fprintf(stderr, "%.*s on %d x %d workers\n%s", static_cast<int>(model.size()), model.data(),
               t.grid().rows, t.grid().columns, to_text(profile.predictions()).c_str());
  return profile.predictions()[0].seconds;
}

f64 milliseconds(lesson& work, std::string_view way, int steps) {
  if (way == "streaming")
    return milliseconds(ml::trainer(std::move(work.net), ml::optimizer::adam()), work.data, steps);
  if (way == "bf16")
    return milliseconds(
        ml::trainer(std::move(work.net), ml::optimizer::adam(), {.precision = ml::precision::bfloat16}),
        work.data, steps);
  if (way == "pipeline")
    return milliseconds(ml::pipelined_trainer(std::move(work.net), ml::optimizer::adam(), {.strips = 2}),
                        work.data, steps);
  if (way == "loops") return milliseconds(looping_trainer(work), work.data, steps);
  if (way == "resident")
    return milliseconds(bench::resident_trainer(std::move(work.net), ml::optimizer::adam()), work.data,
                        steps);
  std::fprintf(stderr, "the ways are streaming, bf16, pipeline, resident, loops and predicted\n");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view model = argc > 1 ? argv[1] : "", way = argc > 3 ? argv[3] : "streaming";
  const int steps = argc > 2 ? std::max(2, std::atoi(argv[2])) : 20;
  if (way == "predicted") {
    const int threads = argc > 4 ? std::atoi(argv[4]) : 16;
    std::printf("%.2f\n", predicted(model, 1, steps) / predicted(model, threads, steps));
    return 0;
  }
  if ((model == "bert" || model == "t5" || model == "unet") && way != "streaming" && way != "bf16") {
    std::fprintf(stderr, "the ways of bert, t5 and unet are streaming and bf16\n");
    return 1;
  }
  lesson work = of(model);
  if (way == "loops") compare(model);
  std::printf("%.3f\n", milliseconds(work, way, steps));
}
