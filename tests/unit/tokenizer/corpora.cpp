// SPDX-License-Identifier: MIT
// Documents of a corpus in a random order, and what is counted of them.
#include <catch2/catch.hpp>
#include <map>
#include <wsl/ml/data/corpus/shuffle.hpp>
#include <wsl/ml/data/corpus/statistics.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream in(name);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

TEST_CASE("A shuffled corpus is a permutation that depends on the seed and not on the memory") {
  const files::folder here;
  std::vector<std::string> all;
  std::string first, second;
  for (int i = 0; i < 2000; ++i) {
    all.push_back(
        fmt::format(R"({{"id":{},"text":"{}"}})", i, std::string(static_cast<std::size_t>(i % 90), 'x')));
    (i < 700 ? first : second) += all.back() + "\n";
  }
  files::write(here / "a.jsonl", first), files::write(here / "b.jsonl", second);
  const corpus in({here / "a.jsonl", here / "b.jsonl"});
  int runs = 0;
  const auto shuffled = [&](u64 seed, u64 memory, int ranges) {
    const std::string out = here / fmt::format("out{}", ++runs);
    const shuffling_report r = shuffle_documents(in, out, {.seed = seed, .memory = memory});
    CHECK(r.documents == 2000);
    CHECK(r.ranges == ranges);
    int left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(out)) left += entry.is_regular_file();
    CHECK(left == 1);
    return lines_of(out + "/shuffled.jsonl");
  };
  const std::vector<std::string> once = shuffled(7, u64{1} << 30, 1);
  CHECK(once != all);
  CHECK(std::is_permutation(once.begin(), once.end(), all.begin(), all.end()));
  const u64 twice = 2 * in.bytes();
  CHECK(shuffled(7, (twice + 4) / 5, 5) == once);
  CHECK(shuffled(7, (twice + 511) / 512, 512) == once);
  const std::vector<std::string> other = shuffled(8, u64{1} << 30, 1);
  CHECK(std::is_permutation(other.begin(), other.end(), all.begin(), all.end()));
  // Two orders have about one document in the same place, and no more neighbours in common than chance has.
  int same = 0, neighbours = 0;
  std::map<std::string, std::string> next;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) next[all[i]] = all[i + 1];
  for (std::size_t i = 0; i < once.size(); ++i) {
    same += once[i] == other[i];
    neighbours += i + 1 < once.size() && next[once[i]] == once[i + 1];
  }
  CHECK(same < 10);
  CHECK(neighbours < 10);
  CHECK_THROWS_WITH(shuffled(7, 100, 0), Contains("give more memory"));
  CHECK_THROWS_WITH(shuffle_documents(in, here / "out1", {}), Contains("give a new folder"));
}

TEST_CASE("Texts are shuffled as sections, or as wholes that become objects") {
  const files::folder here;
  files::write(here / "a.txt", "one\n1\n\ntwo\n\n\nthree");
  shuffle_documents(corpus({here / "a.txt"}, {.sections = true}), here / "sections", {.seed = 2});
  const std::string text = read_whole(here / "sections/shuffled.txt");
  CHECK(text.size() == std::string("one\n1\n\ntwo\n\nthree\n").size());
  for (const char* part : {"one\n1\n", "two\n", "three\n"}) CHECK_THAT(text, Contains(part));
  files::write(here / "b.txt", "\"x\"\n");
  shuffle_documents(corpus({here / "a.txt", here / "b.txt"}, {.text_key = "t"}), here / "wholes", {});
  std::vector<std::string> lines = lines_of(here / "wholes/shuffled.jsonl");
  std::sort(lines.begin(), lines.end());
  CHECK(lines == std::vector<std::string>{R"({"t":"\"x\"\n"})", R"({"t":"one\n1\n\ntwo\n\n\nthree"})"});
}

TEST_CASE("What is in a corpus is counted") {
  const files::folder here;
  files::write(here / "a.jsonl", R"({"text":"one two"})"
                                 "\n"
                                 R"({"text":"caf\u00e9"})"
                                 "\n"
                                 R"({"text":"one two"})"
                                 "\n"
                                 R"({"text":""})"
                                 "\n"
                                 R"({"text":" one\u00a0two\n three 4 5"})"
                                 "\n{}\n"
                                 R"({"text":"one two"})");
  const corpus in({here / "a.jsonl"});
  CHECK_THROWS_WITH(statistics_of(in, {}), Contains("line 6, byte 1: the object lacks 'text'"));
  for (const int threads : {1, 2}) {
    const corpus_statistics s = statistics_of(in, {.skip_invalid = true, .threads = threads});
    CHECK(s.documents == 7);
    CHECK(s.invalid == 1);
    CHECK(s.bytes == 3 * 7 + 5 + 20);
    CHECK(s.characters.sum == 3 * 7 + 4 + 19);
    CHECK(s.words.sum == 3 * 2 + 1 + 5);
    CHECK(s.exact_duplicates == 2);
    CHECK(s.duplicate_bytes == 14);
    CHECK(s.words_histogram[0] == 1);
    CHECK(s.words_histogram[1] == 1);
    CHECK(s.words_histogram[2] == 3);
    CHECK(s.words_histogram[3] == 1);
    CHECK(s.words.percentile(0) == 0);
    CHECK(s.words.percentile(0.5) == 2);
    CHECK(s.words.percentile(1) == 5);
    CHECK(s.words.mean() == 2);
    CHECK(!s.tokens);
  }
  const tokenizer bytes =
      tokenizer::from_json(R"({"model":{"type":"WordLevel","vocab":{"one":0,"two":1,"?":2},"unk_token":"?"},)"
                           R"("pre_tokenizer":{"type":"Whitespace"}})",
                           "words");
  CHECK(statistics_of(in, {.skip_invalid = true}, &bytes).tokens->sum == 3 * 2 + 1 + 5);
}

}  // namespace
