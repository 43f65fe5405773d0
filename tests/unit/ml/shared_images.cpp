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
  pictures(int images, const ml::image_size& size, int channels, i64 outputs) : count(images), pixels(size.pixels()) {
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
  ml::trainer t(build(), optimizer::sgd(0.9f), how);
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
void check_layer(const std::string& what, const ml::image_size& size, int channels, Add add) {
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
        const bool is_cut = images < g.rows;
        CHECK(shares(n, g, images, size.pixels()) == is_cut);
        const f64 off = largest_difference(
            alone, run_of(build, p.all(), on({.precision = as, .loss_scaling = 1.}, g)));
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

}  // namespace
