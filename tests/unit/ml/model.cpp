// SPDX-License-Identifier: MIT
#include <wsl/ml/model/serial.hpp>

#include "compare.hpp"
#include "golden_gpt2.hpp"

namespace {
using namespace wsl;

f64 distance(std::span<const f32> x, std::span<const f32> y) {
  f64 largest = 1e-30, off = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<f64>(y[i])));
    const f64 d = std::abs(static_cast<f64>(x[i]) - static_cast<f64>(y[i]));
    off = d <= off ? off : d;
  }
  return off / largest;
}

TEST_CASE("The golden GPT-2: logits, loss and every gradient") {
  const auto g = golden::load();
  if (!g) {
    WARN("no golden GPT-2 in WSL_DATA_DIR");
    return;
  }
  const ml::network n = g->config.build();
  ml::weights w = golden::weights_of(*g, n, g->parameters), d(n);
  ml::place at;
  at.resize(n.widths(), n.stages().size(), g->sequences, g->length);
  at.ids = g->ids, at.targets = g->targets, at.weight = 1 / static_cast<f32>(at.tokens());
  const f64 loss = serial_forward(n, w, at) / at.tokens();
  ml::serial_backward(n, w, d, at);
  const matrix<f32> logits = at.value(n.logits());
  CHECK(distance({logits.first(), g->logits.size()}, g->logits) < 1e-6);
  CHECK(std::abs(loss - static_cast<f64>(g->loss)) < 1e-6);
  golden::each_parameter(*g, n, g->gradients, [&](std::size_t k, std::span<const f32> x) {
    INFO(n.parameters()[k].name);
    CHECK(distance(d[k], x) < 1e-5);
  });
}

TEST_CASE("A model that does not fit says so in the names of its stages") {
  ml::network n;
  const int x = n.input("pixels", 784), y = n.linear("first", x, 500, true, {});
  CHECK_THROWS_WITH(n.sum("join", x, y), "wsl: join joins 784 features of pixels with 500 features of first: they must be equally many");
  CHECK_THROWS_WITH(n.tied_linear("head", y, 1), "wsl: head takes 500 features of first to the rows of first.weight, which have 784 features");
  const ml::decoder wrong{.vocabulary = 65, .positions = 16, .layers = 1, .heads = 5, .width = 32};
  CHECK_THROWS_WITH(wrong.build(), "wsl: layer 0 attention shares out queries, keys and values of 96 features of layer 0 qkv to 5 heads: 3 x heads must divide the features");
}

}  // namespace
