// SPDX-License-Identifier: MIT
// Milliseconds of a step of training: bench_train <model> <steps> [<way>], the models being mnist, char and
// 124m. The ways are streaming; bf16 (weights travel in half the bytes); pipeline; resident (no wafer: two
// threads, all weights where they lie); and loops, a program of plain loops, whose first losses must be those
// of streaming. The batch is made up, and learned by heart: a run whose loss does not fall is an error. `run`
// prints it beside PyTorch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <wsl/ml.hpp>

#include "loops.hpp"
#include "resident.hpp"

namespace {
using namespace wsl;

struct lesson {
  ml::network net;
  ml::batch data = {};
  std::vector<i32> ids = {}, targets = {};
  std::vector<f32> features = {};
  loops::decoder_shape shape = {};
};

std::vector<i32> some_numbers(int count, int below) {
  std::mt19937 random(1);
  std::vector<i32> x;
  for (int i = 0; i < count; ++i) x.push_back(static_cast<i32>(random() % static_cast<unsigned>(below)));
  return x;
}

lesson images() {
  constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<500, 300>{},
                             ml::elementwise<ml::relu>{}, ml::linear<300, 10>{}};
  lesson t{net.build()};
  t.targets = some_numbers(256, 10);
  for (i32 v : some_numbers(256 * 784, 256)) t.features.push_back(static_cast<f32>(v) / 255);
  t.data = {.features = t.features, .targets = t.targets, .sequences = 256};
  return t;
}
lesson text(const ml::decoder& model, int sequences, int length) {
  lesson t{model.build()};
  t.ids = some_numbers(sequences * length, model.vocabulary),
  t.targets = some_numbers(sequences * length, model.vocabulary);
  t.data = {.ids = t.ids, .targets = t.targets, .sequences = sequences, .length = length};
  t.shape = {model.vocabulary, model.layers, model.heads,
             model.width,      model.bias.norms,   model.between == ml::nonlinearity::gelu_tanh,
             sequences,        length};
  return t;
}
lesson of(std::string_view model) {
  if (model == "mnist") return images();
  if (model == "char")
    return text({.vocabulary = 65, .positions = 64, .layers = 4, .heads = 4, .width = 128, .bias = false}, 12,
                64);
  if (model == "124m")
    return text({.vocabulary = 50257,
                 .positions = 1024,
                 .layers = 12,
                 .heads = 12,
                 .width = 768,
                 .between = ml::nonlinearity::gelu_tanh},
                4, 64);
  std::fprintf(stderr, "the models are mnist, char and 124m\n");
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
f64 milliseconds(lesson& work, std::string_view way, int steps) {
  if (way == "streaming")
    return milliseconds(ml::trainer(std::move(work.net), ml::optimizer::adam()), work.data, steps);
  if (way == "bf16")
    return milliseconds(ml::trainer(std::move(work.net), ml::optimizer::adam(),
                                    {.precision = ml::precision::bfloat16}),
                        work.data, steps);
  if (way == "pipeline")
    return milliseconds(ml::pipelined_trainer(std::move(work.net), ml::optimizer::adam(), {.strips = 2}),
                        work.data, steps);
  if (way == "loops") return milliseconds(looping_trainer(work), work.data, steps);
  if (way == "resident")
    return milliseconds(bench::resident_trainer(std::move(work.net), ml::optimizer::adam()), work.data,
                        steps);
  std::fprintf(stderr, "the ways are streaming, bf16, pipeline, resident and loops\n");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view model = argc > 1 ? argv[1] : "", way = argc > 3 ? argv[3] : "streaming";
  lesson work = of(model);
  if (way == "loops") compare(model);
  std::printf("%.3f\n", milliseconds(work, way, argc > 2 ? std::max(2, std::atoi(argv[2])) : 20));
}
