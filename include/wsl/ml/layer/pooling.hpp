// SPDX-License-Identifier: MIT
// Pooling of images: a pixel of y is the largest, or the mean, of each channel in a window of x. Channels do
// not mix, so columns of workers have some of them. Padding counts as smaller than any number, and as zeros
// in a mean (as PyTorch's count_include_pad).
#pragma once
#include <type_traits>

#include "../op/convolution.hpp"
#include "stage.hpp"

namespace wsl::ml {

enum class pooling : u8 { largest, mean };

class pooling_stage final : public stage {
 public:
  pooling_stage(pooling how, const image_size& size, const sliding_window& over)
      : how_(how), size_(size), windows_(over.windows_on(size)), over_(over) {}

  stage_cut how_cut() const override { return stage_cut::by_element; }
  bool needs_whole_sequences() const override { return true; }
  std::optional<line_range> reads_of_line(int line) const override {
    return over_.lines_under({line, line + 1});
  }

  void forward(activation_store& store) const override {
    const matrix<f32> x = store.lines(inputs[0]), y = store.value(output);
    each_window(store, x, y, [&](const f32* from, f32* to, const taps& of) {
      how_ == pooling::largest ? run_vectorized<largest_loop>(to, from, of, x.columns())
                               : run_vectorized<mean_loop>(to, from, of, x.columns());
    });
  }
  void backward(activation_store& store) const override {
    if (!wants_gradient(store, 0)) return;
    const matrix<f32> x = store.lines(inputs[0]), dy = store.gradient(output),
                      dx = store.gradient_of_lines(inputs[0]);
    each_window(store, x, dy, [&](const f32* from, f32* of_y, const taps& of) {
      f32* const to = dx.first() + (from - x.first());
      how_ == pooling::largest ? run_vectorized<largest_backward_loop>(to, from, of_y, of, x.columns())
                               : run_vectorized<mean_backward_loop>(to, of_y, of, x.columns());
    });
  }
  f64 operations(int, int, int columns, int) const override { return 3. * over_.taps() * columns; }

 private:
  /// The pixels of a window that lie on the image: their lines, and how many there are of each.
  struct taps {
    int lines, pixels;
    i64 line, pixel;  ///< the distances from one to the next, in numbers
    f32 part;         ///< of the mean
  };

  /// Calls f(first pixel of the window on the image, pixel of y, taps) for each window.
  template <class F>
  void each_window(const activation_store& store, const matrix<f32>& x, const matrix<f32>& y, F f) const {
    for (const image_strip& s : strips(store, size_.height, windows_.height)) {
      const picture<f32> from = picture<f32>::of(x, s.first_of_read, {s.read.count(), size_.width}),
                         to = picture<f32>::of(y, s.first_of_written, {s.written.count(), windows_.width});
      for (int line = s.written.first; line < s.written.end; ++line) {
        const run of_lines = on_image(line, over_.height, size_.height);
        for (int at = 0; at < windows_.width; ++at) {
          const run of_pixels = on_image(at, over_.width, size_.width);
          f(static_cast<const f32*>(from.at(of_lines.first - s.read.first, of_pixels.first)),
            to.at(line - s.written.first, at),
            taps{of_lines.count, of_pixels.count, i64{over_.dilation} * size_.width * from.pixel,
                 i64{over_.dilation} * from.pixel, 1 / static_cast<f32>(over_.taps())});
        }
      }
    }
  }
  struct run {
    int first, count;
  };
  /// Which lines, or pixels of a line, window number `at` has on an image of so many.
  run on_image(int at, int taps_of, int size) const {
    const int begin = at * over_.stride - over_.padding, d = over_.dilation;
    const int skipped = begin < 0 ? (d - 1 - begin) / d : 0, first = begin + skipped * d;
    return {first, std::min(taps_of - skipped, first < size ? (size - 1 - first) / d + 1 : 0)};
  }

  struct largest_loop {
    [[gnu::always_inline]] static void run(f32* y, const f32* x, taps of, int n) {
      for (int i = 0; i < n; ++i) y[i] = x[i];
      for (int a = 0; a < of.lines; ++a)
        for (int b = 0; b < of.pixels; ++b) {
          const f32* const at = x + a * of.line + b * of.pixel;
          // A NaN is larger than any number, as in PyTorch.
          for (int i = 0; i < n; ++i) y[i] = y[i] >= at[i] || y[i] != y[i] ? y[i] : at[i];
        }
    }
  };
  /// The first of several equal numbers gets the gradient.
  struct largest_backward_loop {
    static constexpr int lanes = 16;
    [[gnu::always_inline]] static void run(f32* dx, const f32* x, const f32* dy, taps of, int n) {
      int j = 0;
      for (; j + lanes <= n; j += lanes)
        some(dx + j, x + j, dy + j, of, std::integral_constant<int, lanes>{});
      if (j < n) some(dx + j, x + j, dy + j, of, n - j);
    }
    /// Of m channels, at most `lanes`.
    template <class Count>
    [[gnu::always_inline]] static void some(f32* dx, const f32* x, const f32* dy, const taps& of, Count m) {
      f32 most[lanes];
      i32 which[lanes];
      for (int i = 0; i < m; ++i) most[i] = x[i], which[i] = 0;
      for (int a = 0, k = 0; a < of.lines; ++a)
        for (int b = 0; b < of.pixels; ++b, ++k) {
          const f32* const at = x + a * of.line + b * of.pixel;
          for (int i = 0; i < m; ++i) {
            const bool keeps = most[i] >= at[i] || most[i] != most[i];
            which[i] = keeps ? which[i] : k, most[i] = keeps ? most[i] : at[i];
          }
        }
      for (int a = 0, k = 0; a < of.lines; ++a)
        for (int b = 0; b < of.pixels; ++b, ++k) {
          f32* const at = dx + a * of.line + b * of.pixel;
          for (int i = 0; i < m; ++i) at[i] += which[i] == k ? dy[i] : 0;
        }
    }
  };
  struct mean_loop {
    [[gnu::always_inline]] static void run(f32* y, const f32* x, taps of, int n) {
      for (int i = 0; i < n; ++i) y[i] = 0;
      for (int a = 0; a < of.lines; ++a)
        for (int b = 0; b < of.pixels; ++b)
          for (int i = 0; i < n; ++i) y[i] += x[a * of.line + b * of.pixel + i];
      for (int i = 0; i < n; ++i) y[i] *= of.part;
    }
  };
  struct mean_backward_loop {
    [[gnu::always_inline]] static void run(f32* dx, const f32* dy, taps of, int n) {
      for (int a = 0; a < of.lines; ++a)
        for (int b = 0; b < of.pixels; ++b)
          for (int i = 0; i < n; ++i) dx[a * of.line + b * of.pixel + i] += of.part * dy[i];
    }
  };

  pooling how_;
  image_size size_, windows_;
  sliding_window over_;
};

}  // namespace wsl::ml
