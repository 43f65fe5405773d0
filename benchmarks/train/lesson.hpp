// SPDX-License-Identifier: MIT
// Models to train, with a batch that is made up.
#pragma once
#include <optional>
#include <random>
#include <string_view>
#include <vector>
#include <wsl/ml.hpp>
#include <wsl/ml/model/encoder.hpp>
#include <wsl/ml/model/encoder_decoder.hpp>
#include <wsl/ml/model/unet.hpp>

#include "loops.hpp"

namespace bench {
using namespace wsl;

struct lesson {
  ml::network net;
  ml::batch data = {};
  std::vector<i32> ids = {}, targets = {}, of_decoder = {};
  std::vector<f32> features = {};
  loops::decoder_shape shape = {};
};

inline std::vector<i32> some_numbers(int count, int below) {
  std::mt19937 random(1);
  std::vector<i32> x;
  for (int i = 0; i < count; ++i) x.push_back(static_cast<i32>(random() % static_cast<unsigned>(below)));
  return x;
}

/// MNIST: 500 and 300 hidden features, batches of 256.
inline lesson images() {
  constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<500, 300>{},
                             ml::elementwise<ml::relu>{}, ml::linear<300, 10>{}};
  lesson t{net.build()};
  t.targets = some_numbers(256, 10);
  for (i32 v : some_numbers(256 * 784, 256)) t.features.push_back(static_cast<f32>(v) / 255);
  t.data = {.features = t.features, .targets = t.targets, .sequences = 256};
  return t;
}
/// A UNet of 16 to 256 channels, 4 images of 128 x 128 pixels.
inline lesson pixels() {
  constexpr int side = 128, images = 4;
  lesson t{ml::unet{.height = side,
                    .width = side,
                    .encoder_filters = {16, 32, 64, 128, 256},
                    .decoder_filters = {128, 64, 32, 16}}
               .build()};
  t.targets = some_numbers(images * side * side, 2);
  for (i32 v : some_numbers(images * side * side, 256)) t.features.push_back(static_cast<f32>(v) / 255);
  t.data = {.features = t.features, .targets = t.targets, .sequences = images, .length = side * side};
  return t;
}
inline lesson text(const ml::decoder& model, int sequences, int length) {
  lesson t{model.build()};
  t.ids = some_numbers(sequences * length, model.vocabulary),
  t.targets = some_numbers(sequences * length, model.vocabulary);
  t.data = {.ids = t.ids, .targets = t.targets, .sequences = sequences, .length = length};
  t.shape = {model.vocabulary, model.layers,
             model.heads,      model.width,
             model.bias.norms, model.between == ml::nonlinearity::gelu_tanh,
             sequences,        length};
  return t;
}
/// A small decoder of characters: 4 layers of width 128, 12 sequences of 64.
inline lesson characters() {
  return text({.vocabulary = 65, .positions = 64, .layers = 4, .heads = 4, .width = 128, .bias = false}, 12,
              64);
}
/// A small BERT that guesses every seventh word: 4 layers of width 256, 8 sequences of 128.
inline lesson hidden_words() {
  const ml::encoder model{.vocabulary = 30522, .positions = 128, .layers = 4, .heads = 4, .width = 256};
  lesson t{model.build()};
  const int tokens = 8 * 128;
  t.ids = some_numbers(tokens, model.vocabulary), t.targets = some_numbers(tokens, model.vocabulary);
  for (int k = 0; k < tokens; ++k)
    if (k % 7) t.targets[static_cast<std::size_t>(k)] = ml::encoder::no_label;
  t.data = {.sequences = 8, .length = 128};
  t.data.named = {{"input_ids", std::span<const i32>(t.ids)}, {"labels", std::span<const i32>(t.targets)}};
  return t;
}
/// A small T5: 4 + 4 layers of width 256, 8 texts of 128 tokens and as many of 64.
inline lesson translations() {
  const ml::encoder_decoder model{.vocabulary = 32128, .layers = 4, .heads = 4, .width = 256};
  lesson t{model.build()};
  t.ids = some_numbers(8 * 128, model.vocabulary), t.targets = some_numbers(8 * 64, model.vocabulary);
  t.of_decoder = some_numbers(8 * 64, model.vocabulary);
  t.data = {.sequences = 8, .length = 128};
  t.data.named = {{"input_ids", std::span<const i32>(t.ids)},
                  {"decoder_input_ids", std::span<const i32>(t.of_decoder)},
                  {"labels", std::span<const i32>(t.targets)}};
  return t;
}
/// GPT-2 with 124 million parameters, sequences of 64 tokens.
inline lesson gpt2(int sequences) {
  return text({.vocabulary = 50257,
               .positions = 1024,
               .layers = 12,
               .heads = 12,
               .width = 768,
               .between = ml::nonlinearity::gelu_tanh},
              sequences, 64);
}

inline constexpr const char* names_of_lessons = "mnist, char, 124m, 124m-16, bert, t5 and unet";
inline std::optional<lesson> lesson_named(std::string_view model) {
  if (model == "mnist") return images();
  if (model == "char") return characters();
  if (model == "124m") return gpt2(4);
  if (model == "124m-16") return gpt2(16);
  if (model == "bert") return hidden_words();
  if (model == "t5") return translations();
  if (model == "unet") return pixels();
  return std::nullopt;
}

}  // namespace bench
