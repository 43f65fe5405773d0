// SPDX-License-Identifier: MIT
// The sizes of images, windows that slide over them, and the lines that windows read. A line of windows
// reads some lines of the image, which may lie beyond it: there are zeros.
#pragma once
#include "../../core/scalar.hpp"

namespace wsl::ml {

/// The lines of an image, and the pixels of each.
struct image_size {
  int height = 0, width = 0;
  constexpr int pixels() const { return height * width; }
  friend constexpr bool operator==(const image_size&, const image_size&) = default;
};

/// Lines of an image from `first` to before `end`.
struct line_range {
  int first = 0, end = 0;
  constexpr int count() const { return end - first; }
  friend constexpr bool operator==(const line_range&, const line_range&) = default;
};

/// Windows of `height` x `width` pixels, which are `dilation` pixels apart, at every `stride`-th pixel of an
/// image with `padding` pixels of zeros around it.
struct sliding_window {
  int height = 3, width = 3, stride = 1, padding = 0, dilation = 1;

  constexpr int taps() const { return height * width; }
  constexpr int extent_of_height() const { return dilation * (height - 1) + 1; }
  constexpr int extent_of_width() const { return dilation * (width - 1) + 1; }
  /// How many windows an image has, in lines. Nothing is positive if it is smaller than a window.
  constexpr image_size windows_on(const image_size& x) const {
    return {(x.height + 2 * padding - extent_of_height()) / stride + 1,
            (x.width + 2 * padding - extent_of_width()) / stride + 1};
  }
  /// Whether an image of this size has a window.
  constexpr bool fits(const image_size& x) const {
    return x.height + 2 * padding >= extent_of_height() && x.width + 2 * padding >= extent_of_width();
  }
  /// The image that has so many windows, and no pixels beyond them.
  constexpr image_size image_of(const image_size& windows) const {
    return {(windows.height - 1) * stride + extent_of_height() - 2 * padding,
            (windows.width - 1) * stride + extent_of_width() - 2 * padding};
  }
  /// The lines of the image that some lines of windows read, at least one, with those of the padding.
  constexpr line_range lines_under(const line_range& windows) const {
    return {windows.first * stride - padding, (windows.end - 1) * stride - padding + extent_of_height()};
  }
  /// The lines of windows that lie on a line of the image, or would if there were as many.
  constexpr line_range windows_over(int line) const {
    return {-floor_of(extent_of_height() - 1 - padding - line), floor_of(line + padding) + 1};
  }
  /// One pixel, and nothing around it.
  constexpr bool is_a_pixel() const { return taps() == 1 && stride == 1 && padding == 0; }
  friend constexpr bool operator==(const sliding_window&, const sliding_window&) = default;

 private:
  /// n / stride, rounded down.
  constexpr int floor_of(int n) const { return n >= 0 ? n / stride : -((stride - 1 - n) / stride); }
};

}  // namespace wsl::ml
