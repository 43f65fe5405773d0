// SPDX-License-Identifier: MIT
// Prompts and completions as the sequences of a decoder.
#include <catch2/catch.hpp>
#include <cmath>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/text/encode/completions.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Contains;
using ids = std::vector<i32>;
constexpr i32 no = decoder::no_label;

ids of(std::span<const i32> x) { return {x.begin(), x.end()}; }

TEST_CASE("Completions and their ends alone have targets") {
  completions all({.length = 8, .begin = {1}, .separator = {2, 3}, .end = 9});
  CHECK(all.add({4, 5}, {6, 7}));
  CHECK(all.add({}, {8}));
  batches data(all.data(), {.size = 2, .shuffle = false});
  const loaded_batch b = data.next();
  CHECK(b.ids == ids{1, 4, 5, 2, 3, 6, 7, 9, 1, 2, 3, 8, 9, 9, 9, 9});
  CHECK(b.targets == ids{no, no, no, no, 6, 7, 9, no, no, no, 8, 9, no, no, no, no});
  CHECK(of(all.prompt(0)) == ids{1, 4, 5, 2, 3});
  CHECK(of(all.completion(0)) == ids{6, 7});
  CHECK(of(all.prompt(1)) == ids{1, 2, 3});
  CHECK(all.targets() == 5);
  CHECK(all.largest() == 9);
  CHECK(all.about() == "2 pairs, 5 tokens of completions");
}

TEST_CASE("A prompt that is too long is cut, and a completion that has no room is left out") {
  completions all({.length = 4, .separator = {2}, .end = 9});
  CHECK(all.add({3, 4, 5}, {6, 7}));  // 3 2 6 7 | 9
  CHECK(all.add({3, 4}, {6, 7, 8}));  // 2 6 7 8 | 9
  CHECK_FALSE(all.add({}, {5, 6, 7, 8}));
  CHECK(all.add({3}, {6, 7}));
  CHECK((all.count() == 3 && all.cut() == 2 && all.left_out() == 1));
  CHECK(of(all.prompt(0)) == ids{3, 2});
  CHECK(of(all.prompt(1)) == ids{2});
  batches data(all.data(), {.size = 3, .shuffle = false});
  const loaded_batch b = data.next();
  CHECK(b.ids == ids{3, 2, 6, 7, 2, 6, 7, 8, 3, 2, 6, 7});
  CHECK(b.targets == ids{no, 6, 7, 9, 6, 7, 8, 9, no, 6, 7, 9});
  CHECK_THAT(all.about(), Contains("the prompts of 2 are too long and are cut; 1 are left out"));
  CHECK_THROWS_WITH(completions({.length = 2, .separator = {1, 2}}), Contains("no room for a completion"));
}

TEST_CASE("The loss of a decoder is the mean over the completions alone") {
  // A model of the batch's own tokens: its loss is that of the targets, whatever is before and behind them.
  completions all({.length = 8, .separator = {2}, .end = 9});
  all.add({4, 5, 4}, {6}), all.add({3}, {7, 8, 6});
  batches data(all.data(), {.size = 2, .shuffle = false});
  const loaded_batch b = data.next();
  const decoder d{.vocabulary = 10, .positions = 8, .layers = 1, .heads = 2, .width = 8, .deviation = 0.5f};
  trainer t(d.build(), optimizer::sgd(), {.workers = 2, .columns = 1, .seed = 3});
  const std::vector<f32> logits = t.predict(b.view());
  f64 sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < b.targets.size(); ++i) {
    if (b.targets[i] == no) continue;
    f64 total = 0;
    for (std::size_t c = 0; c < 10; ++c) total += std::exp(static_cast<f64>(logits[10 * i + c]));
    sum += std::log(total) - static_cast<f64>(logits[10 * i + static_cast<std::size_t>(b.targets[i])]);
    ++count;
  }
  CHECK(count == 6);
  CHECK(t.evaluate(b.view()) == Approx(sum / count).epsilon(1e-5));
  // Padding changes nothing.
  loaded_batch other = b;
  other.ids[7] = 1, other.ids[15] = 1;
  CHECK(t.evaluate(other.view()) == Approx(sum / count).epsilon(1e-5));
}

}  // namespace
