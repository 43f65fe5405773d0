// SPDX-License-Identifier: MIT
// Convolutions of images in two dimensions. A token is a pixel; the images of x and y have axes of tokens of
// their own (network::image). A weight tile is some output channels with all their weights, (outputs, lines,
// pixels of a line, inputs), and gives as many channels of y, as a linear layer's does. A transposed
// convolution spreads each pixel of x over a window of y: it is the backward pass of a convolution that takes
// y to x, and doubles an image with windows of 2 x 2 and a stride of 2. A PE may have strips of images.
#pragma once
#include "../op/convolution.hpp"
#include "stage.hpp"

namespace wsl::ml {

/// The settings of a convolution; those that are 0 or less are as another one.
struct convolution_settings {
  sliding_window over = {.height = 3, .width = 3, .stride = 1, .padding = 1, .dilation = 1};
  int groups = 1;  ///< the channels are cut into so many parts, each computed from the same part of x
  bool bias = true;
  initial start = {};              ///< a constant 0: uniform up to 1 / sqrt(inputs of a channel), as PyTorch
  image_size output_padding = {};  ///< lines and pixels that a transposed one adds at the end
};

class convolution_stage final : public stage {
 public:
  /// The windows lie on images of `size`. The parameters are the bias, if there is one, and the weights.
  convolution_stage(const image_size& size, const convolution_settings& how)
      : size_(size), windows_(how.over.windows_on(size)), how_(how) {}

  /// Columns of workers share the outputs; groups stay together.
  stage_cut how_cut() const override {
    return how_.groups == 1 ? stage_cut::by_output : stage_cut::by_tokens;
  }
  bool needs_whole_sequences() const override { return true; }
  std::optional<line_range> reads_of_line(int line) const override {
    return how_.over.lines_under({line, line + 1});
  }

  void forward(activation_store& store, const weight_tile& s) const override {
    if (is_bias(s))
      return set_rows(store.value(output).part(0, s.row, rows(store), s.rows.columns()), s.rows.first());
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> x = store.operand_of_lines<T>(inputs[0]);
      const matrix<f32> y = store.value(output);
      std::vector<T> room;
      each_group(s, x.columns(), y.columns(), [&](int first, int count, int from, int inputs_of) {
        packed_taps<T> taps(s.as<T>().part(first - s.row, 0, count, s.rows.columns()), how_.over.taps(),
                            false);
        each_strip(store, x.part(0, from, x.rows(), inputs_of), y.part(0, first, y.rows(), count),
                   [&](const image_strip& at, const picture<const T>& of_x, const picture<f32>& of_y) {
                     const picture<const T> under = under_windows(at, of_x, room);
                     gather_windows(of_y, under, window_(), taps, !how_.bias, {0, under.size.height});
                   });
      });
    });
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    clear(gradient);
    if (is_bias(s))
      return add_sum_of_rows(gradient.first(),
                             store.gradient(output).part(0, s.row, rows(store), s.rows.columns()));
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> x = store.operand_of_lines<T>(inputs[0]),
                            dy = store.operand_of_gradient<T>(output);
      const bool wants = wants_gradient(store, 0);
      const matrix<f32> dx = wants ? store.gradient_of_lines(inputs[0]) : matrix<f32>(nullptr, 0, 0);
      each_group(s, x.columns(), dy.columns(), [&](int first, int count, int from, int inputs_of) {
        const matrix<const T> x_of = x.part(0, from, x.rows(), inputs_of),
                              dy_of = dy.part(0, first, dy.rows(), count);
        if (!is_frozen(s.which))
          add_gradient(store, gradient.part(first - s.row, 0, count, gradient.columns()), x_of, dy_of);
        if (wants)
          add_to_input(store, dx.part(0, from, dx.rows(), inputs_of), dy_of,
                       s.as<T>().part(first - s.row, 0, count, s.rows.columns()));
      });
    });
  }
  bool reads_operands(int which) const override { return !how_.bias || which != 0; }
  bool needs_weight_in_backward(int which) const override {
    return wants_gradient(0) && (!how_.bias || which != 0);
  }
  f64 operations(int which, int rows, int columns, int) const override {
    if (which < 0) return 0;
    return how_.bias && which == 0 ? 2. * columns : operations_of_weight(which) * rows * columns;
  }

 private:
  bool is_bias(const weight_tile& s) const { return how_.bias && s.which == 0; }
  int rows(activation_store& store) const { return store.value(output).rows(); }
  /// Where windows are single pixels, an image is one line.
  bool is_a_pixel() const { return how_.over.is_a_pixel(); }
  const sliding_window& window_() const { return how_.over; }

  /// Calls f(first output, outputs, first input, inputs) for the parts of a tile in each group.
  template <class F>
  void each_group(const weight_tile& s, int inputs_of_all, int outputs_of_all, F f) const {
    const int outputs = outputs_of_all / how_.groups, inputs_of = inputs_of_all / how_.groups,
              end = s.row + s.rows.rows();
    if (how_.groups == 1) return f(s.row, s.rows.rows(), 0, inputs_of_all);
    for (int first = s.row, group = first / outputs; first < end; first = ++group * outputs)
      f(first, std::min(end, (group + 1) * outputs) - first, group * inputs_of, inputs_of);
  }
  /// Calls f(strip, lines of x, lines of y) for the lines of each image that are here.
  template <class X, class Y, class F>
  void each_strip(const activation_store& store, const matrix<X>& x, const matrix<Y>& y, F f) const {
    if (is_a_pixel() && x.rows() > 0)
      return f(image_strip{{0, 1}, {0, 1}, {0, 1}}, picture<X>::of(x, 0, {1, x.rows()}),
               picture<Y>::of(y, 0, {1, y.rows()}));
    for (const image_strip& s : strips(store, size_.height, windows_.height))
      f(s, picture<X>::of(x, s.first_of_read, {s.read.count(), size_.width}),
        picture<Y>::of(y, s.first_of_written, {s.written.count(), windows_.width}));
  }
  /// The lines of x on which the windows of a strip lie, with zeros around the image.
  template <class T>
  picture<const T> under_windows(const image_strip& at, const picture<const T>& x,
                                 std::vector<T>& room) const {
    const int around = window_().padding;
    return lines_of(x, at.read.first, window_().lines_under(at.written), around, around, room);
  }
  template <class T>
  void add_gradient(const activation_store& store, const matrix<f32>& gradient, const matrix<const T>& x,
                    const matrix<const T>& dy) const {
    std::vector<T> room;
    each_strip(store, x, dy,
               [&](const image_strip& at, const picture<const T>& of_x, const picture<const T>& of_dy) {
                 add_gradient_of_taps(gradient, under_windows(at, of_x, room), of_dy, window_(), false);
               });
  }
  /// Adds to the gradient of x. With a stride of 1 it is gathered from windows on dy, with the taps turned.
  template <class T>
  void add_to_input(const activation_store& store, const matrix<f32>& dx, const matrix<const T>& dy,
                    const matrix<const T>& w) const {
    const sliding_window& o = window_();
    const int above = o.extent_of_height() - 1 - o.padding, before = o.extent_of_width() - 1 - o.padding;
    const bool gathers = o.stride == 1 && above >= 0 && before >= 0;
    packed_taps<T> taps(w, o.taps(), true, gathers);
    std::vector<T> room;
    each_strip(
        store, dx, dy, [&](const image_strip& at, const picture<f32>& of_dx, const picture<const T>& of_dy) {
          if (!gathers)
            return scatter_windows(of_dx, of_dy, o, taps, at.read.first - o.lines_under(at.written).first);
          const int first = at.read.first - above;  // of the lines of dy on which the windows lie
          gather_windows(
              of_dx,
              lines_of(of_dy, at.written.first, {first, at.read.end + o.padding}, before, before, room), o,
              taps, false, {at.written.first - first, at.written.end - first});
        });
  }

  image_size size_, windows_;
  convolution_settings how_;
};

class transposed_convolution_stage final : public stage {
 public:
  /// x has images of `size`, y of `output`, on which the windows lie.
  transposed_convolution_stage(const image_size& size, const image_size& of_y,
                               const convolution_settings& how)
      : size_(size), output_(of_y), how_(how) {}

  stage_cut how_cut() const override { return stage_cut::by_output; }
  bool needs_whole_sequences() const override { return true; }
  std::optional<line_range> reads_of_line(int line) const override { return how_.over.windows_over(line); }

  void forward(activation_store& store) const override {
    if (!how_.bias) clear(store.value(output));
  }
  void forward(activation_store& store, const weight_tile& s) const override {
    const matrix<f32> y = columns(store.value(output), s);
    if (is_bias(s)) return set_rows(y, s.rows.first());
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      packed_taps<T> taps(s.as<T>(), how_.over.taps(), false);
      each_strip(store, store.operand_of_lines<T>(inputs[0]), y,
                 [&](const image_strip& at, const picture<const T>& x, const picture<f32>& of_y) {
                   scatter_windows(of_y, x, how_.over, taps,
                                   at.written.first - how_.over.lines_under(at.read).first);
                 });
    });
  }
  void backward(activation_store& store, const weight_tile& s, const matrix<f32>& gradient) const override {
    clear(gradient);
    if (is_bias(s)) return add_sum_of_rows(gradient.first(), columns(store.gradient(output), s));
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> x = store.operand_of_lines<T>(inputs[0]),
                            dy = columns(store.operand_of_gradient<T>(output), s);
      const bool wants = wants_gradient(store, 0);
      const matrix<f32> dx = wants ? store.gradient_of_lines(inputs[0]) : matrix<f32>(nullptr, 0, 0);
      const sliding_window& o = how_.over;
      // The pixels of zeros that the windows of a line need after it.
      const int covered = sliding_window{o.height, o.width, o.stride, 0, o.dilation}.image_of(size_).width,
                after = std::max(0, covered - output_.width - o.padding);
      packed_taps<T> taps(s.as<T>(), o.taps(), true);
      std::vector<T> room;
      each_strip(store, x, dy,
                 [&](const image_strip& at, const picture<const T>& of_x, const picture<const T>& of_dy) {
                   const line_range lines = o.lines_under(at.read);
                   const picture<const T> under =
                       lines_of(of_dy, at.written.first, lines, o.padding, after, room);
                   if (!is_frozen(s.which)) add_gradient_of_taps(gradient, of_x, under, o, true);
                   if (!wants) return;
                   gather_windows(picture<f32>::of(dx, at.first_of_read, of_x.size), under, o, taps, false,
                                  {at.written.first - lines.first, at.written.end - lines.first});
                 });
    });
  }
  bool reads_operands(int which) const override { return !how_.bias || which != 0; }
  bool needs_weight_in_backward(int which) const override {
    return wants_gradient(0) && (!how_.bias || which != 0);
  }
  f64 operations(int which, int rows, int columns, int) const override {
    if (which < 0) return 0;
    const f64 part = static_cast<f64>(size_.pixels()) / output_.pixels();
    return how_.bias && which == 0 ? 2. * columns : operations_of_weight(which) * part * rows * columns;
  }

 private:
  bool is_bias(const weight_tile& s) const { return how_.bias && s.which == 0; }
  /// The channels to which a tile belongs.
  template <class T>
  matrix<T> columns(const matrix<T>& y, const weight_tile& s) const {
    return y.part(0, s.row, y.rows(), is_bias(s) ? s.rows.columns() : s.rows.rows());
  }
  /// Calls f(strip, lines of x, lines of y) for the lines of each image that are here.
  template <class X, class Y, class F>
  void each_strip(const activation_store& store, const matrix<X>& x, const matrix<Y>& y, F f) const {
    for (const image_strip& s : strips(store, size_.height, output_.height))
      f(s, picture<X>::of(x, s.first_of_read, {s.read.count(), size_.width}),
        picture<Y>::of(y, s.first_of_written, {s.written.count(), output_.width}));
  }

  image_size size_, output_;
  convolution_settings how_;
};

}  // namespace wsl::ml
