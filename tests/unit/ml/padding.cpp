// SPDX-License-Identifier: MIT
// A pipeline that leaves padding out beside one that computes it, and beside weight streaming.
#include <catch2/catch.hpp>
#include <wsl/ml.hpp>
#include <wsl/ml/model/encoder.hpp>
#include <wsl/ml/model/encoder_decoder.hpp>
#include <wsl/ml/model/padding.hpp>

namespace {
using namespace wsl;

const int lengths[]{3, 9, 1, 5, 12, 2};

struct padded {
  std::vector<i32> ids, targets, seen;
  std::vector<f32> mask;
  explicit padded(i32 ignored = 0) {
    u32 x = 5;
    for (int length : lengths)
      for (int t = 0; t < 12; ++t) {
        x = x * 1664525 + 1013904223;
        const bool is_there = t < length;
        ids.push_back(static_cast<i32>((x >> 8) % 19));
        targets.push_back(is_there || ignored == 0 ? static_cast<i32>((x >> 16) % 19) : ignored);
        mask.push_back(is_there), seen.push_back(is_there);
      }
  }
  ml::batch masked() const {
    return {.ids = ids, .targets = targets, .mask = mask, .sequences = 6, .length = 12};
  }
  ml::batch ignored() const { return {.ids = ids, .targets = targets, .sequences = 6, .length = 12}; }
  ml::batch seen_by_attention() const {
    ml::batch b{.sequences = 6, .length = 12};
    b.named = {
        {"input_ids", std::span(ids)}, {"attention_mask", std::span(seen)}, {"labels", std::span(targets)}};
    return b;
  }
};

ml::network decoder() {
  return ml::decoder{.vocabulary = 19, .positions = 12, .layers = 2, .heads = 2, .width = 8, .dropout = 0.2f}
      .build();
}
ml::network encoder() {
  return ml::encoder{.vocabulary = 19, .positions = 12, .layers = 2, .heads = 2, .width = 8, .token_types = 0}
      .build();
}

/// Sources of up to 12 and targets of up to 10 tokens, of which those of a sequence have other lengths.
struct padded_pairs {
  static constexpr int of_source[]{3, 9, 1, 5, 12, 2}, of_target[]{7, 1, 10, 2, 4, 3};
  std::vector<i32> ids, seen, words, labels;
  padded_pairs() {
    u32 x = 9;
    const auto token = [&] { return static_cast<i32>(((x = x * 1664525 + 1013904223) >> 8) % 19); };
    for (int s = 0; s < 6; ++s) {
      for (int t = 0; t < 12; ++t) ids.push_back(token()), seen.push_back(t < of_source[s]);
      for (int t = 0; t < 10; ++t) {
        words.push_back(token());
        labels.push_back(t < of_target[s] ? token() : ml::encoder_decoder::no_label);
      }
    }
  }
  ml::batch all() const {
    ml::batch b{.sequences = 6, .length = 12};
    b.named = {{"input_ids", std::span(ids)},
               {"attention_mask", std::span(seen)},
               {"decoder_input_ids", std::span(words)},
               {"labels", std::span(labels)}};
    return b;
  }
};
ml::network translator(ml::position_encoding position, f32 dropout) {
  return ml::encoder_decoder{.vocabulary = 19,
                             .layers = 2,
                             .heads = 2,
                             .width = 8,
                             .positions = 12,
                             .position = position,
                             .dropout = dropout,
                             .attention_dropout = dropout}
      .build();
}

struct trained {
  std::vector<f64> losses;
  std::vector<f32> logits;
  u64 words = 0;
};
trained train(ml::network n, const ml::batch& b, const ml::pipeline_settings& how) {
  ml::pipelined_trainer t(std::move(n), ml::optimizer::adamw(), how);
  trained x;
  for (int k = 0; k < 3; ++k) x.losses.push_back(t.step(b, 0.01));
  x.words = t.report().counters.wavelets;
  if (how.replicas > 1) return x;
  x.losses.push_back(t.evaluate(b)), x.logits = t.predict(b);
  return x;
}

TEST_CASE("A pipeline without padding learns the same and sends less") {
  const padded masked, ignored(ml::decoder::no_label);
  struct variant {
    ml::network (*build)();
    ml::batch b;
  };
  for (const variant& v : {variant{decoder, masked.masked()},
                           {decoder, ignored.ignored()},
                           {encoder, ignored.seen_by_attention()}})
    for (const int of_micro_batch : {1, 2, 4}) {
      INFO(of_micro_batch << " sequences");
      const trained with = train(v.build(), v.b,
                                 {.strips = 3, .micro_batch_size = of_micro_batch, .strip_padding = false}),
                    without = train(v.build(), v.b, {.strips = 3, .micro_batch_size = of_micro_batch});
      for (std::size_t k = 0; k < with.losses.size(); ++k)
        CHECK(without.losses[k] == Approx(with.losses[k]).epsilon(1e-6));
      REQUIRE(without.logits.size() == with.logits.size());
      const std::size_t each = with.logits.size() / 72;
      f32 most = 0;
      for (std::size_t t = 0; t < 72; ++t)
        for (std::size_t i = 0; i < each; ++i)
          most = std::max(most, std::abs(without.logits[t * each + i] - with.logits[t * each + i]));
      CHECK(most < 1e-5f);
      // 32 of 72 tokens are real.
      const f64 part = static_cast<f64>(without.words) / static_cast<f64>(with.words);
      CHECK((of_micro_batch == 1 ? part < 0.5 : part < 1));
    }
  const trained one = train(decoder(), masked.masked(), {.strips = 3}),
                several = train(decoder(), masked.masked(), {.strips = 3, .replicas = 3});
  for (std::size_t k = 0; k < several.losses.size(); ++k)
    CHECK(several.losses[k] == Approx(one.losses[k]).epsilon(1e-6));
}

TEST_CASE("Padding of what is read and of what is written is left out, each by itself") {
  const padded_pairs x;
  for (const auto position : {ml::position_encoding::relative, ml::position_encoding::fixed})
    for (const f32 dropout : {0.f, 0.2f})
      for (const int of_micro_batch : {1, 2, 4}) {
        INFO("dropout " << dropout << ", " << of_micro_batch << " sequences");
        const trained with = train(translator(position, dropout), x.all(),
                                   {.strips = 3, .micro_batch_size = of_micro_batch, .strip_padding = false}),
                      without = train(translator(position, dropout), x.all(),
                                      {.strips = 3, .micro_batch_size = of_micro_batch});
        for (std::size_t k = 0; k < with.losses.size(); ++k)
          CHECK(without.losses[k] == Approx(with.losses[k]).epsilon(1e-6));
        REQUIRE(with.logits.size() == 6 * 10 * 19);
        REQUIRE(without.logits.size() == with.logits.size());
        f32 most = 0;
        for (std::size_t t = 0; t < with.logits.size(); ++t)
          most = std::max(most, std::abs(without.logits[t] - with.logits[t]));
        CHECK(most < 1e-5f);
        // 32 of 72 tokens that are read and 27 of 60 that are written are real.
        const f64 part = static_cast<f64>(without.words) / static_cast<f64>(with.words);
        CHECK((of_micro_batch == 1 ? part < 0.5 : part < 1));
      }
  ml::trainer streamed(translator(ml::position_encoding::relative, 0.2f), ml::optimizer::adamw());
  const trained piped =
      train(translator(ml::position_encoding::relative, 0.2f), x.all(), {.strips = 3, .micro_batch_size = 2});
  for (int k = 0; k < 3; ++k)
    CHECK(piped.losses[static_cast<std::size_t>(k)] == Approx(streamed.step(x.all(), 0.01)).epsilon(1e-5));

  const ml::network n = translator(ml::position_encoding::relative, 0);
  using of_axes = std::vector<int>;
  CHECK(ml::lengths_without_padding(n, x.all()) == of_axes{12, 10});
  CHECK(ml::lengths_without_padding(n, ml::sequences_of(x.all(), 0, 2)) == of_axes{9, 7});
  CHECK(ml::lengths_without_padding(n, ml::sequences_of(x.all(), 3, 1)) == of_axes{5, 2});
  ml::batch all_seen = x.all();
  all_seen.named.erase(all_seen.named.begin() + 1);  // so that all of what is read is seen
  CHECK(ml::lengths_without_padding(n, ml::sequences_of(all_seen, 3, 1)) == of_axes{12, 2});
  // A mask of the loss is of what is written.
  std::vector<f32> mask(60);
  std::vector<i32> classes(60, 1);
  for (std::size_t t = 0; t < 60; ++t) mask[t] = t % 10 < 3;
  ml::batch masked = x.all();
  masked.mask = mask, masked.named.back() = {"labels", std::span<const i32>(classes)};
  const ml::batch pair = ml::sequences_of(masked, 0, 2);
  REQUIRE(ml::lengths_without_padding(n, pair) == of_axes{9, 3});
  const ml::shortened_batch kept(n, pair, {9, 3});
  CHECK(kept.view().mask.size() == 6);
  CHECK(kept.view().named[0].ids.size() == 18);
  CHECK(kept.view().named[2].ids[3] == x.words[10]);
}

TEST_CASE("Padding stays where the model sees it") {
  const padded x, ignored(ml::decoder::no_label);
  const ml::network d = decoder(), e = encoder();
  using of_axes = std::vector<int>;
  CHECK(ml::lengths_without_padding(d, x.masked()) == of_axes{12});
  CHECK(ml::lengths_without_padding(d, ml::sequences_of(x.masked(), 0, 1)) == of_axes{3});
  CHECK(ml::lengths_without_padding(d, ml::sequences_of(x.masked(), 1, 3)) == of_axes{9});
  CHECK(ml::lengths_without_padding(d, ml::sequences_of(x.ignored(), 0, 1)) ==
        of_axes{12});  // nothing says that it is padding
  CHECK(ml::lengths_without_padding(e, ml::sequences_of(ignored.seen_by_attention(), 3, 1)).front() == 5);
  ml::batch all_seen = ignored.seen_by_attention();
  all_seen.named.erase(all_seen.named.begin() + 1);
  CHECK(ml::lengths_without_padding(e, ml::sequences_of(all_seen, 3, 1)).front() == 12);
  const ml::batch short_one = ml::sequences_of(x.masked(), 0, 3);
  const ml::shortened_batch kept(d, short_one, {9});
  CHECK(kept.view().ids.size() == 27);
  CHECK(kept.view().ids[9] == x.ids[12]);
  CHECK(kept.view().mask[26] == 0);
}

}  // namespace
