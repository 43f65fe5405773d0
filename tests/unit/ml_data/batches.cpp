// SPDX-License-Identifier: MIT
#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <wsl/ml/data/batches.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

std::vector<u16> counting(int n) {
  std::vector<u16> x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), u16{0});
  return x;
}
// One token an example: its number.
dataset numbers(int n) { return windows(counting(n + 1), 1); }

TEST_CASE("A permutation has everything once") {
  for (i64 n : {1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 1000, 4099}) {
    const permutation p(n, 7);
    std::set<i64> seen;
    for (i64 i = 0; i < n; ++i) seen.insert(p(i));
    CHECK(static_cast<i64>(seen.size()) == n);
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == n - 1);
  }
  CHECK(permutation(i64{1} << 62, 1)(12345) < i64{1} << 62);
}

TEST_CASE(
    "A permutation looks random: every place has every thing about as often, and neighbours do not stay "
    "together") {
  constexpr int n = 10, seeds = 20000;
  std::vector<int> counts(n * n);
  int together = 0;
  for (u64 seed = 0; seed < seeds; ++seed) {
    const permutation p(n, seed);
    for (i64 i = 0; i < n; ++i) {
      ++counts[static_cast<std::size_t>(i * n + p(i))];
      together += i + 1 < n && p(i + 1) == p(i) + 1;
    }
  }
  // Chi-square of 81 degrees of freedom: mean 81, deviation 12.7.
  f64 chi = 0;
  for (int c : counts) chi += (c - seeds / f64{n}) * (c - seeds / f64{n}) / (seeds / f64{n});
  CHECK(chi < 81 + 5 * 12.7);
  CHECK(together / f64{seeds} == Approx(0.9).epsilon(0.05));  // 9 pairs, each with probability 1/10
}

TEST_CASE("An epoch has each example once, in another order each time") {
  batches b(numbers(20), {.size = 5, .seed = 3});
  std::vector<std::vector<i32>> epochs(3);
  for (auto& epoch : epochs) {
    for (int i = 0; i < 4; ++i)
      for (i32 id : b.next().ids) epoch.push_back(id);
    CHECK(std::set<i32>(epoch.begin(), epoch.end()).size() == 20);
  }
  CHECK(epochs[0] != epochs[1]);
  CHECK(epochs[1] != epochs[2]);
}

TEST_CASE("What is made ahead does not change what comes, and a saved position goes on with it") {
  const auto run = [](int ahead, int stop) {
    std::vector<std::vector<i32>> all;
    auto b = std::make_unique<batches>(numbers(23), batch_settings{.size = 4, .seed = 9, .prefetch = ahead});
    for (int i = 0; i < 17; ++i) {
      if (i == stop) {
        const data_position p = b->position();
        b = std::make_unique<batches>(numbers(23), batch_settings{.size = 4, .seed = 1, .prefetch = ahead});
        b->resume(p);
      }
      all.push_back(b->next().ids);
    }
    return all;
  };
  const auto expected = run(0, -1);
  for (int ahead : {0, 1, 3, 8})
    for (int stop : {-1, 0, 1, 5, 6, 16}) CHECK(run(ahead, stop) == expected);
}

TEST_CASE("Batches that are made elsewhere are those that are made here") {
  // Without the examples, as in a process that does not open the data.
  dataset shape = numbers(23);
  shape.get = [](i64, const example&) { throw std::logic_error("an example was asked for"); };
  const dataset data = numbers(23);
  std::atomic<int> asked{0};
  batches here(data, {.size = 4, .seed = 9, .drop_last = false}),
      elsewhere(shape, {.size = 4, .seed = 9, .drop_last = false}, [&](const batch_request& what) {
        ++asked;
        return batch_of(data, what);
      });
  for (int i = 0; i < 13; ++i) {
    CHECK(elsewhere.next().ids == here.next().ids);
    CHECK(elsewhere.position() == here.position());
  }
  elsewhere.resume({.seed = 9, .epoch = 1, .example = 8});
  here.resume({.seed = 9, .epoch = 1, .example = 8});
  CHECK(elsewhere.next().ids == here.next().ids);
  CHECK(asked >= 14);
  // What cannot be made is tried again.
  int fails = 1;
  batches failing(shape, {.size = 4, .prefetch = 0}, [&](const batch_request& what) {
    if (fails-- > 0) throw std::runtime_error("a line of the file is no number");
    return batch_of(data, what);
  });
  CHECK_THROWS_WITH(failing.next(), "a line of the file is no number");
  CHECK(failing.next().ids == batches(data, {.size = 4}).next().ids);
}

TEST_CASE("The end of an epoch is dropped, or smaller") {
  batches dropped(numbers(10), {.size = 4, .shuffle = false});
  CHECK(dropped.per_epoch() == 2);
  for (i32 first : {0, 4, 0, 4, 0}) {
    const loaded_batch b = dropped.next();
    CHECK(b.ids == std::vector<i32>{first, first + 1, first + 2, first + 3});
    CHECK(b.targets == std::vector<i32>{first + 1, first + 2, first + 3, first + 4});
  }
  batches kept(numbers(10), {.size = 4, .shuffle = false, .drop_last = false});
  CHECK(kept.per_epoch() == 3);
  for (int sequences : {4, 4, 2, 4, 4, 2}) CHECK(kept.next().view().sequences == sequences);
}

TEST_CASE("Windows of a text") {
  const dataset pieces = windows(counting(10), 3), every = windows(counting(10), 3, 1);
  CHECK(pieces.count == 3);
  CHECK(every.count == 7);
  std::vector<i32> ids(3), targets(3);
  every.get(6, {ids, {}, targets});
  CHECK(ids == std::vector<i32>{6, 7, 8});
  CHECK(targets == std::vector<i32>{7, 8, 9});
  CHECK_THROWS_WITH(windows(counting(3), 3), "wsl: 3 tokens have no window of 3 with a token after it");
}

TEST_CASE("An example that cannot be had is asked for again") {
  int calls = 0;
  dataset flaky{.count = 4, .length = 1, .width = 0, .get = [&](i64 which, const example& to) {
                  if (++calls == 3) throw std::runtime_error("no such example today");
                  to.ids[0] = to.targets[0] = static_cast<i32>(which);
                }};
  batches b(flaky, {.size = 2, .shuffle = false, .prefetch = 0});
  CHECK(b.next().ids == std::vector<i32>{0, 1});
  CHECK_THROWS_WITH(b.next(), "no such example today");
  CHECK(b.next().ids == std::vector<i32>{2, 3});
}

TEST_CASE("Batches that cannot be are refused") {
  CHECK_THROWS_WITH(batches(numbers(3), {.size = 4}),
                    "wsl: the data have 3 examples, a batch 4: take a smaller batch or more data");
  CHECK_THROWS_WITH(batches(numbers(3), {.size = 0}), Contains("at least one example"));
  batches b(numbers(3), {.size = 1});
  CHECK_THROWS_WITH(b.resume({1, 0, 4}), Contains("these are other data"));
}

TEST_CASE("Processes read their parts of a batch, and together all of it") {
  const batch_settings whole{.size = 7, .seed = 3, .prefetch = 0};
  batches all(numbers(30), whole);
  const loaded_batch expected = all.next();
  std::vector<i32> ids(7);
  i64 read = 0;
  for (int k = 0; k < 3; ++k) {
    batch_settings some = whole;
    some.part = {.first = k, .end = k + 1, .of = 3};
    read += some.part.end_in(7) - some.part.begin_in(7);
    batches mine(numbers(30), some);
    const loaded_batch b = mine.next();
    REQUIRE(b.ids.size() == 7);
    for (std::size_t i = 0; i < 7; ++i) {
      const bool here =
          static_cast<i64>(i) >= some.part.begin_in(7) && static_cast<i64>(i) < some.part.end_in(7);
      CHECK(b.ids[i] == (here ? expected.ids[i] : 0));
      ids[i] += b.ids[i];
    }
  }
  CHECK(read == 7);
  CHECK(ids == expected.ids);
}

TEST_CASE("Fingerprints are those of FNV-1a, and tell data apart") {
  support::fingerprint f;
  f.add("foobar", 6);
  CHECK(f.value() == 0x85944171f73967e8u);  // of the authors' test vectors
  CHECK(fingerprint_of(numbers(30)) == fingerprint_of(numbers(30)));
  CHECK(fingerprint_of(numbers(30)) != fingerprint_of(numbers(31)));
  std::vector<u16> other = counting(31);
  other[17] = 3;
  CHECK(fingerprint_of(windows(other, 1)) != fingerprint_of(numbers(30)));
}

}  // namespace
