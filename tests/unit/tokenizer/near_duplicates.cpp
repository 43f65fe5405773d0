// SPDX-License-Identifier: MIT
// MinHash beside exact Jaccard similarities, bands, sets, and what wsl::ml::deduplicate keeps and removes.
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <wsl/ml/data/corpus/deduplicate.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

// The reference: sets of strings, as sorted numbers of theirs.
using shingle_set = std::vector<int>;
shingle_set shingles(const std::string& text, std::size_t width = 13) {
  static std::map<std::u32string, int> numbers;
  const std::u32string s = shingle_text(text);
  std::set<int> all;
  for (std::size_t i = 0; i + width <= s.size(); ++i)
    all.insert(numbers.try_emplace(s.substr(i, width), static_cast<int>(numbers.size())).first->second);
  return {all.begin(), all.end()};
}
f64 jaccard(const shingle_set& a, const shingle_set& b) {
  shingle_set both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<f64>(both.size()) / static_cast<f64>(a.size() + b.size() - both.size());
}

std::string words(std::mt19937_64& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i) text += ' ';
    for (int k = 2 + static_cast<int>(random() % 7); k > 0; --k)
      text += static_cast<char>('a' + random() % 26);
  }
  return text;
}
/// Groups of a text and copies of it with more and more other words.
std::vector<std::string> edited_texts(int groups, int copies, u64 seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> all;
  for (int g = 0; g < groups; ++g) {
    std::vector<std::string> base;
    for (int i = 0; i < 150; ++i) base.push_back(words(random, 1));
    for (int c = 0; c < copies; ++c) {
      std::vector<std::string> text = base;
      for (int e = 0; e < c; ++e) text[random() % text.size()] = words(random, 1);
      all.push_back(fmt::format("{}", fmt::join(text, " ")));
    }
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}
std::string json_line(const std::string& text) { return nlohmann::json{{"text", text}}.dump() + "\n"; }

TEST_CASE("Shingles are of lower case, without punctuation, with one space for white space") {
  CHECK(shingle_text("  Hello,\t\n World! ") == U"hello world");
  CHECK(shingle_text("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") == U"");
  CHECK(shingle_text("A\xc2\xa0"
                     "b \xc3\x89"
                     "COLE \xe2\x80\x9cx\xe2\x80\x9d") == U"a b école “x”");
  CHECK(shingle_text("a - b") == U"a b");
  const std::u32string text = shingle_text("the cat sat on the cat sat on the mat");
  const std::vector<u32> hashes = shingle_hashes(text, 13);
  CHECK(hashes.size() == text.size() - 12);
  CHECK(hashes[0] == hashes[15]);  // "the cat sat o", twice: the rolling hash forgets what has left
  CHECK(std::set<u32>(hashes.begin(), hashes.end()).size() ==
        shingles("the cat sat on the cat sat on the mat").size());
  CHECK(shingle_hashes(U"short", 13).size() == 1);
  CHECK(shingle_hashes(U"", 13).empty());
}

TEST_CASE("Bands are those of SlimPajama, or find more") {
  CHECK(separating_bands(128, 0.8) == band_shape{9, 13});
  CHECK(separating_bands(128, 0.5) == band_shape{25, 5});  // as datasketch chooses them
  CHECK(searching_bands(128, 0.8) == band_shape{18, 7});
  CHECK(searching_bands(128, 0.8).finds(0.9) > 0.99999);
  CHECK(band_shape{9, 13}.finds(0.8) == Approx(1 - std::pow(1 - std::pow(0.8, 13), 9)));
  CHECK_THROWS_WITH(searching_bands(4, 0.1), Contains("give more permutations or a higher threshold"));
  CHECK_THROWS_WITH(separating_bands(128, 1.5), Contains("above 0 and at most 1, not 1.5"));
  CHECK_THROWS_WITH(bands_of({.shape = {20, 7}}, 128), Contains("20 bands of 7 rows do not fit into 128"));
  CHECK_THROWS_WITH(bands_of({.shape = {9, 0}}, 128), Contains("give both"));
}

TEST_CASE("Sets are those of a search through the graph, named by their smallest number") {
  std::mt19937_64 random(4);
  for (const u32 edges : {0u, 40u, 90u, 400u}) {
    constexpr u32 n = 120;
    disjoint_sets sets(n);
    std::vector<std::vector<u32>> graph(n);
    u32 joined = 0;
    for (u32 e = 0; e < edges; ++e) {
      const u32 a = static_cast<u32>(random() % n), b = static_cast<u32>(random() % n);
      graph[a].push_back(b), graph[b].push_back(a);
      joined += sets.join(a, b);
    }
    std::vector<u32> name(n, n);
    u32 components = 0;
    for (u32 from = 0; from < n; ++from) {
      if (name[from] != n) continue;
      ++components;
      std::vector<u32> open{from};
      for (name[from] = from; !open.empty();) {
        const u32 x = open.back();
        open.pop_back();
        for (const u32 y : graph[x])
          if (name[y] == n) name[y] = from, open.push_back(y);
      }
    }
    for (u32 i = 0; i < n; ++i) CHECK(sets.find(i) == name[i]);
    CHECK(n - joined == components);
  }
}

TEST_CASE("Similarities are estimated with the error of a binomial distribution") {
  std::mt19937_64 random(11);
  const std::vector<std::string> texts = edited_texts(12, 8, 5);
  std::vector<shingle_set> sets;
  for (const std::string& t : texts) sets.push_back(shingles(t));
  // Of many seeds: the mean is the exact similarity, and the spread that of 128 independent draws.
  f64 squares = 0, sum = 0;
  int count = 0;
  for (u64 seed = 1; seed <= 12; ++seed) {
    const minhash by(128, 13, seed);
    std::vector<std::vector<u32>> signatures;
    for (const std::string& t : texts) signatures.push_back(by.signature(shingle_text(t)));
    for (std::size_t a = 0; a < texts.size(); ++a)
      for (std::size_t b = a + 1; b < texts.size(); ++b) {
        const f64 exact = jaccard(sets[a], sets[b]);
        if (exact < 0.1 || exact > 0.97) continue;
        const f64 z =
            (similarity(signatures[a], signatures[b]) - exact) / std::sqrt(exact * (1 - exact) / 128);
        CHECK(std::abs(z) < 5.5);
        sum += z, squares += z * z, ++count;
      }
  }
  REQUIRE(count > 2000);
  CHECK(std::abs(sum / count) < 0.15);  // pairs share texts, so their errors are not independent
  CHECK(squares / count == Approx(1).margin(0.2));
}

TEST_CASE("Signatures are the same for every width of vectors, and of sets, not of sequences") {
  const minhash by(100, 5, 3);
  std::mt19937_64 random(1);
  const std::string text = words(random, 3000);
  const std::vector<u32> hashes = shingle_hashes(shingle_text(text), 5);
  const minhash same(100, 5, 3), other(100, 5, 4);
  CHECK(by.signature(shingle_text(text)) == same.signature(shingle_text(text)));
  CHECK(by.signature(shingle_text(text)) != other.signature(shingle_text(text)));
  CHECK(by.signature(shingle_text(text + " " + text)) ==
        by.signature(shingle_text(text + " " + text + " " + text)));
  std::vector<u32> expected(64, ~0u), a(64), b(64);
  for (u32& x : a) x = static_cast<u32>(random()) | 1;
  for (u32& x : b) x = static_cast<u32>(random());
  for (std::size_t p = 0; p < 64; ++p)
    for (const u32 h : hashes) expected[p] = std::min(expected[p], a[p] * h + b[p]);
  using loop =
      vector_code<ml::detail::minhash_loop, u32*, const u32*, const u32*, int, const u32*, std::size_t>;
  for (int lanes = 4; lanes <= processor_lanes(); lanes *= 2) {
    std::vector<u32> least(64, ~0u);
    loop::with(lanes)(least.data(), a.data(), b.data(), 64, hashes.data(), hashes.size());
    CHECK(least == expected);
  }
  CHECK_THROWS_WITH(minhash(0), Contains("1 to 4096 permutations, not 0"));
  CHECK_THROWS_WITH(minhash(128, 0), Contains("1 to 1000 characters, not 0"));
}

TEST_CASE("Pairs that are similar are found, others are kept, for any number of threads and order of files") {
  const std::vector<std::string> texts = edited_texts(40, 8, 21);
  std::vector<shingle_set> sets;
  for (const std::string& t : texts) sets.push_back(shingles(t));
  const minhash by;
  const auto partition = [&](const std::vector<std::size_t>& order, int threads, u64 memory, bool compared) {
    const files::folder here;
    signature_table table(128, memory, here / "");
    for (const std::size_t i : order) table.add(by.signature(shingle_text(texts[i])));
    CHECK((table.bytes_on_disk() > 0) == (memory == 0));
    disjoint_sets found = near_duplicates(table, 128, {.compared = compared, .threads = threads});
    std::map<u32, std::set<std::size_t>> all;
    for (u32 k = 0; k < found.count(); ++k) all[found.find(k)].insert(order[k]);
    std::set<std::set<std::size_t>> named;
    for (const auto& [first, members] : all) named.insert(members);
    return named;
  };
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto expected = partition(order, 1, ~u64{0}, true);
  std::map<std::size_t, const std::set<std::size_t>*> set_of;
  for (const auto& s : expected)
    for (const std::size_t i : s) set_of[i] = &s;
  int alike = 0, unlike = 0;
  for (std::size_t a = 0; a < texts.size(); ++a)
    for (std::size_t b = a + 1; b < texts.size(); ++b) {
      const f64 exact = jaccard(sets[a], sets[b]);
      if (exact > 0.9) {
        ++alike;
        CHECK(set_of[a] == set_of[b]);
      }
    }
  // Nothing is joined without a pair that is near the threshold: no member of a set is below 0.6 to all
  // others.
  for (const auto& s : expected) {
    if (s.size() == 1) ++unlike;
    for (const std::size_t a : s) {
      f64 nearest = 0;
      for (const std::size_t b : s)
        if (a != b) nearest = std::max(nearest, jaccard(sets[a], sets[b]));
      CHECK((s.size() == 1 || nearest > 0.6));
    }
  }
  CHECK(alike > 50);
  CHECK(unlike > 50);
  CHECK(expected.size() > 40);  // groups that are divided
  // and all candidates of a search through all pairs are among them
  std::vector<std::vector<u32>> signatures;
  for (const std::string& t : texts) signatures.push_back(by.signature(shingle_text(t)));
  disjoint_sets reference(static_cast<u32>(texts.size()));
  for (u32 a = 0; a < texts.size(); ++a)
    for (u32 b = a + 1; b < texts.size(); ++b) {
      bool candidates = false;
      for (std::size_t band = 0; band < 18; ++band)
        candidates |= std::equal(signatures[a].begin() + static_cast<std::ptrdiff_t>(7 * band),
                                 signatures[a].begin() + static_cast<std::ptrdiff_t>(7 * band + 7),
                                 signatures[b].begin() + static_cast<std::ptrdiff_t>(7 * band));
      if (candidates && similarity(signatures[a], signatures[b]) >= 0.8) reference.join(a, b);
    }
  for (u32 a = 0; a < texts.size(); ++a)
    for (u32 b = 0; b < a; ++b) CHECK((reference.find(a) == reference.find(b)) == (set_of[a] == set_of[b]));

  std::mt19937_64 random(3);
  const auto by_bands = partition(order, 1, ~u64{0}, false);
  for (const int threads : {2, 3}) {
    std::shuffle(order.begin(), order.end(), random);
    CHECK(partition(order, threads, threads == 2 ? 0 : ~u64{0}, true) == expected);
    CHECK(partition(order, threads, ~u64{0}, false) == by_bands);
  }
  CHECK(by_bands != expected);
}

TEST_CASE("A large set of texts that are alike is joined without comparing all pairs") {
  const files::folder here;
  signature_table table(128, ~u64{0}, here / "");
  std::mt19937_64 random(8);
  const minhash by;
  std::vector<u32> same = by.signature(shingle_text(words(random, 80)));
  for (int i = 0; i < 30000; ++i) {
    std::vector<u32> mine = same;
    mine[random() % 128] = static_cast<u32>(random());
    table.add(mine);
  }
  std::size_t compared = 0;
  std::vector<u32> all(30000);
  std::iota(all.begin(), all.end(), 0u);
  disjoint_sets sets(30000);
  ml::detail::join_similar(
      all, [&](u32 a, u32 b) { return ++compared, similarity(table[a], table[b]) >= 0.8; },
      [&](u32 a, u32 b) { sets.join(a, b); });
  CHECK(compared == 29999);
  for (u32 i = 0; i < 30000; ++i) REQUIRE(sets.find(i) == 0);
}

TEST_CASE("Documents are kept in their order, and the others are listed with those that are kept") {
  const files::folder here;
  std::mt19937_64 random(6);
  const std::string a = words(random, 100), b = words(random, 100), c = words(random, 100);
  std::filesystem::create_directory(here / "x");
  files::write(here / "x/one.jsonl", json_line(a) + "\n" + json_line("Tiny.") + json_line(b));
  files::write(here / "two.jsonl", json_line(b + "!!") + json_line(c) + json_line("  " + a));
  const corpus in({here / "x/one.jsonl", here / "two.jsonl"});
  for (const int threads : {1, 2, 3}) {
    const std::string out = here / fmt::format("out{}", threads);
    const deduplication_report r = deduplicate(in, out, {.least_length = 50, .threads = threads});
    CHECK(r.documents == 6);
    CHECK(r.duplicates == 2);
    CHECK(r.too_short == 1);
    CHECK(r.kept() == 3);
    CHECK(r.sets == 2);
    CHECK(r.bytes == 5 + json_line(a).size() * 2 - 2 + 2 + json_line(b).size() * 2 - 2 + 2 +
                         json_line(c).size() - 1 + std::string(R"({"text":""})").size());
    CHECK(read_whole(out + "/x/one.jsonl") == json_line(a) + json_line(b));
    CHECK(read_whole(out + "/two.jsonl") == json_line(c));
    const std::string one = nlohmann::json(here / "x/one.jsonl").dump(),
                      two = nlohmann::json(here / "two.jsonl").dump();
    CHECK(read_whole(out + "/removed.jsonl") ==
          R"({"file":)" + one + R"(,"line":3,"reason":"short"})" + "\n" + R"({"file":)" + two +
              R"(,"line":1,"reason":"duplicate","kept_file":)" + one + R"(,"kept_line":4,"similarity":1.0})" +
              "\n" + R"({"file":)" + two + R"(,"line":3,"reason":"duplicate","kept_file":)" + one +
              R"(,"kept_line":1,"similarity":1.0})" + "\n");
  }
  CHECK_THROWS_WITH(deduplicate(in, here / "out1", {}), Contains("give a new folder"));
}

TEST_CASE("Texts are documents as wholes, or with empty lines between them") {
  const files::folder here;
  files::write(here / "a.txt",
               "\xef\xbb\xbf"
               "First line.\nSecond line.\n\n \n\nAnother text.\r\n\r\nFirst line!\nSecond LINE.");
  files::write(here / "b.txt", "");
  std::vector<std::pair<i64, std::string>> found;
  const corpus in({here / "a.txt", here / "b.txt"}, {.sections = true});
  in.each([&](const document& d) { found.emplace_back(d.line, in.text_of(d)); });
  CHECK(found == std::vector<std::pair<i64, std::string>>{{1, "First line.\nSecond line."},
                                                          {6, "Another text."},
                                                          {8, "First line!\nSecond LINE."}});
  CHECK(deduplicate(in, here / "out", {}).duplicates == 1);
  CHECK(read_whole(here / "out/a.txt") == "First line.\nSecond line.\n\nAnother text.\n");
  files::write(here / "c.txt", "first line\nsecond line");
  files::write(here / "d.txt", "First line. Second line.\n");
  const deduplication_report r = deduplicate(corpus({here / "d.txt", here / "c.txt"}), here / "whole", {});
  CHECK(r.documents == 2);
  CHECK(r.duplicates == 1);
  CHECK(read_whole(here / "whole/d.txt") == "First line. Second line.\n");
  CHECK(!std::filesystem::exists(here / "whole/c.txt"));
}

TEST_CASE("Documents that cannot be read are refused, or left out and counted") {
  const files::folder here;
  const std::string file = here / "a.jsonl";
  const auto refusal = [&](const std::string& bytes) {
    files::write(file, json_line("good") + bytes);
    const std::string why = files::refusal([&] { deduplicate(corpus({file}), here / "out", {}); });
    CHECK(!std::filesystem::exists(here / "out"));
    CHECK(!std::filesystem::exists(here / "out.unfinished"));
    return why;
  };
  CHECK(refusal("{\"text\":\"caf\xe9\"}\n") ==
        "wsl: " + file +
            ", line 2, byte 13: this is not UTF-8: convert the file, for instance with iconv -t UTF-8");
  CHECK_THAT(refusal("\n{\"text\":\"a\",}\n"), Contains(file + ", line 3, byte 13: it is no object in JSON"));
  CHECK_THAT(refusal("[1]\n"), Contains("line 2, byte 1: it is no object in JSON"));
  CHECK_THAT(refusal("{\"other\":{\"text\":\"a\"}}\n"), Contains("line 2, byte 1: the object lacks 'text'"));
  CHECK_THAT(refusal("{\"text\":[\"a\"]}\n"), Contains("'text' is no text: put it in quotes"));
  files::write(file, json_line("good") + "{\"text\":\"caf\xe9\"}\n{\n" + json_line("better"));
  const deduplication_report r = deduplicate(corpus({file}), here / "out", {.skip_invalid = true});
  CHECK(r.invalid == 2);
  CHECK(r.kept() == 2);
  CHECK(read_whole(here / "out/a.jsonl") == json_line("good") + json_line("better"));
  files::write(here / "removed.jsonl", json_line("a"));
  CHECK_THROWS_WITH(deduplicate(corpus({here / "removed.jsonl"}), here / "again", {}), Contains("rename it"));
  files::write(here / "a.txt", "a");
  CHECK_THROWS_WITH(corpus({file, here / "a.txt"}), Contains("read files of one kind"));
  CHECK_THROWS_WITH(corpus({file, here / "./a.jsonl"}), Contains("named twice"));
  CHECK_THROWS_WITH(corpus({file}, {.sections = true}), Contains("empty lines divide texts"));
  files::write(here / "a.zst", "a");
  CHECK_THROWS_WITH(corpus({here / "a.zst"}), Contains("unpack or rename it"));
}

}  // namespace
