// SPDX-License-Identifier: MIT
// Frozen parameters, and low-rank adapters of linear layers: gradients beside differences, the same training
// on all grids of workers and in pipelines, and adapters that become part of their layers.
#include <catch2/catch.hpp>
#include <wsl/ml.hpp>
#include <wsl/ml/model/adapters.hpp>
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/train/memory_need.hpp>

namespace {
using namespace wsl;
using Catch::Contains;

const ml::decoder small{.vocabulary = 17,
                        .positions = 8,
                        .layers = 2,
                        .heads = 4,
                        .width = 16,
                        .filter = 24,
                        .bias = false,
                        .between = ml::nonlinearity::swiglu,
                        .kv_heads = 2,
                        .norm = ml::normalization::rmsnorm,
                        .position = ml::positioning::rotary,
                        .tied = false};
/// Queries and values, with the keys between them, of the second layer and of the first; and both halves of a
/// feed-forward part.
ml::adapter_settings settings() {
  return {.rank = 3, .alpha = 6, .layers = {{"layer * qkv", {{0, 16}, {24, 8}}}, {"layer 1 down"}}};
}

struct text {
  std::vector<i32> ids, targets;
  explicit text(int sequences) {
    u32 x = 7;
    for (int i = 0; i < 8 * sequences; ++i) {
      x = x * 1664525 + 1013904223;
      ids.push_back(static_cast<i32>((x >> 8) % 17)), targets.push_back(static_cast<i32>((x >> 16) % 17));
    }
  }
  ml::batch all() const {
    return {.ids = ids, .targets = targets, .sequences = static_cast<int>(ids.size()) / 8, .length = 8};
  }
};

struct trained {
  std::vector<f64> losses;
  ml::weights w;
  u64 returned = 0;
  std::size_t arrays = 0;

  f64 distance(const trained& other) const {
    f64 most = 0;
    for (std::size_t k = 0; k < w.size(); ++k)
      for (std::size_t i = 0; i < w[k].size(); ++i)
        most = std::max(most, std::abs(static_cast<f64>(w[k][i]) - static_cast<f64>(other.w[k][i])));
    return most;
  }
};
template <class Trainer, class Settings>
trained train(const ml::adapter_settings& with, const Settings& how, int steps = 4) {
  ml::network n = small.build(with);
  const ml::weights begin = ml::detail::varied_weights(n, 5);
  Trainer t(std::move(n), ml::optimizer::adamw({.decay = 0.1f}), how);
  t.parameters() = begin;
  const text data(6);
  trained all;
  for (int k = 0; k < steps; ++k) all.losses.push_back(t.step(data.all(), 0.02));
  const bool can_evaluate = [&] {
    if constexpr (requires { how.replicas; }) return how.replicas == 1;
    else return true;
  }();
  if (can_evaluate) all.losses.push_back(t.evaluate(data.all()));
  all.w = t.parameters(), all.arrays = t.state().size();
  if constexpr (requires { t.report().returned; }) all.returned = t.report().returned;
  return all;
}
template <class Settings>
trained streamed(const ml::adapter_settings& with, const Settings& how) {
  return train<ml::trainer>(with, how);
}

TEST_CASE("Gradients of adapters and of what is not frozen are those of differences") {
  const ml::network n = small.build(settings());
  ml::check_gradients(n, {.entries = 40}).require();
  ml::network free = [] {
    ml::network x;
    x.adapt(settings());
    const int y = x.linear("layer 1 qkv", x.input("x", 8), 32, true, ml::initial::normal(0.3f));
    x.mean_squared_error("loss", x.linear("out", y, 4, true, ml::initial::normal(0.3f)));
    return x;
  }();
  ml::check_gradients(free, {.entries = 40}).require();
  CHECK(free.freeze({"layer 1 qkv.*", "out.bias"}) == 3);  // with the bias of the second
  CHECK(free.trained_count() == 6 * 8 + 32 * 3 + 4 * 32);
  ml::check_gradients(free, {.entries = 40}).require();
}

TEST_CASE("Training changes adapters only, and keeps nothing for what is frozen") {
  const ml::network n = small.build(settings()), plain = small.build();
  const trained x = streamed(settings(), ml::streaming_settings{.workers = 2});
  const ml::weights begin = ml::detail::varied_weights(n, 5);
  i64 learnt = 0;
  for (std::size_t k = 0; k < x.w.size(); ++k) {
    INFO(n.parameters()[k].name);
    const bool is_adapter = n.parameters()[k].name.find("lora_") != std::string::npos;
    CHECK(n.parameters()[k].frozen == !is_adapter);
    CHECK((x.w[k] == begin[k]) == !is_adapter);
    learnt += is_adapter ? n.parameters()[k].size() : 0;
  }
  CHECK(learnt == 2 * (6 * 16 + 32 * 3) + (3 * 24 + 16 * 3));
  CHECK(n.trained_count() == learnt);
  CHECK(x.returned == 4 * static_cast<u64>(learnt));
  CHECK(x.arrays == n.parameters().size() + 2 * 6);
  CHECK(ml::state_of(n, ml::optimizer::adamw().with_average({.decay = 0.9f})).size() ==
        n.parameters().size() + 3 * 6);
  CHECK(ml::state_bytes(n, ml::optimizer::adamw()) == 4 * static_cast<f64>(n.parameter_count() + 3 * learnt));
  CHECK(x.losses.back() < x.losses.front());
}

TEST_CASE("Adapters learn the same on any rows, columns and wafers, in pipelines, and with less memory") {
  const trained one = streamed(settings(), ml::streaming_settings{.workers = 1});
  struct grid {
    int rows, columns, wafers;
  };
  for (const grid& g : {grid{2, 1, 1}, {1, 2, 1}, {1, 3, 1}, {2, 2, 1}, {3, 4, 1}, {8, 2, 1}, {2, 2, 2}}) {
    INFO(g.rows << " x " << g.columns << " on " << g.wafers);
    const trained x = streamed(
        settings(),
        ml::streaming_settings{.workers = g.rows * g.columns, .columns = g.columns, .num_csx = g.wafers});
    for (std::size_t k = 0; k < one.losses.size(); ++k)
      CHECK(x.losses[k] == Approx(one.losses[k]).epsilon(1e-5));
    CHECK(x.distance(one) < 2e-4);
  }
  for (const ml::streaming_settings& how : {ml::streaming_settings{.workers = 1, .recompute = true},
                                            ml::streaming_settings{.workers = 2, .micro_batch_size = 2},
                                            ml::streaming_settings{.workers = 1, .clip_norm = 1e6}}) {
    const trained x = streamed(settings(), how);
    CHECK(x.losses.back() == Approx(one.losses.back()).epsilon(1e-5));
    CHECK(x.distance(one) < 2e-4);
  }
  for (const ml::pipeline_settings& how :
       {ml::pipeline_settings{.strips = 1}, {.strips = 4}, {.strips = 9}, {.strips = 3, .replicas = 2}}) {
    INFO(how.strips << " strips, " << how.replicas << " replicas");
    const trained x = train<ml::pipelined_trainer>(settings(), how);
    for (std::size_t k = 0; k < x.losses.size(); ++k)
      CHECK(x.losses[k] == Approx(one.losses[k]).epsilon(1e-5));
    CHECK(x.distance(one) < 2e-4);
  }
}

TEST_CASE("Stages before the first that learns are not passed on the way back") {
  // Only the last layer learns: gradients end there, and a pipeline's first strips get none.
  const auto frozen = [] {
    ml::network n = small.build();
    n.freeze_all_but({"head.weight", "last norm.gain"});
    return n;
  };
  const text data(6);
  ml::trainer t(frozen(), ml::optimizer::sgd(), {.workers = 2});
  ml::pipelined_trainer p(frozen(), ml::optimizer::sgd(), {.strips = 5});
  p.parameters() = static_cast<ml::weights>(t.parameters());
  for (int k = 0; k < 3; ++k) CHECK(p.step(data.all(), 0.1) == Approx(t.step(data.all(), 0.1)).epsilon(1e-6));
  const ml::network n = frozen();
  u64 sent = 0;
  for (const auto& s : n.stages()) {
    INFO(s->name);
    CHECK(s->goes_back == (s->name == "head" || s->name == "last norm" || s->name == "loss"));
    for (std::size_t k = 0; k < s->parameters.size() && s->goes_back; ++k)
      sent += s->needs_weight_in_backward(static_cast<int>(k))
                  ? static_cast<u64>(4 * n.parameters()[static_cast<std::size_t>(s->parameters[k])].size())
                  : 0;
  }
  CHECK(t.report().sent_backward == sent);
  ml::network none = frozen();
  none.freeze({"*"});
  ml::trainer still(std::move(none), ml::optimizer::sgd());
  CHECK_THROWS_WITH(still.step(data.all(), 0.1), Contains("nothing is left to train"));
  CHECK(std::isfinite(still.evaluate(data.all())));
}

TEST_CASE("Adapters begin as nothing, and become part of their layers") {
  const ml::network plain = small.build(), tuned = small.build(settings());
  const ml::weights before(plain, 3);
  ml::weights w = ml::with_adapters(plain, before, tuned, 4);
  const text data(2);
  const auto predicted = [&](ml::network n, const ml::weights& x) {
    ml::trainer t(std::move(n), ml::optimizer::sgd(), {.workers = 1});
    t.parameters() = x;
    return t.predict(data.all());
  };
  CHECK(predicted(small.build(settings()), w) == predicted(small.build(), before));
  for (const ml::adapter& a : tuned.adapters()) {
    std::vector<f32>& b = w[static_cast<std::size_t>(a.b)];
    ml::initialize(b, ml::initial::normal(0.3f), 9);
  }
  const std::vector<f32> with = predicted(small.build(settings()), w),
                         folded = predicted(small.build(), ml::without_adapters(tuned, w, plain)),
                         base = predicted(small.build(), before);
  f32 most = 0, change = 0;
  for (std::size_t i = 0; i < with.size(); ++i)
    most = std::max(most, std::abs(with[i] - folded[i])),
    change = std::max(change, std::abs(with[i] - base[i]));
  CHECK(most < 1e-5f);
  CHECK(change > 1e-2f);
}

TEST_CASE("Adapters that do not fit are refused") {
  const auto build = [](ml::adapter_settings a) { return [a] { small.build(a); }; };
  CHECK_THROWS_WITH(build({.layers = {{"layer * query"}}})(), Contains("no linear layer of that name"));
  CHECK_THROWS_WITH(build({.rank = 0, .layers = {{"layer * qkv"}}})(), Contains("a rank of at least 1"));
  CHECK_THROWS_WITH(build({.dropout = 1.5f, .layers = {{"layer * qkv"}}})(), Contains("dropout of adapters"));
  CHECK_THROWS_WITH(build({.layers = {{"layer * qkv", {{16, 8}, {0, 16}}}}})(), Contains("ascending order"));
  CHECK_THROWS_WITH(build({.layers = {{"layer * qkv", {{24, 16}}}}})(), Contains("of which there are 32"));
  ml::network n = small.build();
  CHECK_THROWS_WITH(n.freeze({"nobody"}), Contains("no parameter to freeze is called nobody"));
}

}  // namespace
