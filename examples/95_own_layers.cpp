// SPDX-License-Identifier: MIT
// A layer and a loss of one's own: a 2-D convolution for which an image is one token (a pixel is one for
// network::convolution), and Huber's loss. They are compared with plain loops and with finite differences,
// and then find a bright spot in noisy images.
#include <wsl/ml.hpp>
#include <wsl/ml/model/check_gradients.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
using namespace wsl;

/// y = bias + W * x with a window of 3 x 3 pixels and zeros around the image. x is (height, width, from), y
/// is (height, width, to), W is (to, 3, 3, from).
class convolution_stage final : public ml::stage {
 public:
  convolution_stage(int height, int width) : height_(height), width_(width) {}

  void forward(ml::activation_store& store, const ml::weight_tile& w) const override {
    const matrix<f32> x = store.value(inputs[0]), y = store.value(output);
    if (w.which == 0) return ml::set_rows(pixels(y), w.rows.first());
    each(x, y, w, [](auto from, auto to, auto taps, int) { multiply_add(to, from, taps.transposed()); });
  }
  void backward(ml::activation_store& store, const ml::weight_tile& w,
                const matrix<f32>& gradient) const override {
    ml::clear(gradient);
    if (w.which == 0) return ml::add_sum_of_rows(gradient.first(), pixels(store.gradient(output)));
    const matrix<f32> dy = store.gradient(output);
    each(store.value(inputs[0]), dy, w, [&](auto from, auto to, auto, int tap) {
      multiply_add(taps_of(gradient, tap), to.transposed(), from);
    });
    each(store.gradient(inputs[0]), dy, w, [](auto from, auto to, auto taps, int) {
      multiply_add(from, to, taps);
    });
  }
  f64 operations(int which, int rows, int columns, int) const override {
    return which < 0 ? 0 : (which == 0 ? 2. : 6.) * rows * columns * height_ * width_;  // for the reports
  }

 private:
  matrix<f32> pixels(const matrix<f32>& y) const {  // (all pixels, channels)
    return {y.first(), y.rows() * height_ * width_, y.columns() / (height_ * width_)};
  }
  static matrix<f32> taps_of(const matrix<f32>& w, int tap) {  // (outputs, from) of one of the 9 pixels
    return w.part(0, w.columns() / 9 * tap, w.rows(), w.columns() / 9);
  }
  /// Calls f(pixels of x, pixels of y, taps, number of the taps) for each line of each image and each tap.
  template <class F>
  void each(const matrix<f32>& x, const matrix<f32>& y, const ml::weight_tile& w, F f) const {
    const matrix<f32> from = pixels(x), to = pixels(y).part(0, w.row, from.rows(), w.rows.rows());
    for (int line = 0; line < x.rows() * height_; ++line)
      for (int tap = 0; tap < 9; ++tap) {
        const int up = tap / 3 - 1, right = tap % 3 - 1, row = line % height_ + up;
        if (row < 0 || row >= height_) continue;
        const int first = std::max(0, -right), n = width_ - std::abs(right);
        f(from.part((line + up) * width_ + first + right, 0, n, from.columns()),
          to.part(line * width_ + first, 0, n, to.columns()), taps_of(w.rows, tap), tap);
      }
  }
  int height_, width_;
};
/// The layer for a sequence: what it takes and gives, and the stages that it adds to the network.
template <int height, int width, int from, int to>
struct convolution {
  static constexpr ml::shape takes{height, width, from}, gives{height, width, to};
  static constexpr const char* name = "convolution";
  static std::vector<ml::parameter> parameters() {
    return {ml::parameter::of("bias", {1, to}, ml::initial::constant(0)),
            ml::parameter::of("weight", {to, 3, 3, from}, ml::initial::uniform(1 / std::sqrt(9.f * from)))};
  }
  static int build(ml::network& n, const std::string& as, int x) {
    return n.add(as, convolution_stage(height, width), {{x, takes}}, gives, parameters());
  }
};

/// Huber's loss: quadratic below `delta`, linear above.
class huber final : public ml::loss_stage {
 public:
  explicit huber(f32 delta) : delta_(delta) {}
  f64 loss(ml::activation_store& store, f32 weight) const override {
    const matrix<f32> x = store.value(inputs[0]), y = store.value(inputs[1]), dx = store.gradient(inputs[0]);
    f64 sum = 0;
    for (int t = 0; t < x.rows(); ++t)
      for (int i = 0; i < x.columns(); ++i) {
        const f32 of_loss = mask_of(store, t), d = x(t, i) - y(t, i), far = std::abs(d);
        sum += static_cast<f64>(of_loss * (far < delta_ ? d * d / 2 : delta_ * (far - delta_ / 2)));
        dx(t, i) += of_loss * weight * std::clamp(d, -delta_, delta_);
      }
    return sum;
  }

 private:
  f32 delta_;
};

constexpr int size = 8, count = 64;
constexpr ml::sequence net{convolution<size, size, 1, 6>{}, ml::elementwise<ml::gelu>{},
                           convolution<size, size, 6, 4>{}, ml::elementwise<ml::gelu>{},
                           ml::linear<size * size * 4, 2>{}};

ml::network model() {
  return net.build([](ml::network& n, int y) {
    n.loss("distance", huber(0.5f), {y, {n.target("place", 2), 2}});
  });
}

/// Noise with a bright spot of 3 x 3 pixels, and the place of the spot.
struct images {
  std::vector<f32> pixels, places;
  explicit images(unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < count; ++i) {
      const int row = 1 + static_cast<int>(random() % 6), column = 1 + static_cast<int>(random() % 6);
      for (int r = 0; r < size; ++r)
        for (int c = 0; c < size; ++c)
          pixels.push_back(static_cast<f32>(random() % 1000) / 1000 +
                           (std::abs(r - row) < 2 && std::abs(c - column) < 2 ? 1.f : 0.f));
      places.push_back(static_cast<f32>(row) / size), places.push_back(static_cast<f32>(column) / size);
    }
  }
  ml::batch all() const {
    return {.named = {{"input", pixels}, {"place", places}}, .sequences = count};
  }
};

/// The largest difference of the layer from plain loops.
f64 error_of_convolution() {
  constexpr int h = 5, w = 4, from = 3, to = 20;
  constexpr ml::sequence one{convolution<h, w, from, to>{}};
  const ml::network n = one.build([](ml::network&, int) {});
  ml::weights numbers(n, 1);
  ml::initialize(numbers[0], ml::initial::normal(1), 2);
  std::vector<f32> x(2 * h * w * from);
  ml::initialize(x, ml::initial::normal(1), 3);
  ml::activation_store store = ml::store_of(n, {.features = x, .sequences = 2});
  ml::serial_forward(n, numbers, store);
  f64 error = 0;
  for (int i = 0; i < 2; ++i)
    for (int at = 0; at < h * w * to; ++at) {
      const int row = at / to / w, column = at / to % w, o = at % to;
      f64 y = static_cast<f64>(numbers[0][static_cast<std::size_t>(o)]);
      for (int tap = 0; tap < 9 * from; ++tap) {
        const int r = row + tap / from / 3 - 1, c = column + tap / from % 3 - 1;
        if (r < 0 || r >= h || c < 0 || c >= w) continue;
        y += static_cast<f64>(numbers.of(1)(o, tap)) *
             static_cast<f64>(x[static_cast<std::size_t>(((i * h + r) * w + c) * from + tap % from)]);
      }
      error = std::max(error, std::abs(y - static_cast<f64>(store.value(n.logits())(i, at))));
    }
  return error;
}

template <class Trainer>
f64 learned(Trainer t) {
  const images lesson(1), test(2);
  const ml::rate::schedule rate = ml::rate::cosine(5e-3, 0, 60);
  for (int step = 0; step < 60; ++step) t.step(lesson.all(), rate(step));
  return t.evaluate(test.all());
}

int main() {
  const bool same = error_of_convolution() < 1e-5;
  std::printf("the convolution is %s\n", same ? "what plain loops say" : "wrong");
  using layer = convolution<5, 4, 3, 2>;
  const bool slopes =
      ml::check_gradients(convolution_stage(5, 4), {layer::takes}, layer::gives, layer::parameters())
          .passed() &&
      ml::check_gradients(model(), {.entries = 60}).passed();
  std::printf("the gradients are %s\n", slopes ? "the differences" : "wrong");
  const f64 streamed = learned(ml::trainer(model(), ml::optimizer::adam())),
            piped = learned(ml::pipelined_trainer(model(), ml::optimizer::adam(), {.strips = 3}));
  const bool found = streamed < 1e-2 && std::abs(streamed - piped) < 1e-3;
  std::printf("the spots are %s, by weight streaming and in a pipeline\n", found ? "found" : "not found");
  return same && slopes && found ? 0 : 1;
}
