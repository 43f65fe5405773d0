// SPDX-License-Identifier: MIT
#include <set>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using ml::optimizer;
using ml::precision;

constexpr precision all_precisions[] = {precision::f32, precision::bfloat16, precision::float16,
                                        precision::cbfloat16};

f32 rounded(precision p, f32 x) {
  return ml::with_number(p, [&]<class T>(std::type_identity<T>) { return static_cast<f32>(T(x)); });
}

TEST_CASE("Weights travel as words of one f32 or of two 16-bit numbers") {
  for (const precision p : all_precisions)
    for (int n : {0, 1, 2, 7, 64, 1101}) {
      compare::both x(1, n, 5);
      std::vector<f32> room, wide, in_place = x.single;
      const auto words = ml::pack(p, x.single, room);
      CHECK(words.size() == static_cast<std::size_t>(p == precision::f32 ? n : (n + 1) / 2));
      const f32* back = ml::unpack(p, words.data(), x.single.size(), wide);
      ml::round_to(p, in_place.data(), n);
      for (std::size_t i = 0; i < x.single.size(); ++i) {
        CHECK(back[i] == rounded(p, x.single[i]));
        CHECK(in_place[i] == back[i]);
      }
    }
}

// A model all of whose sums are exact in f32, so that the order in which they are made plays no part: inputs
// are quarters and weights eighths. Its values and gradients have more digits than the 16-bit formats.
struct exact_model {
  static constexpr int from = 3, middle = 5, to = 4, tokens = 8;
  std::vector<f32> x, y, first, second;

  exact_model() {
    std::mt19937 random(3);
    const auto numbers = [&](int n, int end, f32 unit) {
      std::vector<f32> all;
      for (int i = 0; i < n; ++i)
        all.push_back(
            unit * static_cast<f32>(static_cast<int>(random() % static_cast<unsigned>(2 * end + 1)) - end));
      return all;
    };
    x = numbers(tokens * from, 8, 0.25f), y = numbers(tokens * to, 15, 1);
    first = numbers(middle * from, 8, 0.125f), second = numbers(to * middle, 8, 0.125f);
  }
  ml::network build() const {
    ml::network n;
    int h = n.linear("first", n.input("x", from), middle, false, {});
    h = n.activation<ml::relu>("relu", h);
    n.mean_squared_error("loss", n.linear("second", h, to, false, {}), {.targets = n.target("y", to)});
    return n;
  }
  ml::batch batch() const {
    ml::batch b{.sequences = tokens};
    b.named = {{"x", std::span<const f32>(x)}, {"y", std::span<const f32>(y)}};
    return b;
  }
  /// The loss, and the weights after a step of plain descent at a rate of 1/4, by loops over single numbers.
  f64 step(precision p, f32 scale) {
    const auto r = [p](f32 v) { return rounded(p, v); };
    std::vector<f32> d_first(first.size()), d_second(second.size());
    f64 loss = 0;
    for (int t = 0; t < tokens; ++t) {
      f32 h[middle], a[middle], d_out[to], d_a[middle]{};
      for (int j = 0; j < middle; ++j) {
        h[j] = 0;
        for (int i = 0; i < from; ++i) h[j] += r(first[at(j, i, from)]) * r(x[at(t, i, from)]);
        h[j] = r(h[j]), a[j] = r(std::max(0.f, h[j]));
      }
      for (int k = 0; k < to; ++k) {
        f32 out = 0;
        for (int j = 0; j < middle; ++j) out += r(second[at(k, j, middle)]) * a[j];
        const f32 off = r(out) - y[at(t, k, to)];
        loss += f64{off} * f64{off};
        d_out[k] = r(scale * 2 * off / (tokens * to));
        for (int j = 0; j < middle; ++j) {
          d_second[at(k, j, middle)] += d_out[k] * a[j];
          d_a[j] += d_out[k] * r(second[at(k, j, middle)]);
        }
      }
      for (int j = 0; j < middle; ++j) {
        const f32 d_h = h[j] > 0 ? r(d_a[j]) : 0;
        for (int i = 0; i < from; ++i) d_first[at(j, i, from)] += d_h * r(x[at(t, i, from)]);
      }
    }
    for (std::size_t i = 0; i < first.size(); ++i) first[i] -= 0.25f * (d_first[i] / scale);
    for (std::size_t i = 0; i < second.size(); ++i) second[i] -= 0.25f * (d_second[i] / scale);
    return loss / (tokens * to);
  }
  static std::size_t at(int row, int column, int columns) {
    return static_cast<std::size_t>(row * columns + column);
  }
};

TEST_CASE(
    "A step in each format rounds where a loop over numbers does, bit for bit, on any grid and in any "
    "pipeline") {
  std::set<std::vector<f32>> results;
  for (const precision p : all_precisions) {
    for (const f64 scale : {1., 16.}) {
      exact_model expected;
      const f64 loss = expected.step(p, static_cast<f32>(scale));
      const auto check = [&](auto t) {
        const exact_model m;
        std::ranges::copy(m.first, t.parameter_named("first.weight").begin());
        std::ranges::copy(m.second, t.parameter_named("second.weight").begin());
        CHECK(t.step(m.batch(), 0.25) == Approx(loss).epsilon(1e-12));
        CHECK(std::ranges::equal(t.parameter_named("first.weight"), expected.first));
        CHECK(std::ranges::equal(t.parameter_named("second.weight"), expected.second));
      };
      for (const auto& [workers, columns, num_csx] :
           {std::array{1, 1, 1}, {3, 1, 1}, {2, 2, 1}, {4, 2, 1}, {2, 1, 2}}) {
        INFO(ml::name_of(p) << ", " << workers << " workers in " << columns << " columns on " << num_csx);
        check(ml::trainer(exact_model().build(), optimizer::sgd(),
                          {.workers = workers,
                           .columns = columns,
                           .num_csx = num_csx,
                           .precision = p,
                           .loss_scaling = scale}));
      }
      for (const auto& [strips, replicas, size] :
           {std::array{1, 1, 0}, {1, 2, 1}, {3, 1, 8}, {4, 2, 2}, {9, 1, 3}}) {
        INFO(ml::name_of(p) << ", " << replicas << " pipelines of " << strips << ", " << size);
        const ml::pipeline_settings how{.strips = strips,
                                        .replicas = replicas,
                                        .micro_batch_size = size,
                                        .precision = p,
                                        .loss_scaling = scale};
        check(ml::pipelined_trainer(exact_model().build(), optimizer::sgd(), how));
        if (replicas > 1) continue;
        const exact_model m;
        ml::pipelined_trainer t(m.build(), optimizer::sgd(), how);
        std::ranges::copy(m.first, t.parameter_named("first.weight").begin());
        std::ranges::copy(m.second, t.parameter_named("second.weight").begin());
        CHECK(t.evaluate(m.batch()) == Approx(loss).epsilon(1e-12));
      }
      results.insert(expected.second);
    }
  }
  CHECK(results.size() == 4);  // each format has its own, whatever the scale
}

// A loss of 1 for each batch, whose gradient is 1 or infinite.
class chosen_loss final : public ml::loss_stage {
 public:
  explicit chosen_loss(const bool* overflows) : overflows_(overflows) {}
  f64 loss(ml::activation_store& store, f32 weight) const override {
    const matrix<f32> x = store.value(inputs[0]), d = store.gradient(inputs[0]);
    for (int t = 0; t < x.rows(); ++t) d(t, 0) += *overflows_ ? INFINITY : weight;
    return 1;
  }

 private:
  const bool* overflows_;
};
ml::network descending(const bool* overflows) {
  ml::network n;
  const int y = n.linear("line", n.input("x", 1), 1, false, ml::initial::constant(1));
  n.loss("loss", chosen_loss(overflows), {y});
  return n;
}

TEST_CASE("A dynamic loss scale skips a step that overflows, and changes as the golden table says") {
  bool overflows = false;
  const std::vector<f32> x{1};
  ml::batch b{.sequences = 1};
  b.named = {{"x", std::span<const f32>(x)}};
  // The gradients are 1: clipping makes half of them, whatever their scale.
  for (const auto& [rule, norm, value] : {std::tuple(optimizer::sgd({.momentum = 0.5f}), 0., 0.),
                                          {optimizer::sgd({.momentum = 0.5f}), 0.5, 0.},
                                          {optimizer::sgd({.momentum = 0.5f}), 0., 0.5},
                                          {optimizer::adamw(), 0., 0.}}) {
    const ml::streaming_settings how{
        .clip_norm = norm,
        .clip_value = value,
        .precision = precision::float16,
        .loss_scaling = ml::grad_scaler_settings{.initial = 16, .largest = 64, .steps_per_increase = 3}};
    ml::trainer t(descending(&overflows), rule, how),
        whole(descending(&overflows), rule, {.clip_norm = norm, .clip_value = value});
    ml::pipelined_trainer piped(descending(&overflows), rule,
                                {.strips = 2,
                                 .clip_norm = norm,
                                 .clip_value = value,
                                 .precision = how.precision,
                                 .loss_scaling = how.loss_scaling});
    const auto numbers = [](ml::trainer_base& of) {
      std::vector<std::vector<f32>> all;
      for (const ml::state_array& a : of.state()) all.emplace_back(a.numbers.begin(), a.numbers.end());
      return all;
    };
    struct row {
      char what;
      f64 scale;
      i64 since;
    };
    i64 steps = 0, skipped = 0;
    // the table of tests/unit/ml/optim.cpp
    for (const row& expected : {row{'f', 16, 1},
                                {'f', 16, 2},
                                {'f', 16, 3},
                                {'f', 32, 0},
                                {'x', 16, 0},
                                {'x', 8, 0},
                                {'f', 8, 1},
                                {'x', 4, 0},
                                {'f', 4, 1}}) {
      overflows = expected.what == 'x';
      const auto before = numbers(t);
      CHECK(t.step(b, 0.25) == 1);
      if (overflows) CHECK(numbers(t) == before);
      else {
        CHECK(numbers(t) != before);
        whole.step(b, 0.25);  // one without a scale, which skips nothing
      }
      CHECK(numbers(t) == numbers(whole));
      CHECK(piped.step(b, 0.25) == 1);
      CHECK(numbers(piped) == numbers(t));
      CHECK(piped.position().loss_scale == t.position().loss_scale);
      skipped += overflows;
      CHECK(t.steps() == ++steps);
      CHECK(t.loss_scale() == expected.scale);
      CHECK(t.loss_scale_state() == ml::grad_scaler_state{expected.scale, expected.since, 0, skipped});
    }
    // Another trainer goes on from there.
    ml::trainer later(descending(&overflows), rule, how);
    const auto from = t.state(), to = later.state();
    for (std::size_t k = 0; k < to.size(); ++k) std::ranges::copy(from[k].numbers, to[k].numbers.begin());
    later.resume(t.position());
    for (const bool o : {false, true, false}) {
      overflows = o;
      t.step(b, 0.25), later.step(b, 0.25);
      CHECK(numbers(later) == numbers(t));
      CHECK(later.position() == t.position());
    }
  }
}

TEST_CASE("A loss scale that cannot help ends the run, and one that makes no sense is refused") {
  bool overflows = true;
  const std::vector<f32> x{1}, lost{std::nanf("")};
  ml::batch b{.sequences = 1}, with_nan{.sequences = 1};
  b.named = {{"x", std::span<const f32>(x)}}, with_nan.named = {{"x", std::span<const f32>(lost)}};
  const auto trainer = [&](const ml::loss_scaling_factor& by) {
    return ml::trainer(descending(&overflows), optimizer::sgd(),
                       {.precision = precision::float16, .loss_scaling = by});
  };
  ml::trainer t = trainer(ml::grad_scaler_settings{.initial = 2, .smallest = 1});
  CHECK(t.step(b, 1) == 1);
  const ml::training_position before = t.position();
  CHECK_THROWS_WITH(t.step(b, 1),
                    Catch::StartsWith("wsl: the loss scale would fall to 0.5, below its smallest value 1"));
  CHECK(t.position() == before);
  ml::trainer fixed = trainer(1024.);
  CHECK_THROWS_WITH(fixed.step(b, 1), Catch::Contains("the gradient of line.weight is not finite") &&
                                          Catch::Contains("the loss is multiplied by 1024: take a smaller"));
  CHECK_THROWS_WITH(trainer(0.), "wsl: a loss is scaled by a positive finite number, not by 0");
  CHECK_THROWS_WITH(trainer(1e39),
                    Catch::StartsWith("wsl: a loss is scaled by a positive finite number, not by"));
  CHECK_THROWS_WITH(trainer(ml::grad_scaler_settings{.initial = 0}),
                    Catch::StartsWith("wsl: a loss scale begins"));
}

TEST_CASE("float16 scales its loss by itself, and so learns from gradients that it would lose") {
  CHECK(ml::trainer(descending(nullptr), optimizer::sgd(), {.precision = precision::float16}).loss_scale() ==
        32768);
  for (const precision p : {precision::f32, precision::bfloat16, precision::cbfloat16}) {
    const ml::trainer t(descending(nullptr), optimizer::sgd(), {.precision = p});
    CHECK(t.loss_scale() == 1);
    CHECK(!t.loss_scale_state());
  }
  // 2^-26 is less than half of the smallest f16.
  bool overflows = false;
  const std::vector<f32> x{1};
  for (const auto& [scale, moved] : {std::pair(1., 0.f), {1024., 0x1p-26f}}) {
    ml::network n;
    const int y = n.linear("line", n.input("x", 1), 1, false, ml::initial::constant(1));
    n.loss("loss", chosen_loss(&overflows), {y}, -1, 0x1p-26f);
    ml::trainer t(std::move(n), optimizer::sgd(), {.precision = precision::float16, .loss_scaling = scale});
    ml::batch b{.sequences = 1};
    b.named = {{"x", std::span<const f32>(x)}};
    t.step(b, 4);
    CHECK(t.parameter_named("line.weight")[0] == 1 - 4 * moved);
  }
}

}  // namespace
