// SPDX-License-Identifier: MIT
// Optimizers beyond Adam: what each keeps beside the weights, settings for groups of parameters, and a moving
// average of the weights. Lamb and Adafactor need sums over whole parameters, although every server of the
// memory updates only its own tiles.
#include <wsl/ml.hpp>

#include <cstdio>
using namespace wsl;
using ml::optimizer;

ml::network model() {
  return ml::decoder{.vocabulary = 32, .positions = 16, .layers = 1, .heads = 2, .width = 32}.build();
}

struct text {
  std::vector<i32> ids, next;
  explicit text(int from) {
    const auto letter = [](int i) { return static_cast<i32>(7 * (i % 12) % 32); };
    for (int i = from; i < from + 4 * 16; ++i) ids.push_back(letter(i)), next.push_back(letter(i + 1));
  }
  ml::batch all() const { return {.ids = ids, .targets = next, .sequences = 4, .length = 16}; }
};

bool learns(const optimizer& rule, f64 rate) {
  ml::trainer t(model(), rule, {.workers = 2});
  const f64 before = t.evaluate(text(0).all());
  for (int step = 0; step < 60; ++step) t.step(text(5 * step).all(), rate);
  const f64 after = rule.average.is_on() ? t.with_average([&] { return t.evaluate(text(1).all()); })
                                         : t.evaluate(text(1).all());
  const f64 weights = static_cast<f64>(t.model().parameter_count()),
            kept = static_cast<f64>(ml::kept_numbers(rule, t.model().parameters()));
  const bool learned = after < before / 4;
  std::printf("%-10s keeps %4.2f numbers a weight: %s\n", std::string(rule.name()).c_str(), kept / weights,
              learned ? "learned" : "not learned");
  return learned;
}

int main() {
  bool each_learned = learns(optimizer::sgd(), 0.5);
  each_learned &= learns(optimizer::lion({.decay = 0.1f}), 2e-3);
  each_learned &= learns(optimizer::rmsprop({.momentum = 0.5f, .centered = true}), 2e-3);
  each_learned &= learns(optimizer::lamb({.decay = 0.01f}), 2e-2);
  each_learned &= learns(optimizer::adafactor(), 5e-2);
  // No decay for biases and norms, half the rate for the tables, and the average of the last 20 steps or so.
  each_learned &= learns(optimizer::adamw({.beta2 = 0.95f, .decay = 0.1f})
                             .with_group({"*.bias", "*.gain"}, {.decay = 0})
                             .with_group({"embedding.*"}, {.rate_factor = 0.5f})
                             .with_average({.decay = 0.95f, .start = 20}),
                         1e-2);
  return each_learned ? 0 : 1;
}
