// SPDX-License-Identifier: MIT
#include <wsl/ml/model/block.hpp>
#include <wsl/ml/model/decoder.hpp>
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

// A network owns its stages: a copy is refused where it is asked for, not inside the library.
static_assert(!std::is_copy_constructible_v<ml::network> && !std::is_copy_assignable_v<ml::network> &&
              std::is_nothrow_move_constructible_v<ml::network>);

TEST_CASE("The golden GPT-2: logits, loss and every gradient") {
  const auto g = golden::load();
  if (!g) {
    WARN("no golden GPT-2 in WSL_DATA_DIR");
    return;
  }
  const ml::network n = g->config.build();
  ml::weights w = golden::weights_of(*g, n, g->parameters), d(n);
  ml::batch b{.ids = g->ids, .targets = g->targets, .sequences = g->sequences, .length = g->length};
  check(n, b);
  ml::activation_store at = store_of(n, b);
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
  CHECK_THROWS_WITH(n.sum("join", x, y),
                    "wsl: what is joined must have equally many features on both sides: join joins 784 "
                    "features of pixels with 500 features of first");
  CHECK_THROWS_WITH(n.tied_linear("head", y, 1),
                    "wsl: these two layers do not fit: the second takes another number of features than the "
                    "first gives: 500 features of first, and head takes the 784 of first.weight");
  const ml::decoder wrong{.vocabulary = 65, .positions = 16, .layers = 1, .heads = 5, .width = 32};
  CHECK_THROWS_WITH(
      wrong.build(),
      "wsl: heads must divide the features, and heads of keys those of queries: layer 0 "
      "attention shares out the 96 features of layer 0 qkv to 5 heads of queries, 5 of keys and 5 of values");
}

/// The loss of a step with some weights, and its gradients.
std::pair<f64, ml::weights> step_of(const ml::network& n, const ml::weights& w) {
  const std::vector<i32> ids{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, targets{1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  ml::weights numbers(n), gradients(n);
  for (std::size_t k = 0; k < w.size(); ++k) numbers[k] = w[k];
  ml::batch b{.ids = ids, .targets = targets, .sequences = 2, .length = 5};
  check(n, b);
  ml::activation_store at = store_of(n, b);
  const f64 loss = serial_forward(n, numbers, at);
  serial_backward(n, numbers, gradients, at);
  return {loss, gradients};
}
/// The sequence and the decoder are the same model, bit for bit.
template <class Sequence>
void check_same(const Sequence& written, const ml::decoder& configured) {
  const ml::network a = written.build(), b = configured.build();
  REQUIRE(a.parameters().size() == b.parameters().size());
  for (std::size_t k = 0; k < a.parameters().size(); ++k) {
    INFO(a.parameters()[k].name << " and " << b.parameters()[k].name);
    REQUIRE((a.parameters()[k].rows == b.parameters()[k].rows &&
             a.parameters()[k].columns == b.parameters()[k].columns));
  }
  CHECK(a.vocabulary() == b.vocabulary());
  CHECK(a.positions() == b.positions());
  const ml::weights start(b, 5);
  const auto [loss, gradients] = step_of(a, start);
  const auto [wanted, of_b] = step_of(b, start);
  CHECK(loss == wanted);
  CHECK(compare::distance(gradients, of_b) == 0);
}

TEST_CASE("A decoder whose sizes are constants is the one whose sizes come from elsewhere") {
  constexpr ml::embedding<11, 6, 8> tokens;
  constexpr ml::sequence gpt{tokens,
                             ml::repeat<2>(ml::residual{ml::layer_norm<8>{}, ml::causal_attention<8, 2>{}},
                                           ml::residual{ml::layer_norm<8>{}, ml::linear<8, 32>{},
                                                        ml::elementwise<ml::gelu>{}, ml::linear<32, 8>{}}),
                             ml::layer_norm<8>{}, ml::tied_head{tokens}};
  static_assert(gpt.takes == -1);
  check_same(gpt, {.vocabulary = 11, .positions = 6, .layers = 2, .heads = 2, .width = 8});
  CHECK(gpt.build().parameters()[5].name == "layer 1.0 residual 0 attention 1 qkv.weight");
  constexpr ml::sequence grouped{
      ml::embedding<11, 0, 8>{}, ml::residual{ml::rms_norm<8>{}, ml::causal_attention<8, 4, 2, false>{}},
      ml::residual{ml::rms_norm<8>{}, ml::gated<ml::silu, 8, 20, false>{}, ml::linear<20, 8, false>{}},
      ml::rms_norm<8>{}, ml::linear<8, 11, false>{}};
  check_same(grouped, {.vocabulary = 11,
                       .positions = 0,
                       .layers = 1,
                       .heads = 4,
                       .width = 8,
                       .filter = 20,
                       .bias = false,
                       .between = ml::nonlinearity::swiglu,
                       .kv_heads = 2,
                       .norm = ml::normalization::rmsnorm,
                       .position = ml::positioning::none,
                       .tied = false});
}

}  // namespace
