// SPDX-License-Identifier: MIT
// Products of windows on images with weights: a convolution in two dimensions, its gradients, and those of a
// transposed one. The pixels of an image are rows of channels, one line of the image after the other. A line
// of windows is then a matrix whose rows overlap in memory, so that a product reads the image itself, or a
// copy with zeros around it, and no window is ever copied. Two walks are enough for all passes:
//   gather_windows    each window of an image is multiplied with weights: y of a convolution, and dx of a
//                     transposed one, or of one whose windows lie at every pixel
//   scatter_windows   each pixel is multiplied with weights, and the products are added up where its window
//                     lies: dx of a convolution, and y of a transposed one
// Sums are made in the order of the window's lines.
#pragma once
#include <algorithm>
#include <vector>

#include "../../linalg/dense.hpp"
#include "image.hpp"
#include "rows.hpp"

namespace wsl::ml {

/// One image, or some lines of it: channels of its pixels, of which the next begins `pixel` numbers further
/// on.
template <class T>
struct picture {
  T* first;
  image_size size;
  int channels;
  i64 pixel;

  /// The pixels from row `first` on of a matrix of (pixels, channels).
  static picture of(const matrix<T>& all, i64 first, const image_size& size) {
    return {all.row(first), size, all.columns(), all.row_stride()};
  }
  T* at(int line, int x) const { return first + (i64{line} * size.width + x) * pixel; }
  /// `count` pixels of a line, `step` apart, with `columns` numbers each.
  matrix<T> pixels(int line, int x, int count, int step, int columns) const {
    return {at(line, x), count, columns, step * pixel, 1};
  }
};

/// The zeros to be put around an image.
struct margins {
  int top = 0, left = 0, bottom = 0, right = 0;
  constexpr bool any() const { return top || left || bottom || right; }
};

/// A copy of an image without gaps between its pixels and with zeros around it, in memory of the caller's.
template <class T, class U>
picture<const T> padded(const picture<U>& x, const margins& m, std::vector<T>& room) {
  const image_size size{x.size.height + m.top + m.bottom, x.size.width + m.left + m.right};
  room.assign(static_cast<std::size_t>(i64{size.pixels()} * x.channels), T{});
  const picture<T> to{room.data(), size, x.channels, x.channels};
  for (int line = 0; line < x.size.height; ++line) {
    if (x.pixel == x.channels) {
      std::copy_n(x.at(line, 0), i64{x.size.width} * x.channels, to.at(line + m.top, m.left));
      continue;
    }
    for (int i = 0; i < x.size.width; ++i)
      std::copy_n(x.at(line, i), x.channels, to.at(line + m.top, i + m.left));
  }
  return {to.first, to.size, to.channels, to.pixel};
}
/// The image itself if its pixels lie without gaps and need no zeros around them, or a copy.
template <class T>
picture<const T> without_gaps(const picture<const T>& x, const margins& m, std::vector<T>& room) {
  return !m.any() && x.pixel == x.channels ? x : padded(x, m, room);
}
/// Some lines of an image of which x has those from `first` on, without gaps between their pixels: zeros are
/// for lines that x does not have, and for so many pixels before and after each line.
template <class T>
picture<const T> lines_of(const picture<const T>& x, int first, const line_range& lines, int before,
                          int after, std::vector<T>& room) {
  const int from = std::clamp(lines.first, first, first + x.size.height),
            end = std::clamp(lines.end, from, first + x.size.height),
            top = std::clamp(first - lines.first, 0, lines.count());
  picture<const T> here = x;
  here.first = x.at(from - first, 0), here.size.height = end - from;
  return without_gaps(here, {top, before, lines.count() - top - here.size.height, after}, room);
}

/// Weights as the second factor of the products: (taps x inputs, outputs), in strips of columns that lie as
/// the microkernels read them.
template <class T>
class packed_taps {
 public:
  /// The weights w of some outputs are (outputs, taps x inputs). With `across`, inputs and outputs change
  /// places: (taps x outputs, inputs); `turned` also takes the taps from the last to the first.
  packed_taps(const matrix<const T>& w, int taps, bool across, bool turned = false)
      : of_tap_(across ? w.rows() : w.columns() / taps), columns_(across ? w.columns() / taps : w.rows()) {
    numbers_.resize(static_cast<std::size_t>(i64{taps} * of_tap_ * columns_));
    each_strip([&](int column, const matrix<T>& strip) {
      for (int tap = 0; tap < taps; ++tap)
        for (int k = 0; k < of_tap_; ++k) {
          T* const to = strip.row(tap * of_tap_ + k);
          const int from = (turned ? taps - 1 - tap : tap) * (across ? columns_ : of_tap_);
          if (across) std::copy_n(w.row(k) + from + column, strip.columns(), to);
          else
            for (int j = 0; j < strip.columns(); ++j) to[j] = w(column + j, from + k);
        }
    });
  }

  /// The rows of a tap.
  int of_tap() const { return of_tap_; }
  int columns() const { return columns_; }
  /// Calls f(first column, (taps x rows, some columns)).
  template <class F>
  void each_strip(F f) {
    const int rows = columns_ ? static_cast<int>(static_cast<i64>(numbers_.size()) / columns_) : 0;
    i64 at = 0;
    for (int column = 0, n = 0; column < columns_; column += n) {
      const int left = columns_ - column;
      n = left >= 64 ? 64 : left >= 32 ? 32 : left >= 16 ? 16 : left;
      f(column, matrix<T>(numbers_.data() + at, rows, n));
      at += i64{rows} * n;
    }
  }

 private:
  int of_tap_, columns_;
  std::vector<T> numbers_;
};

namespace detail {

inline bool is_inside(int at, int size) { return at >= 0 && at < size; }
/// The windows of a line whose pixel number `tap` lies on the image: from `first` to before `end`.
struct part_of_line {
  int first, end;
  part_of_line(const sliding_window& w, int tap, int windows, int pixels) {
    const int ahead = w.padding - tap * w.dilation;  // pixels that window 0 lies before the image
    first = ahead > 0 ? (ahead + w.stride - 1) / w.stride : 0;
    end = std::min(windows, ahead + pixels > 0 ? (ahead + pixels - 1) / w.stride + 1 : 0);
  }
  int count() const { return std::max(0, end - first); }
};

}  // namespace detail

/// out += windows of x times the taps, or out = that if it `sets`. x has the zeros around it already and no
/// gaps; out has a pixel for each window. To what is there, only the lines of x in `adds` add.
template <class T>
void gather_windows(const picture<f32>& out, const picture<const T>& x, const sliding_window& w,
                    packed_taps<T>& taps, bool sets, const line_range& adds) {
  const bool whole_lines = w.dilation == 1;  // of a window, which lie together
  const int steps = whole_lines ? 1 : w.width, depth = taps.of_tap() * (whole_lines ? w.width : 1);
  taps.each_strip([&](int column, const matrix<T>& of) {
    for (int line = 0; line < out.size.height; ++line) {
      const matrix<f32> to(out.at(line, 0) + column, out.size.width, of.columns(), out.pixel, 1);
      for (int y = 0; y < w.height; ++y) {
        const int at = line * w.stride + y * w.dilation;
        if (!sets && (at < adds.first || at >= adds.end)) continue;
        for (int k = 0; k < steps; ++k) {
          const matrix<const T> from = x.pixels(at, k * w.dilation, out.size.width, w.stride, depth);
          const matrix<const T> by = of.part((y * steps + k) * depth, 0, depth, of.columns());
          if (sets && y == 0 && k == 0) multiply(to, from, by);
          else multiply_add(to, from, by);
        }
      }
    }
  });
}

/// Adds the products of each pixel of x with the taps to the pixels of out on which its window lies. The
/// first line of windows begins so many lines before out.
template <class T>
void scatter_windows(const picture<f32>& out, const picture<const T>& x, const sliding_window& w,
                     packed_taps<T>& taps, int lines_before) {
  taps.each_strip([&](int column, const matrix<T>& of) {
    for (int line = 0; line < x.size.height; ++line)
      for (int tap = 0; tap < w.taps(); ++tap) {
        const int at = line * w.stride + tap / w.width * w.dilation - lines_before, k = tap % w.width;
        const detail::part_of_line on(w, k, x.size.width, out.size.width);
        if (!detail::is_inside(at, out.size.height) || on.count() == 0) continue;
        const matrix<f32> to(out.at(at, on.first * w.stride + k * w.dilation - w.padding) + column,
                             on.count(), of.columns(), w.stride * out.pixel, 1);
        multiply_add(to, x.pixels(line, on.first, on.count(), 1, x.channels),
                     matrix<const T>(of.part(tap * taps.of_tap(), 0, taps.of_tap(), of.columns())));
      }
  });
}

/// Adds the gradient of the weights, (outputs, taps x inputs): of a convolution, whose gradient dy has a
/// pixel for each window of x, or of a transposed one, whose windows lie on dy. The image with the windows
/// has the zeros around it already and no gaps.
template <class T>
void add_gradient_of_taps(const matrix<f32>& gradient, const picture<const T>& x, const picture<const T>& dy,
                          const sliding_window& w, bool is_transposed) {
  const picture<const T>&under = is_transposed ? dy : x, &windows = is_transposed ? x : dy;
  const int n = windows.size.width, inputs = x.channels;
  const bool whole_lines = w.dilation == 1 && !is_transposed;
  const int steps = whole_lines ? 1 : w.width, columns = inputs * (whole_lines ? w.width : 1);
  for (int line = 0; line < windows.size.height; ++line) {
    const matrix<const T> of_windows = windows.pixels(line, 0, n, 1, windows.channels);
    for (int y = 0; y < w.height; ++y)
      for (int k = 0; k < steps; ++k) {
        const matrix<const T> below = under.pixels(line * w.stride + y * w.dilation, k * w.dilation, n,
                                                   w.stride, is_transposed ? dy.channels : columns);
        multiply_add(gradient.part(0, (y * steps + k) * columns, gradient.rows(), columns),
                     (is_transposed ? below : of_windows).transposed(), is_transposed ? of_windows : below);
      }
  }
}

}  // namespace wsl::ml
