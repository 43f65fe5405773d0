// SPDX-License-Identifier: MIT
// Metrics of classes, entities, summaries and translations against values by hand or published ones.
#include <catch2/catch.hpp>
#include <sstream>
#include <wsl/ml/run/metrics/bleu.hpp>
#include <wsl/ml/run/metrics/class_metrics.hpp>
#include <wsl/ml/run/metrics/entities.hpp>
#include <wsl/ml/run/metrics/retrieval.hpp>
#include <wsl/ml/run/metrics/rouge.hpp>
#include <wsl/ml/run/metrics/sequence_match.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using strings = std::vector<std::string>;

strings words(const std::string& text) {
  std::istringstream in(text);
  strings all;
  for (std::string w; in >> w;) all.push_back(w);
  return all;
}

TEST_CASE("Accuracy, F1 and Matthews' correlation are those of scikit-learn's examples") {
  // matthews_corrcoef([+1, +1, +1, -1], [+1, -1, +1, +1]) == -0.33...
  class_metrics two(2);
  const int right[] = {1, 1, 1, 0}, said[] = {1, 0, 1, 1};
  for (int i = 0; i < 4; ++i) two.add(said[i], right[i]);
  two.add(0, class_metrics::ignored);
  CHECK(two.count() == 4);
  CHECK(two.accuracy() == Approx(0.5));
  CHECK(two.matthews() == Approx(-1. / 3));
  CHECK(two.precision(1) == Approx(2. / 3));
  CHECK(two.recall(1) == Approx(2. / 3));
  CHECK(two.f1(1) == Approx(2. / 3));
  // f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1], average='macro') == 0.26...
  class_metrics three(4);
  const int of[] = {0, 1, 2, 0, 1, 2}, as[] = {0, 2, 1, 0, 0, 1};
  for (int i = 0; i < 6; ++i) three.add(as[i], of[i]);
  CHECK(three.f1(0) == Approx(0.8));
  CHECK(three.f1(1) == 0);
  CHECK(three.macro_f1() == Approx(0.8 / 3));  // the fourth class is nowhere
  CHECK(three.accuracy() == Approx(1. / 3));
  class_metrics one(2);
  one.add(1, 1);
  CHECK(one.matthews() == 0);
  CHECK(one.accuracy() == 1);
  CHECK_THROWS_WITH(one.add(2, 1), Contains("class 2 for 1: classes are 0 to 1"));
  CHECK_THROWS_WITH(class_metrics(0), Contains("at least one class"));
}

TEST_CASE("Matthews' correlation is Pearson's of two classes") {
  u32 state = 1;
  for (int run = 0; run < 50; ++run) {
    class_metrics m(2);
    f64 n = 0, x = 0, y = 0, xy = 0;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525u + 1013904223u;
      const int a = static_cast<int>(state >> 30) > 0, b = static_cast<int>(state >> 28 & 3) > 1;
      m.add(a, b);
      n += 1, x += a, y += b, xy += a * b;
    }
    CHECK(m.matthews() == Approx((n * xy - x * y) / std::sqrt((n * x - x * x) * (n * y - y * y))));
  }
}

TEST_CASE("Entities count if their places and types are right") {
  const strings tags = words("B-PER I-PER O B-LOC I-ORG B-ORG");
  CHECK(entities_of(tags) == std::vector<entity>{{"PER", 0, 1}, {"LOC", 3, 3}, {"ORG", 4, 4}, {"ORG", 5, 5}});
  CHECK(entities_of(tags, entity_rule::strict) ==
        std::vector<entity>{{"PER", 0, 1}, {"LOC", 3, 3}, {"ORG", 5, 5}});
  CHECK(entities_of(words("I-PER I-PER O I-PER"), entity_rule::strict).empty());
  CHECK(entities_of(words("I-PER I-PER O I-PER")).size() == 2);
  // The example of seqeval's page: precision, recall and F1 are 0.5.
  entity_metrics m;
  m.add(words("O O B-MISC I-MISC I-MISC I-MISC O"), words("O O O B-MISC I-MISC I-MISC O"));
  m.add(words("B-PER I-PER O"), words("B-PER I-PER O"));
  CHECK(m.all().precision() == 0.5);
  CHECK(m.all().recall() == 0.5);
  CHECK(m.all().f1() == 0.5);
  CHECK(m.by_type().at("PER").f1() == 1);
  CHECK(m.by_type().at("MISC").f1() == 0);
  CHECK(entity_metrics().all().f1() == 0);
  CHECK_THROWS_WITH(m.add(words("O"), words("O O")), Contains("1 tags are said of 2 words"));
  CHECK_THROWS_WITH(entities_of(words("S-PER")), Contains("the tag 'S-PER' is none of"));
}

TEST_CASE("ROUGE is that of the reference's example") {
  // google-research/rouge: score('The quick brown fox jumps over the lazy dog',
  //                              'The quick brown dog jumps on the log.')
  const rouge_scores s =
      rouge("The quick brown dog jumps on the log.", "The quick brown fox jumps over the lazy dog");
  CHECK(s.rouge1.precision == Approx(0.75));
  CHECK(s.rouge1.recall == Approx(2. / 3));
  CHECK(s.rouge1.f1 == Approx(0.7058823529));
  CHECK(s.rouge_l.precision == Approx(0.625));
  CHECK(s.rouge_l.recall == Approx(5. / 9));
  CHECK(s.rouge_l.f1 == Approx(0.5882352941));
  // the quick, quick brown of 7 and of 8
  CHECK(s.rouge2.precision == Approx(2. / 7));
  CHECK(s.rouge2.recall == Approx(2. / 8));
  CHECK(words_of_rouge("It's 3.5, caf\xc3\xa9-X") == words("it s 3 5 caf x"));
  CHECK(rouge("", "a").rouge1.f1 == 0);
  CHECK(rouge("a a a", "a").rouge1.precision == Approx(1. / 3));
  CHECK(rouge("a b", "b a").rouge_l.recall == 0.5);
}

TEST_CASE("BLEU is that of values by hand, and of the paper's example") {
  using tokens = bleu::tokens;
  // The paper's: "the the the the the the the" has two of its seven words.
  const std::vector<tokens> cats{words("the cat is on the mat"), words("there is a cat on the mat")};
  bleu the;
  the.add(words("the the the the the the the"), cats);
  CHECK(the.precision(1) == Approx(2. / 7));
  CHECK(the.precision(2) == 0);
  CHECK(the.score(bleu_smoothing::none) == 0);
  // 7 tokens, 6, 5 and 4 runs; each shorter precision of 0 halves once more.
  CHECK(the.score() == Approx(std::pow(2. / 7 / (2 * 6) / (4 * 5) / (8 * 4), 0.25)));

  // Two sentences together: 8 of 9, 5 of 7, 3 of 5 and 1 of 3 runs; 9 tokens for 10.
  bleu b;
  b.add(words("the cat sat on mat"), std::vector<tokens>{words("the cat sat on the mat")});
  b.add(words("a dog barked twice"), std::vector<tokens>{words("a dog barked loudly")});
  CHECK(b.precision(1) == Approx(8. / 9));
  CHECK(b.precision(2) == Approx(5. / 7));
  CHECK(b.precision(3) == Approx(3. / 5));
  CHECK(b.precision(4) == Approx(1. / 3));
  CHECK(b.brevity_penalty() == Approx(std::exp(1 - 10. / 9)));
  CHECK(b.score() == Approx(std::exp(1 - 10. / 9) * std::pow(8. / 9 * 5 / 7 * 3 / 5 / 3, 0.25)));

  bleu same;
  same.add(words("a b c d e"), std::vector<tokens>{words("x"), words("a b c d e")});
  CHECK(same.score() == Approx(1));
  bleu close;  // lengths 3 and 5 are as close to 4: 3 counts
  close.add(words("a b c d"), std::vector<tokens>{words("a b c d e"), words("a b c")});
  CHECK(close.brevity_penalty() == 1);
  CHECK(bleu().score() == 0);
  CHECK_THROWS_WITH(b.add({}, {}), Contains("at least one right one"));
}

TEST_CASE("A sequence matches if all of its tokens that count do") {
  sequence_match m;
  const std::vector<i32> right{1, 2, -100}, same{1, 2, 9}, other{1, 3, 9};
  m.add(same, right), m.add(other, right);
  CHECK(m.exact_match() == 0.5);
  CHECK(m.accuracy() == 0.75);
  CHECK(m.count() == 2);
  CHECK_THROWS_WITH(m.add(same, std::vector<i32>{1}), Contains("3 tokens are said of 1"));
}

TEST_CASE("Recall counts questions with a right passage among the best") {
  // Scores of question (1, 2): 5, 4, 5, -1.
  const std::vector<f32> passages{1, 2, 4, 0, 3, 1, 1, -1}, question{1, 2};
  const matrix<const f32> all(passages.data(), 4, 2);
  const auto numbers = [&](std::size_t count) {
    std::vector<std::size_t> x;
    for (const scored_passage& p : best_passages(question, all, count)) x.push_back(p.number);
    return x;
  };
  CHECK(numbers(3) == std::vector<std::size_t>{0, 2, 1});
  CHECK(numbers(9) == std::vector<std::size_t>{0, 2, 1, 3});
  CHECK(best_passages(question, all, 3)[2].score == 4);
  retrieval_metrics m({1, 2, 4});
  CHECK(m.recall(0) == 0);
  const auto best = best_passages(question, all, 4);
  m.add(best, std::vector<std::size_t>{0});
  m.add(best, std::vector<std::size_t>{3, 2});
  m.add(best, std::vector<std::size_t>{3});
  m.add(best, std::vector<std::size_t>{7});
  CHECK(m.count() == 4);
  CHECK((m.recall(0) == 0.25 && m.recall(1) == 0.5 && m.recall(2) == 0.75));
}

}  // namespace
