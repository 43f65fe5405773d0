// SPDX-License-Identifier: MIT
// Each operation beside its plain f64 reference, forward and back, and each reference's way back beside
// finite differences.
#include <wsl/ml/op/activation.hpp>
#include <wsl/ml/op/attention.hpp>
#include <wsl/ml/op/norm.hpp>
#include <wsl/ml/op/position.hpp>
#include <wsl/ml/op/reference.hpp>
#include <wsl/ml/op/rows.hpp>
#include <wsl/ml/op/softmax.hpp>

#include <complex>

#include "compare.hpp"

namespace {
using namespace wsl;
using compare::both, compare::error, compare::gradient_error, compare::weighed;
namespace plain = ml::reference;

constexpr f64 close = 2e-6, differences = 1e-8;

template <class Fast, class Plain>
void check_activation(f64 range) {
  both x(7, 61, 1, range), y(7, 61), dy(7, 61, 2), dx(7, 61, 3);
  ml::activate<Fast>(y.s(), x.s());
  both set(7, 61, 4), zero(7, 61);
  ml::activate_backward<Fast>(set.s(), dy.s(), x.s(), true);  // as if it had been zero
  ml::activate_backward<Fast>(zero.s(), dy.s(), x.s());
  CHECK(set.single == zero.single);
  ml::activate_backward<Fast>(dx.s(), dy.s(), x.s());
  std::vector<f64> gradient;
  for (std::size_t i = 0; i < x.exact.size(); ++i) {
    y.exact[i] = Plain::value(x.exact[i]);
    gradient.push_back(Plain::slope(x.exact[i]));
    dx.exact[i] += dy.exact[i] * gradient[i];
  }
  CHECK(error(y) < close);
  CHECK(error(dx) < close);
  const auto sum = [&] {
    f64 total = 0;
    for (f64 v : x.exact) total += Plain::value(v);
    return total;
  };
  CHECK(gradient_error(sum, x.exact, gradient) < 1e-7);
}

TEST_CASE("Activations") {
  for (f64 range : {1., 5.}) {
    check_activation<ml::relu, plain::relu>(range);
    check_activation<ml::gelu, plain::gelu>(range);
    check_activation<ml::gelu_tanh, plain::gelu_tanh>(range);
    check_activation<ml::silu, plain::silu>(range);
    check_activation<ml::quick_gelu, plain::quick_gelu>(range);
  }
}

/// Each of 1 to 70 numbers in turn is a NaN, so that whole vectors and what is left of them are covered.
template <class F>
void check_not_swallowed() {
  for (int n = 1; n <= 70; ++n) {
    std::vector<f32> x(static_cast<std::size_t>(n), 0.5f), y(x), dx(x), dy(x), gate(x), dgate(x);
    const auto all = [n](std::vector<f32>& v) { return matrix<f32>(v.data(), 1, n); };
    const auto k = static_cast<std::size_t>(n % 2 ? n - 1 : n / 2);
    x[k] = std::nanf("");
    ml::activate<F>(all(y), all(x));
    ml::activate_backward<F>(all(dx), all(dy), all(x));
    const auto only = [&](const std::vector<f32>& v) {
      bool right = true;
      for (std::size_t i = 0; i < v.size(); ++i) right = right && std::isnan(v[i]) == (i == k);
      return right;
    };
    CHECK(only(y));
    // Of relu the slope at a NaN is 1: the gradient that arrives goes on, as in PyTorch.
    if (!std::is_same_v<F, ml::relu>) CHECK(only(dx));
    ml::gate<F>(all(y), all(gate), all(x));
    CHECK(only(y));
    ml::gate_backward<F>(all(dx), all(dgate), all(dy), all(gate), all(x));
    CHECK(only(dx));
  }
}

TEST_CASE("Activations hand a NaN on, and all_finite finds it") {
  check_not_swallowed<ml::relu>();
  check_not_swallowed<ml::gelu>();
  check_not_swallowed<ml::gelu_tanh>();
  check_not_swallowed<ml::silu>();
  for (int n = 1; n <= 70; ++n)
    for (const f32 bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      std::vector<f32> x(static_cast<std::size_t>(n), 3e38f);
      CHECK(ml::all_finite(x.data(), n));
      x[static_cast<std::size_t>(n / 2)] = bad;
      CHECK(!ml::all_finite(x.data(), n));
    }
}

TEST_CASE("The functions of one number are as exact as they say") {
  f64 of_exponential = 0, of_sigmoid = 0, of_normal = 0, of_tail = 0;
  for (f32 x = -87; x < 88; x += 1e-3f) {
    const f64 z = static_cast<f64>(x);
    of_exponential =
        std::max(of_exponential, std::abs(static_cast<f64>(ml::exponential(x)) / std::exp(z) - 1));
    of_sigmoid = std::max(of_sigmoid, std::abs(static_cast<f64>(ml::sigmoid(x)) * (1 + std::exp(-z)) - 1));
    const f64 below = std::erfc(-z / std::sqrt(2.)) / 2,
              d = std::abs(static_cast<f64>(ml::normal_cdf(x)) - below);
    (x > -6 ? of_normal : of_tail) = std::max(x > -6 ? of_normal : of_tail, x > -6 ? d / below : d);
  }
  CHECK(of_exponential < 3e-7);
  CHECK(of_sigmoid < 3e-7);
  CHECK(of_normal < 2e-6);
  CHECK(of_tail < 1e-14);
  f64 of_root = 0;
  for (f32 x = 1e-36f; x < 1e36f; x *= 1.001f)
    of_root = std::max(of_root,
                       std::abs(static_cast<f64>(ml::square_root(x)) / std::sqrt(static_cast<f64>(x)) - 1));
  CHECK(of_root < 3e-7);
  CHECK(ml::square_root(0) == 0);
  CHECK(ml::square_root(-0.f) == 0);  // what is left of a variance by rounding
  CHECK(ml::exponential(-1e30f) == 0);
  CHECK(ml::exponential(0) == 1);
}

TEST_CASE("A gate") {
  both x(5, 37, 1), g(5, 37, 2), y(5, 37), dy(5, 37, 3), dx(5, 37, 4), dg(5, 37, 5);
  ml::gate<ml::silu>(y.s(), x.s(), g.s());
  ml::gate_backward<ml::silu>(dx.s(), dg.s(), dy.s(), x.s(), g.s());
  for (std::size_t i = 0; i < y.exact.size(); ++i) {
    y.exact[i] = x.exact[i] * plain::silu::value(g.exact[i]);
    dx.exact[i] += dy.exact[i] * plain::silu::value(g.exact[i]);
    dg.exact[i] += dy.exact[i] * x.exact[i] * plain::silu::slope(g.exact[i]);
  }
  CHECK(error(y) < close);
  CHECK(error(dx) < close);
  CHECK(error(dg) < close);
}

void check_norm(int tokens, int width, bool centred) {
  constexpr f64 epsilon = 1e-5;
  both x(tokens, width, 1, 3), gain(1, width, 2), bias(1, width, 3), y(tokens, width), dy(tokens, width, 4);
  both dx(tokens, width), dgain(1, width), dbias(1, width), set(tokens, width, 5), unused(1, width);
  std::vector<ml::norm_state> kept(static_cast<std::size_t>(tokens));
  if (centred) {
    ml::layernorm(y.s(), kept, x.s(), gain.single.data(), bias.single.data(), 1e-5f);
    ml::layernorm_backward(dx.s(), dgain.single.data(), dbias.single.data(), dy.s(), kept, x.s(),
                           gain.single.data());
    ml::layernorm_backward(set.s(), unused.single.data(), nullptr, dy.s(), kept, x.s(), gain.single.data(),
                           true);
  } else {
    ml::rmsnorm(y.s(), kept, x.s(), gain.single.data(), 1e-5f);
    ml::rmsnorm_backward(dx.s(), dgain.single.data(), dy.s(), kept, x.s(), gain.single.data());
    ml::rmsnorm_backward(set.s(), unused.single.data(), dy.s(), kept, x.s(), gain.single.data(), true);
  }
  CHECK(set.single == dx.single);  // whatever it was
  const auto forward = [&] {
    plain::norm<f64>(y.e(), x.e(), gain.exact.data(), centred ? bias.exact.data() : nullptr, epsilon,
                     centred);
    return weighed(y.exact, dy.exact);
  };
  forward();
  plain::norm_backward<f64>(dx.e(), dgain.exact.data(), dbias.exact.data(), dy.e(), x.e(), gain.exact.data(),
                            epsilon, centred);
  CHECK(error(y) < close);
  CHECK(error(dx) < close);
  CHECK(error(dgain) < close);
  if (centred) CHECK(error(dbias) < close);
  CHECK(gradient_error(forward, x.exact, dx.exact) < differences);
  CHECK(gradient_error(forward, gain.exact, dgain.exact) < differences);
  if (centred) CHECK(gradient_error(forward, bias.exact, dbias.exact) < differences);
}

TEST_CASE("Norms") {
  for (bool centred : {true, false})
    for (int width : {5, 16, 33, 100}) check_norm(5, width, centred);
}

TEST_CASE("Softmax") {
  for (int width : {1, 2, 15, 16, 17, 65}) {
    both x(6, width, 1, 4), y(6, width), dy(6, width, 2), dx(6, width);
    ml::softmax(y.s(), x.s());
    ml::softmax_backward(dx.s(), dy.s(), y.s());
    const auto forward = [&] {
      plain::softmax<f64>(y.e(), x.e());
      return weighed(y.exact, dy.exact);
    };
    forward();
    plain::softmax_backward<f64>(dx.e(), dy.e(), y.e());
    CHECK(error(y) < close);
    if (width > 1) CHECK(error(dx) < close);
    if (width > 1) CHECK(gradient_error(forward, x.exact, dx.exact) < differences);
  }
}

TEST_CASE("Cross-entropy with a mask") {
  constexpr int tokens = 9, classes = 65;
  both logits(tokens, classes, 1, 3);
  const std::vector<i32> target{0, 64, 3, 4, 4, 17, 30, 1, 2};
  const std::vector<f32> mask{1, 0, 1, 1, 0.5, 1, 0, 1, 1};
  const std::vector<f64> exact_mask(mask.begin(), mask.end());
  both gradient = logits;
  const f64 loss = ml::cross_entropy(gradient.s(), target, mask, 1 / 6.5f);
  const auto exact = [&] { return plain::cross_entropy<f64>(logits.e(), target, exact_mask); };
  CHECK(std::abs(loss / exact() - 1) < close);
  for (f32& g : gradient.single) g *= 6.5f;
  CHECK(gradient_error(exact, logits.exact,
                       std::vector<f64>(gradient.single.begin(), gradient.single.end())) < 1e-6);
  both again = logits;
  CHECK(ml::cross_entropy(again.s(), target, {}, 1) > loss);
  const std::vector<i32> wrong{0, 65, 3, 4, 4, 17, 30, 1, 2};
  CHECK_THROWS_WITH(ml::cross_entropy(again.s(), wrong, {}, 1), "wsl: token 1 has target 65 of 65 classes");
}

void check_attention(int tokens, int width, f64 slope, int window = 0) {
  const f64 scale = 1 / std::sqrt(width);
  const ml::scoring how{static_cast<f32>(scale), static_cast<f32>(slope), {}, window};
  // Queries, keys and values as a decoder has them: thirds of one row.
  both qkv(tokens, 3 * width, 1), d(tokens, 3 * width), y(tokens, width), dy(tokens, width, 2),
      weights(tokens, tokens);
  std::vector<f32> log_sum_exp(static_cast<std::size_t>(tokens));
  const auto third = [width](const auto& whole, int k) {
    return whole.part(0, k * width, whole.rows(), width);
  };
  ml::attention(y.s(), log_sum_exp, third(qkv.s(), 0), third(qkv.s(), 1), third(qkv.s(), 2), how);
  ml::attention_backward(third(d.s(), 0), third(d.s(), 1), third(d.s(), 2), dy.s(), y.s(), log_sum_exp,
                         third(qkv.s(), 0), third(qkv.s(), 1), third(qkv.s(), 2), how);
  both set(tokens, 3 * width, 3);  // whatever it was
  ml::attention_backward(third(set.s(), 0), third(set.s(), 1), third(set.s(), 2), dy.s(), y.s(), log_sum_exp,
                         third(qkv.s(), 0), third(qkv.s(), 1), third(qkv.s(), 2), how,
                         {.query = true, .keys = true});
  CHECK(set.single == d.single);
  const auto forward = [&] {
    plain::attention<f64>(y.e(), weights.e(), third(qkv.e(), 0), third(qkv.e(), 1), third(qkv.e(), 2), scale,
                          slope, window);
    return weighed(y.exact, dy.exact);
  };
  forward();
  plain::attention_backward<f64>(third(d.e(), 0), third(d.e(), 1), third(d.e(), 2), dy.e(), weights.e(),
                                 third(qkv.e(), 0), third(qkv.e(), 1), third(qkv.e(), 2), scale);
  CHECK(error(y) < close);
  CHECK(error(d) < close);
  if (tokens < 20) CHECK(gradient_error(forward, qkv.exact, d.exact) < differences);
}

TEST_CASE("Causal attention, in one block and in several") {
  for (int tokens : {1, 2, 7, 16, 64, 65, 150, 192})
    for (int width : {1, 8, 33}) check_attention(tokens, width, width == 8 ? 0.25 : 0);
}
TEST_CASE("Attention with a sliding window, within blocks and over several") {
  for (int tokens : {1, 7, 65, 150, 192})
    for (int window : {1, 5, 64, 65, 100, 500}) check_attention(tokens, 8, window == 5 ? 0.25 : 0, window);
}

// The queries of a sequence in parts, each with the keys up to its end: outputs and the gradients of queries
// are those of the parts, gradients of keys and values are added up.
TEST_CASE("Attention of a part of the queries does its part of the whole") {
  constexpr int tokens = 200, width = 8;
  both q(tokens, width, 1), k(tokens, width, 2), v(tokens, width, 3), dy(tokens, width, 4), y(tokens, width),
      dq(tokens, width), dk(tokens, width), dv(tokens, width);
  for (const int window : {0, 1, 30, 64, 100})
    for (const f32 dropout : {0.f, 0.3f}) {
      ml::scoring how{0.4f, 0.05f, ml::dropout_rule::with(dropout, 17), window};
      std::vector<f32> log_sum_exp(tokens);
      ml::attention(y.s(), log_sum_exp, q.s(), k.s(), v.s(), how);
      ml::attention_backward(dq.s(), dk.s(), dv.s(), dy.s(), y.s(), log_sum_exp, q.s(), k.s(), v.s(), how,
                             {.query = true, .keys = true});
      for (const std::vector<int>& borders : {std::vector{0, 64, 128, 200}, {0, 1, 70, 135, 136, 199, 200}}) {
        both part_y(tokens, width), part_dq(tokens, width), sum_dk(tokens, width), sum_dv(tokens, width);
        f64 difference = 0;
        for (std::size_t p = 0; p + 1 < borders.size(); ++p) {
          const int first = borders[p], count = borders[p + 1] - first, seen = borders[p + 1];
          const auto queries = [&](both& x) { return x.s().part(first, 0, count, width); };
          const auto keys = [&](both& x) { return x.s().part(0, 0, seen, width); };
          std::vector<f32> of_part(static_cast<std::size_t>(count));
          how.first_query = first;
          ml::attention(queries(part_y), of_part, queries(q), keys(k), keys(v), how);
          for (int t = 0; t < count; ++t)
            difference = std::max(
                difference, std::abs(static_cast<f64>(of_part[static_cast<std::size_t>(t)]) -
                                     static_cast<f64>(log_sum_exp[static_cast<std::size_t>(first + t)])));
          ml::attention_backward(queries(part_dq), keys(sum_dk), keys(sum_dv), queries(dy), queries(part_y),
                                 of_part, queries(q), keys(k), keys(v), how);
          // Setting gives what adding to zero gives, but for keys before the window of the first query.
          both set_dq(tokens, width, 5), set_dk(tokens, width, 6), set_dv(tokens, width, 7),
              dk_alone(tokens, width), dv_alone(tokens, width), dq_alone(tokens, width);
          ml::attention_backward(queries(set_dq), keys(set_dk), keys(set_dv), queries(dy), queries(part_y),
                                 of_part, queries(q), keys(k), keys(v), how, {.query = true, .keys = true});
          ml::attention_backward(queries(dq_alone), keys(dk_alone), keys(dv_alone), queries(dy),
                                 queries(part_y), of_part, queries(q), keys(k), keys(v), how);
          const auto differ = [&](both& a, both& b, int from, int end) {
            for (int t = from; t < end; ++t)
              for (int i = 0; i < width; ++i)
                difference = std::max(
                    difference, std::abs(static_cast<f64>(a.s()(t, i)) - static_cast<f64>(b.s()(t, i))));
          };
          differ(set_dq, dq_alone, first, seen);
          differ(set_dk, dk_alone, how.first_key(first), seen);
          differ(set_dv, dv_alone, how.first_key(first), seen);
        }
        how.first_query = 0;
        for (const auto& [part, whole] :
             {std::pair{&part_y, &y}, {&part_dq, &dq}, {&sum_dk, &dk}, {&sum_dv, &dv}})
          for (std::size_t i = 0; i < whole->single.size(); ++i)
            difference = std::max(
                difference, std::abs(static_cast<f64>(part->single[i]) - static_cast<f64>(whole->single[i])));
        INFO("window " << window << ", dropout " << dropout << ", " << borders.size() - 1 << " parts");
        CHECK(difference < 2e-5);
      }
    }
}

// Operands are given, weights and slopes of scores are rounded: each by half a unit of the format's last
// place.
TEMPLATE_TEST_CASE("Attention of 16-bit operands rounds its weights and nothing else", "", bf16, f16, cb16) {
  const f64 half_a_place = std::is_same_v<TestType, bf16>  ? 0x1p-9
                           : std::is_same_v<TestType, f16> ? 0x1p-12
                                                           : 0x1p-11;
  for (int tokens : {1, 7, 65, 150}) {
    constexpr int width = 24;
    both qkv(tokens, 3 * width, 1), d(tokens, 3 * width), y(tokens, width), dy(tokens, width, 2),
        weights(tokens, tokens);
    const auto rounded = [](both& x) {
      std::vector<TestType> numbers;
      for (std::size_t i = 0; i < x.single.size(); ++i) {
        numbers.push_back(TestType(x.single[i]));
        x.exact[i] = static_cast<f64>(static_cast<f32>(numbers.back()));
      }
      return numbers;
    };
    const std::vector<TestType> numbers = rounded(qkv), slopes = rounded(dy);
    const matrix<const TestType> all(numbers.data(), tokens, 3 * width), of_dy(slopes.data(), tokens, width);
    const auto third = [](const auto& whole, int k) { return whole.part(0, k * width, whole.rows(), width); };
    const ml::scoring how{0.2f};
    std::vector<f32> log_sum_exp(static_cast<std::size_t>(tokens));
    ml::attention(y.s(), log_sum_exp, third(all, 0), third(all, 1), third(all, 2), how);
    ml::attention_backward(third(d.s(), 0), third(d.s(), 1), third(d.s(), 2), of_dy, y.s(), log_sum_exp,
                           third(all, 0), third(all, 1), third(all, 2), how);
    plain::attention<f64>(y.e(), weights.e(), third(qkv.e(), 0), third(qkv.e(), 1), third(qkv.e(), 2),
                          static_cast<f64>(0.2f), 0);
    plain::attention_backward<f64>(third(d.e(), 0), third(d.e(), 1), third(d.e(), 2), dy.e(), weights.e(),
                                   third(qkv.e(), 0), third(qkv.e(), 1), third(qkv.e(), 2),
                                   static_cast<f64>(0.2f));
    INFO(tokens << " tokens");
    CHECK(error(y) < 3 * half_a_place);
    CHECK(error(d) < 8 * half_a_place);
    if (tokens > 1) CHECK(error(y) > half_a_place / 100);
  }
}

TEST_CASE("Attention that drops weights") {
  constexpr int tokens = 70, width = 4;
  both q(tokens, width, 1), k(tokens, width, 2), v(tokens, width, 3), y(tokens, width), dy(tokens, width, 4),
      dq(tokens, width), dk(tokens, width), dv(tokens, width), weights(tokens, tokens), kept(tokens, tokens);
  const ml::scoring how{0.5f, 0.1f, ml::dropout_rule::with(0.3f, 17)};
  std::vector<f32> log_sum_exp(tokens);
  ml::attention(y.s(), log_sum_exp, q.s(), k.s(), v.s(), how);
  ml::attention_backward(dq.s(), dk.s(), dv.s(), dy.s(), y.s(), log_sum_exp, q.s(), k.s(), v.s(), how);
  std::fill(kept.single.begin(), kept.single.end(), 1.f);
  for (int t = 0; t < tokens; ++t)
    ml::drop(kept.s().row(t), kept.s().row(t), how.drop.of_row(static_cast<u64>(t)), 0, tokens);
  const auto forward = [&] {
    plain::attention<f64>(y.e(), weights.e(), q.e(), k.e(), v.e(), 0.5, static_cast<f64>(0.1f));
    for (int t = 0; t < tokens; ++t)
      for (int i = 0; i < width; ++i) {
        y.e()(t, i) = 0;
        for (int s = 0; s <= t; ++s)
          y.e()(t, i) += weights.e()(t, s) * static_cast<f64>(kept.s()(t, s)) * v.e()(s, i);
      }
    return weighed(y.exact, dy.exact);
  };
  forward();
  CHECK(error(y) < close);
  const auto as_exact = [](const both& x) { return std::vector<f64>(x.single.begin(), x.single.end()); };
  CHECK(gradient_error(forward, q.exact, as_exact(dq)) < 5e-6);
  CHECK(gradient_error(forward, k.exact, as_exact(dk)) < 5e-6);
  CHECK(gradient_error(forward, v.exact, as_exact(dv)) < 5e-6);
}

TEST_CASE(
    "Dropout drops as often as it says, what it keeps has the same mean, and its way back drops the same") {
  constexpr int n = 100000;
  std::vector<f32> ones(n, 1), y(n), dx(n, 2), part(n);
  for (f32 p : {0.f, 0.1f, 0.5f, 0.9f}) {
    const ml::dropout_rule how = ml::dropout_rule::with(p, 5).of_row(3);
    ml::drop(y.data(), ones.data(), how, 0, n);
    const auto gone = static_cast<f64>(std::count(y.begin(), y.end(), 0.f)) / n;
    CHECK(gone == Approx(static_cast<f64>(p)).margin(0.005));
    CHECK(std::all_of(y.begin(), y.end(), [&](f32 v) { return v == 0 || v == 1 / (1 - p); }));
    std::fill(dx.begin(), dx.end(), 2.f);
    ml::drop_backward(dx.data(), ones.data(), how, 0, n);
    CHECK(std::equal(dx.begin(), dx.end(), y.begin(), [](f32 a, f32 b) { return a == b + 2; }));
    ml::drop(part.data(), ones.data(), how, 1000, 50);
    CHECK(std::equal(part.begin(), part.begin() + 50, y.begin() + 1000));
  }
  // Rows and neighbours have nothing to do with each other.
  const auto kept = [&](u64 row) {
    ml::drop(y.data(), ones.data(), ml::dropout_rule::with(0.5f, 5).of_row(row), 0, n);
    return y;
  };
  const std::vector<f32> a = kept(1), b = kept(2);
  f64 together = 0, in_a_row = 0;
  for (std::size_t i = 0; i + 1 < n; ++i)
    together += static_cast<f64>(a[i] * b[i]) / n, in_a_row += static_cast<f64>(a[i] * a[i + 1]) / n;
  CHECK(together == Approx(1).margin(0.02));
  CHECK(in_a_row == Approx(1).margin(0.02));
}

TEST_CASE("Positions: waves, turns and slopes") {
  const std::vector<f32> table = ml::sinusoids(50, 6);
  for (int t : {0, 1, 49})
    for (int i : {0, 2, 4}) {
      const f64 angle = t * std::pow(1e4, -i / 6.);
      CHECK(static_cast<f64>(table[static_cast<std::size_t>(t * 6 + i)]) ==
            Approx(std::sin(angle)).margin(1e-6));
      CHECK(static_cast<f64>(table[static_cast<std::size_t>(t * 6 + i + 1)]) ==
            Approx(std::cos(angle)).margin(1e-6));
    }
  // The published slopes of 4 heads, and for 6 those of every second of 8 after them.
  CHECK(ml::alibi_slopes(4) == std::vector<f32>{0.25f, 0.0625f, 0.015625f, 0.00390625f});
  CHECK(ml::alibi_slopes(6) == std::vector<f32>{0.25f, 0.0625f, 0.015625f, 0.00390625f, 0.5f, 0.125f});
  CHECK(ml::alibi_slopes(1) == std::vector<f32>{0.00390625f});
  for (const ml::pairs which : {ml::pairs::neighbours, ml::pairs::halves}) {
    both x(1, 8, 1), y(1, 8), dy(1, 8, 2), dx(1, 8);
    const ml::rotation turn(20, 8, 10000, which);
    turn.rotate(y.single.data(), x.single.data(), 7);
    turn.rotate_backward(dx.single.data(), dy.single.data(), 7);
    const auto forward = [&] {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t a = which == ml::pairs::neighbours ? 2 * i : i,
                          b = which == ml::pairs::neighbours ? 2 * i + 1 : i + 4;
        const std::complex<f64> z = std::complex(x.exact[a], x.exact[b]) *
                                    std::polar(1., 7 * std::pow(1e4, -2. * static_cast<f64>(i) / 8));
        y.exact[a] = z.real(), y.exact[b] = z.imag();
      }
      return weighed(y.exact, dy.exact);
    };
    forward();
    CHECK(error(y) < close);
    CHECK(gradient_error(forward, x.exact, std::vector<f64>(dx.single.begin(), dx.single.end())) < close);
  }
}

TEST_CASE("Rows: bias, sums, lookup and its way back") {
  both x(6, 35, 1), bias(1, 35, 2), sum(1, 35), table(10, 35, 3), y(6, 35);
  const std::vector<i32> which{3, 9, 3, 0, 3, 1};
  ml::look_up(y.s(), which, table.s());
  both grown = table;
  ml::add_at(grown.s(), which, x.s());
  for (int t = 0; t < 6; ++t)
    for (int i = 0; i < 35; ++i) {
      CHECK(y.s()(t, i) == table.s()(which[static_cast<std::size_t>(t)], i));
      grown.e()(which[static_cast<std::size_t>(t)], i) += x.e()(t, i);
      sum.e()(0, i) += x.e()(t, i);
    }
  CHECK(error(grown) < close);
  ml::add_sum_of_rows(sum.single.data(), x.s());
  CHECK(error(sum) < close);
  both moved = x;
  ml::add_to_rows(moved.s(), bias.single.data());
  for (int t = 0; t < 6; ++t)
    for (int i = 0; i < 35; ++i) CHECK(moved.s()(t, i) == x.s()(t, i) + bias.s()(0, i));
  const std::vector<i32> outside{10, 0, 0, 0, 0, 0};
  CHECK_THROWS_WITH(ml::look_up(y.s(), outside, table.s()), "wsl: row 10 is not in a table of (10, 35)");
}

}  // namespace
