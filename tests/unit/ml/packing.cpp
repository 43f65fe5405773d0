// SPDX-License-Identifier: MIT
// Several documents in a sequence: each is computed as if it were alone, whatever the model knows positions
// by, on any rows and columns of workers and in pipelines.
#include <catch2/catch.hpp>
#include <wsl/ml.hpp>
#include <wsl/ml/model/check_gradients.hpp>

namespace {
using namespace wsl;
using Catch::Contains;

const std::vector<int> lengths{3, 5, 4, 7, 1, 4};  // two sequences of 12

ml::decoder model(ml::positioning position, int window = 0) {
  return {.vocabulary = 19,
          .positions = 12,
          .layers = 2,
          .heads = 4,
          .width = 16,
          .filter = 24,
          .deviation = 0.3f,
          .kv_heads = 2,
          .position = position,
          .window = window,
          .packed = true};
}

struct documents {
  std::vector<i32> ids, targets, positions;
  documents() {
    u32 x = 11;
    for (int length : lengths)
      for (int t = 0; t < length; ++t) {
        x = x * 1664525 + 1013904223;
        ids.push_back(static_cast<i32>((x >> 8) % 19)), targets.push_back(static_cast<i32>((x >> 16) % 19));
        positions.push_back(t);
      }
  }
  ml::batch packed() const {
    ml::batch b{.ids = ids, .targets = targets, .sequences = 2, .length = 12};
    b.named.emplace_back("position_ids", std::span(positions));
    return b;
  }
  /// A document alone.
  ml::batch one(int k) const {
    std::size_t first = 0;
    for (int i = 0; i < k; ++i) first += static_cast<std::size_t>(lengths[static_cast<std::size_t>(i)]);
    const std::size_t n = static_cast<std::size_t>(lengths[static_cast<std::size_t>(k)]);
    return {.ids = std::span(ids).subspan(first, n),
            .targets = std::span(targets).subspan(first, n),
            .sequences = 1,
            .length = static_cast<int>(n)};
  }
};

const ml::positioning kinds[]{ml::positioning::learned, ml::positioning::fixed, ml::positioning::rotary,
                              ml::positioning::alibi, ml::positioning::none};

TEST_CASE("Gradients where documents are packed are those of differences") {
  for (const ml::positioning p : kinds) {
    INFO("positions of kind " << static_cast<int>(p));
    ml::check_gradients(model(p).build(), {.entries = 12}).require();
  }
  ml::check_gradients(model(ml::positioning::rotary, 3).build(), {.entries = 12}).require();
}

TEST_CASE("A document that is packed with others is computed as if it were alone") {
  const documents all;
  for (const ml::positioning p : kinds)
    for (const int window : {0, 3}) {
      INFO("positions of kind " << static_cast<int>(p) << ", window " << window);
      ml::trainer t(model(p, window).build(), ml::optimizer::sgd(), {.workers = 1});
      const ml::weights w = ml::detail::varied_weights(t.model(), 2);
      t.parameters() = w;
      std::vector<f32> alone;
      f64 loss = 0;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        const std::vector<f32> x = t.predict(all.one(static_cast<int>(k)));
        alone.insert(alone.end(), x.begin(), x.end());
        loss += t.evaluate(all.one(static_cast<int>(k))) * lengths[k] / 24;
      }
      const auto check = [&](const std::vector<f32>& logits, f64 of_packed) {
        REQUIRE(logits.size() == alone.size());
        f32 most = 0;
        for (std::size_t i = 0; i < alone.size(); ++i) most = std::max(most, std::abs(logits[i] - alone[i]));
        CHECK(most < 2e-5f);
        CHECK(of_packed == Approx(loss).epsilon(1e-5));
      };
      check(t.predict(all.packed()), t.evaluate(all.packed()));
      for (const auto& [rows, columns] : {std::pair(2, 1), {1, 2}, {6, 1}, {5, 2}}) {
        INFO(rows << " x " << columns);
        ml::trainer on(model(p, window).build(), ml::optimizer::sgd(),
                       {.workers = rows * columns, .columns = columns});
        on.parameters() = w;
        check(on.predict(all.packed()), on.evaluate(all.packed()));
      }
      ml::pipelined_trainer in_a_row(model(p, window).build(), ml::optimizer::sgd(), {.strips = 4});
      in_a_row.parameters() = w;
      check(in_a_row.predict(all.packed()), in_a_row.evaluate(all.packed()));
      // Without the positions a sequence is one document.
      ml::batch whole = all.packed();
      whole.named.clear();
      const std::vector<f32> of_whole = t.predict(whole);
      CHECK(std::abs(t.evaluate(whole) / loss - 1) > 1e-4);
    }
}

TEST_CASE("Training on packed documents gives the same on all grids, and the same bits on all threads") {
  const documents all;
  const auto trained = [&](const ml::streaming_settings& how) {
    ml::trainer t(model(ml::positioning::rotary).build(), ml::optimizer::adamw(), how);
    t.parameters() = ml::detail::varied_weights(t.model(), 2);
    std::vector<f64> losses;
    for (int k = 0; k < 4; ++k) losses.push_back(t.step(all.packed(), 0.01));
    return losses;
  };
  const std::vector<f64> one = trained({.workers = 1});
  CHECK(one.back() < one.front());
  for (const ml::streaming_settings& how : {ml::streaming_settings{.workers = 8, .columns = 2},
                                            {.workers = 5, .columns = 1},
                                            {.workers = 2, .columns = 1, .recompute = true},
                                            {.workers = 2, .columns = 1, .num_csx = 2}}) {
    const std::vector<f64> x = trained(how);
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(x[k] == Approx(one[k]).epsilon(1e-5));
  }
  CHECK(trained({.workers = 6, .columns = 1, .threads = 1}) ==
        trained({.workers = 6, .columns = 1, .threads = 3}));
}

TEST_CASE("Positions that do not count up are refused") {
  documents all;
  ml::trainer t(model(ml::positioning::rotary).build(), ml::optimizer::sgd());
  const auto refused = [&](std::size_t at, i32 position) {
    const i32 before = std::exchange(all.positions[at], position);
    CHECK_THROWS_WITH(t.evaluate(all.packed()), Contains("positions count up from 0"));
    all.positions[at] = before;
  };
  refused(0, 1), refused(4, 2), refused(12, 3);
  CHECK(std::isfinite(t.evaluate(all.packed())));
}

}  // namespace
