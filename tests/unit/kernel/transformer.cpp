// SPDX-License-Identifier: MIT
// A layer of GPT-2 by weight streaming within the limits of a wafer: its output against the layer in f64, its
// gradients against differences of the layer in f64.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <vector>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/transformer.hpp>

namespace {
using namespace wsl;
using namespace wsl::transformer;

constexpr layer_shape small{.features = 6, .tokens = 4};

void fill(std::vector<f32>& x, std::mt19937& random, f32 around, f32 width) {
  for (f32& v : x) v = around + width * (static_cast<f32>(random()) / 2147483648.f - 1.f);
}
layer_weights random_weights(int d, unsigned seed) {
  std::mt19937 random(seed);
  layer_weights w = layer_weights::zeros(d);
  for (std::size_t n = 0; n < 2; ++n) fill(w.gain[n], random, 1, 0.3f), fill(w.offset[n], random, 0, 0.3f);
  for (std::size_t m = 0; m < 4; ++m) fill(w.matrix[m], random, 0, 0.4f), fill(w.bias[m], random, 0, 0.2f);
  return w;
}
std::vector<f32> random_tokens(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<f32> x(n);
  fill(x, random, 0, 1.5f);
  return x;
}

struct passes {
  std::vector<f32> y, of_x;
  layer_weights gradient;
};
template <class Engine>
passes run(const machine& target, const Engine& engine, int columns, int rows, int sequences,
           const layer_weights& w, const std::vector<f32>& x, const std::vector<f32>& of_y, int times = 1) {
  wafer_layer<small> layer(columns, rows, sequences, target, engine);
  passes p{std::vector<f32>(x.size()), std::vector<f32>(x.size()), {}};
  for (int i = 0; i < times; ++i) layer.forward(w, x, p.y), layer.backward(w, of_y, p.of_x, p.gradient);
  return p;
}

/// The layer in f64 on all sequences, one after the other.
std::vector<f64> serially(const layer_weights& w, const std::vector<f64>& x, int heads, int sequences) {
  std::vector<f64> y;
  const auto length = static_cast<std::ptrdiff_t>(x.size()) / sequences;
  for (int q = 0; q < sequences; ++q) {
    const std::vector<f64> part = serial::layer(w, {x.begin() + q * length, x.begin() + (q + 1) * length},
                                                static_cast<std::size_t>(heads));
    y.insert(y.end(), part.begin(), part.end());
  }
  return y;
}

void check(const machine& target, int columns, int rows, int sequences) {
  INFO(target.name << ", " << columns << " columns, " << sequences << " sequences of " << rows << " rows");
  const int d = columns * small.features;
  const layer_weights w = random_weights(d, 1);
  const auto count = static_cast<std::size_t>(d * rows * sequences * small.tokens);
  const std::vector<f32> x = random_tokens(count, 2), of_y = random_tokens(count, 3);
  const passes p = run(target, timed{}, columns, rows, sequences, w, x, of_y);

  const std::vector<f64> wide(x.begin(), x.end()), right = serially(w, wide, columns, sequences);
  for (std::size_t i = 0; i < count; ++i) REQUIRE(std::abs(f64{p.y[i]} - right[i]) < 3e-5);

  // The loss is the product of y and of_y; its derivatives by central differences.
  const auto loss = [&](const layer_weights& at, const std::vector<f64>& from) {
    const std::vector<f64> y = serially(at, from, columns, sequences);
    f64 sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += y[i] * f64{of_y[i]};
    return sum;
  };
  constexpr f64 step = 1.0 / 256;  // weights are f32: an exact step
  std::mt19937 random(4);
  const auto compare = [&](f64 found, const std::function<f64(f64)>& moved, f64 allowed) {
    const f64 near = (moved(step) - moved(-step)) / (2 * step),
              far = (moved(2 * step) - moved(-2 * step)) / (4 * step), slope = near + (near - far) / 3;
    REQUIRE(std::abs(found - slope) < allowed * (1 + std::abs(slope)));
  };
  for (int k = 0; k < 12; ++k) {
    const std::size_t i = random() % count;
    compare(
        f64{p.of_x[i]},
        [&](f64 by) {
          std::vector<f64> from = wide;
          from[i] += by;
          return loss(w, from);
        },
        1e-3);
  }
  const auto of_weights = [&](auto member, std::size_t n) {
    for (int k = 0; k < 4; ++k) {
      const std::size_t i = random() % (w.*member)[n].size();
      INFO("array " << n << " of " << (w.*member)[n].size() << " numbers, number " << i);
      compare(
          f64{(p.gradient.*member)[n][i]},
          [&](f64 by) {
            layer_weights at = w;
            (at.*member)[n][i] += static_cast<f32>(by);
            return loss(at, wide);
          },
          1e-3);
    }
  };
  for (std::size_t n = 0; n < 2; ++n)
    of_weights(&layer_weights::gain, n), of_weights(&layer_weights::offset, n);
  for (std::size_t m = 0; m < 4; ++m)
    of_weights(&layer_weights::matrix, m), of_weights(&layer_weights::bias, m);
}

TEST_CASE("transformer on a wafer: the layer and its gradients are those of f64") {
  check(wse2, 2, 1, 1);
  check(wse2, 3, 3, 1);
  check(wse3, 4, 2, 2);
  check(wse3, 2, 17, 2);  // more rows than an area strides
}

TEST_CASE("transformer on a wafer: all engines find the same bits, again and again") {
  const int d = 3 * small.features;
  const layer_weights w = random_weights(d, 1);
  const auto count = static_cast<std::size_t>(d * 4 * small.tokens);
  const std::vector<f32> x = random_tokens(count, 2), of_y = random_tokens(count, 3);
  const passes by_clock = run(wse2, timed{}, 3, 2, 2, w, x, of_y);
  const auto same = [&](const passes& p) {
    CHECK(p.y == by_clock.y);
    CHECK(p.of_x == by_clock.of_x);
    for (std::size_t m = 0; m < 4; ++m) CHECK(p.gradient.matrix[m] == by_clock.gradient.matrix[m]);
    CHECK(p.gradient.gain == by_clock.gradient.gain);
  };
  same(run(wse2, threaded{.threads = 2, .pes_per_partition = 1}, 3, 2, 2, w, x, of_y, 2));
  same(run(wse2, reference{}, 3, 2, 2, w, x, of_y));
}

TEST_CASE("transformer on a wafer: more rows of PEs cost the way of the words to them") {
  const int d = 3 * small.features;
  const layer_weights w = random_weights(d, 1);
  const auto cycles = [&](const machine& target, int sequences) {
    wafer_layer<small> layer(3, 2, sequences, target, timed{});
    std::vector<f32> x = random_tokens(static_cast<std::size_t>(d * layer.tokens()), 2), y(x.size());
    layer_weights gradient;
    const u64 forth = layer.forward(w, x, y).cycles;
    return std::pair{forth, layer.backward(w, x, y, gradient).cycles};
  };
  for (const machine* target : {&wse2, &wse3}) {
    INFO(target->name);
    const auto few = cycles(*target, 1), many = cycles(*target, 5);
    // The slowest of more PEs is a little slower: scores grow at other times, and sums are shrunk then. The
    // way of the weights is hidden where a PE has more than it needs at once.
    const u64 hops = 8, a_pe = static_cast<u64>(2 * target->ramp_latency + 2), uneven = 400;
    CHECK(many.first >= few.first);
    CHECK(many.first < few.first + hops + uneven);
    CHECK(many.second > few.second + hops * a_pe - 1);
    CHECK(many.second < few.second + hops * a_pe + uneven);
  }
}

TEST_CASE("transformer on a wafer: cycles are the same from event to event and in windows", "[large]") {
  constexpr layer_shape narrow{.features = 4, .tokens = 2};
  const layer_weights w = random_weights(2 * narrow.features, 1);
  const auto cycles = [&](const timed& engine) {
    wafer_layer<narrow> layer(2, 64, 1, wse2, engine);
    std::vector<f32> x = random_tokens(static_cast<std::size_t>(layer.features() * layer.tokens()), 2);
    std::vector<f32> y(x.size());
    layer_weights gradient;
    const u64 forth = layer.forward(w, x, y).cycles;
    return std::pair{forth, layer.backward(w, x, y, gradient).cycles};
  };
  const auto by_event = cycles({.threads = 1, .visits_a_cycle = 1u << 30});
  for (const int threads : {1, 2}) CHECK(cycles({.threads = threads, .visits_a_cycle = 0}) == by_event);
}

TEST_CASE("transformer on a wafer: the layouts of a strip of a wafer have no faults") {
  using program = layer_pe<{.features = 64, .tokens = 8}>;
  require(program::plan(wse2, 12, 128, 7));
  require(program::plan(wse3, 12, 128, 9));
}

TEST_CASE("transformer on a wafer: what does not fit is refused by name") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH((wafer_layer<small>(1, 1, 1)), Contains("has 2 to 12 columns of PEs, not 1"));
  CHECK_THROWS_WITH((wafer_layer<small>(2, 0, 1)), Contains("at least one row of PEs, not 1 on 0"));
  wafer_layer<small> layer(2, 2, 1);
  std::vector<f32> x(8 * 12), few(95);
  layer_weights w = layer_weights::zeros(12);
  CHECK_THROWS_WITH(layer.forward(w, few, x), Contains("8 tokens of 12 numbers, and x has 95 numbers"));
  w.bias[up].pop_back();
  CHECK_THROWS_WITH(layer.forward(w, x, x), Contains("has bias 2 of 48 numbers, not of 47"));
}

}  // namespace
