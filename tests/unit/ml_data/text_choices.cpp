// SPDX-License-Identifier: MIT
// Random choices in texts, and the windows and scores of answers.
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <wsl/ml/data/text/answer_windows.hpp>
#include <wsl/ml/data/text/masking.hpp>
#include <wsl/ml/data/text/span_corruption.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using ids = std::vector<i32>;

constexpr i32 cls = 0, sep = 1, mask = 2, vocabulary = 1000;

TEST_CASE("Of the tokens 15 % are guessed, 80 % of them hidden, 10 % replaced and 10 % left") {
  const masking how({.max_predictions_per_seq = 80}, mask, vocabulary, {cls, sep, mask});
  constexpr int examples = 2000, n = 128;
  int chosen = 0, hidden = 0, replaced = 0, left = 0;
  std::vector<int> at(n);
  std::set<i32> replacements;
  for (int e = 0; e < examples; ++e) {
    ids text(n), labels(n);
    std::iota(text.begin(), text.end(), 100);
    text.front() = cls, text.back() = sep;
    const ids before = text;
    draws random(7, e);
    const int said = how.hide(text, labels, std::vector<bool>(n), random);
    CHECK(said == 19);  // 19.2
    for (std::size_t i = 0; i < n; ++i) {
      if (labels[i] == ignored_label) {
        REQUIRE(text[i] == before[i]);
        continue;
      }
      REQUIRE(labels[i] == before[i]);
      ++chosen, ++at[i];
      if (text[i] == mask) ++hidden;
      else if (text[i] == before[i]) ++left;
      else ++replaced, replacements.insert(text[i]);
    }
  }
  CHECK(chosen == 19 * examples);
  CHECK(at.front() == 0);
  CHECK(at.back() == 0);
  // Binomial bounds of five deviations.
  const auto within = [](int count, f64 n_of, f64 p) {
    return std::abs(count - n_of * p) < 5 * std::sqrt(n_of * p * (1 - p));
  };
  CHECK(within(hidden, chosen, 0.8));
  CHECK(within(replaced, chosen, 0.1));
  CHECK(within(left, chosen, 0.1));
  for (std::size_t i = 1; i + 1 < n; ++i) CHECK(within(at[i], examples, 19. / 126));
  CHECK(*replacements.begin() > mask);
  CHECK(*replacements.rbegin() < vocabulary);
  CHECK(replacements.size() > 900);
}

TEST_CASE("Whole words are hidden as a whole, and no more than there is room for") {
  const masking how({.masked_lm_prob = 0.5, .max_predictions_per_seq = 7, .mask_whole_word = true}, mask,
                    vocabulary, {cls, sep, mask});
  const std::vector<bool> continues{false, false, true, true, false, false,
                                    true,  false, true, true, true,  false};
  for (int e = 0; e < 500; ++e) {
    ids text{cls, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, sep}, labels(text.size());
    draws random(1, e);
    const int chosen = how.hide(text, labels, continues, random);
    CHECK(chosen <= 7);
    CHECK(chosen >= 3);
    for (std::size_t i = 1; i < text.size(); ++i)
      if (continues[i]) CHECK((labels[i] == ignored_label) == (labels[i - 1] == ignored_label));
    CHECK(labels.front() == ignored_label);
    CHECK(labels.back() == ignored_label);
  }
}

TEST_CASE("At least one token is guessed, and settings out of range are refused") {
  const masking how({.max_predictions_per_seq = 20}, mask, vocabulary, {cls, sep, mask});
  CHECK(how.predictions(3) == 1);
  CHECK(how.predictions(10) == 2);  // 1.5 to the even number, as Python rounds
  CHECK(how.predictions(512) == 20);
  ids nothing{cls, sep}, labels(2);
  draws random(1, 1);
  CHECK(how.hide(nothing, labels, std::vector<bool>(2), random) == 0);
  CHECK_THROWS_WITH(masking({.masked_lm_prob = 0}, mask, 9, {}), Contains("masked_lm_prob is above 0"));
  CHECK_THROWS_WITH(masking({.max_predictions_per_seq = 0}, mask, 9, {}),
                    Contains("at least 1, not 0.15 and 0"));
  CHECK_THROWS_WITH(masking({}, 0, 2, {0, 1}), Contains("there is none to guess"));
}

TEST_CASE("Draws depend on the key and the example, and on nothing else") {
  const auto first = [](u64 key, i64 which) { return draws(key, which).bits(); };
  CHECK(first(1, 2) == first(1, 2));
  std::set<u64> seen;
  for (u64 key = 0; key < 100; ++key)
    for (i64 which = 0; which < 100; ++which) seen.insert(first(key, which));
  CHECK(seen.size() == 10000);
}

constexpr i32 end_of_vocabulary = 199;

TEST_CASE("Inputs and targets of span corruption give the text back") {
  const span_corruption how{.first_sentinel = end_of_vocabulary};
  for (int length = 2; length < 300; ++length) {
    ids text(static_cast<std::size_t>(length));
    std::iota(text.begin(), text.end(), 1000);
    draws random(3, length);
    const std::vector<bool> noise = how.noise_mask(length, random);
    REQUIRE(static_cast<int>(noise.size()) == length);
    const ids inputs = how.replaced(text, noise), targets = how.replaced(text, noise, false);
    const span_corruption::shape s = how.shape_of(length);
    CHECK(std::count(noise.begin(), noise.end(), true) == s.noise);
    CHECK(static_cast<int>(inputs.size()) == s.inputs);
    CHECK(static_cast<int>(targets.size()) == s.targets);
    CHECK(inputs.front() == 1000);                // what stays comes first
    CHECK(targets.front() == end_of_vocabulary);  // the sentinel of what stays
    ids back;
    i32 sentinel = end_of_vocabulary;
    auto t = targets.begin();
    for (const i32 id : inputs) {
      if (id >= 1000) {
        back.push_back(id);
        continue;
      }
      CHECK(id == sentinel);
      REQUIRE(*t++ == sentinel--);
      for (; t != targets.end() && *t >= 1000; ++t) back.push_back(*t);
    }
    CHECK(t == targets.end());
    CHECK(back == text);
  }
}

TEST_CASE("Span corruption leaves out what the reference leaves out") {
  const span_corruption how;
  // From random_spans_noise_mask's rules: noise = round(0.15 n), spans = round(noise / 3), at least one.
  struct row {
    int length, noise, spans;
  };
  for (const row& r : {row{2, 1, 1}, {10, 2, 1}, {30, 4, 1}, {100, 15, 5}, {512, 77, 26}, {568, 85, 28}}) {
    CHECK(how.shape_of(r.length).noise == r.noise);
    CHECK(how.shape_of(r.length).spans == r.spans);
  }
  // T5's own lengths: 568 tokens give 512 inputs and 114 targets, each with one at the end.
  CHECK(how.longest(511, 113) == 568);
  CHECK(how.longest(1, 1) == 0);
  std::vector<int> first(100);
  for (int e = 0; e < 20000; ++e) {
    draws random(11, e);
    const std::vector<bool> noise = how.noise_mask(100, random);
    for (std::size_t i = 0; i < 100; ++i) first[i] += noise[i];
  }
  CHECK(first[0] == 0);
  CHECK(first[99] == 20000);  // a span that goes is the last
  for (std::size_t i = 20; i < 80; ++i) CHECK(first[i] / 20000. == Approx(0.15).margin(0.04));
  CHECK_THROWS_WITH((span_corruption{.noise_density = 1}.check()),
                    Contains("noise_density is between 0 and 1"));
  CHECK_THROWS_WITH((span_corruption{.mean_noise_span_length = 0.5}.check()), Contains("not 0.15 and 0.5"));
}

TEST_CASE("Windows cover a paragraph and each piece is judged once") {
  const std::vector<answer_window> all = windows_of(10, 6, 2);
  REQUIRE(all.size() == 3);
  CHECK(all[1].first == 2);
  CHECK(all[2].first == 4);
  CHECK(all[2].end() == 10);
  for (const auto& [pieces, room, stride] :
       {std::tuple(10, 6, 2), {10, 6, 9}, {1, 5, 1}, {0, 5, 1}, {57, 7, 7}}) {
    const std::vector<answer_window> w = windows_of(pieces, room, stride);
    CHECK(w.back().end() == pieces);
    for (int piece = 0; piece < pieces; ++piece) {
      int judged = 0, seen = 0;
      for (std::size_t i = 0; i < w.size(); ++i) {
        const bool is_in = piece >= w[i].first && piece < w[i].end();
        seen += is_in, judged += is_in && is_most_context(w, i, piece);
      }
      CHECK(seen >= 1);
      CHECK(judged == 1);
    }
  }
  CHECK_THROWS_WITH(windows_of(3, 0, 1), Contains("max_query_length"));
}

// A text of words of one letter with blanks, one piece each.
std::vector<text_piece> letters(std::size_t n) {
  std::vector<text_piece> all;
  for (std::size_t i = 0; i < n; ++i)
    all.push_back({static_cast<i32>(i), static_cast<i32>(i), 2 * i, 2 * i + 1});
  return all;
}

TEST_CASE("The best answer is the pair of tokens with the largest scores that may be one") {
  const std::string context = "a b c d e f";
  const std::vector<text_piece> pieces = letters(6);
  const std::vector<answer_window> windows = windows_of(6, 6, 6);
  window_scores s{std::vector<f32>(10), std::vector<f32>(10)};  // [CLS] q [SEP], 6 pieces, [SEP]
  s.first[1] = 9;                                               // in the question
  s.first[4] = 5, s.last[3] = 7;                                // the last before the first
  s.last[6] = 4, s.first[5] = 3;
  const auto best = best_answers(context, pieces, windows, std::vector{s}, 3, {});
  CHECK(best[0].text == "b c d");
  CHECK(best[0].score == 9);
  CHECK(best[1].score == 7);  // "c d", and "a"
  CHECK(std::accumulate(best.begin(), best.end(), 0.,
                        [](f64 x, const auto& y) { return x + y.probability; }) == Approx(1));
  CHECK(best_answers(context, pieces, windows, std::vector{s}, 3, {.max_answer_length = 2})[0].text == "a");
  CHECK(best_answers(context, pieces, windows, std::vector{s}, 3, {.n_best_size = 2}).size() <= 2);
  s.first[0] = 6, s.last[0] = 5;
  const answer_settings second{.may_have_none = true};
  CHECK(best_answers(context, pieces, windows, std::vector{s}, 3, second)[0].text.empty());
  answer_settings unlikely = second;
  unlikely.null_score_diff_threshold = 2.5;
  CHECK(best_answers(context, pieces, windows, std::vector{s}, 3, unlikely)[0].text == "b c d");
  CHECK_THROWS_WITH(best_answers(context, pieces, windows, {}, 3, {}),
                    Contains("1 windows have scores of 0"));
  CHECK_THROWS_WITH(best_answers(context, pieces, windows, std::vector{window_scores{{1}, {1}}}, 3, {}),
                    Contains("a window of 9 tokens has 1 and 1 scores"));
}

}  // namespace
