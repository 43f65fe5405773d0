// SPDX-License-Identifier: MIT
// Random examples: functions of the seed and the number alone, with the ranges and shapes that models take;
// and shards of tokens, which are the stream that one file of all of them is.
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/synthetic.hpp>
#include <wsl/ml/data/token_shards.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

/// An example of a dataset with names.
std::vector<std::vector<i32>> named_of(const dataset& d, i64 which, u64 key = 0) {
  std::vector<std::vector<i32>> all;
  for (const named_field& x : d.named) all.emplace_back(static_cast<std::size_t>(x.count), -7);
  const std::vector<std::span<i32>> rooms(all.begin(), all.end());
  d.get(which, {.ids = {}, .features = {}, .targets = {}, .named = rooms, .key = key});
  return all;
}

TEST_CASE("Random tokens are functions of the seed and of the number of the example") {
  const dataset d = synthetic_text({.seed = 3, .examples = 50}, 16, 11),
                other = synthetic_text({.seed = 4}, 16, 11);
  CHECK(d.count == 50);
  CHECK(other.count == endless_examples);
  const auto example_of = [](const dataset& from, i64 which) {
    std::vector<i32> all(32);
    from.get(which, {.ids = std::span(all).first(16), .features = {}, .targets = std::span(all).last(16)});
    return all;
  };
  std::vector<int> seen(11);
  for (i64 i = 0; i < 50; ++i) {
    const std::vector<i32> x = example_of(d, i);
    CHECK(x == example_of(synthetic_text({.seed = 3, .examples = 50}, 16, 11), i));
    CHECK(x != example_of(other, i));
    CHECK(x != example_of(d, (i + 1) % 50));
    for (std::size_t t = 0; t < 16; ++t) {
      REQUIRE((x[t] >= 0 && x[t] < 11 && x[16 + t] >= 0 && x[16 + t] < 11));
      ++seen[static_cast<std::size_t>(x[t])];
      if (t > 0) CHECK(x[t] == x[16 + t - 1]);  // the target is the token after
    }
  }
  for (const int n : seen) CHECK(std::abs(n - 800 / 11) < 40);
  // Batches go on from any place, and the end is far.
  batches whole(other, {.size = 4, .seed = 9}), second(other, {.size = 4, .seed = 9, .prefetch = 0});
  for (int k = 0; k < 3; ++k) whole.next();
  second.resume(whole.position());
  CHECK(whole.next().ids == second.next().ids);
  CHECK_THROWS_WITH(synthetic_text({.examples = -1}, 16, 11), Contains("at least one example, not -1"));
  CHECK_THROWS_WITH(synthetic_text({}, 16, 0), Contains("vocabularies of at least 1, not 0"));
}

TEST_CASE("Random images, hidden words and pairs have the numbers of their models") {
  const dataset images = synthetic_features({.seed = 1, .examples = 9}, 6, 3, 4);
  std::vector<f32> features(18);
  std::vector<i32> classes(6);
  images.get(2, {.ids = {}, .features = features, .targets = classes});
  for (const f32 x : features) CHECK((x >= 0 && x < 1));
  for (const i32 x : classes) CHECK((x >= 0 && x < 4));

  const dataset hidden = synthetic_masked({.seed = 1}, 40, 30, 5, true, {0.15, 6, false});
  REQUIRE(hidden.named.size() == 5);
  for (i64 i = 0; i < 20; ++i) {
    const auto x = named_of(hidden, i);
    CHECK(x == named_of(hidden, i, 99));
    int guessed = 0;
    for (std::size_t t = 0; t < 40; ++t) {
      const bool is_guessed = x[3][t] != ignored_label;
      guessed += is_guessed;
      if (is_guessed) CHECK((x[3][t] >= 5 && x[3][t] < 30));
      CHECK((x[0][t] == 4 || (x[0][t] >= 5 && x[0][t] < 30)));  // the mask, or a word
      CHECK((is_guessed || x[0][t] != 4));
      CHECK(x[1][t] == 1);
      CHECK(x[2][t] == (t >= 20));
    }
    CHECK(guessed == 6);
    CHECK((x[4][0] == 0 || x[4][0] == 1));
  }
  CHECK(synthetic_masked({}, 40, 30, 5, false, {0.15, 6, false}).named.size() == 4);

  const dataset pairs = synthetic_pairs({.seed = 1}, 7, 5, 20, 4, 2, 3);
  for (i64 i = 0; i < 20; ++i) {
    const auto x = named_of(pairs, i);
    CHECK(x[0].size() == 7);
    CHECK(x[2].front() == 2);
    CHECK(x[3].back() == 3);
    for (std::size_t t = 0; t + 1 < 5; ++t) CHECK(x[2][t + 1] == x[3][t]);
    for (const i32 id : x[0]) CHECK((id >= 4 && id < 20));
  }
  CHECK_THROWS_WITH(synthetic_pairs({}, 7, 5, 4, 4, 2, 3), Contains("vocabularies of at least 5, not 4"));
}

TEST_CASE("Shards of tokens are the stream that one file of them is") {
  const files::folder here;
  std::filesystem::create_directories(here / "data");
  std::vector<i32> all(1000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<i32>(scramble(i) % 60000);
  const std::size_t cuts[]{0, 1, 1, 400, 999, 1000};  // of one token, of none, and others
  for (const token_format form : {token_format::llmc, token_format::raw, token_format::llmc_llama3}) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k + 1 < std::size(cuts); ++k) {
      names.push_back(here / fmt::format("data/some_train_{:06}.bin", k));
      write_tokens(names.back(), tokens(std::span(all).subspan(cuts[k], cuts[k + 1] - cuts[k])), form);
    }
    write_tokens(here / "data/some_val_000000.bin", tokens(std::span(all).first(9)), form);
    write_tokens(here / "whole.bin", tokens(all), form);
    const tokens one = read_tokens(here / "whole.bin");
    for (const std::vector<std::string>& paths :
         {std::vector{here / "data"},
          {here / "data/some_train_*.bin"},
          names,
          {here / "data/some_train_00000[01].bin", names[2], here / "data/some_train_00000[3-9].bin"}}) {
      const std::vector<std::string> files = token_files_of(paths, "train");
      CHECK(files == names);
      const tokens x = read_token_files(files);
      REQUIRE(x.size() == 1000);
      CHECK(x.largest() == one.largest());
      CHECK(x.are_wide() == (form == token_format::llmc_llama3));
      for (i64 i = 0; i < 1000; ++i) REQUIRE(x[i] == all[static_cast<std::size_t>(i)]);
      // In a random order, and with windows across the files.
      batches a(windows(x, 16, 1), {.size = 8, .seed = 5}), b(windows(one, 16, 1), {.size = 8, .seed = 5});
      for (i64 k = 0; k < a.per_epoch() + 3; ++k) {
        const loaded_batch p = a.next(), q = b.next();
        REQUIRE((p.ids == q.ids && p.targets == q.targets));
      }
      write_tokens(here / "joined.bin", x, form);
      CHECK(read_whole(here / "joined.bin") == read_whole(here / "whole.bin"));
    }
    CHECK(token_files_of({here / "data"}, "val").size() == 1);
  }
  CHECK(token_files_of({here / "data"}, "test").empty());
  const std::string first = here / "data/some_train_000000.bin", mixed = here / "data/some_train_000001.bin";
  write_tokens(mixed, tokens(all), token_format::raw);
  CHECK_THAT(files::refusal([&] { read_token_files(token_files_of({here / "data"}, "train")); }),
             Contains(first + " has llm.c's header of 32 bits a token, and " + mixed +
                      " has 16 bits a token and no header"));
  std::vector<i32> header(256);
  header[0] = llama3_tokens.magic, header[1] = 9;
  files::write(mixed, files::bytes_of(header));
  CHECK_THAT(files::refusal([&] { read_token_files(token_files_of({here / "data"}, "train")); }),
             Contains(mixed) && Contains("have version 7, not 9"));
  CHECK_THAT(files::refusal([&] { token_files_of({first, first}, "train"); }),
             Contains(first + " is named twice"));
  CHECK_THAT(files::refusal([&] { token_files_of({here / "no*.bin"}, "train"); }),
             Contains("no file has such a name"));
  CHECK_THAT(files::refusal([&] { token_files_of({here / "no.bin"}, "train"); }),
             Contains("there is no such file or folder"));
  CHECK_THAT(files::refusal([&] { read_token_files({}); }), Contains("no file of tokens is named"));
}

}  // namespace
