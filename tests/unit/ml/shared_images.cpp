// SPDX-License-Identifier: MIT
// More rows of workers than images: rows that share an image do what training in one place does, and the same
// bits on any number of threads.
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/unet.hpp>
#include <wsl/ml/train/memory_need.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using Catch::Contains;
using ml::optimizer;

/// Images, and targets for each number that a model gives.
struct pictures {
  std::vector<f32> x, y;
  int count, pixels;
  pictures(int images, const ml::image_size& size, int channels, i64 outputs)
      : count(images), pixels(size.pixels()) {
    x.resize(static_cast<std::size_t>(images * pixels * channels));
    y.resize(static_cast<std::size_t>(images * outputs));
    ml::initialize(x, ml::initial::normal(1), 11);
    ml::initialize(y, ml::initial::normal(1), 12);
  }
  ml::batch all() const {
    return {.named = {{"image", x}, {"targets", y}}, .sequences = count, .length = pixels};
  }
};

/// The losses of three steps and of an evaluation, the logits, and the weights.
struct run {
  std::vector<f64> losses;
  std::vector<f32> logits;
  ml::weights w;
};
struct grid {
  int rows, columns = 1;
};
ml::streaming_settings on(ml::streaming_settings how, const grid& g) {
  how.workers = g.rows * g.columns, how.columns = g.columns, how.seed = 7;
  return how;
}
template <class Build>
run run_of(Build build, const ml::batch& b, const ml::streaming_settings& how) {
  ml::trainer t(build(), optimizer::sgd({.momentum = 0.9f}), how);
  run r{{}, {}, ml::weights(t.model())};
  for (int step = 0; step < 3; ++step) r.losses.push_back(t.step(b, 0.02));
  r.losses.push_back(t.evaluate(b));
  r.logits = t.predict(b);
  for (std::size_t k = 0; k < r.w.size(); ++k) std::ranges::copy(t.parameters()[k], r.w[k].begin());
  return r;
}
f64 largest_difference(const run& a, const run& b) {
  f64 d = compare::distance(a.w, b.w);
  for (std::size_t k = 0; k < a.losses.size(); ++k) d = std::max(d, std::abs(a.losses[k] - b.losses[k]));
  for (std::size_t k = 0; k < a.logits.size(); ++k)
    d = std::max(d, std::abs(static_cast<f64>(a.logits[k]) - static_cast<f64>(b.logits[k])));
  return a.logits.size() == b.logits.size() ? d : 1e9;
}
/// Whether rows of a grid share images of a model.
bool shares(const ml::network& n, const grid& g, int images, int length) {
  const ml::column_cut cut(n, g.columns);
  return ml::rows_of_wafers(cut, {g.rows, g.columns, 1}, images, length).cuts_sequences();
}
constexpr grid one{1, 1};

/// The layer `add` between two that look at each pixel alone, so that it has gradients of its input.
template <class Add>
ml::network around(const ml::image_size& size, int channels, Add add) {
  ml::network n;
  n.tokens_are_pixels(size.height, size.width);
  const ml::convolution_settings pixel{.over = {1, 1, 1, 0, 1}};
  const int x = n.activation<ml::gelu>("bend", n.convolution("before", n.input("image", 2), channels, pixel));
  const int y = add(n, x);
  const int z = n.convolution("after", n.activation<ml::gelu>("bend again", y), 3, pixel);
  n.mean_squared_error("loss", z, {.targets = n.target("targets", 3, n.info(z).axis)});
  return n;
}
template <class Add>
void check_layer(const std::string& what, const ml::image_size& size, int channels, Add add,
                 bool is_cut_over_columns = true) {
  const auto build = [&] { return around(size, channels, add); };
  const ml::network n = build();
  const i64 outputs = 3 * n.image_of(n.logits()).pixels();
  for (const int images : {1, 2}) {
    const pictures p(images, size, 2, outputs);
    for (const auto& [as, bound] : {std::pair{ml::precision::f32, 2e-6}, {ml::precision::bfloat16, 1e-2}}) {
      const run alone = run_of(build, p.all(), on({.precision = as, .loss_scaling = 1.}, one));
      for (const grid& g : {grid{2}, {3}, {5}, {3, 2}}) {
        INFO(what << ", " << images << " images on " << g.rows << " x " << g.columns << " workers, "
                  << ml::name_of(as));
        const bool is_cut = images < g.rows && (g.columns == 1 || is_cut_over_columns);
        CHECK(shares(n, g, images, size.pixels()) == is_cut);
        const f64 off =
            largest_difference(alone, run_of(build, p.all(), on({.precision = as, .loss_scaling = 1.}, g)));
        CHECK(off < bound);
      }
    }
  }
}

TEST_CASE("Convolutions on rows that share images") {
  struct of_case {
    ml::image_size image;
    ml::sliding_window over;
  };
  for (const of_case& c : {of_case{{5, 7}, {3, 3, 1, 1, 1}},
                           {{9, 4}, {3, 3, 1, 1, 1}},
                           {{6, 5}, {5, 1, 1, 2, 1}},
                           {{10, 6}, {2, 2, 2, 0, 1}},
                           {{9, 10}, {3, 2, 2, 1, 1}},
                           {{16, 12}, {3, 3, 3, 2, 1}},
                           {{10, 9}, {3, 3, 1, 2, 2}},
                           {{14, 9}, {2, 3, 2, 0, 3}},
                           {{11, 6}, {3, 3, 1, 0, 1}},
                           {{7, 5}, {1, 1, 1, 0, 1}},
                           {{9, 5}, {1, 1, 2, 0, 1}},
                           {{5, 3}, {3, 3, 1, 4, 1}},
                           {{6, 6}, {6, 1, 1, 3, 1}},
                           {{5, 5}, {9, 9, 1, 4, 1}},
                           {{12, 5}, {3, 1, 1, 4, 4}}})
    for (const bool bias : {true, false}) {
      const std::string what = std::to_string(c.image.height) + " lines, window " +
                               std::to_string(c.over.height) + ", stride " + std::to_string(c.over.stride) +
                               ", padding " + std::to_string(c.over.padding) + ", dilation " +
                               std::to_string(c.over.dilation);
      check_layer(what, c.image, 3, [&](ml::network& n, int x) {
        return n.convolution("conv", x, 5, {.over = c.over, .bias = bias});
      });
    }
}

TEST_CASE("Transposed convolutions and pooling on rows that share images") {
  struct up {
    ml::sliding_window over;
    ml::image_size more = {};
  };
  for (const up& u : {up{{2, 2, 2, 0, 1}},
                      {{2, 2, 2, 0, 1}, {1, 0}},
                      {{3, 3, 2, 1, 1}, {1, 1}},
                      {{3, 2, 1, 0, 2}},
                      {{4, 4, 2, 1, 1}},
                      {{5, 3, 1, 1, 1}},
                      {{1, 1, 3, 0, 1}, {2, 2}}})
    check_layer("transposed, window " + std::to_string(u.over.height), {5, 4}, 3, [&](ml::network& n, int x) {
      return n.transposed_convolution("up", x, 4, {.over = u.over, .output_padding = u.more});
    });
  for (const ml::sliding_window& w : {ml::sliding_window{2, 2, 2, 0, 1},
                                      {3, 3, 2, 1, 1},
                                      {3, 3, 1, 1, 1},
                                      {2, 3, 1, 1, 2},
                                      {5, 5, 1, 2, 1},
                                      {1, 1, 2, 0, 1}})
    for (const ml::pooling how : {ml::pooling::largest, ml::pooling::mean})
      check_layer("pool, window " + std::to_string(w.height), {10, 5}, 18,
                  [&](ml::network& n, int x) { return n.pool("pool", x, how, w); });
}

/// y = x of the line before, times a number of each feature, + x of the line two further on.
class lines_around final : public ml::stage {
 public:
  lines_around(int lines, int width, int ahead = 2) : lines_(lines), width_(width), ahead_(ahead) {}
  bool needs_whole_sequences() const override { return true; }
  std::optional<ml::line_range> reads_of_line(int line) const override {
    return ml::line_range{line - 1, line + ahead_ + 1};
  }
  void forward(ml::activation_store& store, const ml::weight_tile& w) const override {
    const matrix<f32> x = store.lines(inputs[0]), y = store.value(output);
    ml::clear(y);
    each(store, [&](int to, int from, bool is_before) {
      for (int i = 0; i < y.columns(); ++i) y(to, i) += x(from, i) * (is_before ? w.rows(0, i) : 1);
    });
  }
  void backward(ml::activation_store& store, const ml::weight_tile& w,
                const matrix<f32>& gradient) const override {
    const matrix<f32> x = store.lines(inputs[0]), dx = store.gradient_of_lines(inputs[0]),
                      dy = store.gradient(output);
    ml::clear(gradient);
    each(store, [&](int to, int from, bool is_before) {
      for (int i = 0; i < dy.columns(); ++i) {
        if (is_before) gradient(0, i) += dy(to, i) * x(from, i);
        dx(from, i) += dy(to, i) * (is_before ? w.rows(0, i) : 1);
      }
    });
  }

 private:
  /// Calls f(row of y, row of x, whether it is of the line before).
  template <class F>
  void each(const ml::activation_store& store, F f) const {
    for (const ml::image_strip& s : strips(store, lines_, lines_))
      for (int line = s.written.first; line < s.written.end; ++line)
        for (const int by : {-1, ahead_}) {
          if (line + by < 0 || line + by >= lines_) continue;
          for (int i = 0; i < width_; ++i)
            f(static_cast<int>(s.first_of_written) + (line - s.written.first) * width_ + i,
              static_cast<int>(s.first_of_read) + (line + by - s.read.first) * width_ + i, by < 0);
        }
  }
  int lines_, width_, ahead_;
};
int add_lines_around(ml::network& n, int x, int ahead = 2) {
  const ml::image_size size = n.image_of(x);
  return n.add("around", lines_around(size.height, size.width, ahead), {x}, n.shape_of(x),
               {{"factor", 1, n.width(x), ml::initial::normal(1)}});
}

TEST_CASE("A stage of one's own asks for lines") {
  check_layer("own", {7, 3}, 4, [](ml::network& n, int x) { return add_lines_around(n, x); }, false);
  ml::network n;
  add_lines_around(n, n.input("x", 3, n.image(5, 4)));
  const ml::gradient_report r = ml::check_gradients(n, {.sequences = 2, .length = 1});
  INFO(r.text());
  CHECK(r.passed());
}

/// A small UNet of three levels: the smallest images have 4 lines. Batch norm takes away what a bias before
/// it adds, so that would have a gradient of rounding only.
ml::unet small_unet() {
  return {.height = 16,
          .width = 12,
          .channels = 2,
          .classes = 3,
          .encoder_filters = {4, 6, 8},
          .decoder_filters = {6, 4},
          .between = ml::nonlinearity::silu,
          .bias = false};
}
struct segmented {
  std::vector<f32> image, mask;
  std::vector<i32> targets;
  int count;
  explicit segmented(int images) : count(images) {
    image.resize(static_cast<std::size_t>(images * 16 * 12 * 2));
    ml::initialize(image, ml::initial::normal(1), 5);
    for (int i = 0; i < images * 16 * 12; ++i) {
      targets.push_back((image[static_cast<std::size_t>(2 * i)] > 0) + (i % 12 > 7));
      mask.push_back(i % 7 == 0 ? 0 : 0.25f * static_cast<f32>(1 + i % 3));
    }
  }
  ml::batch all() const {
    return {.features = image, .targets = targets, .mask = mask, .sequences = count, .length = 16 * 12};
  }
};

TEST_CASE("A UNet on rows that share images, on several wafers and in micro-batches", "[large]") {
  using enum ml::downscaling;
  for (const ml::downscaling down : {max_pool, avg_pool, strided_conv})
    for (const int images : {1, 2, 3}) {
      ml::unet u = small_unet();
      u.down = down, u.residual_blocks = down == avg_pool;
      const auto build = [&] { return u.build(); };
      const segmented x(images);
      const run alone = run_of(build, x.all(), on({}, one));
      for (const grid& g : {grid{2}, {3}, {4, 2}, {7}, {16}, {5, 3}}) {
        INFO(images << " images on " << g.rows << " x " << g.columns << " workers");
        CHECK(shares(u.build(), g, images, 16 * 12) == (images < g.rows));
        CHECK(largest_difference(alone, run_of(build, x.all(), on({}, g))) < 2e-5);
      }
    }
  const auto build = [] { return small_unet().build(); };
  const segmented x(4);
  const run alone = run_of(build, x.all(), on({}, one));
  for (const int wafers : {2, 4})
    for (const grid& g : {grid{3}, {6, 2}}) {
      INFO(g.rows << " x " << g.columns << " workers on each of " << wafers << " wafers");
      CHECK(largest_difference(alone, run_of(build, x.all(), on({.num_csx = wafers}, g))) < 2e-5);
    }
  // A micro-batch has a statistic of its own, on one row as on many.
  for (const ml::streaming_settings& how :
       {ml::streaming_settings{.micro_batch_size = 1}, {.num_csx = 2, .micro_batch_size = 1}}) {
    ml::streaming_settings many = how;
    many.recompute = true;
    const run parts = run_of(build, x.all(), on(how, one));
    CHECK(largest_difference(parts, run_of(build, x.all(), on(how, {3}))) < 2e-5);
    CHECK(largest_difference(parts, run_of(build, x.all(), on(many, {4, 2}))) < 2e-5);
  }
}

TEST_CASE("Neither threads nor recomputation change a bit where rows share images") {
  const auto build = [] {
    ml::network n;
    n.tokens_are_pixels(12, 6);
    int x = n.convolution("first", n.input("image", 2), 6, {.over = {7, 7, 1, 3, 1}});
    x = n.dropout("dropout", n.activation<ml::gelu>("bend", n.batch_norm("norm", x)), 0.2f);
    x = n.pool("pool", x, ml::pooling::largest, {3, 3, 2, 1, 1});
    x = n.activation<ml::silu>("bend 2", n.convolution("second", x, 8));
    x = n.transposed_convolution("up", x, 4, {.over = {4, 4, 2, 1, 1}});
    n.mean_squared_error("loss", n.convolution("last", x, 3));
    return n;
  };
  const pictures p(2, {12, 6}, 2, 12 * 6 * 3);
  for (const ml::precision as : {ml::precision::f32, ml::precision::bfloat16})
    for (const grid& g : {grid{3}, {4, 2}, {7}}) {
      const run one_thread = run_of(build, p.all(), on({.threads = 1, .precision = as}, g));
      if (as == ml::precision::f32)
        CHECK(largest_difference(one_thread, run_of(build, p.all(), on({}, one))) < 2e-5);
      for (const ml::streaming_settings& how :
           {ml::streaming_settings{.threads = 2}, {.threads = 3}, {.threads = 2, .recompute = true}}) {
        ml::streaming_settings in_format = how;
        in_format.precision = as;
        const run other = run_of(build, p.all(), on(in_format, g));
        INFO(g.rows << " x " << g.columns << " workers, " << how.threads << " threads, " << how.recompute);
        CHECK(largest_difference(one_thread, other) == 0);
        CHECK(one_thread.losses == other.losses);
        CHECK(one_thread.logits == other.logits);
      }
    }
}

TEST_CASE("A trainer takes images of which rows have parts, and then whole ones") {
  const auto build = [] { return small_unet().build(); };
  ml::trainer alone(build(), optimizer::sgd(), on({}, one)),
      shared(build(), optimizer::sgd(), on({}, {4, 2}));
  for (const int images : {1, 6, 2, 4, 3}) {
    const segmented x(images);
    INFO(images << " images");
    CHECK(shared.step(x.all(), 0.05) == Approx(alone.step(x.all(), 0.05)).epsilon(1e-5));
    std::vector<f32> all = shared.predict(x.all());
    i64 came = 0;
    const f64 loss = shared.evaluate(x.all(), [&](i64 first, std::span<const f32> logits) {
      CHECK(first * 3 == came);
      CHECK(std::equal(logits.begin(), logits.end(), all.begin() + came));
      came += static_cast<i64>(logits.size());
    });
    CHECK(came == static_cast<i64>(all.size()));
    CHECK(loss == Approx(alone.evaluate(x.all())).epsilon(1e-5));
    CHECK(shared.logits() == all);
    CHECK(compare::distance(shared.parameters(), alone.parameters()) < 1e-5);
  }
}

TEST_CASE("A loss that is not finite is explained where rows share images, and leaves nothing behind") {
  const segmented x(1);
  ml::trainer t(small_unet().build(), optimizer::sgd(), on({}, {4}));
  const f64 before = t.evaluate(x.all());
  f32& weight = t.parameter_named("bottom conv 1.weight")[5];
  const f32 was = std::exchange(weight, HUGE_VALF);
  CHECK_THROWS_WITH(t.step(x.all(), 0.1), Contains("bottom conv 1"));
  weight = was;
  CHECK(t.evaluate(x.all()) == before);
}

TEST_CASE("What cannot be cut keeps whole images") {
  const auto check = [](const ml::network& n, const grid& g) {
    CHECK(!shares(n, g, 1, n.axes().front().length));
  };
  ml::unet u = small_unet();
  u.norm = ml::image_norm::instance;
  check(u.build(), {4});
  const auto with = [](auto add) {
    ml::network n;
    n.tokens_are_pixels(8, 6);
    add(n, n.convolution("conv", n.input("image", 2), 4));
    return n;
  };
  check(with([](ml::network& n, int x) { n.group_norm("norm", x, 2); }), {4});
  // Columns have whole images of what is neither cut by features nor by outputs.
  const auto grouped = [&] {
    return with([](ml::network& n, int x) {
      n.mean_squared_error("loss", n.convolution("grouped", x, 4, {.groups = 2}));
    });
  };
  check(grouped(), {4, 2});
  CHECK(shares(grouped(), {4, 1}, 1, 8 * 6));
  check(
      with([](ml::network& n, int) { n.linear("text", n.input("text", 2, n.axis("text", 3)), 2, true, {}); }),
      {4});
  const pictures p(2, {8, 6}, 2, 8 * 6 * 4);
  const run alone = run_of(grouped, p.all(), on({}, one));
  for (const grid& g : {grid{4}, {3}, {4, 2}, {3, 3}})
    CHECK(largest_difference(alone, run_of(grouped, p.all(), on({}, g))) < 1e-5);
}

TEST_CASE("Lines that go back are refused") {
  ml::network n;
  n.tokens_are_pixels(5, 4);
  class back_and_forth final : public ml::stage {
    bool needs_whole_sequences() const override { return true; }
    std::optional<ml::line_range> reads_of_line(int line) const override {
      return ml::line_range{0, line == 3 ? 1 : 2};
    }
  };
  n.add("odd", back_and_forth(), {n.input("x", 3)}, 3);
  CHECK_THROWS_WITH(ml::column_cut(n, 1),
                    Contains("odd reads the lines from 0 to before 2 for line 2 of its output, and from 0 to "
                             "before 1 for the next: reads_of_line must not go back"));
}

TEST_CASE("A chosen grid has rows that share images where there are many threads") {
  const ml::network n =
      ml::unet{
          .height = 128, .width = 128, .encoder_filters = {16, 32, 64, 128}, .decoder_filters = {64, 32, 16}}
          .build();
  const auto rows = [&](int cores, int images) {
    return ml::choose_grid(n, {.cores = cores}, images, 128 * 128).rows;
  };
  CHECK(rows(16, 4) > 4);
  CHECK(rows(16, 1) > 4);
  CHECK(rows(4, 4) == 4);
  CHECK(rows(2, 4) == 2);
  CHECK(rows(2, 1) == 2);
}

TEST_CASE("The memory of rows that share images is known before") {
  const segmented x(1);
  for (const grid& g : {grid{1}, {2}, {4}, {4, 2}}) {
    ml::trainer t(small_unet().build(), optimizer::sgd(), on({}, g));
    t.step(x.all(), 1e-2);
    const ml::column_cut cut(t.model(), g.columns);
    const f64 lines = ml::prefix_bytes(t.model(), cut, {g.rows, g.columns, 1}, 1, 16 * 12),
              all = ml::activation_bytes(t.model(), cut, 16 * 12) + lines,
              taken = static_cast<f64>(t.report().activations);
    INFO(g.rows << " x " << g.columns << " workers: " << all << " bytes, and " << taken);
    CHECK((lines > 0) == (g.rows > 1));
    CHECK(all <= 1.01 * taken);
    CHECK(all >= 0.95 * taken);
  }
}

}  // namespace
