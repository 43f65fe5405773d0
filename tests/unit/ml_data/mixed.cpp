// SPDX-License-Identifier: MIT
// Parts and mixtures of datasets, examples of documents as the Model Zoo packs them, and the wafer for whose
// part an example is made.
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/packed_sequences.hpp>
#include <wsl/ml/data/subset.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

/// Example i is the number first + i.
dataset numbers_from(i32 first, i64 count) {
  return {.count = count, .length = 1, .get = [first](i64 which, const example& to) {
            to.ids[0] = to.targets[0] = first + static_cast<i32>(which);
          }};
}
std::vector<i32> all_of(const dataset& d) {
  std::vector<i32> all(static_cast<std::size_t>(d.count)), targets(1);
  for (i64 i = 0; i < d.count; ++i)
    d.get(
        i,
        {.ids = std::span(all).subspan(static_cast<std::size_t>(i), 1), .features = {}, .targets = targets});
  return all;
}

TEST_CASE("a subset has the examples of its ranges, whose ends are rounded down") {
  const dataset ten = numbers_from(0, 10);
  CHECK(all_of(subset_of(ten, "0.0-0.75")) == std::vector<i32>{0, 1, 2, 3, 4, 5, 6});
  CHECK(all_of(subset_of(ten, "0.75-1.0")) == std::vector<i32>{7, 8, 9});
  CHECK(all_of(subset_of(ten, "0.1-0.3, 0.7-0.7,0.8-1")) == std::vector<i32>{1, 2, 8, 9});
  CHECK(all_of(subset_of(ten, "0-1")) == all_of(ten));
  // A part and the rest have everything once.
  const dataset odd = numbers_from(0, 101);
  std::vector<i32> both = all_of(subset_of(odd, "0.0-0.37"));
  for (i32 x : all_of(subset_of(odd, "0.37-1.0"))) both.push_back(x);
  CHECK(both == all_of(odd));
  for (const char* wrong :
       {"", "0.5", "0.5-0.2", "0.5-1.1", "-0.1-0.5", "0.5-0.7,0.6-0.8", "a-b", "0.1-0.2,"})
    CHECK_THROWS_WITH(subset_of(ten, wrong), Contains(fmt::format("data_subset '{}'", wrong)));
  CHECK_THROWS_WITH(subset_of(ten, "0.01-0.02"), Contains("of 10 examples none is left"));
}

TEST_CASE("a mixture has of each dataset what its weight asks for, everywhere and in order") {
  const dataset mixed =
      mixture_of({{numbers_from(0, 30), 0.6}, {numbers_from(100, 10), 0.3}, {numbers_from(200, 50), 0.1}});
  // The epoch in which the last one is read once has 500.
  REQUIRE(mixed.count == 500);
  const std::vector<i32> all = all_of(mixed);
  std::array<i64, 3> seen{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto k = static_cast<std::size_t>(all[i] / 100);
    const std::array<i64, 3> has{30, 10, 50};
    CHECK(all[i] % 100 == seen[k] % has[k]);
    ++seen[k];
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(std::abs(static_cast<f64>(seen[j]) - static_cast<f64>(i + 1) * std::array{.6, .3, .1}[j]) <= 2);
  }
  CHECK(seen == std::array<i64, 3>{300, 150, 50});
  // One of a twentieth or less says nothing of the length.
  CHECK(mixture_of({{numbers_from(0, 95), 0.95}, {numbers_from(100, 1000), 0.05}}).count == 100);
  CHECK(all_of(mixture_of({{numbers_from(0, 4), 3}, {numbers_from(9, 1), 0}})) ==
        std::vector<i32>{0, 1, 2, 3});
  CHECK_THROWS_WITH(mixture_of({{numbers_from(0, 4), -1}}), Contains("a weight of a mixture is at least 0"));
  CHECK_THROWS_WITH(mixture_of({{numbers_from(0, 4), 0}}), Contains("a dataset with a weight above 0"));
  dataset longer = numbers_from(0, 4);
  longer.length = 2;
  CHECK_THROWS_WITH(mixture_of({{numbers_from(0, 4), 1}, {longer, 1}}),
                    Contains("some have 1 tokens and some 2"));
}

TEST_CASE("packed documents are the windows of their tokens in a row") {
  std::vector<i32> all;
  example_packer p({.length = 5, .end = 99, .least = 2});
  for (i32 d = 0; d < 9; ++d) {
    std::vector<i32> document(static_cast<std::size_t>(d * 3 % 8));
    std::iota(document.begin(), document.end(), 10 * d);
    p.add(document);
    all.insert(all.end(), document.begin(), document.end()), all.push_back(99);
  }
  p.finish();
  const i64 whole = (std::ssize(all) - 1) / 5, rest = (std::ssize(all) - 1) % 5;
  REQUIRE(rest > 0);
  REQUIRE(p.count() == whole + 1);
  for (i64 i = 0; i < p.count(); ++i)
    for (i64 t = 0; t < 5; ++t) {
      const auto at = [&](i64 row) { return p.examples()[static_cast<std::size_t>(15 * i + 5 * row + t)]; };
      const bool is_there = i < whole || t < rest;
      CHECK(at(0) == (is_there ? all[static_cast<std::size_t>(5 * i + t)] : 0));
      CHECK(at(1) == is_there);
      CHECK(at(2) == (is_there ? all[static_cast<std::size_t>(5 * i + t + 1)] : 0));
    }
}

TEST_CASE("documents by themselves begin a sequence each, with padding behind") {
  example_packer p({.length = 4, .begin = {1}, .end = 2, .padding = 7, .packs = false, .least = 3});
  p.add(std::vector<i32>{10, 11});
  CHECK(p.examples() == std::vector<i32>{1, 10, 11, 7, /**/ 1, 1, 1, 0, /**/ 10, 11, 2, 7});
  p.drop(1);
  p.add(std::vector<i32>{10, 11, 12, 13});  // and one token more begins another, which is too short
  CHECK(p.examples() == std::vector<i32>{1, 10, 11, 12, /**/ 1, 1, 1, 1, /**/ 10, 11, 12, 13});
  CHECK(p.too_short() == 1);
}

TEST_CASE("of prompts and completions the completions and their end count") {
  example_packer p({.length = 6, .end = 2, .padding = 0, .least = 2});
  p.add(std::vector<i32>{5, 6}, std::vector<i32>{7, 8});
  CHECK(p.examples() == std::vector<i32>{5, 6, 7, 8, 2, 0, /**/ 0, 1, 1, 1, 0, 0, /**/ 6, 7, 8, 2, 0, 0});
  p.drop(1);
  p.add(std::vector<i32>{5, 6, 6}, std::vector<i32>{7, 8});
  CHECK(p.examples() == std::vector<i32>{5, 6, 6, 7, 8, 2, /**/ 0, 0, 1, 1, 1, 0, /**/ 6, 6, 7, 8, 2, 0});
  p.add(std::vector<i32>{5, 6, 6, 6}, std::vector<i32>{7, 8});
  CHECK(p.too_long() == 1);
  example_packer separated({.length = 5, .end = 2, .separator = 3, .least = 2});
  separated.add(std::vector<i32>{5}, std::vector<i32>{7});
  CHECK(separated.examples() == std::vector<i32>{5, 3, 7, 2, 0, /**/ 0, 1, 1, 0, 0, /**/ 3, 7, 2, 0, 0});
}

TEST_CASE("a dataset is told the wafer whose part it makes") {
  CHECK(num_tasks() == 1);
  CHECK(task_id() == 0);
  const auto tasks_of = [](batch_part part, int prefetch) {
    dataset d = numbers_from(0, 12);
    d.get = [](i64, const example& to) { to.ids[0] = num_tasks(), to.targets[0] = task_id(); };
    batches b(d, {.size = 6, .prefetch = prefetch, .part = part});
    return b.next();
  };
  for (const int prefetch : {0, 2}) {
    CHECK(tasks_of({}, prefetch).targets == std::vector<i32>(6, 0));
    CHECK(tasks_of({0, 3, 3}, prefetch).targets == std::vector<i32>{0, 0, 1, 1, 2, 2});
    CHECK(tasks_of({0, 3, 3}, prefetch).ids == std::vector<i32>(6, 3));
    CHECK(tasks_of({1, 2, 3}, prefetch).targets ==
          std::vector<i32>{0, 0, 1, 1, 0, 0});  // the others' stay zeros
    CHECK(tasks_of({0, 4, 4}, prefetch).targets == std::vector<i32>{0, 1, 1, 2, 3, 3});
  }
  CHECK(num_tasks() == 1);
}

}  // namespace
