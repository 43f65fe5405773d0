// SPDX-License-Identifier: MIT
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/operations.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/optim/schedule.hpp>

#include "compare.hpp"
#include "golden_gpt2.hpp"

namespace {
using namespace wsl;
using ml::optimizer;

// The rules once more, number by number in f64.
struct plain {
  f64 w, first = 0, second = 0;
  void step(const optimizer& o, f64 g, f64 rate, int t) {
    const f64 beta1 = static_cast<f64>(o.momentum), beta2 = static_cast<f64>(o.second),
              decay = static_cast<f64>(o.decay);
    if (o.how == optimizer::kind::adamw) w -= rate * decay * w;
    else g += decay * w;
    if (o.how == optimizer::kind::sgd) {
      first = t == 1 ? g : beta1 * first + g;
      w -= rate * first;
      return;
    }
    first = beta1 * first + (1 - beta1) * g;
    second = beta2 * second + (1 - beta2) * g * g;
    w -= rate * (first / (1 - std::pow(beta1, t))) /
         (std::sqrt(second / (1 - std::pow(beta2, t))) + static_cast<f64>(o.epsilon));
  }
};

TEST_CASE("Optimizers follow their rules") {
  for (const optimizer& o :
       {optimizer::sgd(), optimizer::sgd(0.9f, 0.01f), optimizer::adam(),
        optimizer::adam(0.8f, 0.95f, 1e-6f, 0.1f), optimizer::adamw(0.9f, 0.95f, 1e-8f, 0.1f)}) {
    constexpr int n = 37;
    compare::both w(1, n, 1), first(1, n), second(1, n);
    std::vector<plain> exact;
    for (f64 v : w.exact) exact.push_back({v});
    for (int t = 1; t <= 20; ++t) {
      compare::both g(1, n, static_cast<unsigned>(10 + t));
      ml::update(o, w.single.data(), {first.single.data(), second.single.data()}, g.single.data(), 0.5f,
                 0.01f, true, t, n);
      for (std::size_t i = 0; i < n; ++i)
        exact[i].step(o, 0.5 * g.exact[i], static_cast<f64>(0.01f), t), w.exact[i] = exact[i].w;
    }
    CHECK(compare::error(w) < 2e-6);
  }
}

TEST_CASE("Which parameters decay") {
  const ml::parameter matrix{"a.weight", 3, 4, {}}, bias{"a.bias", 1, 4, {}}, gain{"n.gain", 1, 4, {}},
      row{"b.weight", 1, 4, {}};
  using ml::decays;
  CHECK((does_decay(decays::all, bias) && does_decay(decays::all, matrix)));
  CHECK((does_decay(decays::matrices, matrix) && !does_decay(decays::matrices, row) &&
         !does_decay(decays::matrices, gain)));
  CHECK((does_decay(decays::not_bias_or_norm, row) && !does_decay(decays::not_bias_or_norm, bias) &&
         !does_decay(decays::not_bias_or_norm, gain)));
}

TEST_CASE("Operations of a model, as they are counted by hand") {
  // 2 layers of width 16 over 8 tokens: a block has 12 matrices of 16 x 16 and a bias for each output, two
  // norms, attention, gelu, two sums.
  const ml::decoder d{.vocabulary = 37, .positions = 12, .layers = 2, .heads = 2, .width = 16};
  constexpr f64 block =
      6 * 12 * 16 * 16 + 2 * (48 + 16 + 64 + 16) + 2 * 30 * 16 + 7 * 8 * 16 + 10 * 64 + 2 * 10 * 16;
  // tables, the last norm, the head, the loss
  constexpr f64 around = 3 * 10 * 16 + 30 * 16 + 6 * 37 * 16 + 10 * 37;
  CHECK(ml::operations_per_token(d.build(), 8) == 2 * block + around);
}

TEST_CASE("Clipping") {
  CHECK(ml::clip_by_norm(0.25, 1) == 1);
  CHECK(ml::clip_by_norm(16, 1) == Approx(0.25).epsilon(1e-6));
}

TEST_CASE("Learning rates") {
  using namespace ml::rate;
  CHECK(constant(3)(1000) == 3);
  CHECK(linear(0, 6e-4, 1600)(400) == Approx(1.5e-4));
  CHECK(linear(0, 6e-4, 1600)(1700) == 6e-4);
  CHECK(polynomial(1, 0, 10, 2)(5) == Approx(0.25));
  CHECK(cosine(1, 0.1, 100)(0) == 1);
  CHECK(cosine(1, 0.1, 100)(50) == Approx(0.55));
  CHECK(cosine(1, 0.1, 100)(1000) == Approx(0.1));
  CHECK(exponential_decay(1, 0.5, 10)(20) == 0.25);
  CHECK(exponential_decay(1, 0.5, 10, true)(19) == 0.5);
  CHECK(inverse_square_root(1, 2, 100)(50) == Approx(0.2));
  CHECK(inverse_square_root(1, 2, 100)(400) == Approx(0.1));
  CHECK(multi_step(1, 0.1, {10, 20})(15) == Approx(0.1));
  const ml::rate::schedule both = sequence({{1600, linear(0, 6e-4, 1600)}, {0, linear(6e-4, 0, 150000)}});
  CHECK(both(800) == Approx(3e-4));
  CHECK(both(1600) == 6e-4);
  CHECK(both(76600) == Approx(3e-4));
  CHECK_THROWS_WITH(sequence({}), "wsl: a sequence of learning rates has at least one phase");
  CHECK(inverse_time(1, 0.5, 4)(6) == Approx(1 / 1.75));
  CHECK(inverse_time(1, 0.5, 4, 2, true)(3) == 0.5);  // floor(9 / 4) = 2
  CHECK(piecewise_constant({3, 2, 1}, {10, 15})(9) == 3);
  CHECK(piecewise_constant({3, 2, 1}, {10, 15})(10) == 2);
  CHECK(piecewise_constant({3, 2, 1}, {10, 15})(1000) == 1);
  CHECK_THROWS_WITH(piecewise_constant({1}, {10}),
                    "wsl: 1 milestones lie between one learning rate more, not between 1");
  CHECK_THROWS_WITH(piecewise_constant({3, 2, 1}, {10, 10}),
                    "wsl: milestones of learning rates rise, but 10 follows 10");
}

// Values of torch.optim.lr_scheduler (PyTorch 1.13) with a base rate of 1.
TEST_CASE("Learning rates that go in cycles are those of PyTorch") {
  using namespace ml::rate;
  using heights = cycle_heights::kind;
  const auto check = [](const ml::rate::schedule& rate, std::initializer_list<std::pair<i64, f64>> values) {
    for (auto [t, wanted] : values) {
      INFO("step " << t);
      CHECK(rate(t) == Approx(wanted).epsilon(1e-9));
    }
  };
  check(exponential_decay(1, 0.5, 7, true), {{0, 1}, {6, 1}, {7, 0.5}, {20, 0.25}});  // StepLR
  check(exponential_decay(1, 0.9, 1), {{3, 0.729}, {10, 0.3486784401}});              // MultiplicativeLR
  check(cosine_annealing(1, 0.1, 10),
        {{0, 1}, {3, 0.8145033635316129}, {10, 0.1}, {13, 0.2854966364683871}, {25, 0.55}});
  check(warm_restarts(1, 0.1, 10), {{3, 0.8145033635316129}, {9, 0.12202456766718092}, {10, 1}, {25, 0.55}});
  check(cyclic(0.1, 1, 4, 6), {{0, 0.1}, {3, 0.775}, {4, 1}, {7, 0.55}, {10, 0.1}, {14, 1}, {23, 0.775}});
  check(cyclic(0.1, 1, 4, 6, {heights::halved}), {{7, 0.55}, {14, 0.55}, {23, 0.26875}});
  check(cyclic(0.1, 1, 4, 6, {heights::shrinking, 0.9}),
        {{3, 0.592075}, {4, 0.69049}, {7, 0.315233605}, {14, 0.305891132094649}, {23, 0.15982483230765437}});
  check(one_cycle(0.04, 1, 20), {{0, 0.04},
                                 {3, 0.6683281572999747},
                                 {5, 1},
                                 {6, 0.9874640062350873},
                                 {12, 0.500002},
                                 {19, 4e-6},
                                 {30, 4e-6}});
  check(one_cycle(0.04, 1, 20, {.straight = true}), {{3, 0.616}, {6, 0.9285717142857143}, {12, 0.500002}});
  check(one_cycle(0.04, 1, 20, {.three_phases = true}),
        {{3, 0.6683281572999747}, {8, 0.37167184270002523}, {12, 0.03532135677349332}, {19, 4e-6}});
  check(chained(1, {exponential_decay(1, 0.9, 1), exponential_decay(1, 0.5, 4, true)}),
        {{3, 0.729}, {5, 0.295245}, {10, 0.087169610025}});
  CHECK_THROWS_WITH(warm_restarts(1, 0, 0),
                    "wsl: a learning rate restarts after at least one step, not after 0");
  CHECK_THROWS_WITH(
      cyclic(0, 1, 3, 0),
      "wsl: a cycle of learning rates goes up and down in at least one step each, not in 3 and 0");
  CHECK_THROWS_WITH(one_cycle(0.1, 1, 3),
                    "wsl: a cycle of 3 learning rates is too short to rise for 0.3 of it");
}

TEST_CASE("Ten steps of the golden GPT-2") {
  const auto g = golden::load();
  if (!g) {
    WARN("no golden GPT-2 in WSL_DATA_DIR");
    return;
  }
  const ml::network n = g->config.build();
  ml::weights w = golden::weights_of(*g, n, g->parameters), first(n), second(n);
  ml::batch b{.ids = g->ids, .targets = g->targets, .sequences = g->sequences, .length = g->length};
  check(n, b);
  ml::activation_store at = store_of(n, b);
  for (int t = 1; t <= 10; ++t) {
    ml::weights d(n);
    CHECK(serial_forward(n, w, at) / at.tokens() == Approx(golden::losses[t - 1]).epsilon(1e-6));
    serial_backward(n, w, d, at);
    for (std::size_t k = 0; k < w.size(); ++k)
      ml::update(optimizer::adamw(), w[k].data(), {first[k].data(), second[k].data()}, d[k].data(), 1, 1e-3f,
                 true, t, static_cast<int>(w[k].size()));
  }
  golden::check_after_ten_steps(*g, n, w);
}

}  // namespace
