// SPDX-License-Identifier: MIT
#include <fstream>
#include <map>
#include <sstream>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/operations.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/optim/grad_scaler.hpp>
#include <wsl/ml/optim/schedule.hpp>
#include <wsl/ml/optim/step.hpp>

#include "compare.hpp"
#include "golden_gpt2.hpp"

namespace {
using namespace wsl;

// A parameter that lies with several owners, each of which has some blocks of its rows and columns, and the
// arrays that a rule keeps for it. All blocks pass through the rounds of a step as in a trainer.
struct cut_parameter {
  ml::parameter_update of;
  int rows, columns;
  std::vector<f32> weights, average;
  std::vector<std::vector<f32>> kept;

  cut_parameter(const ml::parameter_update& u, int r, int c) : of(u), rows(r), columns(c) {
    const auto size = static_cast<std::size_t>(r) * static_cast<std::size_t>(c);
    weights.resize(size), average.resize(size);
    for (const ml::kept_array& a : of.kept({"w", r, c, {}}))
      kept.emplace_back(a.each == ml::kept_array::per::row      ? static_cast<std::size_t>(r)
                        : a.each == ml::kept_array::per::column ? static_cast<std::size_t>(c)
                                                                : size);
  }
  void step(ml::optimizer_step s, const std::vector<f32>& gradient,
            const std::vector<ml::parameter_block>& owners, f32 scale) {
    s.rounds = of.rounds();
    ml::parameter_sums whole;
    ml::whole_parameter p{rows, columns, {}};
    for (std::size_t a = 0; a < kept.size(); ++a) p.kept[a] = kept[a].data();
    for (int round = 0; round < s.rounds; ++round) {
      ml::parameter_sums all;
      for (const ml::parameter_block& b : owners) {
        // The gradients of a block lie together, the weights do not.
        std::vector<f32> mine;
        for (int i = 0; i < b.rows; ++i)
          for (int j = 0; j < b.columns; ++j)
            mine.push_back(gradient[static_cast<std::size_t>((b.row + i) * columns + b.column + j)]);
        ml::parameter_sums of_owner;
        s.update(of, part(b, mine), scale, round, whole, of_owner);
        all.add(of_owner);
      }
      if (round + 1 < s.rounds) s.combine(of, p, scale, round, all, whole);
    }
  }

 private:
  ml::parameter_part part(const ml::parameter_block& b, std::vector<f32>& gradient) {
    const i64 first = i64{b.row} * columns + b.column;
    ml::parameter_part x{.where = b,
                         .stride = columns,
                         .gradient_stride = b.columns,
                         .weights = weights.data() + first,
                         .gradients = gradient.data(),
                         .arrays = of.kept({"w", rows, columns, {}}),
                         .average = average.data() + first};
    for (std::size_t a = 0; a < kept.size(); ++a) {
      const auto each = x.arrays[static_cast<int>(a)].each;
      x.kept[a] = kept[a].data() + (each == ml::kept_array::per::row      ? b.row
                                    : each == ml::kept_array::per::column ? b.column
                                                                          : first);
    }
    return x;
  }
};

// The lines of golden/optimizers.txt: "case, step, parameter" and their numbers.
std::map<std::string, std::vector<f64>> golden_lines() {
  std::map<std::string, std::vector<f64>> all;
  std::ifstream in(golden_folder "/optimizers.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t end = line.rfind(", ");
    std::istringstream numbers(line.substr(end + 2));
    for (f64 x; numbers >> x;) all[line.substr(0, end)].push_back(x);
  }
  return all;
}

// Weights and gradients as golden/make_optimizers has them.
f32 weight_of(int k, int i) { return static_cast<f32>((i * 7919 + k * 271 + 13) % 2003 - 1001) / 1024; }
f32 gradient_of(int k, int i, int t) {
  if ((i + t) % 5 == 0 || (k == 1 && i < 6)) return 0;
  return static_cast<f32>((i64{i} * 104729 + i64{t} * 1299709 + k * 31 + 7) % 2003 - 1001) / 1024;
}

struct golden_case {
  const char* name;
  ml::optimizer rule;
  f64 rate;
  bool changes = true;
};
std::vector<golden_case> golden_cases() {
  using o = ml::optimizer;
  return {
      {"sgd", o::sgd(), 0.125},
      {"sgd decay", o::sgd({.momentum = 0, .decay = 0.1f}), 0.125},
      {"sgd momentum", o::sgd({.momentum = 0.9f, .decay = 0.01f}), 0.125},
      {"sgd dampening", o::sgd({.momentum = 0.9f, .dampening = 0.25f}), 0.125},
      {"sgd nesterov", o::sgd({.momentum = 0.9f, .decay = 0.1f, .nesterov = true}), 0.125},
      {"adam", o::adam(), 0.01},
      {"adam decay", o::adam({.beta1 = 0.8f, .beta2 = 0.95f, .epsilon = 1e-6f, .decay = 0.1f}), 0.01},
      {"adam amsgrad", o::adam({.beta1 = 0.8f, .beta2 = 0.9f, .decay = 0.1f, .amsgrad = true}), 0.01},
      {"adamw", o::adamw(), 0.01},
      {"adamw amsgrad", o::adamw({.beta2 = 0.95f, .decay = 0.1f, .amsgrad = true}), 0.01},
      {"adamax", o::adamax(), 0.01},
      {"adamax decay", o::adamax({.beta1 = 0.8f, .beta2 = 0.9f, .decay = 0.1f}), 0.01},
      {"nadam", o::nadam(), 0.01},
      {"nadam decay", o::nadam({0.8f, 0.95f, 1e-6f, 0.1f, 0.1f}), 0.01},
      {"radam", o::radam(), 0.01},
      {"radam decay", o::radam({.beta1 = 0.8f, .beta2 = 0.95f, .decay = 0.1f}), 0.01},
      {"rmsprop", o::rmsprop(), 0.01},
      {"rmsprop momentum", o::rmsprop({.alpha = 0.9f, .decay = 0.1f, .momentum = 0.9f}), 0.01},
      {"rmsprop centered", o::rmsprop({.alpha = 0.9f, .centered = true}), 0.01},
      {"rmsprop both", o::rmsprop({.decay = 0.1f, .momentum = 0.5f, .centered = true}), 0.01},
      {"adagrad", o::adagrad(), 0.01},
      {"adagrad decay", o::adagrad({.decay = 0.1f, .rate_decay = 0.1f, .initial = 0.5f}), 0.01},
      {"adadelta", o::adadelta(), 1},
      {"adadelta decay", o::adadelta({.rho = 0.8f, .epsilon = 1e-5f, .decay = 0.1f}), 1},
      {"asgd", o::asgd(), 0.125, false},
      {"asgd decay", o::asgd({.lambda = 0.05f, .alpha = 0.5f, .t0 = 3, .decay = 0.1f}), 0.125, false},
      {"rprop", o::rprop(), 0.01, false},
      {"rprop bounds", o::rprop({.shrink = 0.25f, .grow = 2, .smallest = 0.005f, .largest = 0.03f}), 0.01,
       false},
      {"lion", o::lion(), 0.01},
      {"lion decay", o::lion({0.8f, 0.9f, 0.1f}), 0.01},
      {"lamb", o::lamb(), 0.01},
      {"lamb decay", o::lamb({.beta1 = 0.8f, .beta2 = 0.95f, .decay = 0.1f}), 0.01},
      {"lamb zoo", o::lamb({.decay = 0.01f, .correct_bias = false, .largest_norm = 10}), 0.01},
      {"adafactor", o::adafactor(), 0.01},
      {"adafactor plain",
       o::adafactor({.clip_threshold = 0.5f,
                     .decay_rate = -0.5f,
                     .beta1 = 0.9f,
                     .decay = 0.1f,
                     .scale_parameter = false}),
       0.01},
      {"adafactor relative", o::adafactor({.decay = 0.01f, .relative_step = true}), 1, false},
      {"adafactor warmup", o::adafactor({.beta1 = 0.5f, .relative_step = true, .warmup_init = true}), 1,
       false},
  };
}

using cuts = std::vector<ml::parameter_block>;
/// A parameter in one block; in rows; in columns; and in uneven blocks of both.
std::vector<cuts> cuts_of(int rows, int columns) {
  std::vector<cuts> all{{{0, rows, 0, columns}}};
  cuts by_row, by_column;
  for (int i = 0; i < rows; ++i) by_row.push_back({i, 1, 0, columns});
  for (int j = 0; j < columns; j += 2) by_column.push_back({0, rows, j, std::min(2, columns - j)});
  all.push_back(by_row), all.push_back(by_column);
  if (rows > 1)
    all.push_back({{0, 1, 0, 3}, {0, 1, 3, columns - 3}, {1, rows - 1, 0, 4}, {1, rows - 1, 4, columns - 4}});
  return all;
}

// The expected numbers are those of PyTorch, or of a published formula (golden/make_optimizers), in f64 and
// printed with 8 digits.
TEST_CASE("Optimizers follow their formulas, in however many blocks a parameter lies") {
  constexpr std::pair<int, int> shapes[] = {{1, 7}, {5, 6}, {3, 11}};
  const auto golden = golden_lines();
  std::size_t compared = 0;
  for (const golden_case& c : golden_cases())
    for (int k = 0; k < 3; ++k) {
      const auto [rows, columns] = shapes[k];
      const ml::parameter p{.name = "w", .rows = rows, .columns = columns, .start = {}};
      for (const cuts& owners : cuts_of(rows, columns)) {
        INFO(c.name << ", parameter " << k << ", in " << owners.size() << " blocks");
        cut_parameter cut(ml::updates_of(c.rule, {p}).front(), rows, columns);
        for (int i = 0; i < rows * columns; ++i) cut.weights[static_cast<std::size_t>(i)] = weight_of(k, i);
        for (int t = 1; t <= 9; ++t) {
          std::vector<f32> g;
          for (int i = 0; i < rows * columns; ++i) g.push_back(4 * gradient_of(k, i, t));
          const f64 rate = c.changes ? c.rate * (1 + t % 3) : c.rate;
          cut.step({.rate = static_cast<f32>(rate), .number = t}, g, owners, 0.25f);
          const auto wanted =
              golden.find(std::string(c.name) + ", " + std::to_string(t) + ", " + std::to_string(k));
          if (wanted == golden.end()) continue;
          compare::both x(rows, columns);
          x.single = cut.weights, x.exact = wanted->second;
          CHECK(compare::error(x) < 1e-6);
          ++compared;
        }
      }
    }
  CHECK(compared == 37 * 2 * (3 + 4 + 4));
}

TEST_CASE("What an optimizer keeps of a parameter") {
  const ml::parameter matrix{"w", 3, 4, {}}, vector{"b", 1, 4, {}};
  const auto names = [](const ml::optimizer& o, const ml::parameter& p) {
    std::string all;
    for (const ml::kept_array& a : ml::updates_of(o, {p}).front().kept(p)) {
      all += (all.empty() ? "" : " ") + std::string(a.name);
      if (a.each == ml::kept_array::per::row) all += "(rows)";
      if (a.each == ml::kept_array::per::column) all += "(columns)";
    }
    return all;
  };
  using o = ml::optimizer;
  CHECK(names(o::sgd(), matrix) == "");
  CHECK(names(o::sgd({.momentum = 0.9f}), matrix) == "first");
  CHECK(names(o::adamw(), matrix) == "first second");
  CHECK(names(o::adam({.amsgrad = true}), matrix) == "first second largest");
  CHECK(names(o::rmsprop({.momentum = 0.9f, .centered = true}), matrix) == "second velocity first");
  CHECK(names(o::adafactor(), matrix) == "row(rows) column(columns)");
  CHECK(names(o::adafactor({.beta1 = 0.9f}), vector) == "second first");
}

TEST_CASE("Coefficients that make no sense") {
  const std::vector<ml::parameter> one{{"w", 3, 4, {}}};
  using o = ml::optimizer;
  const auto refuses = [&](const ml::optimizer& rule, const char* sentence) {
    CHECK_THROWS_WITH(ml::updates_of(rule, one), sentence);
  };
  refuses(o::sgd({.nesterov = true}),
          "wsl: Nesterov's form of sgd needs a momentum and no dampening, not 0 and 0");
  for (const ml::optimizer& rule : {o::sgd({.momentum = 2}), o::rmsprop({.momentum = 2})})
    refuses(rule, (std::string("wsl: ") + std::string(rule.name()) +
                   " has a momentum of at least 0 and at most 1, not 2")
                      .c_str());
  refuses(o::sgd().with_group({"w"}, {}),
          "wsl: the group of w gives no coefficient: set one of group_settings, or leave the group out");
  // A number alone is no coefficient: it would be taken for a learning rate.
  static_assert(
      !std::is_invocable_v<decltype([](auto x) -> decltype(o::adam(x)) { return o::adam(x); }), f32>);
  refuses(o::adam({.beta1 = 1}), "wsl: adam has a beta1 of at least 0 and below 1, not 1");
  refuses(o::lion({.beta2 = -1}), "wsl: lion has a beta2 of at least 0 and below 1, not -1");
  refuses(o::adafactor({.warmup_init = true}), "wsl: warmup_init of adafactor needs relative_step");
  refuses(o::adafactor({.decay_rate = 0.8f}),
          "wsl: adafactor has a negative decay_rate, an exponent of the step, not 0.8");
  refuses(o::adam().with_average({.decay = 1}),
          "wsl: an average of the weights has a decay of at least 0 and below 1 and starts after 0 or more "
          "steps, not 1 and 0");
  CHECK_THROWS_WITH(ml::update(o::lamb().rule, {}, {}),
                    "wsl: lamb needs sums over a whole parameter, not some of its numbers");
}

TEST_CASE("Groups of parameters have settings of their own") {
  std::vector<ml::parameter> all{{"a.weight", 3, 4, {}}, {"a.bias", 1, 4, {}}, {"head.weight", 3, 4, {}}};
  using o = ml::optimizer;
  const ml::optimizer rule = o::adamw({.beta2 = 0.95f, .decay = 0.1f})
                                 .with_decay_of(ml::decays::matrices)
                                 .with_group({"a.*"}, {.rate_factor = 0.5f, .beta2 = 0.99f})
                                 .with_group({"*.bias", "head.*"}, {.decay = 0.25f});
  const auto updates = ml::updates_of(rule, all);
  const auto adamw = [&](std::size_t k) { return std::get<ml::rules::adamw>(updates[k].rule); };
  CHECK((updates[0].rate_factor == 0.5f && updates[1].rate_factor == 0.5f && updates[2].rate_factor == 1));
  CHECK((adamw(0).beta2 == 0.99f && adamw(2).beta2 == 0.95f && adamw(0).beta1 == 0.9f));
  CHECK((adamw(0).decay == 0.1f && adamw(1).decay == 0.25f && adamw(2).decay == 0.25f));
  // The same value twice is no contradiction, and the factor of a network counts as one.
  all[2].rate_factor = 2;
  CHECK(ml::updates_of(rule.with_group({"head*"}, {.decay = 0.25f}), all)[2].rate_factor == 2);
  CHECK_THROWS_WITH(
      ml::updates_of(rule.with_group({"head*"}, {.rate_factor = 3}), all),
      "wsl: the learning rate factor of head.weight has two values, 2 and 3: the parameter is in "
      "two groups of the optimizer");
  CHECK_THROWS_WITH(
      ml::updates_of(rule.with_group({"*.weight"}, {.decay = 0}), all),
      "wsl: the weight decay of head.weight has two values, 0.25 and 0: the parameter is in two "
      "groups of the optimizer");
  CHECK_THROWS_WITH(ml::updates_of(rule.with_group({"a.*", "tail"}, {}), all),
                    "wsl: a group of the optimizer is for tail, and no parameter is called so; the first is "
                    "a.weight");
  CHECK_THROWS_WITH(ml::updates_of(o::sgd().with_group({"a.bias"}, {.beta1 = 0.5f}), all),
                    "wsl: a group gives a.bias a beta1, and the optimizer sgd has none");
  CHECK_THROWS_WITH(ml::updates_of(o::sgd().with_group({"a.bias"}, {.rate_factor = -1}), all),
                    "wsl: a factor of a learning rate is a number of at least 0, not -1");
}

TEST_CASE("An average follows the weights from a step on") {
  const ml::parameter p{.name = "w", .rows = 2, .columns = 3, .start = {}};
  cut_parameter cut(ml::updates_of(ml::optimizer::sgd(), {p}).front(), 2, 3);
  std::vector<f64> wanted(6);
  for (int t = 1; t <= 6; ++t) {
    cut.step({.rate = 0.5f, .number = t, .average = {.decay = 0.75f, .start = 3}},
             std::vector<f32>(6, static_cast<f32>(t)), cuts_of(2, 3)[1], 1);
    for (std::size_t i = 0; i < 6; ++i) {
      const f64 w = static_cast<f64>(cut.weights[i]);
      wanted[i] = t <= 3 ? w : 0.75 * wanted[i] + 0.25 * w;
      CHECK(cut.average[i] == Approx(wanted[i]).epsilon(1e-6));
    }
  }
  CHECK(cut.weights[0] != Approx(cut.average[0]));
}

// A table of steps: f is finite, x overflows. After each the scale, and the steps and overflows since it
// changed.
TEST_CASE("The loss scale follows the finite steps and the overflows") {
  struct line {
    char step;
    f64 scale;
    i64 steps, overflows;
  };
  const auto check = [](ml::grad_scaler_settings how, std::initializer_list<line> lines) {
    ml::grad_scaler s(how);
    i64 skipped = 0, number = 0;
    for (const line& l : lines) {
      s.update(l.step == 'f'), skipped += l.step != 'f';
      INFO("after step " << ++number);
      CHECK(s.state() == ml::grad_scaler_state{l.scale, l.steps, l.overflows, skipped});
    }
  };
  // Doubled after more than three steps, at most to 64.
  check({.initial = 16, .largest = 64, .steps_per_increase = 3}, {{'f', 16, 1, 0},
                                                                  {'f', 16, 2, 0},
                                                                  {'f', 16, 3, 0},
                                                                  {'f', 32, 0, 0},
                                                                  {'x', 16, 0, 0},
                                                                  {'x', 8, 0, 0},
                                                                  {'f', 8, 1, 0},
                                                                  {'x', 4, 0, 0},
                                                                  {'f', 4, 1, 0},
                                                                  {'f', 4, 2, 0},
                                                                  {'f', 4, 3, 0},
                                                                  {'f', 8, 0, 0}});
  check({.initial = 64, .largest = 64, .steps_per_increase = 1},
        {{'f', 64, 1, 0}, {'f', 64, 0, 0}, {'f', 64, 1, 0}, {'f', 64, 0, 0}, {'x', 32, 0, 0}});
  // A quarter of the steps may overflow.
  check({.initial = 16, .largest = 64, .steps_per_increase = 5, .overflow_tolerance = 0.25},
        {{'f', 16, 1, 0},
         {'f', 16, 2, 0},
         {'f', 16, 3, 0},
         {'x', 16, 4, 1},
         {'f', 16, 5, 1},
         {'f', 32, 0, 0},
         {'x', 16, 0, 0}});
  ml::grad_scaler s({.initial = 0x1p-13});
  s.update(false);
  CHECK(s.scale() == 0x1p-14);
  const ml::grad_scaler_state before = s.state();
  CHECK_THROWS_WITH(
      s.update(false),
      Catch::StartsWith("wsl: the loss scale would fall to 3.0517578125e-05, below its smallest value "
                        "6.103515625e-05, after 2 skipped steps"));
  CHECK(s.state() == before);
  CHECK(ml::grad_scaler().scale() == 32768);
  CHECK(ml::grad_scaler(ml::grad_scaler_settings::cbfloat16()).scale() == 2147483648.);
  CHECK((ml::grad_scaler::is_finite(1e300) && !ml::grad_scaler::is_finite(INFINITY) &&
         !ml::grad_scaler::is_finite(NAN)));
  std::string names;
  ml::grad_scaler_state::each(before, [&](const char* name, auto) { names += name + std::string(" "); });
  CHECK(names == "loss_scale steps_since_rescale overflows_since_rescale num_skipped_steps ");
  ml::grad_scaler later;
  later.resume(before);
  CHECK(later.state() == before);
  CHECK_THROWS_WITH(
      ml::grad_scaler({.initial = 8, .largest = 1024}).resume({.loss_scale = 32768}),
      Catch::Contains("a loss scale of 32768 cannot go on between its smallest and its largest value, "
                      "6.103515625e-05 and 1024"));
  CHECK_THROWS_WITH(
      later.resume({.loss_scale = 0}),
      "wsl: a loss scale of 0 cannot go on between its smallest and its largest value, 6.103515625e-05 and "
      "32768: give settings with limits that it keeps to");
  CHECK_THROWS_WITH(ml::grad_scaler({.initial = 1, .largest = 0.5}),
                    "wsl: a loss scale begins between its smallest and its largest value, not with 1 between "
                    "6.103515625e-05 and 0.5");
  CHECK_THROWS_WITH(
      ml::grad_scaler({.overflow_tolerance = 1}),
      "wsl: a loss scale grows after 1 or more steps and tolerates a part of at least 0 and below "
      "1 of overflows, not 2000 and 1");
}

TEST_CASE("Which parameters decay") {
  const ml::parameter matrix{"a.weight", 3, 4, {}}, bias{"a.bias", 1, 4, {}}, gain{"n.gain", 1, 4, {}},
      row{"b.weight", 1, 4, {}}, relative{"encoder layer 0 attention.relative", 8, 2, {}};
  using ml::decays;
  CHECK((does_decay(decays::all, bias) && does_decay(decays::all, matrix)));
  CHECK((does_decay(decays::matrices, matrix) && !does_decay(decays::matrices, row) &&
         !does_decay(decays::matrices, gain)));
  CHECK(!does_decay(decays::not_bias_or_norm, relative));
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

// The first 31 rates of torch.optim.lr_scheduler (golden/make_optimizers).
TEST_CASE("Learning rates are those of PyTorch") {
  using namespace ml::rate;
  const auto golden = golden_lines();
  const auto check = [&](const char* name, const ml::rate::schedule& rate) {
    const std::vector<f64>& wanted = golden.at("rate " + std::string(name) + ", 0, 0");
    CHECK(wanted.size() == 31);
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      INFO(name << ", step " << t);
      CHECK(rate(static_cast<i64>(t)) == Approx(wanted[t]).epsilon(1e-12));
    }
  };
  const auto exponential = exponential_decay(1, 0.9, 1), in_steps = exponential_decay(1, 0.5, 7, true);
  check("constant", sequence({{7, constant(0.25)}, {0, constant(1)}}));
  check("linear", linear(0.25, 0.75, 9));
  check("polynomial", polynomial(1, 0, 12, 2));
  check("exponential", exponential);
  check("step", in_steps);
  check("multi step", multi_step(1, 0.5, {5, 11, 20}));
  check("lambda", [](i64 t) { return 1 / (1. + static_cast<f64>(t)); });
  check("multiplicative", multiplicative(1, [](i64 t) { return 1 - 1 / static_cast<f64>(t + 3); }));
  check("cosine", cosine_annealing(1, 0.1, 10));
  check("restarts", warm_restarts(1, 0.1, 4, 2));
  check("cyclic", cyclic(0.1, 1, 4, 6, {cycle_heights::kind::halved}));
  check("one cycle", one_cycle(0.04, 1, 32));
  check("sequential", sequence({{6, constant(0.1)}, {0, exponential}}));
  check("chained", chained(1, {exponential, in_steps}));
  const ml::rate::schedule product = multiplicative(2, constant(0.5));
  CHECK((product(3) == 0.25 && product(1) == 1 && product(2) == 0.5));  // of steps in any order
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
      ml::update(
          ml::rules::adamw{},
          {w[k].data(), d[k].data(), {first[k].data(), second[k].data()}, static_cast<int>(w[k].size())},
          {.rate = 1e-3f, .number = t});
  }
  golden::check_after_ten_steps(*g, n, w);
}

}  // namespace
