// SPDX-License-Identifier: MIT
// Changes of images that do not change what is seen: flips, rotations, crops and other brightness. The mask
// changes with the image. All movements together are one map from the pixels of the result to places of the
// image, so it is sampled once: pixels between four neighbours, the mask at the nearest. An image that is
// only resized goes the same way, and one of the right size comes out as it is.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <vector>

#include "../permutation.hpp"

namespace wsl::ml {

/// An image with a class for each pixel.
struct masked_image {
  int height = 0, width = 0, channels = 1;
  std::vector<u8> pixels;  ///< (height, width, channels)
  std::vector<u8> mask;    ///< (height, width)

  /// Throws std::invalid_argument for image number `which` unless it has these channels and classes.
  void check(int channels_wanted, int classes, i64 which) const {
    const std::size_t size = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
    if (height < 1 || width < 1 || channels != channels_wanted || mask.size() != size ||
        pixels.size() != size * static_cast<std::size_t>(channels))
      throw std::invalid_argument(
          fmt::format("wsl: image {} has {} x {} pixels of {} channels, {} numbers and a mask of {}: "
                      "examples have {} channels",
                      which, height, width, channels, pixels.size(), mask.size(), channels_wanted));
    const auto wrong = std::find_if(mask.begin(), mask.end(), [&](u8 c) { return c >= classes; });
    if (wrong != mask.end())
      throw std::invalid_argument(fmt::format(
          "wsl: the mask of image {} has the class {} in line {}, pixel {}, not one of 0 to {}", which,
          *wrong, (wrong - mask.begin()) / width, (wrong - mask.begin()) % width, classes - 1));
  }
};

/// The changes that are wanted; each is drawn for each image in each epoch.
struct augmentation {
  bool flips = false;          ///< left and right, and top and bottom, each with a probability of a half
  bool quarter_turns = false;  ///< rotations by 90 degrees; of images that are not square by 180
  f32 angle = 0;               ///< rotations by up to so many degrees in each direction
  f32 crop = 1;                ///< the least part of each side that is left, which is enlarged; 1: all of it
  f32 brightness = 0;          ///< pixels are multiplied by 1 - brightness to 1 + brightness

  bool is_on() const { return flips || quarter_turns || angle != 0 || crop != 1 || brightness != 0; }
  /// Throws std::invalid_argument for numbers that make no sense.
  void check() const {
    if (!(angle >= 0 && angle <= 180) || !(crop > 0 && crop <= 1) || !(brightness >= 0 && brightness <= 1))
      throw std::invalid_argument(fmt::format(
          "wsl: images are rotated by up to 0 to 180 degrees, not {}, cropped to above 0 and up to 1 of "
          "their sides, not {}, and made brighter by 0 to 1, not {}",
          angle, crop, brightness));
  }
};

/// An image as it is seen after changes that are drawn by a seed.
class view_of_image {
 public:
  view_of_image(const masked_image& x, const augmentation& how, u64 seed) : x_(&x), state_(seed) {
    const auto unit = [&] { return static_cast<f64>(scramble(state_++) >> 11) * 0x1p-53; };
    const f64 left_right = unit(), top_bottom = unit(), quarters = unit(), angle = unit(), side = unit(),
              down = unit(), across = unit(), light = unit();
    const f64 mirror_x = how.flips && left_right < 0.5 ? -1 : 1,
              mirror_y = how.flips && top_bottom < 0.5 ? -1 : 1;
    const bool is_square = x.height == x.width;
    const int quarter = how.quarter_turns ? static_cast<int>(quarters * 4) & (is_square ? 3 : 2) : 0;
    const f64 by = static_cast<f64>(how.angle) * (2 * angle - 1) * std::numbers::pi / 180,
              part = 1 - (1 - static_cast<f64>(how.crop)) * side;
    // Of a turn by quarters the sines are exact.
    constexpr f64 sines[] = {0, 1, 0, -1};
    const f64 sine_q = sines[quarter], cosine_q = sines[(quarter + 1) & 3];
    const f64 sine = std::sin(by), cosine = std::cos(by);
    const f64 s = sine_q * cosine + cosine_q * sine, c = cosine_q * cosine - sine_q * sine;
    // Places in pixels around the middle of the image.
    yy_ = part * c * mirror_y, yx_ = part * s * mirror_x, xy_ = -part * s * mirror_y,
    xx_ = part * c * mirror_x;
    y0_ = (1 - part) * x.height * (down - 0.5), x0_ = (1 - part) * x.width * (across - 0.5);
    light_ = 1 + static_cast<f64>(how.brightness) * (2 * light - 1);
  }

  /// Writes height x width pixels with the image's channels, from 0 to 255, and their classes.
  void sample(std::span<f32> pixels, std::span<i32> classes, int height, int width) const {
    const f64 down = static_cast<f64>(x_->height) / height, across = static_cast<f64>(x_->width) / width;
    std::size_t at = 0;
    for (int line = 0; line < height; ++line)
      for (int i = 0; i < width; ++i, ++at) {
        const f64 y = (line + 0.5) * down - 0.5 * x_->height, x = (i + 0.5) * across - 0.5 * x_->width;
        const f64 from_y = yy_ * y + yx_ * x + y0_ + 0.5 * x_->height - 0.5,
                  from_x = xy_ * y + xx_ * x + x0_ + 0.5 * x_->width - 0.5;
        classes[at] = x_->mask[pixel(std::floor(from_y + 0.5), std::floor(from_x + 0.5))];
        for (std::size_t c = 0; c < channels(); ++c)
          pixels[at * channels() + c] =
              static_cast<f32>(std::clamp(light_ * between(from_y, from_x, c), 0., 255.));
      }
  }

 private:
  std::size_t channels() const { return static_cast<std::size_t>(x_->channels); }
  /// The nearest pixel of the image: beyond its border it goes on as it ends.
  std::size_t pixel(f64 y, f64 x) const {
    const f64 line = std::clamp(y, 0., x_->height - 1.), at = std::clamp(x, 0., x_->width - 1.);
    return static_cast<std::size_t>(line) * static_cast<std::size_t>(x_->width) +
           static_cast<std::size_t>(at);
  }
  f64 between(f64 y, f64 x, std::size_t channel) const {
    const f64 line = std::floor(y), at = std::floor(x), down = y - line, across = x - at;
    const auto of = [&](f64 b, f64 a) {
      return static_cast<f64>(x_->pixels[pixel(b, a) * channels() + channel]);
    };
    if (down == 0 && across == 0) return of(line, at);
    return (1 - down) * ((1 - across) * of(line, at) + across * of(line, at + 1)) +
           down * ((1 - across) * of(line + 1, at) + across * of(line + 1, at + 1));
  }

  const masked_image* x_;
  u64 state_;
  f64 yy_, yx_, xy_, xx_, y0_, x0_, light_;
};

}  // namespace wsl::ml
