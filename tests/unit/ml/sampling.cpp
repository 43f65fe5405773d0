// SPDX-License-Identifier: MIT
// The choice of a token beside a scalar reference that follows transformers' generation/logits_process.py
// line by line: each rule sets the scores of the tokens that it takes away to minus infinity.
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <wsl/ml/run/sample.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;

constexpr f64 none = -std::numeric_limits<f64>::infinity();

std::vector<f64> softmax_of(const std::vector<f64>& scores) {
  const f64 largest = *std::max_element(scores.begin(), scores.end());
  std::vector<f64> p;
  f64 sum = 0;
  for (const f64 x : scores) p.push_back(std::exp(x - largest)), sum += p.back();
  for (f64& x : p) x /= sum;
  return p;
}
void repetition_penalty(std::vector<f64>& scores, const std::vector<i32>& text, f64 penalty) {
  std::map<i32, f64> gathered;
  for (const i32 id : text) gathered[id] = scores[static_cast<std::size_t>(id)];
  for (const auto& [id, score] : gathered)
    scores[static_cast<std::size_t>(id)] = score < 0 ? score * penalty : score / penalty;
}
void top_k(std::vector<f64>& scores, std::size_t k) {
  std::vector<f64> sorted = scores;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const f64 last = sorted[std::min(k, sorted.size()) - 1];
  for (f64& x : scores)
    if (x < last) x = none;
}
void top_p(std::vector<f64>& scores, f64 p) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // ascending, and of equal ones the last goes first
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] < scores[b] : a > b;
  });
  const std::vector<f64> probabilities = softmax_of(scores);
  f64 cumulative = 0;
  for (std::size_t k = 0; k + 1 < order.size(); ++k)
    if ((cumulative += probabilities[order[k]]) <= 1 - p) scores[order[k]] = none;
}
void min_p(std::vector<f64>& scores, f64 p) {
  const std::vector<f64> probabilities = softmax_of(scores);
  const f64 least = p * *std::max_element(probabilities.begin(), probabilities.end());
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (probabilities[k] < least) scores[k] = none;
}
/// The probability of each token.
std::vector<f64> reference(std::span<const f32> logits, const sampling& how, const std::vector<i32>& text) {
  std::vector<f64> scores(logits.begin(), logits.end());
  repetition_penalty(scores, text, how.repetition_penalty);
  for (f64& x : scores) x /= how.temperature;
  if (how.top_k) top_k(scores, static_cast<std::size_t>(how.top_k));
  if (how.top_p < 1) top_p(scores, how.top_p);
  if (how.min_p > 0) min_p(scores, how.min_p);
  return softmax_of(scores);
}

std::vector<f64> ours(std::vector<f32> logits, const sampling& how, const std::vector<i32>& text) {
  penalize_repetitions(logits, text, how.repetition_penalty);
  const token_choice c = choice_of(logits, how);
  std::vector<f64> p(logits.size());
  for (std::size_t k = 0; k < c.tokens.size(); ++k)
    p[static_cast<std::size_t>(c.tokens[k])] = static_cast<f64>(c.probabilities[k]);
  return p;
}

TEST_CASE("A token is chosen as transformers choose it, with every setting") {
  std::mt19937 random(1);
  const auto number = [&](f64 from, f64 to) {
    return from + (to - from) * static_cast<f64>(random() % 1000) / 1000;
  };
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 40);
    std::vector<f32> logits;
    for (int k = 0; k < n; ++k) logits.push_back(static_cast<f32>(random() % 12) / 2 - 3);  // some are equal
    std::vector<i32> text;
    for (int k = 0; k < 8; ++k) text.push_back(static_cast<i32>(random() % static_cast<unsigned>(n)));
    sampling how;
    if (round % 2) how.temperature = number(0.3, 2);
    if (round % 3 == 0) how.top_k = 1 + static_cast<int>(random() % 45);
    if (round % 5 < 3) how.top_p = number(0, 1);
    if (round % 7 < 3) how.min_p = number(0, 1);
    if (round % 4) how.repetition_penalty = number(0.5, 2);
    INFO("round " << round << ", " << n << " tokens, top_p " << how.top_p << ", min_p " << how.min_p);
    const std::vector<f64> right = reference(logits, how, text), found = ours(logits, how, text);
    for (std::size_t k = 0; k < right.size(); ++k) CHECK(found[k] == Approx(right[k]).margin(1e-6));
  }
}

TEST_CASE("Each setting of the choice by itself") {
  // probabilities 1/20, 2/20, 10/20, 5/20, 2/20
  const std::vector<f32> logits{0, std::log(2.f), std::log(10.f), std::log(5.f), std::log(2.f)};
  using shares = std::vector<f64>;
  const auto same = [](const shares& x, const shares& y) {
    for (std::size_t k = 0; k < y.size(); ++k)
      if (std::abs(x[k] - y[k]) > 1e-6) return false;
    return x.size() == y.size();
  };
  CHECK(same(ours(logits, {}, {}), {.05, .1, .5, .25, .1}));
  CHECK(same(ours(logits, {.temperature = .5}, {}), {1 / 134., 4 / 134., 100 / 134., 25 / 134., 4 / 134.}));
  CHECK(same(ours(logits, {.top_k = 2}, {}), {0, 0, 10 / 15., 5 / 15., 0}));
  CHECK(same(ours(logits, {.top_k = 3}, {}), {0, 2 / 19., 10 / 19., 5 / 19., 2 / 19.}));
  CHECK(same(ours(logits, {.top_p = .6}, {}), {0, 0, 10 / 15., 5 / 15., 0}));
  CHECK(same(ours(logits, {.top_p = .8}, {}), {0, 2 / 17., 10 / 17., 5 / 17., 0}));
  CHECK(same(ours(logits, {.top_p = 0}, {}), {0, 0, 1, 0, 0}));
  CHECK(same(ours(logits, {.min_p = .19}, {}), {0, 2 / 19., 10 / 19., 5 / 19., 2 / 19.}));
  CHECK(same(ours(logits, {.min_p = 1}, {}), {0, 0, 1, 0, 0}));
  // 10 becomes 10^(1/2), however often the text has it; what is 0 stays
  const f64 ten = std::sqrt(10.);
  CHECK(same(ours(logits, {.repetition_penalty = 2}, {2, 2, 0}),
             {1 / (10 + ten), 2 / (10 + ten), ten / (10 + ten), 5 / (10 + ten), 2 / (10 + ten)}));
  std::vector<f32> negative{-1, 1};
  penalize_repetitions(negative, std::vector<i32>{0, 1, 7}, 2);
  CHECK(negative == std::vector<f32>{-2, .5f});
  // top_p looks at what top_k has left: of 2/3 and 1/3, the first alone has .6
  CHECK(same(ours(logits, {.top_k = 2, .top_p = .6}, {}), {0, 0, 1, 0, 0}));
  // and the best token, too, may be one that the penalty has changed
  std::mt19937_64 random(1);
  CHECK(sample_token(logits, {.temperature = 0}, random, std::vector<i32>{2}) == 2);
  CHECK(sample_token(logits, {.temperature = 0, .repetition_penalty = 2}, random, std::vector<i32>{2}) == 3);
}

TEST_CASE(
    "Temperatures near 0 and penalties of any size take the best token, logits that are no numbers none") {
  using Catch::Matchers::Contains;
  std::mt19937_64 random(1);
  constexpr f32 never = -std::numeric_limits<f32>::infinity();
  const std::vector<f32> logits{3, 80, 79, never, -5};
  for (const f64 temperature : {1e-3, 1e-30, 1e-38, 1e-300, 5e-324}) {
    CHECK(ours(logits, {.temperature = temperature}, {}) == std::vector<f64>{0, 1, 0, 0, 0});
    CHECK(sample_token(logits, {.temperature = temperature, .top_p = .5}, random) == 1);
  }
  for (const f64 penalty : {1e-300, 1e-39})
    CHECK(sample_token(logits, {.temperature = 1, .repetition_penalty = penalty}, random,
                       std::vector<i32>{0, 3}) == 0);
  CHECK(sample_token(logits, {.repetition_penalty = 1e300}, random, std::vector<i32>{1, 4}) == 2);

  const auto refuses = [&](std::vector<f32> x, const char* sentence) {
    for (const f64 temperature : {0., 1.})
      CHECK_THROWS_WITH(sample_token(x, {.temperature = temperature}, random), Contains(sentence));
  };
  refuses({1, 2, std::numeric_limits<f32>::quiet_NaN()},
          "the logit of token 2 is nan: a weight of the model");
  refuses({1, -never, 2}, "the logit of token 1 is inf");
  refuses({never, never}, "so none can be drawn");
}

TEST_CASE("Settings of the choice that are out of range are refused") {
  using Catch::Matchers::Contains;
  constexpr f64 nan = std::numeric_limits<f64>::quiet_NaN(), infinite = -none;
  for (const sampling& how : {sampling{.temperature = -1}, {.temperature = nan}, {.temperature = infinite}})
    CHECK_THROWS_WITH(check_sampling(how),
                      Contains("the temperature is 0, which takes the best token, or more"));
  CHECK_THROWS_WITH(check_sampling({.top_k = -1}),
                    Contains("top_k is 0, which leaves all tokens, or more, not -1"));
  for (const f64 p : {-.1, 1.1, nan}) {
    CHECK_THROWS_WITH(check_sampling({.top_p = p}), Contains("top_p is a probability from 0 to 1"));
    CHECK_THROWS_WITH(check_sampling({.min_p = p}), Contains("min_p is a part from 0 to 1"));
  }
  for (const f64 p : {0., -1., nan, infinite})
    CHECK_THROWS_WITH(check_sampling({.repetition_penalty = p}),
                      Contains("the repetition penalty is above 0; 1 is none"));
}

}  // namespace
