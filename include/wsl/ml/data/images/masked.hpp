// SPDX-License-Identifier: MIT
// Images with a class for each pixel, for segmentation. A source gives one image after the other, of any
// size, whatever it comes from: folders of PNG files, drawn shapes, or a function of your own. `examples_of`
// makes the examples of a model out of it: images of one size, whose tokens are pixels.
//   const image_source all = in_memory(draw_shapes(1000, {.seed = 1}));
//   batches b(examples_of(all, {.height = 128, .width = 128, .augment = {.flips = true}}), {.size = 4});
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "../dataset.hpp"
#include "../permutation.hpp"
#include "augmentation.hpp"

namespace wsl::ml {

/// A source of images. `get` may be called by several threads at a time.
struct image_source {
  i64 count = 0;
  std::function<masked_image(i64 which)> get;
};

/// The images of a list.
inline image_source in_memory(std::vector<masked_image> all) {
  const i64 count = static_cast<i64>(all.size());
  return {count, [kept = std::make_shared<const std::vector<masked_image>>(std::move(all))](i64 which) {
            return kept->at(static_cast<std::size_t>(which));
          }};
}

/// The two parts of a source, of which the first has `part` of the images, chosen by the seed. Throws
/// std::invalid_argument for a part that is not between 0 and 1, and if one of the parts is empty.
inline std::pair<image_source, image_source> train_test_split(const image_source& all, f64 part, u64 seed) {
  const i64 first = static_cast<i64>(std::llround(part * static_cast<f64>(all.count)));
  if (!(part > 0 && part < 1) || first < 1 || first >= all.count)
    throw std::invalid_argument(
        fmt::format("wsl: train_test_split {} of {} images leaves none in one of two parts: take a number "
                    "between 0 and 1, and more images",
                    part, all.count));
  const permutation order(all.count, seed);
  const auto from = [&](i64 begin, i64 end) {
    return image_source{end - begin, [=](i64 which) { return all.get(order(begin + which)); }};
  };
  return {from(0, first), from(first, all.count)};
}

/// The numbers that pixels from 0 to 255 become, under the names of the Cerebras Model Zoo: from 0 to 1; from
/// -1 to 1; or with a mean of 0 and a deviation of 1 in each image.
enum class pixel_values : u8 { zero_one, zero_centered, standard_score };

struct image_settings {
  int height = 0, width = 0;  ///< of the examples; images of another size are resized
  int channels = 1;
  int classes = 2;
  pixel_values values = pixel_values::zero_centered;
  augmentation augment = {};
  u64 seed = 1;  ///< of what changes the images
};

namespace detail {

inline void scale_pixels(std::span<f32> to, std::span<const f32> from, pixel_values values) {
  f64 mean = 0, deviation = 255;
  if (values == pixel_values::zero_centered) mean = deviation = 127.5;
  if (values == pixel_values::standard_score) {
    f64 squares = 0;
    for (const f32 x : from) mean += static_cast<f64>(x) / static_cast<f64>(from.size());
    for (const f32 x : from) squares += (static_cast<f64>(x) - mean) * (static_cast<f64>(x) - mean);
    deviation = std::sqrt(squares / static_cast<f64>(from.size()));
    if (deviation == 0) deviation = 1;
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<f32>((static_cast<f64>(from[i]) - mean) / deviation);
}

}  // namespace detail

/// The examples of a source: a token is a pixel, with the channels as features and its class as the target.
/// How an image is changed depends on the seed, the epoch and its number. Throws std::invalid_argument for
/// sizes that make no sense; `get` throws for an image of other channels or classes.
inline dataset examples_of(image_source from, const image_settings& how) {
  if (how.height < 1 || how.width < 1 || how.channels < 1 || how.classes < 2 || how.classes > 256)
    throw std::invalid_argument(fmt::format(
        "wsl: examples of {} x {} pixels with {} channels and {} classes: sizes are positive, and "
        "there are 2 to 256 classes",
        how.height, how.width, how.channels, how.classes));
  how.augment.check();
  return {.count = from.count,
          .length = how.height * how.width,
          .width = how.channels,
          .get = [from = std::move(from), how](i64 which, const example& to) {
            const masked_image x = from.get(which);
            x.check(how.channels, how.classes, which);
            std::vector<f32> pixels(to.features.size());
            const view_of_image view(x, how.augment,
                                     scramble(how.seed) ^ scramble(scramble(static_cast<u64>(to.epoch)) +
                                                                   static_cast<u64>(which)));
            view.sample(pixels, to.targets, how.height, how.width);
            detail::scale_pixels(to.features, pixels, how.values);
          }};
}

}  // namespace wsl::ml
