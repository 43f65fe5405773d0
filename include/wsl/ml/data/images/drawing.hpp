// SPDX-License-Identifier: MIT
// Draws digits, for ../digits.hpp: a part of the library that can be compiled once, see
// ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <range/v3/view/sliding.hpp>
#include <span>
#include <stdexcept>
#include <vector>

#include "../digits.hpp"
#include "../permutation.hpp"

namespace wsl::ml {

namespace detail {

struct dot {
  f64 x, y;
};

// The strokes of a digit in the square from (-1, -1) to (1, 1), y downward. A stroke is a smooth curve
// through its points.
inline std::span<const std::span<const dot>> strokes_of(int digit) {
  static constexpr dot zero[] = {{0, -.9},  {-.45, -.6}, {-.55, 0},   {-.4, .65}, {0, .9},
                                 {.42, .6}, {.55, 0},    {.42, -.65}, {0, -.9}};
  static constexpr dot one[] = {{-.3, -.55}, {.05, -.9}, {.03, 0}, {0, .9}};
  static constexpr dot two[] = {{-.5, -.5}, {-.25, -.85}, {.25, -.85}, {.45, -.45},
                                {.1, .15},  {-.5, .85},   {0, .82},    {.55, .85}};
  static constexpr dot three[] = {{-.45, -.75}, {0, -.9},  {.42, -.6}, {.25, -.15}, {-.1, -.05},
                                  {.3, .05},    {.5, .45}, {.1, .88},  {-.5, .7}};
  static constexpr dot four_left[] = {{-.1, -.9}, {-.35, -.3}, {-.55, .2}, {0, .18}, {.6, .15}};
  static constexpr dot four_right[] = {{.25, -.75}, {.22, 0}, {.2, .9}};
  static constexpr dot five_top[] = {{.5, -.85}, {0, -.84}, {-.35, -.85}, {-.42, -.15}};
  static constexpr dot five_bowl[] = {{-.42, -.15}, {.05, -.3}, {.48, .1}, {.4, .65}, {0, .9}, {-.5, .7}};
  static constexpr dot six[] = {{.35, -.9}, {-.15, -.5}, {-.48, .2}, {-.3, .8}, {.15, .88},
                                {.45, .45}, {.15, .05},  {-.25, .2}, {-.42, .5}};
  static constexpr dot seven[] = {{-.5, -.8}, {0, -.82}, {.5, -.85}, {.2, -.1}, {-.1, .9}};
  static constexpr dot eight[] = {{.1, -.05},  {-.4, -.45}, {0, -.9},   {.4, -.5}, {-.05, -.02},
                                  {-.48, .45}, {0, .9},     {.48, .45}, {.1, -.05}};
  static constexpr dot nine[] = {{.4, -.45}, {.1, -.1},  {-.35, -.2}, {-.4, -.65}, {0, -.9},
                                 {.38, -.7}, {.42, -.2}, {.35, .4},   {.2, .9}};
  static constexpr std::array<std::span<const dot>, 1> of0{zero}, of1{one}, of2{two}, of3{three}, of6{six},
      of7{seven}, of8{eight}, of9{nine};
  static constexpr std::array<std::span<const dot>, 2> of4{four_left, four_right}, of5{five_top, five_bowl};
  static constexpr std::array<std::span<const std::span<const dot>>, 10> all{of0, of1, of2, of3, of4,
                                                                             of5, of6, of7, of8, of9};
  return all[static_cast<std::size_t>(digit)];
}

// The random numbers of one image.
class image_random {
 public:
  explicit image_random(u64 seed) : state_(seed) {}
  /// From -1 to 1.
  f64 signed_unit() { return static_cast<f64>(scramble(state_++) >> 11) * 0x1p-52 - 1; }
  f64 between(f64 low, f64 high) { return low + (high - low) * (signed_unit() + 1) / 2; }
  u64 below(u64 n) { return scramble(state_++) % n; }

 private:
  u64 state_;
};

class pen {
 public:
  static constexpr int side = 28;

  pen(image_random& by, u8* pixels)
      : pixels_(pixels), width_(by.between(0.9, 1.9)), dark_(by.between(200, 255)) {
    const f64 size = by.between(8, 10.5), turn = 0.25 * by.signed_unit(), slant = 0.25 * by.signed_unit(),
              wide = by.between(0.7, 1.15);
    const f64 norm = std::sqrt(1 + turn * turn);
    across_ = {size * wide / norm, size * wide * turn / norm};
    down_ = {size * (slant - turn) / norm, size / norm};
    middle_ = {13.5 + 1.5 * by.signed_unit(), 13.5 + 1.5 * by.signed_unit()};
  }

  /// Draws a Catmull-Rom curve through the points, each moved a little.
  void stroke(std::span<const dot> points, image_random& by) {
    std::vector<dot> p;
    for (const dot& d : points)
      p.push_back(place({d.x + 0.07 * by.signed_unit(), d.y + 0.07 * by.signed_unit()}));
    // Every four neighbours shape the curve between the middle two; the ends count twice.
    p.insert(p.begin(), p.front()), p.push_back(p.back());
    constexpr int steps = 6;
    for (const auto& near : p | ranges::views::sliding(4))
      for (int s = 0; s < steps; ++s)
        line(curve(near[0], near[1], near[2], near[3], s / f64{steps}),
             curve(near[0], near[1], near[2], near[3], (s + 1) / f64{steps}));
  }

 private:
  dot place(dot d) const {
    return {middle_.x + d.x * across_.x + d.y * down_.x, middle_.y + d.x * across_.y + d.y * down_.y};
  }
  static f64 curve(f64 a, f64 b, f64 c, f64 d, f64 t) {
    return b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }
  static dot curve(dot a, dot b, dot c, dot d, f64 t) {
    return {curve(a.x, b.x, c.x, d.x, t), curve(a.y, b.y, c.y, d.y, t)};
  }

  // Draws a line: the nearer a pixel is to it, the darker.
  void line(dot a, dot b) {
    const int reach = 3;
    const auto from = [&](f64 x, f64 y) { return std::max(0, static_cast<int>(std::min(x, y)) - reach); };
    const auto to = [&](f64 x, f64 y) {
      return std::min(side - 1, static_cast<int>(std::max(x, y)) + reach);
    };
    const f64 dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    for (int y = from(a.y, b.y); y <= to(a.y, b.y); ++y)
      for (int x = from(a.x, b.x); x <= to(a.x, b.x); ++x) {
        const f64 along = length2 > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / length2, 0., 1.) : 0;
        const f64 off_x = x - a.x - along * dx, off_y = y - a.y - along * dy;
        const f64 ink = std::clamp(width_ + 0.5 - std::sqrt(off_x * off_x + off_y * off_y), 0., 1.);
        u8& pixel = pixels_[y * side + x];
        pixel = std::max(pixel, static_cast<u8>(ink * dark_));
      }
  }

  u8* pixels_;
  f64 width_, dark_;
  dot across_{}, down_{}, middle_{};
};

}  // namespace detail

WSL_ML_DATA_COMPILED_PART images draw_digits(i64 count, u64 seed) {
  if (count < 0) throw std::invalid_argument(fmt::format("wsl: there are 0 or more digits, not {}", count));
  constexpr int side = detail::pen::side;
  images x{side, side, std::vector<u8>(static_cast<std::size_t>(count) * side * side),
           std::vector<u8>(static_cast<std::size_t>(count))};
  for (i64 i = 0; i < count; ++i) {
    detail::image_random by(scramble(seed) + (static_cast<u64>(i) << 20));
    u8* pixels = x.pixels.data() + i * side * side;
    const int digit = static_cast<int>(by.below(10));
    x.labels[static_cast<std::size_t>(i)] = static_cast<u8>(digit);
    detail::pen p(by, pixels);
    for (const auto& points : detail::strokes_of(digit)) p.stroke(points, by);
    for (int k = 0; k < side * side; ++k)
      if (by.below(50) == 0) pixels[k] = static_cast<u8>(std::min<u64>(255, pixels[k] + by.below(100)));
  }
  return x;
}

}  // namespace wsl::ml
