// SPDX-License-Identifier: MIT
// Pairs of answers as sequences of a decoder, and the log-probabilities of their reference.
#include <catch2/catch.hpp>
#include <numeric>
#include <wsl/ml/data/text/encode/preference_pairs.hpp>
#include <wsl/ml/model/preference.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Contains;
using ids = std::vector<i32>;
constexpr i32 no = decoder::no_label;

ids of(const batch& b, std::string_view name) {
  for (const named_numbers& x : b.named)
    if (x.name == name) return {x.ids.begin(), x.ids.end()};
  return {};
}
preference_batch in_order(const dataset& all, int size, std::span<const f32> reference = {}) {
  batches data(all, {.size = size, .shuffle = false});
  return preference_batch(data.next(), reference);
}

TEST_CASE("The labels of both answers and their ends alone count") {
  preference_pairs all({.length = 6, .begin = {1}, .end = 9});
  all.add({4, 5}, {6, 9}, {7, 8, 9}), all.add({}, {8, 9}, {9});
  const preference_batch b = in_order(all.data(), 2);
  const batch seen = b.view();
  CHECK((seen.sequences == 4 && seen.length == 6));
  CHECK(of(seen, "ids") == ids{1, 4, 5, 6, 9, 9, 1, 4, 5, 7, 8, 9, 1, 8, 9, 9, 9, 9, 1, 9, 9, 9, 9, 9});
  CHECK(of(seen, "labels") ==
        ids{no, no, 6, 9, no, no, no, no, 7, 8, 9, no, 8, 9, no, no, no, no, 9, no, no, no, no, no});
  CHECK(ids(b.pairs().begin(), b.pairs().end()) == ids{0, 1});
  CHECK(of(seen, "pair").empty());
  CHECK(all.targets() == 8);
  CHECK(all.largest() == 9);
  CHECK(all.about() == "2 pairs, 8 tokens of answers");
  const preference_batch scored = in_order(all.scored_data(), 2);
  CHECK(of(scored.view(), "ids") ==
        ids{1, 4, 5, 6, 9, 9, 1, 4, 5, 7, 8, 9, 1, 8, 9, 9, 9, 9, 1, 9, 9, 9, 9, 9});
  CHECK(of(scored.view(), "attention_mask") ==
        ids{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0});
}

TEST_CASE("A prompt that is too long loses its first tokens, and then an answer its last") {
  preference_pairs all({.length = 4, .end = 9});
  all.add({3, 4, 5, 6}, {7, 9}, {7, 8, 9});     // 5 6 7 | 9 and 5 6 7 8 | 9
  all.add({3, 4}, {5, 6, 7, 8, 2, 9}, {6, 9});  // 4 5 6 7 | 8 and 4 6 | 9
  CHECK((all.cut_prompts() == 2 && all.cut_answers() == 1));
  const preference_batch b = in_order(all.data(), 2);
  CHECK(of(b.view(), "ids") == ids{5, 6, 7, 9, 5, 6, 7, 8, 4, 5, 6, 7, 4, 6, 9, 9});
  CHECK(of(b.view(), "labels") == ids{no, 7, 9, no, no, 7, 8, 9, 5, 6, 7, 8, 6, 9, no, no});
  CHECK_THAT(all.about(), Contains("; 2 prompts and 1 answers are too long and are cut"));
  const batch scored = in_order(all.scored_data(), 2).view();
  CHECK(scored.sequences == 4);
  CHECK_THROWS_WITH(all.add({}, {1}, {2}), Contains("the prompt of a pair has no token"));
  CHECK_THROWS_WITH(all.add({1}, {}, {2}), Contains("the chosen answer of a pair has no token"));
  CHECK_THROWS_WITH(all.add({1}, {2}, {}), Contains("the rejected answer of a pair has no token"));
  CHECK_THROWS_WITH(preference_pairs({.length = 1, .begin = {1}}), Contains("has no room for a prompt"));
}

preference_pairs some(int count) {
  preference_pairs all({.length = 7, .end = 9});
  for (i32 k = 0; k < count; ++k)
    all.add({k % 5, (3 * k) % 7}, {1 + k % 3, 2, 9}, {3 + k % 4, k % 9, (2 * k) % 9, 9});
  return all;
}

TEST_CASE("Pairs stay together in every epoch, with the numbers of their reference") {
  const preference_pairs all = some(11);
  std::vector<f32> reference(22);
  std::iota(reference.begin(), reference.end(), 0.f);
  const preference_batch whole = in_order(all.data(), 11, reference);
  const ids tokens = of(whole.view(), "ids");
  batches data(all.data(), {.size = 3, .seed = 5});
  bool moved = false;
  for (int k = 0; k < 7; ++k) {
    const preference_batch b(data.next(), reference);
    const ids here = of(b.view(), "ids");
    for (std::size_t i = 0; i < 3; ++i) {
      const auto pair = static_cast<std::size_t>(b.pairs()[i]);
      moved = moved || pair != static_cast<std::size_t>(k) * 3 + i;
      CHECK(std::equal(here.begin() + static_cast<std::ptrdiff_t>(14 * i),
                       here.begin() + static_cast<std::ptrdiff_t>(14 * (i + 1)),
                       tokens.begin() + static_cast<std::ptrdiff_t>(14 * pair)));
      CHECK(b.reference()[2 * i] == reference[2 * pair]);
      CHECK(b.reference()[2 * i + 1] == reference[2 * pair + 1]);
    }
  }
  CHECK(moved);
  CHECK_THROWS_WITH(in_order(all.data(), 11, std::span(reference).first(20)),
                    Contains("of 10 pairs, and there is a pair 10"));
}

TEST_CASE("The reference of all pairs is computed once, in batches of any size") {
  const preference_pairs all = some(7);
  const preference_model m{
      {.vocabulary = 10, .positions = 7, .layers = 1, .heads = 2, .width = 8, .deviation = 0.5f},
      {.beta = 0.2f}};
  trainer by(m.log_probabilities(), optimizer::sgd(), {.workers = 2, .columns = 1});
  const auto computed = [&](int size) {
    i64 pairs = 0;
    const std::vector<f32> found = reference_of_all(
        all.data(), size, [&](const batch& b) { return by.predict(b); }, [&](i64 n) { pairs += n; });
    CHECK(pairs == 7);
    return found;
  };
  const std::vector<f32> one = computed(1), three = computed(3), many = computed(100);
  REQUIRE((one.size() == 14 && three.size() == 14 && many.size() == 14));
  for (std::size_t k = 0; k < 14; ++k) {
    CHECK(three[k] == Approx(one[k]).epsilon(1e-5));
    CHECK(many[k] == Approx(one[k]).epsilon(1e-5));
  }
  // A policy that is its reference has the loss log 2.
  trainer policy(m.build(), optimizer::sgd(), {.workers = 2, .columns = 1});
  policy.parameters() = weights(by.parameters());
  CHECK(policy.evaluate(in_order(all.data(), 7, one).view()) == Approx(std::log(2.)).epsilon(1e-5));
}
}  // namespace
