// SPDX-License-Identifier: MIT
// One model, two ways to train it: weights that stream past the activations, and a pipeline in which every
// layer has a strip of the wafer and the samples stream through. Both learn the same.
#include <wsl/ml.hpp>

#include <cmath>
#include <cstdio>
#include <random>
using namespace wsl;

constexpr int pixels = 144, digits = 10, count = 256;
constexpr ml::sequence net{ml::linear<pixels, 100>{}, ml::elementwise<ml::relu>{}, ml::linear<100, 60>{},
                           ml::elementwise<ml::relu>{}, ml::linear<60, digits>{}};

/// Ten patterns under noise.
struct images {
  std::vector<f32> pixels;
  std::vector<i32> labels;
  explicit images(unsigned seed) {
    std::mt19937 noise(seed);
    for (int i = 0; i < count; ++i) {
      std::mt19937 pattern(static_cast<unsigned>(i % digits));
      for (int p = 0; p < ::pixels; ++p)
        this->pixels.push_back((pattern() % 2 ? 0.5f : -0.5f) + static_cast<f32>(noise() % 1000) / 250 - 2);
      labels.push_back(i % digits);
    }
  }
  ml::batch all() const { return {.features = pixels, .targets = labels, .sequences = count}; }
};

template <class Trainer>
f64 learned(Trainer& t) {
  const images lesson(1), test(2);
  for (int step = 0; step < 40; ++step) t.step(lesson.all(), 2e-3);
  const std::vector<f32> logits = t.predict(test.all());
  int right = 0;
  for (std::size_t i = 0; i < count; ++i)
    right += ml::argmax(std::span(logits).subspan(i * digits, digits)) == test.labels[i];
  return 100. * right / count;
}

int main() {
  ml::trainer streamed(net.build(), ml::optimizer::adam());
  ml::pipelined_trainer pipelined(net.build(), ml::optimizer::adam(), {.strips = 4, .micro_batch_size = 16});
  const f64 a = learned(streamed), b = learned(pipelined);
  std::printf("weight streaming: %s, pipeline: %s of what it had not seen, and %s\n",
              a > 90 ? "more than 90 %" : "too little", b > 90 ? "more than 90 %" : "too little",
              std::abs(a - b) < 1 ? "as much as the other" : "not as much");
  for (const auto& s : pipelined.report().strips)
    std::printf("%5.1f %% of the work: %s\n", 100 * s.share, s.layers.c_str());
  return a > 90 && std::abs(a - b) < 1 ? 0 : 1;
}
