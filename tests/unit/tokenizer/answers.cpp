// SPDX-License-Identifier: MIT
// Scores of answers by SQuAD's rules.
#include <catch2/catch.hpp>
#include <wsl/ml/run/metrics/answers.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using strings = std::vector<std::string>;

TEST_CASE("Answers are compared without articles, punctuation, case and surplus white space") {
  CHECK(words_of_answer("The  Denver Broncos!") == strings{"denver", "broncos"});
  CHECK(words_of_answer("a theory of an \"A-team\"") == strings{"theory", "of", "ateam"});
  CHECK(words_of_answer("$1.5 (about)\n") == strings{"15", "about"});
  CHECK(words_of_answer("\xe2\x80\x9cthe\xe2\x80\x9d \xc3\x9c"
                        "ber") == strings{"\xe2\x80\x9c", "\xe2\x80\x9d",
                                          "\xc3\xbc"
                                          "ber"});
  CHECK(words_of_answer("").empty());
  CHECK(words_of_answer("the").empty());
  CHECK(same_answer("Denver Broncos", "the denver broncos."));
  CHECK_FALSE(same_answer("Denver", "Denver Broncos"));
  CHECK_THROWS_AS(words_of_answer("\xff"), std::invalid_argument);
}

TEST_CASE("F1 counts the words that two answers share") {
  CHECK(answer_f1("Denver", "Denver Broncos") == Approx(2. / 3));  // precision 1, recall 1/2
  CHECK(answer_f1("in the city of New York", "New York City") == Approx(2 * 0.6 * 1 / 1.6));
  CHECK(answer_f1("x x y", "x y y") == Approx(2. / 3));
  CHECK(answer_f1("x", "y") == 0);
  CHECK(answer_f1("", "the") == 1);
  CHECK(answer_f1("", "y") == 0);
}

TEST_CASE("Of several right answers the best counts, and no answer is one") {
  answer_metrics m;
  m.add("Denver", strings{"Carolina", "Denver Broncos"});
  m.add("", strings{});
  m.add("Santa Clara, California", strings{"Santa Clara", "Santa Clara, California."});
  m.add("x", strings{});
  CHECK(m.count() == 4);
  CHECK(m.exact_match() == 0.5);
  CHECK(m.f1() == Approx((2. / 3 + 1 + 1 + 0) / 4));
}

}  // namespace
