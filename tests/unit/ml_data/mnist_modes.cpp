// SPDX-License-Identifier: MIT
// The same model of MNIST learns as much by weight streaming as in a pipeline.
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>
#include <wsl/ml/data/images.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/run/sample.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;

constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<500, 300>{},
                           ml::elementwise<ml::relu>{}, ml::linear<300, 10>{}};
constexpr int size = 784, classes = 10;

struct lesson {
  std::vector<f32> features;
  std::vector<i32> targets;
  lesson(const ml::images& x, int first, int count) {
    for (i64 i = first; i < first + count; ++i) {
      for (i64 p = 0; p < size; ++p)
        features.push_back(
            (static_cast<f32>(x.pixels[static_cast<std::size_t>(i * size + p)]) / 255 - 0.1307f) / 0.3081f);
      targets.push_back(x.labels[static_cast<std::size_t>(i)]);
    }
  }
  ml::batch all() const {
    return {.features = features, .targets = targets, .sequences = static_cast<int>(targets.size())};
  }
};

template <class Trainer>
f64 accuracy(Trainer t, const ml::images& train, const lesson& test, int steps) {
  for (int step = 0; step < steps; ++step) t.step(lesson(train, 256 * (step % 234), 256).all(), 1e-3);
  const std::vector<f32> logits = t.predict(test.all());
  f64 right = 0;
  for (std::size_t i = 0; i < test.targets.size(); ++i)
    right += ml::argmax(std::span(logits).subspan(classes * i, classes)) == test.targets[i];
  return right / static_cast<f64>(test.targets.size());
}

void check_modes(int steps, int tests, f64 at_least) {
  const char* folder = std::getenv("WSL_DATA_DIR");
  if (!folder || !std::filesystem::exists(std::string(folder) + "/mnist")) {
    WARN("no MNIST in WSL_DATA_DIR");
    return;
  }
  const std::string data = std::string(folder) + "/mnist";
  const ml::images train = ml::read_mnist(data, ml::mnist_part::train);
  const lesson test(ml::read_mnist(data, ml::mnist_part::test), 0, tests);
  const f64 streamed = accuracy(ml::trainer(net.build(), ml::optimizer::adam()), train, test, steps);
  const f64 pipelined = accuracy(
      ml::pipelined_trainer(net.build(), ml::optimizer::adam(), {.strips = 4, .micro_batch_size = 32}), train,
      test, steps);
  CHECK(streamed > at_least);
  CHECK(pipelined == Approx(streamed).margin(0.005));
}

TEST_CASE("MNIST is learned as well in a pipeline as by weight streaming", "[large]") {
  check_modes(30, 1000, 0.8);
}

// The least of eight seeds after three passes is 97.3 %.
TEST_CASE("Three passes of MNIST in both modes", "[.long]") { check_modes(3 * 234, 10000, 0.969); }

}  // namespace
