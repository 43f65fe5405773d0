// SPDX-License-Identifier: MIT
// Power laws from made data whose law is known, and the sizes of activations beside plain loops.
#include <wsl/ml/model/mup.hpp>
#include <wsl/ml/run/coordinate_check.hpp>
#include <wsl/ml/run/power_law.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;

TEST_CASE("The fit finds the law with which losses were made") {
  for (const auto& [a, b, c] :
       {std::tuple(406.4, -0.34, 1.69), {25., -0.05, 0.}, {1e3, -0.154, 0.5}, {7e9, -1.2, 2.}}) {
    INFO(a << " " << b << " " << c);
    std::vector<f64> costs, losses;
    for (int k = 0; k < 5; ++k)
      costs.push_back(3e9 * std::pow(8., k)), losses.push_back(a * std::pow(costs.back(), b) + c);
    const ml::power_law law = ml::fit_power_law(costs, losses);
    CHECK(law.b == Approx(b).epsilon(1e-4));
    CHECK(law.c == Approx(c).margin(2e-4));
    CHECK(law.error < 1e-6);
    const f64 beyond = 1e17;
    CHECK(law(beyond) == Approx(a * std::pow(beyond, b) + c).epsilon(1e-4));
  }
}

TEST_CASE("The fit is that of the least squares") {
  const std::vector<f64> costs{1e10, 3e10, 1e11, 4e11, 1e12, 5e12}, losses{3.1, 2.74, 2.41, 2.2, 2.06, 1.88};
  const ml::power_law law = ml::fit_power_law(costs, losses);
  const auto squares = [&](const ml::power_law& x) {
    f64 sum = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) sum += std::pow(x(costs[i]) - losses[i], 2);
    return sum;
  };
  const f64 least = squares(law);
  CHECK(law.error == Approx(std::sqrt(least / 6)).epsilon(1e-9));
  for (const f64 by : {0.999, 1.001})
    for (const ml::power_law& other :
         {ml::power_law{law.a * by, law.b, law.c}, ml::power_law{law.a, law.b * by, law.c},
          ml::power_law{law.a, law.b, law.c * by}})
      CHECK(squares(other) > least);
}

TEST_CASE(
    "Losses that fall to below any floor have a floor of 0, and those that do not fall have no law but it") {
  const std::vector<f64> costs{1, 10, 100, 1000}, faster{8, 4, 2, 0.2}, flat{2, 2, 2, 2};
  CHECK(ml::fit_power_law(costs, faster).c == 0);
  const ml::power_law law = ml::fit_power_law(costs, flat);
  CHECK(law(1e6) == Approx(2).epsilon(1e-6));
}

TEST_CASE("A law needs points, and says which are none") {
  const std::vector<f64> two{1, 2}, three{1, 2, 3}, twice{1, 2, 2}, none{1, 0, 2}, negative{1, -1, 2};
  CHECK_THROWS_WITH(ml::fit_power_law(two, two),
                    "wsl: a power law is fitted at 3 different places at least, not 2");
  CHECK_THROWS_WITH(ml::fit_power_law(twice, three),
                    "wsl: a power law is fitted at 3 different places at least, not 2");
  CHECK_THROWS_WITH(ml::fit_power_law(none, three),
                    "wsl: a power law is fitted at positive places to finite values, not at 0 to 2");
  CHECK_THROWS_WITH(ml::fit_power_law(three, negative),
                    "wsl: a power law is fitted to positive losses, not -1");
  CHECK_THROWS_WITH(ml::fit_power_law(three, two),
                    "wsl: a power law is fitted to as many values as there are places, not 2 to 3");
  CHECK(ml::log_slope(three, std::vector<f64>{5, 20, 45}) == Approx(2).epsilon(1e-12));
  CHECK_THROWS_WITH(ml::log_slope(three, none), "wsl: a slope is fitted to positive values, not 0");
  const std::vector<f64> one{4, 4};
  CHECK_THROWS_WITH(ml::log_slope(one, two), "wsl: a slope is fitted at 2 different places at least, not 1");
}

struct lesson {
  std::vector<i32> ids, targets;
  static constexpr int sequences = 4, length = 12, vocabulary = 23;
  explicit lesson(u64 seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < sequences * length; ++i) ids.push_back(static_cast<i32>(random() % vocabulary));
    for (int i = 0; i < sequences * length; ++i) targets.push_back(ids[static_cast<std::size_t>(i)] / 2);
  }
  ml::batch all() const { return {.ids = ids, .targets = targets, .sequences = sequences, .length = length}; }
};

TEST_CASE("The sizes of activations are those of the values that a pass computes") {
  const ml::decoder d{.vocabulary = 23,
                      .positions = 12,
                      .layers = 2,
                      .heads = 4,
                      .width = 16,
                      .deviation = 0.3f,
                      .kv_heads = 2,
                      .attention_scale = 0.7f,
                      .scale_by_layer = true};
  const ml::network n = d.build();
  ml::weights w(n, 3);
  const lesson l(1);
  const auto sizes = ml::coordinates_of(d, n, w, l.all());
  REQUIRE(sizes.size() == 5);
  ml::batch b = l.all();
  check(n, b);
  ml::activation_store store = store_of(n, b);
  serial_forward(n, w, store);
  const auto value = [&](const std::string& name) {
    for (std::size_t v = 0; v < n.values().size(); ++v)
      if (n.values()[v].name == name) return store.value(static_cast<int>(v));
    throw std::logic_error(name);
  };
  const matrix<f32> x = value("layer 1 sum 2");
  f64 sum = 0;
  for (int t = 0; t < 48; ++t)
    for (int i = 0; i < 16; ++i) sum += std::abs(static_cast<f64>(x.row(t)[i]));
  CHECK(sizes[2].name == "layer 1");
  CHECK(sizes[2].size == Approx(sum / (48 * 16)).epsilon(1e-12));
  // Heads 0 and 1 of the queries read head 0 of the keys, which begin behind the 16 features of the queries.
  const matrix<f32> qkv = value("layer 1 qkv");
  f64 scores = 0;
  int count = 0;
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t < 12; ++t)
      for (int u = 0; u <= t; ++u)
        for (int h = 0; h < 4; ++h) {
          f64 product = 0;
          for (int i = 0; i < 4; ++i)
            product += static_cast<f64>(qkv.row(12 * s + t)[4 * h + i]) *
                       static_cast<f64>(qkv.row(12 * s + u)[16 + 4 * (h / 2) + i]);
          scores += std::abs(product) * static_cast<f64>(0.7f) / 2, ++count;
        }
  CHECK(sizes[3].name == "layer 1 scores");
  CHECK(sizes[3].size == Approx(scores / count).epsilon(1e-5));
  CHECK((sizes[4].name == "logits" && sizes[4].of == ml::coordinate::kind::logits));
}

/// The largest slopes of sizes on the width, after the last of some steps of Adam.
ml::coordinate_check after_steps(bool is_mup) {
  ml::coordinate_check sizes;
  const lesson l(2);
  for (const int width : {16, 32, 64, 128}) {
    ml::decoder d{.vocabulary = 23,
                  .positions = 12,
                  .layers = 2,
                  .heads = width / 8,
                  .width = width,
                  .deviation = 0.08f,
                  .embedding_scale = 10};
    if (is_mup) d = with_mup(d, {.width = 16, .filter = 64});
    ml::trainer t(d.build(), ml::optimizer::adam(), {.workers = 1, .seed = 9});
    for (int step = 1; step <= 5; ++step) t.step(l.all(), 1e-2);
    ml::weights w(t.model());
    for (std::size_t k = 0; k < w.size(); ++k)
      std::copy_n(t.parameters()[k].begin(), w[k].size(), w[k].begin());
    sizes.add(width, 5, coordinates_of(d, t.model(), w, l.all()));
  }
  return sizes;
}

TEST_CASE("With muP the sizes of activations are stable in the width, without they are not") {
  const ml::coordinate_check mup = after_steps(true), standard = after_steps(false);
  using kind = ml::coordinate::kind;
  for (const kind k : {kind::block, kind::scores, kind::logits}) {
    INFO(static_cast<int>(k));
    CHECK(std::abs(mup.growth(k, 1)) < 0.25);
    CHECK(standard.growth(k, 1) > 0.4);
  }
  CHECK_THROWS_WITH(mup.growth(kind::block, 6), "wsl: no coordinates are known of step 6 and later");
}

}  // namespace
