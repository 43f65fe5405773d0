// SPDX-License-Identifier: MIT
// Mixed precision learns as much as f32: drawn digits, and the characters of a text.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/data/permutation.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;

struct digits {
  std::vector<f32> features;
  std::vector<i32> targets;
  digits(const ml::images& x, i64 first, i64 count) {
    constexpr i64 size = 784;
    for (i64 i = first * size; i < (first + count) * size; ++i)
      features.push_back(static_cast<f32>(x.pixels[static_cast<std::size_t>(i)]) / 255);
    for (i64 i = first; i < first + count; ++i) targets.push_back(x.labels[static_cast<std::size_t>(i)]);
  }
  ml::batch all() const {
    return {.features = features, .targets = targets, .sequences = static_cast<int>(targets.size())};
  }
};
/// Sentences of few words, from the seed.
struct sentences {
  static constexpr int count = 8, length = 24;
  std::vector<i32> ids, targets;
  explicit sentences(u64 seed) {
    constexpr std::string_view words[] = {"weights ", "stream ", "past ",      "the ",
                                          "wafer ",   "and ",    "gradients ", "return "};
    for (u64 s = 0; s < count; ++s) {
      std::string text;
      for (u64 k = 0; text.size() <= length; ++k) text += words[ml::scramble(seed * 1000 + s * 100 + k) % 8];
      for (std::size_t t = 0; t < length; ++t) ids.push_back(id(text[t])), targets.push_back(id(text[t + 1]));
    }
  }
  static i32 id(char c) { return c == ' ' ? 26 : c - 'a'; }
  ml::batch all() const { return {.ids = ids, .targets = targets, .sequences = count, .length = length}; }
};

struct result {
  f64 loss = 0;  // the mean over the last third of the steps
  std::vector<f32> weights;
};
template <class Lesson>
result trained(ml::network n, ml::precision p, int threads, int steps, f64 rate, Lesson lesson) {
  ml::trainer t(std::move(n), ml::optimizer::adamw(),
                {.workers = 2, .seed = 5, .threads = threads, .precision = p});
  result r;
  for (int step = 0; step < steps; ++step)
    if (const f64 loss = t.step(lesson(step).all(), rate); 3 * step >= 2 * steps) r.loss += 3 * loss / steps;
  for (std::size_t k = 0; k < t.parameters().size(); ++k)
    r.weights.insert(r.weights.end(), t.parameters()[k].begin(), t.parameters()[k].end());
  return r;
}
template <class Build, class Lesson>
void check_formats(Build build, int steps, f64 rate, f64 at_most, Lesson lesson) {
  const result whole = trained(build(), ml::precision::f32, 2, steps, rate, lesson);
  CHECK(whole.loss < at_most);
  for (const ml::precision p : {ml::precision::bfloat16, ml::precision::float16, ml::precision::cbfloat16}) {
    INFO(ml::name_of(p));
    const result half = trained(build(), p, 2, steps, rate, lesson);
    CHECK(half.loss == Approx(whole.loss).epsilon(0.01));
    CHECK(half.weights != whole.weights);
    CHECK(trained(build(), p, 1, steps / 10, rate, lesson).weights ==
          trained(build(), p, 2, steps / 10, rate, lesson).weights);
  }
}

TEST_CASE(
    "In 16 bits digits are learned to 1 % of the loss of f32, and to the same bits on one thread and two",
    "[large]") {
  constexpr ml::sequence net{ml::linear<784, 64>{}, ml::elementwise<ml::relu>{}, ml::linear<64, 10>{}};
  const ml::images drawn = ml::draw_digits(4096, 1);
  check_formats([&] { return net.build(); }, 300, 1e-3, 0.5,
                [&](int step) { return digits(drawn, 64 * (step % 64), 64); });
}

TEST_CASE(
    "In 16 bits a text is learned to 1 % of the loss of f32, and to the same bits on one thread and two",
    "[large]") {
  const ml::decoder d{.vocabulary = 27, .positions = sentences::length, .layers = 1, .heads = 2, .width = 32};
  check_formats([&] { return d.build(); }, 200, 3e-3, 0.5,
                [](int step) { return sentences(static_cast<u64>(step)); });
}

}  // namespace
