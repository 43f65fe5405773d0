// SPDX-License-Identifier: MIT
// Layers of images: convolutions beside plain loops, pooling and norms beside finite differences, and batch
// norm, whose statistics are those of all rows of workers and of all wafers.
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/model/unet.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using Catch::Contains;

struct case_of_convolution {
  ml::image_size image;
  int from, to;
  ml::sliding_window over;
  int groups = 1;
};
std::string words(const case_of_convolution& c) {
  return std::to_string(c.image.height) + " x " + std::to_string(c.image.width) + " x " +
         std::to_string(c.from) + " to " + std::to_string(c.to) + ", window " +
         std::to_string(c.over.height) + " x " + std::to_string(c.over.width) + ", stride " +
         std::to_string(c.over.stride) + ", padding " + std::to_string(c.over.padding) + ", dilation " +
         std::to_string(c.over.dilation) + ", groups " + std::to_string(c.groups);
}
const std::vector<case_of_convolution> convolutions{
    {{1, 1}, 1, 1, {1, 1, 1, 0, 1}},    {{5, 7}, 3, 5, {3, 3, 1, 1, 1}},
    {{6, 4}, 16, 16, {3, 3, 1, 1, 1}},  {{9, 33}, 2, 70, {3, 3, 1, 1, 1}},
    {{5, 5}, 20, 33, {5, 1, 1, 2, 1}},  {{8, 8}, 4, 6, {2, 2, 2, 0, 1}},
    {{9, 10}, 3, 4, {3, 2, 2, 1, 1}},   {{11, 12}, 3, 4, {3, 3, 3, 2, 1}},
    {{10, 9}, 3, 4, {3, 3, 1, 2, 2}},   {{10, 9}, 3, 4, {2, 3, 2, 0, 3}},
    {{7, 6}, 8, 8, {3, 3, 1, 1, 1}, 8}, {{7, 6}, 6, 9, {3, 3, 2, 1, 1}, 3},
    {{4, 6}, 17, 3, {1, 1, 1, 0, 1}},   {{4, 5}, 3, 2, {1, 1, 2, 0, 1}},
    {{3, 3}, 2, 3, {3, 3, 1, 4, 1}},    {{40, 40}, 40, 48, {3, 3, 1, 1, 1}},
};

/// A convolution by loops over pixels, taps and channels, in f64.
std::vector<f64> plain_convolution(const case_of_convolution& c, int images, std::span<const f32> x,
                                   std::span<const f32> bias, std::span<const f32> w) {
  const ml::image_size windows = c.over.windows_on(c.image);
  const int from = c.from / c.groups, to = c.to / c.groups;
  std::vector<f64> y;
  for (int n = 0; n < images; ++n)
    for (int at = 0; at < windows.pixels(); ++at)
      for (int o = 0; o < c.to; ++o) {
        f64 sum = static_cast<f64>(bias[static_cast<std::size_t>(o)]);
        for (int tap = 0; tap < c.over.taps(); ++tap) {
          const int line = at / windows.width * c.over.stride + tap / c.over.width * c.over.dilation -
                           c.over.padding,
                    pixel = at % windows.width * c.over.stride + tap % c.over.width * c.over.dilation -
                            c.over.padding;
          if (line < 0 || line >= c.image.height || pixel < 0 || pixel >= c.image.width) continue;
          for (int i = 0; i < from; ++i)
            sum += static_cast<f64>(x[static_cast<std::size_t>(
                       ((n * c.image.height + line) * c.image.width + pixel) * c.from + o / to * from + i)]) *
                   static_cast<f64>(w[static_cast<std::size_t>((o * c.over.taps() + tap) * from + i)]);
        }
        y.push_back(sum);
      }
  return y;
}

TEST_CASE("A convolution is what plain loops say") {
  for (const case_of_convolution& c : convolutions)
    for (const ml::precision format : {ml::precision::f32, ml::precision::bfloat16}) {
      INFO(words(c) << ", " << ml::name_of(format));
      ml::network n;
      const int axis = n.image(c.image.height, c.image.width);
      const int y =
          n.convolution("conv", n.input("x", c.from, axis), c.to, {.over = c.over, .groups = c.groups});
      ml::weights w = ml::detail::varied_weights(n, 1);
      std::vector<f32> x(static_cast<std::size_t>(2 * c.image.pixels() * c.from));
      ml::initialize(x, ml::initial::normal(1), 3);
      // Numbers that both formats hold.
      for (std::vector<f32>* numbers : {&x, &w[0], &w[1]})
        ml::round_to(ml::precision::bfloat16, numbers->data(), static_cast<i64>(numbers->size()));
      ml::activation_store store = ml::store_of(n, {.features = x, .sequences = 2});
      store.format = format;
      ml::serial_forward(n, w, store);
      store.enter(y);
      const matrix<f32> made = store.value(y);
      const std::vector<f64> right = plain_convolution(c, 2, x, w[0], w[1]);
      REQUIRE(right.size() == static_cast<std::size_t>(made.rows() * made.columns()));
      f64 off = 0, largest = 0;
      for (std::size_t i = 0; i < right.size(); ++i)
        off = std::max(off, std::abs(static_cast<f64>(made.first()[i]) - right[i])),
        largest = std::max(largest, std::abs(right[i]));
      CHECK(off < 2e-6 * largest * std::sqrt(static_cast<f64>(c.from * c.over.taps())));
    }
}

void check_slopes(const std::string& what, const ml::network& n, bool trains = true, f64 tolerance = 2e-3) {
  INFO(what);
  const ml::gradient_report r = ml::check_gradients(
      n, {.sequences = 2, .length = 1, .tolerance = tolerance, .entries = 50, .dropout = trains});
  INFO(r.text());
  CHECK(r.passed());
}

TEST_CASE("The gradients of layers of images are differences") {
  for (const case_of_convolution& c : convolutions) {
    if (c.image.pixels() > 200) continue;
    ml::network n;
    const int axis = n.image(c.image.height, c.image.width);
    n.convolution("conv", n.input("x", c.from, axis), c.to,
                  {.over = c.over, .groups = c.groups, .bias = c.to != 4});
    check_slopes(words(c), n);
  }
  struct up {
    ml::sliding_window over;
    ml::image_size more = {};
  };
  for (const up& u : {up{{2, 2, 2, 0, 1}},
                      {{2, 2, 2, 0, 1}, {1, 0}},
                      {{3, 3, 2, 1, 1}, {1, 1}},
                      {{3, 2, 1, 0, 2}},
                      {{4, 4, 2, 1, 1}},
                      {{1, 1, 3, 0, 1}, {2, 2}}})
    for (const bool bias : {false, true}) {
      ml::network n;
      const int axis = n.image(3, 4);
      n.transposed_convolution("up", n.input("x", 3, axis), 5,
                               {.over = u.over, .bias = bias, .output_padding = u.more});
      check_slopes("transposed", n);
    }
  for (const ml::sliding_window& w :
       {ml::sliding_window{2, 2, 2, 0, 1}, {3, 3, 2, 1, 1}, {2, 3, 1, 1, 2}, {1, 1, 2, 0, 1}})
    for (const ml::pooling how : {ml::pooling::largest, ml::pooling::mean}) {
      ml::network n;
      n.pool("pool", n.input("x", 18, n.image(6, 5)), how, w);
      check_slopes("pool", n);
    }
  for (const int groups : {1, 2, 6}) {
    ml::network n;
    n.group_norm("norm", n.input("x", 6, n.image(3, 4)), groups);
    check_slopes("group norm", n);
  }
  for (const bool trains : {false, true}) {
    ml::network n;
    n.batch_norm("norm", n.input("x", 5, n.image(3, 4)));
    check_slopes("batch norm", n, trains);
  }
  ml::network n;
  const int axis = n.image(2, 2), x = n.input("x", 3, axis), y = n.input("y", 2, axis);
  n.concatenation("both", {x, y, x});
  check_slopes("concatenation", n);
}

TEST_CASE("The largest of equal numbers is the first, and a NaN is larger than any") {
  ml::network n;
  const int y = n.pool("pool", n.input("x", 1, n.image(2, 2)), ml::pooling::largest, {2, 2, 2, 0, 1});
  ml::weights w(n);
  std::vector<f32> x{1, 1, 0, 1};
  ml::activation_store store = ml::store_of(n, {.features = x, .sequences = 1});
  store.gradients_of_inputs = true;
  ml::serial_forward(n, w, store);
  store.gradient(y)(0, 0) = 5;
  ml::serial_backward(n, w, w, store);
  const matrix<f32> dx = store.gradient(0);
  CHECK(std::vector<f32>(dx.first(), dx.first() + 4) == std::vector<f32>{5, 0, 0, 0});
  x[2] = std::numeric_limits<f32>::quiet_NaN();
  ml::give(store, n, {.features = x, .sequences = 1});
  ml::serial_forward(n, w, store);
  CHECK(std::isnan(store.value(y)(0, 0)));
}

/// Two convolutions, the first with a norm over the batch.
ml::network with_batch_norm(int channels = 5) {
  ml::network n;
  n.tokens_are_pixels(4, 6);
  int x = n.convolution("first", n.input("image", 2), channels);
  x = n.activation<ml::gelu>("between", n.batch_norm("norm", x));
  x = n.pool("pool", x, ml::pooling::largest, {2, 2, 2, 0, 1});
  x = n.transposed_convolution("up", n.batch_norm("norm 2", x), 4, {.over = {2, 2, 2, 0, 1}});
  n.cross_entropy("loss", n.convolution("last", x, 3));
  return n;
}
struct made_batch {
  std::vector<f32> image;
  std::vector<i32> targets;
  int sequences;
  explicit made_batch(int count)
      : image(static_cast<std::size_t>(count * 24 * 2)),
        targets(static_cast<std::size_t>(count * 24)),
        sequences(count) {
    ml::initialize(image, ml::initial::normal(2), 11);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] += static_cast<f32>(i % 2) + 3;
    for (std::size_t i = 0; i < targets.size(); ++i)
      targets[i] = static_cast<i32>(image[2 * i] > 3) + (i % 7 == 0);
  }
  ml::batch all() const {
    return {.features = image, .targets = targets, .sequences = sequences, .length = 24};
  }
};
/// The losses of some steps, that of an evaluation, and the weights after them.
struct trained {
  std::vector<f64> losses;
  ml::weights w;
};
trained train(ml::streaming_settings how,
              const ml::optimizer& rule = ml::optimizer::sgd({.momentum = 0.9f})) {
  const made_batch b(6);
  ml::trainer t(with_batch_norm(), rule, how);
  std::vector<f64> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(t.step(b.all(), 1e-2));
  losses.push_back(t.evaluate(b.all()));
  return {losses, t.parameters()};
}

TEST_CASE("Batch norm is that of the whole batch on any rows, columns and wafers") {
  const trained one = train({.workers = 1, .columns = 1});
  CHECK(one.losses[2] < one.losses[0]);
  struct grid {
    int workers, columns, wafers;
  };
  for (const grid& g : {grid{2, 1, 1},
                        {3, 1, 1},
                        {7, 1, 1},
                        {2, 2, 1},
                        {3, 3, 1},
                        {12, 6, 1},
                        {1, 1, 2},
                        {2, 1, 3},
                        {4, 2, 2}}) {
    INFO(g.workers << " workers in " << g.columns << " columns on " << g.wafers << " wafers");
    const trained x = train({.workers = g.workers, .columns = g.columns, .num_csx = g.wafers});
    for (std::size_t k = 0; k < x.losses.size(); ++k)
      CHECK(x.losses[k] == Approx(one.losses[k]).epsilon(2e-5));
    CHECK(compare::distance(x.w, one.w) < 1e-4);
  }
}

TEST_CASE(
    "Batch norm gives the same bits on any number of threads, and where activations are computed again") {
  const trained one = train({.workers = 6, .columns = 2, .threads = 1});
  for (const int threads : {2, 3}) {
    const trained x = train({.workers = 6, .columns = 2, .threads = threads});
    CHECK(x.losses == one.losses);
    CHECK(compare::distance(x.w, one.w) == 0);
  }
  const trained again = train({.workers = 6, .columns = 2, .threads = 2, .recompute = true});
  CHECK(again.losses == one.losses);
  CHECK(compare::distance(again.w, one.w) == 0);
}

TEST_CASE("The running statistics follow those of the batches, and no optimizer changes them") {
  const made_batch b(6);
  const auto one_step = [&](const ml::optimizer& rule, const ml::streaming_settings& how) {
    ml::network n;
    n.tokens_are_pixels(4, 6);
    n.mean_squared_error("loss", n.batch_norm("norm", n.input("image", 2), 1e-5f, 0.25f), {.targets = 0});
    ml::trainer t(std::move(n), rule, how);
    t.step({.features = b.image, .sequences = 6, .length = 24}, 0.5);
    const std::span<f32> mean = t.parameter_named("norm.running mean"),
                         variance = t.parameter_named("norm.running variance");
    return std::vector<f64>{static_cast<f64>(mean[0]), static_cast<f64>(mean[1]),
                            static_cast<f64>(variance[0]), static_cast<f64>(variance[1])};
  };
  std::vector<f64> right(4);
  const auto statistics = [&](int first, int end, f64 part) {
    for (int c = 0; c < 2; ++c) {
      f64 sum = 0, squares = 0;
      const int count = (end - first) * 24;
      for (int i = first * 24; i < end * 24; ++i)
        sum += static_cast<f64>(b.image[static_cast<std::size_t>(2 * i + c)]);
      for (int i = first * 24; i < end * 24; ++i)
        squares += std::pow(static_cast<f64>(b.image[static_cast<std::size_t>(2 * i + c)]) - sum / count, 2);
      right[static_cast<std::size_t>(c)] += part * sum / count;
      right[static_cast<std::size_t>(2 + c)] += part * squares / (count - 1);
    }
  };
  const auto check = [&](const std::vector<f64>& x) {
    for (std::size_t k = 0; k < 4; ++k)
      CHECK(x[k] == Approx(0.75 * (k < 2 ? 0 : 1) + 0.25 * right[k]).epsilon(1e-5));
  };
  statistics(0, 6, 1);
  check(one_step(ml::optimizer::adamw(), {.workers = 1, .columns = 1}));
  check(one_step(ml::optimizer::sgd({.momentum = 0.9f, .decay = 0.5f}),
                 {.workers = 3, .columns = 1, .num_csx = 2, .clip_value = 1e-3}));
  check(one_step(ml::optimizer::lamb(), {.workers = 2, .columns = 2, .clip_norm = 1e-3}));
  check(one_step(ml::optimizer::adam().with_group({"*"}, {.rate_factor = 0.5f}), {.loss_scaling = 1024.}));
  // Two micro-batches are batches of their own, and the mean of both is followed.
  right.assign(4, 0.);
  statistics(0, 3, 0.5), statistics(3, 6, 0.5);
  check(one_step(ml::optimizer::adamw(), {.workers = 2, .columns = 1, .micro_batch_size = 3}));
}

TEST_CASE("Evaluation takes the running statistics") {
  const made_batch b(6);
  ml::trainer t(with_batch_norm(), ml::optimizer::adamw(), {.workers = 2, .columns = 1});
  // With the statistics that it has not learned yet, one image is as good as among others.
  const f64 together = t.evaluate(b.all());
  f64 alone = 0;
  for (int k = 0; k < 6; ++k) alone += t.evaluate(ml::sequences_of(b.all(), k, 1)) / 6;
  CHECK(alone == Approx(together).epsilon(1e-6));
  const f64 in_training = t.step(b.all(), 0);
  CHECK(std::abs(in_training - together) > 1e-3);
  // They come close to those of a batch that is always the same.
  for (int k = 0; k < 100; ++k) t.step(b.all(), 0);
  CHECK(t.evaluate(b.all()) == Approx(in_training).epsilon(5e-3));
}

TEST_CASE("A UNet of every setting learns, and a pipeline trains those that norm single images", "[large]") {
  using namespace wsl::ml;
  const auto check = [](const char* what, const unet& u, int classes = 2) {
    INFO(what);
    const made_batch b(4);
    std::vector<i32> targets = b.targets;
    for (i32& x : targets) x = std::min(x, classes - 1);
    const batch all{.features = b.image, .targets = targets, .sequences = 4, .length = 24};
    check_slopes(what, u.build(), true, 1e-2);  // corners of the largest numbers
    trainer t(u.build(), optimizer::adam(), {.workers = 4, .columns = 2});
    const f64 first = t.step(all, 1e-2);
    for (int k = 0; k < 30; ++k) t.step(all, 1e-2);
    CHECK(t.step(all, 1e-2) < 0.8 * first);
    if (u.norm == image_norm::batchnorm2d) return;
    pipelined_trainer p(u.build(), optimizer::adam(), {.strips = 3});
    CHECK(p.step(all, 1e-2) == Approx(first).epsilon(1e-5));
  };
  unet u{.height = 4,
         .width = 6,
         .channels = 2,
         .encoder_filters = {4, 8},
         .decoder_filters = {6},
         .between = nonlinearity::silu};
  // Batch norm takes away what a bias before it adds, so that has no gradient.
  u.bias = false, check("batch norm", u), u.bias = true;
  u.norm = image_norm::group, u.norm_groups = 2;
  u.classes = 3, check("three classes", u, 3);
  u.classes = 2, u.residual_blocks = true;
  check("residual blocks", u);
  u.norm = image_norm::instance, u.down = downscaling::avg_pool, u.kernels = {3, 1}, u.bias = false;
  check("instance norm", u);
  u.norm = image_norm::none, u.down = downscaling::strided_conv, u.skip_connect = false, u.bias = true;
  check("no norm", u);
}

TEST_CASE("Groups of a norm that do not divide the channels of a block are refused with those that do") {
  using namespace wsl::ml;
  unet u{.height = 8, .width = 8, .encoder_filters = {12, 18}, .decoder_filters = {6}};
  u.norm = image_norm::group, u.norm_groups = 4;
  CHECK_THROWS_WITH(u.build(),
                    "wsl: norm_groups 4 does not divide the 18 channels of a block: take one of 1, 2, "
                    "3, 6, which divide those of all blocks");
  u.norm_groups = 3;
  CHECK(u.build().parameter_count() > 0);
}

TEST_CASE("What does not fit an image is refused by name") {
  ml::network n;
  const int x = n.input("x", 4, n.image(5, 6)), text = n.input("text", 3);
  CHECK_THROWS_WITH(n.convolution("c", text, 2),
                    Contains("the 3 features of text are no pixels of an image"));
  CHECK_THROWS_WITH(n.convolution("c", x, 2, {.over = {7, 3, 1, 0, 1}}),
                    Contains("7 x 3 pixels") && Contains("5 x 6"));
  CHECK_THROWS_WITH(n.convolution("c", x, 2, {.over = {3, 3, 0, 0, 1}}), Contains("a stride of 0"));
  CHECK_THROWS_WITH(n.convolution("c", x, 2, {.groups = 3}),
                    Contains("cuts 4 channels, and 2 of the output, into 3 groups"));
  CHECK_THROWS_WITH(n.convolution("c", x, 2, {.output_padding = {1, 0}}), Contains("only transposed"));
  CHECK_THROWS_WITH(n.transposed_convolution("c", x, 2, {.over = {2, 2, 2, 0, 1}, .output_padding = {2, 0}}),
                    Contains("output padding of 2 x 0"));
  CHECK_THROWS_WITH(n.pool("p", x, ml::pooling::mean, {2, 2, 2, 2, 1}), Contains("at most half a window"));
  CHECK_THROWS_WITH(n.group_norm("g", x, 3), Contains("into 3 groups"));
  CHECK_THROWS_WITH(n.batch_norm("b", x, 1e-5f, 0), Contains("momentum"));
  CHECK_THROWS_WITH(n.image(0, 3), Contains("0 x 3"));
  CHECK_THROWS_WITH((ml::unet{.height = 4, .width = 64}.build()), Contains("cannot be halved 3 times"));
  CHECK_THROWS_WITH(ml::pipelined_trainer(with_batch_norm(), ml::optimizer::sgd(), {.strips = 2}),
                    Contains("norm needs sums over the whole batch"));
  ml::trainer t(with_batch_norm(), ml::optimizer::sgd(), {.workers = 1});
  const made_batch b(1);
  ml::batch wrong = b.all();
  wrong.sequences = 24, wrong.length = 1;
  CHECK_THROWS_WITH(t.step(wrong, 1), Contains("batch::length is 24 for images of 4 x 6 pixels, not 1"));
}

}  // namespace
