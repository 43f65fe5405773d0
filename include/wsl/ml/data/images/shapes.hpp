// SPDX-License-Identifier: MIT
// Drawn shapes on noise, for segmentation without data: discs and convex polygons of different brightness on
// a background that is never quite the same. The class of a pixel is 0 for the background, and 1 for a shape;
// with three classes 1 is a disc and 2 a polygon. The same seed gives the same images everywhere.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "../permutation.hpp"
#include "augmentation.hpp"

namespace wsl::ml {

struct shape_settings {
  int height = 128, width = 128;
  int classes = 2;   ///< 2 or 3
  int most = 4;      ///< shapes on an image, at least one
  f64 noise = 0.25;  ///< the amplitude of the noise, of the range of brightness
  u64 seed = 1;
};

namespace detail {

class shape_drawing {
 public:
  shape_drawing(const shape_settings& how, i64 which)
      : how_(how), state_(scramble(how.seed) + (static_cast<u64>(which) << 32)) {
    x_ = {how.height, how.width, 1, {}, {}};
    x_.mask.resize(static_cast<std::size_t>(how.height) * static_cast<std::size_t>(how.width));
  }
  masked_image drawn() {
    const f64 dark = 255 * (0.15 + 0.25 * unit()), slope = 60 * (unit() - 0.5);
    std::vector<f64> light(x_.mask.size());
    for (std::size_t i = 0; i < light.size(); ++i)
      light[i] = dark + slope * (static_cast<f64>(i) / static_cast<f64>(light.size()) - 0.5);
    const int count = 1 + static_cast<int>(unit() * how_.most);
    for (int k = 0; k < count; ++k) add_shape(light, dark);
    for (const f64 l : light)
      x_.pixels.push_back(
          static_cast<u8>(std::clamp(l + 255 * how_.noise * (unit() + unit() - 1), 0., 255.)));
    return std::move(x_);
  }

 private:
  struct edge {
    f64 y, x, limit;  // a point p is inside if y p.y + x p.x <= limit
  };
  f64 unit() { return static_cast<f64>(scramble(state_++) >> 11) * 0x1p-53; }

  void add_shape(std::vector<f64>& light, f64 dark) {
    const f64 size = std::min(how_.height, how_.width) * (0.08 + 0.14 * unit()),
              y = size + unit() * (how_.height - 2 * size), x = size + unit() * (how_.width - 2 * size),
              brightness = dark + 255 * (0.25 + 0.3 * unit());
    const bool is_disc = unit() < 0.5;
    const int corners = is_disc ? 0 : 3 + static_cast<int>(unit() * 3);
    const f64 turn = unit();
    std::vector<edge> edges;
    for (int k = 0; k < corners; ++k) {
      const f64 angle = 6.283185307179586 * (turn + k) / corners;
      edges.push_back({std::sin(angle), std::cos(angle), size * (corners == 3 ? 0.55 : 0.75)});
    }
    const u8 label = static_cast<u8>(is_disc || how_.classes == 2 ? 1 : 2);
    for (int line = 0; line < how_.height; ++line)
      for (int i = 0; i < how_.width; ++i) {
        const f64 down = line - y, across = i - x;
        if (down * down + across * across > size * size) continue;
        if (std::any_of(edges.begin(), edges.end(),
                        [&](const edge& e) { return e.y * down + e.x * across > e.limit; }))
          continue;
        const std::size_t at = static_cast<std::size_t>(line) * static_cast<std::size_t>(how_.width) +
                               static_cast<std::size_t>(i);
        x_.mask[at] = label, light[at] = brightness;
      }
  }

  shape_settings how_;
  u64 state_;
  masked_image x_;
};

}  // namespace detail

/// Draws `count` images. Image i depends only on the settings and on i. Throws std::invalid_argument for
/// settings that make no sense.
inline std::vector<masked_image> draw_shapes(i64 count, const shape_settings& how = {}) {
  if (count < 0 || how.height < 8 || how.width < 8 || how.most < 1 || how.classes < 2 || how.classes > 3 ||
      !(how.noise >= 0 && how.noise <= 1))
    throw std::invalid_argument(fmt::format(
        "wsl: {} images of {} x {} pixels with up to {} shapes of {} classes and noise of {}: at least 8 "
        "x 8 pixels, 1 shape, 2 or 3 classes, and noise from 0 to 1",
        count, how.height, how.width, how.most, how.classes, how.noise));
  std::vector<masked_image> all;
  for (i64 i = 0; i < count; ++i) all.push_back(detail::shape_drawing(how, i).drawn());
  return all;
}

}  // namespace wsl::ml
