// SPDX-License-Identifier: MIT
// Data of random numbers, for runs without files: to measure the speed of a model of any size, and to see
// that a configuration runs, as with the SyntheticDataProcessor of the Cerebras Model Zoo. An example is a
// function of the seed and of its number alone, so that runs resume, and are the same on any number of
// threads, workers and wafers.
//   const dataset d = synthetic_text({.seed = 7}, 128, 50257);
//   batches train(d, {.size = 8, .shuffle = false});
#pragma once
#include <fmt/format.h>

#include <functional>
#include <stdexcept>
#include <utility>

#include "dataset.hpp"
#include "text/draws.hpp"
#include "text/masking.hpp"

namespace wsl::ml {

struct synthetic_settings {
  u64 seed = 1;
  i64 examples = 0;  ///< 0: without end, each example once
};

/// The examples of data without end.
inline constexpr i64 endless_examples = i64{1} << 40;

/// Examples of the shape of a dataset, each of which `draw` makes. Throws std::invalid_argument for a number
/// of examples below 0.
inline dataset synthetic_of(const synthetic_settings& how, dataset shape,
                            std::function<void(draws&, const example&)> draw) {
  if (how.examples < 0)
    throw std::invalid_argument(
        fmt::format("wsl: synthetic data have at least one example, not {}", how.examples));
  shape.count = how.examples ? how.examples : endless_examples;
  shape.get = [key = scramble(how.seed), draw = std::move(draw)](i64 which, const example& to) {
    draws random(key, which);
    draw(random, to);
  };
  return shape;
}

namespace detail {

inline void check_synthetic(const char* what, i64 size, i64 least) {
  if (size < least)
    throw std::invalid_argument(
        fmt::format("wsl: synthetic data have {} of at least {}, not {}", what, least, size));
}
/// Numbers of [first, below).
inline void draw_ids(draws& random, std::span<i32> to, i32 first, i32 below) {
  for (i32& id : to) id = first + static_cast<i32>(random.below(below - first));
}

}  // namespace detail

/// Sequences of tokens for a decoder; the target of each token is the token after it. Throws
/// std::invalid_argument for sizes below 1.
inline dataset synthetic_text(const synthetic_settings& how, int length, int vocabulary) {
  detail::check_synthetic("sequences", length, 1), detail::check_synthetic("vocabularies", vocabulary, 1);
  return synthetic_of(how, {.length = length, .get = {}}, [vocabulary](draws& random, const example& to) {
    detail::draw_ids(random, to.ids, 0, vocabulary);
    std::copy(to.ids.begin() + 1, to.ids.end(), to.targets.begin());
    detail::draw_ids(random, to.targets.last(1), 0, vocabulary);
  });
}

/// Features from 0 to 1 and a class for each token: images, of which a token is all of one or a pixel. Throws
/// std::invalid_argument for sizes below 1.
inline dataset synthetic_features(const synthetic_settings& how, int length, int width, int classes) {
  detail::check_synthetic("tokens", length, 1), detail::check_synthetic("features", width, 1),
      detail::check_synthetic("classes", classes, 1);
  return synthetic_of(how, {.length = length, .width = width, .get = {}},
                      [classes](draws& random, const example& to) {
                        for (f32& x : to.features) x = static_cast<f32>(random.uniform());
                        detail::draw_ids(random, to.targets, 0, classes);
                      });
}

/// Sequences with hidden words for an encoder, without padding, with the names and the order of masked_text:
/// input_ids, attention_mask, token_type_ids, labels and perhaps next_sentence_label. The first `special`
/// tokens of the vocabulary are special, and the last of those is the mask. Throws std::invalid_argument for
/// sizes that are too small.
inline dataset synthetic_masked(const synthetic_settings& how, int length, int vocabulary, int special,
                                bool next_sentences, const masking_settings& masked) {
  detail::check_synthetic("sequences", length, 2);
  detail::check_synthetic("special tokens", special, 1);
  std::vector<i32> never;
  for (i32 id = 0; id < special; ++id) never.push_back(id);
  const masking hides(masked, special - 1, vocabulary, never);
  std::vector<named_field> named{
      {"input_ids", length}, {"attention_mask", length}, {"token_type_ids", length}, {"labels", length}};
  if (next_sentences) named.push_back({"next_sentence_label", 1});
  return synthetic_of(how, {.length = length, .get = {}, .named = std::move(named)},
                      [=](draws& random, const example& to) {
                        const std::span<i32> types = to.named[2];
                        detail::draw_ids(random, to.named[0], special, vocabulary);
                        std::fill(to.named[1].begin(), to.named[1].end(), 1);
                        std::fill(types.begin(), types.end(), 0);
                        if (next_sentences) std::fill(types.begin() + std::ssize(types) / 2, types.end(), 1);
                        hides.hide(to.named[0], to.named[3], std::vector<bool>(types.size()), random);
                        if (next_sentences) to.named[4][0] = static_cast<i32>(random.below(2));
                      });
}

/// Pairs of a sequence that is read and one that is written, without padding, with the names and the order of
/// encoder_decoder_tokens: input_ids, attention_mask, decoder_input_ids and labels. The decoder begins with
/// `begin` and ends with `end`; both are among the first `special` tokens of the vocabulary, which no text
/// has. Throws std::invalid_argument for sizes that are too small.
inline dataset synthetic_pairs(const synthetic_settings& how, int sources, int targets, int vocabulary,
                               int special, i32 begin, i32 end) {
  detail::check_synthetic("sequences", std::min(sources, targets), 2);
  detail::check_synthetic("vocabularies", vocabulary, i64{special} + 1);
  return synthetic_of(how,
                      {.length = sources,
                       .get = {},
                       .named = {{"input_ids", sources},
                                 {"attention_mask", sources},
                                 {"decoder_input_ids", targets},
                                 {"labels", targets}}},
                      [=](draws& random, const example& to) {
                        const std::span<i32> read = to.named[2], written = to.named[3];
                        detail::draw_ids(random, to.named[0], special, vocabulary);
                        std::fill(to.named[1].begin(), to.named[1].end(), 1);
                        detail::draw_ids(random, written, special, vocabulary);
                        written.back() = end;
                        read.front() = begin;
                        std::copy(written.begin(), written.end() - 1, read.begin() + 1);
                      });
}

}  // namespace wsl::ml
