// SPDX-License-Identifier: MIT
// Numbered examples of one shape, whatever they are made of: images, windows of a text, or your own function.
//   const dataset digits = examples_of(read_mnist("mnist", mnist_part::train));
//   const dataset text = windows(read_tokens("train.bin"), 64);
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "images.hpp"
#include "token_file.hpp"

namespace wsl::ml {

/// Where an example goes; `ids` or `features` is empty.
struct example {
  std::span<i32> ids;       ///< (length)
  std::span<f32> features;  ///< (length, width)
  std::span<i32> targets;   ///< (length)
};

struct dataset {
  i64 count = 0;
  int length = 1;  ///< tokens of an example
  int width = 0;   ///< features of a token; 0: a token is a number, an id
  std::function<void(i64 which, const example& to)> get;  ///< called by several threads at a time
};

/// How pixels from 0 to 1 become features: (pixel - mean) / deviation. The default is that of MNIST's training images.
struct pixel_scale {
  f32 mean = 0.1307f, deviation = 0.3081f;
};

/// Each image is one token, its pixels the features and its label the target.
inline dataset examples_of(images x, const pixel_scale& by = {}) {
  const auto all = std::make_shared<const images>(std::move(x));
  return {.count = all->count(), .length = 1, .width = all->size(), .get = [all, by](i64 which, const example& to) {
    const u8* pixels = all->pixels.data() + which * all->size();
    for (std::size_t i = 0; i < to.features.size(); ++i) to.features[i] = (static_cast<f32>(pixels[i]) / 255 - by.mean) / by.deviation;
    to.targets[0] = all->labels[static_cast<std::size_t>(which)];
  }};
}

/// Windows of `length` tokens, each with the token after it as target; they begin every `stride` tokens: `length` (0) cuts the text
/// in pieces, 1 gives every window there is. Throws std::invalid_argument if there is not one.
inline dataset windows(tokens x, int length, i64 stride = 0) {
  if (length < 1 || stride < 0) throw std::invalid_argument("wsl: a window has a positive length and stride, not " + std::to_string(length) + " and " + std::to_string(stride));
  if (x.size() <= length) throw std::invalid_argument("wsl: " + std::to_string(x.size()) + " tokens have no window of " + std::to_string(length) + " with a token after it");
  const i64 by = stride ? stride : length;
  const auto all = std::make_shared<const tokens>(std::move(x));
  return {.count = (all->size() - 1 - length) / by + 1, .length = length, .get = [all, by](i64 which, const example& to) {
    all->copy(which * by, to.ids);
    all->copy(which * by + 1, to.targets);
  }};
}

}  // namespace wsl::ml
