// SPDX-License-Identifier: MIT
// Documents in sequences: each token once and in its order, whatever the threads; and a decoder that computes
// them as if each were alone.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/packed_documents.hpp>
#include <wsl/ml/data/text/encode/completions.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Contains;
using ids = std::vector<i32>;
constexpr i32 no = decoder::no_label;

struct texts {
  std::vector<ids> inputs, targets;
  documents view() const {
    return {.count = std::ssize(inputs),
            .length = [this](i64 k) { return static_cast<int>(inputs[static_cast<std::size_t>(k)].size()); },
            .get =
                [this](i64 k, std::span<i32> to_ids, std::span<i32> to_targets) {
                  const auto at = static_cast<std::size_t>(k);
                  std::copy(inputs[at].begin(), inputs[at].end(), to_ids.begin());
                  std::copy(targets[at].begin(), targets[at].end(), to_targets.begin());
                }};
  }
};
/// Documents of random lengths, in which no token is there twice; of some tokens nothing is learnt.
texts some_texts(int count, int longest, u32 seed, i32 below = 1 << 30) {
  std::mt19937 draw(seed);
  texts all;
  i32 next = 0;
  for (int k = 0; k < count; ++k) {
    ids& x = all.inputs.emplace_back();
    ids& y = all.targets.emplace_back();
    const int n = 1 + static_cast<int>(draw() % static_cast<unsigned>(longest));
    for (int t = 0; t < n; ++t)
      x.push_back(next++ % below), y.push_back(t && draw() % 4 == 0 ? no : (next * 7) % below);
  }
  return all;
}

/// The sequences of a dataset, one after the other.
struct sequence {
  ids tokens, targets, positions;
  friend bool operator==(const sequence&, const sequence&) = default;
};
std::vector<sequence> sequences_of(const dataset& d, int prefetch) {
  batches from(d, {.size = 1, .shuffle = false, .prefetch = prefetch});
  std::vector<sequence> all;
  for (i64 k = 0; k < d.count; ++k) {
    const loaded_batch b = from.next();
    if (d.named.empty()) all.push_back({b.ids, b.targets, {}});
    else all.push_back({b.by_name[0].numbers, b.by_name[1].numbers, b.by_name[2].numbers});
  }
  return all;
}

TEST_CASE("A document goes into the first sequence with room, in the order that is asked for") {
  texts all;
  for (const std::size_t n : {6u, 5u, 3u, 2u, 4u})
    all.inputs.emplace_back(n, 1), all.targets.emplace_back(n, 2);
  const packed_documents given(all.view(), {.length = 8, .padding = 9, .order = packing_order::given});
  CHECK(given.sequences() == 3);
  CHECK(given.place_of(0) == packed_documents::place{0, 0, 6});
  CHECK(given.place_of(1) == packed_documents::place{1, 0, 5});
  CHECK(given.place_of(2) == packed_documents::place{1, 5, 3});
  CHECK(given.place_of(3) == packed_documents::place{0, 6, 2});
  CHECK(given.place_of(4) == packed_documents::place{2, 0, 4});
  CHECK(std::vector<i64>(given.documents_of(0).begin(), given.documents_of(0).end()) ==
        std::vector<i64>{0, 3});
  CHECK((given.tokens() == 20 && given.count() == 5 && given.most_documents() == 2));
  CHECK(given.share() == Approx(20. / 24));
  CHECK(given.share_padded() == Approx(20. / 40));
  CHECK(given.about() ==
        "5 documents in 3 sequences of 8, 1.7 in each: 83.3 % of the tokens are real, and padded 50.0 %");
  const sequence last = sequences_of(given.data(), 0)[2];
  CHECK(last == sequence{{1, 1, 1, 1, 9, 9, 9, 9}, {2, 2, 2, 2, no, no, no, no}, {0, 1, 2, 3, 0, 0, 0, 0}});
  // The longest first: 6 2, 5 3, 4.
  const packed_documents by_length(all.view(), {.length = 8, .order = packing_order::longest_first});
  CHECK(by_length.place_of(4) == packed_documents::place{2, 0, 4});
  CHECK(by_length.place_of(2) == packed_documents::place{1, 5, 3});
  CHECK_THROWS_WITH(packed_documents(all.view(), {.length = 5}),
                    Contains("document 0 has 6 tokens, and a sequence from 1 to 5"));
  CHECK_THROWS_WITH(packed_documents(texts().view(), {.length = 5}), Contains("no documents to pack"));
}

TEST_CASE("Every token is packed once, in its document, and the same on all threads") {
  for (const packing_order order :
       {packing_order::given, packing_order::shuffled, packing_order::longest_first}) {
    const texts all = some_texts(300, 32, 5);
    const packed_documents packed(all.view(), {.length = 32, .padding = -1, .order = order, .seed = 4});
    const std::vector<sequence> found = sequences_of(packed.data(), 0);
    CHECK(found == sequences_of(packed.data(), 3));
    std::multiset<i32> seen;
    i64 paddings = 0;
    for (const sequence& x : found) {
      i32 position = 0;
      for (std::size_t t = 0; t < 32; ++t) {
        position = x.positions[t] == 0 ? 0 : position + 1;
        CHECK(x.positions[t] == position);
        if (x.tokens[t] >= 0) {
          seen.insert(x.tokens[t]);
          continue;
        }
        ++paddings;
        CHECK((x.targets[t] == no && x.positions[t] == 0));
      }
    }
    CHECK(std::ssize(seen) == packed.tokens());
    CHECK(std::set<i32>(seen.begin(), seen.end()).size() == seen.size());
    CHECK(paddings == 32 * packed.sequences() - packed.tokens());
    for (i64 k = 0; k < packed.count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const sequence& x = found[static_cast<std::size_t>(packed.place_of(k).sequence)];
      const auto part = packed.part_of(k, std::span(x.tokens));
      CHECK(ids(part.begin(), part.end()) == all.inputs[at]);
      const auto learnt = packed.part_of(k, std::span(x.targets));
      CHECK(ids(learnt.begin(), learnt.end()) == all.targets[at]);
    }
    // First-fit promises that at most one sequence is half empty.
    int half_empty = 0;
    for (const sequence& x : found) half_empty += std::count(x.tokens.begin(), x.tokens.end(), -1) >= 16;
    CHECK(half_empty <= 1);
  }
}

TEST_CASE("Another seed packs otherwise, and the same seed the same") {
  const texts all = some_texts(100, 20, 3);
  const auto places = [&](u64 seed) {
    const packed_documents x(all.view(), {.length = 24, .seed = seed});
    std::vector<i64> found;
    for (i64 k = 0; k < x.count(); ++k) found.push_back(x.place_of(k).sequence);
    return found;
  };
  CHECK(places(1) == places(1));
  CHECK(places(1) != places(2));
}

TEST_CASE("A decoder's losses of packed documents are those of the documents alone") {
  const int length = 24;
  const texts all = some_texts(23, length, 8, 31);
  const packed_documents packed(all.view(), {.length = length, .padding = 3});
  const decoder d{.vocabulary = 31,
                  .positions = length,
                  .layers = 2,
                  .heads = 2,
                  .width = 16,
                  .deviation = 0.4f,
                  .packed = true};
  // The summed loss is the mean times what counts; a document without targets has none.
  const auto counted = [](std::span<const i32> targets) {
    return static_cast<f64>(std::ssize(targets) - std::count(targets.begin(), targets.end(), no));
  };
  const auto check = [&](auto& t) {
    f64 alone = 0, together = 0, padded = 0;
    for (std::size_t k = 0; k < all.inputs.size(); ++k)
      alone += t.evaluate({.ids = all.inputs[k],
                           .targets = all.targets[k],
                           .sequences = 1,
                           .length = static_cast<int>(all.inputs[k].size())}) *
               counted(all.targets[k]);
    for (const auto& [data, sum] : {std::pair(packed.data(), &together), {packed.padded(), &padded}}) {
      batches from(data, {.size = 4, .shuffle = false, .drop_last = false});
      for (i64 k = 0; k < from.per_epoch(); ++k) {
        const loaded_batch b = from.next();
        *sum += t.evaluate(b.view()) * counted(b.by_name.empty() ? b.targets : b.by_name[1].numbers);
      }
    }
    CHECK(together == Approx(alone).epsilon(1e-5));
    CHECK(padded == Approx(alone).epsilon(1e-5));
  };
  trainer streaming(d.build(), optimizer::sgd(), {.workers = 4, .columns = 2, .seed = 3});
  check(streaming);
  pipelined_trainer in_a_row(d.build(), optimizer::sgd(), {.strips = 3, .seed = 3});
  check(in_a_row);
  // The other documents of a sequence change none of its logits.
  batches from(packed.data(), {.size = static_cast<int>(packed.sequences()), .shuffle = false});
  const loaded_batch b = from.next();
  const std::vector<f32> logits = streaming.predict(b.view());
  for (i64 k = 0; k < packed.count(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const std::size_t row = static_cast<std::size_t>(packed.place_of(k).sequence) * length * 31;
    const auto here = packed.part_of(k, std::span(logits).subspan(row, length * 31));
    const std::vector<f32> alone = streaming.predict(
        {.ids = all.inputs[at], .sequences = 1, .length = static_cast<int>(all.inputs[at].size())});
    REQUIRE(here.size() == alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) CHECK(std::abs(here[i] - alone[i]) < 1e-5f);
  }
}

TEST_CASE("The documents of a text begin with the token between them") {
  const auto parts = [](const ids& text, int length) {
    const documents d = documents_in(tokens(text), 0, length);
    std::vector<std::pair<ids, ids>> all;
    for (i64 k = 0; k < d.count; ++k) {
      const auto n = static_cast<std::size_t>(d.length(k));
      all.emplace_back(ids(n), ids(n));
      d.get(k, all.back().first, all.back().second);
    }
    return all;
  };
  using pairs = std::vector<std::pair<ids, ids>>;
  // The token before the documents, behind them, and twice between them.
  CHECK(parts({0, 1, 2, 0, 3, 4}, 9) == pairs{{{0, 1, 2}, {1, 2, 0}}, {{0, 3}, {3, 4}}});
  CHECK(parts({1, 2, 0, 3, 0}, 9) == pairs{{{1, 2}, {2, 0}}, {{0, 3}, {3, 0}}});
  CHECK(parts({1, 0, 0, 2, 3}, 9) == pairs{{{1}, {0}}, {{0, 2}, {2, 3}}});
  CHECK(parts({0, 1, 2, 3, 4, 0}, 2) == pairs{{{0, 1}, {1, 2}}, {{2, 3}, {3, 4}}, {{4}, {0}}});
  CHECK_THROWS_WITH(documents_in(tokens(ids{5}), 0, 4), Contains("no document with a token to learn"));
}

TEST_CASE("Completions are documents, and padded ones are those of their own data") {
  completions all({.length = 8, .begin = {1}, .separator = {2, 3}, .end = 9});
  all.add({4, 5}, {6, 7}), all.add({}, {8});
  const packed_documents packed(all.documents(), {.length = 12, .padding = 9, .order = packing_order::given});
  REQUIRE(packed.sequences() == 1);
  CHECK(sequences_of(packed.data(), 0)[0] == sequence{{1, 4, 5, 2, 3, 6, 7, 1, 2, 3, 8, 9},
                                                      {no, no, no, no, 6, 7, 9, no, no, 8, 9, no},
                                                      {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 0}});
  const packed_documents short_ones(all.documents(), {.length = 8, .padding = 9});
  CHECK(sequences_of(short_ones.padded(), 0) == sequences_of(all.data(), 0));
}

}  // namespace
