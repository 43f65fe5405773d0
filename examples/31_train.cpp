// SPDX-License-Identifier: MIT
// Two models learn on the fabric: one tells the two arms of a spiral apart, one learns a sentence letter by
// letter and says it. Weights stream past PEs that keep the activations, and gradients go back.
#include <wsl/ml.hpp>

#include <cmath>
#include <cstdio>
#include <string>
using namespace wsl;

constexpr ml::sequence net{ml::linear<2, 32>{}, ml::elementwise<ml::gelu>{}, ml::linear<32, 32>{},
                           ml::elementwise<ml::gelu>{}, ml::linear<32, 2>{}};

bool learns_a_spiral() {
  constexpr int points = 200;
  std::vector<f32> x;
  std::vector<i32> arm;
  for (int i = 0; i < points; ++i) {
    const f32 t = static_cast<f32>(i / 2) / points * 2, angle = 6 * t + (i % 2 ? 3.14159265f : 0);
    x.push_back(t * std::cos(angle)), x.push_back(t * std::sin(angle)), arm.push_back(i % 2);
  }
  ml::trainer t(net.build(), ml::optimizer::adamw(), {.workers = 4});
  const ml::batch both{.features = x, .targets = arm, .sequences = points};
  const ml::rate::schedule rate = ml::rate::cosine(2e-2, 0, 300);
  const f64 before = t.evaluate(both);
  for (int step = 0; step < 300; ++step) t.step(both, rate(step));
  const bool learned = before > 0.5 && t.evaluate(both) < 0.05;
  std::printf("the spiral: %s\n", learned ? "learned" : "not learned");
  return learned;
}

bool learns_a_sentence() {
  const std::string sentence = "the fabric keeps what it knows and lets the weights pass by. ";
  constexpr int sequences = 4, length = 24;
  ml::trainer t(
      ml::decoder{.vocabulary = 128, .positions = length, .layers = 2, .heads = 2, .width = 32}.build(),
      ml::optimizer::adamw({.beta2 = 0.95f, .decay = 0.1f}).with_decay_of(ml::decays::matrices),
      {.workers = 2, .clip_norm = 1});
  const ml::rate::schedule rate = ml::rate::cosine(5e-3, 0, 400);
  const auto letter = [&](int i) {
    return static_cast<i32>(sentence[static_cast<std::size_t>(i) % sentence.size()]);
  };
  for (int step = 0; step < 400; ++step) {
    std::vector<i32> ids, next;
    for (int i = 0; i < sequences * length; ++i) {
      const int at = 7 * step + 15 * (i / length) + i % length;
      ids.push_back(letter(at)), next.push_back(letter(at + 1));
    }
    t.step({.ids = ids, .targets = next, .sequences = sequences, .length = length}, rate(step));
  }
  // Generation: it says the sentence by appending, again and again, the letter with the largest logit.
  std::string said = sentence.substr(0, length);
  while (said.size() < sentence.size()) {
    const std::vector<i32> ids(said.end() - length, said.end());
    const std::vector<f32> logits = t.predict({.ids = ids, .sequences = 1, .length = length});
    said += static_cast<char>(ml::argmax(std::span(logits).last(128)));
  }
  std::printf("the sentence: %s\n", said.c_str());
  return said == sentence;
}

int main() {
  const bool spiral = learns_a_spiral(), said = learns_a_sentence();
  return spiral && said ? 0 : 1;
}
